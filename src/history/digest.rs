//! The digest of a run: SHA-256 over the lines of its history and then of its ledger, trailers included.
//!
//! It is that of `zstdcat history.jsonl.zst ledger.jsonl.zst | sha256sum`, so that anybody can check it.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

use aws_lc_rs::digest::{Context, SHA256};
use serde::Serialize;

use super::{
    record::{LedgerRecord, Record},
    writer::{HISTORY_FILE, LEDGER_FILE},
};

/// Bytes that are digested at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// The digest of records as their lines would stand in the files, in lower-case hex.
///
/// # Errors
///
/// If a record cannot be serialised, which no record of this format gives cause for.
pub fn of_records(history: &[Record], ledger: &[LedgerRecord]) -> io::Result<String> {
    let mut context = Context::new(&SHA256);
    let mut chunk = Vec::with_capacity(2 * CHUNK_BYTES);
    lines(&mut context, &mut chunk, history)?;
    lines(&mut context, &mut chunk, ledger)?;
    context.update(&chunk);
    Ok(hex(context))
}

/// The digest of the compressed files of a run's folder, in lower-case hex.
///
/// # Errors
///
/// If one of them cannot be read.
pub fn of_folder(folder: &Path) -> io::Result<String> {
    let mut context = Context::new(&SHA256);
    let mut chunk = vec![0; CHUNK_BYTES];
    for name in [HISTORY_FILE, LEDGER_FILE] {
        let mut file = zstd::stream::read::Decoder::new(File::open(folder.join(name))?)?;
        loop {
            match file.read(&mut chunk)? {
                0 => break,
                read => context.update(&chunk[..read]),
            }
        }
    }
    Ok(hex(context))
}

fn lines<T: Serialize>(context: &mut Context, chunk: &mut Vec<u8>, records: &[T]) -> io::Result<()> {
    for record in records {
        serde_json::to_writer(&mut *chunk, record)?;
        chunk.push(b'\n');
        if chunk.len() >= CHUNK_BYTES {
            context.update(chunk);
            chunk.clear();
        }
    }
    Ok(())
}

/// The digest of a text.
#[must_use]
pub fn of_text(text: &str) -> String {
    let mut context = Context::new(&SHA256);
    context.update(text.as_bytes());
    hex(context)
}

fn hex(context: Context) -> String {
    let digits = context.finish();
    digits.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{
        Event, LedgerEntry, Recorder,
        record::{Performed, Phase, PhaseIs},
    };

    fn fill(recorder: &Recorder) {
        for n in 0..5_000 {
            recorder.record(|| n, Event::Phase(Phase { is: PhaseIs::Load, open: n }));
        }
        let entry = LedgerEntry::Performed(Performed { action: "clothes-1/operation/op_1".into(), times: 1 });
        recorder.ledger().enter(|| 6_000, entry);
        recorder.finish().expect("written");
    }

    #[test]
    fn memory_and_files_have_the_digest_of_their_plain_lines() {
        let folder = tempfile::tempdir().expect("a folder");
        let (memory, files) = (Recorder::in_memory(), Recorder::to_folder(folder.path()).expect("opens"));
        fill(&memory);
        fill(&files);
        let (history, ledger) = memory.take();
        assert_eq!((history.len(), ledger.len()), (5_001, 2));
        let mut plain = Vec::new();
        for name in [HISTORY_FILE, LEDGER_FILE] {
            let bytes = std::fs::read(folder.path().join(name)).expect("the file is there");
            plain.extend(zstd::decode_all(&bytes[..]).expect("whole frames"));
        }
        let mut context = Context::new(&SHA256);
        context.update(&plain);
        let expected = hex(context);
        assert_eq!(of_records(&history, &ledger).expect("serialises"), expected);
        assert_eq!(of_folder(folder.path()).expect("readable"), expected);
        assert_eq!(expected.len(), 64);
    }

    #[test]
    fn the_digest_of_nothing_is_the_known_one() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(of_records(&[], &[]).expect("serialises"), empty);
    }
}
