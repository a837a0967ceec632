//! What the tests of this module share: the fixed vectors, keys and guards.

use serde_json::Value;

use super::keys::SigningKey;
use super::replay::ReplayGuard;

/// The fixed vectors. Their keys are public and good for nothing else.
pub(crate) fn vectors() -> Value {
    serde_json::from_str(include_str!("../../tests/fixtures/identity/vectors.json")).unwrap()
}

/// The key of a small number.
pub(crate) fn key(number: u8) -> SigningKey {
    SigningKey::from_scalar(&[number; 32]).unwrap()
}

/// An empty guard.
pub(crate) fn guard() -> ReplayGuard {
    ReplayGuard::new([5; 16])
}
