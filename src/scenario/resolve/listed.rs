//! Journeys that a load lists one by one.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::{SmolStr, format_smolstr};

use super::report_unknown;
use crate::plan::{CompanyPlan, Journey, JourneyStep, ListedJourney, LoadModel};
use crate::scenario::problem::{Findings, shown};
use crate::scenario::raw::{ListedJourneySettings, ListedSettings};
use crate::scenario::value::{At, written_duration};

/// The longest name of a wish.
const INTENT_LENGTH_MAX: usize = 60;

/// What the journeys of a list refer to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cast<'a> {
    pub(super) companies: &'a [CompanyPlan],
    pub(super) journeys: &'a [Journey],
    pub(super) users: u32,
}

/// What the lists before said, over all entries of the load.
#[derive(Debug, Default)]
pub(super) struct Said {
    intents: BTreeSet<SmolStr>,
    numbers: BTreeSet<(u32, u64)>,
    /// The highest number of each User so far.
    last: BTreeMap<u32, u64>,
}

/// Fills in and checks the entry at that place of the load.
pub(super) fn resolve(
    entry: usize,
    settings: &ListedSettings,
    cast: &Cast<'_>,
    said: &mut Said,
    findings: &mut Findings,
) -> LoadModel {
    let list = &settings.journeys;
    if list.value.is_empty() {
        findings.report(list.place, "`journeys` is empty; expected at least one");
    }
    let journeys = list.value.iter().enumerate();
    let journeys = journeys.map(|(place, at)| one(&format_smolstr!("i{entry}-{place}"), at, cast, said, findings));
    let journeys: Vec<ListedJourney> = journeys.collect();
    let time = settings.r#for.value.0;
    if time.is_zero() {
        findings.report(settings.r#for.place, "`for` has to be more than 0");
    }
    for (journey, settings) in journeys.iter().zip(&list.value).filter(|(journey, _)| journey.at > time) {
        let (at, end) = (written_duration(&journey.at), written_duration(&time));
        let place = settings.value.at.place;
        findings.report(place, format!("the load has ended by {at}; expected at most {end} (`for`)"));
    }
    LoadModel::Listed { journeys, time }
}

fn one(
    default: &SmolStr,
    at: &At<ListedJourneySettings>,
    cast: &Cast<'_>,
    said: &mut Said,
    findings: &mut Findings,
) -> ListedJourney {
    let settings = &at.value;
    let intent = settings.intent.as_ref().map_or_else(|| default.clone(), |intent| intent.value.as_str().into());
    let place = settings.intent.as_ref().map_or(at.place, |intent| intent.place);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if intent.is_empty() || intent.len() > INTENT_LENGTH_MAX || !intent.bytes().all(plain) {
        let form = format!("letters, digits and dashes, {INTENT_LENGTH_MAX} at most");
        findings.report(place, format!("{} is no name of an intent; expected {form}", shown(&intent)));
    } else if !said.intents.insert(intent.clone()) {
        findings.report(place, format!("two journeys have the intent {}; expected one each", shown(&intent)));
    }
    let user = settings.user.value;
    if !(1..=cast.users).contains(&user) {
        let message = format!("`user` is {user}; expected 1 to {} (`agents.users`)", cast.users);
        findings.report(settings.user.place, message);
    }
    let last = said.last.entry(user).or_default();
    let number = settings.number.as_ref().map_or(last.saturating_add(1), |number| number.value);
    *last = number.max(*last);
    let place = settings.number.as_ref().map_or(at.place, |number| number.place);
    if number == 0 {
        findings.report(place, "`number` is 0; expected at least 1");
    } else if !said.numbers.insert((user, number)) {
        findings.report(place, format!("two journeys of User {user} have the number {number}; expected one each"));
    }
    let company = settings.company.as_ref();
    check_way(settings, cast, findings);
    ListedJourney {
        journey: settings.journey.value.as_str().into(),
        intent,
        user,
        number,
        company: company.map(|company| company.value.as_str().into()),
        at: settings.at.value.0,
    }
}

/// Reports a journey that there is not, and a Company that it does not go to.
fn check_way(settings: &ListedJourneySettings, cast: &Cast<'_>, findings: &mut Findings) {
    let Some(journey) = cast.journeys.iter().find(|known| known.name == settings.journey.value) else {
        let names: Vec<&str> = cast.journeys.iter().map(|known| known.name.as_str()).collect();
        report_unknown("journey", &settings.journey, &names, findings);
        return;
    };
    let group = journey.steps.iter().find_map(|step| match step {
        JourneyStep::Propose { at, .. } => Some(at),
        _ => None,
    });
    let (Some(company), Some(group)) = (&settings.company, group) else { return };
    let there = cast.companies.iter().filter(|known| known.group == *group);
    let names: Vec<&str> = there.map(|known| known.name.as_str()).collect();
    // A group that there is not is reported where the journey names it.
    if !names.is_empty() && !names.contains(&company.value.as_str()) {
        report_unknown(&format!("Company of {}", shown(group)), company, &names, findings);
    }
}
