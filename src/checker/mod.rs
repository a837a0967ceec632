//! Judges a recorded history and ledger: anomalies, each with its evidence. Shares no code with the judged.
//!
//! Every action is judged on its own, in time linear in the history but for sorting. An answer is a fact about the
//! Company at some instant between its request and its arrival; a refusal that carries the operation is one too; a
//! request without an answer is open for ever, and never a failure. A history that lacks what a rule needs is not judged
//! by it, and what is missing from a cut or gapped history accuses nobody.

mod anomaly;
mod approval;
mod case;
mod cases;
mod catalogue;
mod conduct;
mod confirmations;
mod effects;
mod expiry;
mod finality;
mod finding;
mod gather;
mod ground;
mod intents;
mod money;
mod pack;
mod performed;
mod proofs;
mod results;
mod revisions;
mod rules;
mod sweep;
mod tally;
mod time;

pub use anomaly::{Anomaly, Entry, Level, Needs, Side};
pub use catalogue::catalogue;
pub use finding::{Counts, Evidence, Finding, Judgement, Performances, Status};
pub use gather::{Checker, Options};
pub use rules::{Bond, RULES, Rule, Seen};

use crate::history::record::{LedgerRecord, Record};

/// Judges a whole history with its ledger.
pub fn judge(
    history: impl IntoIterator<Item = Record>,
    ledger: impl IntoIterator<Item = LedgerRecord>,
    options: Options,
) -> Judgement {
    let mut checker = Checker::new(options);
    history.into_iter().for_each(|record| checker.event(&record));
    ledger.into_iter().for_each(|record| checker.ledger(&record));
    checker.judge()
}

#[cfg(test)]
mod laws;
#[cfg(test)]
mod legal;
#[cfg(test)]
mod script;
#[cfg(test)]
mod tests;
