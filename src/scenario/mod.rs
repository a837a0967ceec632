//! YAML to a checked plan, with file, line and column in every error.
