//! What a run is held to: invariants, expectations, minimums, thresholds.

use std::time::Duration;

use smol_str::SmolStr;

use crate::history::record::Purpose;

/// Which anomalies are judged, by their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invariants {
    /// All of them.
    All,
    /// Only these.
    Only(Vec<SmolStr>),
    /// All but these.
    Except(Vec<SmolStr>),
}

impl Invariants {
    /// Whether the anomaly of that name is judged.
    #[must_use]
    pub fn includes(&self, anomaly: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.iter().any(|name| name == anomaly),
            Self::Except(names) => names.iter().all(|name| name != anomaly),
        }
    }
}

/// Which anomalies have to, or are allowed to, show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expectation {
    /// Each has to show at least once; the run fails if one stays away.
    pub must: Vec<SmolStr>,
    /// These may show without failing the run.
    pub may: Vec<SmolStr>,
}

/// A minimum that a run has to have exercised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    /// What is counted.
    pub counter: ReachCounter,
    /// The least that is enough.
    pub at_least: u64,
    /// The line as the scenario has it.
    pub text: String,
}

/// What a minimum counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReachCounter {
    /// Faults of a kind that struck (`faults.lose-answer`).
    Faults(SmolStr),
    /// Crashes at a point (`crashes.perform.after-effect`).
    Crashes(SmolStr),
    /// Operations confirmed (`confirms`).
    Confirms,
    /// Operations seen final (`finals`).
    Finals,
    /// Operations that came to a final state (`finals.succeeded`).
    FinalsOf(SmolStr),
    /// Confirms answered `terms_changed` (`terms-changed`).
    TermsChanged,
    /// Confirms with an unknown outcome that were recovered (`recoveries`).
    Recoveries,
}

/// A figure that has to hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// What is measured.
    pub metric: Metric,
    /// How it is compared.
    pub comparison: Comparison,
    /// With what.
    pub limit: Figure,
    /// The line as the scenario has it.
    pub text: String,
}

/// What a threshold measures.
#[derive(Debug, Clone, PartialEq)]
pub enum Metric {
    /// A percentile of response times (from the intended start) of a step; `None` is all steps (`response.confirm.p99`).
    Response {
        /// The step.
        step: Option<Purpose>,
        /// 0 to 100.
        percentile: f64,
    },
    /// A percentile of service times (from the send) (`service.confirm.p99`).
    Service {
        /// The step.
        step: Option<Purpose>,
        /// 0 to 100.
        percentile: f64,
    },
    /// A percentile of times to recovery (`recovery.p99.9`).
    Recovery {
        /// 0 to 100.
        percentile: f64,
    },
    /// Confirmed operations that came to a final state, per second of steady load (`throughput`).
    Throughput,
    /// The share of calls that ended `unknown` or `unsent` (`unknown`), 0 to 1.
    Unknown,
}

/// How a figure is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
}

impl Comparison {
    /// Whether `value` stands in this relation to `limit`.
    #[must_use]
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Less => value < limit,
            Self::AtMost => value <= limit,
            Self::More => value > limit,
            Self::AtLeast => value >= limit,
        }
    }
}

/// A limit with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Figure {
    /// A duration.
    Time(Duration),
    /// Per second.
    Rate(f64),
    /// A share, 0 to 1.
    Share(f64),
}

/// The unit that a metric is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Durations.
    Time,
    /// Per second.
    Rate,
    /// A share.
    Share,
}

impl Metric {
    /// The unit that its limit has to have.
    #[must_use]
    pub fn unit(&self) -> Unit {
        match self {
            Self::Response { .. } | Self::Service { .. } | Self::Recovery { .. } => Unit::Time,
            Self::Throughput => Unit::Rate,
            Self::Unknown => Unit::Share,
        }
    }
}
