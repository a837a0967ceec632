//! The schedule of an open load: when each journey is due, in closed form, whatever the run does meanwhile.

use std::time::Duration;

use crate::{
    plan::{Arrivals, RateStage},
    world::Draw,
};

/// The due times of an open load's journeys, counted from the start of load, in order.
#[derive(Debug)]
pub struct DueTimes<'a> {
    stages: &'a [RateStage],
    arrivals: Arrivals,
    seed: u64,
    key: String,
    /// Journeys given out.
    count: u64,
    /// The expected number of arrivals up to the last one given out.
    mass: f64,
    /// The stage that the last one lies in, the time before it and the expected arrivals before it.
    stage: usize,
    before: Duration,
    mass_before: f64,
}

impl<'a> DueTimes<'a> {
    /// The due times of load entry `entry` of a plan with this seed.
    #[must_use]
    pub fn new(stages: &'a [RateStage], arrivals: Arrivals, seed: u64, entry: usize) -> Self {
        let (before, key) = (Duration::ZERO, entry.to_string());
        Self { stages, arrivals, seed, key, count: 0, mass: 0.0, stage: 0, before, mass_before: 0.0 }
    }

    /// The expected number of arrivals between the last one and the next.
    fn gap(&self) -> f64 {
        match self.arrivals {
            // Half a gap before the first, so that each journey stands in the middle of its own share of time.
            Arrivals::Constant if self.count == 0 => 0.5,
            Arrivals::Constant => 1.0,
            Arrivals::Poisson => {
                let unit = Draw::new(self.seed, "arrival", &self.key, self.count).unit();
                -libm::log(1.0 - unit) // the same on every platform
            }
        }
    }
}

impl Iterator for DueTimes<'_> {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.mass += self.gap();
        self.count += 1;
        loop {
            let stage = self.stages.get(self.stage)?;
            let inside = self.mass - self.mass_before;
            if inside < mass_of(stage) {
                return Some(self.before + time_of(stage, inside));
            }
            self.mass_before += mass_of(stage);
            self.before += stage.time;
            self.stage += 1;
        }
    }
}

/// The expected number of arrivals of a whole stage.
fn mass_of(stage: &RateStage) -> f64 {
    (stage.from + stage.to) / 2.0 * stage.time.as_secs_f64()
}

/// How far into a stage its expected number of arrivals is `mass`: the inverse of `from·t + slope·t²/2`.
fn time_of(stage: &RateStage, mass: f64) -> Duration {
    let slope = (stage.to - stage.from) / stage.time.as_secs_f64();
    let root = (stage.from * stage.from + 2.0 * slope * mass).max(0.0).sqrt();
    // This form of the root stays exact where the slope is nothing.
    let seconds = if mass > 0.0 { 2.0 * mass / (stage.from + root) } else { 0.0 };
    Duration::try_from_secs_f64(seconds).unwrap_or(stage.time).min(stage.time)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stage(from: f64, to: f64, seconds: u64) -> RateStage {
        RateStage { from, to, time: Duration::from_secs(seconds) }
    }

    #[test]
    fn a_constant_rate_is_even() {
        let due: Vec<_> = DueTimes::new(&[stage(4.0, 4.0, 1)], Arrivals::Constant, 1, 0).collect();
        assert_eq!(due, [125, 375, 625, 875].map(Duration::from_millis));
    }

    #[test]
    fn a_ramp_from_nothing_brings_a_quarter_of_its_journeys_in_its_first_half() {
        let due: Vec<_> = DueTimes::new(&[stage(0.0, 40.0, 10)], Arrivals::Constant, 1, 0).collect();
        assert_eq!(due.len(), 200);
        assert_eq!(due.iter().filter(|due| **due < Duration::from_secs(5)).count(), 50);
    }

    #[test]
    fn a_stage_without_arrivals_is_passed_over() {
        let stages = [stage(0.0, 0.0, 3), stage(1.0, 1.0, 2)];
        let due: Vec<_> = DueTimes::new(&stages, Arrivals::Constant, 1, 0).collect();
        assert_eq!(due, [3_500, 4_500].map(Duration::from_millis));
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_the_spread() {
        let due: Vec<_> = DueTimes::new(&[stage(100.0, 100.0, 100)], Arrivals::Poisson, 7, 0).collect();
        assert!((9_700..10_300).contains(&due.len()), "{}", due.len());
        // The gaps of a Poisson process are exponential: a share of 1 - 1/e is shorter than the mean.
        let short = due.windows(2).filter(|pair| pair[1] - pair[0] < Duration::from_millis(10)).count();
        let share = short as f64 / due.len() as f64;
        assert!((share - 0.632).abs() < 0.02, "{share}");
    }

    proptest! {
        #[test]
        fn due_times_never_fall_and_stay_within_the_stages(
            rates in prop::collection::vec((0.0..50.0f64, 0.0..50.0f64, 1..5u64), 1..5),
            poisson in any::<bool>(),
        ) {
            let stages: Vec<_> = rates.iter().map(|(from, to, seconds)| stage(*from, *to, *seconds)).collect();
            let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Constant };
            let due: Vec<_> = DueTimes::new(&stages, arrivals, 3, 0).collect();
            prop_assert!(due.windows(2).all(|pair| pair[0] <= pair[1]));
            let end: Duration = stages.iter().map(|stage| stage.time).sum();
            prop_assert!(due.iter().all(|due| *due <= end));
            if !poisson {
                let mass: f64 = stages.iter().map(mass_of).sum();
                prop_assert!((due.len() as f64 - mass).abs() <= 1.0);
            }
        }
    }
}
