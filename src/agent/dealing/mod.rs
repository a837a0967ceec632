//! What an Agent does about one operation, from its proposal to its result.
//!
//! `ask` gets the User's approval, `confirm` sends it and recovers from what goes wrong, `follow` tracks and cancels,
//! `pause` waits while the User may change her mind. What they share is here: what the Agent knows of the operation.

mod ask;
mod confirm;
mod follow;
mod pause;

use std::sync::Arc;

use smol_str::{SmolStr, format_smolstr};

use super::{
    JourneyEnd,
    answer::Ended,
    course::{Flow, Question},
    errand::NotSent,
    operation::OperationAt,
    process::Process,
    shared::Shared,
    standing,
    user::Surface,
    view::Seen,
    wish::Wish,
};
use crate::{
    history::record::Outcome,
    measure::counter,
    plan::{AgentDefect, Money},
    protocol::{ApprovedBy, ErrorCode, State},
    world::Moment,
};

/// Most rounds of showing terms to the User; then the Agent cancels.
const ROUNDS_MAX: u32 = 8;

/// One operation and all that its Agent knows of it.
#[derive(Debug)]
pub(super) struct Dealing {
    wish: Arc<Wish>,
    operation: Arc<OperationAt>,
    /// The most advanced that was seen of it.
    seen: Arc<Seen>,
    /// How the User is asked, where the journey has that step.
    question: Question,
    approval: Option<Approval>,
    /// How often terms were shown.
    rounds: u32,
    /// How often other terms were asked for.
    changes: u32,
    /// When the User takes her approval back.
    withdraw_at: Option<Moment>,
    /// When the journey's cancel step follows its confirm.
    cancel_at: Option<Moment>,
    /// The User said stop: there is no confirm any more.
    stopped: bool,
    /// A confirm left that may have acted.
    confirm_left: bool,
    /// The Company refused a standing permission.
    only_user: bool,
    /// When a confirm failed first.
    failed_at: Option<Moment>,
    /// How often an old revision was confirmed, and whether the action was proposed again (defects).
    stale_confirms: u32,
    reproposed: bool,
    seen_confirmed: bool,
    seen_final: bool,
    /// Before when the Company wants no further request.
    not_before: Moment,
    failures: u32,
    waits: u64,
    /// Rounds of confirms.
    shots: u64,
    workers: u32,
    process: SmolStr,
}

/// However the journey ends, dropped in mid-way too: what was confirmed and not seen final counts as left open.
impl Drop for Dealing {
    fn drop(&mut self) {
        if self.confirm_left && !self.seen_final {
            self.shared().meter.count(counter::LEFT_OPEN);
        }
    }
}

/// A User's approval of one revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Approval {
    revision: u64,
    by: ApprovedBy,
}

impl Dealing {
    /// `None` if the Company has no operations endpoint to deal with it at.
    pub(super) fn new(wish: Arc<Wish>, seen: Arc<Seen>, question: Question, process: &SmolStr) -> Option<Self> {
        let operation = Arc::new(OperationAt::new(&wish, &seen)?);
        let mut dealing = Self {
            wish,
            operation,
            seen: Arc::clone(&seen),
            question,
            approval: None,
            rounds: 0,
            changes: 0,
            withdraw_at: None,
            cancel_at: None,
            stopped: false,
            confirm_left: false,
            only_user: false,
            failed_at: None,
            stale_confirms: 0,
            reproposed: false,
            seen_confirmed: false,
            seen_final: false,
            not_before: Moment::START,
            failures: 0,
            waits: 0,
            shots: 0,
            workers: 1,
            process: process.clone(),
        };
        dealing.shared().staff.proposed(&dealing.operation.action, &dealing.operation.id);
        dealing.learn(seen);
        Some(dealing)
    }

    fn shared(&self) -> &Shared {
        &self.wish.person.shared
    }

    fn has(&self, defect: AgentDefect) -> bool {
        self.shared().has(defect)
    }

    fn now(&self) -> Moment {
        self.shared().world.now()
    }

    fn surface(&self) -> Surface<'_> {
        Surface { world: &self.shared().world, user: self.wish.person.user() }
    }

    /// A process beside the journey's own, for what goes on at the same time.
    fn worker(&mut self) -> Process {
        self.workers += 1;
        Process::new(format_smolstr!("{}.{}", self.process, self.workers), self.now())
    }

    /// Whether a standing permission up to that price covers the terms as they are.
    pub(super) fn is_covered(&self, up_to: &Money) -> bool {
        if self.has(AgentDefect::StandingTooWide) {
            // Where the Company has refused one, another claim would be refused as well, again and again.
            return !self.only_user;
        }
        let asked = self.wish.asked();
        let asked: Vec<_> = asked.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let operation = &self.seen.operation;
        !operation.user_approval_required
            && !self.only_user
            && standing::covers(up_to, operation.terms.as_ref(), &asked)
    }

    /// Takes in what an answer showed. Answers may overtake each other: only what is further on counts.
    fn learn(&mut self, seen: Arc<Seen>) {
        let now = self.now().as_nanos();
        let meter = self.shared().meter.clone();
        if seen.operation.confirmation.is_some() && !self.seen_confirmed {
            self.seen_confirmed = true;
            meter.count(counter::CONFIRMS);
        }
        if seen.operation.state == State::InProgress {
            self.shared().staff.in_progress(&self.wish.kind, &seen.action, &seen.operation.operation_id);
        }
        if seen.is_final() && !self.seen_final {
            self.seen_final = true;
            meter.finished(seen.operation.state.into(), self.seen_confirmed, now);
            if let Some(failed_at) = self.failed_at {
                meter.recovered(now.saturating_sub(failed_at.as_nanos()));
            }
            self.surface().told(&seen);
        }
        if seen.rank() >= self.seen.rank() {
            self.seen = seen;
        }
    }

    /// Takes in how a request ended, and what it showed.
    fn take(&mut self, ended: Ended) {
        let retry_after = ended.retry_after.unwrap_or_default();
        self.not_before = self.not_before.max(self.now() + retry_after);
        if ended.may_pass() {
            self.failures = self.failures.saturating_add(1);
        } else {
            self.failures = 0;
        }
        if let Some(seen) = ended.into_seen() {
            self.learn(seen);
        }
    }

    /// Takes in how a read or cancel ended; whether there was a definite answer. Ends the journey where there never
    /// will be one.
    fn heard(&mut self, ended: Result<Ended, NotSent>) -> Flow<bool> {
        let ended = match ended {
            Ok(ended) => ended,
            Err(NotSent::Withheld | NotSent::NoToken) => return self.no_token(JourneyEnd::Refused),
            Err(NotSent::NotSignedIn) => return self.no_token(JourneyEnd::NotSignedIn),
            Err(NotSent::GaveUp) => return self.no_token(JourneyEnd::GaveUp),
        };
        let refused = ended.outcome == Outcome::Refused && !ended.may_pass();
        let lost = ended.code == Some(ErrorCode::OperationNotFound);
        let shown = ended.seen().is_some();
        self.take(ended);
        if lost {
            Flow::Break(JourneyEnd::Lost)
        } else if refused && !shown {
            Flow::Break(JourneyEnd::Refused)
        } else {
            Flow::Continue(shown)
        }
    }

    /// There is no token to be had: the end, unless a confirm may have left, for then the Agent has to find out.
    fn no_token(&mut self, end: JourneyEnd) -> Flow<bool> {
        self.failures = self.failures.saturating_add(1);
        if self.confirm_left { Flow::Continue(false) } else { Flow::Break(end) }
    }

    /// Reads the operation once; whether there was an answer.
    async fn look(&mut self, process: &mut Process) -> Flow<bool> {
        let operation = Arc::clone(&self.operation);
        let ended = operation.read(process).await;
        self.heard(ended)
    }

    /// The end of the journey's steps: what was confirmed is tracked to its end, whatever the journey says.
    pub(super) async fn close(&mut self, process: &mut Process) -> Flow {
        if self.confirm_left || self.seen.is_final() { self.track(process).await } else { Flow::Continue(()) }
    }
}
