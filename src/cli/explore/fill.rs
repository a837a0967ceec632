//! Takes what is said about an exploration from what it showed.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Exploring, Searched};
use crate::{
    checker::{Anomaly, Level, Side},
    cli::{SignatureKind, folder::RunFolder},
    history::digest,
    measure::state_word,
    plan::{CrashPoint, Invariants, Plan},
    report::{
        exploration::{
            ChangeRow, CostRow, CoverageRow, Exploration, FaultRow, FoundIn, FoundRow, LastNewRow, LeftOpenRow,
            OverlapRow, PointRow, SearchRow, TroubleRow, VERSION,
        },
        summary::{self, AnomalyStatus, ReachRow, Verdict},
    },
    sim::{
        coverage::{Coverage, Item, declared, never},
        explore::{Explored, Group, TrialOf},
    },
};

/// All that is said, but for the verdict.
pub(super) fn exploration(
    plan: &Plan,
    exploring: &Exploring<'_>,
    started: Timestamp,
    folder: &RunFolder,
    searched: Searched,
) -> Exploration {
    let Searched { explored, failures, wall, cpu, workers, .. } = searched;
    let first = |(of, sentence): &(TrialOf, String)| FoundIn { of: of.to_string(), sentence: sentence.clone() };
    Exploration {
        version: VERSION,
        verdict: Verdict { exit_status: 0, word: String::new(), sentence: String::new(), reasons: Vec::new() },
        search: search(plan, exploring, started),
        partial: explored.interrupted,
        seeds: explored.seeds,
        crashes: explored.trials - explored.seeds,
        failing: explored.failing,
        failures,
        anomalies: anomalies(&plan.invariants, &explored),
        findings: explored.groups.iter().map(found).collect(),
        troubles: TroubleRow { count: explored.in_trouble, first: explored.troubles.iter().map(first).collect() },
        expected_but_absent: explored.absent.clone(),
        reach: reach(plan, &explored),
        left_open: explored
            .left_open
            .as_ref()
            .map(|(trials, of)| LeftOpenRow { trials: *trials, first: of.to_string() }),
        coverage: coverage(plan, &explored),
        cost: CostRow {
            workers: workers as u64,
            operations: explored.operations,
            requests: explored.requests,
            virtual_ns: explored.virtual_ns,
            wall_ns: u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX),
            cpu_seconds: cpu.map(|cpu| cpu.as_secs_f64()),
        },
        digest: digest_of(&explored.digests),
        folder: Some(folder.path().display().to_string()),
    }
}

fn search(plan: &Plan, exploring: &Exploring<'_>, started: Timestamp) -> SearchRow {
    let Exploring { args, explore, signatures, .. } = exploring;
    SearchRow {
        name: plan.name.clone(),
        seed: plan.seed,
        seeds: explore.seeds,
        budget_ns: explore.budget.map(|budget| u64::try_from(budget.as_nanos()).unwrap_or(u64::MAX)),
        fail_fast: explore.fail_fast,
        twice: explore.twice,
        operations: args.operations,
        fast_signatures: *signatures == SignatureKind::Fast,
        started: started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        poppyfield: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// How each anomaly was judged over all trials. As in a single run, one that showed only as a consequence did not hold.
fn anomalies(invariants: &Invariants, explored: &Explored) -> BTreeMap<String, AnomalyStatus> {
    let status = |anomaly: &Anomaly| {
        let over = explored.coverage.times(&Item::Rule(*anomaly));
        match (explored.shown.get(anomaly), over) {
            (Some(shown), over) => AnomalyStatus::Violated { times: shown.count, over },
            (None, 0) if !invariants.includes(anomaly.name()) => {
                AnomalyStatus::NotJudged { why: "not asked for".to_owned() }
            }
            (None, 0) => AnomalyStatus::NotJudged { why: "nothing in any history could show it".to_owned() },
            (None, over) => AnomalyStatus::Held { over },
        }
    };
    Anomaly::ALL.iter().map(|anomaly| (anomaly.name().to_owned(), status(anomaly))).collect()
}

fn found(group: &Group) -> FoundRow {
    let entry = group.anomaly.entry();
    FoundRow {
        anomaly: entry.name.to_owned(),
        level: match entry.level {
            Level::Must => summary::Level::Must,
            Level::Should => summary::Level::Should,
        },
        side: match entry.side {
            Side::Company => "company".to_owned(),
            Side::Agent => "agent".to_owned(),
        },
        rules: entry.rules.iter().map(|rule| (*rule).to_owned()).collect(),
        expected: group.expected,
        trials: group.trials,
        count: group.count,
        first: group
            .first
            .iter()
            .map(|(of, sentence)| FoundIn { of: of.to_string(), sentence: sentence.clone() })
            .collect(),
    }
}

/// The minimums, which all trials have to reach together.
fn reach(plan: &Plan, explored: &Explored) -> Vec<ReachRow> {
    let row = |(reach, count): (&crate::plan::Reach, &u64)| ReachRow {
        text: reach.text.clone(),
        count: *count,
        enough: *count >= reach.at_least,
    };
    plan.reach.iter().zip(&explored.reached).map(row).collect()
}

fn coverage(plan: &Plan, explored: &Explored) -> CoverageRow {
    let coverage = &explored.coverage;
    let mut row = CoverageRow {
        faults: declared(plan)
            .into_iter()
            .map(|fault| FaultRow {
                id: fault.id.to_string(),
                kind: fault.kind.to_owned(),
                struck: coverage.times(&Item::Fault(fault.id)),
            })
            .collect(),
        crash_points: CrashPoint::ALL.iter().map(|point| point_row(coverage, *point)).collect(),
        kinds: coverage.items().count() as u64,
        last_new: explored
            .last_new
            .as_ref()
            .map(|(of, what)| LastNewRow { of: of.to_string(), what: what.to_string() }),
        never: if explored.trials > 0 { never(plan, coverage) } else { Vec::new() },
        ..CoverageRow::default()
    };
    for journey in &plan.journeys {
        row.journeys.insert(journey.name.to_string(), coverage.times(&Item::Journey(journey.name.as_str().into())));
    }
    for (item, times) in coverage.items() {
        match item {
            Item::Change(from, to) => row.changes.push(ChangeRow {
                from: from.map(|from| state_word(from).to_owned()),
                to: state_word(*to).to_owned(),
                times,
            }),
            Item::Overlap(one, other) => {
                row.overlaps.push(OverlapRow { of: [(*one).to_owned(), (*other).to_owned()], times });
            }
            Item::Rule(_) | Item::Fault(_) | Item::Passed(_) | Item::Crashed(_) | Item::Journey(_) => {}
        }
    }
    row
}

fn point_row(coverage: &Coverage, point: CrashPoint) -> PointRow {
    PointRow {
        point: point.word().to_owned(),
        passed: coverage.times(&Item::Passed(point)),
        crashed: coverage.times(&Item::Crashed(point)),
    }
}

/// One digest of all.
fn digest_of(digests: &[String]) -> Option<String> {
    let lines: String = digests.iter().map(|digest| format!("{digest}\n")).collect();
    (!digests.is_empty()).then(|| digest::of_text(&lines))
}
