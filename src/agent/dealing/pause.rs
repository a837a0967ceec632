//! Waiting: between tries, for a step's time, and always so that the User may change her mind meanwhile (Operations 7;
//! rule OA-14).

use std::{sync::Arc, time::Duration};

use super::{Approval, Dealing};
use crate::{
    agent::{
        JourneyEnd, back_off,
        course::{Flow, sample},
        process::Process,
    },
    plan::{AgentDefect, Distribution},
    protocol::ApprovedBy,
    world::Moment,
};

impl Dealing {
    /// The wait after `failures` in a row, at least what the Company asked for.
    pub(super) fn back_off(&mut self, failures: u32) -> Moment {
        self.waits += 1;
        let draw = self.shared().world.draw("back-off", &self.operation.action, self.waits);
        let wait = back_off::wait(&self.shared().plan.swarm.retry, failures, draw);
        (self.now() + wait).max(self.not_before)
    }

    /// Waits before the next try.
    pub(super) async fn pause_after_failure(&mut self, process: &mut Process) {
        let until = self.back_off(self.failures.max(1));
        self.pause(process, until).await;
    }

    /// Waits until that moment, or until the User says stop.
    pub(super) async fn pause(&mut self, process: &mut Process, until: Moment) {
        let until = until.max(self.now());
        loop {
            let stop_at = self.stop_at().filter(|stop_at| *stop_at <= until);
            let shared = Arc::clone(&self.wish.person.shared);
            let over = tokio::select! {
                biased;
                () = shared.last_call.cancelled() => true,
                () = shared.world.sleep_until(stop_at.unwrap_or(until)) => false,
            };
            if over {
                self.look_last(process).await;
                break;
            }
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

    /// The run is over: looks once more after what may be confirmed, and returns only if that is final. Nothing new
    /// is begun any more, so otherwise the Agent waits to be cut off. A target is not asked how it settled what its hook
    /// has not settled: that it is still in progress would be the hook's doing.
    async fn look_last(&mut self, process: &mut Process) {
        let owed = self.shared().staff.owes_outcome(&self.wish.kind, &self.operation.action);
        if self.confirm_left && !self.seen.is_final() && !owed {
            // Whatever the look brought is in the history; the journey ends here either way.
            let _ = self.look(process).await;
        }
        if !self.seen.is_final() {
            std::future::pending::<()>().await;
        }
    }

    /// When the User says stop next.
    pub(super) fn stop_at(&self) -> Option<Moment> {
        match (self.withdraw_at, self.cancel_at) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// The User changes her mind (Operations 7; rule OA-14).
    pub(super) fn say_stop(&mut self) {
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
    pub(in crate::agent) async fn wait(&mut self, process: &mut Process, time: &Distribution) -> Flow {
        self.waits += 1;
        let time: Duration = sample(self.shared(), time, "wait-step", &self.wish.intent, self.waits);
        let until = self.now() + time;
        self.pause(process, until).await;
        self.obey(process).await
    }

    /// Cancels if the User said stop.
    pub(super) async fn obey(&mut self, process: &mut Process) -> Flow {
        self.notice_stop();
        if self.stopped { self.call_off(process, JourneyEnd::Withdrawn).await } else { Flow::Continue(()) }
    }
}
