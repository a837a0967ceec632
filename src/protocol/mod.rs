//! The wire of the protocol: shapes and parsing only, no life-cycle rules.
//!
//! What may happen to an operation, and when, is written elsewhere, and twice: once by the Company that follows the
//! rules and once by the checker that judges it. This module knows how things are spelled. It does no I/O and knows no
//! clock; every parser is bounded and answers garbage with an error.

pub mod confirm;
pub mod device;
pub mod discovery;
pub mod endpoint;
pub mod errors;
pub mod json;
pub mod jwk;
pub mod operation;
pub mod session_mode;
pub(crate) mod strict;
pub mod timestamp;
pub mod token;

pub use confirm::ConfirmRequest;
pub use device::DeviceAuthorization;
pub use discovery::{AuthorizationServerMetadata, ClientMetadata, PoppyDocument};
pub use errors::{ErrorBody, ErrorCode, Place};
pub use json::JsonError;
pub use jwk::{Jwk, JwkSet};
pub use operation::{ApprovedBy, Confirmation, Operation, OperationAnswer, OperationResult, Revision, State};
pub use session_mode::SessionMode;
pub use timestamp::Rfc3339;
pub use token::{TokenRequest, TokenResponse};

#[cfg(test)]
mod examples_tests;
