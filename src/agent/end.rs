//! How a journey ended.

use crate::protocol::State;

/// How a journey ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JourneyEnd {
    /// The operation was confirmed and succeeded.
    CompletedSucceeded,
    /// The operation was confirmed and failed.
    CompletedFailed,
    /// The operation was cancelled after its confirm.
    CompletedCancelled,
    /// The operation expired.
    Expired,
    /// The User declined.
    Declined,
    /// The User took the approval back before there was a confirm.
    Withdrawn,
    /// The User said nothing.
    Unanswered,
    /// The User left; the proposal is left to expire.
    WalkedAway,
    /// The Company did the action at once, without an operation.
    DoneAtOnce,
    /// The Company needs an extension that the operator does not list.
    ExtensionRequired,
    /// An operation came although the operator does not list the extension; it is not confirmed.
    Unlisted,
    /// No standing permission covers the terms, and there is no User to ask.
    NotCovered,
    /// The Company refused.
    Refused,
    /// The Company wants a Session that is signed in, and the sign-in came to nothing.
    NotSignedIn,
    /// The Company no longer knows the operation.
    Lost,
    /// The Agent gave up after many rounds.
    GaveUp,
    /// The Company's documents could not be had, or fail a check.
    NotDiscovered,
    /// The Company has no such action, or no operations endpoint.
    NotOffered,
    /// The journey had no more steps, and the proposal stands.
    LeftOpen,
}

impl JourneyEnd {
    /// The word that figures use for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::CompletedSucceeded => "completed-succeeded",
            Self::CompletedFailed => "completed-failed",
            Self::CompletedCancelled => "completed-cancelled",
            Self::Expired => "expired",
            Self::Declined => "declined",
            Self::Withdrawn => "withdrawn",
            Self::Unanswered => "unanswered",
            Self::WalkedAway => "walked-away",
            Self::DoneAtOnce => "done-at-once",
            Self::ExtensionRequired => "extension-required",
            Self::Unlisted => "unlisted-operation",
            Self::NotCovered => "not-covered",
            Self::Refused => "refused",
            Self::NotSignedIn => "not-signed-in",
            Self::Lost => "lost",
            Self::GaveUp => "gave-up",
            Self::NotDiscovered => "not-discovered",
            Self::NotOffered => "not-offered",
            Self::LeftOpen => "left-open",
        }
    }

    /// The end of a journey whose operation came to that state; `None` if it is not final.
    pub(super) fn of(state: State) -> Option<Self> {
        match state {
            State::Succeeded => Some(Self::CompletedSucceeded),
            State::Failed => Some(Self::CompletedFailed),
            State::Cancelled => Some(Self::CompletedCancelled),
            State::Expired => Some(Self::Expired),
            State::Proposed | State::InProgress => None,
        }
    }
}

impl std::fmt::Display for JourneyEnd {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.word())
    }
}
