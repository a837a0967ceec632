//! From a plan back to a scenario file with nothing left to defaults: reading it again gives the same plan.

mod companies;
mod judging;
mod parties;
mod target;

pub use target::resolved_target_yaml;

use super::raw::{ScenarioFile, Switch};
use super::value::{At, Named, Time};
use super::yaml;
use crate::plan::Plan;

/// The scenario of a plan as YAML, every default filled in and every profile written out in its place.
///
/// A plan that was pointed at a target gives the scenario as it was before, so that it can be run again with or without
/// the target; only its anomalies that are expected have grown by those that are known of the target.
#[must_use]
pub fn resolved_yaml(plan: &Plan) -> String {
    let head = "# A resolved scenario: defaults filled in, profiles written out. Running it repeats the run.\n";
    // Every key of the raw types is a text, the one thing that the YAML crate insists on.
    let body = match &plan.aimed {
        None => yaml::write(&scenario(plan)),
        Some(aimed) => {
            let (seed, load, expect) = (plan.seed, plan.load.clone(), plan.expect.clone());
            yaml::write(&scenario(&Plan { seed, load, expect, ..aimed.scenario.clone() }))
        }
    };
    let body = body.unwrap_or_else(|error| format!("# not written: {error}\n"));
    format!("{head}{body}")
}

fn scenario(plan: &Plan) -> ScenarioFile {
    ScenarioFile {
        scenario: At::nowhere(plan.name.clone()),
        seed: Some(plan.seed),
        tls: Some(if plan.tls { Switch::On } else { Switch::Off }),
        companies: At::nowhere(companies::groups(&plan.companies)),
        agents: Some(parties::agents(&plan.swarm)),
        journeys: At::nowhere(Named(plan.journeys.iter().map(parties::journey).collect())),
        load: At::nowhere(plan.load.iter().map(|load| At::nowhere(parties::load(load))).collect()),
        faults: Some(plan.faults.iter().map(|fault| At::nowhere(judging::fault(fault))).collect()),
        network: Some(parties::network(&plan.network)),
        settle: Some(Time(plan.settle)),
        invariants: Some(judging::invariants(&plan.invariants)),
        expect: Some(judging::expect(&plan.expect)),
        reach: Some(plan.reach.iter().map(|reach| At::nowhere(reach.text.clone())).collect()),
        thresholds: Some(plan.thresholds.iter().map(|line| At::nowhere(line.text.clone())).collect()),
    }
}

/// A text of the plan that stands in no file.
fn text(text: impl AsRef<str>) -> At<String> {
    At::nowhere(text.as_ref().to_owned())
}
