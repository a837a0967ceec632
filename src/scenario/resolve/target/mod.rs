//! A target file: fills in every default, reads the files it names, and checks what serde cannot.

mod aim;
mod hooks;
mod pem;
mod requests;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use indexmap::IndexMap;
use smol_str::SmolStr;

use super::{actions::checked_scope, check_name, judging};
use crate::limits;
use crate::plan::{ConnectTo, KnownOperator, Preparation, SignIn, Target, TargetAction};
use crate::protocol::SessionMode;
use crate::scenario::problem::{Findings, shown};
use crate::scenario::raw::{
    Approvals, OperatorSettings, PreparationSettings, RequestSettings, SessionModeWord, SignInSettings,
    TargetActionSettings, TargetFile, YesNo,
};
use crate::scenario::value::{At, ConnectText, Named, Time, written_duration};

pub(super) use aim::aim;
use requests::{Scope, check_pointer, check_url};

const CLOCK_ERROR: Duration = Duration::from_secs(1);
/// A clock that is further off than this would excuse everything.
const CLOCK_ERROR_MAX: Duration = Duration::from_secs(3_600);
const ACCOUNT: &str = "{user}";

/// In `connect_to`: every host that is not named.
const EVERY_HOST: &str = "*";

/// Placeholders of an action's requests, and those of them that an earlier answer may fill instead.
const ACTION_PLACEHOLDERS: &[&str] = &["order_id", "item_id", "sku", "user", "intent"];
const ACCOUNT_PLACEHOLDER: &str = "account";
const TAKEABLE: &[&str] = &["order_id", "item_id", "sku"];

/// Turns the target file at `path` into a target; mistakes go to `findings`.
pub(in crate::scenario) fn resolve(
    file: &TargetFile,
    path: &Path,
    anomalies: &[&str],
    findings: &mut Findings,
) -> Target {
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    check_name("target", &file.target, findings);
    check_domain(&file.domain, findings);
    check_operators_port(file, findings);
    check_draft(file, findings);
    let actions = actions(&file.actions, file.sign_in.is_some(), findings);
    Target {
        name: file.target.value.as_str().into(),
        file: path.display().to_string(),
        domain: file.domain.value.as_str().into(),
        connect_to: connect_to(file.connect_to.as_ref(), findings),
        ca: file.ca.as_ref().map(|ca| pem::certificates(ca, folder, findings)),
        session_mode: file.session_mode.map(|mode| match mode {
            SessionModeWord::Dpop01 => SessionMode::Dpop01,
            SessionModeWord::Dpop02 => SessionMode::Dpop02,
        }),
        clock_error: clock_error(file.clock_error.as_ref(), findings),
        operator: file.operator.as_ref().map(|operator| known_operator(operator, folder, findings)),
        operators_port: file.operators_port.as_ref().map(|port| port.value),
        sign_in: file.sign_in.as_ref().map(|settings| sign_in(&settings.value, findings)),
        hooks: hooks::resolve(file.hooks.as_ref(), &actions, findings),
        actions,
        known: judging::names(anomalies, file.known.as_deref().unwrap_or_default(), findings).into_iter().collect(),
    }
}

/// Whether a text is the name of a host, in small letters.
fn is_host(text: &str) -> bool {
    let label = |label: &str| {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=63).contains(&label.len()) && label.bytes().all(plain) && !label.starts_with('-') && !label.ends_with('-')
    };
    let is_address = text.rsplit('.').next().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    text.len() <= 253 && text.split('.').all(label) && !is_address
}

fn check_domain(domain: &At<String>, findings: &mut Findings) {
    let text = domain.value.as_str();
    if !is_host(text) {
        let form =
            "a name like `shop.example`, in small letters, without scheme and port (`connect_to` says where it is)";
        findings.report(domain.place, format!("{} is no domain; expected {form}", shown(text)));
        return;
    }
    let number = text.strip_prefix("agent-").and_then(|rest| rest.strip_suffix(".example"));
    if number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit())) {
        let message = format!("{} is a domain of the run's own operators; expected another", shown(text));
        findings.report(domain.place, message);
    }
}

fn check_operators_port(file: &TargetFile, findings: &mut Findings) {
    let Some(port) = &file.operators_port else { return };
    if port.value == 0 {
        findings.report(port.place, "`operators_port` is 0; expected 1 to 65535, or take it out for any port");
    } else if file.operator.is_some() {
        let message =
            "`operators_port` is of the run's own operators, but the target knows an `operator`; expected one of them";
        findings.report(port.place, message);
    }
}

/// Draft 0.1 has no device grant.
fn check_draft(file: &TargetFile, findings: &mut Findings) {
    if let Some(sign_in) = file.sign_in.as_ref().filter(|_| file.session_mode == Some(SessionModeWord::Dpop01)) {
        findings.report(sign_in.place, "`sign_in` with `session_mode: dpop-0.1`, which has none; expected `dpop-0.2`");
    }
}

fn connect_to(text: Option<&ConnectText>, findings: &mut Findings) -> ConnectTo {
    let mut to = ConnectTo::default();
    match text {
        None => {}
        Some(ConnectText::Every(address)) => to.every = Some(address.0),
        Some(ConnectText::Hosts(hosts)) => {
            for (host, address) in &hosts.0 {
                if host.value == EVERY_HOST {
                    to.every = Some(address.0);
                } else if is_host(&host.value) {
                    to.hosts.insert(host.value.as_str().into(), address.0);
                } else {
                    let form = "a name like `id.shop.example`, in small letters, or `\"*\"` for every other host";
                    findings.report(host.place, format!("{} is no host; expected {form}", shown(&host.value)));
                }
            }
        }
    }
    to
}

fn clock_error(time: Option<&At<Time>>, findings: &mut Findings) -> Duration {
    let Some(time) = time else { return CLOCK_ERROR };
    if time.value.0 > CLOCK_ERROR_MAX {
        let (is, most) = (written_duration(&time.value.0), written_duration(&CLOCK_ERROR_MAX));
        findings.report(time.place, format!("`clock_error` is {is}; expected at most {most}"));
    }
    time.value.0
}

fn known_operator(settings: &OperatorSettings, folder: &Path, findings: &mut Findings) -> KnownOperator {
    check_url(&settings.client_id, requests::Destination::Client, &Scope::default(), findings);
    let key_id = &settings.key_id;
    if key_id.value.trim().is_empty() {
        findings.report(key_id.place, "`key_id` is empty; expected the `kid` under which the key is published");
    }
    KnownOperator {
        client_id: settings.client_id.value.clone(),
        key_id: key_id.value.as_str().into(),
        key_pem: pem::key(&settings.key, folder, findings),
        key: settings.key.value.clone(),
        lists_operations: settings.extension != Some(YesNo::No),
    }
}

fn sign_in(settings: &SignInSettings, findings: &mut Findings) -> SignIn {
    if settings.scopes.value.is_empty() {
        findings.report(settings.scopes.place, "`scopes` is empty; expected at least one");
    }
    if let Some(account) = &settings.account {
        Scope::of(&["user"]).check(&account.value, account.place, findings);
        if account.value.trim().is_empty() {
            findings.report(account.place, "`account` is empty; expected a text like `{user}@users.example`");
        }
    }
    SignIn {
        scopes: settings.scopes.value.iter().map(|scope| checked_scope(scope, findings)).collect(),
        account: settings.account.as_ref().map_or_else(|| ACCOUNT.to_owned(), |account| account.value.clone()),
    }
}

fn actions(
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
    let mut scope = Scope::of(ACTION_PLACEHOLDERS);
    if signs_in {
        scope.add(ACCOUNT_PLACEHOLDER);
    } else {
        scope.lacks_account();
    }
    let before = settings.before.as_ref().map(|before| preparations(before, &mut scope, findings)).unwrap_or_default();
    let shape = |request: &At<RequestSettings>, scope: &Scope, findings: &mut Findings| {
        requests::shape(request.value.request(), request.place, scope, findings)
    };
    let propose = shape(&settings.propose, &scope, findings);
    scope.add("operation_id");
    let change = settings.change.as_ref().map(|change| shape(change, &scope, findings));
    if let Some(resource) = &settings.resource {
        check_url(resource, requests::Destination::Resource, &Scope::default(), findings);
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
        let request = requests::shape(settings.value.request(), settings.place, scope, findings);
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
    let own: BTreeSet<&str> = ACTION_PLACEHOLDERS
        .iter()
        .chain(hooks::PLACEHOLDERS)
        .chain([&ACCOUNT_PLACEHOLDER])
        .copied()
        .filter(|word| !TAKEABLE.contains(word))
        .collect();
    if own.contains(text) {
        let message = format!("{} has a meaning of its own; expected another name", shown(&format!("{{{text}}}")));
        findings.report(name.place, message);
    }
}
