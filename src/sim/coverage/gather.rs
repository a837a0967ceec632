//! Reads a history for what happened to each operation, and what met on it.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::{Coverage, Item};
use crate::{
    history::{
        Event, Record,
        record::{Attempt, AttemptIs, FaultStruck, LifecycleIs, State, View, Wire, WireIs},
    },
    measure::step_word,
    plan::{CrashPoint, Fault, FaultKind, Plan},
};

/// The word for a step that its backend works on.
const PERFORM: &str = "perform";

/// Counts what the records show.
pub(super) fn gather(coverage: &mut Coverage, plan: &Plan, history: &[Record]) {
    let mut seen =
        Seen { coverage, plan, calls: FxHashMap::default(), states: FxHashMap::default(), open: BTreeMap::new() };
    for record in history {
        match &record.event {
            Event::Call(call) => {
                if let Some(action) = &call.action {
                    seen.calls.insert(&call.id, (step_word(call.purpose), action));
                }
            }
            Event::Wire(wire) => seen.wire(wire),
            Event::Attempt(attempt) => seen.attempt(attempt),
            Event::Offer(offer) => seen.state(&offer.action, State::Proposed),
            Event::Return(answer) => {
                if let Some(View { action, state, .. }) = &answer.view {
                    seen.state(action, *state);
                }
            }
            Event::Fault(fault) => seen.fault(fault),
            Event::Lifecycle(lifecycle) if lifecycle.is == LifecycleIs::Stopped => seen.stopped(&lifecycle.party),
            _ => {}
        }
    }
}

/// What is known at one record.
struct Seen<'a> {
    coverage: &'a mut Coverage,
    plan: &'a Plan,
    /// The calls about an operation: what for, and which.
    calls: FxHashMap<&'a SmolStr, (&'static str, &'a SmolStr)>,
    /// The furthest state that each operation was seen in.
    states: FxHashMap<&'a SmolStr, State>,
    /// What goes on about each operation.
    open: BTreeMap<&'a SmolStr, Vec<Going>>,
}

/// Something that goes on about an operation: a copy of a request, or a step.
#[derive(PartialEq, Eq)]
struct Going {
    word: &'static str,
    key: SmolStr,
    copy: u32,
}

impl<'a> Seen<'a> {
    /// A copy of a request reaches the Company, or is answered by it.
    fn wire(&mut self, wire: &'a Wire) {
        let Some((word, action)) = self.calls.get(&wire.call).copied() else { return };
        let going = Going { word, key: wire.call.clone(), copy: wire.copy };
        match wire.is {
            WireIs::Arrived => self.begins(action, going),
            WireIs::Answered => self.ends(action, &going),
        }
    }

    fn attempt(&mut self, attempt: &'a Attempt) {
        let going = Going { word: PERFORM, key: attempt.key.clone(), copy: 1 };
        match attempt.is {
            AttemptIs::Sent => self.begins(&attempt.action, going),
            AttemptIs::Answered | AttemptIs::Unanswered => self.ends(&attempt.action, &going),
        }
    }

    fn begins(&mut self, action: &'a SmolStr, going: Going) {
        let open = self.open.entry(action).or_default();
        for other in &*open {
            self.coverage.count(overlap(other.word, going.word), 1);
        }
        open.push(going);
    }

    fn ends(&mut self, action: &SmolStr, going: &Going) {
        let Some(open) = self.open.get_mut(action) else { return };
        if let Some(place) = open.iter().position(|other| other == going) {
            open.swap_remove(place);
        }
        if open.is_empty() {
            self.open.remove(action);
        }
    }

    /// An answer that comes late shows a state that the operation has left: only a step onwards is one.
    fn state(&mut self, action: &'a SmolStr, state: State) {
        let before = self.states.get(action).copied();
        // An offer after the first is another revision: the state stays, and is seen again.
        if before.is_none_or(|before| rank(before) < rank(state) || (rank(before) == rank(state) && before != state)) {
            self.coverage.count(Item::Change(before, state), 1);
            self.states.insert(action, state);
        }
    }

    fn fault(&mut self, struck: &FaultStruck) {
        self.coverage.count(Item::Fault(struck.id.clone()), 1);
        if let Some(point) = struck.point.as_deref().and_then(CrashPoint::from_word) {
            self.coverage.count(Item::Crashed(point), 1);
        }
        let stops = self.plan.faults.iter().find(|fault| fault.id == struck.id).and_then(stop_word);
        if let (Some(word), Some(party)) = (stops, &struck.party) {
            let met: Vec<_> = self.of(party).flat_map(|(_, open)| open.iter().map(|going| going.word)).collect();
            for going in met {
                self.coverage.count(overlap(going, word), 1);
            }
        }
    }

    /// Nothing goes on at a Company that stopped.
    fn stopped(&mut self, party: &str) {
        self.open.retain(|action, _| company_of(action) != party);
    }

    /// What goes on at a Company.
    fn of(&self, party: &str) -> impl Iterator<Item = (&&'a SmolStr, &Vec<Going>)> {
        self.open.iter().filter(move |(action, _)| company_of(action) == party)
    }
}

/// The word for a fault that stops a Company.
fn stop_word(fault: &Fault) -> Option<&'static str> {
    matches!(fault.kind, FaultKind::Crash { .. } | FaultKind::Restart { .. }).then(|| fault.kind.word())
}

/// The Company of an action ID.
fn company_of(action: &str) -> &str {
    action.split('/').next().unwrap_or_default()
}

fn overlap(one: &'static str, other: &'static str) -> Item {
    Item::Overlap(one.min(other), one.max(other))
}

/// How far a state is; the final ones are equally far.
fn rank(state: State) -> u8 {
    match state {
        State::Proposed => 0,
        State::InProgress => 1,
        State::Succeeded | State::Failed | State::Cancelled | State::Expired => 2,
    }
}
