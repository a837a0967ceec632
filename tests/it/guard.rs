//! A journey's `in_flight`: never more at once, no start lost without being told, and the end in time.

use std::{collections::BTreeMap, path::Path, time::Duration};

use poppyfield::{
    history::{Event, record::PhaseIs},
    plan::{Distribution, LoadModel, Plan},
    scenario::{self, Overrides},
};

use crate::rehearsal::{Rehearsal, rehearse};

/// The quickstart with this many journeys at once let through, under a closed load of 12 Agents without think time.
fn guarded(in_flight: Option<u32>) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/quickstart.yaml");
    let mut plan = scenario::load(&path, &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"));
    plan.faults.clear();
    plan.swarm.users = 12;
    plan.load.truncate(1);
    plan.journeys.truncate(1);
    plan.journeys[0].in_flight = in_flight;
    let LoadModel::Closed { stages, think } = &mut plan.load[0].model else { panic!("not a closed load") };
    stages.truncate(1);
    (stages[0].from, stages[0].to, stages[0].time) = (12, 12, Duration::from_secs(5));
    *think = Distribution::Constant(Duration::from_millis(1));
    plan.load[0].operations = None;
    plan
}

/// The most journeys that were between their first request and their last answer at once.
fn most_at_once(run: &Rehearsal) -> usize {
    let mut spans: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let mut callers = BTreeMap::new();
    for record in &run.history {
        let process = match &record.event {
            Event::Call(call) if call.process.starts_with('a') => {
                callers.insert(&call.id, &call.process);
                &call.process
            }
            Event::Return(end) => match callers.get(&end.call) {
                Some(process) => process,
                None => continue,
            },
            _ => continue,
        };
        // A worker beside a journey's own process is part of that journey.
        let journey = process.split('.').next().unwrap_or(process);
        spans.entry(journey).or_insert((record.seq, record.seq)).1 = record.seq;
    }
    let at_once = |at: u64| spans.values().filter(|(from, to)| (*from..=*to).contains(&at)).count();
    spans.values().map(|(from, _)| at_once(*from)).max().unwrap_or(0)
}

#[test]
fn no_more_than_the_scenario_lets_are_under_way_and_who_waits_is_counted() {
    let free = rehearse(guarded(None));
    assert!(most_at_once(&free) > 3, "{}", most_at_once(&free));
    assert_eq!((free.counts.held, free.counts.dropped), (0, 0));

    let run = rehearse(guarded(Some(3)));
    assert_eq!(most_at_once(&run), 3);
    assert!(run.counts.held > 20, "{:?}", run.counts);
    // Nine of twelve were waiting when load ended, and say so; everybody else came to an end.
    assert_eq!(run.counts.dropped, 9, "{:?}", run.counts);
    assert_eq!(run.counts.journeys.values().sum::<u64>(), run.counts.arrivals);
    assert!(!run.counts.journeys.contains_key("cut-off"), "{:?}", run.counts);
    assert!(run.judgement.findings.is_empty(), "{}", run.explained());
}

#[test]
fn a_journey_that_waited_counts_from_when_it_was_due() {
    let run = rehearse(guarded(Some(1)));
    let late = run.history.iter().filter_map(|record| match &record.event {
        Event::Call(call) => Some(record.at - call.due?),
        _ => None,
    });
    // Twelve take turns, so that each waits for about eleven others.
    assert!(late.max() > Some(500_000_000), "{:?}", run.counts);
}

#[test]
fn who_waits_sets_out_no_more_once_load_is_over() {
    let run = rehearse(guarded(Some(2)));
    let settling = run.history.iter().find_map(|record| match &record.event {
        Event::Phase(phase) if phase.is == PhaseIs::Settling => Some(record.seq),
        _ => None,
    });
    let mut first: BTreeMap<&str, u64> = BTreeMap::new();
    for record in &run.history {
        if let Event::Call(call) = &record.event {
            first.entry(&call.process).or_insert(record.seq);
        }
    }
    let journeys = first.iter().filter(|(process, _)| process.starts_with('a') && !process.contains('.'));
    let last = journeys.map(|(_, seq)| *seq).max();
    assert!(last < settling, "{last:?} {settling:?}");
}
