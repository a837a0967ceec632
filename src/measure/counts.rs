//! What is counted of a run, over all of it: warm-up and settling too.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use crate::history::record::{Outcome, Purpose, State};

/// The most different reasons (`why`) that one step counts by name; reasons come from peers, so they have to be bounded.
const REASONS_MAX: usize = 64;

/// The name under which reasons beyond the bound are counted.
const OTHER_REASONS: &str = "other";

/// The counters that [`super::Meter::count`] is called with.
pub mod counter {
    /// Operations that an Agent saw confirmed for the first time.
    pub const CONFIRMS: &str = "confirms";
    /// Confirms answered `terms_changed`.
    pub const TERMS_CHANGED: &str = "terms_changed";
    /// Operations that were confirmed, or may have been, and not final for their Agent when it stopped.
    pub const LEFT_OPEN: &str = "left_open";
}

/// What is counted of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls, by step.
    pub steps: BTreeMap<Purpose, StepCounts>,
    /// Journeys that started.
    pub arrivals: u64,
    /// Journeys that started in steady load.
    pub arrivals_steady: u64,
    /// Journeys that started, by name.
    pub set_out: BTreeMap<SmolStr, u64>,
    /// Journeys that ended, by how.
    pub journeys: BTreeMap<SmolStr, u64>,
    /// Journeys that were due while too many were in flight, and were skipped.
    pub dropped: u64,
    /// Journeys that were due while as many of their kind as may be were in flight, and waited.
    pub held: u64,
    /// Operations whose Agent saw them final, by state.
    pub finals: BTreeMap<State, u64>,
    /// Confirmed operations seen final in steady load: what throughput counts.
    pub finals_confirmed_steady: u64,
    /// Confirms with an unknown outcome whose final state became known.
    pub recoveries: u64,
    /// Faults that struck, by kind.
    pub faults: BTreeMap<SmolStr, u64>,
    /// Crashes, by point.
    pub crash_points: BTreeMap<SmolStr, u64>,
    /// Everything else, by the names in [`counter`].
    pub counters: BTreeMap<&'static str, u64>,
}

/// The calls of one step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepCounts {
    /// How they ended, over the whole run.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// How those ended whose intended start lies in steady load.
    pub outcomes_steady: BTreeMap<Outcome, u64>,
    /// Why they were refused or not answered, over the whole run.
    pub reasons: BTreeMap<SmolStr, u64>,
}

impl StepCounts {
    /// All calls of the step, over the whole run.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.outcomes.values().sum()
    }

    /// Counts one call.
    pub(super) fn call(&mut self, outcome: Outcome, why: Option<&SmolStr>, steady: bool) {
        *self.outcomes.entry(outcome).or_default() += 1;
        if steady {
            *self.outcomes_steady.entry(outcome).or_default() += 1;
        }
        let Some(why) = why else { return };
        let known = self.reasons.len() < REASONS_MAX || self.reasons.contains_key(why);
        let reason = if known { why.clone() } else { SmolStr::new_static(OTHER_REASONS) };
        *self.reasons.entry(reason).or_default() += 1;
    }
}

impl Counts {
    /// Faults that struck, of all kinds.
    #[must_use]
    pub fn faults_all(&self) -> u64 {
        self.faults.values().sum()
    }

    /// Operations seen final, in all states.
    #[must_use]
    pub fn finals_all(&self) -> u64 {
        self.finals.values().sum()
    }

    /// A counter by its name in [`counter`]; 0 if it was never counted.
    #[must_use]
    pub fn counter(&self, name: &str) -> u64 {
        self.counters.get(name).copied().unwrap_or_default()
    }

    /// Journeys that ended, however.
    #[must_use]
    pub fn journeys_all(&self) -> u64 {
        self.journeys.values().sum()
    }

    /// Calls that ended in one way, over all steps and the whole run.
    #[must_use]
    pub fn outcome(&self, outcome: Outcome) -> u64 {
        self.steps.values().filter_map(|step| step.outcomes.get(&outcome)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_that_a_peer_makes_up_do_not_grow_without_bound() {
        let mut step = StepCounts::default();
        for index in 0..1000 {
            step.call(Outcome::Refused, Some(&SmolStr::from(format!("code-{index}"))), true);
        }
        assert_eq!(step.reasons.len(), REASONS_MAX + 1);
        assert_eq!(step.reasons[OTHER_REASONS], 1000 - REASONS_MAX as u64);
        assert_eq!(step.calls(), 1000);
    }

    #[test]
    fn what_lies_outside_steady_load_is_counted_but_not_as_steady() {
        let mut step = StepCounts::default();
        step.call(Outcome::View, None, true);
        step.call(Outcome::View, None, false);
        assert_eq!(step.outcomes[&Outcome::View], 2);
        assert_eq!(step.outcomes_steady[&Outcome::View], 1);
    }
}
