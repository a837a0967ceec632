//! A meter's figures, its windows, and its log.
