//! Confirming the approved revision, and finding out what became of it (Operations 5.2, 6; rules OA-2, OA-7 to OA-11).

use std::{pin::pin, sync::Arc, time::Duration};

use futures_util::future::{join, join_all};

use super::{Approval, Dealing};
use crate::{
    agent::{
        JourneyEnd,
        answer::Ended,
        course::{Flow, propose, sample},
        errand::NotSent,
        operation::OperationAt,
        process::Process,
    },
    history::record::Outcome,
    measure::counter,
    plan::{AgentDefect, By, Confirm, Distribution},
    protocol::{ApprovedBy, ErrorCode, Revision},
};

/// How often an Agent looks at an operation once more before it confirms.
const LOOK_AGAIN_CHANCE: f64 = 0.1;

/// How often it reads, instead of confirming again, when the outcome of a confirm is unknown.
const READ_CHANCE: f64 = 0.5;

/// How often a defective Agent confirms an old revision.
const STALE_CONFIRMS_MAX: u32 = 3;

/// What a round of confirms led to.
enum Shot {
    /// The operation is proposed no more.
    Moved,
    /// There are newer terms.
    NewTerms,
    /// The operation needs the User's own approval.
    UserRequired,
    /// A definite refusal.
    Refused,
    /// The Company does not know the operation.
    Lost,
    /// Nobody knows, or it can be tried again.
    Again,
    /// The User said stop before it left.
    Withheld,
}

impl Dealing {
    /// Confirms until the operation is confirmed, or the journey ends otherwise.
    pub(in crate::agent) async fn confirm(
        &mut self,
        process: &mut Process,
        confirm: &Confirm,
        cancel: Option<&Distribution>,
    ) -> Flow {
        self.obey(process).await?;
        let intent = self.wish.intent.clone();
        let looks_again = self.shared().world.draw("look-again", &intent, 0).chance(LOOK_AGAIN_CHANCE);
        if confirm.around_expiry.is_none() && looks_again {
            self.look(process).await?;
        }
        let mut first = true;
        while self.seen.is_proposed() {
            self.obey(process).await?;
            let Some(approval) = self.authority(process, &confirm.by).await? else { continue };
            if first {
                self.wait_for_expiry(process, confirm.around_expiry).await;
            }
            self.obey(process).await?;
            if first {
                let after = cancel.map(|after| sample(self.shared(), after, "cancel-after", &intent, 0));
                self.cancel_at = after.map(|after| self.now() + after);
            }
            let copies = if first { confirm.copies } else { 1 };
            first = false;
            let shot = self.shoot(process, copies, approval).await?;
            self.go_on(process, shot, approval).await?;
        }
        self.obey(process).await
    }

    /// What the Agent does about what a round of confirms led to.
    async fn go_on(&mut self, process: &mut Process, shot: Shot, approval: Approval) -> Flow {
        match shot {
            Shot::Moved => Flow::Continue(()),
            Shot::Withheld => self.obey(process).await,
            Shot::Lost => Flow::Break(JourneyEnd::Lost),
            Shot::Refused => self.call_off(process, JourneyEnd::Refused).await,
            Shot::UserRequired => {
                self.only_user = true;
                Flow::Continue(())
            }
            Shot::NewTerms if self.has(AgentDefect::ConfirmOldRevision) => {
                self.stale_confirms += 1;
                if self.stale_confirms == STALE_CONFIRMS_MAX {
                    return self.call_off(process, JourneyEnd::GaveUp).await;
                }
                self.pause_after_failure(process).await;
                Flow::Continue(())
            }
            Shot::NewTerms if self.seen.revision() == approval.revision => {
                // It refuses its own latest revision, as far as anybody was told.
                self.pause_after_failure(process).await;
                self.obey(process).await?;
                self.look(process).await.map_continue(drop)
            }
            Shot::NewTerms => Flow::Continue(()),
            Shot::Again => {
                if self.has(AgentDefect::ReproposeOnTimeout) && !self.reproposed && self.failed_at.is_some() {
                    self.reproposed = true;
                    self.repropose(process).await?;
                }
                self.recover(process).await
            }
        }
    }

    /// On whose approval the latest revision can be confirmed; `None` if it is to be looked at anew.
    async fn authority(&mut self, process: &mut Process, by: &By) -> Flow<Option<Approval>> {
        let revision = self.seen.revision();
        if let By::StandingPermission { up_to } = by
            && self.is_covered(up_to)
        {
            return Flow::Continue(Some(Approval { revision, by: ApprovedBy::StandingPermission }));
        }
        if let Some(approval) = self.approval {
            if approval.revision == revision || self.has(AgentDefect::ConfirmOldRevision) {
                return Flow::Continue(Some(approval));
            }
            if self.has(AgentDefect::ReuseApproval) {
                return Flow::Continue(Some(Approval { revision, ..approval }));
            }
        }
        let Some(question) = self.question.clone() else {
            self.call_off(process, JourneyEnd::NotCovered).await?;
            return Flow::Break(JourneyEnd::NotCovered);
        };
        self.ask(process, &question).await?;
        self.obey(process).await?;
        Flow::Continue(None)
    }

    /// Waits for the drawn moment around `expires_at`.
    async fn wait_for_expiry(&mut self, process: &mut Process, around: Option<Duration>) {
        let expires_at = self.seen.operation.expires_at_timestamp();
        if let (Some(around), Some(expires_at)) = (around, expires_at) {
            let world = &self.shared().world;
            let offset = around.mul_f64(2.0 * world.draw("around-expiry", &self.wish.intent, 0).unit());
            let until = world.moment_at(expires_at) - around + offset;
            self.pause(process, until).await;
        }
    }

    /// Sends confirms side by side, each in a process and with a proof of its own; the User may say stop meanwhile, and
    /// then a cancel leaves beside them.
    async fn shoot(&mut self, process: &mut Process, copies: u32, approval: Approval) -> Flow<Shot> {
        let Some(revision) = Revision::new(approval.revision) else { return Flow::Continue(Shot::Refused) };
        let left_before = std::mem::replace(&mut self.confirm_left, true);
        let operation = Arc::clone(&self.operation);
        self.shots += 1;
        self.shared().staff.confirming(&operation.action, &operation.id, self.shots);
        let mut workers: Vec<Process> = (1..copies).map(|_| self.worker()).collect();
        let (ended, cancelled) = {
            let shots = std::iter::once(process).chain(&mut workers);
            let mut shots = pin!(join_all(shots.map(|worker| operation.confirm(worker, revision, approval.by))));
            loop {
                let Some(stop_at) = self.stop_at() else { break (shots.await, None) };
                tokio::select! {
                    biased;
                    ended = &mut shots => break (ended, None),
                    () = sleep_until(self, stop_at) => {}
                }
                self.say_stop();
                if self.stopped {
                    let mut worker = self.worker();
                    let (ended, cancelled) = join(shots, operation.cancel(&mut worker)).await;
                    break (ended, Some(cancelled));
                }
            }
        };
        let did_nothing = |ended: &Result<Ended, NotSent>| match ended {
            Ok(ended) => matches!(ended.outcome, Outcome::Refused | Outcome::Unsent),
            Err(NotSent::Withheld | NotSent::NoToken | NotSent::NotSignedIn | NotSent::GaveUp) => true,
        };
        if ended.iter().all(did_nothing) {
            self.confirm_left = left_before;
        }
        let shot = self.judge(ended)?;
        if let Some(cancelled) = cancelled {
            self.heard(cancelled)?;
        }
        Flow::Continue(shot)
    }

    /// What the answers to a round of confirms come to.
    fn judge(&mut self, all: Vec<Result<Ended, NotSent>>) -> Flow<Shot> {
        let (mut shot, mut withheld) = (Shot::Again, all.len());
        for ended in all {
            let ended = match ended {
                Ok(ended) => ended,
                Err(NotSent::Withheld) => {
                    withheld -= 1;
                    continue;
                }
                Err(NotSent::NoToken) => {
                    self.no_token(JourneyEnd::Refused)?;
                    continue;
                }
                Err(NotSent::GaveUp) => {
                    self.no_token(JourneyEnd::GaveUp)?;
                    continue;
                }
                Err(NotSent::NotSignedIn) => {
                    self.no_token(JourneyEnd::NotSignedIn)?;
                    continue;
                }
            };
            match (ended.outcome, ended.code) {
                (Outcome::Refused, Some(ErrorCode::TermsChanged)) => {
                    self.shared().meter.count(counter::TERMS_CHANGED);
                    shot = Shot::NewTerms;
                }
                (Outcome::Refused, _) if ended.may_pass() => {}
                (Outcome::Refused, Some(ErrorCode::UserApprovalRequired)) => shot = Shot::UserRequired,
                (Outcome::Refused, Some(ErrorCode::OperationNotFound)) => shot = Shot::Lost,
                (Outcome::Refused, _) => shot = Shot::Refused,
                (Outcome::Unknown, _) if self.failed_at.is_none() => {
                    self.failed_at = Some(self.now());
                }
                (Outcome::Unknown | Outcome::Unsent | Outcome::View | Outcome::Done, _) => {}
            }
            self.take(ended);
        }
        Flow::Continue(if !self.seen.is_proposed() {
            Shot::Moved
        } else if withheld == 0 {
            Shot::Withheld
        } else {
            shot
        })
    }

    /// After a confirm whose outcome is unknown: a while later the Agent reads, or confirms again.
    async fn recover(&mut self, process: &mut Process) -> Flow {
        self.pause_after_failure(process).await;
        self.obey(process).await?;
        let draw = self.shared().world.draw("recover", &self.operation.action, self.waits);
        if draw.chance(READ_CHANCE) && !self.look(process).await? {
            self.pause_after_failure(process).await;
        }
        Flow::Continue(())
    }

    /// Asks for the action again although the first operation may be on its way (a defect).
    async fn repropose(&mut self, process: &mut Process) -> Flow {
        let wish = Arc::clone(&self.wish);
        let seen = propose(&wish, process).await?;
        if seen.action != self.operation.action
            && let Some(operation) = OperationAt::new(&wish, &seen)
        {
            self.operation = Arc::new(operation);
            self.seen = Arc::clone(&seen);
            (self.approval, self.withdraw_at) = (None, None);
            (self.seen_confirmed, self.seen_final, self.failed_at) = (false, false, None);
        }
        self.learn(seen);
        Flow::Continue(())
    }
}

/// Borrows only what it needs, so that the answers can be waited for beside it.
fn sleep_until(dealing: &Dealing, moment: crate::world::Moment) -> impl Future<Output = ()> + use<> {
    let world = dealing.shared().world.clone();
    async move { world.sleep_until(moment).await }
}
