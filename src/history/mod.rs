//! The records of a run: events and ledger entries, their writer and their reader.

mod line;
pub mod reader;
pub mod record;
pub mod writer;

pub use reader::{Completeness, Extent, Folder, ReadError, Reader, open_folder};
pub use record::{Event, LedgerEntry, LedgerRecord, Record};
pub use writer::{Ledger, Recorder, Written};
