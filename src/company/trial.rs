//! The desk by itself, for whoever wants to know what a decision costs.

use std::{fmt, sync::Arc};

use jiff::Timestamp;
use serde_json::Map;
use smol_str::SmolStr;

use super::{
    desk::operations::{self as desk, Caller, Rules},
    record::{Offer, Owner, Record, Shared, Subject},
};
use crate::{
    plan::{Action, CompanyDefect, Defects},
    protocol::{ConfirmRequest, Revision, Rfc3339, State},
};

/// One proposed operation at the desk and the confirm of its latest revision.
pub struct Trial {
    record: Record,
    scopes: Vec<SmolStr>,
    action: Action,
    defects: Defects<CompanyDefect>,
    now: Timestamp,
}

impl fmt::Debug for Trial {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Trial").field("record", &self.record.id).finish_non_exhaustive()
    }
}

impl Trial {
    /// A proposal of this action, confirmed in time by whoever owns it.
    #[must_use]
    pub fn new(action: Action) -> Self {
        let offer = Offer {
            revision: Revision::FIRST,
            edition: 1,
            summary: "Exchange of a jacket".to_owned(),
            terms: Map::new(),
            digest: "0123456789abcdef".into(),
            expires_at: Rfc3339::from_timestamp(Timestamp::MAX),
        };
        let text = String::new;
        let subject = Subject { order: "ord_1".into(), item_id: None, item: text(), customer: text(), city: text() };
        let owner = Owner {
            client_id: "https://agent.example/agent.json".into(),
            user_id: "u1".into(),
            session_id: "ses_1".into(),
        };
        let record = Record {
            id: "op_0123456789".into(),
            action_id: "shop-1/operation/op_0123456789".into(),
            kind: 0,
            direct: false,
            owner: Arc::new(owner),
            account: None,
            subject: Arc::new(subject),
            offer: Arc::new(offer),
            state: State::Proposed,
            confirmation: None,
            result: None,
            cancel_asked: false,
            begun: 0,
            done: Vec::new(),
            again: None,
            revise_at: None,
            final_at: None,
            shared: Arc::new(Shared::default()),
        };
        let scopes = action.scope.iter().cloned().collect();
        Self { record, scopes, action, defects: Defects::default(), now: Timestamp::UNIX_EPOCH }
    }

    /// What the desk does with the confirm: the body is read, every check made, and the new record written. True if the
    /// action is to be performed.
    #[must_use]
    pub fn confirm(&self, body: &[u8]) -> bool {
        let Ok(request) = ConfirmRequest::parse(body) else { return false };
        let caller = Caller { owner: &self.record.owner, account: None, scopes: &self.scopes, lists_operations: true };
        let rules = Rules { action: &self.action, defects: &self.defects };
        desk::confirm(&self.record, caller, request, self.now, rules).perform.is_some()
    }
}
