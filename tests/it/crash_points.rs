//! Every crash point with every kind of operation that passes it: correct Companies come to no harm at any, and a bug that
//! only a crash brings out is found.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use poppyfield::{
    checker::Options,
    identity::Signatures,
    plan::{CompanyDefect, CrashPoint, Manner, Plan},
    scenario::{self, Overrides},
    sim::{
        Outcome, Setting,
        crash_points::{self, Spot},
    },
};

use crate::defects::SHIPPED;

fn shipped(scenario: &str, operations: u64) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(format!("{scenario}.yaml"));
    let mut plan = scenario::load(&path, &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"));
    for load in &mut plan.load {
        load.operations = Some(operations);
    }
    plan
}

/// What became of every variant: nothing for one that struck nobody, else the anomalies.
fn tried(plan: Plan) -> BTreeMap<Spot, Option<Vec<&'static str>>> {
    let plan = Arc::new(plan);
    let striking = crash_points::that_strike(&plan, &Setting::in_memory(Signatures::Fast));
    let striking = striking.unwrap_or_else(|error| panic!("{error}"));
    let variants = crash_points::enumerate(&plan);
    let count = variants.len();
    let mut tried: BTreeMap<_, _> = variants.into_iter().map(|variant| (variant.spot, None)).collect();
    assert_eq!(tried.len(), count, "a spot comes twice");
    for variant in striking {
        let outcome = Outcome::of(&variant.plan, Signatures::Fast).unwrap_or_else(|error| panic!("{error}"));
        if outcome.faults().any(|fault| fault.id == variant.fault) {
            let judgement = outcome.judge(Options::default());
            assert!(judgement.incomplete.is_empty(), "{}", variant.spot);
            let found = judgement.counts_by_anomaly().into_keys().map(|anomaly| anomaly.name()).collect();
            tried.insert(variant.spot, Some(found));
        }
    }
    tried
}

#[test]
fn correct_companies_come_to_no_harm_at_any_point() {
    let mut passed = BTreeMap::new();
    for scenario in SHIPPED {
        // Few of its operations are still in progress when their cancel comes.
        let operations = if *scenario == "cancel-race" { 100 } else { 32 };
        for (spot, found) in tried(shipped(scenario, operations)) {
            let Some(found) = found else { continue };
            assert!(found.is_empty(), "{scenario} with --crash-at {spot}: {found:?}");
            *passed.entry((spot.point, spot.how)).or_insert(0) += 1;
        }
    }
    for point in CrashPoint::ALL {
        for how in [Manner::Plain, Manner::Revised] {
            assert!(
                passed.contains_key(&(*point, Some(how))),
                "no scenario has a {how} operation pass {point}: {passed:?}"
            );
        }
    }
    for (point, how) in [
        (CrashPoint::AcceptReceived, Manner::Repeated),
        (CrashPoint::ReplyBefore, Manner::Repeated),
        (CrashPoint::PerformAfterEffect, Manner::Cancelled),
    ] {
        assert!(passed.contains_key(&(point, Some(how))), "no scenario has a {how} operation pass {point}: {passed:?}");
    }
}

/// Without a crash nothing of it shows; with one, wherever an operation is in progress.
#[test]
fn a_bug_that_only_a_crash_brings_out_is_found_wherever_it_shows() {
    let mut plan = shipped("quickstart", 40);
    plan.faults.clear();
    for company in &mut plan.companies {
        company.defects = [CompanyDefect::DropInProgressOnRestart].into_iter().collect();
    }
    let calm = Outcome::of(&Arc::new(plan.clone()), Signatures::Fast).unwrap_or_else(|error| panic!("{error}"));
    assert!(calm.judge(Options::default()).findings.is_empty());
    let tried = tried(plan);
    let found = |point: CrashPoint| {
        let spot = Spot { point, action: "exchange".into(), how: Some(Manner::Plain) };
        tried[&spot].clone().unwrap_or_else(|| panic!("{spot} was not passed")).contains(&"unresolved-at-quiescence")
    };
    for point in CrashPoint::ALL {
        let in_progress = !matches!(
            point,
            CrashPoint::AcceptReceived
                | CrashPoint::AcceptChecked
                | CrashPoint::PerformRecorded
                | CrashPoint::ReplyBefore
        );
        // Elsewhere it may show in what else the Company was at.
        assert!(found(*point) || !in_progress, "{point}");
    }
}
