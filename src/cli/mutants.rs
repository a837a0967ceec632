//! `poppyfield mutants`: every defect under the scenario that exposes it, and correct parties beside it.

use std::{collections::BTreeMap, path::Path};

use super::{Console, Failure, Format, MutantsArgs, explore, judge, progress, run, signals};
use crate::{
    checker::Anomaly,
    plan::{Defect, Plan},
    report::{
        ExitStatus,
        mutants::{InnocentRow, MutantRow, Mutants, render},
    },
    scenario::{self, Overrides, did_you_mean},
    sim::{
        explore::Watch,
        mutants::{Innocent, Mutant, Trials, small},
    },
    swarm::Usage,
};

/// What is done after the first signal.
const ENDING: &str = "telling what was found until now";

pub(super) fn mutants(args: &MutantsArgs, console: &Console) -> Result<ExitStatus, Failure> {
    let defects = chosen(&args.only)?;
    let plans = plans(&args.scenarios, &defects, args.operations)?;
    let trials = |seeds| Trials { seeds, workers: explore::workers(args.jobs) };
    let (watch, before) = (Watch::default(), Usage::now());
    // Its threads watch for signals and show how far it is, while this one searches.
    let runtime = run::runtime()?;
    let progress = runtime.block_on(async {
        signals::watch(&watch.stop, ENDING, console)?;
        Ok((!args.quiet && console.shows_progress()).then(|| progress::show_search(&watch, before)))
    })?;
    let mut shown = Mutants::default();
    for (scenario, plan) in plans.iter().take_while(|_| !watch.stop.is_cancelled()) {
        shown.innocent(innocent(scenario, trials(args.correct).of_correct_parties(plan, &watch)));
    }
    for defect in defects.into_iter().take_while(|_| !watch.stop.is_cancelled()) {
        if let Some(plan) = plans.get(defect.exposure().scenario) {
            shown.defects.push(mutant(&trials(args.seeds).of_defect(plan, defect, &watch)));
        }
    }
    shown.partial = watch.stop.is_cancelled();
    if let Some(progress) = progress {
        runtime.block_on(progress.end());
    }
    if !args.quiet {
        console.result(&print(&shown, args.format, console));
    }
    Ok(shown.status())
}

/// The defects that were named, or all.
fn chosen(only: &[String]) -> Result<Vec<Defect>, Failure> {
    let known = |name: &String| {
        let named = Defect::all().find(|defect| defect.word() == name);
        named.ok_or_else(|| {
            let near = did_you_mean(name, Defect::all().map(Defect::word));
            Failure::usage(format!("unknown defect `{name}`; expected one of docs/defects.md{near}"))
        })
    };
    if only.is_empty() { Ok(Defect::all().collect()) } else { only.iter().map(known).collect() }
}

/// The scenarios of these defects, made small.
fn plans(folder: &Path, defects: &[Defect], operations: u64) -> Result<BTreeMap<&'static str, Plan>, Failure> {
    let overrides = Overrides { anomalies: judge::anomaly_names(), ..Overrides::default() };
    let mut plans = BTreeMap::new();
    for scenario in defects.iter().map(|defect| defect.exposure().scenario) {
        if !plans.contains_key(scenario) {
            let path = folder.join(format!("{scenario}.yaml"));
            let hint = "the scenarios that come with Poppyfield are needed; --scenarios names their folder";
            let plan = scenario::load(&path, &overrides);
            let plan = plan.map_err(|problems| Failure::usage(format!("{problems}\n{hint}")))?;
            plans.insert(scenario, small(plan, operations));
        }
    }
    Ok(plans)
}

fn innocent(scenario: &str, shown: Innocent) -> InnocentRow {
    let Innocent { seeds, operations, accused, first } = shown;
    let first = first.map(|(seed, why)| format!("seed {seed}: {why}"));
    InnocentRow { scenario: scenario.to_owned(), seeds, operations, accused, first }
}

fn mutant(shown: &Mutant) -> MutantRow {
    let exposure = shown.defect.exposure();
    let names = |anomalies: Vec<Anomaly>| anomalies.iter().map(|anomaly| anomaly.name().to_owned()).collect();
    MutantRow {
        name: shown.defect.word().to_owned(),
        party: match shown.defect {
            Defect::Company(_) => "company".to_owned(),
            Defect::Agent(_) => "agent".to_owned(),
        },
        scenario: exposure.scenario.to_owned(),
        must: exposure.must.to_owned(),
        found: names(shown.found.keys().copied().collect()),
        strange: names(shown.strange()),
        caught: shown.is_caught(),
        seeds: shown.seeds,
        rate: if shown.seeds == 0 { 0.0 } else { shown.showing as f64 / shown.seeds as f64 },
        first: shown.first,
        trouble: shown.troubled.as_ref().map(|(seed, why)| format!("seed {seed}: {why}")),
    }
}

fn print(mutants: &Mutants, format: Format, console: &Console) -> String {
    match format {
        Format::Text => render(mutants, run::WIDTH, console.style()),
        Format::Json => run::json(mutants),
    }
}
