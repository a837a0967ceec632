//! Defects.
