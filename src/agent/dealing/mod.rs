//! What an Agent does about one operation, from its proposal to its result.
//!
//! `ask` gets the User's approval, `confirm` sends it and recovers from what goes wrong, `follow` tracks and cancels.
//! What they share is here: what the Agent knows of the operation, and waiting while the User may change her mind.

mod ask;
mod confirm;
mod follow;

use std::{sync::Arc, time::Duration};

use smol_str::{SmolStr, format_smolstr};

use super::{
    JourneyEnd,
    answer::Ended,
    back_off,
    course::{Flow, Question, sample},
    errand::NotSent,
    operation::OperationAt,
    process::Process,
    shared::Shared,
    standing,
    user::Surface,
    view::{self, Seen},
    wish::Wish,
};
use crate::{
    measure::counter,
    plan::{AgentDefect, Distribution, Money},
    protocol::{ApprovedBy, ErrorCode},
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
    seen: Seen,
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
    /// A confirm may have left.
    confirm_left: bool,
    /// The Company refused a standing permission.
    only_user: bool,
    /// When a confirm failed first.
    failed_at: Option<Moment>,
    seen_confirmed: bool,
    seen_final: bool,
    /// Before when the Company wants no further request.
    not_before: Moment,
    failures: u32,
    waits: u64,
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
    pub(super) fn new(wish: Arc<Wish>, seen: Seen, question: Question, process: &SmolStr) -> Option<Self> {
        let operation = Arc::new(OperationAt::new(&wish, &seen)?);
        let mut dealing = Self {
            wish,
            operation,
            seen: seen.clone(),
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
            seen_confirmed: false,
            seen_final: false,
            not_before: Moment::START,
            failures: 0,
            waits: 0,
            workers: 1,
            process: process.clone(),
        };
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
            return true;
        }
        let asked = [("order_id", self.wish.order_id.as_str()), ("item_id", self.wish.item_id.as_str())];
        let operation = &self.seen.operation;
        !operation.user_approval_required
            && !self.only_user
            && standing::covers(up_to, operation.terms.as_ref(), &asked)
    }

    /// Takes in what an answer showed. Answers may overtake each other: only what is further on counts.
    fn learn(&mut self, seen: Seen) {
        let now = self.now().as_nanos();
        let meter = self.shared().meter.clone();
        if seen.operation.confirmation.is_some() && !self.seen_confirmed {
            self.seen_confirmed = true;
            meter.count(counter::CONFIRMS);
        }
        if seen.is_final() && !self.seen_final {
            self.seen_final = true;
            meter.finished(view::state(seen.operation.state), self.seen_confirmed, now);
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
            Err(NotSent::Withheld | NotSent::NoToken) => return Flow::Break(JourneyEnd::Refused),
        };
        let (code, may_pass) = (ended.code, ended.may_pass());
        let shown = ended.seen().is_some();
        self.take(ended);
        match code {
            Some(ErrorCode::OperationNotFound) => Flow::Break(JourneyEnd::Lost),
            Some(_) if !may_pass && !shown => Flow::Break(JourneyEnd::Refused),
            _ => Flow::Continue(shown),
        }
    }

    /// Reads the operation once; whether there was an answer.
    async fn look(&mut self, process: &mut Process) -> Flow<bool> {
        let operation = Arc::clone(&self.operation);
        let ended = operation.read(process).await;
        self.heard(ended)
    }

    /// The wait after `failures` in a row, at least what the Company asked for.
    fn back_off(&mut self, failures: u32) -> Moment {
        self.waits += 1;
        let draw = self.shared().world.draw("back-off", &self.operation.action, self.waits);
        let wait = back_off::wait(&self.shared().plan.swarm.retry, failures, draw);
        (self.now() + wait).max(self.not_before)
    }

    /// Waits before the next try.
    async fn pause_after_failure(&mut self, process: &mut Process) {
        let until = self.back_off(self.failures.max(1));
        self.pause(process, until).await;
    }

    /// Waits until that moment, or until the User says stop.
    async fn pause(&mut self, process: &mut Process, until: Moment) {
        loop {
            let stop_at = self.stop_at().filter(|stop_at| *stop_at <= until);
            self.shared().world.sleep_until(stop_at.unwrap_or(until)).await;
            if stop_at.is_none() {
                break;
            }
            self.say_stop();
            if self.stopped {
                break;
            }
        }
        process.next_due(until.min(self.now()));
    }

    /// When the User says stop next.
    fn stop_at(&self) -> Option<Moment> {
        match (self.withdraw_at, self.cancel_at) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// The User changes her mind (Operations 7; rule OA-14).
    fn say_stop(&mut self) {
        (self.withdraw_at, self.cancel_at) = (None, None);
        if let Some(Approval { revision, by: ApprovedBy::User }) = self.approval {
            self.surface().withdrawn(&self.operation.action, revision);
        }
        if self.has(AgentDefect::IgnoreWithdrawal) && !self.confirm_left {
            return;
        }
        self.stopped = true;
        self.operation.stop();
    }

    /// Lets the User say stop if her moment has come.
    fn notice_stop(&mut self) {
        if self.stop_at().is_some_and(|stop_at| stop_at <= self.now()) {
            self.say_stop();
        }
    }

    /// A step of waiting.
    pub(super) async fn wait(&mut self, process: &mut Process, time: &Distribution) -> Flow {
        self.waits += 1;
        let time: Duration = sample(self.shared(), time, "wait-step", &self.wish.intent, self.waits);
        let until = self.now() + time;
        self.pause(process, until).await;
        self.obey(process).await
    }

    /// Cancels if the User said stop.
    async fn obey(&mut self, process: &mut Process) -> Flow {
        self.notice_stop();
        if self.stopped { self.call_off(process, JourneyEnd::Withdrawn).await } else { Flow::Continue(()) }
    }

    /// The end of the journey's steps: what was confirmed is tracked to its end, whatever the journey says.
    pub(super) async fn close(&mut self, process: &mut Process) -> Flow {
        if self.confirm_left || self.seen.is_final() { self.track(process).await } else { Flow::Continue(()) }
    }
}
