//! Showing terms to the User and taking her answer (Operations 5.1; rules OA-2 to OA-5, OA-8).

use std::sync::Arc;

use super::{Approval, Dealing, ROUNDS_MAX};
use crate::{
    agent::{
        JourneyEnd,
        course::{Flow, sample},
        process::Process,
        user::{self, Reply},
    },
    history::record::ApprovalIs,
    plan::{AgentDefect, AskUser},
    protocol::ApprovedBy,
};

/// How often an Agent asks for the same change of terms.
const CHANGES_MAX: u32 = 20;

impl Dealing {
    /// Shows the latest terms until the User approves or ends the journey.
    pub(in crate::agent) async fn ask(&mut self, process: &mut Process, ask: &AskUser) -> Flow {
        while self.seen.is_proposed() && !self.is_approved() {
            if self.has(AgentDefect::ConfirmUnseen) {
                self.approval = Some(Approval { revision: self.seen.revision(), by: ApprovedBy::User });
                break;
            }
            self.rounds += 1;
            if self.rounds > ROUNDS_MAX {
                return self.call_off(process, JourneyEnd::GaveUp).await;
            }
            self.withdraw_at = None; // what she may have taken back was another revision's approval
            let shown = Arc::clone(&self.seen);
            let digest =
                if self.has(AgentDefect::ShowOtherTerms) { user::other_words(&shown) } else { shown.terms.clone() };
            self.surface().record(ApprovalIs::Shown, &shown, &digest);
            let (round, intent) = (u64::from(self.rounds), self.wish.intent.clone());
            let until = self.now() + sample(self.shared(), &ask.after, "think", &intent, round);
            self.pause(process, until).await;
            self.obey(process).await?;
            let reply = user::reply(ask, self.shared().world.draw("answer", &intent, round));
            match reply {
                Reply::Approve => {
                    self.surface().record(ApprovalIs::Approved, &shown, &digest);
                    self.approval = Some(Approval { revision: shown.revision(), by: ApprovedBy::User });
                    let takes_back = user::takes_back_after(ask, &self.shared().world, &intent, round);
                    self.withdraw_at = takes_back.map(|after| self.now() + after);
                }
                Reply::Decline => {
                    self.surface().record(ApprovalIs::Declined, &shown, &digest);
                    return self.call_off(process, JourneyEnd::Declined).await;
                }
                Reply::OtherTerms => {
                    self.surface().record(ApprovalIs::OtherTerms, &shown, &digest);
                    self.change(process).await?;
                }
                Reply::Silence => return Flow::Break(JourneyEnd::Unanswered),
            }
        }
        Flow::Continue(())
    }

    /// Whether the latest revision has the User's approval.
    fn is_approved(&self) -> bool {
        self.approval.is_some_and(|approval| approval.revision == self.seen.revision())
    }

    /// Asks for other terms of the same operation, never by a second proposal.
    async fn change(&mut self, process: &mut Process) -> Flow {
        self.changes += 1;
        let before = self.seen.revision();
        let (wish, operation) = (Arc::clone(&self.wish), Arc::clone(&self.operation));
        for _ in 0..CHANGES_MAX {
            let Some(ended) = wish.change(process, &operation.action, &operation.id, self.changes).await else {
                // There is nowhere to ask for them: she does not get what she wants.
                return self.call_off(process, JourneyEnd::Declined).await;
            };
            let answered = self.heard(ended)?;
            if !answered {
                self.pause_after_failure(process).await;
                self.obey(process).await?;
                // It may have worked: a look tells.
                self.look(process).await?;
            }
            if answered || !self.seen.is_proposed() || self.seen.revision() > before {
                return Flow::Continue(());
            }
            self.pause_after_failure(process).await;
            self.obey(process).await?;
        }
        self.call_off(process, JourneyEnd::GaveUp).await
    }
}
