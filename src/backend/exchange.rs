//! What a Company and its backend say to each other, as the backend reads and writes it.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use smol_str::SmolStr;

use super::memory::Outcome;
use crate::protocol::{JsonError, Revision, json};

/// A request for a step.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Order {
    /// The action ID.
    pub(super) action: SmolStr,
    /// The action's name.
    pub(super) kind: SmolStr,
    /// The revision that is performed.
    pub(super) revision: Revision,
    /// Names all requests for the same work.
    pub(super) key: SmolStr,
    /// The terms that are performed, in plain language.
    pub(super) summary: String,
    /// The terms that are performed.
    pub(super) terms: Option<Map<String, Value>>,
    /// The step.
    pub(super) step: SmolStr,
    /// The step that this one undoes.
    #[serde(default)]
    pub(super) undo_of: Option<SmolStr>,
}

impl Order {
    /// Reads a body.
    pub(super) fn parse(body: &[u8]) -> Result<Self, JsonError> {
        json::parse_object(body)
    }
}

/// What became of the work behind a key; the same to every request under it.
#[derive(Debug, Serialize)]
struct StepAnswer<'a> {
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<&'a str>,
}

impl IntoResponse for Outcome {
    fn into_response(self) -> Response {
        let answer = match &self {
            Self::Done { receipt } => StepAnswer { outcome: "done", receipt: Some(receipt) },
            Self::Refused => StepAnswer { outcome: "refused", receipt: None },
        };
        match serde_json::to_vec(&answer) {
            Ok(body) => {
                let json = HeaderValue::from_static("application/json");
                (StatusCode::OK, [(header::CONTENT_TYPE, json)], body).into_response()
            }
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }
}
