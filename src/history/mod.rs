//! The records of a run: events and ledger entries, their writer and their reader.

pub mod digest;
mod line;
mod quick;
pub mod reader;
pub mod record;
pub mod schema;
mod view;
#[expect(clippy::disallowed_methods, reason = "the disk and the thread that writes to it are outside the world")]
pub mod writer;

pub use reader::{Completeness, Extent, Folder, ReadError, Reader, open_folder};
pub use record::{Event, LedgerEntry, LedgerRecord, Record};
pub use writer::{Ledger, Recorder, Seen, Written};
