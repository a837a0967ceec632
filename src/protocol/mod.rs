//! The wire of the protocol: shapes and parsing only, no life-cycle rules.
