//! What is wrong with a file, and where: the one shape of every mistake that a reader of files reports.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::limits;

/// A place in one of the files that were read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Index into [`Sources`].
    pub(super) file: u32,
    /// From 1; 0 is the file as a whole.
    pub(super) line: u32,
    /// From 1, in characters.
    pub(super) column: u32,
}

impl Place {
    /// The place so many characters further right.
    pub(super) fn shifted(self, characters: usize) -> Self {
        Self { column: self.column.saturating_add(u32::try_from(characters).unwrap_or(0)), ..self }
    }
}

/// A file that was read.
#[derive(Debug)]
pub(super) struct Source {
    /// Its path as the user knows it.
    pub(super) name: String,
    /// What it holds; empty if it could not be read.
    pub(super) text: String,
}

/// The files that were read, and the mistakes found in them so far.
#[derive(Debug, Default)]
pub(super) struct Findings {
    sources: Vec<Source>,
    problems: Vec<Problem>,
}

impl Findings {
    /// Adds a file; its index goes into [`Place::file`].
    pub(super) fn add_source(&mut self, name: String, text: String) -> u32 {
        self.sources.push(Source { name, text });
        u32::try_from(self.sources.len() - 1).unwrap_or(u32::MAX)
    }

    /// The text of a file.
    pub(super) fn text(&self, file: u32) -> &str {
        self.sources.get(file as usize).map_or("", |source| source.text.as_str())
    }

    /// The folder that a file lies in: what its paths are relative to.
    pub(super) fn folder(&self, file: u32) -> PathBuf {
        let name = self.sources.get(file as usize).map_or("", |source| source.name.as_str());
        Path::new(name).parent().map(Path::to_path_buf).unwrap_or_default()
    }

    /// Notes a mistake.
    pub(super) fn report(&mut self, place: Place, message: impl Into<String>) {
        self.report_near(place, message, None);
    }

    /// Notes a mistake that has a nearest valid name.
    ///
    /// Beyond the bound it is dropped: a file with so many is another kind of file.
    pub(super) fn report_near(&mut self, place: Place, message: impl Into<String>, nearest: Option<String>) {
        if self.problems.len() >= limits::FILE_MISTAKES_MAX {
            return;
        }
        let (file, text) = match self.sources.get(place.file as usize) {
            Some(source) => (source.name.clone(), source.text.as_str()),
            None => (String::new(), ""),
        };
        let problem = Problem {
            file,
            line: place.line as usize,
            column: place.column as usize,
            message: message.into(),
            nearest,
            excerpt: excerpt(text, place),
        };
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Whether nothing is wrong so far.
    pub(super) fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    /// `value` if nothing is wrong, else what is, in the order of files and lines.
    pub(super) fn finish<T>(mut self, value: Option<T>) -> Result<T, Problems> {
        match value {
            Some(value) if self.problems.is_empty() => Ok(value),
            _ => {
                let order: Vec<String> = self.sources.into_iter().map(|source| source.name).collect();
                let rank = |file: &str| order.iter().position(|name| name == file);
                self.problems.sort_by_key(|problem| (rank(&problem.file), problem.line, problem.column));
                Err(Problems(self.problems))
            }
        }
    }
}

/// One mistake in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, as the user named it or as it was found.
    pub file: String,
    /// From 1; 0 if it is about the file as a whole (it cannot be read).
    pub line: usize,
    /// From 1, in characters; 0 with line 0.
    pub column: usize,
    /// What was wrong, and what was expected.
    pub message: String,
    /// The nearest valid name, if one is near.
    pub nearest: Option<String>,
    /// The line itself with a caret under the place.
    pub excerpt: Option<String>,
}

/// Names what may be meant, after a message.
pub(super) fn hint(nearest: &str) -> String {
    format!("; did you mean `{nearest}`?")
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:", self.file)?;
        if self.line > 0 {
            write!(formatter, "{}:{}:", self.line, self.column)?;
        }
        write!(formatter, " {}", self.message)?;
        if let Some(nearest) = &self.nearest {
            formatter.write_str(&hint(nearest))?;
        }
        if let Some(excerpt) = &self.excerpt {
            write!(formatter, "\n{excerpt}")?;
        }
        Ok(())
    }
}

/// Every mistake that was found in one pass over a file and the files it names; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// The mistakes, in the order of files and lines.
    #[must_use]
    pub fn list(&self) -> &[Problem] {
        &self.0
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                formatter.write_str("\n")?;
            }
            write!(formatter, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// The most characters of a line that an excerpt shows.
const EXCERPT_CHARACTERS: usize = 100;

/// The line of `place` with a caret under its column; long lines are cut around it.
fn excerpt(text: &str, place: Place) -> Option<String> {
    let line = text.lines().nth((place.line as usize).checked_sub(1)?)?;
    let caret = (place.column as usize).saturating_sub(1);
    let skipped = if caret > EXCERPT_CHARACTERS - 20 { caret - EXCERPT_CHARACTERS / 2 } else { 0 };
    let shown: String = line
        .chars()
        .skip(skipped)
        .take(EXCERPT_CHARACTERS)
        .map(|character| if character.is_control() { ' ' } else { character })
        .collect();
    let number = place.line.to_string();
    let margin = " ".repeat(number.len());
    let indent = " ".repeat(caret - skipped);
    Some(format!("  {number} | {}\n  {margin} | {indent}^", shown.trim_end()))
}

/// The one of `names` that is nearest to `word`, if any is near enough to be meant.
pub(super) fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let lower = word.to_lowercase().replace('_', "-");
    names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&lower, &name.replace('_', "-")), name))
        .filter(|(distance, name)| *distance <= 1 + name.len().max(word.len()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name.to_owned())
}

/// `a, b or c`.
pub(super) fn one_of<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match names.split_last() {
        None => "nothing".to_owned(),
        Some((only, [])) => format!("`{only}`"),
        Some(_) => format!("one of {}", names.join(", ")),
    }
}

/// A word from a file, short enough to be shown in a message.
pub(super) fn shown(word: &str) -> String {
    let mut text: String = word.chars().take(60).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if word.chars().count() > 60 {
        text.push('…');
    }
    format!("`{text}`")
}
