//! What runs exercised: rules, faults, crash points, journeys, changes of state, and what met on one operation.
//!
//! Counted from the history and the judgement; of what no history holds, the passing of crash points and the starts of
//! journeys, the run itself keeps count. A scenario that never exercises what it names is told so by [`never`].

mod declared;
mod gather;
mod never;

use std::{collections::BTreeMap, fmt};

use smol_str::SmolStr;

pub use declared::{Declared, declared};
pub use never::never;

use crate::{
    checker::{Anomaly, Judgement, Status},
    history::{Record, record::State},
    measure::{Counts, state_word},
    plan::{CrashPoint, Plan},
};

/// Something that a run can exercise.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// An anomaly was judged; counts the actions, or requests, that could have shown it.
    Rule(Anomaly),
    /// The fault of this ID struck.
    Fault(SmolStr),
    /// A Company's code passed this point, or was stopped at it.
    Passed(CrashPoint),
    /// A Company was stopped at this point.
    Crashed(CrashPoint),
    /// This journey set out.
    Journey(SmolStr),
    /// An operation was seen in the one state and then in the other; `None` is that there was none yet.
    Change(Option<State>, State),
    /// Two things went on at once about one operation, at its Company: words for both, in alphabetical order.
    Overlap(&'static str, &'static str),
}

impl fmt::Display for Item {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(anomaly) => write!(formatter, "{} could be judged", anomaly.name()),
            Self::Fault(id) => write!(formatter, "{id} struck"),
            Self::Passed(point) => write!(formatter, "{point} was come to"),
            Self::Crashed(point) => write!(formatter, "a crash at {point}"),
            Self::Journey(name) => write!(formatter, "the journey {name}"),
            Self::Change(from, to) => write!(formatter, "{} > {}", from.map_or("new", state_word), state_word(*to)),
            Self::Overlap(one, other) => write!(formatter, "{one}|{other}"),
        }
    }
}

/// How often each thing was exercised.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    items: BTreeMap<Item, u64>,
}

impl Coverage {
    /// What one run of `plan` exercised.
    #[must_use]
    pub fn of(
        plan: &Plan,
        history: &[Record],
        judgement: &Judgement,
        counts: &Counts,
        points: BTreeMap<CrashPoint, u64>,
    ) -> Self {
        let mut coverage = Self::default();
        for anomaly in Anomaly::ALL {
            if let Some(Status::Held { over } | Status::Violated { over, .. }) = judgement.status(*anomaly) {
                coverage.count(Item::Rule(*anomaly), *over);
            }
        }
        for (point, times) in points {
            coverage.count(Item::Passed(point), times);
        }
        for (name, times) in &counts.set_out {
            coverage.count(Item::Journey(name.clone()), *times);
        }
        gather::gather(&mut coverage, plan, history);
        coverage
    }

    /// How often that was exercised.
    #[must_use]
    pub fn times(&self, item: &Item) -> u64 {
        self.items.get(item).copied().unwrap_or_default()
    }

    /// Everything that was exercised, and how often.
    pub fn items(&self) -> impl Iterator<Item = (&Item, u64)> {
        self.items.iter().map(|(item, times)| (item, *times))
    }

    /// Adds another run's; gives the first thing in it that is new here.
    pub fn add(&mut self, other: &Self) -> Option<Item> {
        let mut new = None;
        for (item, times) in other.items() {
            match self.items.get_mut(item) {
                Some(all) => *all += times,
                None => {
                    self.items.insert(item.clone(), times);
                    new.get_or_insert_with(|| item.clone());
                }
            }
        }
        new
    }

    fn count(&mut self, item: Item, times: u64) {
        if times > 0 {
            *self.items.entry(item).or_default() += times;
        }
    }
}

#[cfg(test)]
mod tests;
