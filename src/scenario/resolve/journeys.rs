//! What Users may set out to do.

use std::time::Duration;

use super::{check_name, group_names, report_unknown};
use crate::limits;
use crate::plan::{
    Action, AgentDefect, Approval, AskUser, By, CompanyPlan, Confirm, Distribution, Journey, JourneyStep, SwarmPlan,
};
use crate::scenario::problem::{Findings, Place, shown};
use crate::scenario::raw::{
    AskUserSettings, ByChoice, ConfirmSettings, JourneySettings, JourneyStepChoice, ProposeSettings,
};
use crate::scenario::value::{At, Named};

const WITHDRAW_AFTER: Distribution = Distribution::Uniform { from: Duration::ZERO, to: Duration::from_millis(200) };

/// Fills in and checks `journeys`.
pub(super) fn resolve(
    journeys: &At<Named<JourneySettings>>,
    companies: &[CompanyPlan],
    swarm: &SwarmPlan,
    findings: &mut Findings,
) -> Vec<Journey> {
    let claims_any = swarm.defects.has(AgentDefect::StandingTooWide);
    let list = &journeys.value.0;
    if list.is_empty() {
        findings.report(journeys.place, "`journeys` is empty; expected at least one");
    }
    let weight = |settings: &JourneySettings| settings.weight.as_ref().map_or(1, |weight| weight.value);
    if !list.is_empty() && list.iter().all(|(_, settings)| weight(settings) == 0) {
        findings.report(journeys.place, "every journey has the weight 0; expected at least one with more");
    }
    list.iter()
        .map(|(name, settings)| {
            check_name("journey", name, findings);
            if let Some(weight) = settings.weight.as_ref().filter(|weight| weight.value > limits::WEIGHT_MAX) {
                let message = format!("`weight` is {}; expected at most {}", weight.value, limits::WEIGHT_MAX);
                findings.report(weight.place, message);
            }
            let in_flight = settings.in_flight.as_ref();
            if let Some(limit) = in_flight.filter(|limit| !(1..=limits::USERS_MAX).contains(&limit.value)) {
                let message = format!("`in_flight` is {}; expected 1 to {}", limit.value, limits::USERS_MAX);
                findings.report(limit.place, message);
            }
            let in_flight = in_flight.map(|limit| limit.value);
            let mut walk =
                Walk { companies, claims_any, target: None, proposed: false, asked: false, left: false, findings };
            let steps = walk.steps(&settings.steps);
            Journey { name: name.value.as_str().into(), weight: weight(settings), in_flight, steps }
        })
        .collect()
}

/// A journey on the way through its steps.
struct Walk<'a> {
    companies: &'a [CompanyPlan],
    /// Agents claim standing permissions where none is accepted.
    claims_any: bool,
    /// The action that was proposed, if it is known.
    target: Option<&'a Action>,
    proposed: bool,
    asked: bool,
    left: bool,
    findings: &'a mut Findings,
}

impl Walk<'_> {
    fn steps(&mut self, steps: &At<Vec<At<JourneyStepChoice>>>) -> Vec<JourneyStep> {
        let count = steps.value.len();
        if count == 0 {
            self.findings.report(steps.place, "a journey without steps; expected at least `propose`");
        } else if count > limits::STEPS_MAX {
            self.findings.report(steps.place, format!("{count} steps; expected at most {}", limits::STEPS_MAX));
        }
        steps.value.iter().map(|step| self.step(step)).collect()
    }

    fn step(&mut self, step: &At<JourneyStepChoice>) -> JourneyStep {
        self.check_order(step);
        match &step.value {
            JourneyStepChoice::Propose(settings) => self.propose(settings),
            JourneyStepChoice::AskUser(settings) => JourneyStep::AskUser(self.ask_user(step.place, settings)),
            JourneyStepChoice::Confirm(settings) => JourneyStep::Confirm(self.confirm(step.place, settings)),
            JourneyStepChoice::Track(_) => JourneyStep::Track,
            JourneyStepChoice::Cancel(settings) => {
                JourneyStep::Cancel { after: settings.after.clone().map_or(Distribution::ZERO, |spread| spread.0) }
            }
            JourneyStepChoice::Wait(spread) => JourneyStep::Wait { time: spread.0.clone() },
            JourneyStepChoice::Later(by) => {
                if by.value.0.as_millis() == 0 {
                    self.findings.report(by.place, "`later` moves the clock by nothing; expected at least `1ms`");
                }
                JourneyStep::Later { by: by.value.0 }
            }
            JourneyStepChoice::SignOut => JourneyStep::SignOut,
            JourneyStepChoice::WalkAway => JourneyStep::WalkAway,
        }
    }

    /// What can stand where: first one `propose`, nothing after `walk-away`, and only time passing at an action that is done at once.
    fn check_order(&mut self, step: &At<JourneyStepChoice>) {
        let proposes = matches!(step.value, JourneyStepChoice::Propose(_));
        if std::mem::replace(&mut self.left, matches!(step.value, JourneyStepChoice::WalkAway)) {
            self.findings.report(step.place, "a step after `walk-away`; expected none");
        } else if proposes && self.proposed {
            self.findings.report(step.place, "a second `propose`; expected one a journey, as its first step");
        } else if !proposes
            && !self.proposed
            && !matches!(step.value, JourneyStepChoice::Wait(_) | JourneyStepChoice::Later(_))
        {
            self.findings.report(step.place, "nothing has been proposed before this step; expected `propose` first");
            self.proposed = true; // said once
        } else if !matches!(step.value, JourneyStepChoice::Wait(_) | JourneyStepChoice::Later(_))
            && let Some(action) = self.target.filter(|action| !action.operation)
        {
            let name = shown(&action.name);
            let message = format!("action {name} is done at once (`operation: no`); expected no step");
            self.findings.report(step.place, message);
        }
    }

    fn propose(&mut self, settings: &ProposeSettings) -> JourneyStep {
        self.proposed = true;
        let (at, action) = (&settings.at, &settings.action);
        match self.companies.iter().find(|company| company.group == at.value.as_str()) {
            None => report_unknown("group of Companies", at, &group_names(self.companies), self.findings),
            Some(company) => {
                self.target = company.actions.get(action.value.as_str());
                if self.target.is_none() {
                    let names: Vec<&str> = company.actions.keys().map(smol_str::SmolStr::as_str).collect();
                    let what = format!("action of {}", shown(&at.value));
                    report_unknown(&what, action, &names, self.findings);
                }
            }
        }
        JourneyStep::Propose { at: at.value.as_str().into(), action: action.value.as_str().into() }
    }

    fn ask_user(&mut self, place: Place, settings: &AskUserSettings) -> AskUser {
        self.asked = true;
        let share = |share: &Option<At<crate::scenario::value::Share>>| share.as_ref().map(|share| share.value.0);
        let decline = share(&settings.decline).unwrap_or(0.0);
        let other_terms = share(&settings.other_terms).unwrap_or(0.0);
        let approve = share(&settings.approve).unwrap_or_else(|| (1.0 - decline - other_terms).max(0.0));
        let sum = approve + decline + other_terms;
        if sum > 1.0 + 1e-9 {
            let message =
                format!("`approve`, `decline` and `other_terms` sum to {:.4}%; expected at most 100%", sum * 100.0);
            self.findings.report(place, message.replace(".0000%", "%"));
        }
        AskUser {
            approve,
            decline,
            other_terms,
            withdraw: settings.withdraw.map_or(0.0, |share| share.0),
            withdraw_after: settings.withdraw_after.clone().map_or(WITHDRAW_AFTER, |spread| spread.0),
            after: settings.after.clone().map_or(Distribution::ZERO, |spread| spread.0),
        }
    }

    fn confirm(&mut self, place: Place, settings: &ConfirmSettings) -> Confirm {
        let copies = settings.copies.as_ref().map_or(1, |copies| copies.value);
        if let Some(at) = settings.copies.as_ref().filter(|at| !(1..=limits::CONFIRM_COPIES_MAX).contains(&at.value)) {
            let message = format!("`copies` is {copies}; expected 1 to {}", limits::CONFIRM_COPIES_MAX);
            self.findings.report(at.place, message);
        }
        let by = match settings.by.as_ref().map(|by| (&by.value, by.place)) {
            None | Some((ByChoice::User, _)) => {
                if self.proposed && !self.asked {
                    let message = "nobody approves before this confirm; expected `ask-user` before it, or `by: { standing-permission: … }`";
                    self.findings.report(place, message);
                }
                By::User
            }
            Some((ByChoice::StandingPermission(bounds), place)) => {
                let up_to = bounds.up_to.0.clone();
                self.check_permission(&up_to, place);
                By::StandingPermission { up_to }
            }
        };
        Confirm { copies, by, around_expiry: settings.around_expiry.map(|time| time.0) }
    }

    fn check_permission(&mut self, up_to: &crate::plan::Money, place: Place) {
        let Some(action) = self.target else { return };
        if action.approval == Approval::User && !self.claims_any {
            let message = format!(
                "action {} accepts only the User's own approval; expected `by: user`, or `approval: standing-permission` there",
                shown(&action.name)
            );
            self.findings.report(place, message);
        } else if action.price.currency != up_to.currency {
            let message =
                format!("{} costs {}; expected `up_to` in that currency", shown(&action.name), action.price.currency);
            self.findings.report(place, message);
        }
    }
}
