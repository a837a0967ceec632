//! Who talks to whom about what: what faults, draws and histories know of a request.

use bytes::Bytes;
use http::Response;
use smol_str::SmolStr;

use super::Moment;
use crate::{history::record::Purpose, plan::Manner};

/// What a party is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartyKind {
    /// A simulated Company.
    Company,
    /// The backend behind a Company.
    Backend,
    /// The operator of Personal Agents: serves client metadata and keys.
    Operator,
    /// A Personal Agent at work for one User.
    Agent,
}

/// A party of the run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Party {
    /// What it is.
    pub kind: PartyKind,
    /// Its name, unique in the run: `clothes-1`, `backend.clothes-1`, `agent-1`, `a3`.
    pub name: SmolStr,
}

impl Party {
    /// A party of that kind and name.
    #[must_use]
    pub fn new(kind: PartyKind, name: impl Into<SmolStr>) -> Self {
        Self { kind, name: name.into() }
    }
}

/// What a request is about. Every choice about it is drawn from `key` and `attempt`, so they have to name it the same way
/// in every run of the same plan.
#[derive(Debug, Clone)]
pub struct About {
    /// What it is for.
    pub purpose: Purpose,
    /// Its ID in the history, where it has a `call` there.
    pub call: Option<SmolStr>,
    /// Names it among all requests of its purpose: an intent, an action ID, an action ID and a step.
    pub key: SmolStr,
    /// How often it was sent before.
    pub attempt: u64,
    /// The action ID that it concerns.
    pub action: Option<SmolStr>,
    /// The backend step that it asks for.
    pub step: Option<SmolStr>,
    /// When its sender stops waiting.
    pub deadline: Moment,
}

/// A passing of a named point of a Company's code, in its work on one action.
#[derive(Debug, Clone, Copy)]
pub struct Passing<'a> {
    /// The action ID, which names it in random choices.
    pub key: &'a str,
    /// How often the point was passed for it before, or another number that tells the passings apart.
    pub attempt: u64,
    /// The action's name.
    pub action: &'a str,
    /// What sort of operation it is.
    pub how: Manner,
}

/// How a request ended for its sender.
#[derive(Debug)]
pub struct Reply {
    /// What came back, or why nothing did.
    pub answer: Answer,
    /// When its first byte left; the time of the call if none did, or if a fault was at work on the way.
    pub sent: Moment,
}

/// What came back of a request.
#[derive(Debug)]
pub enum Answer {
    /// A whole answer.
    Response(Response<Bytes>),
    /// Nothing, or no whole answer, and the request may have acted.
    Unknown(Why),
    /// No byte left: it did nothing.
    Unsent(Why),
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// None came in time.
    Timeout,
    /// The connection ended before the answer was whole.
    Reset,
    /// Nobody listens, or the connection could not be made.
    Refused,
    /// The name belongs to no party of the run.
    NoSuchHost,
    /// The other side's certificate is not trusted.
    Untrusted,
    /// What answers does not talk TLS, or not as we do.
    NoTls,
    /// Its address is not on loopback, and nobody said that it may be loaded.
    NotPermitted,
    /// The answer is longer than a party reads.
    TooLarge,
    /// What came is no HTTP answer.
    Unreadable,
}

impl Why {
    /// The word that histories use for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Reset => "reset",
            Self::Refused => "connection-refused",
            Self::NoSuchHost => "no-such-host",
            Self::Untrusted => "certificate-not-trusted",
            Self::NoTls => "no-tls",
            Self::NotPermitted => "not-permitted",
            Self::TooLarge => "answer-too-large",
            Self::Unreadable => "unreadable",
        }
    }
}
