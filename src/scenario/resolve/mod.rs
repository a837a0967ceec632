//! From the raw types to the plan: fills in every default and checks what serde cannot.
//!
//! A check that fails reports and goes on with something harmless, so that one pass finds all mistakes.

mod actions;
mod capacity;
mod companies;
mod faults;
mod journeys;
mod judging;
mod lines;
mod listed;
mod load;
mod network;
mod strikes;
mod swarm;
mod target;

use std::path::Path;

pub(super) use companies::companies_alone;
pub(super) use target::resolve as resolve_target;

use super::Overrides;
use super::problem::{Findings, nearest, one_of, shown};
use super::raw::{ScenarioFile, Switch};
use super::value::{At, Catalogue, Word};
use crate::plan::{CompanyPlan, Plan};

/// How long what is open may take to come to its end, unless the scenario says so.
const SETTLE_SECONDS: u64 = 30;

/// Turns a scenario file in `folder` into a plan; mistakes go to `findings`.
pub(super) fn resolve(
    file: &ScenarioFile,
    folder: &Path,
    overrides: &Overrides,
    findings: &mut Findings,
) -> Option<Plan> {
    check_name("scenario", &file.scenario, findings);
    let swarm = swarm::resolve(file.agents.as_ref(), findings);
    let simulated = overrides.target.is_none();
    if let Some(defects) = file.agents.as_ref().and_then(|agents| agents.defects.as_ref()).filter(|_| !simulated) {
        defects.iter().for_each(|defect| refuse_defect(defect, findings));
    }
    let companies = companies::resolve(&file.companies, folder, &swarm, simulated, findings);
    if !findings.is_clean() && companies.is_empty() {
        return None; // whatever refers to a Company would only repeat what is known
    }
    let journeys = journeys::resolve(&file.journeys, &companies, &swarm, findings);
    let cast = listed::Cast { companies: &companies, journeys: &journeys, users: swarm.users };
    let load = load::resolve(&file.load, &cast, findings);
    let span = load.iter().map(crate::plan::Load::duration).max().unwrap_or_default();
    let scene = faults::Scene { companies: &companies, journeys: &journeys, load_duration: span };
    let faults = faults::resolve(file.faults.as_deref().unwrap_or_default(), &scene, findings);
    let network = network::resolve(file.network.as_ref(), &scene, findings);
    let judged = judging::Judged { anomalies: overrides.anomalies, faults: &faults, network: &network };
    let invariants = judged.invariants(file.invariants.as_ref(), findings);
    let expect = judged.expectation(file.expect.as_ref(), &invariants, findings);
    let reach = judged.reach(file.reach.as_deref().unwrap_or_default(), findings);
    let thresholds = judging::thresholds(file.thresholds.as_deref().unwrap_or_default(), findings);
    let plan = Plan {
        name: file.scenario.value.clone(),
        seed: overrides.seed.or(file.seed).unwrap_or(1),
        tls: overrides.tls.unwrap_or(file.tls == Some(Switch::On)),
        companies,
        target: None,
        aimed: None,
        swarm,
        journeys,
        load,
        faults,
        network,
        settle: file.settle.map_or(std::time::Duration::from_secs(SETTLE_SECONDS), |time| time.0),
        invariants,
        expect,
        reach,
        thresholds,
    };
    Some(match &overrides.target {
        Some(target) => target::aim(plan, file, target, findings),
        None => plan,
    })
}

/// Checks a name that files and folders are called by: kebab-case, at most 60 characters.
fn check_name(what: &str, name: &At<String>, findings: &mut Findings) -> bool {
    let text = name.value.as_str();
    let plain = text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    let good = plain && !text.is_empty() && text.len() <= 60 && !text.starts_with('-') && !text.ends_with('-');
    if !good {
        let form = "small letters, digits and dashes between them, 60 at most";
        let article = if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        findings.report(name.place, format!("{} is no name of {article} {what}; expected {form}", shown(text)));
    }
    good
}

/// Reports a defect where there can be none.
fn refuse_defect<T: Catalogue>(defect: &At<Word<T>>, findings: &mut Findings) {
    let name = shown(defect.value.0.name());
    let message = format!("defect {name}: a target that is not simulated has its own defects; expected none");
    findings.report(defect.place, message);
}

/// Reports that `name` is none of `names`.
fn report_unknown(what: &str, name: &At<String>, names: &[&str], findings: &mut Findings) {
    let message = format!("unknown {what} {}; expected {}", shown(&name.value), one_of(names.iter().copied()));
    findings.report_near(name.place, message, nearest(&name.value, names.iter().copied()));
}

/// The names of the groups, in the scenario's order.
fn group_names(companies: &[CompanyPlan]) -> Vec<&str> {
    let mut names: Vec<&str> = companies.iter().map(|company| company.group.as_str()).collect();
    names.dedup();
    names
}
