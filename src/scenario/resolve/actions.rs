//! What a Company can do.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde_json::Value;
use smol_str::SmolStr;

use super::{check_name, report_unknown};
use crate::limits;
use crate::plan::{Action, Approval, OnPartial, PriceRange, Step, WithoutExtension};
use crate::scenario::problem::{Findings, Place, nearest, one_of, shown};
use crate::scenario::raw::{ActionSettings, Approvals, Extension, Partial, StepSettings, YesNo};
use crate::scenario::value::{At, Named};

/// Placeholders in texts of an action.
const PLACEHOLDERS: &[&str] =
    &["order", "item", "item_id", "replacement", "sku", "price", "customer", "city", "revision"];

/// Fills in and checks the actions of a Company that is named at `place`.
pub(super) fn resolve(
    place: Place,
    actions: Option<&Named<ActionSettings>>,
    findings: &mut Findings,
) -> IndexMap<SmolStr, Action> {
    let list = actions.map(|actions| actions.0.as_slice()).unwrap_or_default();
    if list.is_empty() {
        findings.report(place, "this Company has no `actions`; expected at least one");
    }
    list.iter().map(|(name, settings)| (name.value.as_str().into(), action(name, settings, findings))).collect()
}

fn action(name: &At<String>, settings: &ActionSettings, findings: &mut Findings) -> Action {
    check_name("action", name, findings);
    for text in [&settings.summary, &settings.done].into_iter().flatten() {
        check_placeholders(&text.value, text.place, findings);
    }
    if let Some(terms) = &settings.terms {
        terms.value.values().for_each(|value| check_terms(value, terms.place, findings));
    }
    let steps = steps(name, settings.steps.as_ref(), findings);
    let can_stop_until = settings.can_stop_until.as_ref().and_then(|until| {
        let index = steps.iter().position(|step| step.name == until.value.as_str());
        if index.is_none() {
            let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
            report_unknown("step", until, &names, findings);
        }
        index
    });
    Action {
        name: name.value.as_str().into(),
        operation: settings.operation != Some(YesNo::No),
        without_extension: match settings.without_extension {
            Some(Extension::Act) => WithoutExtension::Act,
            Some(Extension::Refuse) | None => WithoutExtension::Refuse,
        },
        approval: match settings.approval {
            Some(Approvals::StandingPermission) => Approval::StandingPermission,
            Some(Approvals::User) | None => Approval::User,
        },
        scope: settings.scope.as_ref().map(|scope| checked_scope(scope, findings)),
        signed_in: signed_in(name, settings, findings),
        price: settings.price.as_ref().map_or_else(free, |price| price.0.clone()),
        summary: settings.summary.as_ref().map(|text| text.value.clone()),
        terms: settings.terms.as_ref().map(|terms| terms.value.clone()),
        done: settings.done.as_ref().map(|text| text.value.clone()),
        steps,
        can_stop_until,
        on_partial: match settings.on_partial {
            Some(Partial::Undo) => OnPartial::Undo,
            Some(Partial::Report) | None => OnPartial::Report,
        },
    }
}

fn free() -> PriceRange {
    PriceRange { from_minor: 0, to_minor: 0, currency: SmolStr::new_static("USD") }
}

/// Whether an action needs a sign-in; one that does needs a scope for the User to allow.
fn signed_in(name: &At<String>, settings: &ActionSettings, findings: &mut Findings) -> bool {
    let Some(signed_in) = settings.signed_in.as_ref().filter(|signed_in| signed_in.value == YesNo::Yes) else {
        return false;
    };
    if settings.scope.is_none() {
        let message = format!(
            "action {} needs a sign-in, and a sign-in asks for scopes; expected a `scope` beside `signed_in: yes`",
            shown(&name.value)
        );
        findings.report(signed_in.place, message);
    }
    true
}

/// A scope as RFC 6749 section 3.3 has it.
pub(super) fn checked_scope(scope: &At<String>, findings: &mut Findings) -> SmolStr {
    let token = |byte: u8| byte == 0x21 || (0x23..=0x5b).contains(&byte) || (0x5d..=0x7e).contains(&byte);
    if scope.value.is_empty() || !scope.value.bytes().all(token) {
        let message = format!("{} is no scope; expected one word like `orders:write`", shown(&scope.value));
        findings.report(scope.place, message);
    }
    scope.value.as_str().into()
}

fn steps(action: &At<String>, steps: Option<&At<Vec<StepSettings>>>, findings: &mut Findings) -> Vec<Step> {
    let Some(steps) = steps.filter(|steps| !steps.value.is_empty()) else {
        let place = steps.map_or(action.place, |steps| steps.place);
        findings.report(place, format!("action {} has no `steps`; expected at least one", shown(&action.value)));
        return Vec::new();
    };
    if steps.value.len() > limits::STEPS_MAX {
        let message = format!("{} steps; expected at most {}", steps.value.len(), limits::STEPS_MAX);
        findings.report(steps.place, message);
    }
    let mut names = BTreeSet::new();
    steps.value.iter().map(|settings| step(settings, &mut names, findings)).collect()
}

fn step(settings: &StepSettings, names: &mut BTreeSet<String>, findings: &mut Findings) -> Step {
    for name in std::iter::once(&settings.name).chain(&settings.undo) {
        check_name("step", name, findings);
        if !names.insert(name.value.clone()) {
            let message =
                format!("{} names two steps or undos of this action; expected a name each", shown(&name.value));
            findings.report(name.place, message);
        }
    }
    if let Some(phrase) = &settings.phrase {
        if phrase.value.trim().is_empty() {
            findings.report(phrase.place, "`phrase` is empty; expected words that `result.summary` holds");
        }
        check_placeholders(&phrase.value, phrase.place, findings);
    }
    Step {
        name: settings.name.value.as_str().into(),
        undo: settings.undo.as_ref().map(|undo| undo.value.as_str().into()),
        latency: settings.latency.clone().map(|spread| spread.0),
        fail: settings.fail.map_or(0.0, |share| share.0),
        phrase: settings.phrase.as_ref().map(|phrase| phrase.value.as_str().into()),
    }
}

fn check_terms(value: &Value, place: Place, findings: &mut Findings) {
    match value {
        Value::String(text) => check_placeholders(text, place, findings),
        Value::Array(items) => items.iter().for_each(|item| check_terms(item, place, findings)),
        Value::Object(members) => members.values().for_each(|member| check_terms(member, place, findings)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Reports each `{word}` that is no placeholder.
fn check_placeholders(text: &str, place: Place, findings: &mut Findings) {
    for part in text.split('{').skip(1) {
        let Some((word, _)) = part.split_once('}') else { continue };
        if !PLACEHOLDERS.contains(&word) {
            let names = one_of(PLACEHOLDERS.iter().copied());
            let message = format!("unknown placeholder {}; expected {names}", shown(&format!("{{{word}}}")));
            findings.report_near(place, message, nearest(word, PLACEHOLDERS.iter().copied()));
        }
    }
}
