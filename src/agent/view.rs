//! An operation as an answer showed it to an Agent.

use smol_str::{SmolStr, format_smolstr};

use crate::{
    history::record,
    identity::digest,
    protocol::{ApprovedBy, Operation, State},
};

/// The longest operation ID that an Agent takes, in bytes.
const OPERATION_ID_BYTES_MAX: usize = 256;

/// An operation with its names in the history.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    /// What the Company sent.
    pub(super) operation: Operation,
    /// The action ID.
    pub(super) action: SmolStr,
    /// The digest of summary and terms.
    pub(super) terms: SmolStr,
}

impl Seen {
    /// An operation of that Company; `None` if its ID cannot stand in a URL or history.
    pub(super) fn new(company: &str, operation: Operation) -> Option<Self> {
        let id = &operation.operation_id;
        if !(1..=OPERATION_ID_BYTES_MAX).contains(&id.len()) || !id.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        let action = format_smolstr!("{company}/operation/{id}");
        let terms = digest::terms_digest(&operation.summary, operation.terms.as_ref());
        Some(Self { operation, action, terms })
    }

    /// How far the operation has come; never falls at a Company that follows the rules.
    pub(super) fn rank(&self) -> (u8, u64) {
        match self.operation.state {
            State::Proposed => (0, self.revision()),
            State::InProgress => (1, 0),
            State::Succeeded | State::Failed | State::Cancelled | State::Expired => (2, 0),
        }
    }

    /// Whether it is proposed still.
    pub(super) fn is_proposed(&self) -> bool {
        self.operation.state == State::Proposed
    }

    /// Whether it never changes any more.
    pub(super) fn is_final(&self) -> bool {
        self.operation.state.is_final()
    }

    /// The revision's number.
    pub(super) fn revision(&self) -> u64 {
        self.operation.revision.get()
    }

    /// `result.summary`.
    pub(super) fn result(&self) -> Option<&str> {
        self.operation.result.as_ref().map(|result| result.summary.as_str())
    }

    /// As the history shows it.
    pub(super) fn view(&self) -> record::View {
        let operation = &self.operation;
        record::View {
            action: self.action.clone(),
            state: state(operation.state),
            revision: self.revision(),
            terms: self.terms.clone(),
            expires_at: operation.expires_at.as_ref().map(|at| at.as_str().into()),
            user_approval_required: operation.user_approval_required,
            confirmation: operation.confirmation.as_ref().map(|confirmation| record::Confirmation {
                revision: confirmation.revision.get(),
                approved_by: approved_by(confirmation.approved_by),
                confirmed_at: confirmation.confirmed_at.as_str().into(),
            }),
            result: self.result().map(str::to_owned),
        }
    }
}

/// The history's word for a state.
pub(super) fn state(state: State) -> record::State {
    match state {
        State::Proposed => record::State::Proposed,
        State::InProgress => record::State::InProgress,
        State::Succeeded => record::State::Succeeded,
        State::Failed => record::State::Failed,
        State::Cancelled => record::State::Cancelled,
        State::Expired => record::State::Expired,
    }
}

/// The history's word for `approved_by`.
pub(super) fn approved_by(by: ApprovedBy) -> record::ApprovedBy {
    match by {
        ApprovedBy::User => record::ApprovedBy::User,
        ApprovedBy::StandingPermission => record::ApprovedBy::StandingPermission,
    }
}
