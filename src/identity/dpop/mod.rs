//! DPoP proofs (RFC 9449): made by Agents, verified by Companies in full (section 4.3, checks P1-P9 of digest 3.3).

mod claims;
mod error;
mod known;
mod make;
mod target;
mod verify;

pub use error::{Check, ProofError};
pub use known::KnownKey;
pub use make::ProofMaker;
pub use target::{normalise_target, same_target, without_query};
pub use verify::{Bound, ProofCheck, VerifiedProof, only_proof};

#[cfg(test)]
mod tests;
