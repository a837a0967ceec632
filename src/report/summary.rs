//! Everything that is said about a run: the shape of `summary.json`, and all that the terminal prints.
//!
//! Times are integers in nanoseconds (`_ns`), unless their name says otherwise. Readers should ignore members that they
//! do not know; what exists does not change its meaning within a version.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{history::record::WorldKind, measure::Percentiles};

/// The version of `summary.json` that this build writes.
pub const VERSION: u32 = 1;

/// The most findings of one anomaly that a summary shows in full; each is in `anomalies/` all the same.
pub const SHOWN_FINDINGS_MAX: usize = 3;

/// All that is said about a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The version of this format, [`VERSION`].
    pub version: u32,
    /// How the run ended. Follows from the rest.
    pub verdict: Verdict,
    /// What was run.
    pub run: RunIdentity,
    /// Whether the run was interrupted, so that everything here is of its first part only.
    pub partial: bool,
    /// Why the run could not go on, if it could not, and what to do.
    pub stopped: Option<String>,
    /// What history or ledger lack, if they lack something.
    pub incomplete: Vec<String>,
    /// What to know besides: what a target could not be asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How each anomaly of the catalogue was judged.
    pub anomalies: BTreeMap<String, AnomalyStatus>,
    /// What was found, grouped by anomaly; the gravest first.
    pub findings: Vec<FindingGroup>,
    /// Anomalies that the scenario said must show, and that did not.
    pub expected_but_absent: Vec<String>,
    /// How often operations were performed by their Companies' own count, where they count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub performed: Option<PerformedRow>,
    /// What a history held that was judged without its run: then nothing is known of load, and figures are empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedRow>,
    /// Calls by step, in the order of a journey.
    pub steps: Vec<StepRow>,
    /// How long steady load lasted: what times are of.
    pub steady_ns: u64,
    /// Journeys.
    pub journeys: Journeys,
    /// Operations as their Agents saw them.
    pub operations: Operations,
    /// From a confirm's first failure to a known final state.
    pub recovery: Option<Percentiles>,
    /// Faults that struck.
    pub faults: Faults,
    /// Thresholds, in the scenario's order.
    pub thresholds: Vec<ThresholdRow>,
    /// Minimums, in the scenario's order.
    pub reach: Vec<ReachRow>,
    /// How the generator did.
    pub health: HealthRow,
    /// What a simulated run took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulation: Option<SimulationRow>,
    /// SHA-256 over the lines of history and then ledger, in hex, of a simulated run that went to its end: the same
    /// whenever scenario, seed and version of Poppyfield are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_digest: Option<String>,
    /// Where everything is.
    pub files: Files,
}

/// What a history and its ledger held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedRow {
    /// Records of the history.
    pub records: u64,
    /// Entries of the ledger.
    pub entries: u64,
    /// Operations.
    pub operations: u64,
    /// Requests about operations.
    pub calls: u64,
    /// Of these, ended without an answer.
    pub unknown: u64,
    /// Effects.
    pub effects: u64,
}

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The exit status of the command.
    pub exit_status: u8,
    /// One word: `pass`, `fail`, `missed`, `inconclusive`, `stopped`, `interrupted`.
    pub word: String,
    /// One plain sentence.
    pub sentence: String,
    /// Everything that counts against the run, the gravest first.
    pub reasons: Vec<String>,
}

/// What was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunIdentity {
    /// The scenario's name.
    pub name: String,
    /// The Company that is not simulated and took the place of all others, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The seed.
    pub seed: u64,
    /// Where it took place.
    pub world: WorldKind,
    /// Wall-clock time at its beginning, RFC 3339.
    pub started: String,
    /// From the beginning to the end of settling.
    pub duration_ns: u64,
    /// The command that repeats it.
    pub repeat: String,
    /// The version of Poppyfield.
    pub poppyfield: String,
}

/// How an anomaly was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnomalyStatus {
    /// Nothing was found.
    Held {
        /// How many actions or requests could have shown it.
        over: u64,
    },
    /// It was found.
    Violated {
        /// How often.
        times: u64,
        /// How many actions or requests could have shown it.
        over: u64,
    },
    /// It could not be judged.
    NotJudged {
        /// What is missing.
        why: String,
    },
}

/// How grave an anomaly is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// A MUST was broken: the run fails.
    Must,
    /// A SHOULD was not followed: a warning.
    Should,
}

/// How often operations were performed, as their Companies count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerformedRow {
    /// Operations that a Company was asked about one by one; 0 where it gave totals alone.
    pub asked: u64,
    /// Operations that were performed, each counted once.
    pub operations: u64,
    /// Performances: as many, unless something was performed more than once.
    pub times: u64,
}

/// All findings of one anomaly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingGroup {
    /// The anomaly's name.
    pub anomaly: String,
    /// How grave it is.
    pub level: Level,
    /// Whose it is: `company` or `agent`.
    pub side: String,
    /// The rules it breaks.
    pub rules: Vec<String>,
    /// How many findings there are.
    pub count: u64,
    /// Whether the scenario expects it or allows for it, so that it does not fail the run.
    pub expected: bool,
    /// The first few, at most [`SHOWN_FINDINGS_MAX`].
    pub first: Vec<FindingLine>,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingLine {
    /// The action ID, where it concerns one.
    pub action: Option<String>,
    /// What happened, in one sentence.
    pub sentence: String,
    /// The events that prove it, in order.
    pub evidence: Vec<EvidenceLine>,
    /// Anomalies of the same action that may follow from this one.
    pub also_follows: Vec<String>,
    /// Its file in the run's folder.
    pub file: Option<String>,
}

/// One event that helps to prove a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceLine {
    /// The record's `seq`.
    pub seq: u64,
    /// Nanoseconds since the run began.
    pub at: u64,
    /// What happened, in a few words.
    pub text: String,
}

/// The calls of one step: counts of the whole run, times of steady load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRow {
    /// The step.
    pub step: String,
    /// All calls.
    pub calls: u64,
    /// Calls by outcome (`view`, `done`, `refused`, `unknown`, `unsent`).
    pub outcomes: BTreeMap<String, u64>,
    /// Why calls were refused or had no answer.
    pub reasons: BTreeMap<String, u64>,
    /// From the intended start to the answer.
    pub response: Option<Percentiles>,
    /// From the send to the answer.
    pub service: Option<Percentiles>,
    /// From the intended start to the send.
    pub lag: Option<Percentiles>,
    /// From the intended start until the caller stopped waiting: calls without an answer, in no other time.
    pub unanswered: Option<Percentiles>,
}

/// Journeys of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journeys {
    /// How many started.
    pub started: u64,
    /// How many ended, by how.
    pub ended: BTreeMap<String, u64>,
    /// How many were due while too many were in flight, and were skipped.
    pub dropped: u64,
    /// How many were due while as many of their kind as the scenario lets were in flight, and waited for one to end.
    #[serde(default)]
    pub held: u64,
    /// How long they took.
    pub took: Option<Percentiles>,
}

/// Operations of a run, as their Agents saw them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Operations {
    /// How many were confirmed.
    pub confirmed: u64,
    /// How many were seen final, by state.
    pub finals: BTreeMap<String, u64>,
    /// How many were not final for their Agent when it stopped.
    pub left_open: u64,
    /// How many confirms were answered `terms_changed`.
    pub terms_changed: u64,
    /// How many confirms had no answer, and came to a known final state.
    pub recovered: u64,
    /// Confirmed operations that came to a final state, per second of steady load.
    pub throughput_per_second: Option<f64>,
}

/// Faults that struck.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Faults {
    /// By kind.
    pub by_kind: BTreeMap<String, u64>,
    /// Crashes, by point.
    pub crash_points: BTreeMap<String, u64>,
}

/// A measured value with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measured {
    /// A duration in seconds.
    Seconds(f64),
    /// A rate.
    PerSecond(f64),
    /// A share of 1.
    Share(f64),
}

/// What became of a threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThresholdRow {
    /// The line as the scenario has it.
    pub text: String,
    /// Whether it held.
    pub held: bool,
    /// The figure; null if nothing of the kind was measured, which counts as missed.
    pub value: Option<Measured>,
}

/// What became of a minimum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReachRow {
    /// The line as the scenario has it.
    pub text: String,
    /// How many there were.
    pub count: u64,
    /// Whether that is enough.
    pub enough: bool,
}

/// How the generator did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HealthRow {
    /// The 99th percentile of lag.
    pub lag_p99_ns: Option<u64>,
    /// The greatest lag.
    pub lag_max_ns: Option<u64>,
    /// Journeys due a second, in an open model.
    pub offered_per_second: Option<f64>,
    /// Journeys started a second.
    pub achieved_per_second: Option<f64>,
    /// CPU seconds that the process used during load.
    pub cpu_seconds: Option<f64>,
    /// The share of the machine that this is.
    pub cpu_share: Option<f64>,
    /// The most memory that the process held at once, in bytes.
    #[serde(default)]
    pub memory_bytes_max: Option<u64>,
    /// Why the run is inconclusive, and what to change.
    pub inconclusive: Vec<InconclusiveRow>,
}

/// What a simulated run took of the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SimulationRow {
    /// Requests that were carried to a party, backends included, each copy of one counted.
    pub requests: u64,
    /// The same for each second of CPU time: simulating, recording and judging.
    pub requests_per_cpu_second: Option<f64>,
    /// Whether they were signed with hashes that anybody could make instead of signatures that prove something.
    pub fast_signatures: bool,
}

/// One reason why a run is inconclusive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InconclusiveRow {
    /// What was found.
    pub reason: String,
    /// What to change.
    pub change: String,
}

/// Where everything is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// The run's folder; null if nothing was written.
    pub folder: Option<String>,
    /// The files in it, by name.
    pub names: Vec<String>,
}
