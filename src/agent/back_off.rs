//! How long an Agent waits before it tries again.

use std::time::Duration;

use crate::{plan::Retry, world::Draw};

/// The shortest wait, whatever the plan says: no Agent spins.
const SHORTEST: Duration = Duration::from_millis(5);

/// The wait before the next try after `failures` (1 and up) in a row; part of it is drawn.
pub(super) fn wait(retry: &Retry, failures: u32, draw: Draw) -> Duration {
    // libm's, which gives the same on every platform.
    let grown = retry.first.as_secs_f64() * libm::pow(retry.factor.max(1.0), f64::from(failures.saturating_sub(1)));
    let longest = retry.longest.max(retry.first);
    let full = if grown < longest.as_secs_f64() { Duration::from_secs_f64(grown.max(0.0)) } else { longest };
    let jitter = retry.jitter.clamp(0.0, 1.0);
    full.mul_f64(1.0 - jitter * draw.unit()).max(SHORTEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRY: Retry = Retry {
        first: Duration::from_millis(200),
        factor: 2.0,
        jitter: 0.5,
        longest: Duration::from_secs(5),
        tries: None,
    };

    #[test]
    fn grows_up_to_the_longest_and_leaves_only_a_part_to_chance() {
        for (failures, full) in [(1, 200), (2, 400), (3, 800), (5, 3_200), (6, 5_000), (u32::MAX, 5_000)] {
            for attempt in 0..50 {
                let wait = wait(&RETRY, failures, Draw::new(1, "back-off", "k", attempt));
                assert!(wait <= Duration::from_millis(full), "{failures}: {wait:?}");
                assert!(wait >= Duration::from_millis(full / 2), "{failures}: {wait:?}");
            }
        }
    }

    #[test]
    fn never_spins() {
        let none = Retry { first: Duration::ZERO, factor: 0.0, jitter: 7.0, longest: Duration::ZERO, tries: None };
        assert_eq!(wait(&none, 3, Draw::new(1, "back-off", "k", 0)), SHORTEST);
    }
}
