//! The simulated world repeats itself to the letter: same scenario, same seed, same bytes of history and ledger.

use std::{
    num::NonZeroUsize,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use poppyfield::{
    checker::Options,
    history::{Recorder, digest},
    identity::Signatures,
    measure::Meter,
    plan::Plan,
    scenario::{self, Overrides},
    sim::{
        self, JudgedRun, Outcome, Setting,
        explore::{Search, Watch, explore, parting},
    },
};
use serde::Serialize;

use crate::defects::{SHIPPED, shipped};

/// Journeys of each run.
const OPERATIONS: u64 = 30;

fn plan(scenario: &str, seed: u64) -> Arc<Plan> {
    Arc::new(shipped(scenario, seed, OPERATIONS))
}

fn simulated(scenario: &str, seed: u64) -> Outcome {
    Outcome::of(&plan(scenario, seed), Signatures::Real)
        .unwrap_or_else(|error| panic!("{scenario} with seed {seed}: {error}"))
}

fn line(record: &impl Serialize) -> String {
    serde_json::to_string(record).expect("records serialise")
}

pub(crate) fn assert_same(one: &Outcome, other: &Outcome, what: &str) {
    let parting =
        parting("history", &one.history, &other.history).or_else(|| parting("ledger", &one.ledger, &other.ledger));
    if let Some(parting) = parting {
        panic!("{what}: they part at {parting}");
    }
    assert_eq!(one.digest().expect("serialises"), other.digest().expect("serialises"), "{what}");
    assert!(one.history.len() > 100, "{what}: {} records show little", one.history.len());
}

#[test]
fn every_shipped_scenario_repeats_itself() {
    for (signatures, seeds) in [(Signatures::Real, 2), (Signatures::Fast, 6)] {
        for scenario in SHIPPED {
            let search = Search {
                first: Vec::new(),
                seed: 1,
                seeds: Some(seeds),
                workers: NonZeroUsize::MIN.saturating_add(1),
                signatures,
                fail_fast: false,
                twice: true,
            };
            let mut plan = Plan::clone(&plan(scenario, 1));
            for load in &mut plan.load {
                load.operations = Some(OPERATIONS / 3);
            }
            let explored = explore(&plan, &search, &Watch::default(), &mut |trial| {
                assert!(!trial.fails(), "{scenario}, {}: {:?} {:?}", trial.of, trial.trouble, trial.found);
            });
            assert_eq!((explored.seeds, explored.digests.len() as u64), (seeds, seeds), "{scenario}");
        }
    }
}

/// Other runs at its side, and a machine that is busy, are nothing to a run.
#[test]
fn a_run_is_the_same_among_others_on_a_busy_machine() {
    let alone: Vec<_> = SHIPPED.iter().map(|scenario| simulated(scenario, 7)).collect();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut burnt = 0u64;
                while !over.load(Ordering::Relaxed) {
                    burnt = std::hint::black_box(burnt.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1);
                }
            });
        }
        let others: Vec<_> = SHIPPED.iter().map(|scenario| scope.spawn(|| simulated(scenario, 7))).collect();
        let others: Vec<_> = others.into_iter().map(thread::ScopedJoinHandle::join).collect();
        over.store(true, Ordering::Relaxed);
        for ((one, other), scenario) in alone.iter().zip(others).zip(SHIPPED) {
            assert_same(one, &other.unwrap_or_else(|_| panic!("{scenario} panicked")), scenario);
        }
    });
}

#[test]
fn another_seed_is_another_run() {
    let (one, other) = (simulated("timeout-recovery", 1), simulated("timeout-recovery", 2));
    assert!(parting("history", &one.history[1..], &other.history[1..]).is_some());
}

/// What stands in the files of a folder is what a run in memory has, byte for byte.
#[test]
fn files_hold_what_memory_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let setting = Setting::to(Recorder::to_folder(folder.path()).expect("opens"), Meter::new(), Signatures::Real);
    sim::simulate(&plan("timeout-recovery", 1), &setting).unwrap_or_else(|error| panic!("{error}"));
    let files = digest::of_folder(folder.path()).expect("readable");
    assert_eq!(files, simulated("timeout-recovery", 1).digest().expect("serialises"));
}

/// A history says where it took place, and nothing of when or on which machine.
#[test]
fn a_history_names_the_simulated_world_and_its_epoch() {
    let header = line(&simulated("quickstart", 1).history[0]);
    assert!(header.contains(r#""world":"simulated","epoch":"2026-01-01T00:00:00Z","order":"total""#), "{header}");
}

/// Judged as it goes or from what was kept: the same judgement.
#[test]
fn a_run_judged_as_it_goes_is_judged_as_one_that_was_kept() {
    for scenario in SHIPPED {
        let plan = plan(scenario, 3);
        let kept = simulated(scenario, 3).judge(Options::default());
        let run = JudgedRun::of(&plan, Signatures::Real, Options::default()).unwrap_or_else(|error| panic!("{error}"));
        assert!(run.judgement.counts.operations > 0, "{scenario}");
        assert_eq!(run.judgement, kept, "{scenario}");
    }
}

/// The digest that the manuals show is the one that everybody gets.
#[test]
fn the_digest_in_the_manuals_is_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let plan = scenario::load(&root.join("scenarios/quickstart.yaml"), &Overrides::default());
    let plan = Arc::new(plan.unwrap_or_else(|problems| panic!("{problems}")));
    let outcome = Outcome::of(&plan, Signatures::Fast).unwrap_or_else(|error| panic!("{error}"));
    let digest = outcome.digest().expect("serialises");
    for manual in ["README.md", "docs/simulation.md"] {
        let text = std::fs::read_to_string(root.join(manual)).expect(manual);
        assert!(text.contains(&digest), "{manual} shows another digest than {digest}");
    }
}
