//! Every defect that can be switched on is caught for its own anomaly, and the same runs without it are not accused.

use std::{num::NonZeroUsize, path::Path, thread, time::Duration};

use poppyfield::{
    checker::Anomaly,
    history::record::Purpose,
    plan::{CrashPoint, Defect, Exposure, Fault, FaultKind, Plan},
    scenario::{self, Overrides},
    sim::{
        explore::Watch,
        mutants::{Trials, small},
    },
};

use crate::rehearsal::{Rehearsal, rehearse};

/// The most seeds that a defect gets to show itself in.
const SEEDS: u64 = 20;

/// Journeys of each of them.
const OPERATIONS: u64 = 12;

pub(crate) fn shipped(scenario: &str, seed: u64, operations: u64) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(format!("{scenario}.yaml"));
    let overrides = Overrides { seed: Some(seed), ..Overrides::default() };
    let mut plan = scenario::load(&path, &overrides).unwrap_or_else(|problems| panic!("{problems}"));
    for load in &mut plan.load {
        load.operations = Some(operations);
    }
    // So few journeys are over before most windows open.
    for fault in &mut plan.faults {
        fault.during = None;
    }
    plan
}

/// The defect shows for its own anomaly and no other, and does so again with real signatures, in another thread, alone.
fn caught(defect: Defect) {
    let (name, Exposure { scenario, must, .. }) = (defect.word(), defect.exposure());
    let plan = small(shipped(scenario, 1, OPERATIONS), OPERATIONS);
    let trials = Trials { seeds: SEEDS, workers: thread::available_parallelism().unwrap_or(NonZeroUsize::MIN) };
    let mutant = trials.of_defect(&plan, defect, &Watch::default());
    assert!(mutant.is_caught(), "{mutant:#?} raised what it may not: {:?}", mutant.strange());
    let seed = mutant.first.expect("a seed that shows it");
    let mut again = Plan { seed, ..plan };
    defect.switch_on(&mut again);
    assert!(
        rehearse(again).anomalies().contains(&must),
        "{name}: seed {seed} of {scenario} does not show {must} again"
    );
}

fn all_caught(of: impl Fn(&Defect) -> bool) {
    Defect::all().filter(of).for_each(caught);
}

#[test]
fn every_defect_of_a_company_is_caught_for_its_own_anomaly() {
    all_caught(|defect| matches!(defect, Defect::Company(_)));
}

#[test]
fn every_defect_of_an_agent_is_caught_for_its_own_anomaly() {
    all_caught(|defect| matches!(defect, Defect::Agent(_)));
}

#[test]
fn what_defects_are_said_to_raise_the_checker_knows() {
    for exposure in Defect::all().map(Defect::exposure) {
        assert!(SHIPPED.contains(&exposure.scenario), "{exposure:?}");
        for anomaly in exposure.anomalies() {
            assert!(Anomaly::named(anomaly).is_some(), "{anomaly}");
        }
    }
}

/// The scenarios that come with the program.
pub(crate) const SHIPPED: &[&str] = &[
    "quickstart",
    "confirm-storm",
    "timeout-recovery",
    "revision-race",
    "partial-failure",
    "expiry-edge",
    "cancel-race",
    "jacket-exchange",
    "signed-in",
    "retry-storm",
];

#[test]
fn every_scenario_of_the_repository_is_tried() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let entries = std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> =
        entries.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
    let mut tried = SHIPPED.to_vec();
    files.sort_unstable();
    tried.sort_unstable();
    assert_eq!(files, tried);
}

fn assert_innocent(run: &Rehearsal, scenario: &str, seed: u64) {
    assert!(run.judgement.findings.is_empty(), "{scenario} with seed {seed}:\n{}", run.explained());
    assert!(run.judgement.incomplete.is_empty(), "{scenario} with seed {seed}: {:?}", run.judgement.incomplete);
    assert!(run.judgement.counts.effects > 0, "{scenario} with seed {seed} performed nothing");
}

#[test]
fn correct_parties_are_never_accused() {
    let mut operations = 0;
    for scenario in SHIPPED {
        for seed in 100..103 {
            let run = rehearse(shipped(scenario, seed, 80));
            assert_innocent(&run, scenario, seed);
            operations += run.judgement.counts.operations;
        }
    }
    assert!(operations > 1_500, "{operations} operations");
}

/// What the scenario itself keeps back, or cuts off, is nobody's fault.
#[test]
fn nobody_is_accused_of_what_the_harness_does() {
    let seconds = Duration::from_secs;
    let fault = |kind: FaultKind, on: &[Purpose], chance: f64| Fault {
        id: "F1".into(),
        kind,
        at: None,
        on: on.to_vec(),
        step: None,
        during: None,
        chance,
        strikes: None,
    };
    let with = |faults: Vec<Fault>, change: &dyn Fn(&mut Plan)| {
        let mut plan = shipped("quickstart", 1, 60);
        plan.faults = faults;
        change(&mut plan);
        plan
    };
    let refuse = FaultKind::Refuse { status: 429, retry_after: None };
    let down =
        FaultKind::Crash { point: CrashPoint::PerformAfterEffect, down_for: seconds(30), only: Default::default() };
    let lost = || fault(FaultKind::LoseAnswer, &[Purpose::Confirm, Purpose::Read], 0.3);
    let cases = [
        ("confirms refused in front of the Company", with(vec![fault(refuse, &[Purpose::Confirm], 0.5)], &|_| {})),
        ("no time to settle", with(vec![lost()], &|plan| plan.settle = Duration::ZERO)),
        (
            "a back-off longer than the settle time",
            with(vec![lost()], &|plan| {
                (plan.settle, plan.swarm.retry.first, plan.swarm.retry.longest) =
                    (seconds(3), seconds(30), seconds(60));
            }),
        ),
        (
            "a Retry-After longer than the settle time",
            with(vec![], &|plan| {
                plan.settle = seconds(3);
                for company in &mut plan.companies {
                    company.answers.retry_after = seconds(30);
                    company.answers.answer_within = Duration::ZERO;
                }
            }),
        ),
        ("a Company that is down until the end", with(vec![fault(down, &[], 0.05)], &|plan| plan.settle = seconds(2))),
    ];
    for (name, plan) in cases {
        let run = rehearse(plan);
        assert!(run.judgement.findings.is_empty(), "{name}:\n{}", run.explained());
        assert!(run.judgement.counts.effects > 0, "{name}: nothing was performed");
    }
}
