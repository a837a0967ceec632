//! What a history says of one action: requests, answers, offers, approvals, attempts, effects. Compact, in order.

use smol_str::SmolStr;

use super::finding::Evidence;
use super::time::Wall;
use crate::history::record::{ApprovalIs, ApprovedBy, AttemptIs, Bounds, Learnt, Outcome, Purpose, State};

/// A place in the order of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Point {
    pub(crate) seq: u64,
    pub(crate) at: u64,
}

/// A request about the action.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) sent: Point,
    /// When and how it ended for its caller, if it did.
    pub(crate) ended: Option<(Point, Outcome)>,
    pub(crate) purpose: Purpose,
    pub(crate) process: SmolStr,
    pub(crate) user: Option<SmolStr>,
    pub(crate) revision: Option<u64>,
    pub(crate) approved_by: Option<ApprovedBy>,
    pub(crate) why: Option<SmolStr>,
    pub(crate) retry_after_ms: Option<u64>,
    /// Whether it was delivered twice: the answer is then one copy's alone.
    pub(crate) is_doubled: bool,
    /// Whether a copy of it was seen to arrive.
    pub(crate) arrived: bool,
    /// When the last answer to a copy of it was seen to leave, before it ended for its caller.
    pub(crate) answered: Option<Point>,
    pub(crate) listed: Option<bool>,
}

/// An answer that showed the operation: true at some instant between `sent` and `left`.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) sent: Point,
    /// When the answer had left the Company at the latest: narrower than `heard` where the wire was observed.
    pub(crate) left: Point,
    pub(crate) heard: Point,
    /// Who was told.
    pub(crate) process: SmolStr,
    pub(crate) purpose: Purpose,
    /// Whether the operator of the Session that was answered lists the extension, where the Session is known.
    pub(crate) listed: Option<bool>,
    pub(crate) state: State,
    pub(crate) revision: u64,
    pub(crate) terms: SmolStr,
    pub(crate) expires: Option<Wall>,
    pub(crate) approval_required: bool,
    pub(crate) confirmation: Option<Confirmed>,
    pub(crate) result: Option<Box<str>>,
}

/// A confirmation as an answer showed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Confirmed {
    pub(crate) revision: u64,
    pub(crate) approved_by: ApprovedBy,
    pub(crate) at: SmolStr,
}

/// A revision that the Company issued.
#[derive(Debug)]
pub(crate) struct Offered {
    pub(crate) point: Point,
    pub(crate) revision: u64,
    pub(crate) terms: SmolStr,
    pub(crate) expires: Option<Wall>,
}

/// What a User was shown or answered about the action.
#[derive(Debug)]
pub(crate) struct Approved {
    pub(crate) point: Point,
    pub(crate) is: ApprovalIs,
    pub(crate) user: SmolStr,
    pub(crate) revision: Option<u64>,
    pub(crate) terms: Option<SmolStr>,
}

/// A standing permission given, or (without bounds) taken back.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) point: Point,
    pub(crate) bounds: Option<Bounds>,
}

/// A request to the backend, as the Company saw it.
#[derive(Debug)]
pub(crate) struct Tried {
    pub(crate) point: Point,
    pub(crate) step: SmolStr,
    pub(crate) key: SmolStr,
    pub(crate) is: AttemptIs,
    pub(crate) learnt: Option<Learnt>,
}

/// An effect or an undo.
#[derive(Debug)]
pub(crate) struct Did {
    pub(crate) point: Point,
    pub(crate) revision: u64,
    pub(crate) terms: SmolStr,
    pub(crate) step: SmolStr,
    pub(crate) receipt: SmolStr,
    pub(crate) undo_of: Option<SmolStr>,
}

/// How often the Company says that it performed the operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    pub(crate) point: Point,
    pub(crate) times: u64,
}

/// Everything that a history says of one action.
#[derive(Debug, Default)]
pub(crate) struct Case {
    pub(crate) action: SmolStr,
    /// The name of the action (`exchange`), where a proposal gave it.
    pub(crate) kind: Option<SmolStr>,
    pub(crate) asks: Vec<Ask>,
    pub(crate) looks: Vec<Look>,
    pub(crate) offers: Vec<Offered>,
    pub(crate) approvals: Vec<Approved>,
    pub(crate) tries: Vec<Tried>,
    pub(crate) deeds: Vec<Did>,
    /// What was counted last.
    pub(crate) counted: Option<Counted>,
}

/// Whether a state is final.
pub(crate) fn is_final(state: State) -> bool {
    !matches!(state, State::Proposed | State::InProgress)
}

/// A state's name on the wire.
pub(crate) fn state_name(state: State) -> &'static str {
    match state {
        State::Proposed => "proposed",
        State::InProgress => "in_progress",
        State::Succeeded => "succeeded",
        State::Failed => "failed",
        State::Cancelled => "cancelled",
        State::Expired => "expired",
    }
}

impl Ask {
    /// Whether the Company may have acted on it: anything but a definite refusal or a request that never left. A refusal
    /// of one copy says nothing of the other.
    pub(crate) fn may_have_acted(&self) -> bool {
        self.is_doubled || !matches!(self.ended, Some((_, Outcome::Refused | Outcome::Unsent)))
    }

    /// Whether it ended without an answer, or has not ended.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self.ended, None | Some((_, Outcome::Unknown)))
    }

    pub(crate) fn sent_evidence(&self) -> Evidence {
        let what = match (self.purpose, self.revision) {
            (Purpose::Confirm, Some(revision)) => format!("confirm r{revision}"),
            (purpose, _) => purpose_name(purpose).to_owned(),
        };
        let how = match self.ended {
            Some((_, Outcome::Unknown)) => ", never answered".to_owned(),
            Some((_, Outcome::Refused)) => self.why.as_ref().map_or(", refused".to_owned(), |why| format!(", {why}")),
            Some((_, Outcome::Unsent)) => ", never left".to_owned(),
            None | Some((_, Outcome::View | Outcome::Done)) => String::new(),
        };
        note(self.sent, format!("{what} sent by {}{how}", self.process))
    }
}

fn purpose_name(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Propose => "propose",
        Purpose::Change => "change",
        Purpose::Read => "read",
        Purpose::Confirm => "confirm",
        Purpose::Cancel => "cancel",
        Purpose::Discover
        | Purpose::Keys
        | Purpose::Token
        | Purpose::Revoke
        | Purpose::SignIn
        | Purpose::Prepare
        | Purpose::Backend => "request",
    }
}

impl Look {
    /// Whether it shows that the operation had been confirmed.
    pub(crate) fn shows_confirmed(&self) -> bool {
        self.confirmation.is_some() || matches!(self.state, State::InProgress | State::Succeeded)
    }

    pub(crate) fn evidence(&self) -> Evidence {
        let confirmed = match &self.confirmation {
            Some(confirmed) if confirmed.revision != self.revision => format!(", confirmed r{}", confirmed.revision),
            _ => String::new(),
        };
        note(self.heard, format!("{} told: {} r{}{confirmed}", self.process, state_name(self.state), self.revision))
    }
}

impl Did {
    pub(crate) fn evidence(&self) -> Evidence {
        let text = match &self.undo_of {
            Some(step) => format!("UNDO of {step}, receipt {}", self.receipt),
            None => format!("EFFECT {} on r{}, receipt {}", self.step, self.revision, self.receipt),
        };
        note(self.point, text)
    }
}

impl Counted {
    pub(crate) fn evidence(&self) -> Evidence {
        note(self.point, format!("the Company's own count: performed {}", times(self.times)))
    }
}

/// `once`, `2 times`.
pub(crate) fn times(times: u64) -> String {
    if times == 1 { "once".to_owned() } else { format!("{times} times") }
}

impl Case {
    /// The Company's name: the first part of the action ID.
    pub(crate) fn company(&self) -> &str {
        self.action.split('/').next().unwrap_or_default()
    }

    /// The effects, without undos.
    pub(crate) fn effects(&self) -> impl Iterator<Item = &Did> {
        self.deeds.iter().filter(|did| did.undo_of.is_none())
    }

    /// Confirms, however they ended.
    pub(crate) fn confirms(&self) -> impl Iterator<Item = &Ask> {
        self.asks.iter().filter(|ask| ask.purpose == Purpose::Confirm)
    }

    /// Confirms that may have been accepted.
    pub(crate) fn possible_confirms(&self) -> impl Iterator<Item = &Ask> {
        self.confirms().filter(|ask| ask.may_have_acted())
    }

    /// Answers that showed a final state.
    pub(crate) fn finals(&self) -> impl Iterator<Item = &Look> {
        self.looks.iter().filter(|look| is_final(look.state))
    }

    /// The answer of one state that was heard first.
    pub(crate) fn first_heard(&self, state: State) -> Option<&Look> {
        self.looks.iter().filter(|look| look.state == state).min_by_key(|look| look.heard)
    }

    /// Whether a digest is known to be a revision's, or nothing is known of that revision.
    pub(crate) fn is_digest_of(&self, revision: u64, digest: &str) -> bool {
        let shown = self.looks.iter().filter(|look| look.revision == revision).map(|look| &look.terms);
        let issued = self.offers.iter().filter(|offer| offer.revision == revision).map(|offer| &offer.terms);
        let mut known = shown.chain(issued).peekable();
        known.peek().is_none() || known.any(|terms| terms == digest)
    }
}

/// Adds to one of the lists of a case. There are many of them and most stay short, so they grow from two, by doubling.
pub(crate) fn add<T>(list: &mut Vec<T>, fact: T) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len().max(2));
    }
    list.push(fact);
}

/// A piece of evidence.
pub(crate) fn note(point: Point, text: impl Into<String>) -> Evidence {
    Evidence { seq: point.seq, at: point.at, text: text.into() }
}
