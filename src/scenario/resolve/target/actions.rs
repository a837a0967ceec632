//! How the actions of a target are proposed.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use smol_str::SmolStr;

use super::requests::{Destination, RUN_PLACEHOLDER, Scope, check_pointer, check_url, shape};
use super::{ACCOUNT_PLACEHOLDER, hooks};
use crate::limits;
use crate::plan::{Preparation, TargetAction};
use crate::scenario::problem::{Findings, shown};
use crate::scenario::raw::{Approvals, PreparationSettings, RequestSettings, TargetActionSettings};
use crate::scenario::resolve::check_name;
use crate::scenario::value::{At, Named};

/// Placeholders of an action's requests, and those of them that an earlier answer may fill instead.
const PLACEHOLDERS: &[&str] = &["order_id", "item_id", "sku", "user", "intent"];
const TAKEABLE: &[&str] = &["order_id", "item_id", "sku"];

/// Fills in and checks `actions` of a target at which Users may have to sign in.
pub(super) fn resolve(
    actions: &At<Named<TargetActionSettings>>,
    signs_in: bool,
    findings: &mut Findings,
) -> IndexMap<SmolStr, TargetAction> {
    if actions.value.0.is_empty() {
        findings.report(actions.place, "`actions` is empty; expected at least one");
    }
    let entries = actions.value.0.iter().map(|(name, settings)| {
        check_name("action", name, findings);
        (name.value.as_str().into(), action(settings, signs_in, findings))
    });
    entries.collect()
}

fn action(settings: &TargetActionSettings, signs_in: bool, findings: &mut Findings) -> TargetAction {
    let mut scope = Scope::of(PLACEHOLDERS);
    if signs_in {
        scope.add(ACCOUNT_PLACEHOLDER);
    } else {
        scope.lacks_account();
    }
    let before = settings.before.as_ref().map(|before| preparations(before, &mut scope, findings)).unwrap_or_default();
    let asked = |request: &At<RequestSettings>, scope: &Scope, findings: &mut Findings| {
        shape(request.value.request(), request.place, scope, findings)
    };
    let propose = asked(&settings.propose, &scope, findings);
    scope.add("operation_id");
    let change = settings.change.as_ref().map(|change| asked(change, &scope, findings));
    if let Some(resource) = &settings.resource {
        check_url(resource, Destination::Resource, &Scope::default(), findings);
    }
    TargetAction {
        before,
        propose,
        change,
        resource: settings.resource.as_ref().map(|resource| resource.value.clone()),
        user_approval_required: settings.approval != Some(Approvals::StandingPermission),
    }
}

/// The requests before a proposal, in their order: what one takes, the next ones may use.
fn preparations(
    before: &At<Vec<At<PreparationSettings>>>,
    scope: &mut Scope,
    findings: &mut Findings,
) -> Vec<Preparation> {
    if before.value.len() > limits::STEPS_MAX {
        let message = format!("{} requests; expected at most {}", before.value.len(), limits::STEPS_MAX);
        findings.report(before.place, message);
    }
    let mut made = Vec::new();
    for settings in &before.value {
        let request = shape(settings.value.request(), settings.place, scope, findings);
        let mut take = IndexMap::new();
        for (name, pointer) in settings.value.take.iter().flat_map(|take| &take.0) {
            check_taken_name(name, findings);
            check_pointer(pointer, findings);
            scope.add(&name.value);
            take.insert(name.value.as_str().into(), pointer.value.clone());
        }
        made.push(Preparation { request, take });
    }
    made
}

fn check_taken_name(name: &At<String>, findings: &mut Findings) {
    let text = name.value.as_str();
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if !text.starts_with(|first: char| first.is_ascii_lowercase()) || !text.bytes().all(plain) || text.len() > 60 {
        let message = format!("{} is no name of a placeholder; expected small letters, digits and `_`", shown(text));
        findings.report(name.place, message);
    }
    let own: BTreeSet<&str> = PLACEHOLDERS
        .iter()
        .chain(hooks::PLACEHOLDERS)
        .chain([&ACCOUNT_PLACEHOLDER, &RUN_PLACEHOLDER])
        .copied()
        .filter(|word| !TAKEABLE.contains(word))
        .collect();
    if own.contains(text) {
        let message = format!("{} has a meaning of its own; expected another name", shown(&format!("{{{text}}}")));
        findings.report(name.place, message);
    }
}
