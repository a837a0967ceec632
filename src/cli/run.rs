//! `poppyfield run`: a scenario over sockets, in real time.

use std::{
    net::{IpAddr, Ipv4Addr},
    path::Path,
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime},
};

use jiff::Timestamp;
use serde::Serialize;

use super::{
    Console, Failure, Format, RunArgs, ScenarioArgs,
    folder::{AUTHORITY_FILE, LATENCY_FILE, RunFolder, SCENARIO_FILE, SUMMARY_FILE, TARGET_FILE},
    judge, progress, signals, target,
};
use crate::{
    history::Recorder,
    history::record::WorldKind,
    measure::{Inconclusive, Meter, Offered, counter, health},
    plan::{LoadModel, Plan},
    report::{
        ExitStatus, HeldTo, Summary, UNTIL_NOTHING_IS_OPEN,
        format::counted,
        render,
        summary::{Files, RunIdentity},
    },
    scenario::{self, Overrides},
    swarm::{self, Control, Ground, Ran, Usage},
    world::{Authority, Clock, Lane},
};

/// The width that summaries are written for.
pub(super) const WIDTH: usize = 80;

pub(super) fn run(args: &RunArgs, console: &Console) -> Result<ExitStatus, Failure> {
    let aim = target::load(args)?;
    let overrides =
        Overrides { seed: args.run.seed, target: aim, anomalies: judge::anomaly_names(), ..Overrides::default() };
    let mut plan = scenario::load(&args.run.scenario, &overrides).map_err(Failure::usage)?;
    if let Some(operations) = args.run.operations {
        plan.limit(operations);
    }
    target::first_look(&plan, args, console, now())?;
    let started = now();
    let folder = RunFolder::make(&args.run.out, &plan.name, started, plan.seed)?;
    let plan = Arc::new(plan);
    let summary = match perform(&plan, &folder, started, console, args) {
        Ok(summary) => summary,
        Err(failure) => {
            folder.discard();
            return Err(failure);
        }
    };
    let summary = conclude(summary, &folder, repeat(args, &plan));
    if !args.run.quiet {
        console.result(&print(&summary, args.run.format, console));
    }
    Ok(status(&summary))
}

/// The wall-clock time now.
#[expect(clippy::disallowed_methods, reason = "a run begins in the real world")]
pub(super) fn now() -> Timestamp {
    Timestamp::now()
}

/// A wall-clock time as the interval log takes it.
pub(super) fn system_time(time: Timestamp) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(time.as_millisecond()).unwrap_or(0))
}

/// The runtime of the real world: one worker a core.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::environment(format!("cannot start the runtime: {error}")))
}

/// Where requests travel: loopback sockets.
pub(super) fn sockets(tls: bool) -> Result<Lane, Failure> {
    let authority = tls.then(Authority::new).transpose();
    let authority = authority.map_err(|why| Failure::environment(format!("cannot make a CA for the run: {why}")))?;
    Ok(Lane::Sockets { bind: IpAddr::V4(Ipv4Addr::LOCALHOST), authority: authority.map(Arc::new) })
}

/// Runs the plan and judges its files.
fn perform(
    plan: &Arc<Plan>,
    folder: &RunFolder,
    started: Timestamp,
    console: &Console,
    args: &RunArgs,
) -> Result<Summary, Failure> {
    folder.write(SCENARIO_FILE, &scenario::resolved_yaml(plan))?;
    if let Some(target) = &plan.target {
        folder.write(TARGET_FILE, &scenario::resolved_target_yaml(target))?;
    }
    let recorder = Recorder::to_folder(folder.path())
        .map_err(|error| Failure::environment(format!("cannot write the history: {error}")))?;
    let log = Box::new(folder.create(LATENCY_FILE)?);
    let about = format!("poppyfield {} seed {}", plan.name, plan.seed);
    let meter = Meter::with_log(log, system_time(started), &about).map_err(Failure::environment)?;
    let before = Usage::now();
    let lane = own_lane(plan, folder)?;
    let (mut trouble, mut rejected) = (None, None);
    let ran = runtime()?.block_on(async {
        let tls = matches!(lane, Lane::Sockets { authority: Some(_), .. });
        let may_load = target::may_load(args);
        let ground = Ground {
            recorder: recorder.clone(),
            clock: Clock::real(),
            lane,
            epoch: started,
            first_port: None,
            may_load,
        };
        let field = swarm::set_up(plan, ground).await.map_err(Failure::environment)?;
        if plan.target.is_some() && !args.run.quiet {
            target::announce_operators(&field, tls, &folder.path().join(AUTHORITY_FILE), console);
        }
        let control = Control::default();
        signals::watch(&control.stop, target::when_interrupted(plan), console)?;
        let seen = progress::Seen::from(OnceLock::from(Arc::clone(&field)));
        let shown =
            (!args.run.quiet && console.shows_progress()).then(|| progress::show(plan, &seen, &meter, &control));
        let failing = watch(&recorder, &seen, &control);
        let ran = swarm::run(plan, &field, &meter, &control).await;
        failing.abort();
        trouble = field.trouble();
        rejected = field.rejected_certificate();
        if let Some(shown) = shown {
            shown.end().await;
        }
        ran.map_err(Failure::environment)
    })?;
    let written = recorder.finish();
    let failure = recorder.failure().or_else(|| written.err().map(|error| error.to_string()));
    let identity = identity(plan, started, ran.ended.since(ran.load_began));
    let cost = Usage::now().zip(before);
    let measured = Measured { plan, meter: &meter, ran: &ran, cost };
    let mut summary = summarise(folder.path(), identity, &measured)?;
    summary.notes = target::notes(plan, &ran, rejected);
    summary.stopped = failure.as_deref().map(unwritten).or(trouble).or(summary.stopped);
    Ok(summary)
}

/// Why a run stopped whose history could not be written.
pub(super) fn unwritten(why: &str) -> String {
    format!("the history could not be written ({why}); free some space, or choose another disk with --out")
}

/// Where the run's own parties are. With a target these are the operators at the most, whose documents it fetches: over
/// TLS, with the CA in the run's folder, unless the scenario says otherwise.
fn own_lane(plan: &Plan, folder: &RunFolder) -> Result<Lane, Failure> {
    let tls = plan.aimed.as_ref().map_or(plan.tls, |aimed| aimed.scenario.tls);
    let lane = sockets(tls)?;
    let serves = plan.target.as_ref().is_some_and(|target| target.operator.is_none());
    if let (Lane::Sockets { authority: Some(authority), .. }, true) = (&lane, serves) {
        folder.write(AUTHORITY_FILE, &authority.pem())?;
    }
    Ok(lane)
}

/// Ends the run early once its history cannot be written any more, or the system gives no more connections: what follows
/// would prove nothing.
pub(super) fn watch(recorder: &Recorder, seen: &progress::Seen, control: &Control) -> tokio::task::JoinHandle<()> {
    let (recorder, seen, stop) = (recorder.clone(), Arc::clone(seen), control.stop.clone());
    #[expect(clippy::disallowed_methods, reason = "the disk is outside the world")]
    tokio::spawn(async move {
        let troubled = || seen.get().is_some_and(|field| field.trouble().is_some());
        while recorder.failure().is_none() && !troubled() {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        stop.cancel();
    })
}

/// What a summary is made of, besides the files.
pub(super) struct Measured<'a> {
    pub(super) plan: &'a Plan,
    pub(super) meter: &'a Meter,
    pub(super) ran: &'a Ran,
    /// What the process had cost after the run and before it.
    pub(super) cost: Option<(Usage, Usage)>,
}

pub(super) fn summarise(folder: &Path, identity: RunIdentity, measured: &Measured<'_>) -> Result<Summary, Failure> {
    let Measured { plan, meter, ran, cost } = measured;
    let files = judge::judge(folder, &plan.invariants, &plan.expect);
    let files = files.map_err(|error| Failure::environment(format!("cannot read back what was written: {error}")))?;
    for fault in &files.faults {
        meter.fault(&fault.kind, fault.point.as_deref());
    }
    let figures = meter.figures(ran.load_ended.as_nanos());
    let open = plan.load.iter().any(|load| matches!(load.model, LoadModel::Open { .. }));
    let counts = &figures.counts;
    let simulated = identity.world == WorldKind::Simulated;
    let cpus = std::thread::available_parallelism().ok().and_then(|cpus| u32::try_from(cpus.get()).ok());
    let offered = Offered {
        journeys: open.then_some(counts.arrivals_steady + counts.dropped),
        cpu: cost.map(|(after, before)| after.cpu_since(&before)),
        memory_bytes_max: cost.map(|(after, _)| after.memory_bytes_max),
        wall: ran.ended.since(ran.load_began),
        // A share of the machine over virtual time says nothing.
        cpus: cpus.filter(|_| !simulated),
        virtual_time: simulated,
    };
    let mut health = health(&figures, &offered);
    let open = counts.counter(counter::LEFT_OPEN);
    if open > 0 && !ran.interrupted {
        health.inconclusive.push(Inconclusive {
            reason: format!(
                "{} that may be confirmed {} open when the run ended",
                counted(open, "operation", "operations"),
                if open == 1 { "was" } else { "were" }
            ),
            change: UNTIL_NOTHING_IS_OPEN.to_owned(),
        });
    }
    if !ran.interrupted {
        health.inconclusive.extend(target::uncounted(ran));
    }
    let held_to = HeldTo { thresholds: &plan.thresholds, reach: &plan.reach };
    let mut summary = Summary::of(identity, files.judged, &figures, held_to, &health);
    summary.partial = ran.interrupted;
    // What was found is told, whether or not its files can be written.
    summary.stopped = RunFolder::at(folder).write_anomalies(&files.findings).err().map(|failure| failure.to_string());
    Ok(summary)
}

pub(super) fn identity(plan: &Plan, started: Timestamp, duration: Duration) -> RunIdentity {
    RunIdentity {
        name: plan.name.clone(),
        target: target::named(plan),
        seed: plan.seed,
        world: WorldKind::Real,
        started: started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        duration_ns: u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX),
        repeat: String::new(),
        poppyfield: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// The command that runs the same plan again.
fn repeat(args: &RunArgs, plan: &Plan) -> String {
    let target = args.target.iter().map(|file| format!(" --target {}", quoted(file)));
    let may_load = args.may_load.iter().map(|host| format!(" --i-may-load-this-target {host}"));
    let aim: String = target.chain(may_load).collect();
    repeat_of("run", &args.run, &aim, plan.seed)
}

/// A command that runs the same scenario with a seed again, with what that command alone takes after the scenario.
pub(super) fn repeat_of(command: &str, args: &ScenarioArgs, own: &str, seed: u64) -> String {
    let operations = args.operations.map(|operations| format!(" --operations {operations}")).unwrap_or_default();
    format!("poppyfield {command} {}{own} --seed {seed}{operations}", quoted(&args.scenario))
}

/// A path as a shell takes it: in quotes if it needs them.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |character: char| character.is_alphanumeric() || "/._-+=:,@%".contains(character);
    if !text.is_empty() && text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Draws the verdict and writes the summary. That it could not be written is part of the verdict: whoever waited for a
/// run is told what it showed all the same.
pub(super) fn conclude(mut summary: Summary, folder: &RunFolder, repeat: String) -> Summary {
    summary.run.repeat = repeat;
    summary.files = Files { folder: Some(folder.path().display().to_string()), names: folder.names() };
    let mut summary = summary.concluded();
    if let Err(failure) = folder.write_summary(&summary) {
        summary.files.names.retain(|name| name != SUMMARY_FILE);
        summary.stopped.get_or_insert_with(|| failure.to_string());
        summary = summary.concluded();
    }
    summary
}

/// The summary as it goes to stdout.
pub(super) fn print(summary: &Summary, format: Format, console: &Console) -> String {
    match format {
        Format::Text => render(summary, WIDTH, console.style()),
        Format::Json => json(summary),
    }
}

/// Results as JSON goes to stdout.
pub(super) fn json(results: &impl Serialize) -> String {
    let json = serde_json::to_string_pretty(results);
    json.map_or_else(|error| format!("{{\"error\":\"{error}\"}}\n"), |json| json + "\n")
}

/// The exit status that a summary's verdict names.
pub(super) fn status(summary: &Summary) -> ExitStatus {
    ExitStatus::from_code(summary.verdict.exit_status).unwrap_or(ExitStatus::Stopped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Judged;

    #[test]
    fn a_command_can_be_pasted_whatever_the_file_is_called() {
        assert_eq!(quoted(Path::new("scenarios/a-b_1.yaml")), "scenarios/a-b_1.yaml");
        assert_eq!(quoted(Path::new("my/two words.yaml")), "'my/two words.yaml'");
        assert_eq!(quoted(Path::new("it's $1")), r"'it'\''s $1'");
    }

    #[test]
    fn what_a_run_showed_is_told_though_its_summary_cannot_be_written() {
        let out = tempfile::tempdir().expect("a folder");
        let folder = RunFolder::make(out.path(), "quickstart", now(), 1).expect("a folder of the run");
        std::fs::create_dir(folder.path().join(SUMMARY_FILE)).expect("something in its place");
        let identity = RunIdentity {
            name: "quickstart".to_owned(),
            target: None,
            seed: 1,
            world: WorldKind::Real,
            started: String::new(),
            duration_ns: 0,
            repeat: String::new(),
            poppyfield: String::new(),
        };
        let figures = Meter::new().figures(0);
        let health = health(&figures, &Offered::default());
        let summary = Summary::of(identity, Judged::default(), &figures, HeldTo::default(), &health);
        let summary = conclude(summary, &folder, "poppyfield run quickstart.yaml".to_owned());
        assert_eq!(status(&summary), ExitStatus::Stopped);
        assert!(summary.verdict.reasons[0].contains(SUMMARY_FILE), "{:?}", summary.verdict.reasons);
    }
}
