//! Tracking an operation to its end, and cancelling it (Operations 6, 7; rules OA-10, OA-12 to OA-14).

use std::{sync::Arc, time::Duration};

use super::Dealing;
use crate::{
    agent::{
        JourneyEnd,
        course::{Flow, sample},
        process::Process,
    },
    plan::{AgentDefect, Distribution},
    protocol::State,
};

/// How often an Agent asks to cancel a proposal that stays proposed.
const CANCELS_MAX: u32 = 5;

/// How long a defective Agent waits between reads.
const HOT_POLL_WAIT: Duration = Duration::from_millis(5);

impl Dealing {
    /// Reads until the operation is final; ends the journey.
    pub(in crate::agent) async fn track(&mut self, process: &mut Process) -> Flow {
        self.obey(process).await?;
        self.read_until_final(process, true).await?;
        if !self.seen.is_final() {
            return self.call_off(process, JourneyEnd::Withdrawn).await;
        }
        Flow::Break(self.end(None))
    }

    /// The journey's step: cancels so long after the step before; after a confirm that counts from its start.
    pub(in crate::agent) async fn cancel_after(&mut self, process: &mut Process, after: &Distribution) -> Flow {
        if !self.confirm_left {
            self.cancel_at = Some(self.now() + sample(self.shared(), after, "cancel-after", &self.wish.intent, 0));
        }
        if let Some(cancel_at) = self.cancel_at {
            self.pause(process, cancel_at).await;
        }
        self.obey(process).await
    }

    /// Cancels, and follows the operation to its end. `otherwise` is how the journey ends if there was nothing to stop.
    pub(super) async fn call_off(&mut self, process: &mut Process, otherwise: JourneyEnd) -> Flow {
        let operation = Arc::clone(&self.operation);
        (self.withdraw_at, self.cancel_at) = (None, None);
        let mut asked = 0;
        while !self.seen.is_final() {
            let answered = operation.cancel(process).await;
            let answered = self.heard(answered)?;
            match self.seen.operation.state {
                State::InProgress if answered => break,
                State::Proposed if answered => {
                    asked += 1;
                    if asked == CANCELS_MAX {
                        return Flow::Break(JourneyEnd::GaveUp);
                    }
                }
                _ => {}
            }
            if !self.seen.is_final() {
                self.pause_after_failure(process).await;
            }
        }
        self.read_until_final(process, false).await?;
        Flow::Break(self.end(Some(otherwise)))
    }

    /// Waits and reads until the operation is final or, where the Agent `listens`, the User says stop.
    async fn read_until_final(&mut self, process: &mut Process, listens: bool) -> Flow {
        let mut idle = 0;
        while !self.seen.is_final() {
            let until = if self.has(AgentDefect::HotPoll) {
                self.now() + HOT_POLL_WAIT
            } else {
                // A proposal that nobody confirms changes slowly, so reads of it grow rare.
                idle = if self.seen.is_proposed() { idle + 1 } else { 1 };
                self.back_off(self.failures.max(idle))
            };
            self.pause(process, until).await;
            if listens && self.stopped {
                break;
            }
            self.look(process).await?;
        }
        Flow::Continue(())
    }

    /// How the journey of a final operation ended.
    fn end(&self, called_off: Option<JourneyEnd>) -> JourneyEnd {
        let end = JourneyEnd::of(self.seen.operation.state).unwrap_or(JourneyEnd::GaveUp);
        match called_off {
            Some(called_off) if end == JourneyEnd::CompletedCancelled && !self.seen_confirmed => called_off,
            _ => end,
        }
    }
}
