//! An operation as an answer showed it to an Agent.

use smol_str::{SmolStr, format_smolstr};

use crate::{
    history::record,
    identity::digest,
    protocol::{Operation, State},
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
    /// An operation of that Company; `None` if its ID cannot stand in a URL or history. What was `known` of it saves
    /// another digest of the same terms.
    pub(super) fn new(company: &str, operation: Operation, known: Option<&Self>) -> Option<Self> {
        if let Some(known) = known.filter(|known| known.says_the_same(&operation)) {
            return Some(Self { action: known.action.clone(), terms: known.terms.clone(), operation });
        }
        let id = &operation.operation_id;
        if !(1..=OPERATION_ID_BYTES_MAX).contains(&id.len()) || !id.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        let action = format_smolstr!("{company}/operation/{id}");
        let terms = digest::terms_digest(&operation.summary, operation.terms.as_ref());
        Some(Self { operation, action, terms })
    }

    /// Whether it is the same operation, with the very same summary and terms.
    fn says_the_same(&self, other: &Operation) -> bool {
        let own = &self.operation;
        own.operation_id == other.operation_id
            && own.summary == other.summary
            && digest::same_terms(own.terms.as_ref(), other.terms.as_ref())
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
        record::View::of(&self.operation, self.action.clone(), self.terms.clone())
    }
}
