//! Where an action takes effect: steps with faults of their own, and the ledger's only writer.
