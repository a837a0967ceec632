//! A target file: fills in every default, reads the files it names, and checks what serde cannot.

mod actions;
mod aim;
mod drops;
mod hooks;
mod hosts;
mod pem;
mod requests;

use std::path::Path;
use std::time::Duration;

use super::{actions::checked_scope, check_name, judging};
use crate::plan::{KnownOperator, SignIn, Target};
use crate::protocol::SessionMode;
use crate::scenario::problem::Findings;
use crate::scenario::raw::{OperatorSettings, SessionModeWord, SignInSettings, TargetFile, YesNo};
use crate::scenario::value::{At, Time, written_duration};

pub(super) use aim::aim;
use requests::{Destination, Scope, check_url};

const CLOCK_ERROR: Duration = Duration::from_secs(1);
/// A clock that is further off than this would excuse everything.
const CLOCK_ERROR_MAX: Duration = Duration::from_secs(3_600);
const ACCOUNT: &str = "{user}";

/// Stands for the account of a User who signs in.
const ACCOUNT_PLACEHOLDER: &str = "account";

/// Turns the target file at `path` into a target; mistakes go to `findings`.
pub(in crate::scenario) fn resolve(
    file: &TargetFile,
    path: &Path,
    anomalies: &[&str],
    findings: &mut Findings,
) -> Target {
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    check_name("target", &file.target, findings);
    hosts::check_domain(&file.domain, findings);
    check_operators_port(file, findings);
    check_draft(file, findings);
    let actions = actions::resolve(&file.actions, file.sign_in.is_some(), findings);
    Target {
        name: file.target.value.as_str().into(),
        file: path.display().to_string(),
        domain: file.domain.value.as_str().into(),
        connect_to: hosts::connect_to(file.connect_to.as_ref(), findings),
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

fn clock_error(time: Option<&At<Time>>, findings: &mut Findings) -> Duration {
    let Some(time) = time else { return CLOCK_ERROR };
    if time.value.0 > CLOCK_ERROR_MAX {
        let (is, most) = (written_duration(&time.value.0), written_duration(&CLOCK_ERROR_MAX));
        findings.report(time.place, format!("`clock_error` is {is}; expected at most {most}"));
    }
    time.value.0
}

fn known_operator(settings: &OperatorSettings, folder: &Path, findings: &mut Findings) -> KnownOperator {
    check_url(&settings.client_id, Destination::Client, &Scope::default(), findings);
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
            findings.report(account.place, "`account` is empty; expected a text like `{user}.{run}@users.example`");
        }
    }
    SignIn {
        scopes: settings.scopes.value.iter().map(|scope| checked_scope(scope, findings)).collect(),
        account: settings.account.as_ref().map_or_else(|| ACCOUNT.to_owned(), |account| account.value.clone()),
    }
}
