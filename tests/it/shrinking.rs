//! Failing runs shrink to small scenarios that fail the same way.

use std::{fs, sync::Arc};

use poppyfield::{
    checker::Anomaly,
    identity::Signatures,
    plan::{CompanyDefect, Plan},
    scenario::{self, Overrides},
    sim::shrink::{self, Options, Shrunk},
};

use crate::{
    defects::{AGENT, COMPANY, shipped},
    rehearsal::rehearse_with,
};

/// The most seeds that a defect gets to show itself in.
const SEEDS: u64 = 12;
/// Journeys of the runs that are shrunk.
const OPERATIONS: u64 = 40;

/// Whether the defect at that place of its table is tried: each third one, or all where `POPPYFIELD_TESTS=all` asks for it.
fn is_tried(place: usize) -> bool {
    place.is_multiple_of(3) || std::env::var("POPPYFIELD_TESTS").is_ok_and(|tests| tests == "all")
}

/// The first failing run of a defect, shrunk.
fn shrunk(name: &str, scenario: &str, anomaly: &str, switch_on: impl Fn(&mut Plan)) -> Shrunk {
    let options = Options { anomaly: Anomaly::named(anomaly), ..Options::default() };
    for seed in 1..=SEEDS {
        let mut plan = shipped(scenario, seed, OPERATIONS);
        switch_on(&mut plan);
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

#[test]
fn a_failing_run_of_every_defect_of_a_company_becomes_small() {
    let mut wrong = Vec::new();
    for (_, (defect, scenario, anomaly)) in COMPANY.iter().enumerate().filter(|(place, _)| is_tried(*place)) {
        let small = shrunk(defect.word(), scenario, anomaly, |plan| {
            for company in &mut plan.companies {
                company.defects = [*defect].into_iter().collect();
            }
            if *defect == CompanyDefect::IgnoreExtensionListing {
                plan.swarm.operators_without_extension = plan.swarm.operators.div_ceil(2);
            }
        });
        wrong.extend(flaws(defect.word(), anomaly, &small));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_failing_run_of_every_defect_of_an_agent_becomes_small() {
    let mut wrong = Vec::new();
    for (_, (defect, scenario, anomaly)) in AGENT.iter().enumerate().filter(|(place, _)| is_tried(*place)) {
        let small =
            shrunk(defect.word(), scenario, anomaly, |plan| plan.swarm.defects = [*defect].into_iter().collect());
        wrong.extend(flaws(defect.word(), anomaly, &small));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
