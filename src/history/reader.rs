//! Reads a history or ledger line by line, from plain or compressed files, and says how far it can be trusted.
//!
//! A file that simply stops (a killed run, a cut frame, half a last line) is readable up to the cut and marked
//! incomplete; a line that is wrong where lines follow it is an error with its number and field.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::quick;
use super::record::{End, Event, FORMAT, LedgerEntry, LedgerRecord, Record};
use super::writer::{HISTORY_FILE, LEDGER_FILE};

/// The longest line that is read, in bytes; bodies are at most 1 MiB, and escapes can make them six times longer.
const LINE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// How a Zstandard frame begins.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Why a history or ledger cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be opened or read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A line is not a record of the format.
    #[error("{}: line {line}{}: {problem}", path.display(), within(field))]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The field, as a dotted path, where one is at fault.
        field: Option<String>,
        /// What is wrong with it.
        problem: String,
    },
    /// A folder holds no history.
    #[error("{}: no {HISTORY_FILE} and no history.jsonl in this folder", path.display())]
    NoHistory {
        /// The folder.
        path: PathBuf,
    },
}

fn within(field: &Option<String>) -> String {
    field.as_ref().map(|field| format!(", `{field}`")).unwrap_or_default()
}

/// A record type that stands on a line of its own.
pub trait Line: DeserializeOwned {
    /// Its position in the run's order.
    fn seq(&self) -> u64;
    /// The trailer, if this is one.
    fn end(&self) -> Option<&End>;
    /// What is wrong with this as the first line, if anything.
    fn wrong_first(&self) -> Option<String>;
}

impl Line for Record {
    fn seq(&self) -> u64 {
        self.seq
    }

    fn end(&self) -> Option<&End> {
        if let Event::End(end) = &self.event { Some(end) } else { None }
    }

    fn wrong_first(&self) -> Option<String> {
        match &self.event {
            Event::Run(run) if run.format == FORMAT => None,
            Event::Run(run) => Some(format!("format {} is not one that this build reads ({FORMAT})", run.format)),
            _ => Some("the first line must be the `run` header".to_owned()),
        }
    }
}

impl Line for LedgerRecord {
    fn seq(&self) -> u64 {
        self.seq
    }

    fn end(&self) -> Option<&End> {
        if let LedgerEntry::End(end) = &self.entry { Some(end) } else { None }
    }

    fn wrong_first(&self) -> Option<String> {
        None
    }
}

/// How much of a file was there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completeness {
    /// It ended with its trailer, and nothing was lost.
    Complete,
    /// It stopped early, or its writer lost records.
    Incomplete {
        /// What is missing, in words.
        why: String,
    },
}

/// Reads records of one file in order. After an error, or the end, it gives nothing more.
pub struct Reader<T> {
    source: Box<dyn BufRead + Send>,
    path: PathBuf,
    buffer: Vec<u8>,
    line: u64,
    read: u64,
    last_seq: Option<u64>,
    end: Option<End>,
    cut: Option<String>,
    done: bool,
    record: PhantomData<fn() -> T>,
}

impl<T> std::fmt::Debug for Reader<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Reader").field("path", &self.path).field("line", &self.line).finish_non_exhaustive()
    }
}

/// The history and, where there is one, the ledger of a run's folder.
#[derive(Debug)]
pub struct Folder {
    /// The history.
    pub history: Reader<Record>,
    /// The ledger.
    pub ledger: Option<Reader<LedgerRecord>>,
}

/// Opens the history and ledger of a run's folder, compressed (`….jsonl.zst`) or plain (`….jsonl`).
///
/// # Errors
/// When the folder holds no history, or a file cannot be opened.
pub fn open_folder(folder: &Path) -> Result<Folder, ReadError> {
    let find = |compressed: &str, plain: &str| {
        [folder.join(compressed), folder.join(plain)].into_iter().find(|path| path.exists())
    };
    let history = find(HISTORY_FILE, "history.jsonl");
    let history = history.ok_or_else(|| ReadError::NoHistory { path: folder.to_owned() })?;
    let ledger = find(LEDGER_FILE, "ledger.jsonl").map(|path| Reader::open(&path)).transpose()?;
    Ok(Folder { history: Reader::open(&history)?, ledger })
}

/// How much of a run's folder was there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// Of the history.
    pub history: Completeness,
    /// Of the ledger, if there is one.
    pub ledger: Option<Completeness>,
}

impl Folder {
    /// Reads everything: each record of the history, then each of the ledger, in order.
    ///
    /// # Errors
    /// At the first line that is wrong, or when a file cannot be read.
    pub fn read(
        mut self,
        mut event: impl FnMut(&Record),
        mut entry: impl FnMut(&LedgerRecord),
    ) -> Result<Extent, ReadError> {
        self.history.each(&mut event)?;
        let mut ledger = None;
        if let Some(mut reader) = self.ledger {
            reader.each(&mut entry)?;
            ledger = Some(reader.completeness());
        }
        Ok(Extent { history: self.history.completeness(), ledger })
    }
}

impl<T: Line> Reader<T> {
    /// Opens a file; one that ends in `.zst` or begins like a Zstandard frame is decompressed.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(path: &Path) -> Result<Reader<T>, ReadError> {
        let failed = |source| ReadError::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
        let mut source = BufReader::with_capacity(256 * 1024, file);
        let compressed = path.extension().is_some_and(|it| it == "zst")
            || source.fill_buf().map_err(failed)?.starts_with(&ZSTD_MAGIC);
        let source: Box<dyn BufRead + Send> = if compressed {
            let decoder = zstd::stream::read::Decoder::with_buffer(source).map_err(failed)?;
            Box::new(BufReader::with_capacity(64 * 1024, decoder))
        } else {
            Box::new(source)
        };
        Ok(Reader::from_source(source, path))
    }

    /// Reads plain lines from anywhere; `path` names the source in errors.
    #[must_use]
    pub fn from_source(source: Box<dyn BufRead + Send>, path: &Path) -> Reader<T> {
        Reader {
            source,
            path: path.to_owned(),
            buffer: Vec::with_capacity(4096),
            line: 0,
            read: 0,
            last_seq: None,
            end: None,
            cut: None,
            done: false,
            record: PhantomData,
        }
    }

    /// How complete the file was; meaningful once the reader has given everything.
    #[must_use]
    pub fn completeness(&self) -> Completeness {
        let why = match (&self.cut, &self.end) {
            (Some(cut), _) => cut.clone(),
            (None, None) => format!("it stops after line {} without an `end`", self.line),
            (None, Some(end)) if end.lost > 0 => format!("its writer lost {} records", end.lost),
            (None, Some(end)) if end.records != self.read => {
                format!("its `end` counts {} records, but {} stand before it", end.records, self.read)
            }
            (None, Some(_)) => return Completeness::Complete,
        };
        Completeness::Incomplete { why }
    }

    /// The next line into the buffer, without its line feed; false at the end of what can be read.
    fn next_line(&mut self) -> Result<bool, ReadError> {
        self.buffer.clear();
        match self.fill_line() {
            Ok(()) if self.buffer.is_empty() => Ok(false),
            Ok(()) => {
                self.line += 1;
                if self.buffer.len() >= LINE_BYTES_MAX {
                    return Err(self.wrong(None, format!("longer than {LINE_BYTES_MAX} bytes")));
                }
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                self.cut = Some(format!("its compressed frame is cut off after line {}", self.line));
                Ok(false)
            }
            Err(source) => Err(ReadError::Io { path: self.path.clone(), source }),
        }
    }

    /// Appends to the buffer up to a line feed, the end, or the longest line.
    fn fill_line(&mut self) -> io::Result<()> {
        loop {
            let chunk = match self.source.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let room = LINE_BYTES_MAX - self.buffer.len();
            let chunk = &chunk[..chunk.len().min(room)];
            let end = memchr::memchr(b'\n', chunk).map(|at| at + 1);
            let taken = end.unwrap_or(chunk.len());
            self.buffer.extend_from_slice(&chunk[..taken]);
            self.source.consume(taken);
            if end.is_some() || taken == 0 {
                return Ok(());
            }
        }
    }

    fn wrong(&self, field: Option<String>, problem: String) -> ReadError {
        ReadError::Line { path: self.path.clone(), line: self.line, field, problem }
    }

    /// The record of the next line, if that lies whole in the source's buffer and is read quickly; else nothing is taken.
    #[inline]
    fn quick_record(&mut self) -> Option<T> {
        // An error of the source shows itself again to whoever reads on.
        let chunk = self.source.fill_buf().ok()?;
        let end = memchr::memchr(b'\n', chunk).filter(|end| *end < LINE_BYTES_MAX)?;
        let record = quick::plain(&chunk[..end])?;
        self.source.consume(end + 1);
        self.line += 1;
        Some(record)
    }

    /// Hands every record to `take`, where it lies: records are large, and moving them costs as much as reading some.
    fn each(&mut self, take: &mut impl FnMut(&T)) -> Result<(), ReadError> {
        loop {
            if let Some(record) = self.quick_record() {
                self.check(&record)?;
                take(&record);
            } else if let Some(record) = self.careful_record()? {
                self.check(&record)?;
                take(&record);
            } else {
                return Ok(());
            }
        }
    }

    fn next_record(&mut self) -> Result<Option<T>, ReadError> {
        let record = match self.quick_record() {
            Some(record) => Some(record),
            None => self.careful_record()?,
        };
        if let Some(record) = &record {
            self.check(record)?;
        }
        Ok(record)
    }

    /// Holds a record to its place in the file.
    #[inline]
    fn check(&mut self, record: &T) -> Result<(), ReadError> {
        if self.line == 1
            && let Some(problem) = record.wrong_first()
        {
            return Err(self.wrong(None, problem));
        }
        if self.end.is_some() {
            return Err(self.wrong(None, "a record after the `end`".to_owned()));
        }
        if self.last_seq.is_some_and(|last| record.seq() <= last) {
            return Err(self.wrong(Some("seq".to_owned()), "not greater than the line before".to_owned()));
        }
        self.last_seq = Some(record.seq());
        match record.end() {
            Some(end) => self.end = Some(end.clone()),
            None => self.read += 1,
        }
        Ok(())
    }

    /// The record of the next line, however it lies and is written; `None` at the end of what can be read.
    fn careful_record(&mut self) -> Result<Option<T>, ReadError> {
        if !self.next_line()? {
            return Ok(None);
        }
        let whole = self.buffer.last() == Some(&b'\n');
        if whole {
            self.buffer.pop();
        }
        match quick::parse(&self.buffer) {
            Ok(record) => Ok(Some(record)),
            Err(_) if !whole => {
                self.cut = Some(format!("line {} is cut off", self.line));
                Ok(None)
            }
            Err(error) => {
                let field = field_at(&self.buffer, error.column());
                let text = error.to_string();
                let problem = text.split(" at line ").next().unwrap_or(&text).to_owned();
                Err(self.wrong(field, problem))
            }
        }
    }
}

impl<T: Line> Iterator for Reader<T> {
    type Item = Result<T, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let next = self.next_record().transpose();
        self.done = !matches!(next, Some(Ok(_)));
        next
    }
}

/// The dotted path of the member that a JSON parser had reached at `column` (from 1) of a line.
fn field_at(line: &[u8], column: usize) -> Option<String> {
    let mut path: Vec<Option<String>> = Vec::new();
    let mut at = 0;
    let end = column.min(line.len());
    while at < end {
        match line[at] {
            b'{' | b'[' => path.push(None),
            b'}' | b']' => {
                path.pop();
            }
            b',' => {
                if let Some(last) = path.last_mut() {
                    *last = None;
                }
            }
            b'"' => {
                let start = at + 1;
                at = start;
                while at < line.len() && line[at] != b'"' {
                    at += if line[at] == b'\\' { 2 } else { 1 };
                }
                // A member's name is the string before the colon.
                let name = line.get(start..at).unwrap_or_default();
                if line.get(at + 1) == Some(&b':')
                    && let Some(last) = path.last_mut()
                {
                    *last = Some(String::from_utf8_lossy(name).into_owned());
                }
            }
            _ => {}
        }
        at += 1;
    }
    let names: Vec<String> = path.into_iter().flatten().collect();
    if names.is_empty() { None } else { Some(names.join(".")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::record::{Phase, PhaseIs};
    use crate::history::writer::Recorder;

    const RUN: &str = r#"{"seq":0,"at":0,"run":{"format":1,"seed":7,"world":"real","epoch":"2026-01-01T00:00:00Z","order":"total","observes":["calls"]}}"#;
    const PHASE: &str = r#"{"seq":1,"at":5,"phase":{"is":"load"}}"#;
    const END: &str = r#"{"seq":2,"at":5,"end":{"records":2,"lost":0}}"#;

    fn reader(text: impl Into<Vec<u8>>) -> Reader<Record> {
        Reader::from_source(Box::new(io::Cursor::new(text.into())), Path::new("history.jsonl"))
    }

    fn read(text: String) -> (usize, Option<String>, Completeness) {
        let mut reader = reader(text);
        let mut count = 0;
        let mut error = None;
        for record in &mut reader {
            match record {
                Ok(_) => count += 1,
                Err(found) => error = Some(found.to_string()),
            }
        }
        (count, error, reader.completeness())
    }

    #[test]
    fn a_whole_file_is_complete() {
        assert_eq!(read(format!("{RUN}\n{PHASE}\n{END}\n")), (3, None, Completeness::Complete));
        assert_eq!(read(format!("{RUN}\n{PHASE}\n{END}")), (3, None, Completeness::Complete));
    }

    #[test]
    fn a_file_without_its_end_or_with_a_cut_line_is_incomplete_but_readable() {
        for text in [format!("{RUN}\n{PHASE}\n"), format!("{RUN}\n{PHASE}\n{}", &END[..20]), format!("{RUN}\n{PHASE}")]
        {
            let (count, error, completeness) = read(text);
            assert_eq!((count, error), (2, None));
            assert!(matches!(completeness, Completeness::Incomplete { .. }));
        }
    }

    #[test]
    fn lost_or_missing_records_are_incomplete() {
        for end in [END.replace("\"lost\":0", "\"lost\":4"), END.replace("\"records\":2", "\"records\":9")] {
            let (_, error, completeness) = read(format!("{RUN}\n{PHASE}\n{end}\n"));
            assert!(error.is_none());
            assert!(matches!(completeness, Completeness::Incomplete { .. }));
        }
    }

    #[test]
    fn a_bad_line_is_an_error_with_its_number_and_field() {
        let call = r#"{"seq":1,"at":5,"call":{"id":"c1","process":"a/1","do":"confirm","revision":"one"}}"#;
        let cases = [
            (format!("{RUN}\n{call}\n{END}\n"), "line 2, `call.revision`: invalid type"),
            (format!("{RUN}\nwibble\n{END}\n"), "line 2: expected value"),
            (format!("{PHASE}\n"), "line 1: the first line must be the `run` header"),
            (RUN.replace("\"format\":1", "\"format\":9") + "\n", "line 1: format 9"),
            (format!("{RUN}\n{PHASE}\n{PHASE}\n"), "line 3, `seq`: not greater"),
            (format!("{RUN}\n{PHASE}\n{END}\n{}\n", PHASE.replace("\"seq\":1", "\"seq\":8")), "line 4: a record after"),
        ];
        for (text, expected) in cases {
            let error = read(text).1.expect(expected);
            assert!(error.contains(expected), "{error} lacks {expected}");
        }
    }

    #[test]
    fn a_folder_reads_back_what_was_recorded_and_a_cut_frame_is_incomplete() {
        let folder = tempfile::tempdir().expect("a folder");
        let recorder = Recorder::to_folder(folder.path()).expect("opens");
        let header: Record = serde_json::from_str(RUN).expect("parses");
        recorder.record(|| 0, header.event);
        for at in 1..5_000 {
            recorder.record(|| at * 7919, Event::Phase(Phase { is: PhaseIs::Load, open: 0 }));
        }
        recorder.finish().expect("written");
        let mut folder_reader = open_folder(folder.path()).expect("opens");
        assert_eq!((&mut folder_reader.history).filter(Result::is_ok).count(), 5_001);
        assert_eq!(folder_reader.history.completeness(), Completeness::Complete);
        let ledger = folder_reader.ledger.expect("a ledger");
        assert_eq!(ledger.count(), 1);

        let path = folder.path().join(HISTORY_FILE);
        let bytes = std::fs::read(&path).expect("there");
        for length in [0, 1, 3, 5, 17, bytes.len() / 2, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..length]).expect("written");
            let mut cut = Reader::<Record>::open(&path).expect("opens");
            assert!(cut.all(|record| record.is_ok()), "cut at {length}");
            assert!(matches!(cut.completeness(), Completeness::Incomplete { .. }), "cut at {length}");
        }
    }

    #[test]
    fn an_empty_folder_has_no_history() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(matches!(open_folder(folder.path()), Err(ReadError::NoHistory { .. })));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes: Vec<u8>, at in 0usize..400, flip: u8) {
            let _ = reader(bytes.clone()).count();
            let mut text = format!("{RUN}\n{PHASE}\n{END}\n").into_bytes();
            let at = at.min(text.len() - 1);
            text[at] ^= flip;
            let _ = reader(text).count();
            let mut framed = zstd::encode_all(&bytes[..], 1).expect("memory");
            let place = at % framed.len();
            framed[place] ^= flip;
            if let Ok(decoder) = zstd::stream::read::Decoder::new(io::Cursor::new(framed)) {
                let source = Box::new(BufReader::new(decoder));
                let _ = Reader::<LedgerRecord>::from_source(source, Path::new("x")).count();
            }
        }
    }
}
