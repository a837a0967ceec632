//! Takes the measured half of a summary from a run's figures.

use std::{collections::BTreeMap, time::Duration};

use smol_str::SmolStr;

use super::judged::Judged;
use super::summary::{
    Faults, Files, HealthRow, InconclusiveRow, Journeys, Measured, Operations, ReachRow, RunIdentity, StepRow, Summary,
    ThresholdRow, VERSION, Verdict,
};
use crate::{
    history::record::{Outcome, Purpose},
    measure::{
        Figures, Health, StepCounts, StepFigures, Times, counter, judge_threshold, reached, state_word, step_word,
    },
    plan::{Reach, Threshold, Unit},
};

/// The steps in the order in which a journey takes them.
const STEPS: [Purpose; 12] = [
    Purpose::Discover,
    Purpose::Keys,
    Purpose::Token,
    Purpose::SignIn,
    Purpose::Prepare,
    Purpose::Propose,
    Purpose::Change,
    Purpose::Confirm,
    Purpose::Read,
    Purpose::Cancel,
    Purpose::Revoke,
    Purpose::Backend,
];

/// What a run is held to besides its invariants.
#[derive(Debug, Clone, Copy, Default)]
pub struct HeldTo<'plan> {
    /// What the figures have to hold.
    pub thresholds: &'plan [Threshold],
    /// What it has to have exercised.
    pub reach: &'plan [Reach],
}

impl Summary {
    /// The summary of a run that went to its end; `partial`, `stopped` and `files` are set by whoever knows better,
    /// and [`Summary::concluded`] then draws the verdict.
    #[must_use]
    pub fn of(run: RunIdentity, judged: Judged, figures: &Figures, held_to: HeldTo<'_>, health: &Health) -> Self {
        let counts = &figures.counts;
        Self {
            version: VERSION,
            verdict: Verdict::default(),
            run,
            partial: false,
            stopped: None,
            incomplete: judged.incomplete,
            notes: Vec::new(),
            anomalies: judged.anomalies,
            findings: judged.findings,
            expected_but_absent: judged.expected_but_absent,
            performed: judged.performed,
            recorded: None,
            steps: steps(figures),
            steady_ns: nanoseconds(figures.steady_for),
            journeys: Journeys {
                started: counts.arrivals,
                ended: words(&counts.journeys),
                dropped: counts.dropped,
                held: counts.held,
                took: figures.journeys.percentiles(),
            },
            operations: operations(figures),
            recovery: figures.recovery.percentiles(),
            faults: Faults { by_kind: words(&counts.faults), crash_points: words(&counts.crash_points) },
            thresholds: held_to.thresholds.iter().map(|threshold| threshold_row(threshold, figures)).collect(),
            reach: held_to.reach.iter().map(|reach| reach_row(reach, figures)).collect(),
            health: health_row(health),
            simulation: None,
            history_digest: None,
            files: Files::default(),
        }
    }
}

fn steps(figures: &Figures) -> Vec<StepRow> {
    let of_step = |step: &Purpose| {
        let counts = figures.counts.steps.get(step)?;
        Some(step_row(*step, counts, figures.steps.get(step)))
    };
    STEPS.iter().filter_map(of_step).collect()
}

fn step_row(step: Purpose, counts: &StepCounts, times: Option<&StepFigures>) -> StepRow {
    let percentiles = |part: fn(&StepFigures) -> &Times| times.and_then(|times| part(times).percentiles());
    StepRow {
        step: step_word(step).to_owned(),
        calls: counts.calls(),
        outcomes: counts.outcomes.iter().map(|(outcome, count)| (outcome_word(*outcome).to_owned(), *count)).collect(),
        reasons: words(&counts.reasons),
        response: percentiles(|times| &times.response),
        service: percentiles(|times| &times.service),
        lag: percentiles(|times| &times.lag),
        unanswered: percentiles(|times| &times.unanswered),
    }
}

fn operations(figures: &Figures) -> Operations {
    let counts = &figures.counts;
    Operations {
        confirmed: counts.counter(counter::CONFIRMS),
        finals: counts.finals.iter().map(|(state, count)| (state_word(*state).to_owned(), *count)).collect(),
        left_open: counts.counter(counter::LEFT_OPEN),
        terms_changed: counts.counter(counter::TERMS_CHANGED),
        recovered: counts.recoveries,
        throughput_per_second: figures.throughput(),
    }
}

fn threshold_row(threshold: &Threshold, figures: &Figures) -> ThresholdRow {
    let result = judge_threshold(threshold, figures);
    let value = result.value().map(|value| match threshold.metric.unit() {
        Unit::Time => Measured::Seconds(value),
        Unit::Rate => Measured::PerSecond(value),
        Unit::Share => Measured::Share(value),
    });
    ThresholdRow { text: threshold.text.clone(), held: result.held(), value }
}

fn reach_row(reach: &Reach, figures: &Figures) -> ReachRow {
    let reached = reached(reach, &figures.counts);
    ReachRow { text: reach.text.clone(), count: reached.count, enough: reached.enough }
}

fn health_row(health: &Health) -> HealthRow {
    let reason = |inconclusive: &crate::measure::Inconclusive| InconclusiveRow {
        reason: inconclusive.reason.clone(),
        change: inconclusive.change.clone(),
    };
    HealthRow {
        lag_p99_ns: health.lag_p99.map(nanoseconds),
        lag_max_ns: health.lag_max.map(nanoseconds),
        offered_per_second: health.offered_per_second,
        achieved_per_second: health.achieved_per_second,
        cpu_seconds: health.cpu_seconds,
        cpu_share: health.cpu_share,
        memory_bytes_max: health.memory_bytes_max,
        inconclusive: health.inconclusive.iter().map(reason).collect(),
    }
}

fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::View => "view",
        Outcome::Done => "done",
        Outcome::Refused => "refused",
        Outcome::Unknown => "unknown",
        Outcome::Unsent => "unsent",
    }
}

fn words(counts: &BTreeMap<SmolStr, u64>) -> BTreeMap<String, u64> {
    counts.iter().map(|(word, count)| (word.to_string(), *count)).collect()
}

/// Durations of runs fit into 64 bits of nanoseconds for 584 years.
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
