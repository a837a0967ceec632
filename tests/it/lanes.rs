//! Requests that travel as bytes leave the same history as requests that are handed over: HTTP/1.1 in memory adds nothing
//! and takes nothing away.

use std::{path::Path, sync::Arc, time::Duration};

use poppyfield::{
    identity::Signatures,
    plan::{Distribution, Network, Plan},
    scenario::{self, Overrides},
    sim::{Outcome, Setting},
};

use crate::{defects::SHIPPED, determinism::assert_same};

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn shipped(scenario: &str, seed: u64, operations: u64) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(format!("{scenario}.yaml"));
    let overrides = Overrides { seed: Some(seed), ..Overrides::default() };
    let mut plan = scenario::load(&path, &overrides).unwrap_or_else(|problems| panic!("{problems}"));
    for load in &mut plan.load {
        load.operations = Some(operations);
    }
    for fault in &mut plan.faults {
        fault.during = None;
    }
    plan
}

/// Compares what a plan leaves on both lanes, line by line.
fn assert_same_on_both_lanes(plan: Plan, signatures: Signatures, what: &str) {
    let plan = Arc::new(plan);
    let on = |pipes| {
        let setting = Setting { pipes, ..Setting::in_memory(signatures) };
        Outcome::in_setting(&plan, setting).unwrap_or_else(|error| panic!("{what}: {error}"))
    };
    assert_same(&on(false), &on(true), what);
}

#[test]
fn every_shipped_scenario_is_the_same_through_pipes() {
    for scenario in SHIPPED {
        for seed in 1..=3 {
            let what = format!("{scenario} with seed {seed} through pipes");
            assert_same_on_both_lanes(shipped(scenario, seed, 30), Signatures::Fast, &what);
        }
    }
}

/// Run by hand: `cargo test --test it -- --ignored two_hundred_seeds_are_the_same`.
#[test]
#[ignore = "takes minutes"]
fn two_hundred_seeds_are_the_same_through_pipes() {
    for seed in 100..300 {
        let scenario = SHIPPED[usize::try_from(seed).expect("small") % SHIPPED.len()];
        let mut plan = shipped(scenario, seed, 24);
        plan.network = Network {
            latency: Distribution::Pareto { min: ms(2), shape: 0.9, max: ms(900) },
            duplicate: 0.05,
            loss: 0.03,
            ..Network::calm()
        };
        assert_same_on_both_lanes(plan, Signatures::Fast, &format!("{scenario} with seed {seed} through pipes"));
    }
}

#[test]
fn real_signatures_travel_through_pipes_too() {
    assert_same_on_both_lanes(shipped("signed-in", 4, 24), Signatures::Real, "signed-in through pipes");
}

/// Where nothing takes time, everything happens at once: the order is that of turns alone.
#[test]
fn so_is_one_in_which_nothing_takes_any_time() {
    for scenario in ["confirm-storm", "timeout-recovery", "cancel-race"] {
        let mut plan = shipped(scenario, 5, 60);
        for company in &mut plan.companies {
            company.answers.latency = Distribution::ZERO;
            company.backend.latency = Distribution::ZERO;
        }
        plan.network = Network { duplicate: 0.2, loss: 0.05, ..Network::calm() };
        assert_same_on_both_lanes(plan, Signatures::Fast, &format!("{scenario} in no time through pipes"));
    }
}
