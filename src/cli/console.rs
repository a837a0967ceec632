//! Where results and messages go. A reader that went away (`| head`) is no error.

use std::{
    io::{self, IsTerminal as _, Write},
    sync::{Arc, Mutex, PoisonError},
};

use crate::report::Style;

/// Stdout for results, stderr for everything else.
#[derive(Clone)]
pub struct Console {
    out: Arc<Mutex<dyn Write + Send>>,
    err: Arc<Mutex<dyn Write + Send>>,
    /// Whether stdout is a terminal that shows colours.
    colours: bool,
    /// Whether stderr is a terminal.
    progress: bool,
}

impl std::fmt::Debug for Console {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Console").field("colours", &self.colours).finish_non_exhaustive()
    }
}

impl Console {
    /// The process's own.
    #[must_use]
    pub fn standard() -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            out: Arc::new(Mutex::new(io::stdout())),
            err: Arc::new(Mutex::new(io::stderr())),
            colours: !plain && io::stdout().is_terminal(),
            progress: io::stderr().is_terminal(),
        }
    }

    /// Whether a line on stderr can be written over.
    pub(super) fn shows_progress(&self) -> bool {
        self.progress
    }

    /// How a summary is to look on stdout.
    pub(super) fn style(&self) -> Style {
        if self.colours { Style::Colour } else { Style::Plain }
    }

    /// Writes a result.
    pub(super) fn result(&self, text: &str) {
        write(&self.out, text);
    }

    /// Says something beside the results.
    pub(super) fn note(&self, text: &str) {
        write(&self.err, &format!("{text}\n"));
    }

    /// Says what went wrong.
    pub(super) fn error(&self, text: &str) {
        write(&self.err, &format!("error: {text}\n"));
    }
}

fn write(to: &Mutex<dyn Write + Send>, text: &str) {
    let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
    // A reader that went away wants nothing more.
    let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
}
