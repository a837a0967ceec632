//! What holds for a whole history: its order, clocks, observations, phases, shapes, terms; and how complete it is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use super::anomaly::Needs;
use super::case::{Case, Look, Point, Standing};
use super::money::{Money, money_in};
use super::time::Wall;
use crate::history::record::{ActionShape, ClockMoved, Company, End, Observation, Order, Run, Terms};

/// What stands in the ledger's file.
const LEDGER: [Observation; 2] = [Observation::Ledger, Observation::Performed];

/// What is known of the terms behind a digest.
#[derive(Debug)]
pub(crate) struct TermsFacts {
    pub(crate) work: Arc<Work>,
    pub(crate) money: Option<Money>,
}

/// What performing terms takes: the same of very many terms.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Work {
    pub(crate) kind: Option<SmolStr>,
    pub(crate) steps: Vec<SmolStr>,
}

/// How much of one file was given to the checker.
#[derive(Debug, Default)]
pub(crate) struct Extent {
    pub(crate) records: u64,
    pub(crate) last: Option<Point>,
    pub(crate) end: Option<End>,
}

/// A move of the wall clock: nobody had seen it before `since`, and everybody has after `told`.
#[derive(Debug, Clone, Copy)]
struct Move {
    since: u64,
    told: u64,
    by: i64,
}

/// What holds for the whole history.
#[derive(Debug, Default)]
pub(crate) struct Ground {
    pub(crate) run: Option<Run>,
    pub(crate) epoch: Option<i64>,
    moves: Vec<Move>,
    pub(crate) observes: BTreeSet<Observation>,
    pub(crate) shapes: FxHashMap<SmolStr, BTreeMap<SmolStr, ActionShape>>,
    pub(crate) terms: FxHashMap<SmolStr, TermsFacts>,
    works: FxHashSet<Arc<Work>>,
    /// By User, in order.
    pub(crate) standing: BTreeMap<SmolStr, Vec<Standing>>,
    /// When new journeys and faults ended.
    pub(crate) settling: Option<Point>,
    pub(crate) settled: Option<Point>,
    /// Whether journeys were still under way then, so that nobody can be said to have given up.
    pub(crate) cut_off: bool,
    pub(crate) interrupted: bool,
    pub(crate) history: Extent,
    pub(crate) ledger: Extent,
    /// Answers whose request is not in the history.
    pub(crate) returns_without_call: u64,
}

impl Extent {
    pub(crate) fn add(&mut self, point: Point) {
        self.records += 1;
        self.last = Some(point);
    }

    fn is_complete(&self) -> bool {
        self.end.is_some()
    }

    /// Whether records from its middle are known to be missing.
    fn has_gaps(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.lost > 0 || end.records != self.records)
    }

    fn why_incomplete(&self, what: &str) -> Option<String> {
        match &self.end {
            None => Some(format!("the {what} stops without its `end`")),
            Some(end) if end.lost > 0 => Some(format!("the {what} lost {} records", end.lost)),
            Some(end) if end.records != self.records => {
                Some(format!("the {what}'s `end` counts {} records, not {}", end.records, self.records))
            }
            Some(_) => None,
        }
    }
}

impl Ground {
    pub(crate) fn open(&mut self, run: &Run) {
        self.epoch = Wall::parse(&run.epoch).map(|wall| wall.from);
        self.observes = run.observes.iter().copied().collect();
        self.run = Some(run.clone());
    }

    pub(crate) fn add_company(&mut self, company: &Company) {
        self.shapes.insert(company.name.clone(), company.actions.clone());
    }

    pub(crate) fn add_terms(&mut self, terms: &Terms) {
        let money = terms.terms.as_ref().and_then(money_in);
        let work = Work { kind: terms.kind.clone(), steps: terms.steps.clone() };
        let work = match self.works.get(&work) {
            Some(known) => Arc::clone(known),
            None => {
                let work = Arc::new(work);
                self.works.insert(Arc::clone(&work));
                work
            }
        };
        self.terms.entry(terms.digest.clone()).or_insert(TermsFacts { work, money });
    }

    fn clock_error(&self) -> i64 {
        let milliseconds = self.run.as_ref().map_or(0, |run| run.clock_error_ms);
        i64::try_from(milliseconds.saturating_mul(1_000_000)).unwrap_or(i64::MAX)
    }

    /// A place as a number that orders places, and by how much two must differ to be ordered.
    pub(crate) fn key(&self, point: Point) -> u64 {
        if self.is_total() { point.seq } else { point.at }
    }

    pub(crate) fn slack(&self) -> u64 {
        // Never negative, so the cast keeps the value.
        if self.is_total() { 0 } else { self.clock_error() as u64 }
    }

    pub(crate) fn is_total(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.order == Order::Total)
    }

    /// Whether `a` certainly came before `b`.
    pub(crate) fn before(&self, a: Point, b: Point) -> bool {
        self.key(a).saturating_add(self.slack()) < self.key(b)
    }

    /// Whether what was confirmed at that place had half of the settle time, at least, to come to its end in.
    pub(crate) fn can_settle(&self, confirmed: Point) -> bool {
        let Some(settled) = self.settled else { return false };
        let half = self.settling.map_or(0, |settling| settled.at.saturating_sub(settling.at) / 2);
        self.before(confirmed, settled) && confirmed.at.saturating_add(half) <= settled.at
    }

    /// Takes in that the wall clock was moved on.
    pub(crate) fn clock_moved(&mut self, told: Point, moved: &ClockMoved) {
        let by = i64::try_from(moved.by_ms.saturating_mul(1_000_000)).unwrap_or(i64::MAX);
        self.moves.push(Move { since: moved.since.min(told.at), told: told.at, by });
    }

    /// The wall-clock times that a place may stand for, in nanoseconds since 1970, clock error allowed for. Where the clock
    /// was just being moved it may stand for either side.
    pub(crate) fn wall(&self, point: Point) -> Option<(i64, i64)> {
        let at = self.epoch?.checked_add(i64::try_from(point.at).ok()?)?;
        // Of clocks that differ, one may be past the move when the other is not.
        let slack = u64::try_from(self.clock_error()).unwrap_or_default();
        let sum = |counts: &dyn Fn(&&Move) -> bool| {
            self.moves.iter().filter(counts).fold(0i64, |sum, moved| sum.saturating_add(moved.by))
        };
        let surely = sum(&|moved| moved.told.saturating_add(slack) < point.at);
        let perhaps = sum(&|moved| moved.since <= point.at.saturating_add(slack));
        let (from, to) = (at.saturating_add(surely), at.saturating_add(perhaps));
        Some((from.saturating_sub(self.clock_error()), to.saturating_add(self.clock_error())))
    }

    /// Whether the history reaches up to a place of the ledger.
    pub(crate) fn is_within_history(&self, point: Point) -> bool {
        self.history.is_complete() || self.history.last.is_some_and(|last| !self.before(last, point) && point != last)
    }

    /// The action's name and shape, by the terms of an answer, else by the proposal.
    fn shape(&self, case: &Case, digest: Option<&str>) -> Option<&ActionShape> {
        let by_terms = digest.and_then(|digest| self.terms.get(digest)).and_then(|terms| terms.work.kind.as_ref());
        let kind = by_terms.or(case.kind.as_ref())?;
        self.shapes.get(case.company())?.get(kind)
    }

    /// The steps that an operation's confirmed terms take, where they are known.
    pub(crate) fn steps<'a>(&'a self, case: &Case, look: &Look) -> Option<&'a [SmolStr]> {
        let by_terms = self.terms.get(&look.terms).map(|terms| terms.work.steps.as_slice());
        let by_shape = || self.shape(case, Some(&look.terms)).map(|shape| shape.steps.as_slice());
        by_terms.filter(|steps| !steps.is_empty()).or_else(by_shape).filter(|steps| !steps.is_empty())
    }

    /// The phrase that tells a step's effect, where the Company has one.
    pub(crate) fn phrase(&self, case: &Case, digest: &str, step: &str) -> Option<&str> {
        Some(self.shape(case, Some(digest))?.phrases.get(step)?.as_str())
    }

    fn has_no_ledger(&self) -> bool {
        self.ledger.records == 0 && self.ledger.end.is_none()
    }

    /// Why something cannot be judged in this history, if so.
    pub(crate) fn lacks(&self, needs: &Needs) -> Option<String> {
        if self.run.is_none() {
            return Some("the history has no `run` header".to_owned());
        }
        if let Some(missing) = needs.observes.iter().find(|needed| !self.observes.contains(needed)) {
            return Some(format!("the history did not observe {}", observation_name(*missing)));
        }
        let uses_ledger = needs.observes.iter().any(|observation| LEDGER.contains(observation));
        if uses_ledger && self.has_no_ledger() {
            return Some("there is no ledger".to_owned());
        }
        if needs.without_gaps {
            if self.history.has_gaps() || self.returns_without_call > 0 {
                return Some("records of the history are missing".to_owned());
            }
            if uses_ledger && self.ledger.has_gaps() {
                return Some("records of the ledger are missing".to_owned());
            }
        }
        if needs.complete && !self.history.is_complete() {
            return Some("the history stops without its `end`".to_owned());
        }
        if needs.complete && uses_ledger && !self.ledger.is_complete() {
            return Some("the ledger stops without its `end`".to_owned());
        }
        if needs.settled && self.interrupted {
            return Some("the run was interrupted".to_owned());
        }
        if needs.settled && self.settled.is_none() {
            return Some("the run did not settle".to_owned());
        }
        None
    }

    /// Why the judgement rests on less than a whole run.
    pub(crate) fn incomplete(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        if self.run.is_none() {
            reasons.push("the history has no `run` header".to_owned());
        }
        reasons.extend(self.history.why_incomplete("history"));
        if LEDGER.iter().any(|observation| self.observes.contains(observation)) {
            if self.has_no_ledger() {
                reasons.push("there is no ledger, though the history promises one".to_owned());
            } else {
                reasons.extend(self.ledger.why_incomplete("ledger"));
            }
        }
        if self.returns_without_call > 0 {
            reasons.push(format!("{} answers belong to no request of the history", self.returns_without_call));
        }
        reasons
    }
}

/// An observation's name in the format.
pub(crate) fn observation_name(observation: Observation) -> &'static str {
    match observation {
        Observation::Calls => "calls",
        Observation::Wire => "wire",
        Observation::Attempts => "attempts",
        Observation::Approvals => "approvals",
        Observation::Offers => "offers",
        Observation::Ledger => "ledger",
        Observation::Performed => "performed",
        Observation::Sessions => "sessions",
    }
}
