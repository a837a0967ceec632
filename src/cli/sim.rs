//! `poppyfield sim`: a scenario in the simulated world, in virtual time, to the letter.

use std::sync::Arc;

use super::{
    Console, Failure, LaneKind, SignatureKind, SimArgs,
    explore::{self, Exploring},
    folder::{LATENCY_FILE, RunFolder, SCENARIO_FILE, SUMMARY_FILE},
    judge, progress,
    run::{self, Measured},
    shrink, signals,
};
use crate::{
    history::{Recorder, digest, record::WorldKind},
    measure::Meter,
    plan::Plan,
    report::{
        ExitStatus, Summary,
        summary::{RunIdentity, SimulationRow},
    },
    scenario::{self, Overrides},
    sim::{self, EPOCH, Setting, Simulated, crash_points},
    swarm::{Ran, Usage},
};

pub(super) fn sim(args: &SimArgs, console: &Console) -> Result<ExitStatus, Failure> {
    let SimArgs { run: args, signatures, lane, crash_at, shrink, explore } = args;
    let overrides = Overrides { seed: args.seed, anomalies: judge::anomaly_names(), ..Overrides::default() };
    let mut plan = scenario::load(&args.scenario, &overrides).map_err(Failure::usage)?;
    if let Some(operations) = args.operations {
        plan.limit(operations);
    }
    let plan = match crash_at {
        None => Arc::new(plan),
        Some(spot) => {
            let variant = crash_points::at(&plan, spot.clone());
            variant.map_err(|why| Failure::usage(format!("--crash-at {spot}: {why}")))?.plan
        }
    };
    if explore.asked() {
        let exploring =
            Exploring { args, explore, signatures: *signatures, shrink: *shrink, crash_at: crash_at.as_ref() };
        return explore::explore(&plan, &exploring, console);
    }
    let folder = RunFolder::make(&args.out, &plan.name, run::now(), plan.seed)?;
    let summary = match perform(&plan, &folder, (*signatures, *lane), console, args.quiet) {
        Ok(summary) => summary,
        Err(failure) => {
            folder.discard();
            return Err(failure);
        }
    };
    if let Some(spot) = crash_at
        && !summary.faults.crash_points.contains_key(spot.point.word())
    {
        console.note(&format!("nothing was stopped at {spot}: no such operation passed there while there was load"));
    }
    let lane = if *lane == LaneKind::Pipe { " --lane pipe" } else { "" };
    let crash_at = crash_at.as_ref().map(|spot| format!(" --crash-at {spot}")).unwrap_or_default();
    let own = format!("{}{lane}{crash_at}", signatures.option());
    let mut summary = run::conclude(summary, &folder, run::repeat_of("sim", args, &own, plan.seed));
    let whole = !summary.partial && summary.stopped.is_none();
    let keep = shrink.filter(|_| whole);
    let shrunk = keep.and_then(|keep| shrink::shrunk(&plan, keep, &folder, console, args.quiet));
    if shrunk.is_some() {
        // It names the file that was added.
        summary.files.names = folder.names();
        if let Err(failure) = folder.write_summary(&summary) {
            console.note(&format!("{SUMMARY_FILE} stays as it was before shrinking: {failure}"));
        }
    }
    if !args.quiet {
        console.result(&run::print(&summary, args.format, console));
        shrink::tell(shrunk, args.format, console);
    }
    Ok(run::status(&summary))
}

/// Simulates the plan and judges its files.
fn perform(
    plan: &Arc<Plan>,
    folder: &RunFolder,
    (signatures, lane): (SignatureKind, LaneKind),
    console: &Console,
    quiet: bool,
) -> Result<Summary, Failure> {
    folder.write(SCENARIO_FILE, &scenario::resolved_yaml(plan))?;
    let recorder = Recorder::to_folder(folder.path())
        .map_err(|error| Failure::environment(format!("cannot write the history: {error}")))?;
    let about = format!("poppyfield {} seed {}", plan.name, plan.seed);
    let log = Box::new(folder.create(LATENCY_FILE)?);
    let meter = Meter::with_log(log, run::system_time(EPOCH), &about).map_err(Failure::environment)?;
    let before = Usage::now();
    let pipes = lane == LaneKind::Pipe;
    let setting = Setting { pipes, ..Setting::to(recorder, meter, signatures.signatures()) };
    let simulated = simulate(plan, &setting, console, quiet)?;
    let written = setting.recorder.finish();
    let failure = setting.recorder.failure().or_else(|| written.err().map(|error| error.to_string()));
    let Simulated { ran, requests } = simulated;
    let measured = Measured { plan, meter: &setting.meter, ran: &ran, cost: Usage::now().zip(before) };
    let mut summary = run::summarise(folder.path(), identity(plan, &ran), &measured)?;
    let cost = Usage::now().zip(before).map(|(after, before)| after.cpu_since(&before).as_secs_f64());
    summary.health.cpu_seconds = cost;
    let per_second = cost.filter(|seconds| *seconds > 0.0).map(|seconds| requests as f64 / seconds);
    summary.simulation = Some(SimulationRow {
        requests,
        requests_per_cpu_second: per_second,
        fast_signatures: signatures == SignatureKind::Fast,
    });
    if !ran.interrupted && failure.is_none() {
        let digest = digest::of_folder(folder.path());
        let digest = digest.map_err(|error| Failure::environment(format!("cannot read the history: {error}")))?;
        summary.history_digest = Some(digest);
    }
    summary.stopped = failure.as_deref().map(run::unwritten).or(summary.stopped);
    Ok(summary)
}

/// Simulates in a thread of its own, while this one watches for signals and shows how far it is.
fn simulate(plan: &Arc<Plan>, setting: &Setting, console: &Console, quiet: bool) -> Result<Simulated, Failure> {
    run::runtime()?.block_on(async {
        signals::watch(&setting.control.stop, signals::JUDGING, console)?;
        let shown = (!quiet && console.shows_progress())
            .then(|| progress::show(plan, &setting.field, &setting.meter, &setting.control));
        let failing = run::watch(&setting.recorder, &setting.field, &setting.control);
        let (plan, simulating) = (Arc::clone(plan), setting.clone());
        #[expect(clippy::disallowed_methods, reason = "the simulated world is entered from outside")]
        let ended = tokio::task::spawn_blocking(move || sim::simulate(&plan, &simulating)).await;
        failing.abort();
        if let Some(shown) = shown {
            shown.end().await;
        }
        let ended = ended.map_err(|error| Failure::environment(format!("the simulation failed: {error}")))?;
        ended.map_err(Failure::environment)
    })
}

fn identity(plan: &Plan, ran: &Ran) -> RunIdentity {
    RunIdentity { world: WorldKind::Simulated, ..run::identity(plan, EPOCH, ran.ended.since(ran.load_began)) }
}
