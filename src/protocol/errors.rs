//! Every error of the wire: its word, its status, its JSON body and its challenge.
//!
//! Operations section 9 has the operations endpoint's own; the core's token errors and statuses are digest section 5.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::operation::Operation;
use super::strict;

/// Where an error is answered: two of them have another status at the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The token endpoint of the authorization server.
    TokenEndpoint,
    /// Any endpoint that takes a Session Token: APIs and the operations endpoint.
    Resource,
}

/// An error of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorCode {
    /// Client authentication failed.
    InvalidClient,
    /// The assertion or grant is not good.
    InvalidGrant,
    /// The scope asked for is unknown or wider than granted.
    InvalidScope,
    /// The grant type is not served.
    UnsupportedGrantType,
    /// The Session is tied to another account.
    AccountMismatch,
    /// The Session named at the token endpoint cannot be renewed.
    InvalidSession,
    /// The User has not decided about a sign-in yet (RFC 8628 section 3.5).
    AuthorizationPending,
    /// As before, and the Agent asks too often: its interval grows by five seconds.
    SlowDown,
    /// The device code has ended.
    ExpiredToken,
    /// The User did not allow the sign-in.
    AccessDenied,
    /// The DPoP proof failed one of the checks P1-P7, P9.
    InvalidDpopProof,
    /// A nonce of the Company's is required (P8).
    UseDpopNonce,
    /// The Session Token is unknown, expired or revoked.
    InvalidToken,
    /// The action needs a signed-in Session.
    SignInRequired,
    /// The token lacks a scope.
    InsufficientScope,
    /// The request needs an extension that the Agent does not list.
    ExtensionRequired,
    /// The request is malformed.
    InvalidRequest,
    /// Too many requests.
    RateLimited,
    /// The operation is unknown, or the Session cannot use it.
    OperationNotFound,
    /// The confirmed revision is not the latest.
    TermsChanged,
    /// The operation needs the User's approval of this revision.
    UserApprovalRequired,
    /// An `Idempotency-Key` came again with another request.
    IdempotencyKeyConflict,
}

impl ErrorCode {
    /// Every error, in the order of the enum.
    pub const ALL: [Self; 22] = [
        Self::InvalidClient,
        Self::InvalidGrant,
        Self::InvalidScope,
        Self::UnsupportedGrantType,
        Self::AccountMismatch,
        Self::InvalidSession,
        Self::AuthorizationPending,
        Self::SlowDown,
        Self::ExpiredToken,
        Self::AccessDenied,
        Self::InvalidDpopProof,
        Self::UseDpopNonce,
        Self::InvalidToken,
        Self::SignInRequired,
        Self::InsufficientScope,
        Self::ExtensionRequired,
        Self::InvalidRequest,
        Self::RateLimited,
        Self::OperationNotFound,
        Self::TermsChanged,
        Self::UserApprovalRequired,
        Self::IdempotencyKeyConflict,
    ];

    /// The word in `error`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidClient => "invalid_client",
            Self::InvalidGrant => "invalid_grant",
            Self::InvalidScope => "invalid_scope",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::AccountMismatch => "account_mismatch",
            Self::InvalidSession => "invalid_session",
            Self::AuthorizationPending => "authorization_pending",
            Self::SlowDown => "slow_down",
            Self::ExpiredToken => "expired_token",
            Self::AccessDenied => "access_denied",
            Self::InvalidDpopProof => "invalid_dpop_proof",
            Self::UseDpopNonce => "use_dpop_nonce",
            Self::InvalidToken => "invalid_token",
            Self::SignInRequired => "sign_in_required",
            Self::InsufficientScope => "insufficient_scope",
            Self::ExtensionRequired => "extension_required",
            Self::InvalidRequest => "invalid_request",
            Self::RateLimited => "rate_limited",
            Self::OperationNotFound => "operation_not_found",
            Self::TermsChanged => "terms_changed",
            Self::UserApprovalRequired => "user_approval_required",
            Self::IdempotencyKeyConflict => "idempotency_key_conflict",
        }
    }

    /// The error of this word, or `None` for a word that the digest does not know.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == word)
    }

    /// The HTTP status (Operations section 9; digest section 5).
    #[must_use]
    pub fn status(self, place: Place) -> u16 {
        match self {
            Self::InvalidClient | Self::InvalidToken => 401,
            Self::InvalidDpopProof | Self::UseDpopNonce => match place {
                Place::TokenEndpoint => 400,
                Place::Resource => 401,
            },
            Self::InvalidGrant
            | Self::InvalidScope
            | Self::UnsupportedGrantType
            | Self::AccountMismatch
            | Self::InvalidSession
            | Self::AuthorizationPending
            | Self::SlowDown
            | Self::ExpiredToken
            | Self::AccessDenied
            | Self::InvalidRequest => 400,
            Self::SignInRequired | Self::InsufficientScope | Self::ExtensionRequired | Self::UserApprovalRequired => {
                403
            }
            Self::OperationNotFound => 404,
            Self::TermsChanged | Self::IdempotencyKeyConflict => 409,
            Self::RateLimited => 429,
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The challenge for a request without any credential: no `error` (RFC 6750 section 3.1, RFC 9449 section 7.1).
pub const BARE_CHALLENGE: &str = "DPoP algs=\"ES256\"";

/// The JSON body of an error. Read leniently: `error` may be a word that we do not know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// The error's word.
    pub error: String,
    /// For people; nothing depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_description: Option<String>,
    /// The current operation, with `terms_changed`.
    #[serde(default, deserialize_with = "strict::object_or_null", skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// The extension that is needed, with `extension_required`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extension: Option<String>,
    /// The scopes that are needed, with `insufficient_scope` and `sign_in_required`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

impl ErrorBody {
    /// The plain body of an error.
    #[must_use]
    pub fn new(code: ErrorCode) -> Self {
        Self { error: code.as_str().to_owned(), error_description: None, operation: None, extension: None, scope: None }
    }

    /// `terms_changed` with the current operation (rule OC-37).
    #[must_use]
    pub fn terms_changed(current: Operation) -> Self {
        Self { operation: Some(current), ..Self::new(ErrorCode::TermsChanged) }
    }

    /// `extension_required`, naming the extension.
    #[must_use]
    pub fn extension_required(extension: &str) -> Self {
        Self { extension: Some(extension.to_owned()), ..Self::new(ErrorCode::ExtensionRequired) }
    }

    /// The same body with the scopes that are needed.
    #[must_use]
    pub fn with_scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = Some(scope.into());
        self
    }

    /// The same body with a sentence for people.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.error_description = Some(description.into());
        self
    }

    /// The error, if its word is known.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        ErrorCode::from_word(&self.error)
    }

    /// The `WWW-Authenticate` text of this error at a resource, for those errors that have one: token and proof errors
    /// at 401 and 403, and `extension_required` (digest section 5). None of them has one at the token endpoint.
    #[must_use]
    pub fn challenge(&self, place: Place) -> Option<String> {
        if place == Place::TokenEndpoint {
            return None;
        }
        let code = self.code()?;
        let named = |name: &str, value: &Option<String>| {
            let quoted = value.as_deref().map(|value| format!(", {name}=\"{}\"", quotable(value)));
            quoted.unwrap_or_default()
        };
        match code {
            ErrorCode::InvalidToken | ErrorCode::InvalidDpopProof | ErrorCode::UseDpopNonce => {
                Some(format!("DPoP error=\"{code}\", algs=\"ES256\""))
            }
            ErrorCode::SignInRequired | ErrorCode::InsufficientScope => {
                Some(format!("DPoP error=\"{code}\"{}", named("scope", &self.scope)))
            }
            ErrorCode::ExtensionRequired => {
                Some(format!("DPoP error=\"{code}\"{}", named("extension", &self.extension)))
            }
            _ => None,
        }
    }
}

/// The characters that may stand in a quoted string without escapes.
fn quotable(value: &str) -> String {
    value.chars().filter(|c| (' '..='~').contains(c) && !matches!(c, '"' | '\\')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_unique_and_read_back() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_word(code.as_str()), Some(code));
            assert_eq!(ErrorBody::new(code).code(), Some(code));
        }
        assert_eq!(ErrorCode::from_word("teapot"), None);
    }

    #[test]
    fn operations_section_9_statuses() {
        for (word, status) in [
            ("operation_not_found", 404),
            ("terms_changed", 409),
            ("user_approval_required", 403),
            ("extension_required", 403),
        ] {
            assert_eq!(ErrorCode::from_word(word).unwrap().status(Place::Resource), status, "{word}");
        }
    }

    #[test]
    fn proof_errors_are_400_at_the_token_endpoint_and_challenged_elsewhere() {
        for code in [ErrorCode::InvalidDpopProof, ErrorCode::UseDpopNonce] {
            assert_eq!(code.status(Place::TokenEndpoint), 400);
            assert_eq!(code.status(Place::Resource), 401);
            assert_eq!(ErrorBody::new(code).challenge(Place::TokenEndpoint), None);
            let challenge = ErrorBody::new(code).challenge(Place::Resource).unwrap();
            assert_eq!(challenge, format!("DPoP error=\"{}\", algs=\"ES256\"", code.as_str()));
        }
    }

    #[test]
    fn challenges_name_scope_and_extension_and_cannot_be_broken_out_of() {
        let scope = ErrorBody::new(ErrorCode::InsufficientScope).with_scope("orders:write");
        assert_eq!(
            scope.challenge(Place::Resource).unwrap(),
            "DPoP error=\"insufficient_scope\", scope=\"orders:write\""
        );
        let extension = ErrorBody::extension_required("operations\r\nX: \"y\"");
        assert_eq!(
            extension.challenge(Place::Resource).unwrap(),
            "DPoP error=\"extension_required\", extension=\"operationsX: y\""
        );
        assert_eq!(ErrorBody::new(ErrorCode::OperationNotFound).challenge(Place::Resource), None);
    }

    #[test]
    fn a_plain_body_has_one_member() {
        let body = serde_json::to_string(&ErrorBody::new(ErrorCode::OperationNotFound)).unwrap();
        assert_eq!(body, r#"{"error":"operation_not_found"}"#);
    }
}
