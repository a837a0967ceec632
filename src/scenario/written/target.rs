//! From a target back to a target file with nothing left to defaults.

use smol_str::SmolStr;

use super::text;
use crate::plan::{ConnectTo, Hook, Hooks, Performed, Preparation, RequestShape, Target, TargetAction};
use crate::protocol::SessionMode;
use crate::scenario::raw::{
    Approvals, HookRequestSettings, HookSettings, OperatorSettings, PerformedSettings, PreparationSettings,
    RequestSettings, SessionModeWord, SettleSettings, SignInSettings, TargetActionSettings, TargetFile, YesNo,
};
use crate::scenario::value::{AddressText, At, ConnectText, Named, Share, Spread, Time};
use crate::scenario::yaml;

/// A target as YAML, every default filled in; paths stand as they were given, and no key.
#[must_use]
pub fn resolved_target_yaml(target: &Target) -> String {
    let head =
        "# A resolved target: defaults filled in. Its paths are relative to the folder of the file that it was.\n";
    // Every key of the raw types is a text, the one thing that the YAML crate insists on.
    let body = yaml::write(&file(target)).unwrap_or_else(|error| format!("# not written: {error}\n"));
    format!("{head}{body}")
}

fn file(target: &Target) -> TargetFile {
    TargetFile {
        target: text(&target.name),
        domain: text(&target.domain),
        connect_to: connect_to(&target.connect_to),
        ca: target.ca.as_ref().map(|ca| text(&ca.path)),
        session_mode: target.session_mode.map(|mode| match mode {
            SessionMode::Dpop01 => SessionModeWord::Dpop01,
            SessionMode::Dpop02 => SessionModeWord::Dpop02,
        }),
        clock_error: Some(At::nowhere(Time(target.clock_error))),
        operator: target.operator.as_ref().map(|operator| OperatorSettings {
            client_id: text(&operator.client_id),
            key: text(&operator.key),
            key_id: text(&operator.key_id),
            extension: Some(if operator.lists_operations { YesNo::Yes } else { YesNo::No }),
        }),
        operators_port: target.operators_port.map(At::nowhere),
        sign_in: target.sign_in.as_ref().map(|sign_in| {
            At::nowhere(SignInSettings {
                scopes: At::nowhere(sign_in.scopes.iter().map(text).collect()),
                account: Some(text(&sign_in.account)),
            })
        }),
        actions: At::nowhere(Named(target.actions.iter().map(|(name, plan)| (text(name), action(plan))).collect())),
        hooks: Some(hooks(&target.hooks)),
        known: Some(target.known.iter().map(text).collect()),
    }
}

fn connect_to(plan: &ConnectTo) -> Option<ConnectText> {
    match plan.every {
        Some(every) if plan.hosts.is_empty() => return Some(ConnectText::Every(AddressText(every))),
        None if plan.hosts.is_empty() => return None,
        _ => {}
    }
    let every = plan.every.map(|address| (SmolStr::new_static("*"), address));
    let hosts = plan.hosts.iter().map(|(host, address)| (host.clone(), *address));
    Some(ConnectText::Hosts(Named(
        hosts.chain(every).map(|(host, address)| (text(host), AddressText(address))).collect(),
    )))
}

fn action(plan: &TargetAction) -> TargetActionSettings {
    let request =
        |shape: &RequestShape| At::nowhere(RequestSettings::of(&shape.method, &shape.url, shape.body.as_ref()));
    TargetActionSettings {
        before: Some(At::nowhere(plan.before.iter().map(|plan| At::nowhere(preparation(plan))).collect())),
        propose: request(&plan.propose),
        change: plan.change.as_ref().map(request),
        resource: plan.resource.as_ref().map(text),
        approval: Some(if plan.user_approval_required { Approvals::User } else { Approvals::StandingPermission }),
    }
}

fn preparation(plan: &Preparation) -> PreparationSettings {
    let shape = &plan.request;
    let take = plan.take.iter().map(|(name, pointer)| (text(name), text(pointer))).collect();
    PreparationSettings {
        take: Some(Named(take)),
        ..PreparationSettings::of(&shape.method, &shape.url, shape.body.as_ref())
    }
}

fn hooks(plan: &Hooks) -> HookSettings {
    let request = |hook: &Hook| At::nowhere(HookRequestSettings::of(&hook.method, &hook.url, hook.body.as_ref()));
    HookSettings {
        approve_sign_in: plan.approve_sign_in.as_ref().map(request),
        revise: plan.revise.as_ref().map(request),
        settle: plan.settle.as_ref().map(|settle| {
            let hook = &settle.hook;
            At::nowhere(SettleSettings {
                actions: Some(At::nowhere(settle.actions.iter().map(text).collect())),
                after: Some(Spread(settle.after.clone())),
                succeed: Some(Share(settle.succeed)),
                ..SettleSettings::of(&hook.method, &hook.url, hook.body.as_ref())
            })
        }),
        performed: plan.performed.as_ref().map(|plan| At::nowhere(performed(plan))),
    }
}

fn performed(plan: &Performed) -> PerformedSettings {
    let (Performed::EachOperation { hook, .. } | Performed::Totals { hook, .. }) = plan;
    let request = PerformedSettings::of(&hook.method, &hook.url, hook.body.as_ref());
    match plan {
        Performed::EachOperation { count, .. } => PerformedSettings { count: Some(text(count)), ..request },
        Performed::Totals { performed, operations, .. } => {
            PerformedSettings { performed: Some(text(performed)), operations: Some(text(operations)), ..request }
        }
    }
}
