//! Faults that name what they strike one by one: their IDs and their lists.

use std::collections::BTreeSet;

use super::report_unknown;
use crate::history::record::Purpose;
use crate::plan::{CompanyPlan, FaultKind, Network, Strike, Strikes};
use crate::scenario::problem::{Findings, shown};
use crate::scenario::raw::{FaultSettings, StrikeSettings};
use crate::scenario::value::{At, purpose_word};

/// The longest ID of a fault.
const ID_LENGTH_MAX: usize = 20;

/// Checks the form of an ID.
pub(super) fn check_id(id: &At<String>, findings: &mut Findings) {
    let plain = id.value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    if !plain || id.value.is_empty() || id.value.len() > ID_LENGTH_MAX {
        let form = format!("letters, digits, dots and dashes, {ID_LENGTH_MAX} at most");
        findings.report(id.place, format!("{} is no ID of a fault; expected {form}", shown(&id.value)));
    }
    if id.value.starts_with(Network::IDS) {
        findings.report(
            id.place,
            format!(
                "{} is kept for what `network` does; expected an ID that does not begin with `{}`",
                shown(&id.value),
                Network::IDS
            ),
        );
    }
}

/// Fills in and checks the list of a fault, if it has one.
pub(super) fn resolve(
    settings: &FaultSettings,
    kind: &FaultKind,
    companies: &[CompanyPlan],
    findings: &mut Findings,
) -> Option<Vec<Strike>> {
    let list = settings.strikes.as_ref()?;
    if list.value.is_empty() {
        findings.report(list.place, "`strikes` is empty and strikes nothing; list strikes or take the fault out");
    }
    let beside = [
        ("at", settings.at.as_ref().map(|at| at.place)),
        ("on", settings.on.as_ref().map(|at| at.place)),
        ("step", settings.step.as_ref().map(|at| at.place)),
        ("during", settings.during.as_ref().map(|at| at.place)),
        ("chance", settings.chance.as_ref().map(|at| at.place)),
    ];
    for (key, place) in beside.into_iter().filter_map(|(key, place)| Some((key, place?))) {
        findings.report(place, format!("`{key}` beside `strikes`, which says it all; expected one of them"));
    }
    let mut seen = BTreeSet::new();
    let strikes = list.value.iter().map(|at| {
        let strike = strike(&at.value);
        check(at, kind, companies, findings);
        let request = strike.request.map(purpose_word).unwrap_or_default();
        if !seen.insert((request, strike.key.clone(), strike.attempt)) {
            findings.report(at.place, "this strike is listed twice; expected it once");
        }
        strike
    });
    Some(strikes.collect())
}

fn strike(settings: &StrikeSettings) -> Strike {
    Strike {
        request: settings.request.as_ref().map(|word| word.value.0),
        key: settings.key.value.as_str().into(),
        attempt: settings.attempt.unwrap_or(0),
        time: settings.time.as_ref().map(|time| time.value.0),
        second_answers: settings.second_answers.as_ref().map(|answers| answers.value),
    }
}

/// Reports what keeps a strike from being one of its fault's kind.
fn check(at: &At<StrikeSettings>, kind: &FaultKind, companies: &[CompanyPlan], findings: &mut Findings) {
    let (settings, word) = (&at.value, shown(kind.word()));
    match (&settings.request, kind.strikes()) {
        (None, Strikes::Requests) => {
            findings.report(at.place, format!("{word} strikes requests; expected `request`, the kind of request"));
        }
        (Some(request), Strikes::Steps | Strikes::Company) => {
            findings.report(request.place, format!("{word} strikes no requests; expected no `request`"));
        }
        (Some(request), Strikes::Requests) if request.value.0 == Purpose::Backend => {
            let message = format!(
                "{word} does not strike requests to the backend; expected `backend-slow` or `backend-timeout` for those"
            );
            findings.report(request.place, message);
        }
        _ => {}
    }
    if kind.strikes() == Strikes::Company {
        check_company(&settings.key, kind, companies, findings);
    }
    let timed = match kind {
        FaultKind::Delay(_)
        | FaultKind::DelayAnswer(_)
        | FaultKind::BackendSlow(_)
        | FaultKind::HangUp
        | FaultKind::Duplicate { .. }
        | FaultKind::Crash { .. }
        | FaultKind::Restart { .. } => true,
        FaultKind::LoseRequest
        | FaultKind::LoseAnswer
        | FaultKind::Reset
        | FaultKind::Refuse { .. }
        | FaultKind::BackendTimeout { .. }
        | FaultKind::BackendFail => false,
    };
    if let Some(time) = settings.time.as_ref().filter(|_| !timed) {
        findings.report(time.place, format!("{word} takes no time; expected no `time`"));
    }
    if let Some(answers) = settings.second_answers.as_ref().filter(|_| !matches!(kind, FaultKind::Duplicate { .. })) {
        findings.report(answers.place, format!("{word} makes no second copy; expected no `second_answers`"));
    }
}

/// Reports a key that names no Company of the scenario: a restart's is one, a crash's the ID of an action of one.
fn check_company(key: &At<String>, kind: &FaultKind, companies: &[CompanyPlan], findings: &mut Findings) {
    let text = key.value.as_str();
    let (company, rest) = text.split_once('/').map_or((text, None), |(company, rest)| (company, Some(rest)));
    let crash = matches!(kind, FaultKind::Crash { .. });
    if crash && rest.is_none_or(str::is_empty) {
        let message = format!("{} is no ID of an action; expected one like `shop-1/operation/op_…`", shown(text));
        findings.report(key.place, message);
    } else if !companies.iter().any(|known| known.name == if crash { company } else { text }) {
        let names: Vec<&str> = companies.iter().map(|company| company.name.as_str()).collect();
        report_unknown("Company", &At { value: company.to_owned(), place: key.place }, &names, findings);
    }
}
