//! Failing runs shrink to small scenarios that fail the same way.

use std::{fs, sync::Arc};

use poppyfield::{
    checker::Anomaly,
    identity::Signatures,
    plan::{Defect, Exposure},
    scenario::{self, Overrides},
    sim::shrink::{self, Options, Shrunk},
};

use crate::{defects::shipped, rehearsal::rehearse_with};

/// The most seeds that a defect gets to show itself in.
const SEEDS: u64 = 12;
/// Journeys of the runs that are shrunk.
const OPERATIONS: u64 = 40;

/// Whether the defect at that place is tried: each third one, or all where `POPPYFIELD_TESTS=all` asks for it.
fn is_tried(place: usize) -> bool {
    place.is_multiple_of(3) || std::env::var("POPPYFIELD_TESTS").is_ok_and(|tests| tests == "all")
}

/// The first failing run of a defect, shrunk.
fn shrunk(defect: Defect) -> Shrunk {
    let (name, Exposure { scenario, must: anomaly, .. }) = (defect.word(), defect.exposure());
    let options = Options { anomaly: Anomaly::named(anomaly), ..Options::default() };
    for seed in 1..=SEEDS {
        let mut plan = shipped(scenario, seed, OPERATIONS);
        defect.switch_on(&mut plan);
        match shrink::shrink(&Arc::new(plan), &options) {
            Ok(shrunk) => return shrunk,
            Err(shrink::NotShrunk::Passes) => {}
            Err(error) => panic!("{name}: {error}"),
        }
    }
    panic!("{name}: no {anomaly} in {SEEDS} seeds of {scenario}");
}

/// What is wrong with how small a run became, and that its file fails the same way.
fn flaws(name: &str, anomaly: &str, shrunk: &Shrunk) -> Vec<String> {
    let mut flaws = Vec::new();
    let size = shrunk.after;
    if size.agents > 2 || size.companies > 1 || size.strikes > 3 {
        flaws.push(format!("{name}: {size:?}"));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("shrunk.yaml");
    fs::write(&path, scenario::resolved_yaml(&shrunk.plan)).expect("the scenario can be written");
    let loaded = scenario::load(&path, &Overrides::default());
    let again = rehearse_with(loaded.unwrap_or_else(|problems| panic!("{name}: {problems}")), Signatures::Real);
    if !again.anomalies().contains(&anomaly) {
        flaws.push(format!("{name}: the file shows {:?}", again.anomalies()));
    }
    flaws
}

fn all_become_small(of: impl Fn(&Defect) -> bool) {
    let mut wrong = Vec::new();
    for (_, defect) in Defect::all().filter(of).enumerate().filter(|(place, _)| is_tried(*place)) {
        wrong.extend(flaws(defect.word(), defect.exposure().must, &shrunk(defect)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_failing_run_of_every_defect_of_a_company_becomes_small() {
    all_become_small(|defect| matches!(defect, Defect::Company(_)));
}

#[test]
fn a_failing_run_of_every_defect_of_an_agent_becomes_small() {
    all_become_small(|defect| matches!(defect, Defect::Agent(_)));
}
