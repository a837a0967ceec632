//! Pointing a run at a Company that is not simulated: what is looked at first, and what is said before anything is loaded.

use std::{collections::BTreeSet, net::SocketAddr, path::Path};

use jiff::Timestamp;

use super::{Console, Failure, RunArgs, run, signals};
use crate::{
    measure::Inconclusive,
    plan::{Load, LoadModel, Plan, Target},
    report::format,
    scenario,
    swarm::{self, NoCount, NotLoaded, Ran},
    world::Field,
};

/// The target that the arguments name.
pub(super) fn load(args: &RunArgs) -> Result<Option<Target>, Failure> {
    match &args.target {
        Some(file) => scenario::load_target(file).map(Some).map_err(Failure::usage),
        None if args.may_load.is_empty() => Ok(None),
        None => Err(Failure::usage("--i-may-load-this-target without --target; name the target's file with it")),
    }
}

/// The hosts that may be loaded although they are not on loopback.
pub(super) fn may_load(args: &RunArgs) -> BTreeSet<String> {
    args.may_load.iter().cloned().collect()
}

/// Sees that the target may be loaded and is there, and says on stderr what the run will do to it.
pub(super) fn first_look(plan: &Plan, args: &RunArgs, console: &Console, started: Timestamp) -> Result<(), Failure> {
    let Some(target) = &plan.target else { return Ok(()) };
    let reached = run::runtime()?.block_on(swarm::probe(plan, &may_load(args), started));
    let reached = reached.map_err(|why| match why {
        NotLoaded::NotPermitted(_) => Failure::usage(why),
        NotLoaded::Unreachable(_) => Failure::environment(why),
    })?;
    let Some(address) = reached.map(|reached| reached.address) else { return Ok(()) };
    if !args.run.quiet || !address.ip().to_canonical().is_loopback() {
        announce(plan, target, address).iter().for_each(|line| console.note(line));
    }
    Ok(())
}

/// Whom the run loads, how hard and for how long, and what was dropped of the scenario.
fn announce(plan: &Plan, target: &Target, address: SocketAddr) -> Vec<String> {
    let mut lines = vec![
        format!("this run loads `{}`: https://{} at {address}", target.name, target.domain),
        format!("  how hard: {}", plan.load.iter().map(how_hard).collect::<Vec<_>>().join("; ")),
    ];
    let bounds = plan.load.iter().try_fold(0u64, |sum, load| Some(sum.saturating_add(load.operations?)));
    if let Some(journeys) = bounds {
        lines.push(format!("  how much: at most {}", format::counted(journeys, "journey", "journeys")));
    }
    let (load, settle) = (format::duration(plan.load_duration()), format::duration(plan.settle));
    lines.push(format!("  how long: at most {load} of load, and {settle} to settle"));
    lines.extend(plan.notes().iter().map(|note| format!("  note: {note}")));
    lines
}

fn how_hard(load: &Load) -> String {
    match &load.model {
        LoadModel::Closed { stages, .. } => {
            let agents = stages.iter().map(|stage| stage.from.max(stage.to)).max().unwrap_or(0);
            format!("at most {} at once", format::counted(agents.into(), "Agent", "Agents"))
        }
        LoadModel::Open { stages, in_flight, .. } => {
            let rate = stages.iter().map(|stage| stage.from.max(stage.to)).fold(0.0, f64::max);
            let in_flight = format::counted((*in_flight).into(), "journey", "journeys");
            format!("journeys at up to {}, at most {in_flight} at once", format::rate(rate))
        }
        LoadModel::Listed { journeys, .. } => {
            format!("{}, each at its time", format::counted(journeys.len() as u64, "journey", "journeys"))
        }
    }
}

/// Says where the run's own operators serve their documents, for whoever has to tell the target.
pub(super) fn announce_operators(field: &Field, tls: bool, authority: &Path, console: &Console) {
    for (host, address) in field.addresses() {
        let how = if tls { format!("trusted by {}", authority.display()) } else { "over plain HTTP".to_owned() };
        console.note(&format!("  https://{host} is served at {address}, {how}"));
    }
}

/// How the summary names the target.
pub(super) fn named(plan: &Plan) -> Option<String> {
    plan.target.as_ref().map(|target| format!("{} (https://{})", target.name, target.domain))
}

/// What the reader of a summary has to know besides: what was dropped, and what came of the hooks.
pub(super) fn notes(plan: &Plan, ran: &Ran, rejected: Option<String>) -> Vec<String> {
    let mut notes = plan.notes().to_vec();
    for (name, tally) in &ran.hooks {
        let why = tally.why.as_deref().unwrap_or_default();
        let asked = format::counted(tally.asked, "request", "requests");
        if tally.failed > 0 {
            notes.push(format!(
                "hook `{name}` failed at {} of {asked} ({why}): the run shows less than it could",
                tally.failed
            ));
        } else if tally.done == 0 {
            notes.push(format!("hook `{name}` refused all of {asked} ({why}): see `hooks` of the target file"));
        }
    }
    notes.extend(absent_values(ran));
    if let Some(rejected) = rejected {
        notes.push(format!("a certificate was not trusted: {rejected}"));
    }
    notes
}

/// Where proposals lacked a value that an earlier answer was to give.
fn absent_values(ran: &Ran) -> impl Iterator<Item = String> {
    ran.absent.iter().map(|(absent, times)| {
        format!("`{}` is not in the answer of {}, {}", absent.place, absent.request, format::times(*times))
    })
}

/// What is done once a run is interrupted: a target is asked for its count still.
pub(super) fn when_interrupted(plan: &Plan) -> String {
    let counts = plan.target.as_ref().is_some_and(|target| target.hooks.performed.is_some());
    if !counts {
        return signals::JUDGING.to_owned();
    }
    let most = format::duration(swarm::COUNT_INTERRUPTED_TIME);
    format!("waiting at most {most} for the target's count, then {}", signals::JUDGING)
}

/// Why the target's count is not whole, and what to do.
pub(super) fn uncounted(ran: &Ran) -> impl Iterator<Item = Inconclusive> {
    ran.uncounted.iter().map(|(why, times)| {
        let operations = format::counted(*times, "operation", "operations");
        let times = format::times(*times);
        let (reason, change) = match why {
            NoCount::UnknownOperation(status) => (
                format!("the target does not know {operations} any more (hook `performed`: status {status})"),
                "see that it keeps its records for as long as a run lasts, and was not restarted without them",
            ),
            NoCount::NoNumber { status, place, found } => (
                format!("hook `performed` answered {status}, but gave no whole number at `{place}` ({found}), {times}"),
                "see that the target file names the place where the count stands in its answer",
            ),
            NoCount::NoAnswer(why) => (
                format!("hook `performed` gave no count ({why}), {times}"),
                "see that it answers, at the URL in the target file",
            ),
            NoCount::BegunAnew => (
                "the target's count went down since the run began".to_owned(),
                "see that it keeps its records for as long as a run lasts, and was not restarted without them",
            ),
            NoCount::NotAsked => (
                format!("the target was not asked any more how often it performed {operations}"),
                "see that the hook `performed` answers in time",
            ),
        };
        Inconclusive { reason, change: change.to_owned() }
    })
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, time::Duration};

    use super::*;
    use crate::plan::{AgentStage, Arrivals, Distribution, RateStage, WhenFull};
    use crate::{swarm::Absent, world::Moment};

    #[test]
    fn a_load_says_how_hard_it_is() {
        let time = Duration::from_secs(1);
        let stages = vec![AgentStage { from: 0, to: 12, time }, AgentStage { from: 12, to: 3, time }];
        let model = LoadModel::Closed { stages, think: Distribution::ZERO };
        let load = |model| Load { model, warm_up: Duration::ZERO, operations: None };
        assert_eq!(how_hard(&load(model)), "at most 12 Agents at once");
        let stages = vec![RateStage { from: 1.0, to: 40.0, time }];
        let (arrivals, when_full) = (Arrivals::Poisson, WhenFull::Queue);
        let model = LoadModel::Open { arrivals, stages, in_flight: 1, when_full };
        assert_eq!(how_hard(&load(model)), "journeys at up to 40.0/s, at most 1 journey at once");
    }

    fn ran(uncounted: BTreeMap<NoCount, u64>, absent: BTreeMap<Absent, u64>) -> Ran {
        Ran {
            interrupted: false,
            load_began: Moment::START,
            load_ended: Moment::START,
            ended: Moment::START,
            cut_off: 0,
            hooks: BTreeMap::new(),
            uncounted,
            absent,
        }
    }

    #[test]
    fn each_reason_for_a_missing_count_is_told_with_what_to_do() {
        let place = "/performd".to_owned();
        let uncounted = [
            (NoCount::UnknownOperation(404), 1),
            (NoCount::NoNumber { status: 200, place, found: "nothing stands there" }, 2),
            (NoCount::NoAnswer("timeout".into()), 4),
            (NoCount::NotAsked, 12),
        ];
        let ran = ran(uncounted.into_iter().collect(), BTreeMap::new());
        let told: Vec<_> = super::uncounted(&ran).collect();
        let reasons: Vec<&str> = told.iter().map(|told| told.reason.as_str()).collect();
        assert_eq!(
            reasons,
            [
                "the target does not know 1 operation any more (hook `performed`: status 404)",
                "hook `performed` answered 200, but gave no whole number at `/performd` (nothing stands there), twice",
                "hook `performed` gave no count (timeout), 4 times",
                "the target was not asked any more how often it performed 12 operations",
            ]
        );
        assert!(told.iter().all(|told| !told.change.is_empty()));
    }

    #[test]
    fn places_that_gave_no_value_are_told() {
        let absent = Absent { request: "GET /api/orders".to_owned(), place: "/orders/0/nope".to_owned() };
        let ran = ran(BTreeMap::new(), BTreeMap::from([(absent, 16)]));
        let told = absent_values(&ran);
        assert_eq!(told.collect::<Vec<_>>(), ["`/orders/0/nope` is not in the answer of GET /api/orders, 16 times"]);
    }
}
