//! Writes a run's history and ledger: one order over both, one background thread that serialises and compresses.
//!
//! Parties record from the hot path, so that path takes a lock and pushes; everything dear happens in the thread. The
//! lock gives `seq` and `at` together, so that no record is older than the one before it. When the disk fails, the run
//! goes on: what could not be written is counted, never a panic, and [`Recorder::failure`] says why.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::record::{End, Event, LedgerEntry, LedgerRecord, Record};

/// The history's file in a run's folder.
pub const HISTORY_FILE: &str = "history.jsonl.zst";
/// The ledger's file in a run's folder.
pub const LEDGER_FILE: &str = "ledger.jsonl.zst";

/// Records that may wait for the writer's thread; callers wait once there are more.
const QUEUE_RECORDS_MAX: usize = 32_768;
/// Records that wake the writer's thread before its time.
const BATCH_RECORDS: usize = 1_024;
/// How long a record waits in the queue at most, in milliseconds, unless the disk is slow.
const BATCH_MILLISECONDS: u64 = 50;
/// How often the compressed frames are flushed, in milliseconds: a killed run leaves all but the last of these.
const FLUSH_MILLISECONDS: u64 = 1_000;
/// A quick level: histories compress some tenfold even so.
const ZSTD_LEVEL: i32 = 1;

/// Records the events of a run. Clones share one history.
#[derive(Clone)]
pub struct Recorder {
    handle: Arc<Handle>,
}

/// Records the effects and requests that a backend saw, in the same order as the history.
#[derive(Clone)]
pub struct Ledger {
    handle: Arc<Handle>,
}

/// What a finished recorder has written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Records in the history before its trailer.
    pub records: u64,
    /// Records of the history that could not be written.
    pub records_lost: u64,
    /// Entries in the ledger before its trailer.
    pub entries: u64,
    /// Entries of the ledger that could not be written.
    pub entries_lost: u64,
}

/// What the last clone of a recorder or ledger takes with it: it ends the thread.
struct Handle {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Tells the thread that there is work.
    work: Condvar,
    /// Tells callers that there is room again.
    room: Condvar,
}

/// A record of either kind, as whoever watches sees it.
#[derive(Debug, Clone, Copy)]
pub enum Seen<'a> {
    /// A record of the history.
    Event(&'a Record),
    /// A record of the ledger.
    Entry(&'a LedgerRecord),
}

type Watch = Box<dyn FnMut(Seen<'_>) + Send>;

#[derive(Default)]
struct State {
    next_seq: u64,
    last_at: u64,
    records: Vec<Record>,
    entries: Vec<LedgerRecord>,
    counts: Counts,
    /// Nothing goes into files.
    in_memory: bool,
    /// Sees each record in place of keeping it.
    watch: Option<Watch>,
    closing: bool,
    closed: bool,
    failure: Option<(io::ErrorKind, String)>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default, Clone, Copy)]
struct Counts {
    records: u64,
    records_lost: u64,
    entries: u64,
    entries_lost: u64,
}

impl Recorder {
    /// A recorder into `history.jsonl.zst` and `ledger.jsonl.zst` of an existing folder.
    ///
    /// # Errors
    /// When a file cannot be created or the thread cannot be started.
    pub fn to_folder(dir: &Path) -> io::Result<Recorder> {
        let history = Sink::create(&dir.join(HISTORY_FILE))?;
        let ledger = Sink::create(&dir.join(LEDGER_FILE))?;
        let recorder = Recorder::with(State::default());
        let shared = Arc::clone(&recorder.handle.shared);
        let thread = std::thread::Builder::new()
            .name("history".to_owned())
            .spawn(move || write_until_closed(&shared, history, ledger))?;
        recorder.handle.shared.lock().thread = Some(thread);
        Ok(recorder)
    }

    /// A recorder that keeps everything, for tests and benches; see [`Recorder::snapshot`].
    #[must_use]
    pub fn in_memory() -> Recorder {
        Recorder::with(State { in_memory: true, ..State::default() })
    }

    /// A recorder that keeps nothing: `watch` sees each record as it is made, in order of `seq`, and it is gone. For runs
    /// that are judged as they go. It is called under the recorder's lock and must not record.
    #[must_use]
    pub fn watched(watch: impl FnMut(Seen<'_>) + Send + 'static) -> Recorder {
        Recorder::with(State { in_memory: true, watch: Some(Box::new(watch)), ..State::default() })
    }

    fn with(state: State) -> Recorder {
        let shared = Shared { state: Mutex::new(state), work: Condvar::new(), room: Condvar::new() };
        Recorder { handle: Arc::new(Handle { shared: Arc::new(shared) }) }
    }

    /// Records an event. `now` (nanoseconds since the run began) is read under the lock, so that times never fall in
    /// the order of `seq`; it must not record itself. A time before the last record's is raised to it.
    pub fn record(&self, now: impl FnOnce() -> u64, event: Event) {
        self.handle.shared.push(
            now,
            |state, seq, at| state.keep(Record { seq, at, event }),
            |counts| {
                counts.records_lost += 1;
            },
        );
    }

    /// The ledger that shares this history's order.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        Ledger { handle: Arc::clone(&self.handle) }
    }

    /// Writes the trailers, closes both files and waits for the thread. Later records are dropped. Calling it again
    /// gives the same answer.
    ///
    /// # Errors
    /// When something could not be written; [`Recorder::failure`] has the same text.
    pub fn finish(&self) -> io::Result<Written> {
        self.handle.shared.finish()
    }

    /// Why records are being lost, once a write has failed (a full disk): the run should end with exit status 5.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.handle.shared.lock().failure.as_ref().map(|(_, text)| text.clone())
    }

    /// How many records and entries could not be written so far.
    #[must_use]
    pub fn lost(&self) -> u64 {
        let counts = self.handle.shared.lock().counts;
        counts.records_lost + counts.entries_lost
    }

    /// The records so far, of a recorder in memory; nothing otherwise.
    #[must_use]
    pub fn snapshot(&self) -> (Vec<Record>, Vec<LedgerRecord>) {
        let state = self.handle.shared.lock();
        if state.in_memory { (state.records.clone(), state.entries.clone()) } else { (Vec::new(), Vec::new()) }
    }

    /// The records so far, of a recorder in memory, without a copy: it has none of them any more. Nothing otherwise.
    #[must_use]
    pub fn take(&self) -> (Vec<Record>, Vec<LedgerRecord>) {
        let mut state = self.handle.shared.lock();
        if state.in_memory {
            (std::mem::take(&mut state.records), std::mem::take(&mut state.entries))
        } else {
            (Vec::new(), Vec::new())
        }
    }
}

impl Ledger {
    /// Enters what the backend did or saw, at the instant it did. `now` as in [`Recorder::record`].
    pub fn enter(&self, now: impl FnOnce() -> u64, entry: LedgerEntry) {
        self.handle.shared.push(
            now,
            |state, seq, at| state.keep_entry(LedgerRecord { seq, at, entry }),
            |counts| {
                counts.entries_lost += 1;
            },
        );
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Recorder").finish_non_exhaustive()
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Ledger").finish_non_exhaustive()
    }
}

impl Drop for Handle {
    /// Ends the thread of a recorder that nobody finished: what was recorded is written, without trailers, so that the
    /// files say of themselves that they are incomplete.
    fn drop(&mut self) {
        let thread = {
            let mut state = self.shared.lock();
            state.closing = true;
            state.thread.take()
        };
        self.shared.work.notify_one();
        if let Some(thread) = thread {
            // A panic of the thread has nobody left to be told of it.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// The state; a caller that panicked while it held the lock left it whole (pushes and counts only).
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, now: impl FnOnce() -> u64, push: impl FnOnce(&mut State, u64, u64), lose: impl FnOnce(&mut Counts)) {
        let mut state = self.lock();
        while state.queued() >= QUEUE_RECORDS_MAX && !state.in_memory && !state.closing && state.failure.is_none() {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closing || state.closed {
            return;
        }
        let (seq, at) = state.stamp(now);
        if state.failure.is_some() {
            lose(&mut state.counts);
            return;
        }
        push(&mut state, seq, at);
        let wake = state.queued() == BATCH_RECORDS && !state.in_memory;
        drop(state);
        if wake {
            self.work.notify_one();
        }
    }

    fn finish(&self) -> io::Result<Written> {
        let mut state = self.lock();
        if !state.closing && !state.closed {
            state.add_trailers();
            state.closing = true;
            if state.in_memory {
                state.closed = true;
            }
        }
        let thread = state.thread.take();
        drop(state);
        self.work.notify_one();
        self.room.notify_all();
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            self.fail(&io::Error::other("the history's thread panicked"));
        }
        let mut state = self.lock();
        while !state.closed {
            // Another caller finishes at the same time and waits for the thread.
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.written()
    }

    fn fail(&self, error: &io::Error) {
        let mut state = self.lock();
        if state.failure.is_none() {
            state.failure = Some((error.kind(), error.to_string()));
        }
        state.closed |= state.closing;
        drop(state);
        self.room.notify_all();
    }
}

impl State {
    fn queued(&self) -> usize {
        self.records.len() + self.entries.len()
    }

    fn stamp(&mut self, now: impl FnOnce() -> u64) -> (u64, u64) {
        let seq = self.next_seq;
        self.next_seq += 1;
        self.last_at = self.last_at.max(now());
        (seq, self.last_at)
    }

    fn keep(&mut self, record: Record) {
        self.counts.records += u64::from(self.in_memory);
        match &mut self.watch {
            Some(watch) => watch(Seen::Event(&record)),
            None => self.records.push(record),
        }
    }

    fn keep_entry(&mut self, entry: LedgerRecord) {
        self.counts.entries += u64::from(self.in_memory);
        match &mut self.watch {
            Some(watch) => watch(Seen::Entry(&entry)),
            None => self.entries.push(entry),
        }
    }

    /// The trailers count what stands before them; the thread corrects the counts when it writes them.
    fn add_trailers(&mut self) {
        let counts = self.counts;
        let (seq, at) = self.stamp(|| 0);
        self.keep(Record { seq, at, event: Event::End(End { records: counts.records, lost: 0 }) });
        let (seq, at) = self.stamp(|| 0);
        self.keep_entry(LedgerRecord { seq, at, entry: LedgerEntry::End(End { records: counts.entries, lost: 0 }) });
        self.counts = counts; // they do not count themselves
    }

    fn written(&self) -> io::Result<Written> {
        match &self.failure {
            Some((kind, text)) => Err(io::Error::new(*kind, text.clone())),
            None => Ok(Written {
                records: self.counts.records,
                records_lost: self.counts.records_lost,
                entries: self.counts.entries,
                entries_lost: self.counts.entries_lost,
            }),
        }
    }
}

/// One compressed file of JSON lines.
struct Sink {
    encoder: zstd::stream::write::Encoder<'static, File>,
    path: String,
    line: Vec<u8>,
    written: u64,
}

impl Sink {
    fn create(path: &Path) -> io::Result<Sink> {
        let name = path.display().to_string();
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{name}: {error}"));
        let mut encoder = zstd::stream::write::Encoder::new(File::create(path).map_err(named)?, ZSTD_LEVEL)?;
        encoder.include_checksum(true)?;
        Ok(Sink { encoder, path: name, line: Vec::with_capacity(64 * 1024), written: 0 })
    }

    /// Adds the lines of a batch; `fix` may correct a record by what is already written.
    fn write_batch<T: Serialize>(&mut self, batch: &mut [T], fix: impl Fn(&mut T, u64)) -> io::Result<()> {
        for record in batch {
            fix(record, self.written);
            serde_json::to_writer(&mut self.line, record).map_err(io::Error::from)?;
            self.line.push(b'\n');
            self.written += 1;
            if self.line.len() >= 48 * 1024 {
                self.drain()?;
            }
        }
        self.drain()
    }

    fn drain(&mut self) -> io::Result<()> {
        let result = self.encoder.write_all(&self.line);
        self.line.clear();
        result.map_err(|error| self.named(&error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder.flush().map_err(|error| self.named(&error))
    }

    fn close(mut self) -> io::Result<u64> {
        let flushed = self.encoder.do_finish();
        flushed.map_err(|error| self.named(&error))?;
        Ok(self.written)
    }

    fn named(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: {error}", self.path))
    }
}

/// The thread: takes batches and writes them until the recorder closes.
fn write_until_closed(shared: &Shared, mut history: Sink, mut ledger: Sink) {
    let (mut records, mut entries) = (Vec::new(), Vec::new());
    let mut flushed = Instant::now();
    loop {
        let closing = take_batch(shared, &mut records, &mut entries);
        let mut result = write_both(&mut history, &mut ledger, &mut records, &mut entries);
        if flushed.elapsed() >= Duration::from_millis(FLUSH_MILLISECONDS) {
            result = result.and_then(|()| history.flush()).and_then(|()| ledger.flush());
            flushed = Instant::now();
        }
        if let Err(error) = result {
            let mut state = shared.lock();
            // What was taken cannot be told apart into written and lost once the frame is broken.
            state.counts.records_lost += (records.len() + state.records.len()) as u64;
            state.counts.entries_lost += (entries.len() + state.entries.len()) as u64;
            state.records.clear();
            state.entries.clear();
            state.failure = Some((error.kind(), error.to_string()));
            state.closed |= closing;
            drop(state);
            shared.room.notify_all();
            wait_for_closing(shared);
            return;
        }
        records.clear();
        entries.clear();
        if closing {
            break;
        }
    }
    let closed = history.close().and_then(|records| Ok((records, ledger.close()?)));
    match closed {
        Ok((records, entries)) => {
            let mut state = shared.lock();
            // The trailers do not count themselves; a dropped recorder has none, and nobody asks.
            state.counts.records = records.saturating_sub(1);
            state.counts.entries = entries.saturating_sub(1);
            state.closed = true;
            drop(state);
            shared.room.notify_all();
        }
        Err(error) => shared.fail(&error),
    }
}

/// Waits for work and swaps it out; true once the recorder closes and nothing more can come.
fn take_batch(shared: &Shared, records: &mut Vec<Record>, entries: &mut Vec<LedgerRecord>) -> bool {
    let wait = Duration::from_millis(BATCH_MILLISECONDS);
    let mut state = shared.lock();
    if state.queued() < BATCH_RECORDS && !state.closing {
        state = shared.work.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
    }
    std::mem::swap(&mut state.records, records);
    std::mem::swap(&mut state.entries, entries);
    let closing = state.closing;
    drop(state);
    shared.room.notify_all();
    closing
}

fn write_both(
    history: &mut Sink,
    ledger: &mut Sink,
    records: &mut [Record],
    entries: &mut [LedgerRecord],
) -> io::Result<()> {
    history.write_batch(records, |record, written| {
        if let Event::End(end) = &mut record.event {
            end.records = written;
        }
    })?;
    ledger.write_batch(entries, |record, written| {
        if let LedgerEntry::End(end) = &mut record.entry {
            end.records = written;
        }
    })
}

/// After a failure: records are counted as lost by their callers until the recorder closes.
fn wait_for_closing(shared: &Shared) {
    let mut state = shared.lock();
    while !state.closing {
        state = shared.work.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    state.closed = true;
    drop(state);
    shared.room.notify_all();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::record::{Phase, PhaseIs};

    fn phase() -> Event {
        Event::Phase(Phase { is: PhaseIs::Load, open: 0 })
    }

    fn effect(id: &str) -> LedgerEntry {
        LedgerEntry::Effect(crate::history::record::Effect {
            id: id.into(),
            action: "c/operation/o".into(),
            revision: 1,
            terms: "t".into(),
            step: "s".into(),
            key: "k".into(),
            receipt: "rtn_1".into(),
            undo_of: None,
        })
    }

    fn lines(path: &Path) -> Vec<String> {
        let bytes = std::fs::read(path).expect("the file is there");
        let text = zstd::decode_all(&bytes[..]).expect("whole frames");
        String::from_utf8(text).expect("UTF-8").lines().map(str::to_owned).collect()
    }

    #[test]
    fn one_order_over_history_and_ledger_and_times_never_fall() {
        let recorder = Recorder::in_memory();
        recorder.record(|| 50, phase());
        recorder.ledger().enter(|| 40, effect("e1"));
        recorder.record(|| 60, phase());
        let (records, entries) = recorder.snapshot();
        let stamps: Vec<_> = records.iter().map(|record| (record.seq, record.at)).collect();
        assert_eq!(stamps, [(0, 50), (2, 60)]);
        assert_eq!((entries[0].seq, entries[0].at), (1, 50));
    }

    #[test]
    fn a_finished_folder_has_trailers_with_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let recorder = Recorder::to_folder(folder.path()).expect("opens");
        let ledger = recorder.ledger();
        for n in 0..3_000u64 {
            recorder.record(|| n, phase());
        }
        ledger.enter(|| 9, effect("e1"));
        let written = recorder.finish().expect("written");
        assert_eq!(written, Written { records: 3_000, records_lost: 0, entries: 1, entries_lost: 0 });
        assert_eq!(recorder.finish().expect("the same again"), written);
        recorder.record(|| 1, phase());
        let history = lines(&folder.path().join(HISTORY_FILE));
        assert_eq!(history.len(), 3_001);
        assert!(history[3_000].ends_with(r#""end":{"records":3000,"lost":0}}"#), "{}", history[3_000]);
        assert_eq!(lines(&folder.path().join(LEDGER_FILE)).len(), 2);
    }

    #[test]
    fn many_threads_keep_one_gapless_order() {
        let recorder = Recorder::in_memory();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..500u64).for_each(|n| recorder.record(|| n, phase())));
            }
        });
        let (records, _) = recorder.snapshot();
        assert!(records.iter().enumerate().all(|(n, record)| record.seq == n as u64));
        assert!(records.is_sorted_by_key(|record| record.at));
    }

    #[test]
    fn a_dropped_recorder_leaves_a_readable_file_without_a_trailer() {
        let folder = tempfile::tempdir().expect("a folder");
        let recorder = Recorder::to_folder(folder.path()).expect("opens");
        recorder.record(|| 1, phase());
        drop(recorder);
        let history = lines(&folder.path().join(HISTORY_FILE));
        assert_eq!(history.len(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error_that_names_the_file() {
        let error = Recorder::to_folder(Path::new("/nowhere/at/all")).expect_err("no such folder");
        assert!(error.to_string().contains("history.jsonl.zst"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_loses_records_and_says_so_but_never_panics() {
        let folder = tempfile::tempdir().expect("a folder");
        std::os::unix::fs::symlink("/dev/full", folder.path().join(HISTORY_FILE)).expect("a link");
        let recorder = Recorder::to_folder(folder.path()).expect("opens");
        for n in 0..200_000u64 {
            // Times that do not compress away, so that the file is really written to.
            recorder.record(|| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 8, phase());
        }
        let error = recorder.finish().expect_err("nothing could be written");
        assert_eq!(recorder.failure(), Some(error.to_string()));
        assert!(error.to_string().contains("history.jsonl.zst"), "{error}");
        assert!(recorder.lost() > 0);
    }
}
