//! What a run measured, read once it is over (or while it goes on).

use std::{collections::BTreeMap, time::Duration};

use super::{counts::Counts, times::Times};
use crate::history::record::Purpose;

/// What a run measured. Times are of steady load; counts are of the whole run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Times of each step that was called in steady load.
    pub steps: BTreeMap<Purpose, StepFigures>,
    /// How late journeys started after they were due.
    pub arrival_lag: Times,
    /// How long journeys took, from their due time.
    pub journeys: Times,
    /// From a confirm's first failure to a known final state; of the whole run, since faults have windows of their own.
    pub recovery: Times,
    /// What was counted.
    pub counts: Counts,
    /// How long steady load lasted.
    pub steady_for: Duration,
}

/// Times of one step in steady load.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepFigures {
    /// From the intended start to the answer.
    pub response: Times,
    /// From the send to the answer.
    pub service: Times,
    /// From the intended start to the send, answered or not; of all that were sent.
    pub lag: Times,
    /// From the intended start until the caller stopped waiting: calls without an answer, kept apart from those with.
    pub unanswered: Times,
}

impl Figures {
    /// Response times of a step, or of all steps together.
    #[must_use]
    pub fn response(&self, step: Option<Purpose>) -> Times {
        self.merged(step, |figures| &figures.response)
    }

    /// Service times of a step, or of all steps together.
    #[must_use]
    pub fn service(&self, step: Option<Purpose>) -> Times {
        self.merged(step, |figures| &figures.service)
    }

    /// How late requests were sent, of all steps together.
    #[must_use]
    pub fn lag(&self) -> Times {
        self.merged(None, |figures| &figures.lag)
    }

    /// Confirmed operations that came to a final state per second of steady load; `None` if there was no steady load.
    #[must_use]
    pub fn throughput(&self) -> Option<f64> {
        let seconds = self.steady_for.as_secs_f64();
        (seconds > 0.0).then(|| self.counts.finals_confirmed_steady as f64 / seconds)
    }

    fn merged(&self, step: Option<Purpose>, part: impl Fn(&StepFigures) -> &Times) -> Times {
        let mut all = Times::default();
        for (purpose, figures) in &self.steps {
            if step.is_none_or(|wanted| wanted == *purpose) {
                all.add(part(figures));
            }
        }
        all
    }
}
