//! `poppyfield check`: the verdict again, from the files of a run alone.

use std::{fs, path::Path};

use super::{
    CheckArgs, Console, Failure,
    folder::{SCENARIO_FILE, SUMMARY_FILE},
    judge, run,
};
use crate::{
    history::record::{Run, WorldKind},
    measure::Figures,
    measure::Health,
    plan::{Expectation, Invariants},
    report::{
        ExitStatus, HeldTo, Summary,
        summary::{Files, RunIdentity, VERSION},
    },
    scenario::{self, Overrides},
};

pub(super) fn check(args: &CheckArgs, console: &Console) -> Result<ExitStatus, Failure> {
    if !args.run.is_dir() {
        return Err(Failure::usage(format!("{} is no folder of a run", args.run.display())));
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
            let identity = identity(files.header.as_ref());
            Summary::of(identity, judged, &Figures::default(), HeldTo::default(), &Health::default())
        }
    };
    summary.files = Files { folder: Some(args.run.display().to_string()), names: summary.files.names };
    let summary = summary.concluded();
    if !args.quiet {
        console.result(&run::print(&summary, args.format, console));
    }
    Ok(run::status(&summary))
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
