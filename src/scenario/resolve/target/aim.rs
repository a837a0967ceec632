//! Points the plan of a scenario at a target: what cannot be had there is an error or dropped with a note.

use indexmap::IndexMap;
use smol_str::SmolStr;

use super::drops::Drops;
use crate::plan::{
    Action, Aimed, Approval, CompanyPlan, Expectation, Journey, JourneyStep, Load, LoadModel, OnPartial, Plan,
    PriceRange, Proposals, Sessions, SwarmPlan, Target, WithoutExtension,
};
use crate::protocol::SessionMode;
use crate::scenario::problem::{Findings, nearest, one_of, shown};
use crate::scenario::raw::{ByChoice, JourneyStepChoice, ScenarioFile};

/// The plan of `file`, pointed at `target`.
pub(in crate::scenario::resolve) fn aim(
    plan: Plan,
    file: &ScenarioFile,
    target: &Target,
    findings: &mut Findings,
) -> Plan {
    check_journeys(&plan, file, target, findings);
    check_operators(&plan, file, target, findings);
    check_draft(&plan, file, target, findings);
    let mut drops = Drops { target, notes: Vec::new() };
    let faults = drops.faults(&plan.faults);
    let network = drops.network(&plan.network);
    let reach = drops.reach(&plan.reach, &faults, &network);
    let proposals = drops.proposals(&plan);
    let swarm = drops.swarm(&plan.swarm);
    drops.note_journeys(&plan.journeys);
    let notes = drops.notes;
    Plan {
        tls: true,
        companies: company(&plan, target, proposals, &swarm).into_iter().collect(),
        target: Some(target.clone()),
        swarm,
        journeys: plan.journeys.iter().map(|journey| journey_to(journey, target)).collect(),
        load: plan.load.iter().map(load_at).collect(),
        faults,
        network,
        expect: expectation(&plan.expect, target),
        reach,
        aimed: Some(Box::new(Aimed { scenario: plan.clone(), notes })),
        ..plan
    }
}

/// Reports actions that the target does not offer, and permissions that it does not accept.
fn check_journeys(plan: &Plan, file: &ScenarioFile, target: &Target, findings: &mut Findings) {
    for (_, journey) in &file.journeys.value.0 {
        let mut proposed = None;
        for step in &journey.steps.value {
            match &step.value {
                JourneyStepChoice::Propose(settings) => {
                    let action = settings.action.value.as_str();
                    proposed = target.actions.get_key_value(action);
                    let known = plan.companies.iter().any(|company| company.actions.contains_key(action));
                    // One that the scenario does not know either is reported already.
                    if proposed.is_none() && known {
                        let names = || target.actions.keys().map(SmolStr::as_str);
                        let message = format!(
                            "target {} offers no action {}; expected {}, or that action among `actions` of {}",
                            shown(&target.name),
                            shown(action),
                            one_of(names()),
                            target.file
                        );
                        findings.report_near(settings.action.place, message, nearest(action, names()));
                    }
                }
                JourneyStepChoice::Confirm(settings) => {
                    let by = settings.by.as_ref().filter(|by| matches!(by.value, ByChoice::StandingPermission(_)));
                    let (Some(by), Some((name, action))) = (by, proposed) else { continue };
                    if action.user_approval_required {
                        let message = format!(
                            "action {} of target {} accepts only the User's own approval; expected `by: user`, or `approval: standing-permission` in {}",
                            shown(name),
                            shown(&target.name),
                            target.file
                        );
                        findings.report(by.place, message);
                    }
                }
                _ => {} // the other steps ask for nothing that a target may lack
            }
        }
    }
}

/// Reports operators beyond the last port.
fn check_operators(plan: &Plan, file: &ScenarioFile, target: &Target, findings: &mut Findings) {
    let Some(first) = target.operators_port else { return };
    let most = u32::from(u16::MAX - first) + 1;
    let written = file.agents.as_ref().and_then(|agents| agents.operators.as_ref());
    if let Some(operators) = written.filter(|_| plan.swarm.operators > most) {
        let message = format!(
            "{} operators have no ports from {first} (`operators_port` of {}); expected at most {most}",
            plan.swarm.operators, target.file
        );
        findings.report(operators.place, message);
    }
}

/// Reports a draft without a device grant, where Users have to sign in.
fn check_draft(plan: &Plan, file: &ScenarioFile, target: &Target, findings: &mut Findings) {
    let draft = target.session_mode.unwrap_or(plan.swarm.session_mode);
    if target.sign_in.is_none() || draft != SessionMode::Dpop01 || target.session_mode.is_some() {
        return; // what the target file says itself was checked there
    }
    if let Some(mode) = file.agents.as_ref().and_then(|agents| agents.session_mode.as_ref()) {
        let message = format!("Users sign in at {} (`sign_in`), which `dpop-0.1` has none of", shown(&target.name));
        findings.report(mode.place, format!("{message}; expected `dpop-0.2`, or `session_mode` in {}", target.file));
    }
}

/// The Company that stands for the target; its answers, store and backend say nothing.
fn company(plan: &Plan, target: &Target, proposals: Option<Proposals>, swarm: &SwarmPlan) -> Option<CompanyPlan> {
    let template = plan.companies.first()?.clone();
    Some(CompanyPlan {
        name: target.name.clone(),
        group: target.name.clone(),
        profile: target.name.clone(),
        number: 1,
        domain: target.domain.clone(),
        title: target.name.to_string(),
        operations_version: swarm.operations_version.clone(),
        sessions: Sessions { mode: swarm.session_mode, ..template.sessions },
        proposals: proposals?,
        actions: actions(target),
        defects: template.defects,
        capacity: None,
        ..template
    })
}

fn actions(target: &Target) -> IndexMap<SmolStr, Action> {
    let entries = target.actions.iter().map(|(name, action)| {
        let action = Action {
            name: name.clone(),
            operation: true,
            without_extension: WithoutExtension::Refuse,
            approval: if action.user_approval_required { Approval::User } else { Approval::StandingPermission },
            scope: None,
            signed_in: target.sign_in.is_some(),
            price: PriceRange { from_minor: 0, to_minor: 0, currency: SmolStr::new_static("USD") },
            summary: None,
            terms: None,
            done: None,
            steps: Vec::new(),
            can_stop_until: None,
            on_partial: OnPartial::Report,
        };
        (name.clone(), action)
    });
    entries.collect()
}

/// The load; journeys that are listed go to the target, whichever Company they were listed with.
fn load_at(load: &Load) -> Load {
    let mut load = load.clone();
    if let LoadModel::Listed { journeys, .. } = &mut load.model {
        journeys.iter_mut().for_each(|journey| journey.company = None);
    }
    load
}

fn journey_to(journey: &Journey, target: &Target) -> Journey {
    let mut journey = journey.clone();
    journey.steps.retain(|step| !matches!(step, JourneyStep::Later { .. }));
    for step in &mut journey.steps {
        if let JourneyStep::Propose { at, .. } = step {
            *at = target.name.clone();
        }
    }
    journey
}

fn expectation(expect: &Expectation, target: &Target) -> Expectation {
    let mut expect = expect.clone();
    let new: Vec<SmolStr> = target.known.iter().filter(|name| !expect.may.contains(name)).cloned().collect();
    expect.may.extend(new);
    expect
}
