//! Keys, JWS, DPoP proofs, assertions and the replay guard.
//!
//! Our own thin JOSE layer over aws-lc-rs: it parses every key once, makes proofs with a pre-encoded header, and can
//! forge whatever a test of the other side needs. There is no clock and no randomness in here: `jti`, `iat`, key scalars
//! and `now` are arguments, all times whole Unix seconds.

pub mod assertions;
pub mod digest;
pub mod dpop;
pub mod jwk;
pub mod jws;
pub mod keys;
pub mod nonce;
mod numeric_date;
pub mod replay;
mod signatures;

pub use assertions::{AssertionCheck, AssertionError, AssertionKind, AssertionMaker, VerifiedAssertion};
pub use dpop::{Bound, KnownKey, ProofCheck, ProofError, ProofMaker, VerifiedProof, only_proof};
pub use jws::{CompactJws, EncodedHeader, JwsError};
pub use keys::{Algorithm, KeyError, PublicKey, SigningKey};
pub use nonce::{NonceIssuer, NoncePolicy};
pub use replay::{ReplayGuard, ReplayVerdict};
pub use signatures::Signatures;

#[cfg(test)]
mod oracle_tests;
#[cfg(test)]
pub(crate) mod testing;
