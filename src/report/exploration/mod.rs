//! Everything that is said about many seeds of one scenario: the shape of `exploration.json`, and all that the terminal
//! prints.
//!
//! Times are integers in nanoseconds (`_ns`), unless their name says otherwise. Readers should ignore members that they
//! do not know; what exists does not change its meaning within a version.

mod page;
mod verdict;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use page::{failure, progress, render};

use super::summary::{AnomalyStatus, Level, ReachRow, Verdict};

/// The version of `exploration.json` that this build writes.
pub const VERSION: u32 = 1;

/// The most failing trials that are listed; all are counted.
pub const FAILURES_MAX: usize = 1_000;

/// All that is said about an exploration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exploration {
    /// The version of this format, [`VERSION`].
    pub version: u32,
    /// How it ended. Follows from the rest.
    pub verdict: Verdict,
    /// What was tried.
    pub search: SearchRow,
    /// Whether it was interrupted, so that trials are missing.
    pub partial: bool,
    /// Seeds that were tried to their end.
    pub seeds: u64,
    /// Single crashes that the first seed was tried with before them.
    pub crashes: u64,
    /// Trials that fail.
    pub failing: u64,
    /// The first of them.
    pub failures: Vec<FailureRow>,
    /// How each anomaly of the catalogue was judged, over all trials.
    pub anomalies: BTreeMap<String, AnomalyStatus>,
    /// What was found, by anomaly.
    pub findings: Vec<FoundRow>,
    /// Trials that came to no proper end, or differ from themselves, and the first of them.
    pub troubles: TroubleRow,
    /// Anomalies that the scenario said must show, and that did in no trial.
    pub expected_but_absent: Vec<String>,
    /// Minimums, over all trials.
    pub reach: Vec<ReachRow>,
    /// Trials that left operations open, if there are any.
    pub left_open: Option<LeftOpenRow>,
    /// What was exercised, besides anomalies.
    pub coverage: CoverageRow,
    /// What it took.
    pub cost: CostRow,
    /// SHA-256 over the digests of all trials, a line each, where each was run twice.
    pub digest: Option<String>,
    /// The folder that it was written to.
    pub folder: Option<String>,
}

/// What was tried.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchRow {
    /// The scenario's name.
    pub name: String,
    /// The first seed.
    pub seed: u64,
    /// How many seeds were asked for, if a number was.
    pub seeds: Option<u64>,
    /// How long it was to go on, if that was said.
    pub budget_ns: Option<u64>,
    /// Whether it ended with the first failing trial.
    pub fail_fast: bool,
    /// Whether each trial was run twice.
    pub twice: bool,
    /// The most journeys of a trial, if that was limited.
    pub operations: Option<u64>,
    /// Whether signatures were replaced by hashes that prove nothing.
    pub fast_signatures: bool,
    /// When it began, RFC 3339.
    pub started: String,
    /// The version of Poppyfield.
    pub poppyfield: String,
}

/// A trial that fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureRow {
    /// What was tried: `seed 7`.
    pub of: String,
    /// The anomalies that fail it.
    pub anomalies: Vec<String>,
    /// Why it came to no proper end, or how it differs from itself.
    pub trouble: Option<String>,
    /// The command that runs it again.
    pub replay: String,
}

/// An anomaly over all trials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundRow {
    /// Its name.
    pub anomaly: String,
    /// How grave it is.
    pub level: Level,
    /// Whose it is: `company` or `agent`.
    pub side: String,
    /// The rules it breaks.
    pub rules: Vec<String>,
    /// Whether the scenario expects or allows it.
    pub expected: bool,
    /// In how many trials it was found.
    pub trials: u64,
    /// How often.
    pub count: u64,
    /// The first few trials.
    pub first: Vec<FoundIn>,
}

/// An anomaly in one trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundIn {
    /// What was tried.
    pub of: String,
    /// The first finding, in a sentence.
    pub sentence: String,
}

/// Trials in trouble.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TroubleRow {
    /// How many.
    pub count: u64,
    /// The first few, and why.
    pub first: Vec<FoundIn>,
}

/// Trials at whose end operations were open that may have been confirmed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOpenRow {
    /// How many trials.
    pub trials: u64,
    /// The first of them.
    pub first: String,
}

/// What was exercised.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoverageRow {
    /// The scenario's faults that have a chance, in its order, and those of its network.
    pub faults: Vec<FaultRow>,
    /// The crash points of a Company's code, in their order.
    pub crash_points: Vec<PointRow>,
    /// How often each journey set out.
    pub journeys: BTreeMap<String, u64>,
    /// How often operations were seen to change their state.
    pub changes: Vec<ChangeRow>,
    /// What went on at once about one operation.
    pub overlaps: Vec<OverlapRow>,
    /// Of how many things there is at least one, anomalies that were judged included.
    pub kinds: u64,
    /// When the last new one of them came up.
    pub last_new: Option<LastNewRow>,
    /// What the scenario names and nothing exercised, a clause each.
    pub never: Vec<String>,
}

/// A fault of the scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultRow {
    /// Its ID.
    pub id: String,
    /// Its kind.
    #[serde(rename = "do")]
    pub kind: String,
    /// How often it struck.
    pub struck: u64,
}

/// A crash point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointRow {
    /// Its name.
    pub point: String,
    /// How often a Company's code came to it.
    pub passed: u64,
    /// How often it was stopped there.
    pub crashed: u64,
}

/// A change of state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeRow {
    /// The state before; null where the operation was not seen before.
    pub from: Option<String>,
    /// The state after.
    pub to: String,
    /// How often.
    pub times: u64,
}

/// Two things that went on at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverlapRow {
    /// Both, in alphabetical order.
    pub of: [String; 2],
    /// How often.
    pub times: u64,
}

/// When something new came up for the last time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastNewRow {
    /// In which trial.
    pub of: String,
    /// What.
    pub what: String,
}

/// What an exploration took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CostRow {
    /// Threads.
    pub workers: u64,
    /// Operations.
    pub operations: u64,
    /// Requests.
    pub requests: u64,
    /// Virtual time of all trials.
    pub virtual_ns: u64,
    /// Time on the wall.
    pub wall_ns: u64,
    /// CPU time of all threads, where the system tells.
    pub cpu_seconds: Option<f64>,
}

impl CostRow {
    /// So many of something per CPU second.
    #[must_use]
    pub fn per_cpu_second(&self, number: u64) -> Option<f64> {
        self.cpu_seconds.filter(|seconds| *seconds > 0.0).map(|seconds| number as f64 / seconds)
    }
}

impl Exploration {
    /// Trials that came to their end.
    #[must_use]
    pub fn trials(&self) -> u64 {
        self.seeds + self.crashes
    }
}

#[cfg(test)]
mod tests;
