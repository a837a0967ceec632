//! A distribution of durations: an HDR histogram that is not there until the first value.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The shortest duration that is told from shorter ones, in nanoseconds.
const SHORTEST_NANOSECONDS: u64 = 1_000;

/// The longest duration that is told from longer ones, in nanoseconds: an hour. Longer ones count as this.
const LONGEST_NANOSECONDS: u64 = 3_600_000_000_000;

/// Significant decimal digits that a value keeps.
const DIGITS: u8 = 3;

/// Durations in nanoseconds, to three digits, from 1 µs to 1 h; longer ones count as 1 h.
///
/// The histogram behind it (about 184 KiB) is made with the first value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Times {
    histogram: Option<Box<Histogram<u64>>>,
}

/// The usual percentiles of a distribution, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Percentiles {
    /// How many values.
    pub count: u64,
    /// The median.
    pub p50_ns: u64,
    /// The 90th percentile.
    pub p90_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The 99.9th percentile.
    pub p99_9_ns: u64,
    /// The greatest.
    pub max_ns: u64,
}

impl Times {
    /// Records one duration, in nanoseconds.
    pub fn record(&mut self, nanoseconds: u64) {
        self.histogram.get_or_insert_with(empty).saturating_record(nanoseconds);
    }

    /// Adds all values of another distribution.
    pub fn add(&mut self, other: &Self) {
        let Some(theirs) = &other.histogram else { return };
        match &mut self.histogram {
            None => self.histogram = Some(theirs.clone()),
            // Cannot fail: both have the bounds and digits of `empty`.
            Some(ours) => ours.add(&**theirs).expect("histograms of one shape add up"),
        }
    }

    /// How many values there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.as_ref().map_or(0, |histogram| histogram.len())
    }

    /// The value at a percentile (0 to 100); `None` without values.
    #[must_use]
    pub fn percentile(&self, percentile: f64) -> Option<Duration> {
        let histogram = self.histogram.as_ref()?;
        Some(Duration::from_nanos(at(histogram, percentile.clamp(0.0, 100.0) / 100.0)))
    }

    /// The greatest value; `None` without values.
    #[must_use]
    pub fn max(&self) -> Option<Duration> {
        Some(Duration::from_nanos(at(self.histogram.as_ref()?, 1.0)))
    }

    /// The usual percentiles; `None` without values.
    #[must_use]
    pub fn percentiles(&self) -> Option<Percentiles> {
        let histogram = self.histogram.as_ref()?;
        Some(Percentiles {
            count: histogram.len(),
            p50_ns: at(histogram, 0.5),
            p90_ns: at(histogram, 0.9),
            p99_ns: at(histogram, 0.99),
            p99_9_ns: at(histogram, 0.999),
            max_ns: at(histogram, 1.0),
        })
    }

    /// The histogram behind it, once there is a value.
    #[must_use]
    pub fn histogram(&self) -> Option<&Histogram<u64>> {
        self.histogram.as_deref()
    }
}

/// The value at a quantile. A histogram gives the greatest value that it cannot tell from it; what it cannot tell from
/// nothing, as most times in virtual time are, is nothing.
fn at(histogram: &Histogram<u64>, quantile: f64) -> u64 {
    let value = if quantile >= 1.0 { histogram.max() } else { histogram.value_at_quantile(quantile) };
    if histogram.lowest_equivalent(value) == 0 { 0 } else { value }
}

fn empty() -> Box<Histogram<u64>> {
    // Cannot fail: the bounds are constants with 1 <= low, 2 * low <= high, and at most five digits.
    Box::new(
        Histogram::new_with_bounds(SHORTEST_NANOSECONDS, LONGEST_NANOSECONDS, DIGITS)
            .expect("constant bounds are in order"),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_recorded_means_no_histogram_and_no_figure() {
        let times = Times::default();
        assert!(times.histogram().is_none());
        assert_eq!((times.count(), times.percentile(99.0), times.max(), times.percentiles()), (0, None, None, None));
    }

    #[test]
    fn what_takes_no_virtual_time_is_shown_as_nothing() {
        let mut times = Times::default();
        times.record(0);
        assert_eq!((times.percentile(50.0), times.max()), (Some(Duration::ZERO), Some(Duration::ZERO)));
        times.record(1_500);
        assert!(times.max().is_some_and(|max| max > Duration::from_nanos(1_400)));
        let percentiles = times.percentiles().expect("two values");
        assert_eq!((percentiles.p50_ns, percentiles.max_ns > 1_400), (0, true));
    }

    #[test]
    fn a_value_keeps_three_digits_and_an_hour_is_the_most() {
        let mut times = Times::default();
        times.record(123_456_789);
        let median = times.percentile(50.0).expect("one value").as_nanos();
        assert!(median.abs_diff(123_456_789) * 1000 <= 123_456_789, "{median}");
        times.record(u64::MAX);
        let max = times.max().expect("two values");
        assert!(max >= Duration::from_hours(1) && max < Duration::from_secs(3604), "{max:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn adding_parts_is_recording_the_whole(values in proptest::collection::vec((any::<bool>(), 0..5_000_000_000_000u64), 0..200)) {
            let (mut whole, mut parts) = (Times::default(), [Times::default(), Times::default()]);
            for (part, value) in values {
                whole.record(value);
                parts[usize::from(part)].record(value);
            }
            let [mut sum, other] = parts;
            sum.add(&other);
            prop_assert_eq!(sum, whole);
        }
    }
}
