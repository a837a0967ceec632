//! The wire of the protocol: shapes and parsing only, no life-cycle rules.

mod session_mode;

pub use session_mode::SessionMode;
