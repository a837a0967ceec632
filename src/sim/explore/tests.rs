//! A search tells the same whatever runs it, and whatever its trials do.

use std::{num::NonZeroUsize, path::Path, sync::Arc};

use super::*;
use crate::{
    plan::{CompanyDefect, Plan},
    scenario::{self, Overrides},
    sim::{coverage::Item, crash_points::Spot, explore::trial::Trouble},
};

fn plan() -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/exploration.yaml");
    scenario::load(&path, &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"))
}

/// A shop that performs again when a confirm comes again: few seeds do not show it.
fn broken() -> Plan {
    let mut plan = plan();
    plan.companies[0].defects = [CompanyDefect::CheckThenAct].into_iter().collect();
    plan.load[0].operations = Some(2);
    plan
}

fn search(seeds: u64) -> Search {
    Search {
        first: Vec::new(),
        seed: 10,
        seeds: Some(seeds),
        workers: NonZeroUsize::MIN,
        signatures: Signatures::Fast,
        fail_fast: false,
        twice: false,
    }
}

fn with_workers(search: &Search, workers: usize) -> Search {
    Search { workers: NonZeroUsize::new(workers).expect("some"), ..search.clone() }
}

/// What is told, a line each.
fn told(plan: &Plan, search: &Search, watch: &Watch) -> (Vec<String>, Explored) {
    let mut lines = Vec::new();
    let explored = explore(plan, search, watch, &mut |trial| {
        let anomalies: Vec<_> = trial.failures().map(|found| found.anomaly.name()).collect();
        lines.push(format!("{}: {anomalies:?} {} {:?}", trial.of, trial.requests, trial.trouble));
    });
    (lines, explored)
}

#[test]
fn the_number_of_workers_changes_nothing_that_is_told() {
    let search = Search { twice: true, ..search(7) };
    let (alone, one) = told(&broken(), &search, &Watch::default());
    let (together, other) = told(&broken(), &with_workers(&search, 3), &Watch::default());
    assert_eq!(alone, together);
    assert_eq!((one.coverage, one.digests, one.last_new), (other.coverage, other.digests, other.last_new));
    let seeds: Vec<_> = alone.iter().map(|line| line.split(':').next().expect("a seed").to_owned()).collect();
    assert_eq!(seeds, (10..17).map(|seed| format!("seed {seed}")).collect::<Vec<_>>());
    assert!(one.failing > 0 && one.failing < 7, "some show the bug, and some do not: {}", one.failing);
    assert_eq!((one.seeds, one.trials, one.interrupted), (7, 7, false));
}

#[test]
fn fail_fast_ends_with_the_lowest_seed_that_fails() {
    let (all, _) = told(&broken(), &search(7), &Watch::default());
    let first = all.iter().position(|line| line.contains("double-effect")).expect("one of them shows it");
    for workers in [1, 3] {
        let search = Search { fail_fast: true, seeds: None, ..with_workers(&search(7), workers) };
        let (fast, explored) = told(&broken(), &search, &Watch::default());
        assert_eq!(fast, all[..=first], "{workers} workers");
        assert_eq!((explored.seeds, explored.failing), (first as u64 + 1, 1));
    }
}

#[test]
fn a_trial_that_panics_fails_and_the_others_go_on() {
    // Nobody is there to set out, which no scenario file can say.
    let mut nobody = plan();
    nobody.swarm.users = 0;
    let spot: Spot = "reply.before@exchange".parse().expect("a spot");
    let first = Variant { spot, fault: "F9".into(), plan: Arc::new(nobody) };
    let search = Search { first: vec![first], ..search(2) };
    let (lines, explored) = told(&plan(), &search, &Watch::default());
    assert_eq!((explored.trials, explored.seeds, explored.failing, explored.in_trouble), (3, 2, 1, 1));
    assert!(
        lines[0].starts_with("crash reply.before@exchange: []") && lines[0].contains("panicked at "),
        "{}",
        lines[0]
    );
    assert!(lines[1].starts_with("seed 10: []"), "{}", lines[1]);
}

#[test]
fn what_is_stopped_tells_of_whole_trials_alone() {
    let watch = Watch::default();
    watch.enough.cancel();
    let (lines, explored) = told(&plan(), &search(5), &watch);
    assert_eq!((lines.len(), explored.interrupted), (0, false), "enough is no interrupt");
    let watch = Watch::default();
    let mut seen = 0;
    let explored = explore(&plan(), &Search { seeds: None, ..search(0) }, &watch, &mut |trial| {
        assert!(!trial.fails(), "{:?}", trial.found);
        seen += 1;
        watch.stop.cancel();
    });
    assert!(seen >= 1 && explored.trials == seen && explored.interrupted, "{seen}");
    assert_eq!(watch.done() >= seen, watch.requests() > 0);
}

#[test]
fn seeds_end_with_the_greatest() {
    let (lines, _) = told(&plan(), &Search { seed: u64::MAX, ..search(5) }, &Watch::default());
    assert_eq!(lines.len(), 1);
    assert!(lines[0].starts_with(&format!("seed {}", u64::MAX)), "{}", lines[0]);
}

#[test]
fn where_two_runs_part_is_told_by_line() {
    assert_eq!(parting("history", &[1, 2, 3], &[1, 2, 3]), None);
    assert_eq!(parting("history", &[1, 2], &[1, 5]).expect("they part"), "line 2 of the history\n  2\n  5");
    assert_eq!(parting("ledger", &[1], &[1, 9]).expect("they part"), "line 2 of the ledger\n  (no line)\n  9");
    let trouble = Trouble::Differs(parting("ledger", &[1], &[2]).expect("they part"));
    assert_eq!(trouble.to_string(), "two runs of it differ: line 1 of the ledger\n  1\n  2");
}

#[test]
fn each_crash_that_strikes_is_tried_before_the_seeds() {
    let mut plan = plan();
    plan.faults.clear();
    plan.load[0].operations = Some(8);
    plan.companies[0].defects = [CompanyDefect::DropInProgressOnRestart].into_iter().collect();
    let mut search = search(1);
    search.first = crashes(&plan, &search, &Watch::default());
    let (lines, explored) = told(&plan, &search, &Watch::default());
    assert_eq!(explored.trials, explored.seeds + search.first.len() as u64);
    assert!(lines.last().is_some_and(|line| line.starts_with("seed 10: []")), "without a crash it holds");
    let failing = |line: &&String| line.starts_with("crash perform.after-effect@exchange/plain: [\"unresolved");
    assert_eq!(lines.iter().filter(failing).count(), 1, "{lines:?}");
    assert_eq!(explored.coverage.items().filter(|(item, _)| matches!(item, Item::Crashed(_))).count(), 9);
}
