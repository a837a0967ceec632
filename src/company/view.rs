//! How a record looks on the wire: the members of the operation object in the text's order (Operations 3), written
//! straight from the record without copies, since every confirm and every read writes one.

use serde::Serialize;
use serde_json::{Map, Value};

use super::record::Record;
use crate::{
    plan::{Action, Approval},
    protocol::{Confirmation, OperationResult, Revision, Rfc3339, State},
};

/// A record as the operation object.
#[derive(Debug, Serialize)]
pub(super) struct View<'a> {
    operation_id: &'a str,
    revision: Revision,
    state: State,
    summary: &'a str,
    terms: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<&'a Rfc3339>,
    user_approval_required: bool,
    confirmation: Option<&'a Confirmation>,
    result: Option<&'a OperationResult>,
}

/// `{"operation": …}` (Operations 4.1).
#[derive(Debug, Serialize)]
pub(super) struct Wrapped<'a> {
    pub(super) operation: View<'a>,
}

/// `terms_changed` with the current operation (Operations 9).
#[derive(Debug, Serialize)]
pub(super) struct ErrorWithOperation<'a> {
    pub(super) error: &'a str,
    pub(super) operation: View<'a>,
}

impl<'a> View<'a> {
    /// The view of a record of this action.
    pub(super) fn of(record: &'a Record, action: &Action) -> Self {
        Self {
            operation_id: &record.id,
            revision: record.offer.revision,
            state: record.state,
            summary: &record.offer.summary,
            terms: &record.offer.terms,
            expires_at: (record.state == State::Proposed).then_some(&record.offer.expires_at),
            user_approval_required: action.approval == Approval::User,
            confirmation: record.confirmation.as_deref(),
            result: record.result.as_deref(),
        }
    }
}
