//! What a target's operator can be asked for.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use smol_str::SmolStr;

use super::requests::{Destination, Scope, check_pointer, checked, each_text, unquoted};
use crate::plan::{Distribution, Hook, Hooks, Performed, Piece, Settle, TargetAction, pieces};
use crate::scenario::problem::{Findings, Place};
use crate::scenario::raw::{HookSettings, PerformedSettings, RequestFields, SettleSettings};
use crate::scenario::resolve::report_unknown;
use crate::scenario::value::At;

const OPERATION: &str = "operation_id";
const CODE: &str = "user_code";
const SUCCEEDED: &str = "succeeded";

/// Placeholders that only hooks know.
pub(super) const PLACEHOLDERS: &[&str] = &[OPERATION, CODE, SUCCEEDED];

/// Fills in and checks `hooks`.
pub(super) fn resolve(
    settings: Option<&HookSettings>,
    actions: &IndexMap<SmolStr, TargetAction>,
    findings: &mut Findings,
) -> Hooks {
    let Some(settings) = settings else { return Hooks::default() };
    let approve = settings.approve_sign_in.as_ref().map(|hook| {
        let scope = Scope::of(&[CODE, super::ACCOUNT_PLACEHOLDER, "user"]);
        made(hook.value.request(), hook.place, &scope, &[CODE], findings)
    });
    let revise = settings
        .revise
        .as_ref()
        .map(|hook| made(hook.value.request(), hook.place, &Scope::of(&[OPERATION]), &[OPERATION], findings));
    Hooks {
        approve_sign_in: approve,
        revise,
        settle: settings.settle.as_ref().map(|hook| settle(hook, actions, findings)),
        performed: settings.performed.as_ref().and_then(|hook| performed(hook, findings)),
    }
}

/// A hook whose request has to tell what is `needed`.
fn made(fields: RequestFields<'_>, place: Place, scope: &Scope, needed: &[&str], findings: &mut Findings) -> Hook {
    let (method, url) = checked(fields, place, Destination::Hook, scope, findings);
    let body = fields.body.map(|body| body.value.clone());
    let mut names = BTreeSet::new();
    note_placeholders(&url, &mut names);
    if let Some(body) = &body {
        each_text(body, &mut |text| note_placeholders(text, &mut names));
    }
    if let Some(body) = fields.body {
        names.extend(unquoted(&body.value, body.place, findings).into_iter().map(|(name, _)| name)); // told already
    }
    for needed in needed.iter().filter(|needed| !url.is_empty() && !names.contains(**needed)) {
        findings.report(place, format!("this hook does not tell `{{{needed}}}`; expected it in its URL or body"));
    }
    Hook { url, method: method.into(), body }
}

fn note_placeholders(text: &str, names: &mut BTreeSet<String>) {
    names.extend(pieces(text).filter_map(|piece| match piece {
        Piece::Placeholder(name) => Some(name.to_owned()),
        Piece::Text(_) => None,
    }));
}

fn settle(hook: &At<SettleSettings>, known: &IndexMap<SmolStr, TargetAction>, findings: &mut Findings) -> Settle {
    let settings = &hook.value;
    let scope = Scope::of(&[OPERATION, SUCCEEDED]);
    let may_fail = settings.succeed.is_some_and(|share| share.0 < 1.0);
    let needed: &[&str] = if may_fail { &[OPERATION, SUCCEEDED] } else { &[OPERATION] };
    let request = made(settings.request(), hook.place, &scope, needed, findings);
    let actions = settings.actions.as_ref();
    if actions.is_none_or(|actions| actions.value.is_empty()) {
        let place = actions.map_or(hook.place, |actions| actions.place);
        findings.report(place, "`settle` without `actions`; expected those that stay in progress until it is asked");
    }
    let names: Vec<&str> = known.keys().map(SmolStr::as_str).collect();
    for name in actions.iter().flat_map(|actions| &actions.value) {
        if !names.contains(&name.value.as_str()) {
            report_unknown("action of this target", name, &names, findings);
        }
    }
    Settle {
        hook: request,
        actions: actions.iter().flat_map(|actions| &actions.value).map(|name| name.value.as_str().into()).collect(),
        after: settings.after.clone().map_or(Distribution::ZERO, |spread| spread.0),
        succeed: settings.succeed.map_or(1.0, |share| share.0),
    }
}

fn performed(hook: &At<PerformedSettings>, findings: &mut Findings) -> Option<Performed> {
    let settings = &hook.value;
    let pointers = [&settings.count, &settings.performed, &settings.operations];
    pointers.into_iter().flatten().for_each(|pointer| check_pointer(pointer, findings));
    let mut request =
        |names: &[&str], needed: &[&str]| made(settings.request(), hook.place, &Scope::of(names), needed, findings);
    match pointers {
        [Some(count), None, None] => {
            let hook = request(&[OPERATION], &[OPERATION]);
            Some(Performed::EachOperation { hook, count: count.value.clone() })
        }
        [None, Some(performed), Some(operations)] => Some(Performed::Totals {
            hook: request(&[], &[]),
            performed: performed.value.clone(),
            operations: operations.value.clone(),
        }),
        _ => {
            let message =
                "expected either `count` (asked for each operation), or `performed` and `operations` (totals)";
            findings.report(hook.place, message);
            None
        }
    }
}
