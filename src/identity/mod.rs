//! Keys, JWS, DPoP proofs, assertions and the replay guard.
