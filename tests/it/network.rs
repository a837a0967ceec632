//! The network of a scenario: messages that take time, get lost, overtake each other, arrive twice or not at all. Correct
//! parties come to no harm on it and are not accused; defects are caught all the same.

use std::{collections::BTreeSet, time::Duration};

use poppyfield::{
    history::{Event, record::WireIs},
    identity::Signatures,
    plan::{AgentDefect, CompanyDefect, Direction, Distribution, Network, Partition, Plan, Window},
};

use crate::{
    defects::{self, SHIPPED},
    rehearsal::{Rehearsal, rehearse_with},
};

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn partition(number: u32, at: Option<&str>, direction: Direction, from: u64, to: u64) -> Partition {
    let (id, at) = (format!("network-partition-{number}").into(), at.map(Into::into));
    Partition { id, at, direction, during: Window { from: ms(from), to: ms(to) } }
}

/// A network on which everything goes wrong: a heavy tail that reorders, loss, duplicates, a partition of each kind.
fn storm() -> Network {
    Network {
        latency: Distribution::Pareto { min: ms(2), shape: 0.9, max: ms(900) },
        loss: 0.04,
        duplicate: 0.08,
        partitions: vec![
            partition(1, None, Direction::Answers, 400, 900),
            partition(2, None, Direction::Requests, 1_500, 1_900),
            partition(3, None, Direction::Both, 2_600, 3_200),
        ],
    }
}

fn shipped(scenario: &str, seed: u64, operations: u64, network: Network) -> Plan {
    Plan { network, ..defects::shipped(scenario, seed, operations) }
}

fn rehearse(plan: Plan) -> Rehearsal {
    rehearse_with(plan, Signatures::Fast)
}

/// How often each kind of fault struck, with its ID.
fn struck(run: &Rehearsal) -> BTreeSet<(String, String)> {
    let faults = run.history.iter().filter_map(|record| match &record.event {
        Event::Fault(fault) => Some((fault.id.to_string(), fault.kind.to_string())),
        _ => None,
    });
    faults.collect()
}

/// `.ci/run` has two thousand seeds of it.
#[test]
fn correct_parties_are_not_accused_of_what_the_network_does() {
    let (mut effects, mut seen) = (0, BTreeSet::new());
    for seed in 1..50 {
        let scenario = SHIPPED[usize::try_from(seed).expect("small") % SHIPPED.len()];
        let run = rehearse(shipped(scenario, seed, 24, storm()));
        assert!(run.judgement.findings.is_empty(), "{scenario} with seed {seed}:\n{}", run.explained());
        assert!(run.judgement.incomplete.is_empty(), "{scenario} with seed {seed}: {:?}", run.judgement.incomplete);
        effects += run.judgement.counts.effects;
        seen.extend(struck(&run).into_iter().filter(|(id, _)| id.starts_with("network-")));
    }
    assert!(effects > 100, "{effects} effects");
    let expected = [
        ("network-duplicate", "duplicate"),
        ("network-loss", "lose-answer"),
        ("network-loss", "lose-request"),
        ("network-partition-1", "partition"),
        ("network-partition-2", "partition"),
        ("network-partition-3", "partition"),
    ];
    assert_eq!(seen, expected.map(|(id, kind)| (id.to_owned(), kind.to_owned())).into());
}

#[test]
fn defects_are_caught_on_a_bad_network() {
    let caught = |anomaly: &str, change: &dyn Fn(&mut Plan), scenario: &str| {
        let found = (1..=12).any(|seed| {
            let mut plan = shipped(scenario, seed, 40, storm());
            plan.faults.clear(); // the network alone brings it out
            change(&mut plan);
            rehearse(plan).anomalies().contains(&anomaly)
        });
        assert!(found, "no {anomaly} in 12 seeds of {scenario}");
    };
    let company = |defect: CompanyDefect| {
        move |plan: &mut Plan| {
            plan.companies.iter_mut().for_each(|company| company.defects = [defect].into_iter().collect());
        }
    };
    caught("double-effect", &company(CompanyDefect::PerformAgainOnRetry), "quickstart");
    caught("double-effect", &company(CompanyDefect::CheckThenAct), "confirm-storm");
    caught("stale-revision-accepted", &company(CompanyDefect::StaleRevisionAccepted), "revision-race");
    caught("effect-after-cancel", &company(CompanyDefect::PerformAfterCancel), "cancel-race");
    let repropose = |plan: &mut Plan| plan.swarm.defects = [AgentDefect::ReproposeOnTimeout].into_iter().collect();
    caught("duplicate-proposal", &repropose, "quickstart");
}

/// Every answer takes the Company's own time and two messages, to the nanosecond.
#[test]
fn response_times_are_what_the_latency_adds_up_to() {
    let answer = ms(7);
    let times = |latency: Distribution| {
        let mut plan = shipped("quickstart", 1, 60, Network { latency, ..Network::calm() });
        plan.faults.clear();
        for company in &mut plan.companies {
            company.answers.latency = Distribution::Constant(answer);
        }
        let run = rehearse(plan);
        assert!(struck(&run).is_empty(), "latency is no fault");
        let mut calls = std::collections::BTreeMap::new();
        let mut times = Vec::new();
        for record in &run.history {
            match &record.event {
                Event::Call(call) if call.purpose == poppyfield::history::record::Purpose::Propose => {
                    calls.insert(call.id.clone(), record.at);
                }
                Event::Return(end) => times.extend(calls.remove(&end.call).map(|sent| record.at - sent)),
                _ => {}
            }
        }
        assert!(times.len() > 30, "{}", times.len());
        times
    };
    let calm = u64::try_from(answer.as_nanos()).expect("short");
    assert!(times(Distribution::ZERO).iter().all(|time| *time == calm));
    assert!(times(Distribution::Constant(ms(40))).iter().all(|time| *time == calm + 80_000_000));
    let spread = times(Distribution::Uniform { from: ms(10), to: ms(50) });
    assert!(spread.iter().all(|time| (calm + 20_000_000..calm + 100_000_000).contains(time)), "{spread:?}");
    let mean = spread.iter().sum::<u64>() / spread.len() as u64;
    assert!(mean.abs_diff(calm + 60_000_000) < 6_000_000, "{mean}");
}

/// While only one Company is cut off, nobody else loses anything, and what is lost is what the direction says.
#[test]
fn a_partition_cuts_off_whom_it_names_in_its_direction() {
    for direction in [Direction::Requests, Direction::Answers] {
        let network =
            Network { partitions: vec![partition(1, Some("clothes-2"), direction, 1_000, 3_000)], ..Network::calm() };
        let mut plan = shipped("quickstart", 3, 120, network);
        plan.faults.clear();
        let run = rehearse(plan);
        let mut stopped = BTreeSet::new();
        for record in &run.history {
            if let Event::Fault(fault) = &record.event {
                assert_eq!((fault.kind.as_str(), fault.party.as_deref()), ("partition", Some("clothes-2")));
                stopped.extend(fault.call.clone());
            }
        }
        assert!(stopped.len() > 3, "{direction}: {stopped:?}");
        let arrived: BTreeSet<_> = run
            .history
            .iter()
            .filter_map(|record| match &record.event {
                Event::Wire(wire) if wire.is == WireIs::Arrived => Some(wire.call.clone()),
                _ => None,
            })
            .collect();
        let did = stopped.iter().filter(|call| arrived.contains(*call)).count();
        assert_eq!(did, if direction == Direction::Answers { stopped.len() } else { 0 }, "{direction}");
    }
}
