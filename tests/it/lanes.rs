//! Requests that travel as bytes leave the same history as requests that are handed over: HTTP/1.1 in memory adds nothing
//! and takes nothing away.

use std::sync::Arc;

use poppyfield::{
    identity::Signatures,
    plan::{Distribution, Network, Plan},
    sim::{Outcome, Setting},
};

use crate::{
    defects::{SHIPPED, shipped},
    determinism::assert_same,
};

/// Compares what a plan leaves on both lanes, line by line.
fn assert_same_on_both_lanes(plan: Plan, signatures: Signatures, what: &str) {
    let plan = Arc::new(plan);
    let on = |pipes| {
        let setting = Setting { pipes, ..Setting::in_memory(signatures) };
        Outcome::in_setting(&plan, setting).unwrap_or_else(|error| panic!("{what}: {error}"))
    };
    assert_same(&on(false), &on(true), what);
}

/// `.ci/run` has two hundred seeds more, on a bad network.
#[test]
fn every_shipped_scenario_is_the_same_through_pipes() {
    for scenario in SHIPPED {
        for seed in 1..=3 {
            let what = format!("{scenario} with seed {seed} through pipes");
            assert_same_on_both_lanes(shipped(scenario, seed, 30), Signatures::Fast, &what);
        }
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
