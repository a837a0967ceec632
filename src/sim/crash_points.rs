//! Every crash point with every kind of operation that can pass it, once each: what a random search would take long to
//! meet. A variant of a plan is the plan with one more fault, a crash at the first passing of its kind.

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use smol_str::{SmolStr, format_smolstr};

use super::{Setting, SimulationError, simulate};
use crate::{
    plan::{
        AskUser, CompanyPlan, CrashPoint, Fault, FaultKind, JourneyStep, Manner, Once, Passings, Plan, WithoutExtension,
    },
    scenario,
};

/// How long a Company is down that stopped.
pub const DOWN_FOR: Duration = Duration::from_millis(500);

/// A point at which a Company can stop, and the kind of operation that it is at work on then. Written
/// `perform.after-effect@exchange/revised`; without a manner it means the first to pass in any.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// The point.
    pub point: CrashPoint,
    /// The action's name.
    pub action: SmolStr,
    /// In which manner the operation passes; `None` is any.
    pub how: Option<Manner>,
}

/// Why a text names no [`Spot`], or one that a plan has not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSpot {
    /// It has another form.
    #[error("expected POINT@ACTION or POINT@ACTION/HOW, like perform.after-effect@exchange/plain")]
    Form,
    /// Its word for the point, the action or the manner is unknown.
    #[error("unknown {what} `{word}`; expected one of {known}{near}")]
    Unknown {
        /// What it should name.
        what: &'static str,
        /// What stands there.
        word: String,
        /// What may.
        known: String,
        /// Which of these may be meant, as the end of the message; empty if none is near.
        near: String,
    },
}

/// That `word` is none of `known`.
fn unknown(what: &'static str, word: &str, known: &[&str]) -> NoSpot {
    let near = scenario::did_you_mean(word, known.iter().copied());
    NoSpot::Unknown { what, word: word.to_owned(), known: known.join(", "), near }
}

impl fmt::Display for Spot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}@{}", self.point, self.action)?;
        self.how.map_or(Ok(()), |how| write!(formatter, "/{how}"))
    }
}

impl FromStr for Spot {
    type Err = NoSpot;

    fn from_str(text: &str) -> Result<Self, NoSpot> {
        let (point, rest) = text.split_once('@').ok_or(NoSpot::Form)?;
        let (action, how) = rest.split_once('/').map_or((rest, None), |(action, how)| (action, Some(how)));
        if action.is_empty() {
            return Err(NoSpot::Form);
        }
        let points: Vec<&str> = CrashPoint::ALL.iter().map(|point| point.word()).collect();
        let manners: Vec<&str> = Manner::ALL.iter().map(|how| how.word()).collect();
        Ok(Self {
            point: CrashPoint::from_word(point).ok_or_else(|| unknown("crash point", point, &points))?,
            action: action.into(),
            how: match how {
                None => None,
                Some(how) => Some(Manner::from_word(how).ok_or_else(|| unknown("manner", how, &manners))?),
            },
        })
    }
}

/// A plan with a crash at one spot.
#[derive(Debug, Clone)]
pub struct Variant {
    /// Where the Company stops.
    pub spot: Spot,
    /// The ID of the crash in the history.
    pub fault: SmolStr,
    /// The plan, with the crash as its last fault.
    pub plan: Arc<Plan>,
}

/// Every crash point with every kind of operation that the plan may bring there: each action that a journey proposes, in
/// each manner that the plan has. Not each of them need come about; [`that_strike`] has those that do.
#[must_use]
pub fn enumerate(plan: &Plan) -> Vec<Variant> {
    let kinds = kinds(plan);
    let spots = kinds.iter().flat_map(|(action, how)| {
        let points = CrashPoint::ALL.iter().filter(|point| can_pass(**point, *how));
        points.map(|point| Spot { point: *point, action: action.clone(), how: Some(*how) })
    });
    spots.map(|spot| variant(plan, spot)).collect()
}

/// The plan with a crash at one spot, the first time that an operation of the kind passes.
///
/// # Errors
///
/// If no Company of the plan has the action.
pub fn at(plan: &Plan, spot: Spot) -> Result<Variant, NoSpot> {
    let mut known: Vec<&str> =
        plan.companies.iter().flat_map(|company| company.actions.keys()).map(SmolStr::as_str).collect();
    known.sort_unstable();
    known.dedup();
    if !known.contains(&spot.action.as_str()) {
        return Err(unknown("action", &spot.action, &known));
    }
    Ok(variant(plan, spot))
}

fn variant(plan: &Plan, spot: Spot) -> Variant {
    let is_taken = |id: &SmolStr| plan.faults.iter().any(|fault| fault.id == *id);
    let mut number = plan.faults.len() + 1;
    let mut id = format_smolstr!("F{number}");
    while is_taken(&id) {
        number += 1;
        id = format_smolstr!("F{number}");
    }
    let only = Passings { action: Some(spot.action.clone()), how: spot.how, once: Some(Once::Run) };
    let mut plan = plan.clone();
    plan.faults.push(Fault {
        id: id.clone(),
        kind: FaultKind::Crash { point: spot.point, down_for: DOWN_FOR, only },
        at: None,
        on: Vec::new(),
        step: None,
        during: None,
        chance: 1.0,
        strikes: None,
    });
    Variant { spot, fault: id, plan: Arc::new(plan) }
}

/// The variants of a plan whose crash strikes, as the plan itself shows: the others are the plan. None if `setting` ends the
/// run early.
///
/// # Errors
///
/// As [`simulate`].
pub fn that_strike(plan: &Arc<Plan>, setting: &Setting) -> Result<Vec<Variant>, SimulationError> {
    if simulate(plan, setting)?.ran.interrupted {
        return Ok(Vec::new());
    }
    let passed = setting.field.get().map(|field| field.faults().passed()).unwrap_or_default();
    let passes = |spot: &Spot| {
        passed.iter().any(|(point, action, how)| {
            *point == spot.point && *action == spot.action && spot.how.is_none_or(|only| only == *how)
        })
    };
    Ok(enumerate(plan).into_iter().filter(|variant| passes(&variant.spot)).collect())
}

/// The kinds of operations that the journeys of a plan set out to have, each once.
fn kinds(plan: &Plan) -> Vec<(SmolStr, Manner)> {
    let mut kinds = Vec::new();
    for journey in plan.journeys.iter().filter(|journey| journey.weight > 0) {
        let asks = |wants: &dyn Fn(&AskUser) -> bool| {
            journey.steps.iter().any(|step| matches!(step, JourneyStep::AskUser(ask) if wants(ask)))
        };
        let cancels = asks(&|ask| ask.withdraw > 0.0)
            || journey.steps.iter().any(|step| matches!(step, JourneyStep::Cancel { .. }));
        let other_terms = asks(&|ask| ask.other_terms > 0.0);
        for step in &journey.steps {
            let JourneyStep::Propose { at, action } = step else { continue };
            for company in plan.companies.iter().filter(|company| company.group == *at) {
                for how in manners(plan, company, action, other_terms, cancels) {
                    if !kinds.iter().any(|(known, kind)| known == action && *kind == how) {
                        kinds.push((action.clone(), how));
                    }
                }
            }
        }
    }
    kinds
}

/// The manners in which operations of an action can pass points at a Company.
fn manners(plan: &Plan, company: &CompanyPlan, action: &str, other_terms: bool, cancels: bool) -> Vec<Manner> {
    let Some(action) = company.actions.get(action) else { return Vec::new() };
    let proposals = &company.proposals;
    let revises = other_terms || proposals.revise_before_approval > 0.0 || proposals.revise_during_confirm > 0.0;
    let direct = !action.operation
        || (action.without_extension == WithoutExtension::Act && plan.swarm.operators_without_extension > 0);
    let possible = [
        (Manner::Plain, action.operation),
        (Manner::Revised, action.operation && revises),
        (Manner::Repeated, action.operation),
        (Manner::Cancelled, action.operation && cancels),
        (Manner::Direct, direct),
    ];
    possible.into_iter().filter(|(_, is)| *is).map(|(how, _)| how).collect()
}

/// Whether an operation can pass a point in a manner, at a Company without defects.
fn can_pass(point: CrashPoint, how: Manner) -> bool {
    let performing = matches!(
        point,
        CrashPoint::PerformBeforeCall
            | CrashPoint::PerformAfterSend
            | CrashPoint::PerformAfterEffect
            | CrashPoint::PerformBeforeRecord
            | CrashPoint::PerformRecorded
    );
    match how {
        Manner::Plain | Manner::Revised => true,
        // It does not act again.
        Manner::Repeated => matches!(point, CrashPoint::AcceptReceived | CrashPoint::ReplyBefore),
        // A cancel stops what a confirm set off.
        Manner::Cancelled => performing || matches!(point, CrashPoint::AcceptReceived | CrashPoint::ReplyBefore),
        Manner::Direct => performing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spot_is_read_as_it_is_written() {
        for text in ["perform.after-effect@exchange", "accept.received@gift-wrap/repeated", "reply.before@a/direct"] {
            assert_eq!(text.parse::<Spot>().map(|spot| spot.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn what_is_no_spot_is_told_what_would_be() {
        let said = |text: &str| text.parse::<Spot>().map_or_else(|why| why.to_string(), |spot| spot.to_string());
        for text in ["perform.after-effect", "perform.after-effect@", "perform.after-effect@/plain"] {
            assert!(said(text).starts_with("expected POINT@ACTION"), "{text}");
        }
        assert!(said("perform.after-efect@exchange").ends_with("did you mean `perform.after-effect`?"));
        let manner = said("reply.before@exchange/replain");
        let known = "unknown manner `replain`; expected one of plain, revised, repeated, cancelled, direct";
        assert!(manner.starts_with(known), "{manner}");
    }
}
