//! How many Agents of a closed load are at work, over time.

use std::time::Duration;

use crate::plan::AgentStage;

/// The number of Agents that are to be at work, `elapsed` after the start of load; none after the last stage.
#[must_use]
pub fn agents_at(stages: &[AgentStage], elapsed: Duration) -> u32 {
    let mut before = Duration::ZERO;
    for stage in stages {
        if elapsed < before + stage.time {
            let part = (elapsed - before).as_secs_f64() / stage.time.as_secs_f64();
            let (from, to) = (f64::from(stage.from), f64::from(stage.to));
            return (from + (to - from) * part).round() as u32;
        }
        before += stage.time;
    }
    0
}

/// The next time from `elapsed` on at which Agent number `agent` (from 0) is to be at work, if there is one.
#[must_use]
pub fn at_work_from(stages: &[AgentStage], agent: u32, elapsed: Duration) -> Option<Duration> {
    let mut before = Duration::ZERO;
    for stage in stages {
        let end = before + stage.time;
        if elapsed < end {
            let begin = elapsed.max(before);
            if agents_at(stages, begin) > agent {
                return Some(begin);
            }
            if stage.to > agent {
                // `agents_at` rounds, so this Agent joins where the line passes agent + 1/2.
                let rise = f64::from(stage.to) - f64::from(stage.from);
                let part = (f64::from(agent) + 0.5 - f64::from(stage.from)) / rise;
                let joins = before + stage.time.mul_f64(part.clamp(0.0, 1.0));
                if joins < end {
                    return Some(joins.max(begin));
                }
            }
        }
        before = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stage(from: u32, to: u32, seconds: u64) -> AgentStage {
        AgentStage { from, to, time: Duration::from_secs(seconds) }
    }

    #[test]
    fn a_ramp_brings_its_agents_one_by_one() {
        let stages = [stage(0, 10, 10), stage(10, 10, 5)];
        assert_eq!(agents_at(&stages, Duration::ZERO), 0);
        assert_eq!(agents_at(&stages, Duration::from_secs(5)), 5);
        assert_eq!(agents_at(&stages, Duration::from_secs(14)), 10);
        assert_eq!(agents_at(&stages, Duration::from_secs(15)), 0);
        assert_eq!(at_work_from(&stages, 0, Duration::ZERO), Some(Duration::from_millis(500)));
        assert_eq!(at_work_from(&stages, 9, Duration::ZERO), Some(Duration::from_millis(9_500)));
        assert_eq!(at_work_from(&stages, 10, Duration::ZERO), None);
    }

    #[test]
    fn an_agent_who_was_sent_home_comes_back_with_the_next_rise() {
        let stages = [stage(4, 0, 4), stage(0, 0, 2), stage(0, 4, 4)];
        assert_eq!(at_work_from(&stages, 3, Duration::from_secs(1)), Some(Duration::from_millis(9_500)));
    }

    proptest! {
        #[test]
        fn an_agent_is_wanted_when_it_is_told_to_come(
            numbers in prop::collection::vec((0..20u32, 0..20u32, 1..5u64), 1..4),
            agent in 0..20u32,
            elapsed in 0..12_000u64,
        ) {
            let stages: Vec<_> = numbers.iter().map(|(from, to, seconds)| stage(*from, *to, *seconds)).collect();
            let elapsed = Duration::from_millis(elapsed);
            if let Some(at) = at_work_from(&stages, agent, elapsed) {
                prop_assert!(at >= elapsed);
                prop_assert!(agents_at(&stages, at + Duration::from_nanos(1_000)) > agent);
            } else {
                prop_assert!(agents_at(&stages, elapsed) <= agent);
            }
        }
    }
}
