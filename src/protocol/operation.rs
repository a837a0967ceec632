//! The operation object: every field, the states, the confirmation and the result (Operations section 3).
//!
//! Unknown members are ignored. `confirmation` and `result` are always written, `null` until set; `expires_at`, `terms`
//! and `url` are left out when absent.

use std::fmt;
use std::num::NonZeroU64;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::strict;
use super::timestamp::Rfc3339;

/// Which version of the terms this is: 1 and up (Operations 3.1). On the wire a JSON integer and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Revision(NonZeroU64);

impl Revision {
    /// The revision that every operation starts with.
    pub const FIRST: Self = Self(NonZeroU64::MIN);

    /// The revision of this number, or `None` for 0.
    #[must_use]
    pub fn new(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0.get()
    }

    /// The next revision.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Where an operation is (the table of states in Operations section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Waiting to be confirmed, until `expires_at`.
    Proposed,
    /// Confirmed; the Company performs the action or finds out whether it took effect.
    InProgress,
    /// The action was performed. Final.
    Succeeded,
    /// The action was not completed. Final.
    Failed,
    /// Declined before confirmation, or stopped after it. Final.
    Cancelled,
    /// Not confirmed before `expires_at`. Final.
    Expired,
}

impl State {
    /// Every state, in the order of the text's table.
    pub const ALL: [Self; 6] =
        [Self::Proposed, Self::InProgress, Self::Succeeded, Self::Failed, Self::Cancelled, Self::Expired];

    /// Whether an operation in this state never changes state again.
    #[must_use]
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Proposed | Self::InProgress)
    }

    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::InProgress => "in_progress",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
        }
    }

    /// The state of this word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == word)
    }
}

impl Serialize for State {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for State {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        strict::word(deserializer, "a state of an operation", Self::from_word)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How the User's approval was had (Operations 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ApprovedBy {
    /// The User was shown this revision's terms and approved them.
    User,
    /// A permission that the User gave earlier covers these terms.
    StandingPermission,
}

impl ApprovedBy {
    /// Both ways.
    pub const ALL: [Self; 2] = [Self::User, Self::StandingPermission];

    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::StandingPermission => "standing_permission",
        }
    }

    /// The way of this word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == word)
    }
}

impl Serialize for ApprovedBy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ApprovedBy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        strict::word(deserializer, "`user` or `standing_permission`", Self::from_word)
    }
}

impl fmt::Display for ApprovedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the Company recorded when it accepted a confirm (Operations 5.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirmation {
    /// The revision that was confirmed.
    pub revision: Revision,
    /// How the User's approval was had.
    pub approved_by: ApprovedBy,
    /// When the Company recorded it.
    pub confirmed_at: Rfc3339,
}

/// The Company's account of what happened, in a final state (Operations section 6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationResult {
    /// Every change that was made, in plain language.
    pub summary: String,
    /// Details such as a business reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Map<String, Value>>,
}

/// One action that a Company has proposed, with its terms and, later, its result (Operations section 3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Identifies the operation at this Company.
    pub operation_id: String,
    /// Which version of the terms this is.
    pub revision: Revision,
    /// Where the operation is.
    pub state: State,
    /// The terms in plain language.
    pub summary: String,
    /// The same terms as a JSON object; the Company defines its keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<Map<String, Value>>,
    /// The last time this revision can be confirmed; there while proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Rfc3339>,
    /// Whether only the User's own approval of this revision will do.
    #[serde(default)]
    pub user_approval_required: bool,
    /// A page on the Company's website that shows this operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// `null` until confirmed. The member itself is required.
    #[serde(deserialize_with = "strict::object_or_null")]
    pub confirmation: Option<Confirmation>,
    /// `null` until the operation is final. The member itself is required.
    #[serde(deserialize_with = "strict::object_or_null")]
    pub result: Option<OperationResult>,
}

impl Operation {
    /// The instant until which this revision can be confirmed, inclusive.
    #[must_use]
    pub fn expires_at_timestamp(&self) -> Option<jiff::Timestamp> {
        self.expires_at.as_ref().map(Rfc3339::timestamp)
    }
}

/// The body of a 202 from an API endpoint that proposes an operation (Operations 4.1), and of any other answer that
/// carries the operation in a member of that name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationAnswer {
    /// The operation.
    #[serde(deserialize_with = "strict::object")]
    pub operation: Operation,
}
