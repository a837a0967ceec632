//! Which check a DPoP proof failed, and what a Company answers to it.

use std::fmt;

use crate::identity::keys::KeyError;
use crate::protocol::ErrorCode;

/// A check of a proof, as the digest numbers them (3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// Exactly one `DPoP` header holding one compact JWT.
    P1,
    /// `typ`, `alg`, public `jwk`.
    P2,
    /// Signature with that `jwk`.
    P3,
    /// `htm` and `htu`.
    P4,
    /// `iat` within the window.
    P5,
    /// `ath`.
    P6,
    /// Thumbprint of the key that the token is bound to.
    P7,
    /// `nonce`, if required.
    P8,
    /// `jti` not yet accepted.
    P9,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Why a proof is refused. None of them carries a part of the proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// No `DPoP` header.
    #[error("no DPoP header")]
    Missing,
    /// More than one `DPoP` header.
    #[error("more than one DPoP header")]
    Several,
    /// The header's value is no compact JWT: bytes, segments or length are wrong.
    #[error("DPoP header holds no compact JWT")]
    NotCompact,
    /// The header or the claims are not JSON of the right types.
    #[error("header or claims of the proof are malformed")]
    Malformed,
    /// `typ` is not `dpop+jwt`.
    #[error("typ is not dpop+jwt")]
    Type,
    /// `alg` is not one that the Company takes.
    #[error("alg is not ES256")]
    AlgorithmNotAllowed,
    /// `crit` names something, and we understand nothing that could stand there.
    #[error("crit names an extension that is not understood")]
    Critical,
    /// `jwk` is missing, private, or no valid P-256 key.
    #[error("jwk: {0}")]
    Key(KeyError),
    /// The signature does not verify.
    #[error("signature does not verify")]
    Signature,
    /// `htm` is another method.
    #[error("htm is another method")]
    Method,
    /// `htu` is another URL.
    #[error("htu is another URL")]
    Target,
    /// `iat` lies before the window.
    #[error("iat is too old")]
    TooOld,
    /// `iat` lies after the window.
    #[error("iat is in the future")]
    TooNew,
    /// A token was presented and `ath` is missing.
    #[error("ath is missing")]
    AthMissing,
    /// `ath` is another token's.
    #[error("ath is another token's")]
    Ath,
    /// `ath` at the token endpoint, where no token is presented.
    #[error("ath where no token is presented")]
    AthUnexpected,
    /// The proof's key is not the one that the token is bound to.
    #[error("key is not the token's")]
    Thumbprint,
    /// A nonce is required, and there is none.
    #[error("nonce is missing")]
    NonceMissing,
    /// The nonce is not one that the Company issued, or no longer good.
    #[error("nonce is not one of ours, or too old")]
    Nonce,
    /// The `jti` was accepted before.
    #[error("jti was accepted before")]
    Replayed,
    /// The replay guard is full, so that it is not known whether the `jti` was accepted before.
    #[error("replay guard is full")]
    ReplayGuardFull,
}

impl ProofError {
    /// The check that failed.
    #[must_use]
    pub fn check(self) -> Check {
        match self {
            Self::Missing | Self::Several | Self::NotCompact | Self::Malformed => Check::P1,
            Self::Type | Self::AlgorithmNotAllowed | Self::Critical | Self::Key(_) => Check::P2,
            Self::Signature => Check::P3,
            Self::Method | Self::Target => Check::P4,
            Self::TooOld | Self::TooNew => Check::P5,
            Self::AthMissing | Self::Ath | Self::AthUnexpected => Check::P6,
            Self::Thumbprint => Check::P7,
            Self::NonceMissing | Self::Nonce => Check::P8,
            Self::Replayed | Self::ReplayGuardFull => Check::P9,
        }
    }

    /// The error that a Company answers: `use_dpop_nonce` for P8, `invalid_dpop_proof` for all others.
    #[must_use]
    pub fn code(self) -> ErrorCode {
        match self.check() {
            Check::P8 => ErrorCode::UseDpopNonce,
            Check::P1 | Check::P2 | Check::P3 | Check::P4 | Check::P5 | Check::P6 | Check::P7 | Check::P9 => {
                ErrorCode::InvalidDpopProof
            }
        }
    }
}
