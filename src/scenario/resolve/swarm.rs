//! The Personal Agents.

use std::time::Duration;

use smol_str::SmolStr;

use crate::limits;
use crate::plan::{Retry, SwarmPlan};
use crate::protocol::SessionMode;
use crate::scenario::problem::Findings;
use crate::scenario::raw::{AgentSettings, RetrySettings, SessionModeWord};
use crate::scenario::value::At;

const OPERATORS: u32 = 1;
const USERS: u32 = 100;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
const RETRY_FIRST: Duration = Duration::from_millis(200);
const RETRY_FACTOR: f64 = 2.0;
const RETRY_JITTER: f64 = 0.5;
const RETRY_LONGEST: Duration = Duration::from_secs(5);

/// The factor of a back-off that still makes sense.
const RETRY_FACTOR_MAX: f64 = 100.0;

/// The most tries that still are a bound.
const RETRY_TRIES_MAX: u32 = 1_000_000;

/// Fills in and checks `agents`.
pub(super) fn resolve(settings: Option<&AgentSettings>, findings: &mut Findings) -> SwarmPlan {
    let settings = settings.cloned().unwrap_or_default();
    let operators = bounded("operators", settings.operators.as_ref(), OPERATORS, limits::OPERATORS_MAX, findings);
    let without = settings.without_extension.as_ref().map_or(0, |count| count.value);
    if let Some(count) = settings.without_extension.as_ref().filter(|count| count.value > operators) {
        let message =
            format!("`without_extension` is {}; expected at most the {operators} of `operators`", count.value);
        findings.report(count.place, message);
    }
    let users = bounded("users", settings.users.as_ref(), USERS, limits::USERS_MAX, findings);
    if let Some(place) = settings.request_timeout.as_ref().filter(|time| time.value.0.is_zero()) {
        findings.report(place.place, "`request_timeout` has to be more than 0");
    }
    SwarmPlan {
        operators,
        operators_without_extension: without,
        users,
        session_mode: match settings.session_mode.as_ref().map(|mode| mode.value) {
            Some(SessionModeWord::Dpop01) => SessionMode::Dpop01,
            Some(SessionModeWord::Dpop02) | None => SessionMode::Dpop02,
        },
        operations_version: settings.operations_version.map_or(SmolStr::new_static("1"), |text| text.value.into()),
        request_timeout: settings.request_timeout.map_or(REQUEST_TIMEOUT, |time| time.value.0),
        retry: retry(settings.retry.unwrap_or_default(), findings),
        scopes: settings.scopes.map(|scopes| scopes.into_iter().map(SmolStr::from).collect()),
        defects: settings.defects.unwrap_or_default().into_iter().map(|defect| defect.value.0).collect(),
    }
}

fn retry(settings: RetrySettings, findings: &mut Findings) -> Retry {
    if let Some(first) = settings.first.as_ref().filter(|time| time.value.0.is_zero()) {
        findings.report(first.place, "`first` has to be more than 0: an Agent waits before it tries again");
    }
    let factor = settings.factor.as_ref().map_or(RETRY_FACTOR, |factor| factor.value);
    if let Some(place) = settings.factor.as_ref().filter(|factor| !(1.0..=RETRY_FACTOR_MAX).contains(&factor.value)) {
        findings.report(place.place, format!("`factor` is {factor}; expected 1 to {RETRY_FACTOR_MAX}"));
    }
    let first = settings.first.map_or(RETRY_FIRST, |time| time.value.0);
    let longest = settings.longest.as_ref().map_or(RETRY_LONGEST.max(first), |time| time.value.0);
    if let Some(place) = settings.longest.as_ref().filter(|time| time.value.0 < first) {
        findings.report(place.place, "`longest` is less than `first`");
    }
    let tries = settings.tries.as_ref().map(|tries| bounded("tries", Some(tries), 1, RETRY_TRIES_MAX, findings));
    Retry { first, factor, jitter: settings.jitter.map_or(RETRY_JITTER, |share| share.0), longest, tries }
}

/// A number from 1 to `most`.
fn bounded(key: &str, value: Option<&At<u32>>, default: u32, most: u32, findings: &mut Findings) -> u32 {
    let Some(at) = value else { return default };
    if !(1..=most).contains(&at.value) {
        findings.report(at.place, format!("`{key}` is {}; expected 1 to {most}", at.value));
    }
    at.value
}
