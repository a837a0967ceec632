//! Faults, and whether each can strike anything.

use std::collections::BTreeSet;
use std::time::Duration;

use smol_str::{SmolStr, format_smolstr};

use super::{group_names, report_unknown, strikes};
use crate::history::record::Purpose;
use crate::plan::{CompanyPlan, Distribution, Fault, FaultKind, Journey, JourneyStep, Passings, Strikes};
use crate::scenario::problem::{Findings, shown};
use crate::scenario::raw::{CrashSettings, EffectWord, FaultChoice, FaultSettings, RestartSettings};
use crate::scenario::value::{At, WindowText, written_duration};

const DUPLICATE_AFTER: Distribution = Distribution::Constant(Duration::from_millis(5));
const DOWN_FOR: Duration = Duration::from_secs(1);
const REFUSE_STATUS: u16 = 503;

/// What faults can strike.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) companies: &'a [CompanyPlan],
    pub(super) journeys: &'a [Journey],
    pub(super) load_duration: Duration,
}

/// Fills in and checks `faults`.
pub(super) fn resolve(faults: &[At<FaultSettings>], scene: &Scene<'_>, findings: &mut Findings) -> Vec<Fault> {
    let mut ids = BTreeSet::new();
    faults
        .iter()
        .enumerate()
        .map(|(index, fault)| {
            let settings = &fault.value;
            let kind = kind(&settings.r#do, findings);
            check(fault, &kind, scene, findings);
            if let Some(id) = &settings.id {
                strikes::check_id(id, findings);
            }
            let id =
                settings.id.as_ref().map_or_else(|| format_smolstr!("F{}", index + 1), |id| id.value.as_str().into());
            if !ids.insert(id.clone()) {
                let place = settings.id.as_ref().map_or(fault.place, |id| id.place);
                findings.report(place, format!("two faults have the ID {}; expected one each", shown(&id)));
            }
            Fault {
                id,
                at: settings.at.as_ref().map(|at| at.value.as_str().into()),
                on: settings.on.iter().flat_map(|on| &on.value).map(|word| word.0).collect(),
                step: settings.step.as_ref().map(|step| step.value.as_str().into()),
                during: settings.during.as_ref().map(|during| during.value.0),
                chance: settings.chance.as_ref().map_or(1.0, |chance| chance.value.0),
                strikes: strikes::resolve(settings, &kind, scene.companies, findings),
                kind,
            }
        })
        .collect()
}

fn kind(choice: &At<FaultChoice>, findings: &mut Findings) -> FaultKind {
    match &choice.value {
        FaultChoice::Delay(spread) => FaultKind::Delay(spread.0.clone()),
        FaultChoice::DelayAnswer(spread) => FaultKind::DelayAnswer(spread.0.clone()),
        FaultChoice::LoseRequest => FaultKind::LoseRequest,
        FaultChoice::LoseAnswer => FaultKind::LoseAnswer,
        FaultChoice::Reset => FaultKind::Reset,
        FaultChoice::HangUp => FaultKind::HangUp,
        FaultChoice::Duplicate(settings) => {
            FaultKind::Duplicate { after: settings.after.clone().map_or(DUPLICATE_AFTER, |spread| spread.0) }
        }
        FaultChoice::Refuse(settings) => {
            let status = settings.status.as_ref().map_or(REFUSE_STATUS, |status| status.value);
            if let Some(at) = settings.status.as_ref().filter(|at| at.value != 429 && !(500..600).contains(&at.value)) {
                findings.report(at.place, format!("`status` is {status}; expected 429 or 500 to 599"));
            }
            FaultKind::Refuse { status, retry_after: settings.retry_after.map(|time| time.0) }
        }
        FaultChoice::Crash(settings) => {
            let down_for = settings.down_for.map_or(DOWN_FOR, |time| time.0);
            let only = Passings {
                action: settings.action.as_ref().map(|action| action.value.as_str().into()),
                how: settings.how.as_ref().map(|how| how.0),
                once: settings.once.as_ref().map(|once| once.0),
            };
            FaultKind::Crash { point: settings.point.0, down_for, only }
        }
        FaultChoice::Restart(settings) => restart(settings, findings),
        FaultChoice::BackendSlow(spread) => FaultKind::BackendSlow(spread.0.clone()),
        FaultChoice::BackendTimeout(settings) => {
            FaultKind::BackendTimeout { effect: settings.effect != Some(EffectWord::None) }
        }
        FaultChoice::BackendFail => FaultKind::BackendFail,
    }
}

fn restart(settings: &RestartSettings, findings: &mut Findings) -> FaultKind {
    let every = settings.every.value.0;
    let down_for = settings.down_for.as_ref().map_or(DOWN_FOR, |time| time.value.0);
    if every.is_zero() {
        findings.report(settings.every.place, "`every` has to be more than 0");
    } else if down_for >= every {
        let place = settings.down_for.as_ref().map_or(settings.every.place, |time| time.place);
        let message =
            format!("down for {} of every {}; expected less", written_duration(&down_for), written_duration(&every));
        findings.report(place, message);
    }
    FaultKind::Restart { every, down_for }
}

/// Reports what keeps a fault from striking anything.
fn check(fault: &At<FaultSettings>, kind: &FaultKind, scene: &Scene<'_>, findings: &mut Findings) {
    let settings = &fault.value;
    let strikes = kind.strikes();
    let word = shown(kind.word());
    if let Some(chance) = settings.chance.as_ref().filter(|chance| chance.value.0 == 0.0) {
        findings.report(chance.place, "a chance of 0% never strikes; expected more, or take the fault out");
    }
    if let Some(during) = &settings.during {
        check_window(during, scene, findings);
    }
    if let Some(on) = &settings.on {
        if strikes != Strikes::Requests {
            findings.report(on.place, format!("{word} strikes no requests; expected no `on`"));
        } else if on.value.is_empty() {
            findings.report(on.place, "`on` is empty and strikes nothing; name requests or take it out");
        } else if on.value.iter().any(|purpose| purpose.0 == Purpose::Backend) {
            let message = format!(
                "{word} does not strike requests to the backend; expected `backend-slow` or `backend-timeout` for those"
            );
            findings.report(on.place, message);
        }
    }
    let victims = victims(settings.at.as_ref(), "fault", scene, findings);
    if let FaultChoice::Crash(CrashSettings { action: Some(action), .. }) = &settings.r#do.value {
        let mut names: Vec<&str> =
            victims.iter().flat_map(|company| company.actions.keys()).map(SmolStr::as_str).collect();
        names.sort_unstable();
        names.dedup();
        if !victims.is_empty() && !names.contains(&action.value.as_str()) {
            report_unknown("action", action, &names, findings);
        }
    }
    let Some(step) = &settings.step else { return };
    if strikes != Strikes::Steps {
        findings.report(step.place, format!("{word} strikes no single steps; expected no `step`"));
        return;
    }
    let mut names: Vec<&str> = victims
        .iter()
        .flat_map(|company| company.actions.values())
        .flat_map(|action| &action.steps)
        .flat_map(|step| std::iter::once(&step.name).chain(&step.undo))
        .map(SmolStr::as_str)
        .collect();
    names.sort_unstable();
    names.dedup();
    if !victims.is_empty() && !names.contains(&step.value.as_str()) {
        report_unknown("step", step, &names, findings);
    }
}

/// Reports a window that opens when nothing strikes any more.
pub(super) fn check_window(during: &At<WindowText>, scene: &Scene<'_>, findings: &mut Findings) {
    if during.value.0.from >= scene.load_duration && !scene.load_duration.is_zero() {
        let end = written_duration(&scene.load_duration);
        findings
            .report(during.place, format!("the window begins when load has ended, after {end}; expected it earlier"));
    }
}

/// The Companies that a fault (or a partition, whichever `what` says) can strike; reports a name that is none, and
/// Companies that nobody goes to.
pub(super) fn victims<'a>(
    at: Option<&At<String>>,
    what: &str,
    scene: &Scene<'a>,
    findings: &mut Findings,
) -> Vec<&'a CompanyPlan> {
    let Some(at) = at else { return scene.companies.iter().collect() };
    let name = at.value.as_str();
    let victims: Vec<&CompanyPlan> =
        scene.companies.iter().filter(|company| company.group == name || company.name == name).collect();
    if victims.is_empty() {
        let mut names = group_names(scene.companies);
        names.extend(scene.companies.iter().map(|company| company.name.as_str()));
        report_unknown("Company or group", at, &names, findings);
        return victims;
    }
    let visited = |group: &SmolStr| {
        scene
            .journeys
            .iter()
            .filter(|journey| journey.weight > 0)
            .flat_map(|journey| &journey.steps)
            .any(|step| matches!(step, JourneyStep::Propose { at, .. } if at == group))
    };
    // Where a journey is wrong, it may be the one that would have gone there.
    if findings.is_clean() && !victims.iter().any(|company| visited(&company.group)) {
        findings.report(at.place, format!("no journey goes to {}, so this {what} cannot strike", shown(name)));
    }
    victims
}
