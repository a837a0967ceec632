//! What is made simpler: times, chances, and how durations are spread.

use std::time::Duration;

use super::{
    explicit::{firsts, journeys, level, listed},
    trial::{Stop, Trial},
};
use crate::plan::{AskUser, Distribution, FaultKind, JourneyStep, Plan};

/// Times that a reader takes in at a glance, in milliseconds.
const ROUND: [u64; 10] = [1, 10, 100, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000];

/// Begins at once, starts journeys at round times, and ends the load and the settling as soon as the anomaly allows.
pub(super) fn shorter(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let first = journeys(&trial.best).0.iter().map(|journey| journey.at).min().unwrap_or_default();
    if !first.is_zero() {
        trial.attempt_if_valid(earlier(&trial.best, first))?;
    }
    for place in 0..journeys(&trial.best).0.len() {
        let at = journeys(&trial.best).0[place].at;
        for round in std::iter::once(Duration::ZERO).chain(rounded(at)).filter(|round| *round < at) {
            if trial.attempt_if_valid(starting(&trial.best, place, round))? {
                break;
            }
        }
    }
    let last = journeys(&trial.best).0.iter().map(|journey| journey.at).max().unwrap_or_default();
    let (kept, time) = journeys(&trial.best);
    let kept = kept.to_vec();
    // Ten seconds at the least, so that faults are on while the journeys last, in real time too; it ends with them anyway.
    for end in round_times().filter(|end| *end >= last.max(Duration::from_secs(10)) && *end < time) {
        let candidate = Plan { load: vec![listed(kept.clone(), end)], ..trial.best.clone() };
        if trial.attempt_if_valid(candidate)? {
            break;
        }
    }
    let settle = trial.best.settle;
    for shorter in std::iter::once(Duration::ZERO).chain(round_times()).filter(|shorter| *shorter < settle) {
        if trial.attempt_if_valid(Plan { settle: shorter, ..trial.best.clone() })? {
            break;
        }
    }
    Ok(())
}

fn round_times() -> impl Iterator<Item = Duration> {
    ROUND.into_iter().map(Duration::from_millis)
}

/// A time without its smaller parts, the shortest first.
fn rounded(time: Duration) -> impl Iterator<Item = Duration> {
    [1_000u64, 100, 10, 1].into_iter().map(move |step| {
        let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(milliseconds - milliseconds % step)
    })
}

/// The plan with all of its times earlier.
fn earlier(plan: &Plan, by: Duration) -> Plan {
    let mut plan = plan.clone();
    let (all, time) = journeys(&plan);
    let mut moved = all.to_vec();
    moved.iter_mut().for_each(|journey| journey.at = journey.at.saturating_sub(by));
    plan.load = vec![listed(moved, time.saturating_sub(by))];
    for partition in &mut plan.network.partitions {
        partition.during.from = partition.during.from.saturating_sub(by);
        partition.during.to = partition.during.to.saturating_sub(by);
    }
    plan.network.partitions.retain(|partition| !partition.during.to.is_zero());
    for fault in plan.faults.iter_mut().filter(|fault| matches!(fault.kind, FaultKind::Restart { .. })) {
        for time in fault.strikes.iter_mut().flatten().filter_map(|strike| strike.time.as_mut()) {
            *time = time.saturating_sub(by);
        }
    }
    plan
}

/// The plan with one journey at another time.
fn starting(plan: &Plan, place: usize, at: Duration) -> Plan {
    let (all, time) = journeys(plan);
    let mut moved = all.to_vec();
    if let Some(journey) = moved.get_mut(place) {
        journey.at = at;
    }
    Plan { load: vec![listed(moved, time)], ..plan.clone() }
}

/// Replaces how durations are spread by none at all or by a constant, and chances by none or certainty.
pub(super) fn simpler(trial: &mut Trial<'_>) -> Result<(), Stop> {
    for place in 0..chances(&mut trial.best.clone()).len() {
        for certain in [0.0, 1.0] {
            let mut candidate = trial.best.clone();
            let Some(chance) = chances(&mut candidate).into_iter().nth(place) else { break };
            if *chance == certain {
                break;
            }
            *chance = certain;
            if trial.attempt_if_valid(level(candidate))? {
                break;
            }
        }
    }
    for place in 0..spreads(&mut trial.best.clone()).len() {
        let mut looked_at = trial.best.clone();
        let Some(old) = spreads(&mut looked_at).into_iter().nth(place).map(|spread| spread.clone()) else { break };
        for constant in constants(&old) {
            let mut candidate = trial.best.clone();
            if let Some(spread) = spreads(&mut candidate).into_iter().nth(place) {
                *spread = Distribution::Constant(constant);
            }
            if trial.attempt_if_valid(level(candidate))? {
                break;
            }
        }
    }
    for company in firsts(&trial.best) {
        let mut candidate = trial.best.clone();
        // A Company without bounds, if they do not matter.
        if candidate.companies[company].capacity.take().is_some() {
            trial.attempt_if_valid(level(candidate))?;
        }
        for action in 0..trial.best.companies[company].actions.len() {
            let mut candidate = trial.best.clone();
            let own = candidate.companies[company].actions[action].steps.iter_mut();
            // Steps as quick as the backend is.
            let gone = own.filter_map(|step| step.latency.take()).count();
            if gone > 0 {
                trial.attempt_if_valid(level(candidate))?;
            }
        }
    }
    Ok(())
}

/// Constants that may stand for a spread, the simplest first.
fn constants(spread: &Distribution) -> Vec<Duration> {
    let round = |time: Duration| Duration::from_millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1));
    let zero = Duration::ZERO;
    match spread {
        Distribution::Constant(time) if time.is_zero() => vec![],
        Distribution::Constant(_) => vec![zero],
        Distribution::Uniform { from, to } => vec![zero, round((*from + *to) / 2), *to, *from],
        Distribution::LogNormal { median, p99 } => vec![zero, round(*median), round(*p99)],
        Distribution::Pareto { min, max, .. } => vec![zero, round(*min), *max],
        Distribution::Exponential { mean } => vec![zero, round(*mean)],
        Distribution::Percentiles(table) => vec![zero, round(table.at(50.0)), round(table.at(99.0))],
    }
}

/// Every duration of the plan that is drawn.
fn spreads(plan: &mut Plan) -> Vec<&mut Distribution> {
    let firsts = firsts(plan);
    let mut all = vec![&mut plan.network.latency];
    for (_, company) in plan.companies.iter_mut().enumerate().filter(|(place, _)| firsts.contains(place)) {
        all.push(&mut company.answers.latency);
        all.push(&mut company.proposals.revise_after);
        all.push(&mut company.backend.latency);
        for action in company.actions.values_mut() {
            all.extend(action.steps.iter_mut().filter_map(|step| step.latency.as_mut()));
        }
    }
    for step in plan.journeys.iter_mut().flat_map(|journey| &mut journey.steps) {
        match step {
            JourneyStep::AskUser(AskUser { after, withdraw_after, .. }) => all.extend([after, withdraw_after]),
            JourneyStep::Cancel { after } => all.push(after),
            JourneyStep::Wait { time } => all.push(time),
            JourneyStep::Propose { .. }
            | JourneyStep::Confirm(_)
            | JourneyStep::Track
            | JourneyStep::Later { .. }
            | JourneyStep::SignOut
            | JourneyStep::WalkAway => {}
        }
    }
    for fault in &mut plan.faults {
        match &mut fault.kind {
            FaultKind::Delay(time) | FaultKind::DelayAnswer(time) | FaultKind::BackendSlow(time) => all.push(time),
            FaultKind::Duplicate { after } => all.push(after),
            _ => {}
        }
    }
    all
}

/// Every chance of the plan; those that leave room for others come first.
fn chances(plan: &mut Plan) -> Vec<&mut f64> {
    let mut all = Vec::new();
    let firsts = firsts(plan);
    for (_, company) in plan.companies.iter_mut().enumerate().filter(|(place, _)| firsts.contains(place)) {
        all.push(&mut company.proposals.revise_before_approval);
        all.push(&mut company.proposals.revise_during_confirm);
        for action in company.actions.values_mut() {
            all.extend(action.steps.iter_mut().map(|step| &mut step.fail));
        }
    }
    for step in plan.journeys.iter_mut().flat_map(|journey| &mut journey.steps) {
        if let JourneyStep::AskUser(AskUser { approve, decline, other_terms, withdraw, .. }) = step {
            all.extend([decline, other_terms, withdraw, approve]);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_loses_its_smaller_parts_one_by_one() {
        let times: Vec<u64> =
            rounded(Duration::from_micros(12_345_678)).map(|time| time.as_millis().try_into().unwrap()).collect();
        assert_eq!(times, [12_000, 12_300, 12_340, 12_345]);
    }

    #[test]
    fn the_simplest_constant_is_tried_first() {
        let spread = Distribution::Uniform { from: Duration::from_millis(2), to: Duration::from_millis(9) };
        assert_eq!(constants(&spread), [0, 5, 9, 2].map(Duration::from_millis));
        assert!(constants(&Distribution::ZERO).is_empty());
    }
}
