//! The two kinds of assertion, and why one is refused.

use crate::protocol::ErrorCode;

/// Which of the two an assertion has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssertionKind {
    /// Authenticates the Agent.
    Client,
    /// Names the User.
    Session,
}

/// Why an assertion is refused. None of them carries a part of the assertion but its `kid`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssertionError {
    /// Not a compact JWT, or its header or claims are not JSON of the right types.
    #[error("not a JWT with the claims of an assertion")]
    Malformed,
    /// `typ` is there and not `JWT`.
    #[error("typ is not JWT")]
    Type,
    /// `crit` is there, and we understand nothing that could stand in it.
    #[error("crit names an extension that is not understood")]
    Critical,
    /// No key with this `kid` is known: fetch the JWKS again, about once in 30 s at most (digest 1.4).
    #[error("no key `{kid}`")]
    UnknownKey {
        /// The `kid`, cut to 64 characters.
        kid: String,
    },
    /// `alg` is not the one that the key is for: `none` and HMAC always end here.
    #[error("alg is not the key's")]
    AlgorithmNotAllowed,
    /// The signature does not verify.
    #[error("signature does not verify")]
    Signature,
    /// `iss` is another client.
    #[error("iss is another client")]
    Issuer,
    /// `sub` of a client assertion is not the `client_id`, or that of a Session assertion is no User ID.
    #[error("sub is not what this assertion needs")]
    Subject,
    /// `aud` is another audience, or not one string.
    #[error("aud is another audience")]
    Audience,
    /// `exp` has passed.
    #[error("expired")]
    Expired,
    /// `iat` lies in the future.
    #[error("iat is in the future")]
    TooNew,
    /// `exp` lies too far after `iat`, or before it.
    #[error("lifetime is out of bounds")]
    Lifetime,
    /// The `jti` was accepted before.
    #[error("jti was accepted before")]
    Replayed,
    /// The replay guard is full.
    #[error("replay guard is full")]
    ReplayGuardFull,
}

impl AssertionKind {
    /// The error that a token endpoint answers when this assertion is refused.
    #[must_use]
    pub fn refusal(self) -> ErrorCode {
        match self {
            Self::Client => ErrorCode::InvalidClient,
            Self::Session => ErrorCode::InvalidGrant,
        }
    }
}
