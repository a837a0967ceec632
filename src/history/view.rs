//! An operation of the wire, as the history shows it.

use smol_str::SmolStr;

use super::record::{ApprovedBy, Confirmation, State, View};
use crate::protocol::{self, Operation};

impl View {
    /// An operation that an answer carried, under its action ID and the digest of its terms.
    #[must_use]
    pub fn of(operation: &Operation, action: SmolStr, terms: SmolStr) -> Self {
        Self {
            action,
            state: operation.state.into(),
            revision: operation.revision.get(),
            terms,
            expires_at: operation.expires_at.as_ref().map(|at| at.as_str().into()),
            user_approval_required: operation.user_approval_required,
            confirmation: operation.confirmation.as_ref().map(|confirmation| Confirmation {
                revision: confirmation.revision.get(),
                approved_by: confirmation.approved_by.into(),
                confirmed_at: confirmation.confirmed_at.as_str().into(),
            }),
            result: operation.result.as_ref().map(|result| result.summary.clone()),
        }
    }
}

impl From<protocol::State> for State {
    fn from(state: protocol::State) -> Self {
        match state {
            protocol::State::Proposed => Self::Proposed,
            protocol::State::InProgress => Self::InProgress,
            protocol::State::Succeeded => Self::Succeeded,
            protocol::State::Failed => Self::Failed,
            protocol::State::Cancelled => Self::Cancelled,
            protocol::State::Expired => Self::Expired,
        }
    }
}

impl From<protocol::ApprovedBy> for ApprovedBy {
    fn from(approved_by: protocol::ApprovedBy) -> Self {
        match approved_by {
            protocol::ApprovedBy::User => Self::User,
            protocol::ApprovedBy::StandingPermission => Self::StandingPermission,
        }
    }
}
