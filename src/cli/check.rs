//! `poppyfield check`: the verdict again, from the files of a run alone.

use std::{fs, path::Path};

use super::{
    CheckArgs, Console, Failure,
    folder::{SCENARIO_FILE, SUMMARY_FILE},
    judge, run,
};
use crate::{
    checker::Counts,
    history::{
        reader::{Folder, Reader},
        record::{FaultStruck, Run, WorldKind},
    },
    measure::Figures,
    measure::Health,
    plan::{Expectation, Invariants},
    report::{
        ExitStatus, HeldTo, Judged, Summary,
        summary::{Files, RecordedRow, RunIdentity, VERSION},
    },
    scenario::{self, Overrides},
};

pub(super) fn check(args: &CheckArgs, console: &Console) -> Result<ExitStatus, Failure> {
    match (args.run.is_dir(), &args.ledger) {
        (false, ledger) => return check_file(&args.run, ledger.as_deref(), args, console),
        (true, Some(_)) => {
            let text = "--ledger goes with a history that is a file; a folder holds its own";
            return Err(Failure::usage(text));
        }
        (true, None) => {}
    }
    let (invariants, expect) = held_to(&args.run)?;
    let files = judge::judge(&args.run, &invariants, &expect).map_err(Failure::usage)?;
    let mut summary = match recorded(&args.run)? {
        // What the generator and the clock said of the run is no matter of judgement: it stands as it was measured.
        Some(measured) => Summary {
            anomalies: files.judged.anomalies,
            findings: files.judged.findings,
            expected_but_absent: files.judged.expected_but_absent,
            incomplete: files.judged.incomplete,
            performed: files.judged.performed,
            ..measured
        },
        None => {
            let mut judged = files.judged;
            if args.run.join(SCENARIO_FILE).exists() {
                judged.incomplete.push(format!(
                    "there is no {SUMMARY_FILE}: thresholds, minimums and the generator cannot be judged again"
                ));
            }
            recorded_alone(files.header.as_ref(), judged, &files.faults, &files.counts)
        }
    };
    summary.files = Files { folder: Some(args.run.display().to_string()), names: summary.files.names };
    Ok(conclude(summary, args, console))
}

/// Judges a history that any program wrote, by every rule.
fn check_file(
    history: &Path,
    ledger: Option<&Path>,
    args: &CheckArgs,
    console: &Console,
) -> Result<ExitStatus, Failure> {
    let files = Folder {
        history: Reader::open(history).map_err(Failure::usage)?,
        ledger: ledger.map(Reader::open).transpose().map_err(Failure::usage)?,
    };
    let files = judge::judge_files(files, &Invariants::All, &Expectation::default()).map_err(Failure::usage)?;
    let mut summary = recorded_alone(files.header.as_ref(), files.judged, &files.faults, &files.counts);
    let names = [Some(history), ledger].into_iter().flatten().map(|path| path.display().to_string());
    summary.files = Files { folder: None, names: names.collect() };
    Ok(conclude(summary, args, console))
}

/// The summary of a history of whose run nothing else is known.
fn recorded_alone(header: Option<&Run>, judged: Judged, faults: &[FaultStruck], counts: &Counts) -> Summary {
    let mut summary = Summary::of(identity(header), judged, &Figures::default(), HeldTo::default(), &Health::default());
    for fault in faults {
        *summary.faults.by_kind.entry(fault.kind.to_string()).or_default() += 1;
        if let Some(point) = &fault.point {
            *summary.faults.crash_points.entry(point.to_string()).or_default() += 1;
        }
    }
    let Counts { records, entries, operations, calls, unknown, effects, .. } = *counts;
    summary.recorded = Some(RecordedRow { records, entries, operations, calls, unknown, effects });
    summary
}

fn conclude(summary: Summary, args: &CheckArgs, console: &Console) -> ExitStatus {
    let summary = summary.concluded();
    if !args.quiet {
        console.result(&run::print(&summary, args.format, console));
    }
    run::status(&summary)
}

/// What the run was held to: its own scenario says so; all of it where there is none.
fn held_to(run: &Path) -> Result<(Invariants, Expectation), Failure> {
    let path = run.join(SCENARIO_FILE);
    if !path.exists() {
        return Ok((Invariants::All, Expectation::default()));
    }
    let overrides = Overrides { anomalies: judge::anomaly_names(), ..Overrides::default() };
    let plan = scenario::load(&path, &overrides).map_err(Failure::usage)?;
    Ok((plan.invariants, plan.expect))
}

/// The summary that the run wrote, if it came to that.
fn recorded(run: &Path) -> Result<Option<Summary>, Failure> {
    let path = run.join(SUMMARY_FILE);
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    let summary: Summary =
        serde_json::from_str(&text).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    if summary.version != VERSION {
        let versions = format!("version {} is not one that this build reads ({VERSION})", summary.version);
        return Err(Failure::usage(format!("{}: {versions}", path.display())));
    }
    Ok(Some(summary))
}

/// What a history says of its run.
fn identity(header: Option<&Run>) -> RunIdentity {
    RunIdentity {
        name: "a recorded history".to_owned(),
        target: None,
        seed: header.map_or(0, |run| run.seed),
        world: header.map_or(WorldKind::Real, |run| run.world),
        started: header.map(|run| run.epoch.clone()).unwrap_or_default(),
        duration_ns: 0,
        repeat: String::new(),
        poppyfield: env!("CARGO_PKG_VERSION").to_owned(),
    }
}
