//! The Companies: profiles, what the scenario lays over them, and their number.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use smol_str::{SmolStr, format_smolstr};

use super::{actions, capacity, check_name, refuse_defect};
use crate::limits;
use crate::plan::{Answers, BackendSettings, CompanyPlan, Distribution, Proposals, Sessions, StoreSettings, SwarmPlan};
use crate::protocol::SessionMode;
use crate::scenario::decode::decode;
use crate::scenario::files;
use crate::scenario::node::Node;
use crate::scenario::problem::{Findings, Place, shown};
use crate::scenario::raw::{
    AnswerSettings, BackendSection, CompanyFile, Group, Overlay as _, ProposalSettings, SessionChoice, Settings,
    StoreSection,
};
use crate::scenario::value::{At, Named, Time};

const PROOF_WINDOW: Duration = Duration::from_secs(60);
const TOKEN_LIFETIME: Duration = Duration::from_secs(3_600);
const ANSWER_LATENCY: Distribution =
    Distribution::LogNormal { median: Duration::from_millis(2), p99: Duration::from_millis(20) };
const ANSWER_WITHIN: Duration = Duration::from_secs(3);
const RETRY_AFTER: Duration = Duration::from_secs(1);
const LIFETIME: Duration = Duration::from_secs(15 * 60);
const REVISE_AFTER: Distribution = Distribution::Uniform { from: Duration::ZERO, to: Duration::from_millis(300) };
const KEEP_FINAL: Duration = Duration::from_secs(600);
const BACKEND_LATENCY: Distribution = Distribution::Constant(Duration::from_millis(20));
const BACKEND_TIMEOUT: Duration = Duration::from_secs(3);
/// The highest number of a Company.
const COMPANY_NUMBER_MAX: u32 = 10_000;
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// Stands for a Company's number in its domain and title.
const NUMBER: &str = "{n}";

/// Resolves every group of a scenario in `folder`. Where a target takes their place, they are not `simulated`.
pub(super) fn resolve(
    groups: &At<Named<Group>>,
    folder: &Path,
    swarm: &SwarmPlan,
    simulated: bool,
    findings: &mut Findings,
) -> Vec<CompanyPlan> {
    if groups.value.0.is_empty() {
        findings.report(groups.place, "`companies` has no group; expected at least one");
    }
    let mut numbers = BTreeMap::new();
    let mut plans: Vec<CompanyPlan> = Vec::new();
    for (name, group) in &groups.value.0 {
        check_name("group of Companies", name, findings);
        let Some((profile, base)) = base(name.place, group, folder, findings) else { continue };
        let settings = group.settings().over(base);
        if let Some(defects) = settings.defects.as_ref().filter(|_| !simulated) {
            defects.0.iter().for_each(|defect| refuse_defect(defect, findings));
        }
        let sessions = settings.sessions.as_ref().map_or(name.place, |sessions| sessions.0.place);
        let first = numbers.entry(profile.clone()).or_insert(1);
        let of_group = numbers_of(group, *first, findings);
        *first = of_group.iter().max().map_or(*first, |last| last.saturating_add(1));
        let place = group.count.as_ref().map_or(name.place, |count| count.place);
        let made = company_plans(&name.value, &profile, place, &settings, &of_group, swarm, findings);
        if let Some(company) = made.first().filter(|company| company.sessions.mode != swarm.session_mode) {
            let message = format!(
                "{} speaks Sessions of {}, the Agents of {}; expected the same (`agents.session_mode`)",
                shown(&name.value),
                company.sessions.mode.as_str(),
                swarm.session_mode.as_str()
            );
            findings.report(sessions, message);
        }
        plans.extend(made);
    }
    if plans.len() > limits::COMPANIES_MAX as usize {
        let message = format!("{} Companies; expected at most {}", plans.len(), limits::COMPANIES_MAX);
        findings.report(groups.place, message);
    }
    capacity::check_shared(groups.place, &plans, findings);
    let mut names = BTreeSet::new();
    let twice = plans.iter().find(|company| !names.insert(company.name.clone()));
    if let Some(twice) = twice.filter(|_| findings.is_clean()) {
        findings.report(groups.place, format!("two Companies are called {}; expected one", shown(&twice.name)));
    }
    let mut domains = BTreeSet::new();
    let twice = plans.iter().find(|company| !domains.insert(company.domain.clone()));
    if let Some(twice) = twice.filter(|_| findings.is_clean()) {
        let message = format!("two Companies have the domain {}; expected one each", shown(&twice.domain));
        findings.report(groups.place, message);
    }
    plans
}

/// The name and the settings of a group's profile.
fn base(place: Place, group: &Group, folder: &Path, findings: &mut Findings) -> Option<(String, Settings)> {
    let file = match (&group.profile, &group.company) {
        (Some(profile), None) => {
            let tree = files::read_profile(&profile.value, profile.place, folder, findings)?;
            load_profile(&tree, findings)?
        }
        (None, Some(company)) => company.clone(),
        _ => {
            findings.report(place, "expected either `profile` (the name of a Company file) or `company` (a whole one)");
            return None;
        }
    };
    check_name("Company", &file.company, findings);
    Some((file.company.value.clone(), file.settings()))
}

/// Reads a tree as a Company file.
pub(in crate::scenario) fn load_profile(tree: &Node, findings: &mut Findings) -> Option<CompanyFile> {
    match tree.first_key() {
        Some(entry) if entry.key == "company" => decode(tree, findings),
        Some(entry) => {
            let message = format!("this file begins with {}; expected `company:`", shown(&entry.key));
            findings.report(entry.place, message);
            None
        }
        None => {
            findings
                .report(tree.place, format!("expected a map that begins with `company:`, found {}", tree.described()));
            None
        }
    }
}

/// Reads a Company file that is served without a scenario.
pub(in crate::scenario) fn companies_alone(
    tree: &Node,
    count: u32,
    findings: &mut Findings,
) -> Option<Vec<CompanyPlan>> {
    let file = load_profile(tree, findings)?;
    check_name("Company", &file.company, findings);
    let swarm = super::swarm::resolve(None, findings);
    let name = &file.company;
    let numbers: Vec<u32> = (1..=count.clamp(1, limits::COMPANIES_MAX)).collect();
    Some(company_plans(&name.value, &name.value, name.place, &file.settings(), &numbers, &swarm, findings))
}

/// The numbers of a group's Companies: those it says, or as many as it says from the next one on.
fn numbers_of(group: &Group, next: u32, findings: &mut Findings) -> Vec<u32> {
    let Some(numbers) = &group.numbers else { return (next..next.saturating_add(count(group, findings))).collect() };
    if let Some(count) = &group.count {
        findings.report(count.place, "`count` beside `numbers`, which says it; expected one of them");
    }
    let mut seen = BTreeSet::new();
    let most = limits::COMPANIES_MAX as usize;
    if numbers.value.is_empty() || numbers.value.len() > most {
        findings.report(numbers.place, format!("{} numbers; expected 1 to {most}", numbers.value.len()));
    } else if numbers.value.iter().any(|number| *number == 0 || *number > COMPANY_NUMBER_MAX || !seen.insert(*number)) {
        let message = format!("`numbers` are 1 to {COMPANY_NUMBER_MAX}, each once; expected others");
        findings.report(numbers.place, message);
    }
    numbers.value.clone()
}

fn count(group: &Group, findings: &mut Findings) -> u32 {
    let Some(count) = &group.count else { return 1 };
    if !(1..=limits::COMPANIES_MAX).contains(&count.value) {
        findings.report(count.place, format!("`count` is {}; expected 1 to {}", count.value, limits::COMPANIES_MAX));
        return 1;
    }
    count.value
}

/// The Companies of those numbers with those settings.
pub(in crate::scenario) fn company_plans(
    group: &str,
    profile: &str,
    place: Place,
    settings: &Settings,
    numbers: &[u32],
    swarm: &SwarmPlan,
    findings: &mut Findings,
) -> Vec<CompanyPlan> {
    let several = numbers.len() > 1;
    let domain = domain(profile, place, settings, several, findings);
    let title = settings.title.as_ref().map_or_else(|| default_title(profile), |title| title.value.clone());
    if settings.speaks.as_ref().is_some_and(|speaks| speaks.value.is_empty()) {
        let place = settings.speaks.as_ref().map_or(place, |speaks| speaks.place);
        findings.report(place, "`speaks` is empty; expected `[operations]`");
    }
    let actions = actions::resolve(place, settings.actions.as_ref(), findings);
    let sessions = sessions(settings, swarm.session_mode, findings);
    if sessions.mode == SessionMode::Dpop01 && actions.values().any(|action| action.signed_in) {
        let place = settings.sessions.as_ref().map_or(place, |sessions| sessions.0.place);
        let message = "an action has `signed_in: yes`, and sign-in of draft 0.1 is not simulated; expected `dpop-0.2`";
        findings.report(place, message);
    }
    let template = CompanyPlan {
        name: SmolStr::default(),
        group: group.into(),
        profile: profile.into(),
        number: 0,
        domain: SmolStr::default(),
        title: String::new(),
        operations_version: settings
            .operations_version
            .as_ref()
            .map_or(SmolStr::new_static("1"), |text| text.value.as_str().into()),
        sessions,
        answers: answers(settings.answers.clone().unwrap_or_default()),
        proposals: proposals(settings.proposals.clone().unwrap_or_default(), findings),
        store: store(&settings.store.clone().unwrap_or_default()),
        backend: backend(settings.backend.clone().unwrap_or_default(), findings),
        capacity: settings.capacity.as_ref().map(|settings| capacity::resolve(settings, findings)),
        actions,
        defects: settings.defects.iter().flat_map(|list| &list.0).map(|defect| defect.value.0).collect(),
    };
    numbers
        .iter()
        .map(|&number| CompanyPlan {
            name: format_smolstr!("{profile}-{number}"),
            number,
            domain: domain.replace(NUMBER, &number.to_string()).into(),
            title: title.replace(NUMBER, &number.to_string()),
            ..template.clone()
        })
        .collect()
}

fn default_title(profile: &str) -> String {
    let mut letters = profile.chars();
    let capital = letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>());
    format!("{} {NUMBER}", capital.unwrap_or_default().replace('-', " "))
}

/// The domain with its placeholder.
fn domain(profile: &str, place: Place, settings: &Settings, several: bool, findings: &mut Findings) -> String {
    let Some(domain) = &settings.domain else { return format!("{profile}-{NUMBER}.example") };
    let bare = domain.value.replacen(NUMBER, "1", 1);
    let label = |label: &str| {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=63).contains(&label.len()) && label.bytes().all(plain) && !label.starts_with('-') && !label.ends_with('-')
    };
    let under_example = bare.strip_suffix(".example").is_some_and(|name| name.split('.').all(label));
    if !under_example || bare.len() > 200 {
        let message = format!(
            "{} is no domain for a simulated Company; expected one like `shop-{{n}}.example`",
            shown(&domain.value)
        );
        findings.report(domain.place, message);
    } else if bare.starts_with("agent-") {
        findings
            .report(domain.place, "names that begin with `agent-` belong to the Agents' operators; expected another");
    }
    if several && !domain.value.contains(NUMBER) {
        let message =
            format!("{} is one domain for several Companies; expected `{NUMBER}` in it", shown(&domain.value));
        findings.report(if domain.place == Place::default() { place } else { domain.place }, message);
    }
    domain.value.clone()
}

fn sessions(settings: &Settings, default: SessionMode, findings: &mut Findings) -> Sessions {
    let (mode, chosen) = match settings.sessions.as_ref().map(|key| &key.0.value) {
        Some(SessionChoice::Dpop01(chosen)) => (SessionMode::Dpop01, chosen.clone()),
        Some(SessionChoice::Dpop02(chosen)) => (SessionMode::Dpop02, chosen.clone()),
        None => (default, crate::scenario::raw::SessionSettings::default()),
    };
    let mut positive = |key: &str, time: &Option<At<Time>>| {
        let time = time.as_ref()?;
        if time.value.0.is_zero() {
            findings.report(time.place, format!("`{key}` has to be more than 0"));
        }
        Some(time.value.0)
    };
    Sessions {
        mode,
        nonce_every: positive("nonce_every", &chosen.nonce_every),
        proof_window: positive("proof_window", &chosen.proof_window).unwrap_or(PROOF_WINDOW),
        token_lifetime: positive("token_lifetime", &chosen.token_lifetime).unwrap_or(TOKEN_LIFETIME),
        operations_resource: chosen.operations_resource.unwrap_or(false),
    }
}

fn answers(settings: AnswerSettings) -> Answers {
    Answers {
        latency: settings.latency.map_or(ANSWER_LATENCY, |spread| spread.0),
        answer_within: settings.answer_within.map_or(ANSWER_WITHIN, |time| time.0),
        retry_after: settings.retry_after.map_or(RETRY_AFTER, |time| time.0),
    }
}

fn proposals(settings: ProposalSettings, findings: &mut Findings) -> Proposals {
    if let Some(lifetime) = settings.lifetime.as_ref().filter(|time| time.value.0.is_zero()) {
        findings.report(lifetime.place, "`lifetime` has to be more than 0");
    }
    let revise = settings.revise.unwrap_or_default();
    Proposals {
        lifetime: settings.lifetime.map_or(LIFETIME, |time| time.value.0),
        revise_before_approval: revise.before_approval.map_or(0.0, |share| share.0),
        revise_after: revise.after.map_or(REVISE_AFTER, |spread| spread.0),
        revise_during_confirm: revise.during_confirm.map_or(0.0, |share| share.0),
    }
}

fn store(settings: &StoreSection) -> StoreSettings {
    StoreSettings { keep_final: settings.keep_final.map_or(KEEP_FINAL, |time| time.0) }
}

fn backend(settings: BackendSection, findings: &mut Findings) -> BackendSettings {
    if let Some(timeout) = settings.timeout.as_ref().filter(|time| time.value.0.is_zero()) {
        findings.report(timeout.place, "`timeout` has to be more than 0");
    }
    BackendSettings {
        latency: settings.latency.map_or(BACKEND_LATENCY, |spread| spread.0),
        timeout: settings.timeout.map_or(BACKEND_TIMEOUT, |time| time.value.0),
        ask_again: settings.ask_again.map_or(ASK_AGAIN, |time| time.0),
    }
}
