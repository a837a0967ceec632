//! The records of a run: events and ledger entries, their writer and their reader.
