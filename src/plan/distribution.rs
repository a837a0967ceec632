//! Durations drawn from named distributions.
//!
//! Logarithms and powers are libm's, not the platform's, whose last bits differ: a seed gives the same run on any machine.

use std::{sync::Arc, time::Duration};

use rand_distr::{Distribution as _, StandardNormal};

use crate::{limits, world::Draw};

/// The z-score of the 99th percentile of the standard normal distribution.
const Z_99: f64 = 2.326_347_874_040_841;

/// A duration, or how durations are spread.
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    /// Always the same.
    Constant(Duration),
    /// Evenly between two bounds.
    Uniform {
        /// The least.
        from: Duration,
        /// The most.
        to: Duration,
    },
    /// Log-normal, given by its median and its 99th percentile.
    LogNormal {
        /// The 50th percentile.
        median: Duration,
        /// The 99th percentile.
        p99: Duration,
    },
    /// A Pareto tail: `P(x > t) = (min/t)^shape`, cut at `max`.
    Pareto {
        /// The least.
        min: Duration,
        /// The tail's exponent; smaller is heavier.
        shape: f64,
        /// What is drawn above counts as this.
        max: Duration,
    },
    /// Exponential, as the times between events that know nothing of each other.
    Exponential {
        /// The mean.
        mean: Duration,
    },
    /// Given by percentiles, and even between two of them.
    Percentiles(PercentileTable),
}

/// Percentiles and their durations, both growing from entry to entry; at least one.
#[derive(Debug, Clone, PartialEq)]
pub struct PercentileTable(Arc<[(f64, Duration)]>);

impl PercentileTable {
    /// A table of percentiles (0 to 100) and their durations; `None` if it is empty, a percentile is none or stands twice,
    /// or durations fall while percentiles grow.
    #[must_use]
    pub fn new(mut entries: Vec<(f64, Duration)>) -> Option<Self> {
        entries.sort_by(|one, other| one.0.total_cmp(&other.0));
        let within = entries.iter().all(|entry| (0.0..=100.0).contains(&entry.0));
        let grow = entries.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
        (!entries.is_empty() && within && grow).then(|| Self(entries.into()))
    }

    /// The entries, from the lowest percentile.
    #[must_use]
    pub fn entries(&self) -> &[(f64, Duration)] {
        &self.0
    }

    /// The duration at a percentile: between two entries it grows evenly, outside of them it stays at the nearest.
    #[must_use]
    pub fn at(&self, percentile: f64) -> Duration {
        let above = self.0.partition_point(|entry| entry.0 < percentile);
        match (above.checked_sub(1).and_then(|below| self.0.get(below)), self.0.get(above)) {
            (Some((low, from)), Some((high, to))) => {
                *from + to.saturating_sub(*from).mul_f64(((percentile - low) / (high - low)).clamp(0.0, 1.0))
            }
            (Some((_, nearest)), None) | (None, Some((_, nearest))) => *nearest,
            (None, None) => Duration::ZERO,
        }
    }
}

impl Distribution {
    /// Nothing at all.
    pub const ZERO: Self = Self::Constant(Duration::ZERO);

    /// The duration that `draw` stands for.
    #[must_use]
    pub fn sample(&self, draw: Draw) -> Duration {
        match *self {
            Self::Constant(value) => value,
            Self::Uniform { from, to } => from + to.saturating_sub(from).mul_f64(draw.unit()),
            Self::LogNormal { median, p99 } => {
                let sigma = libm::log(p99.as_secs_f64() / median.as_secs_f64()).max(0.0) / Z_99;
                let normal: f64 = StandardNormal.sample(&mut draw.rng());
                seconds(median.as_secs_f64() * libm::exp(sigma * normal))
            }
            // `unit` is below 1: what is taken to a power, or the logarithm of, is above 0.
            Self::Pareto { min, shape, max } => {
                seconds(min.as_secs_f64() * libm::pow(1.0 - draw.unit(), -1.0 / shape)).min(max)
            }
            Self::Exponential { mean } => seconds(mean.as_secs_f64() * -libm::log(1.0 - draw.unit())),
            Self::Percentiles(ref table) => table.at(draw.unit() * 100.0),
        }
    }

    /// The longest that can be drawn, where there is a bound.
    #[must_use]
    pub fn longest(&self) -> Option<Duration> {
        match *self {
            Self::Constant(value) => Some(value),
            Self::Uniform { to, .. } => Some(to),
            Self::LogNormal { .. } | Self::Exponential { .. } => None,
            Self::Pareto { max, .. } => Some(max),
            Self::Percentiles(ref table) => table.entries().last().map(|entry| entry.1),
        }
    }
}

/// Seconds as a duration: at the most the longest that a file may say, and nothing for what is no number of seconds.
fn seconds(value: f64) -> Duration {
    // Exact: the bound has far fewer than 53 bits.
    let longest = limits::DURATION_SECONDS_MAX as f64;
    Duration::try_from_secs_f64(value.clamp(0.0, longest)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The `p`-th percentile of 20,000 draws.
    fn percentile(distribution: &Distribution, p: f64) -> f64 {
        let mut values: Vec<f64> = (0..20_000)
            .map(|attempt| distribution.sample(Draw::new(7, "test", "key", attempt)).as_secs_f64())
            .collect();
        values.sort_by(f64::total_cmp);
        values[(p * 20_000.0) as usize]
    }

    #[test]
    fn draws_follow_the_analytic_percentiles() {
        let ms = Duration::from_millis;
        let cases = [
            (Distribution::Constant(ms(20)), 0.5, 0.020),
            (Distribution::Uniform { from: ms(10), to: ms(30) }, 0.25, 0.015),
            (Distribution::LogNormal { median: ms(4), p99: ms(40) }, 0.5, 0.004),
            (Distribution::LogNormal { median: ms(4), p99: ms(40) }, 0.99, 0.040),
            (Distribution::Pareto { min: ms(30), shape: 1.8, max: ms(5_000) }, 0.9, 0.030 * 10f64.powf(1.0 / 1.8)),
            (Distribution::Exponential { mean: ms(20) }, 0.5, 0.020 * 2f64.ln()),
            (Distribution::Exponential { mean: ms(20) }, 0.99, 0.020 * 100f64.ln()),
            (Distribution::Exponential { mean: ms(36_000_000) }, 0.5, 36_000.0 * 2f64.ln()),
            (Distribution::LogNormal { median: ms(7_200_000), p99: ms(72_000_000) }, 0.5, 7_200.0),
            (table(&[(50.0, 4), (99.0, 40)]), 0.25, 0.004),
            (table(&[(50.0, 4), (99.0, 40)]), 0.745, 0.022),
            (table(&[(50.0, 4), (99.0, 40)]), 0.995, 0.040),
        ];
        for (distribution, p, expected) in cases {
            let seen = percentile(&distribution, p);
            assert!((seen / expected - 1.0).abs() < 0.08, "{distribution:?} p{p}: {seen} instead of {expected}");
        }
    }

    fn table(entries: &[(f64, u64)]) -> Distribution {
        let entries = entries.iter().map(|(percentile, value)| (*percentile, Duration::from_millis(*value)));
        Distribution::Percentiles(PercentileTable::new(entries.collect()).expect("a good table"))
    }

    #[test]
    fn a_table_of_percentiles_is_sorted_and_grows() {
        let ms = Duration::from_millis;
        let Distribution::Percentiles(sorted) = table(&[(99.9, 80), (0.0, 1), (50.0, 4)]) else { panic!("a table") };
        assert_eq!(sorted.entries(), [(0.0, ms(1)), (50.0, ms(4)), (99.9, ms(80))]);
        assert_eq!(
            [0.0, 25.0, 50.0, 100.0].map(|percentile| sorted.at(percentile)),
            [ms(1), Duration::from_micros(2_500), ms(4), ms(80)]
        );
        assert_eq!(Distribution::Percentiles(sorted).longest(), Some(ms(80)));
        for bad in [
            vec![],
            vec![(101.0, ms(1))],
            vec![(f64::NAN, ms(1))],
            vec![(1.0, ms(2)), (2.0, ms(1))],
            vec![(1.0, ms(1)), (1.0, ms(1))],
        ] {
            assert_eq!(PercentileTable::new(bad), None);
        }
    }

    #[test]
    fn a_pareto_tail_is_cut_at_its_bound() {
        let tail = Distribution::Pareto { min: Duration::from_millis(30), shape: 0.5, max: Duration::from_secs(1) };
        let cut = (0..1_000).map(|attempt| tail.sample(Draw::new(1, "tail", "k", attempt))).max();
        assert_eq!(cut, Some(Duration::from_secs(1)));
    }
}
