//! Which signatures the keys of a run make, and the fast ones of the simulated world.
//!
//! A fast signature is a hash of the message keyed by the public key: whoever knows that can make one, so it proves nothing,
//! and costs next to nothing. All else stays: shapes, headers, claims, thumbprints, replay. Two things keep it out of the
//! real world. A key is of one kind from its making, and each kind refuses the signatures of the other. And which kind a
//! world's keys are of is said by its [lane](crate::world::Lane): one with sockets has no room for the fast kind.

use std::hash::Hasher as _;

use siphasher::sip128::{Hasher128 as _, SipHasher13};

use super::digest;
use super::keys::Signature;

/// The kind of signatures that all keys of one world make and take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Signatures {
    /// ES256 and RS256.
    #[default]
    Real,
    /// Keyed hashes in the shape of ES256. For simulation only: anybody can make them.
    Fast,
}

/// The point of a fast key, `04`, x, y: two hashes, which name no point on the curve.
pub(super) fn fast_point(secret: &[u8; 32]) -> [u8; 65] {
    let mut seed = [0; 33];
    seed[..32].copy_from_slice(secret);
    let mut point = [4; 65];
    point[1..33].copy_from_slice(&digest::sha256(&seed));
    seed[32] = 1;
    point[33..].copy_from_slice(&digest::sha256(&seed));
    point
}

/// The fast signature of the key with that thumbprint: a hash of 16 bytes, four times over.
pub(super) fn fast_signature(thumbprint: &str, message: &[u8]) -> Signature {
    let mut hasher = SipHasher13::new();
    hasher.write(thumbprint.as_bytes()); // all are of one length, so that message and thumbprint cannot run into each other
    hasher.write(message);
    let hash = hasher.finish128().as_bytes();
    let mut signature = [0; 64];
    for part in signature.chunks_exact_mut(hash.len()) {
        part.copy_from_slice(&hash);
    }
    signature
}

#[cfg(test)]
mod tests;
