//! Many seeds of one plan, spread over threads that share nothing.
//!
//! Each trial has a runtime, a time line and a field of its own, so that what it shows does not depend on how many others
//! are under way. Trials are told of in their order, whichever ended first. No clock is read here: whoever wants to stop
//! after some time says so through [`Watch`].

mod crashes;
mod explored;
mod trial;
mod workers;

use std::{
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio_util::sync::CancellationToken;

pub use crashes::crashes;
pub use explored::{Explored, Group, Shown};
pub use trial::{Found, Trial, TrialOf, Trouble, parting};
pub use workers::explore;

use super::crash_points::Variant;
use crate::identity::Signatures;

/// What is tried, and how.
#[derive(Debug, Clone)]
pub struct Search {
    /// Plans with one crash more, which are tried once each before any seed; [`crashes`] gives all that strike.
    pub first: Vec<Variant>,
    /// The first seed; the others follow it one by one.
    pub seed: u64,
    /// How many seeds; `None` goes on until [`Watch::enough`].
    pub seeds: Option<u64>,
    /// How many trials are under way at once, each in a thread of its own.
    pub workers: NonZeroUsize,
    /// How requests are signed.
    pub signatures: Signatures,
    /// Whether the first failing trial is the last one.
    pub fail_fast: bool,
    /// Whether each trial is run twice and must give the same history and ledger.
    pub twice: bool,
}

/// How a search is watched and ended from outside.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    /// No further trial begins once this is cancelled; those under way come to their end.
    pub enough: CancellationToken,
    /// Trials under way are given up as well.
    pub stop: CancellationToken,
    pub(super) tally: Arc<Tally>,
}

/// How far a search is.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) done: AtomicU64,
    pub(super) failing: AtomicU64,
    pub(super) requests: AtomicU64,
}

impl Watch {
    /// Trials that ended.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.tally.done.load(Ordering::Relaxed)
    }

    /// Those among them that fail.
    #[must_use]
    pub fn failing(&self) -> u64 {
        self.tally.failing.load(Ordering::Relaxed)
    }

    /// Requests that they carried.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.tally.requests.load(Ordering::Relaxed)
    }

    fn count(&self, trial: &Trial) {
        self.tally.done.fetch_add(1, Ordering::Relaxed);
        self.tally.failing.fetch_add(u64::from(trial.fails()), Ordering::Relaxed);
        self.tally.requests.fetch_add(trial.requests, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
