//! Explorations that ended in each way, as they are printed.

use super::*;
use crate::report::Style;

fn anomalies(over: u64) -> BTreeMap<String, AnomalyStatus> {
    let held = ["double-effect", "unconfirmed-effect", "stale-revision-effect", "effect-off-terms"];
    let more = ["unapproved-confirm", "phantom-success", "unresolved-at-quiescence"];
    let mut anomalies: BTreeMap<_, _> =
        held.iter().chain(&more).map(|name| ((*name).to_owned(), AnomalyStatus::Held { over })).collect();
    let why = "nothing in any history could show it".to_owned();
    anomalies.insert("hidden-effect".to_owned(), AnomalyStatus::NotJudged { why });
    anomalies
}

fn held() -> Exploration {
    Exploration {
        version: VERSION,
        verdict: Verdict { exit_status: 0, word: String::new(), sentence: String::new(), reasons: Vec::new() },
        search: SearchRow {
            name: "timeout-recovery".into(),
            seed: 7,
            seeds: Some(1_200),
            operations: Some(40),
            fast_signatures: true,
            ..SearchRow::default()
        },
        partial: false,
        seeds: 1_200,
        crashes: 0,
        failing: 0,
        failures: Vec::new(),
        anomalies: anomalies(48_000),
        findings: Vec::new(),
        troubles: TroubleRow::default(),
        expected_but_absent: Vec::new(),
        reach: vec![ReachRow { text: "recoveries >= 1".into(), count: 2_040, enough: true }],
        left_open: None,
        coverage: CoverageRow {
            faults: vec![
                FaultRow { id: "F1".into(), kind: "lose-answer".into(), struck: 1_802 },
                FaultRow { id: "F2".into(), kind: "crash".into(), struck: 0 },
            ],
            crash_points: vec![
                PointRow { point: "accept.received".into(), passed: 48_712, crashed: 0 },
                PointRow { point: "perform.after-effect".into(), passed: 168_331, crashed: 301 },
            ],
            journeys: [("change-of-mind".to_owned(), 5_160), ("exchange".to_owned(), 42_840)].into(),
            changes: vec![
                ChangeRow { from: None, to: "proposed".into(), times: 48_000 },
                ChangeRow { from: Some("proposed".into()), to: "succeeded".into(), times: 44_280 },
            ],
            overlaps: vec![OverlapRow { of: ["cancel".into(), "confirm".into()], times: 363 }],
            kinds: 62,
            last_new: Some(LastNewRow { of: "seed 93".into(), what: "cancel|crash".into() }),
            never: vec!["F2 (crash at perform.after-effect) never struck".into()],
        },
        cost: CostRow {
            workers: 2,
            operations: 48_000,
            requests: 382_620,
            virtual_ns: 8_600_000_000_000,
            wall_ns: 5_900_000_000,
            cpu_seconds: Some(11.4),
        },
        digest: None,
        folder: Some("results/timeout-recovery-20260301T120000Z-7".into()),
    }
}

fn found(expected: bool) -> FoundRow {
    FoundRow {
        anomaly: "double-effect".into(),
        level: Level::Must,
        side: "company".into(),
        rules: vec!["OC-29".into()],
        expected,
        trials: 5,
        count: 7,
        first: vec![FoundIn {
            of: "seed 9".into(),
            sentence: "`charge` took effect 2 times for clothes-1/operation/op_hyYcDjENcx; confirms sent: 1.".into(),
        }],
    }
}

fn failing() -> Exploration {
    let mut exploration = held();
    exploration.failing = 6;
    exploration.findings = vec![found(false)];
    exploration.anomalies.insert("double-effect".into(), AnomalyStatus::Violated { times: 7, over: 48_000 });
    let sentence = "two runs of it differ: line 12 of the history\n  {\"seq\":11}\n  {\"seq\":12}".into();
    exploration.troubles = TroubleRow { count: 1, first: vec![FoundIn { of: "seed 31".into(), sentence }] };
    exploration
}

fn printed(exploration: Exploration) -> String {
    let text = render(&exploration.concluded(), 80, Style::Plain);
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    text
}

#[test]
fn what_held_is_printed() {
    insta::assert_snapshot!(printed(held()));
}

#[test]
fn what_fails_is_printed() {
    insta::assert_snapshot!(printed(failing()));
}

/// A change to an exploration, and the status and a piece of the text that it has to give.
type Case = (fn(&mut Exploration), u8, &'static str);

#[test]
fn the_verdict_follows_from_all_trials_together() {
    let cases: [Case; 13] = [
        (|_| {}, 0, "in 1,200 seeds, every confirmed action ran at most once"),
        (|it| it.findings = vec![found(true)], 0, "expects or allows: double-effect"),
        (|it| it.reach[0].enough = false, 4, "was not reached: there were 2,040 in all"),
        (|it| it.expected_but_absent = vec!["double-effect".into()], 4, "double-effect was expected and never showed"),
        (|it| it.left_open = Some(LeftOpenRow { trials: 2, first: "seed 8".into() }), 4, "seed 8 the first"),
        (|it| it.seeds = 0, 4, "nothing was tried to its end"),
        (|it| (it.crashes, it.seeds) = (9, 0), 4, "no seed was tried to its end"),
        (|it| (it.crashes, it.seeds, it.failing) = (9, 0, 1), 1, "1 of 9 single crashes and 0 seeds fails."),
        (|it| it.partial = true, 130, "interrupted; in 1,200 seeds until then"),
        (|it| (it.partial, it.failing) = (true, 1), 1, "1 of 1,200 seeds fails."),
        (|it| (it.partial, it.failing) = (true, 1), 1, "it was interrupted, and the rest was not tried"),
        (|it| it.cost.operations = 0, 4, "no proposal came to an operation"),
        (|it| (it.crashes, it.failing) = (9, 2), 1, "2 of 9 single crashes and 1,200 seeds fail."),
    ];
    for (change, status, text) in cases {
        let mut exploration = held();
        change(&mut exploration);
        let verdict = exploration.concluded().verdict;
        assert_eq!(verdict.exit_status, status, "{text}");
        let said = verdict.sentence + &verdict.reasons.join("\n");
        assert!(said.contains(text), "{said}");
    }
}

#[test]
fn an_exploration_is_the_same_after_a_round_trip_through_json() {
    let exploration = failing().concluded();
    let json = serde_json::to_string(&exploration).expect("it serialises");
    assert_eq!(serde_json::from_str::<Exploration>(&json).expect("it is read"), exploration);
}

#[test]
fn a_failing_trial_is_one_line_with_its_command() {
    let row = FailureRow {
        of: "seed 31".into(),
        anomalies: vec!["double-effect".into()],
        trouble: Some("two runs of it differ: line 12 of the history\n  {}\n  []".into()),
        replay: "poppyfield sim a.yaml --seed 31".into(),
    };
    let line = failure(&row);
    assert_eq!(line.matches('\n').count(), 1, "{line}");
    assert_eq!(
        line.trim(),
        "seed 31: two runs of it differ: line 12 of the history, double-effect; \
         replay: poppyfield sim a.yaml --seed 31"
    );
}

#[test]
fn single_crashes_are_not_counted_as_seeds_a_second() {
    let per_second = |crashes: u64| {
        let text = printed(Exploration { crashes, ..held() });
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(per_second(0).contains("per CPU second 105 seeds and"), "{}", per_second(0));
    assert!(per_second(1_200).contains("per CPU second 211 runs and"), "{}", per_second(1_200));
}

#[test]
fn a_line_says_how_far_an_exploration_is() {
    use std::time::Duration;
    let seconds = Duration::from_secs;
    assert_eq!(
        progress(1_200, 2, 90_000, seconds(4), Some(seconds(8))),
        "4 s  1,200 runs  300 a second  2 failing  11,250 requests per CPU second"
    );
    assert_eq!(progress(0, 0, 0, seconds(0), None), "0 s  0 runs  0 a second  0 failing");
}
