//! Durations drawn from named distributions.

use std::time::Duration;

use rand_distr::{Distribution as _, LogNormal, Pareto};

use crate::world::Draw;

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
                let mu = median.as_secs_f64().ln();
                let sigma = (p99.as_secs_f64().ln() - mu).max(0.0) / Z_99;
                match LogNormal::new(mu, sigma) {
                    Ok(spread) => seconds(spread.sample(&mut draw.rng())),
                    Err(_) => median,
                }
            }
            Self::Pareto { min, shape, max } => match Pareto::new(min.as_secs_f64(), shape) {
                Ok(spread) => seconds(spread.sample(&mut draw.rng())).min(max),
                Err(_) => min,
            },
        }
    }

    /// The longest that can be drawn, where there is a bound.
    #[must_use]
    pub fn longest(&self) -> Option<Duration> {
        match *self {
            Self::Constant(value) => Some(value),
            Self::Uniform { to, .. } => Some(to),
            Self::LogNormal { .. } => None,
            Self::Pareto { max, .. } => Some(max),
        }
    }
}

/// Seconds as a duration; what no duration can hold (infinite, negative, NaN) is an hour or nothing.
fn seconds(value: f64) -> Duration {
    Duration::try_from_secs_f64(value.clamp(0.0, 3_600.0)).unwrap_or_default()
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
        ];
        for (distribution, p, expected) in cases {
            let seen = percentile(&distribution, p);
            assert!((seen / expected - 1.0).abs() < 0.08, "{distribution:?} p{p}: {seen} instead of {expected}");
        }
    }

    #[test]
    fn a_pareto_tail_is_cut_at_its_bound() {
        let tail = Distribution::Pareto { min: Duration::from_millis(30), shape: 0.5, max: Duration::from_secs(1) };
        let cut = (0..1_000).map(|attempt| tail.sample(Draw::new(1, "tail", "k", attempt))).max();
        assert_eq!(cut, Some(Duration::from_secs(1)));
    }
}
