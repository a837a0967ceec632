//! Who asks: operators' documents and keys, Sessions and their tokens, sign-ins, and the gate that every request with a
//! token passes (digest 1.4, 3).

pub(super) mod account;
pub(super) mod clients;
mod fetch;
pub(super) mod gate;
pub(super) mod page;
pub(super) mod revoke;
pub(super) mod sessions;
pub(super) mod sign_in;
pub(super) mod token;
