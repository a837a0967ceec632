//! Judges a run's folder from its files alone; `run`, `serve` and `check` all end here, so that they cannot differ.

use std::{path::Path, sync::LazyLock};

use crate::{
    checker::{Anomaly, Checker, Counts, Finding},
    history::{
        Event,
        reader::{Completeness, Folder, ReadError, open_folder},
        record::{FaultStruck, Run},
    },
    plan::{Expectation, Invariants},
    report::Judged,
    sim,
};

/// The names of the checker's catalogue, for the files that name anomalies.
pub(super) fn anomaly_names() -> &'static [&'static str] {
    static NAMES: LazyLock<Vec<&'static str>> =
        LazyLock::new(|| Anomaly::ALL.iter().map(|anomaly| anomaly.name()).collect());
    &NAMES
}

/// What the files of a run say.
#[derive(Debug)]
pub(super) struct FolderJudgement {
    /// For the summary.
    pub(super) judged: Judged,
    /// In full, the gravest first.
    pub(super) findings: Vec<Finding>,
    /// The faults that struck.
    pub(super) faults: Vec<FaultStruck>,
    /// The history's header, if it has one.
    pub(super) header: Option<Run>,
    /// How much there was.
    pub(super) counts: Counts,
}

/// Reads history and ledger of a run's folder and judges them.
pub(super) fn judge(
    folder: &Path,
    invariants: &Invariants,
    expect: &Expectation,
) -> Result<FolderJudgement, ReadError> {
    judge_files(open_folder(folder)?, invariants, expect)
}

/// Reads a history, and a ledger if there is one, and judges them.
pub(super) fn judge_files(
    mut files: Folder,
    invariants: &Invariants,
    expect: &Expectation,
) -> Result<FolderJudgement, ReadError> {
    let mut checker = Checker::new(sim::judged(invariants));
    let mut faults = Vec::new();
    let mut header = None;
    for record in &mut files.history {
        let record = record?;
        checker.event(&record);
        match record.event {
            Event::Fault(fault) => faults.push(fault),
            Event::Run(run) => header = Some(run),
            _ => {}
        }
    }
    let mut incomplete = Vec::new();
    if let Completeness::Incomplete { why } = files.history.completeness() {
        incomplete.push(format!("the history is incomplete: {why}"));
    }
    if let Some(ledger) = &mut files.ledger {
        for record in &mut *ledger {
            checker.ledger(&record?);
        }
        if let Completeness::Incomplete { why } = ledger.completeness() {
            incomplete.push(format!("the ledger is incomplete: {why}"));
        }
    }
    let judgement = checker.judge();
    let mut judged = Judged::of(&judgement, expect);
    // The reader says best where a file stops; the checker, which only saw records, adds what else is missing.
    if !incomplete.is_empty() {
        judged.incomplete = incomplete;
    }
    Ok(FolderJudgement { judged, findings: judgement.findings, faults, header, counts: judgement.counts })
}
