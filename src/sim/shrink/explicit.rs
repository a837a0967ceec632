//! A plan that says one by one what a run of it chose: its journeys and the strikes of its faults.

use std::time::Duration;

use super::trial::Seen;
use crate::plan::{CompanyPlan, Fault, FaultKind, ListedJourney, Load, LoadModel, Plan, Strike};

/// The plan with the journeys and strikes of a run of it in place of load and chances. What the scenario expects, wants
/// reached and holds figures to is left out: it was about the whole run.
pub(super) fn explicit(plan: &Plan, seen: &Seen) -> Plan {
    let mut plan = plan.clone();
    plan.load = vec![listed(seen.journeys.clone(), plan.load_duration())];
    for journey in &mut plan.journeys {
        // Each starts when it did, whoever else is under way.
        journey.in_flight = None;
    }
    plan.faults = plan.faults.iter().filter_map(|fault| struck(fault, seen)).collect();
    plan.expect = Default::default();
    plan.reach.clear();
    plan.thresholds.clear();
    plan
}

fn struck(fault: &Fault, seen: &Seen) -> Option<Fault> {
    let mut strikes: Vec<Strike> = Vec::new();
    for (_, strike) in seen.strikes.iter().filter(|(id, _)| *id == fault.id) {
        // One place can be struck again, after a crash.
        if !strikes.iter().any(|known| known.names(strike.request, &strike.key, strike.attempt)) {
            strikes.push(strike.clone());
        }
    }
    if let FaultKind::Restart { .. } = fault.kind {
        strikes.retain(|strike| strike.time.is_none_or(|time| time <= seen.time));
    }
    (!strikes.is_empty()).then(|| Fault {
        at: None,
        on: Vec::new(),
        step: None,
        during: None,
        chance: 1.0,
        strikes: Some(strikes),
        ..fault.clone()
    })
}

/// A load of those journeys.
pub(super) fn listed(journeys: Vec<ListedJourney>, time: Duration) -> Load {
    let time = time.max(Duration::from_nanos(1));
    Load { model: LoadModel::Listed { journeys, time }, warm_up: Duration::ZERO, operations: None }
}

/// The journeys of an explicit plan, and how long its load lasts.
pub(super) fn journeys(plan: &Plan) -> (&[ListedJourney], Duration) {
    match plan.load.first().map(|load| &load.model) {
        Some(LoadModel::Listed { journeys, time }) => (journeys, *time),
        _ => (&[], Duration::ZERO),
    }
}

/// The plan with other journeys.
pub(super) fn with_journeys(plan: &Plan, kept: &[ListedJourney]) -> Plan {
    let (_, time) = journeys(plan);
    Plan { load: vec![listed(kept.to_vec(), time)], ..plan.clone() }
}

/// The places of the first Company of each group. A file says what the Companies of a group are like once, so that they
/// change together: here first, then the others with [`level`].
pub(super) fn firsts(plan: &Plan) -> Vec<usize> {
    let companies = &plan.companies;
    let new = |place: &usize| *place == 0 || companies[*place - 1].group != companies[*place].group;
    (0..companies.len()).filter(new).collect()
}

/// The plan with every Company like the first of its group, but for what names it.
pub(super) fn level(mut plan: Plan) -> Plan {
    for place in 1..plan.companies.len() {
        let (before, company) = (plan.companies[place - 1].clone(), &mut plan.companies[place]);
        if before.group == company.group {
            let (name, number) = (company.name.clone(), company.number);
            let (domain, title) = (company.domain.clone(), company.title.clone());
            *company = CompanyPlan { name, number, domain, title, ..before };
        }
    }
    plan
}

/// All strikes of an explicit plan, each with the place of its fault.
pub(super) fn strikes(plan: &Plan) -> Vec<(usize, Strike)> {
    let faults = plan.faults.iter().enumerate();
    faults
        .flat_map(|(place, fault)| fault.strikes.iter().flatten().map(move |strike| (place, strike.clone())))
        .collect()
}

/// The plan with other strikes; a fault that is left with none goes.
pub(super) fn with_strikes(plan: &Plan, kept: &[(usize, Strike)]) -> Plan {
    let faults = plan.faults.iter().enumerate().filter_map(|(place, fault)| {
        let own: Vec<Strike> = kept.iter().filter(|(of, _)| *of == place).map(|(_, strike)| strike.clone()).collect();
        (!own.is_empty()).then(|| Fault { strikes: Some(own), ..fault.clone() })
    });
    Plan { faults: faults.collect(), ..plan.clone() }
}
