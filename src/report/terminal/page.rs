//! Lines of a width: labels at the left, text that hangs beside them.

use super::{
    super::wrap::{harmless, wrap},
    Style,
};

/// Columns that a label takes.
const LABEL: usize = 13;

/// A text under construction.
#[derive(Debug)]
pub(in crate::report) struct Page {
    text: String,
    width: usize,
    style: Style,
}

/// What a piece of text is painted as.
#[derive(Debug, Clone, Copy)]
enum Paint {
    Bold,
    Good,
    Bad,
}

impl Page {
    pub(in crate::report) fn new(width: usize, style: Style) -> Self {
        Self { text: String::new(), width, style }
    }

    /// The text.
    pub(in crate::report) fn finish(self) -> String {
        self.text
    }

    pub(in crate::report) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// The verdict's word and its sentence.
    pub(in crate::report) fn verdict(&mut self, word: &str, sentence: &str, good: bool) {
        let paint = if good { Paint::Good } else { Paint::Bad };
        let painted = format!("{}  ", self.paint(paint, word));
        self.beside(&painted, word.chars().count() + 2, sentence);
    }

    /// A label and the text beside it.
    pub(in crate::report) fn entry(&mut self, label: &str, text: &str) {
        let label = self.label(label);
        self.beside(&label, LABEL, text);
    }

    /// A label, whether something is as it should be, and what.
    pub(in crate::report) fn judged(&mut self, label: &str, good: bool, yes: &str, no: &str, text: &str) {
        let (word, paint) = if good { (yes, Paint::Good) } else { (no, Paint::Bad) };
        let column = yes.len().max(no.len()) + 2;
        let padded = format!("{}{}", self.paint(paint, word), " ".repeat(column - word.len()));
        let prefix = format!("{}{padded}", self.label(label));
        self.beside(&prefix, LABEL + column, text);
    }

    /// A label and something that is copied, not read: never wrapped.
    pub(in crate::report) fn verbatim(&mut self, label: &str, text: &str) {
        let line = format!("{}{}", self.label(label), harmless(text));
        self.line(&line);
    }

    /// A heading of its own.
    pub(in crate::report) fn heading(&mut self, text: &str) {
        let line = self.paint(Paint::Bold, text);
        self.line(&line);
    }

    /// Text that hangs beside a prefix.
    pub(in crate::report) fn hanging(&mut self, prefix: &str, text: &str) {
        self.beside(prefix, prefix.chars().count(), text);
    }

    /// A line as it is.
    pub(in crate::report) fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// `prefix` may hold colours, so its width on the screen is told.
    fn beside(&mut self, prefix: &str, columns: usize, text: &str) {
        let hang = " ".repeat(columns);
        for (index, line) in wrap(text, self.width.saturating_sub(columns)).iter().enumerate() {
            let before = if index == 0 { prefix } else { &hang };
            self.line(&format!("{before}{line}"));
        }
    }

    fn label(&self, label: &str) -> String {
        let blanks = " ".repeat(LABEL.saturating_sub(label.chars().count()));
        if label.is_empty() { blanks } else { format!("{}{blanks}", self.paint(Paint::Bold, label)) }
    }

    fn paint(&self, paint: Paint, text: &str) -> String {
        let code = match (self.style, paint) {
            (Style::Plain, _) => return text.to_owned(),
            (Style::Colour, Paint::Bold) => "1",
            (Style::Colour, Paint::Good) => "1;32",
            (Style::Colour, Paint::Bad) => "1;31",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}
