//! What an answer means: which outcome it is, and what an Agent learns from it.
//!
//! The rule throughout: only what shows that the request did nothing is a refusal. No answer, a 5xx, and a body that
//! nobody can read leave it unknown, and so does a 401 that another copy of the same request may have caused.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Response, StatusCode, header};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use smol_str::{SmolStr, format_smolstr};

use super::view::Seen;
use crate::{
    history::record::Outcome,
    protocol::{DeviceAuthorization, ErrorCode, Operation, TokenResponse, json, token::TOKEN_TYPE_DPOP},
    world::{Answer, Why},
};

static DPOP_NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// The longest `Retry-After` that an Agent waits for.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(3_600);

/// The longest error word of a peer that is recorded as it stands, in bytes.
const WORD_BYTES_MAX: usize = 40;

/// What kind of answer is due.
#[derive(Debug)]
pub(super) enum Reading<'a> {
    /// A document of discovery.
    Document,
    /// A Session Token.
    Token,
    /// The codes of a sign-in.
    SignIn,
    /// Nothing but whether it was done.
    Nothing,
    /// Any JSON, for values to be taken from it.
    Values(Expected<'a>),
    /// An operation, or word that the action is done at once.
    Operation(Expected<'a>),
}

/// What is known of a request that an operation answers.
#[derive(Debug)]
pub(super) struct Expected<'a> {
    /// The Company.
    pub(super) company: &'a str,
    /// The operation that the request names.
    pub(super) id: Option<&'a str>,
    /// That operation as an earlier answer showed it.
    pub(super) known: Option<&'a Seen>,
    /// Whether the operation stands in a member `operation` (proposals and changes), not by itself.
    pub(super) wrapped: bool,
    /// Whether the request can change anything.
    pub(super) acts: bool,
    /// Whether its proof carried a nonce.
    pub(super) nonce: bool,
    /// When its token ends, on the wall clock.
    pub(super) token_ends: Timestamp,
    /// Whether its token may have been replaced or signed out since.
    pub(super) token_doubtful: &'a AtomicBool,
}

/// How a request ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) outcome: Outcome,
    pub(super) status: Option<u16>,
    /// The error code of a refusal, or why nothing is known.
    pub(super) why: Option<SmolStr>,
    /// The same code, if it is one of the protocol's.
    pub(super) code: Option<ErrorCode>,
    /// How long to wait at least before the next request of the kind.
    pub(super) retry_after: Option<Duration>,
    /// `DPoP-Nonce`.
    pub(super) nonce: Option<SmolStr>,
    pub(super) content: Content,
}

/// What an answer brought.
#[derive(Debug)]
pub(super) enum Content {
    Nothing,
    Document(Bytes),
    /// Where a document is to be had instead.
    Elsewhere(String),
    Token(Box<TokenResponse>),
    SignIn(Box<DeviceAuthorization>),
    Operation(Arc<Seen>),
}

impl Ended {
    fn without_answer(outcome: Outcome, why: Why) -> Self {
        Self { why: Some(SmolStr::new_static(why.word())), ..Self::new(outcome, None) }
    }

    fn new(outcome: Outcome, status: Option<StatusCode>) -> Self {
        Self {
            outcome,
            status: status.map(|status| status.as_u16()),
            why: None,
            code: None,
            retry_after: None,
            nonce: None,
            content: Content::Nothing,
        }
    }

    /// One that was never sent, since it cannot be made.
    pub(super) fn refused(why: &'static str) -> Self {
        Self { why: Some(SmolStr::new_static(why)), ..Self::new(Outcome::Refused, None) }
    }

    /// The operation that it brought, also with a refusal.
    pub(super) fn seen(&self) -> Option<&Seen> {
        if let Content::Operation(seen) = &self.content { Some(seen) } else { None }
    }

    /// The token that it brought.
    pub(super) fn token(&self) -> Option<&TokenResponse> {
        if let Content::Token(token) = &self.content { Some(token) } else { None }
    }

    /// Takes the operation that it brought, also with a refusal.
    pub(super) fn into_seen(self) -> Option<Arc<Seen>> {
        if let Content::Operation(seen) = self.content { Some(seen) } else { None }
    }

    /// Whether a later try can end otherwise: nothing is known, nothing left, or too many came at once.
    pub(super) fn may_pass(&self) -> bool {
        match self.outcome {
            Outcome::Unknown | Outcome::Unsent => true,
            Outcome::View | Outcome::Done => false,
            Outcome::Refused => {
                self.status == Some(429)
                    || matches!(
                        self.code,
                        Some(ErrorCode::InvalidDpopProof | ErrorCode::UseDpopNonce | ErrorCode::InvalidToken)
                    )
            }
        }
    }
}

/// Says what an answer means; `wall` is when it came.
pub(super) fn judge(answer: Answer, reading: &Reading<'_>, wall: Timestamp) -> Ended {
    let response = match answer {
        Answer::Response(response) => response,
        Answer::Unknown(why) => return Ended::without_answer(Outcome::Unknown, why),
        Answer::Unsent(why) => return Ended::without_answer(Outcome::Unsent, why),
    };
    let (retry_after, nonce) = (retry_after(response.headers(), wall), nonce(response.headers()));
    let status = response.status();
    let ended = if status.is_success() {
        success(response, reading)
    } else if status.is_redirection() && matches!(reading, Reading::Document) {
        let location = response.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
        let content = location.map_or(Content::Nothing, |location| Content::Elsewhere(location.to_owned()));
        Ended { content, ..Ended::new(Outcome::Done, Some(status)) }
    } else {
        failure(&response, reading, wall)
    };
    Ended { retry_after, nonce, ..ended }
}

fn success(response: Response<Bytes>, reading: &Reading<'_>) -> Ended {
    let status = response.status();
    let read = match reading {
        Reading::Document => {
            let body = response.into_body();
            // Garbled on the way, it says nothing of the Company: another try may bring it whole.
            let whole = status == StatusCode::OK && serde_json::from_slice::<serde::de::IgnoredAny>(&body).is_ok();
            whole.then(|| Content::Document(body))
        }
        Reading::Token => token(response.body()).map(|token| Content::Token(Box::new(token))),
        Reading::SignIn => sign_in(response.body()).map(|begun| Content::SignIn(Box::new(begun))),
        Reading::Nothing => Some(Content::Nothing),
        Reading::Values(_) => Some(Content::Document(response.into_body())),
        Reading::Operation(expected) => operation(response.body(), expected),
    };
    match read {
        Some(content) => {
            let view = matches!(content, Content::Operation(_));
            let outcome = if view { Outcome::View } else { Outcome::Done };
            Ended { content, ..Ended::new(outcome, Some(status)) }
        }
        None => {
            let why = Some(SmolStr::new_static(Why::Unreadable.word()));
            Ended { why, ..Ended::new(Outcome::Unknown, Some(status)) }
        }
    }
}

fn token(body: &[u8]) -> Option<TokenResponse> {
    let token: TokenResponse = json::parse_object(body).ok()?;
    let good = token.token_type.eq_ignore_ascii_case(TOKEN_TYPE_DPOP)
        && token.expires_in > 0
        && !token.session_id.is_empty()
        && !token.access_token.is_empty();
    good.then_some(token)
}

fn sign_in(body: &[u8]) -> Option<DeviceAuthorization> {
    let begun: DeviceAuthorization = json::parse_object(body).ok()?;
    let good = !begun.device_code.is_empty() && !begun.user_code.is_empty() && begun.expires_in > 0;
    good.then_some(begun)
}

/// An answer that holds an operation, or none.
#[derive(Deserialize)]
struct Wrapped {
    #[serde(default, deserialize_with = "present")]
    operation: Option<Operation>,
}

/// A member that has to be an operation where it stands; `null` is none.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Operation>, D::Error> {
    Operation::deserialize(deserializer).map(Some)
}

/// The operation of a 2xx answer, nothing if it is none where none has to be, `None` if it cannot be read.
fn operation(body: &[u8], expected: &Expected<'_>) -> Option<Content> {
    let operation: Operation = if expected.wrapped {
        if body.trim_ascii().is_empty() {
            return Some(Content::Nothing);
        }
        match json::parse_object::<Wrapped>(body).ok()?.operation {
            Some(operation) => operation,
            None => return Some(Content::Nothing),
        }
    } else {
        json::parse_object(body).ok()?
    };
    seen(operation, expected).map(Content::Operation)
}

/// An operation of the answer, if it is the one that was asked for.
fn seen(operation: Operation, expected: &Expected<'_>) -> Option<Arc<Seen>> {
    let asked_for = expected.id.is_none_or(|id| id == operation.operation_id);
    if asked_for { Seen::new(expected.company, operation, expected.known).map(Arc::new) } else { None }
}

fn failure(response: &Response<Bytes>, reading: &Reading<'_>, wall: Timestamp) -> Ended {
    let status = response.status();
    let mut members: Map<String, Value> = json::parse_object(response.body()).unwrap_or_default();
    let word = members.get("error").and_then(Value::as_str).and_then(word);
    let code = word.as_deref().and_then(ErrorCode::from_word);
    let mut ended = Ended::new(Outcome::Refused, Some(status));
    if let (Reading::Operation(expected), Some(current)) = (reading, members.remove("operation"))
        && let Some(seen) = serde_json::from_value(current).ok().and_then(|current| seen(current, expected))
    {
        ended.content = Content::Operation(seen);
    }
    let definite = match reading {
        Reading::Document | Reading::Token | Reading::SignIn | Reading::Nothing => status.is_client_error(),
        Reading::Values(expected) | Reading::Operation(expected) => is_definite(status, code, expected, wall),
    };
    if !definite {
        ended.outcome = Outcome::Unknown;
    }
    ended.why = Some(word.unwrap_or_else(|| format_smolstr!("status-{}", status.as_u16())));
    ended.code = code;
    ended
}

/// Whether a failure shows that the request did nothing, however many copies of it arrived.
fn is_definite(status: StatusCode, code: Option<ErrorCode>, expected: &Expected<'_>, wall: Timestamp) -> bool {
    if !status.is_client_error() || status == StatusCode::REQUEST_TIMEOUT {
        return false;
    }
    match code {
        _ if !expected.acts => true,
        // The first copy may have acted, and this be the answer to the second.
        Some(ErrorCode::InvalidDpopProof) => false,
        // So here, if the nonce or the token ended between the two, or the sign-in behind it.
        Some(ErrorCode::UseDpopNonce) => !expected.nonce,
        Some(ErrorCode::InvalidToken) => wall < expected.token_ends && !expected.token_doubtful.load(Ordering::Acquire),
        Some(ErrorCode::SignInRequired) => !expected.token_doubtful.load(Ordering::Acquire),
        _ => true,
    }
}

/// A peer's error word, if it looks like one.
fn word(text: &str) -> Option<SmolStr> {
    let fits = (1..=WORD_BYTES_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    fits.then(|| text.into())
}

/// `Retry-After` as seconds or as a date (RFC 9110 section 10.2.3), cut to an hour.
fn retry_after(headers: &HeaderMap, wall: Timestamp) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = if let Ok(seconds) = text.parse() {
        Duration::from_secs(seconds)
    } else {
        let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
        Duration::try_from(date.duration_since(wall)).unwrap_or_default()
    };
    Some(wait.min(RETRY_AFTER_MAX))
}

fn nonce(headers: &HeaderMap) -> Option<SmolStr> {
    headers.get(&DPOP_NONCE)?.to_str().ok().filter(|nonce| (1..=256).contains(&nonce.len())).map(SmolStr::from)
}

#[cfg(test)]
mod tests;
