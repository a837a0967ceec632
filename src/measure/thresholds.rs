//! Judges thresholds against figures.
//!
//! Each figure is of steady load (recovery: of the whole run). Without samples a threshold is missed: a run that never
//! confirmed anything does not have a quick confirm.

use super::{Figures, Times};
use crate::{
    history::record::Outcome,
    plan::{Figure, Metric, Threshold},
};

/// What became of a threshold. Values are in seconds, per second, or a share from 0 to 1, as the metric's unit is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ThresholdResult {
    /// The figure stands as it should to the limit.
    Held {
        /// The figure.
        value: f64,
    },
    /// It does not.
    Missed {
        /// The figure.
        value: f64,
    },
    /// There is no figure, since nothing of the kind was measured. Counts as missed.
    NoSamples,
}

impl ThresholdResult {
    /// Whether the threshold held.
    #[must_use]
    pub fn held(self) -> bool {
        matches!(self, Self::Held { .. })
    }

    /// The figure, where there is one.
    #[must_use]
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Held { value } | Self::Missed { value } => Some(value),
            Self::NoSamples => None,
        }
    }
}

/// Judges one threshold.
#[must_use]
pub fn judge_threshold(threshold: &Threshold, figures: &Figures) -> ThresholdResult {
    let value = match &threshold.metric {
        Metric::Response { step, percentile } => seconds(&figures.response(*step), *percentile),
        Metric::Service { step, percentile } => seconds(&figures.service(*step), *percentile),
        Metric::Recovery { percentile } => seconds(&figures.recovery, *percentile),
        Metric::Throughput => figures.throughput(),
        Metric::Unknown => unknown_share(figures),
    };
    let limit = match threshold.limit {
        Figure::Time(time) => time.as_secs_f64(),
        Figure::Rate(number) | Figure::Share(number) => number,
    };
    match value {
        None => ThresholdResult::NoSamples,
        Some(value) if threshold.comparison.holds(value, limit) => ThresholdResult::Held { value },
        Some(value) => ThresholdResult::Missed { value },
    }
}

fn seconds(times: &Times, percentile: f64) -> Option<f64> {
    Some(times.percentile(percentile)?.as_secs_f64())
}

/// The share of calls in steady load that ended without an answer.
fn unknown_share(figures: &Figures) -> Option<f64> {
    let (mut all, mut unknown) = (0u64, 0u64);
    for step in figures.counts.steps.values() {
        for (outcome, count) in &step.outcomes_steady {
            all += count;
            if matches!(outcome, Outcome::Unknown | Outcome::Unsent) {
                unknown += count;
            }
        }
    }
    (all > 0).then(|| unknown as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        history::record::{Purpose, State},
        measure::{Meter, Sample},
        plan::Comparison,
    };

    const MILLISECOND: u64 = 1_000_000;

    fn threshold(metric: Metric, comparison: Comparison, limit: Figure) -> Threshold {
        Threshold { metric, comparison, limit, text: String::new() }
    }

    fn confirm_response(percentile: f64, milliseconds: u64) -> Threshold {
        let metric = Metric::Response { step: Some(Purpose::Confirm), percentile };
        threshold(metric, Comparison::Less, Figure::Time(Duration::from_millis(milliseconds)))
    }

    /// 98 quick confirms and a slow one, answered; one read whose answer was lost. The response is twice the service.
    fn figures() -> Figures {
        let meter = Meter::new();
        for index in 0..99 {
            let service = if index == 0 { 300 * MILLISECOND } else { 10 * MILLISECOND };
            let (step, outcome) = (Purpose::Confirm, Outcome::View);
            meter.sample(Sample { step, intended: 0, held: 0, sent: service, done: 2 * service, outcome, why: None });
            meter.finished(State::Succeeded, true, MILLISECOND);
        }
        let (step, outcome) = (Purpose::Read, Outcome::Unknown);
        meter.sample(Sample { step, intended: 0, held: 0, sent: 0, done: 9_000 * MILLISECOND, outcome, why: None });
        meter.recovered(4_000 * MILLISECOND);
        meter.figures(10_000 * MILLISECOND)
    }

    #[test]
    fn percentiles_are_held_to_their_limits() {
        let figures = figures();
        assert!(judge_threshold(&confirm_response(50.0, 25), &figures).held());
        assert!(!judge_threshold(&confirm_response(50.0, 15), &figures).held());
        let ThresholdResult::Missed { value } = judge_threshold(&confirm_response(99.9, 250), &figures) else {
            panic!("missed")
        };
        assert!((0.6..0.601).contains(&value), "{value}");
        let service = Metric::Service { step: None, percentile: 50.0 };
        assert!(
            judge_threshold(&threshold(service, Comparison::Less, Figure::Time(Duration::from_millis(15))), &figures)
                .held()
        );
    }

    #[test]
    fn rates_and_shares_are_held_to_their_limits() {
        let figures = figures();
        let judged = |metric, comparison, limit| judge_threshold(&threshold(metric, comparison, limit), &figures);
        assert!(judged(Metric::Throughput, Comparison::AtLeast, Figure::Rate(9.9)).held());
        assert!(!judged(Metric::Throughput, Comparison::More, Figure::Rate(9.9)).held());
        assert!(judged(Metric::Unknown, Comparison::AtMost, Figure::Share(0.01)).held());
        assert!(!judged(Metric::Unknown, Comparison::Less, Figure::Share(0.01)).held());
        let recovery = Metric::Recovery { percentile: 99.9 };
        assert!(judged(recovery, Comparison::Less, Figure::Time(Duration::from_secs(5))).held());
    }

    #[test]
    fn without_samples_a_threshold_is_missed_whichever_way_it_points() {
        for metric in [
            Metric::Response { step: Some(Purpose::Cancel), percentile: 99.0 },
            Metric::Service { step: Some(Purpose::Read), percentile: 99.0 },
        ] {
            for comparison in [Comparison::Less, Comparison::AtMost, Comparison::More, Comparison::AtLeast] {
                let limit = Figure::Time(Duration::from_secs(1));
                let result = judge_threshold(&threshold(metric.clone(), comparison, limit), &figures());
                assert_eq!(result, ThresholdResult::NoSamples);
                assert!(!result.held());
            }
        }
        let nothing = Figures::default();
        for metric in [Metric::Throughput, Metric::Unknown, Metric::Recovery { percentile: 50.0 }] {
            let result = judge_threshold(&threshold(metric, Comparison::AtMost, Figure::Rate(1e9)), &nothing);
            assert_eq!(result, ThresholdResult::NoSamples);
        }
    }
}
