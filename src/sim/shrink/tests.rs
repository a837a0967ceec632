//! What shrinking rests on: a run said one by one is the same run, and what is taken away leaves the rest as it was.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use smol_str::SmolStr;

use super::{explicit::*, trial, *};
use crate::{
    history::{Event, Record, digest},
    plan::{CompanyDefect, LoadModel},
    scenario::{self, Overrides},
    sim::Outcome,
};

fn plan(scenario: &str, seed: u64, operations: u64) -> Plan {
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

fn listed_form(plan: &Plan) -> Plan {
    let seen = trial::run(&Arc::new(plan.clone()), &Options::default()).unwrap().unwrap();
    explicit(plan, &seen)
}

fn outcome(plan: &Plan) -> Outcome {
    Outcome::of(&Arc::new(plan.clone()), Signatures::Fast).unwrap()
}

/// The digest of a run but for what is only a figure: the intended start of a call.
fn fingerprint(plan: &Plan) -> String {
    let mut outcome = outcome(plan);
    for record in &mut outcome.history {
        if let Event::Call(call) = &mut record.event {
            call.due = None;
        }
    }
    digest::of_records(&outcome.history, &outcome.ledger).unwrap()
}

#[test]
fn a_run_that_is_said_one_by_one_is_the_same_run() {
    for scenario in ["timeout-recovery", "revision-race", "partial-failure", "signed-in", "jacket-exchange"] {
        for seed in [1, 2] {
            let plan = plan(scenario, seed, 25);
            let listed = listed_form(&plan);
            assert!(listed.load.iter().all(|load| matches!(load.model, LoadModel::Listed { .. })));
            assert!(listed.faults.iter().all(|fault| fault.strikes.is_some()));
            assert_eq!(fingerprint(&listed), fingerprint(&plan), "{scenario} with seed {seed}");
            // And so is what its file says.
            let again = trial::read_back(&listed).unwrap_or_else(|| panic!("{scenario}: its file says something else"));
            assert_eq!(fingerprint(&again), fingerprint(&plan), "{scenario} with seed {seed}");
        }
    }
}

/// What each wish chose, whenever it happened: its Company, the ID of its operation, its terms by revision, and what her
/// User answered.
fn choices(history: &[Record]) -> BTreeMap<SmolStr, BTreeSet<String>> {
    let (mut calls, mut actions) = (BTreeMap::new(), BTreeMap::new());
    let mut choices: BTreeMap<SmolStr, BTreeSet<String>> = BTreeMap::new();
    for record in history {
        match &record.event {
            Event::Call(call) => {
                let intent = call.intent.clone().or_else(|| actions.get(call.action.as_ref()?).cloned());
                if let Some(intent) = intent {
                    calls.insert(call.id.clone(), intent);
                }
            }
            Event::Return(ended) => {
                let (Some(intent), Some(view)) = (calls.get(&ended.call), &ended.view) else { continue };
                actions.insert(view.action.clone(), intent.clone());
                // Whether later revisions come about is a matter of time; the first one is not.
                if view.revision == 1 {
                    choices.entry(intent.clone()).or_default().insert(format!("{} {}", view.action, view.terms));
                }
            }
            Event::Approval(approval) if approval.revision == Some(1) => {
                let Some(intent) = approval.action.as_ref().and_then(|action| actions.get(action)) else { continue };
                choices.entry(intent.clone()).or_default().insert(format!("{:?} {:?}", approval.is, approval.terms));
            }
            _ => {}
        }
    }
    choices
}

/// Section B of what the simulated world promises: one operation or fault fewer leaves all others as they were.
#[test]
fn a_journey_or_a_fault_that_is_taken_away_leaves_the_choices_of_all_others() {
    let whole = listed_form(&plan("timeout-recovery", 3, 30));
    let before = choices(&outcome(&whole).history);
    let (all, _) = journeys(&whole);
    assert!(before.len() > 20 && all.len() > 20, "{} of {}", before.len(), all.len());
    let same = |plan: &Plan, what: &str| {
        let after = choices(&outcome(plan).history);
        for listed in journeys(plan).0 {
            let (Some(one), Some(other)) = (before.get(&listed.intent), after.get(&listed.intent)) else { continue };
            // An answer that was lost in one of the runs shows less, and never something else.
            assert!(one.is_subset(other) || other.is_subset(one), "{what}, {}: {one:?} {other:?}", listed.intent);
        }
        after.len()
    };
    for gone in (0..all.len()).step_by(7) {
        let kept = all.iter().enumerate().filter(|(place, _)| *place != gone).map(|(_, kept)| kept.clone());
        let fewer = with_journeys(&whole, &kept.collect::<Vec<_>>());
        assert!(same(&fewer, "without a journey") > 20);
    }
    let half: Vec<_> = all.iter().step_by(2).cloned().collect();
    assert!(same(&with_journeys(&whole, &half), "with half of the journeys") > 10);
    let struck = strikes(&whole);
    assert!(struck.len() > 3, "{struck:?}");
    assert!(same(&with_strikes(&whole, &struck[1..]), "without a strike") > 20);
    assert!(same(&with_strikes(&whole, &[]), "without faults") > 20);
}

#[test]
fn companies_of_a_group_keep_their_names_when_others_go() {
    let mut plan = listed_form(&plan("confirm-storm", 1, 20));
    let kept: Vec<SmolStr> = plan.companies.iter().skip(1).map(|company| company.name.clone()).collect();
    plan.companies.remove(0);
    let name = |company: &Option<SmolStr>| company.as_ref().is_some_and(|company| kept.contains(company));
    let left: Vec<_> = journeys(&plan).0.iter().filter(|journey| name(&journey.company)).cloned().collect();
    let fewer = with_journeys(&plan, &left);
    let again = trial::read_back(&with_strikes(&fewer, &[])).unwrap();
    assert_eq!(again.companies.iter().map(|company| company.name.clone()).collect::<Vec<_>>(), kept);
}

#[test]
fn a_run_that_passes_is_not_shrunk_and_a_bound_keeps_the_smallest_so_far() {
    let passing = Arc::new(plan("quickstart", 1, 10));
    assert!(matches!(shrink(&passing, &Options::default()), Err(NotShrunk::Passes)));
    let mut failing = plan("confirm-storm", 1, 20);
    for company in &mut failing.companies {
        company.defects = [CompanyDefect::CheckThenAct].into_iter().collect();
    }
    let failing = Arc::new(failing);
    let cut = shrink(&failing, &Options { candidates_max: 2, ..Options::default() }).unwrap();
    assert_eq!((cut.unfinished, cut.candidates, cut.anomaly), (Some(Unfinished::Bound), 2, Anomaly::DoubleEffect));
    let seen = trial::run(&Arc::new(cut.plan), &Options::default()).unwrap().unwrap();
    assert!(seen.judgement.counts_by_anomaly().contains_key(&Anomaly::DoubleEffect));
    let stop = CancellationToken::new();
    let interrupting = |progress: &Progress| {
        if progress.candidates == 5 {
            stop.cancel();
        }
    };
    let options = Options { stop: stop.clone(), progress: &interrupting, ..Options::default() };
    let cut = shrink(&failing, &options).unwrap();
    assert_eq!((cut.unfinished, cut.candidates), (Some(Unfinished::Interrupted), 5));
    // The same run shrinks to the same one.
    let texts = [(); 2].map(|()| scenario::resolved_yaml(&shrink(&failing, &Options::default()).unwrap().plan));
    assert_eq!(texts[0], texts[1]);
}
