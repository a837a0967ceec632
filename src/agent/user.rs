//! The User as a scripted party: what she is shown, what she answers, and that it is recorded.

use std::time::Duration;

use smol_str::SmolStr;

use super::view::Seen;
use crate::{
    history::{
        Event,
        record::{Approval, ApprovalIs, Bounds},
    },
    identity::digest,
    plan::{AskUser, Money},
    world::{Draw, World},
};

/// What a User answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reply {
    Approve,
    Decline,
    OtherTerms,
    /// She never answers.
    Silence,
}

/// The answer that a draw stands for.
pub(super) fn reply(ask: &AskUser, draw: Draw) -> Reply {
    let unit = draw.unit();
    if unit < ask.approve {
        Reply::Approve
    } else if unit < ask.approve + ask.decline {
        Reply::Decline
    } else if unit < ask.approve + ask.decline + ask.other_terms {
        Reply::OtherTerms
    } else {
        Reply::Silence
    }
}

/// How long after her approval the User takes it back, if she does.
pub(super) fn takes_back_after(ask: &AskUser, world: &World, intent: &str, round: u64) -> Option<Duration> {
    let takes_back = world.draw("withdraw", intent, round).chance(ask.withdraw);
    takes_back.then(|| ask.withdraw_after.sample(world.draw("withdraw-after", intent, round)))
}

/// The User's surface, where all that she sees and says is recorded.
#[derive(Debug)]
pub(super) struct Surface<'a> {
    pub(super) world: &'a World,
    pub(super) user: SmolStr,
}

impl Surface<'_> {
    /// Something about a revision that was shown as `terms`.
    pub(super) fn record(&self, is: ApprovalIs, seen: &Seen, terms: &SmolStr) {
        self.put(Approval {
            action: Some(seen.action.clone()),
            revision: Some(seen.revision()),
            terms: Some(terms.clone()),
            ..self.nothing(is)
        });
    }

    /// An approval taken back.
    pub(super) fn withdrawn(&self, action: &SmolStr, revision: u64) {
        self.put(Approval {
            action: Some(action.clone()),
            revision: Some(revision),
            ..self.nothing(ApprovalIs::Withdrawn)
        });
    }

    /// The Company's account of what happened, word for word (rule OA-13).
    pub(super) fn told(&self, seen: &Seen) {
        if let Some(text) = seen.result() {
            self.put(Approval {
                action: Some(seen.action.clone()),
                text: Some(text.to_owned()),
                ..self.nothing(ApprovalIs::Told)
            });
        }
    }

    /// A permission given ahead.
    pub(super) fn standing(&self, company: &SmolStr, kind: &SmolStr, up_to: &Money) {
        let bounds = Bounds {
            company: company.clone(),
            kind: kind.clone(),
            up_to_minor: up_to.minor,
            currency: up_to.currency.clone(),
        };
        self.put(Approval { bounds: Some(bounds), ..self.nothing(ApprovalIs::Standing) });
    }

    fn nothing(&self, is: ApprovalIs) -> Approval {
        Approval { is, user: self.user.clone(), action: None, revision: None, terms: None, text: None, bounds: None }
    }

    fn put(&self, approval: Approval) {
        self.world.record(Event::Approval(approval));
    }
}

/// What an Agent shows that puts the terms in words of its own (a defect).
pub(super) fn other_words(seen: &Seen) -> SmolStr {
    digest::terms_digest(&format!("In short: {}", seen.operation.summary), None)
}
