//! What a scenario names, and no run of it exercised.

use super::{Coverage, Declared, Item, declared};
use crate::{
    checker::Anomaly,
    plan::{Invariants, Plan},
};

/// What `plan` names and nothing exercised, a clause each: `F2 (crash at perform.after-effect) never struck`.
#[must_use]
pub fn never(plan: &Plan, coverage: &Coverage) -> Vec<String> {
    let mut never = Vec::new();
    for fault in declared(plan) {
        if coverage.times(&Item::Fault(fault.id.clone())) == 0 {
            never.push(format!("{}{} never struck{}", fault.id, described(&fault), unpassed(&fault, coverage)));
        }
    }
    for journey in &plan.journeys {
        if coverage.times(&Item::Journey(journey.name.clone())) == 0 {
            never.push(format!("the journey {} never set out", journey.name));
        }
    }
    for anomaly in named(plan) {
        if coverage.times(&Item::Rule(anomaly)) == 0 {
            never.push(format!("{} was never judged", anomaly.name()));
        }
    }
    never
}

/// What a fault does, where its ID does not say it.
fn described(fault: &Declared) -> String {
    match fault.point {
        Some(point) => format!(" ({} at {point})", fault.kind),
        None if fault.id.contains(fault.kind) => String::new(),
        None => format!(" ({})", fault.kind),
    }
}

/// That no Company so much as passed the point of a crash.
fn unpassed(fault: &Declared, coverage: &Coverage) -> &'static str {
    match fault.point {
        Some(point) if coverage.times(&Item::Passed(point)) == 0 => ", and no Company came to that point",
        _ => "",
    }
}

/// The anomalies that the scenario asks for by name.
fn named(plan: &Plan) -> Vec<Anomaly> {
    let mut names = plan.expect.must.clone();
    if let Invariants::Only(only) = &plan.invariants {
        names.extend(only.iter().cloned());
    }
    let mut named: Vec<Anomaly> = names.iter().filter_map(|name| Anomaly::named(name)).collect();
    named.sort_unstable();
    named.dedup();
    named
}
