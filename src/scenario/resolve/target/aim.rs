//! Points the plan of a scenario at a target: what cannot be had there is an error or dropped with a note.

use indexmap::IndexMap;
use smol_str::SmolStr;

use crate::history::record::Purpose;
use crate::plan::{
    Action, Aimed, Approval, CompanyPlan, Expectation, Fault, FaultKind, Journey, JourneyStep, OnPartial, Plan,
    PriceRange, Proposals, Reach, ReachCounter, Sessions, SwarmPlan, Target, WithoutExtension,
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
    let reach = drops.reach(&plan.reach, &faults);
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
        faults,
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

/// What is dropped on the way.
struct Drops<'a> {
    target: &'a Target,
    notes: Vec<String>,
}

impl Drops<'_> {
    fn faults(&mut self, faults: &[Fault]) -> Vec<Fault> {
        faults.iter().filter_map(|fault| self.fault(fault)).collect()
    }

    fn fault(&mut self, fault: &Fault) -> Option<Fault> {
        let (id, word, name) = (&fault.id, fault.kind.word(), &self.target.name);
        let reason = match fault.kind {
            FaultKind::Crash { .. } | FaultKind::Restart { .. } => "it stops a Company that is simulated",
            FaultKind::BackendSlow(_) | FaultKind::BackendTimeout { .. } | FaultKind::BackendFail => {
                "it strikes a backend that is simulated"
            }
            _ if fault.on == [Purpose::Keys] => "no Agent sends requests for `keys`",
            FaultKind::Delay(_)
            | FaultKind::DelayAnswer(_)
            | FaultKind::LoseRequest
            | FaultKind::LoseAnswer
            | FaultKind::Reset
            | FaultKind::HangUp
            | FaultKind::Duplicate { .. }
            | FaultKind::Refuse { .. } => {
                let on = fault.on.iter().copied().filter(|purpose| *purpose != Purpose::Keys).collect();
                let at = fault.at.as_ref().map(|_| name.clone());
                return Some(Fault { on, at, ..fault.clone() });
            }
        };
        self.notes.push(format!("fault {id} (`{word}`) is dropped: {reason}"));
        None
    }

    fn reach(&mut self, reach: &[Reach], faults: &[Fault]) -> Vec<Reach> {
        let keeps = |minimum: &Reach| match &minimum.counter {
            ReachCounter::Faults(kind) => faults.iter().any(|fault| fault.kind.word() == kind),
            ReachCounter::Crashes(_) => false,
            ReachCounter::TermsChanged => self.target.hooks.revise.is_some(),
            ReachCounter::Confirms | ReachCounter::Finals | ReachCounter::FinalsOf(_) | ReachCounter::Recoveries => {
                true
            }
        };
        let (kept, dropped): (Vec<&Reach>, Vec<&Reach>) = reach.iter().partition(|minimum| keeps(minimum));
        for minimum in dropped {
            let reason = match minimum.counter {
                ReachCounter::TermsChanged => format!("`{}` has no hook `revise`", self.target.name),
                _ => "no fault that is left does that".to_owned(),
            };
            self.notes.push(format!("the minimum `{}` is dropped: {reason}", minimum.text));
        }
        kept.into_iter().cloned().collect()
    }

    /// How proposals change: as at the first group that Users go to.
    fn proposals(&mut self, plan: &Plan) -> Option<Proposals> {
        let visited: Vec<&CompanyPlan> = groups_visited(plan);
        let first = visited.first().copied().or(plan.companies.first())?;
        let chances = |company: &CompanyPlan| {
            let proposals = &company.proposals;
            (proposals.revise_before_approval, proposals.revise_during_confirm)
        };
        let name = &self.target.name;
        if self.target.hooks.revise.is_none() {
            if visited.iter().any(|company| chances(company) != (0.0, 0.0)) {
                self.notes.push(format!(
                    "`proposals.revise` is dropped: `{name}` has no hook `revise`, so terms change as it likes"
                ));
            }
            let proposals = first.proposals.clone();
            return Some(Proposals { revise_before_approval: 0.0, revise_during_confirm: 0.0, ..proposals });
        }
        if visited.iter().any(|company| chances(company) != chances(first)) {
            self.notes.push(format!("terms change at `{name}` as often as at `{}`, the first group", first.group));
        }
        Some(first.proposals.clone())
    }

    fn swarm(&mut self, swarm: &SwarmPlan) -> SwarmPlan {
        let mut swarm = swarm.clone();
        if let Some(mode) = self.target.session_mode {
            swarm.session_mode = mode;
        }
        if let Some(operator) = &self.target.operator {
            let without = u32::from(!operator.lists_operations);
            if swarm.operators > 1 || swarm.operators_without_extension != without {
                let client_id = &operator.client_id;
                self.notes
                    .push(format!("all Users belong to one operator: `{}` knows `{client_id}`", self.target.name));
            }
            swarm.operators = 1;
            swarm.operators_without_extension = without;
        }
        swarm
    }

    /// What journeys do that the target may not offer.
    fn note_journeys(&mut self, journeys: &[Journey]) {
        let target = &self.target.name;
        for journey in journeys {
            let mut changes = true;
            let mut action_name = SmolStr::default();
            for step in &journey.steps {
                match step {
                    JourneyStep::Propose { action, .. } => {
                        changes = self.target.actions.get(action).is_none_or(|action| action.change.is_some());
                        action_name = action.clone();
                    }
                    JourneyStep::AskUser(ask) if ask.other_terms > 0.0 && !changes => self.notes.push(format!(
                        "nobody gets other terms in journey `{}`: `{action_name}` of `{target}` has no `change`",
                        journey.name
                    )),
                    JourneyStep::Confirm(confirm) if confirm.around_expiry.is_some() => self.notes.push(format!(
                        "journey `{}` confirms around `expires_at`: how long proposals live is up to `{target}`",
                        journey.name
                    )),
                    _ => {}
                }
            }
        }
    }
}

/// A Company of each group that a journey goes to, in the scenario's order.
fn groups_visited(plan: &Plan) -> Vec<&CompanyPlan> {
    let visited = |group: &SmolStr| {
        let journeys = plan.journeys.iter().filter(|journey| journey.weight > 0);
        journeys
            .flat_map(|journey| &journey.steps)
            .any(|step| matches!(step, JourneyStep::Propose { at, .. } if at == group))
    };
    let mut companies: Vec<&CompanyPlan> = plan.companies.iter().filter(|company| visited(&company.group)).collect();
    companies.dedup_by(|next, last| next.group == last.group);
    companies
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

fn journey_to(journey: &Journey, target: &Target) -> Journey {
    let mut journey = journey.clone();
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
