//! What a backend remembers of each key, on its disk: that it is at work, or what became of the work.

use std::sync::Arc;

use smol_str::SmolStr;
use tokio::sync::Notify;

/// What became of the work behind a key; never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It took effect.
    Done {
        /// The receipt.
        receipt: SmolStr,
    },
    /// It did not, and never will.
    Refused,
}

/// The memory of one key.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    /// What became of the work, once that is known.
    pub(super) outcome: Option<Outcome>,
    /// The incarnation that is at work. One that is gone works no more, and the next takes over.
    pub(super) incarnation: u32,
    /// Rings when the outcome is known.
    pub(super) known: Arc<Notify>,
}
