//! The records of a run: events and ledger entries, their writer and their reader.

mod line;
pub mod record;

pub use record::{Event, LedgerEntry, LedgerRecord, Record};
