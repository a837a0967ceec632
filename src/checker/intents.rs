//! One wish of a User, one open operation: proposals of the same intent, across operations.

use rustc_hash::FxHashMap;
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
    last: FxHashMap<(SmolStr, Option<SmolStr>), usize>,
}

#[derive(Debug)]
struct Proposal {
    sent: Point,
    process: SmolStr,
    intent: SmolStr,
    /// The proposal of the same intent before this one.
    previous: Option<usize>,
    /// When it was given which operation.
    given: Option<(Point, usize)>,
}

impl Intents {
    pub(crate) fn proposed(&mut self, sent: Point, call: &Call, intent: &SmolStr) -> usize {
        let index = self.proposals.len();
        let previous = self.last.insert((intent.clone(), call.company.clone()), index);
        let process = call.process.clone();
        self.proposals.push(Proposal { sent, process, intent: intent.clone(), previous, given: None });
        index
    }

    pub(crate) fn answered(&mut self, proposal: usize, heard: Point, case: usize) {
        self.proposals[proposal].given = Some((heard, case));
    }

    /// `duplicate-proposal`. Whoever was told of a final state, the Agent is not accused after it; nor after the
    /// expiry of a proposal that nobody confirmed, which needs no answer to be known.
    pub(crate) fn judge(&self, cases: &Cases, ground: &Ground, tally: &mut Tally) {
        for again in &self.proposals {
            if !tally.judges(Anomaly::DuplicateProposal) {
                return;
            }
            let first = again.previous.map(|index| &self.proposals[index]);
            let Some((first, (given, case))) = first.and_then(|first| Some((first, first.given?))) else { continue };
            if first.process != again.process || !ground.before(given, again.sent) {
                continue;
            }
            let Some(case) = cases.get(case) else { continue };
            let is_over = case.finals().any(|look| !ground.before(again.sent, look.heard));
            if is_over || may_know_it_expired(&case, ground, again.sent) {
                continue;
            }
            let sentence =
                format!("{} proposed wish {} again while {} was still open.", again.process, again.intent, case.action);
            let mut evidence = vec![
                note(given, format!("{} given {}", first.process, case.action)),
                note(again.sent, format!("{} proposes {} again", again.process, again.intent)),
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
