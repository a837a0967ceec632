//! Answers: JSON bodies, and the protocol's errors with their statuses and challenges.

use std::time::Duration;

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;

use crate::{
    identity::ProofError,
    protocol::{ErrorBody, ErrorCode, Place, errors::BARE_CHALLENGE},
};

/// The header that a proof comes in.
pub(super) static DPOP: HeaderName = HeaderName::from_static("dpop");
/// The header that a nonce goes out in.
pub(super) static DPOP_NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

static JSON: HeaderValue = HeaderValue::from_static("application/json");

/// An error answer.
#[derive(Debug)]
pub(super) struct Problem {
    status: StatusCode,
    body: Box<ErrorBody>,
    challenge: Option<String>,
    nonce: Option<String>,
}

impl Problem {
    /// The plain answer of an error.
    pub(super) fn new(code: ErrorCode, place: Place) -> Self {
        Self::with_body(ErrorBody::new(code), place)
    }

    /// The answer of an error body; 400 for a word that the protocol does not know.
    pub(super) fn with_body(body: ErrorBody, place: Place) -> Self {
        let status = body.code().map_or(400, |code| code.status(place));
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
        let mut challenge = body.challenge(place);
        if status == StatusCode::UNAUTHORIZED && challenge.is_none() {
            challenge = Some(BARE_CHALLENGE.to_owned()); // a 401 has one (RFC 9110 section 15.5.2)
        }
        Self { status, body: Box::new(body), challenge, nonce: None }
    }

    /// 400 `invalid_request` with a sentence for people.
    pub(super) fn invalid_request(why: impl Into<String>) -> Self {
        Self::with_body(ErrorBody::new(ErrorCode::InvalidRequest).with_description(why), Place::Resource)
    }

    /// A request without any credential: 401, and a challenge that names no error (RFC 6750 section 3.1).
    pub(super) fn no_credential() -> Self {
        let problem = Self::new(ErrorCode::InvalidToken, Place::Resource);
        Self { challenge: Some(BARE_CHALLENGE.to_owned()), ..problem }
    }

    /// A body longer than anybody reads.
    pub(super) fn too_large() -> Self {
        Self { status: StatusCode::PAYLOAD_TOO_LARGE, ..Self::invalid_request("body too long") }
    }

    /// A proof that failed a check; `nonce` is a good one, where the Company demands nonces.
    pub(super) fn proof(error: ProofError, place: Place, nonce: Option<String>) -> Self {
        let body = ErrorBody::new(error.code()).with_description(error.to_string());
        Self { nonce, ..Self::with_body(body, place) }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = json(self.status, &self.body);
        let mut put = |name: HeaderName, text: Option<String>| {
            if let Some(value) = text.and_then(|text| HeaderValue::try_from(text).ok()) {
                response.headers_mut().insert(name, value);
            }
        };
        put(header::WWW_AUTHENTICATE, self.challenge);
        put(DPOP_NONCE.clone(), self.nonce);
        response
    }
}

/// A JSON answer.
pub(super) fn json(status: StatusCode, body: &impl Serialize) -> Response {
    let mut bytes = Vec::with_capacity(768);
    // Our own shapes have string keys and no failing members; an empty body would show at once.
    if let Err(error) = serde_json::to_writer(&mut bytes, body) {
        tracing::error!("an answer cannot be written: {error}");
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, JSON.clone());
    response
}

/// `Retry-After` in whole seconds, rounded up; at least one.
pub(super) fn retry_after(wait: Duration) -> HeaderValue {
    HeaderValue::from((wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1))
}
