//! What is taken away: journeys, Users, Companies, strikes, defects, steps.

use super::{
    ddmin::ddmin,
    explicit::{firsts, journeys, level, strikes, with_journeys, with_strikes},
    trial::{Stop, Trial},
};
use crate::plan::{Journey, JourneyStep, ListedJourney, Plan};

/// Takes away journeys: first all but those that the anomaly is about, then Users with all of theirs, then single ones.
pub(super) fn fewer_journeys(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let alone = trial.seen.wishes_of(trial.anomaly()).into_iter().map(|wishes| {
        let own = journeys(&trial.best).0.iter().filter(|journey| wishes.contains(&journey.intent));
        own.cloned().collect::<Vec<ListedJourney>>()
    });
    let all = journeys(&trial.best).0.len();
    let alone: Vec<Vec<ListedJourney>> = alone.filter(|own| !own.is_empty() && own.len() < all).collect();
    for own in &alone {
        if trial.attempt(with_journeys(&trial.best, own))? {
            break;
        }
    }
    let (all, _) = journeys(&trial.best);
    let all = all.to_vec();
    let mut users: Vec<u32> = all.iter().map(|journey| journey.user).collect();
    users.sort_unstable();
    users.dedup();
    if users.len() > 1 {
        ddmin(users, |users| {
            let kept: Vec<ListedJourney> =
                all.iter().filter(|journey| users.contains(&journey.user)).cloned().collect();
            if kept.is_empty() { Ok(false) } else { trial.attempt(with_journeys(&trial.best, &kept)) }
        })?;
    }
    let all = journeys(&trial.best).0.to_vec();
    if all.len() > 1 {
        ddmin(all, |kept| if kept.is_empty() { Ok(false) } else { trial.attempt(with_journeys(&trial.best, kept)) })?;
    }
    Ok(())
}

/// Takes away what nobody uses any more: strikes that struck nothing, Companies, journeys, actions, Users.
pub(super) fn without_idle(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let (all, struck) = (strikes(&trial.best), &trial.seen.strikes);
    let fault = |place: usize| trial.best.faults.get(place).map(|fault| &fault.id);
    let kept: Vec<_> = all
        .iter()
        .filter(|(place, strike)| struck.iter().any(|(id, known)| Some(id) == fault(*place) && known == strike))
        .cloned()
        .collect();
    if kept.len() < all.len() {
        trial.attempt(with_strikes(&trial.best, &kept))?;
    }
    let mut candidate = trial.best.clone();
    let used = |journey: &Journey| journeys(&trial.best).0.iter().any(|listed| listed.journey == journey.name);
    candidate.journeys.retain(used);
    let visited =
        |plan: &Plan, name: &str| journeys(plan).0.iter().any(|listed| listed.company.as_deref() == Some(name));
    candidate.companies.retain(|company| visited(&trial.best, &company.name));
    let smaller =
        candidate.companies.len() + candidate.journeys.len() < trial.best.companies.len() + trial.best.journeys.len();
    if smaller && !candidate.companies.is_empty() {
        trial.attempt_if_valid(candidate)?;
    }
    let mut candidate = trial.best.clone();
    let last = journeys(&trial.best).0.iter().map(|listed| listed.user).max().unwrap_or(1);
    if last < candidate.swarm.users {
        candidate.swarm.users = last;
        trial.attempt_if_valid(candidate)?;
    }
    unused_actions(trial)
}

/// Actions that nobody proposes.
fn unused_actions(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let proposed = |name: &str| {
        let steps = trial.best.journeys.iter().flat_map(|journey| &journey.steps);
        steps.into_iter().any(|step| matches!(step, JourneyStep::Propose { action, .. } if action == name))
    };
    let mut candidate = trial.best.clone();
    let mut gone = 0;
    for company in &mut candidate.companies {
        let before = company.actions.len();
        company.actions.retain(|name, _| proposed(name));
        gone += before - company.actions.len();
    }
    if gone > 0 {
        trial.attempt_if_valid(candidate)?;
    }
    Ok(())
}

/// Takes away strikes.
pub(super) fn fewer_strikes(trial: &mut Trial<'_>) -> Result<(), Stop> {
    let base = trial.best.clone();
    ddmin(strikes(&base), |kept| trial.attempt(with_strikes(&base, kept)))?;
    Ok(())
}

/// Switches off defects that do not matter.
pub(super) fn fewer_defects(trial: &mut Trial<'_>) -> Result<(), Stop> {
    for place in firsts(&trial.best) {
        let all: Vec<_> = trial.best.companies[place].defects.iter().collect();
        let base = trial.best.clone();
        ddmin(all, |kept| {
            let mut candidate = base.clone();
            candidate.companies[place].defects = kept.iter().copied().collect();
            trial.attempt(level(candidate))
        })?;
    }
    let base = trial.best.clone();
    ddmin(base.swarm.defects.iter().collect(), |kept| {
        let mut candidate = base.clone();
        candidate.swarm.defects = kept.iter().copied().collect();
        trial.attempt(candidate)
    })?;
    Ok(())
}

/// Takes away steps of journeys, from the last to the second, and copies of confirms.
pub(super) fn fewer_steps(trial: &mut Trial<'_>) -> Result<(), Stop> {
    for journey in 0..trial.best.journeys.len() {
        for step in (1..trial.best.journeys[journey].steps.len()).rev() {
            let mut candidate = trial.best.clone();
            candidate.journeys[journey].steps.remove(step);
            trial.attempt_if_valid(candidate)?;
        }
        for step in 0..trial.best.journeys[journey].steps.len() {
            let JourneyStep::Confirm(confirm) = &trial.best.journeys[journey].steps[step] else { continue };
            for copies in 1..confirm.copies {
                let mut candidate = trial.best.clone();
                if let JourneyStep::Confirm(confirm) = &mut candidate.journeys[journey].steps[step] {
                    confirm.copies = copies;
                }
                if trial.attempt_if_valid(candidate)? {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Takes away steps that actions take at the backend; one is left.
pub(super) fn fewer_backend_steps(trial: &mut Trial<'_>) -> Result<(), Stop> {
    for company in firsts(&trial.best) {
        for action in 0..trial.best.companies[company].actions.len() {
            let count = trial.best.companies[company].actions[action].steps.len();
            for step in (0..count).rev() {
                let mut candidate = trial.best.clone();
                let action = &mut candidate.companies[company].actions[action];
                if action.steps.len() < 2 {
                    continue;
                }
                action.steps.remove(step);
                action.can_stop_until = match action.can_stop_until {
                    Some(until) if until >= step => until.checked_sub(1),
                    until => until,
                };
                trial.attempt_if_valid(level(candidate))?;
            }
        }
    }
    Ok(())
}
