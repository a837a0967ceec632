//! Judges what a run has to have exercised. Counts are of the whole run.

use super::{
    counts::{Counts, counter},
    series::state_word,
};
use crate::plan::{Reach, ReachCounter};

/// What became of a minimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// How many there were.
    pub count: u64,
    /// Whether that is enough.
    pub enough: bool,
}

/// Judges one minimum. Something that was never counted counts 0.
#[must_use]
pub fn reached(reach: &Reach, counts: &Counts) -> Reached {
    let count = match &reach.counter {
        ReachCounter::Faults(kind) => counts.faults.get(kind).copied().unwrap_or_default(),
        ReachCounter::Crashes(point) => counts.crash_points.get(point).copied().unwrap_or_default(),
        ReachCounter::Confirms => counts.counter(counter::CONFIRMS),
        ReachCounter::Finals => counts.finals_all(),
        ReachCounter::FinalsOf(word) => {
            counts.finals.iter().filter(|(state, _)| state_word(**state) == word).map(|(_, count)| count).sum()
        }
        ReachCounter::TermsChanged => counts.counter(counter::TERMS_CHANGED),
        ReachCounter::Recoveries => counts.recoveries,
    };
    Reached { count, enough: count >= reach.at_least }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{history::record::State, measure::Meter};

    #[test]
    fn each_minimum_counts_its_own_thing() {
        let meter = Meter::new();
        meter.fault("lose-answer", None);
        for _ in 0..2 {
            meter.fault("crash", Some("perform.after-effect"));
        }
        for _ in 0..3 {
            meter.count(counter::CONFIRMS);
        }
        for _ in 0..4 {
            meter.finished(State::Succeeded, true, 0);
        }
        meter.finished(State::Expired, false, 0);
        for _ in 0..6 {
            meter.count(counter::TERMS_CHANGED);
        }
        for _ in 0..7 {
            meter.recovered(1);
        }
        let counts = meter.counts();
        for (counter, expected) in [
            (ReachCounter::Faults("lose-answer".into()), 1),
            (ReachCounter::Faults("crash".into()), 2),
            (ReachCounter::Faults("delay".into()), 0),
            (ReachCounter::Crashes("perform.after-effect".into()), 2),
            (ReachCounter::Crashes("reply.before".into()), 0),
            (ReachCounter::Confirms, 3),
            (ReachCounter::FinalsOf("succeeded".into()), 4),
            (ReachCounter::FinalsOf("expired".into()), 1),
            (ReachCounter::FinalsOf("failed".into()), 0),
            (ReachCounter::Finals, 5),
            (ReachCounter::TermsChanged, 6),
            (ReachCounter::Recoveries, 7),
        ] {
            let reach = |at_least| Reach { counter: counter.clone(), at_least, text: String::new() };
            assert_eq!(reached(&reach(expected), &counts), Reached { count: expected, enough: true }, "{counter:?}");
            assert!(!reached(&reach(expected + 1), &counts).enough, "{counter:?}");
        }
    }
}
