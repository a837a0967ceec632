//! Client and Session assertions (digest 3.1, 3.2; RFC 7523): made by Agents, verified by Companies.
//!
//! The two differ in `sub` alone: a client assertion speaks for the Agent (`sub` is the `client_id`), a Session
//! assertion for one User at one Company (`sub` is the User ID). Their `jti` share one replay scope per `client_id`.

mod error;
mod make;
mod verify;

pub use error::{AssertionError, AssertionKind};
pub use make::AssertionMaker;
pub use verify::{AssertionCheck, VerifiedAssertion, is_user_id, unverified_issuer};

#[cfg(test)]
mod tests;
