//! One wish of a User, one open operation: proposals of the same intent, across operations.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use siphasher::sip128::{Hasher128, SipHasher13};
use smol_str::SmolStr;

use super::anomaly::Anomaly;
use super::case::{Case, Point, note};
use super::cases::Cases;
use super::ground::Ground;
use super::tally::Tally;
use crate::history::record::{Call, State};

/// All proposals that named an intent, in order.
#[derive(Debug, Default)]
pub(crate) struct Intents {
    proposals: Vec<Proposal>,
    /// The last proposal of each intent at a Company.
    last: FxHashMap<u128, u32>,
    repeats: Vec<Repeat>,
}

/// A proposal. There are as many as operations, so that it holds no more than it must.
#[derive(Debug)]
struct Proposal {
    sent: Point,
    process: SmolStr,
    /// When it was given which operation.
    given: Option<(Point, u32)>,
}

/// A proposal of an intent that had been proposed before.
#[derive(Debug)]
struct Repeat {
    first: u32,
    again: u32,
    intent: SmolStr,
}

/// Names an intent at a Company by a 128-bit hash: two different ones never meet in practice.
fn name(intent: &SmolStr, company: Option<&SmolStr>) -> u128 {
    let mut hasher = SipHasher13::new();
    (intent, company).hash(&mut hasher);
    hasher.finish128().as_u128()
}

impl Intents {
    pub(crate) fn proposed(&mut self, sent: Point, call: &Call, intent: &SmolStr) -> u32 {
        // No memory holds more of them than that.
        let again = self.proposals.len() as u32;
        if let Some(first) = self.last.insert(name(intent, call.company.as_ref()), again) {
            self.repeats.push(Repeat { first, again, intent: intent.clone() });
        }
        self.proposals.push(Proposal { sent, process: call.process.clone(), given: None });
        again
    }

    pub(crate) fn answered(&mut self, proposal: u32, heard: Point, case: u32) {
        self.proposals[proposal as usize].given = Some((heard, case));
    }

    /// `duplicate-proposal`. Whoever was told of a final state, the Agent is not accused after it; nor after the
    /// expiry of a proposal that nobody confirmed, which needs no answer to be known.
    pub(crate) fn judge(&self, cases: &Cases, ground: &Ground, tally: &mut Tally) {
        if !self.proposals.iter().all(|_| tally.judges(Anomaly::DuplicateProposal)) {
            return;
        }
        for Repeat { first, again, intent } in &self.repeats {
            let [first, again] = [first, again].map(|proposal| &self.proposals[*proposal as usize]);
            let Some((given, case)) = first.given else { continue };
            if first.process != again.process || !ground.before(given, again.sent) {
                continue;
            }
            let Some(case) = cases.get(case as usize) else { continue };
            let is_over = case.finals().any(|look| !ground.before(again.sent, look.heard));
            if is_over || may_know_it_expired(&case, ground, again.sent) {
                continue;
            }
            let sentence =
                format!("{} proposed wish {intent} again while {} was still open.", again.process, case.action);
            let mut evidence = vec![
                note(given, format!("{} given {}", first.process, case.action)),
                note(again.sent, format!("{} proposes {intent} again", again.process)),
            ];
            evidence.extend(case.looks.first().map(super::case::Look::evidence));
            tally.found(Anomaly::DuplicateProposal, Some(&case), again.sent, sentence, evidence);
        }
    }
}

fn may_know_it_expired(case: &Case, ground: &Ground, at: Point) -> bool {
    let last = case.looks.iter().max_by_key(|look| look.heard);
    let expires = last.filter(|look| look.state == State::Proposed).and_then(|look| look.expires);
    let (Some(expires), Some((_, now))) = (expires, ground.wall(at)) else { return false };
    case.possible_confirms().next().is_none() && now > expires.from
}
