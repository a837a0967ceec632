//! What a run chose, kept so that a plan can say it one by one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smol_str::SmolStr;

use crate::plan::{ListedJourney, Strike};

/// The journeys of a run as they set out, and the strikes of its faults.
#[derive(Debug, Clone, Default)]
pub struct Diary(Arc<Mutex<Pages>>);

#[derive(Debug, Default)]
struct Pages {
    journeys: Vec<ListedJourney>,
    strikes: Vec<(SmolStr, Strike)>,
}

impl Diary {
    /// The journeys, in the order in which they set out.
    #[must_use]
    pub fn journeys(&self) -> Vec<ListedJourney> {
        self.pages().journeys.clone()
    }

    /// The strikes, each with its fault's ID; of restarts, all that the plan set, whether or not the run came to them.
    #[must_use]
    pub fn strikes(&self) -> Vec<(SmolStr, Strike)> {
        self.pages().strikes.clone()
    }

    pub(super) fn set_out(&self, journey: ListedJourney) {
        self.pages().journeys.push(journey);
    }

    pub(super) fn struck(&self, strikes: impl IntoIterator<Item = (SmolStr, Strike)>) {
        self.pages().strikes.extend(strikes);
    }

    /// A lock whose holder panicked is still whole: every change under it is one push.
    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
