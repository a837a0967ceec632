//! Where results and messages go. A reader that went away (`| head`) is no error.

use std::{
    io::{self, IsTerminal as _, Write},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::report::Style;

/// Stdout for results, stderr for everything else.
#[derive(Clone)]
pub struct Console {
    out: Arc<Mutex<dyn Write + Send>>,
    err: Arc<Mutex<dyn Write + Send>>,
    lost: Arc<AtomicBool>,
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
            lost: Arc::default(),
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
        if let Err(error) = write(&self.out, text) {
            self.error(&format!("cannot write the results to stdout: {error}"));
            self.lost.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a result could not be written.
    pub(super) fn lost_results(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Says something beside the results.
    pub(super) fn note(&self, text: &str) {
        // Where not even this can be said there is nobody to tell.
        let _ = write(&self.err, &format!("{text}\n"));
    }

    /// Says what went wrong.
    pub(super) fn error(&self, text: &str) {
        // As for a note.
        let _ = write(&self.err, &format!("error: {text}\n"));
    }
}

/// Writes a text. A reader that went away wants nothing more.
fn write(to: &Mutex<dyn Write + Send>, text: &str) -> io::Result<()> {
    let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
    match to.write_all(text.as_bytes()).and_then(|()| to.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
