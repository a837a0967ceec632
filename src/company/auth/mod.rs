//! Who asks: operators' documents and keys, Sessions and their tokens, and the gate that every request with a token
//! passes (digest 1.4, 3).

pub(super) mod clients;
mod fetch;
pub(super) mod gate;
pub(super) mod revoke;
pub(super) mod sessions;
pub(super) mod token;
