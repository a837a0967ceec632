//! Where the rules are decided, without a clock, a store or a wire: `(record, request, now, defects)` in, answer, new
//! record and whether to perform out. One file for each kind of guarded action.

pub(super) mod operations;

#[cfg(test)]
mod tests;
