//! The summaries of runs that ended in each way, as they are printed.

use std::time::Duration;

use super::*;
use crate::{
    history::record::{Outcome, Purpose, State},
    measure::{Health, Meter, Offered, Sample, counter, health},
    plan::{Comparison, Figure, Metric, Reach, ReachCounter, Threshold},
    report::{
        HeldTo, Judged,
        summary::{AnomalyStatus, EvidenceLine, Files, FindingGroup, FindingLine, Level, PerformedRow, RunIdentity},
    },
};

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MILLISECOND;

fn identity() -> RunIdentity {
    RunIdentity {
        name: "quickstart".into(),
        target: None,
        seed: 7,
        world: WorldKind::Real,
        started: "2026-03-01T12:00:00Z".into(),
        duration_ns: 14_200 * MILLISECOND,
        repeat: "poppyfield run scenarios/quickstart.yaml --seed 7".into(),
        poppyfield: "0.1.0".into(),
    }
}

/// Two thousand journeys over ten seconds; the later of them slower, some without an answer.
fn meter() -> Meter {
    let meter = Meter::new();
    for index in 0..2_000 {
        let due = index * 5 * MILLISECOND;
        meter.arrival(due, due + MILLISECOND);
        for (step, service) in [(Purpose::Propose, 2), (Purpose::Confirm, 7), (Purpose::Read, 1)] {
            let sent = due + MILLISECOND / 2;
            let done = sent + service * MILLISECOND + index * 3_000;
            let lost = index % 100 == 0 && step == Purpose::Confirm;
            let (outcome, why) = if lost { (Outcome::Unknown, Some("timeout".into())) } else { (Outcome::View, None) };
            meter.sample(Sample { step, intended: due, held: 0, sent, done, outcome, why });
            if lost {
                meter.recovered(900 * MILLISECOND + index * 100_000);
                meter.fault("lose-answer", None);
            }
        }
        meter.count(counter::CONFIRMS);
        let state = if index % 50 == 1 { State::Failed } else { State::Succeeded };
        meter.finished(state, true, due + 20 * MILLISECOND);
        meter.journey(due, due + 30 * MILLISECOND, "done");
    }
    meter.fault("crash", Some("perform.after-effect"));
    meter.load_ended(10 * SECOND);
    meter
}

fn held() -> BTreeMap<String, AnomalyStatus> {
    let mut anomalies: BTreeMap<String, AnomalyStatus> = [
        "double-effect",
        "unconfirmed-effect",
        "effect-off-terms",
        "stale-revision-effect",
        "unapproved-confirm",
        "phantom-success",
        "lost-confirm",
        "unresolved-at-quiescence",
    ]
    .into_iter()
    .map(|name| (name.to_owned(), AnomalyStatus::Held { over: 2_000 }))
    .collect();
    for name in ["effect-after-cancel", "cancelled-while-unknown"] {
        anomalies.insert(name.to_owned(), AnomalyStatus::NotJudged { why: "no operation was cancelled".into() });
    }
    anomalies
}

fn plan() -> (Vec<Threshold>, Vec<Reach>) {
    let threshold = |text: &str, metric, comparison, limit| Threshold { metric, comparison, limit, text: text.into() };
    let thresholds = vec![
        threshold(
            "response.confirm.p99 < 250ms",
            Metric::Response { step: Some(Purpose::Confirm), percentile: 99.0 },
            Comparison::Less,
            Figure::Time(Duration::from_millis(250)),
        ),
        threshold("throughput >= 50/s", Metric::Throughput, Comparison::AtLeast, Figure::Rate(50.0)),
    ];
    let counter = ReachCounter::Faults("lose-answer".into());
    (thresholds, vec![Reach { counter, at_least: 10, text: "faults.lose-answer >= 10".into() }])
}

fn generator(meter: &Meter) -> Health {
    let offered = Offered {
        journeys: Some(2_000),
        cpu: Some(Duration::from_millis(6_500)),
        wall: Duration::from_secs(10),
        cpus: Some(2),
        memory_bytes_max: Some(64 * 1024 * 1024),
        virtual_time: false,
    };
    health(&meter.figures(10 * SECOND), &offered)
}

fn summary(meter: &Meter, judged: Judged) -> Summary {
    let (thresholds, reach) = plan();
    let held_to = HeldTo { thresholds: &thresholds, reach: &reach };
    let mut summary = Summary::of(identity(), judged, &meter.figures(10 * SECOND), held_to, &generator(meter));
    let names =
        ["anomalies/", "history.jsonl.zst", "latency.hlog", "ledger.jsonl.zst", "scenario.yaml", "summary.json"];
    summary.files = Files {
        folder: Some(
            "/var/lib/continuous-integration/nightly/poppyfield/results/quickstart-20260301T120000Z-7".to_owned(),
        ),
        names: names.map(str::to_owned).to_vec(),
    };
    summary
}

fn clean() -> Summary {
    summary(&meter(), Judged { anomalies: held(), ..Judged::default() })
}

fn event(seq: u64, at: u64, text: &str) -> EvidenceLine {
    EvidenceLine { seq, at, text: text.into() }
}

fn finding(operation: &str, number: u32, sentence: &str) -> FindingLine {
    let key = |suffix: &str| format!("effect charge r1 under key {operation}/charge{suffix}");
    FindingLine {
        action: Some(format!("clothes-1/operation/{operation}")),
        sentence: sentence.into(),
        evidence: vec![
            event(310, 4_531 * MILLISECOND, "User u3 approved r1 (terms 5f0c)"),
            event(311, 4_600 * MILLISECOND, "confirm r1 sent by a3/1"),
            event(314, 5_020 * MILLISECOND, &format!("{}, rtn_8c1d", key(""))),
            event(330, 5_400 * MILLISECOND, "confirm r1 ended without an answer (timeout)"),
            event(
                352,
                61_250 * MILLISECOND,
                &format!("{}, rtn_77aa; the first attempt under another key had acted", key("#2")),
            ),
        ],
        also_follows: vec![],
        file: Some(format!("anomalies/{number:04}.json")),
    }
}

fn broken() -> Judged {
    let mut anomalies = held();
    anomalies.insert("double-effect".into(), AnomalyStatus::Violated { times: 12, over: 2_000 });
    anomalies.insert("stale-revision-effect".into(), AnomalyStatus::Violated { times: 1, over: 2_000 });
    let mut stale = finding(
        "op_40",
        13,
        "terms that the User had not approved were performed: r2 instead of r1, 12.00 USD instead of 4.00 USD.",
    );
    stale.also_follows = vec!["phantom-success".into(), "revision-after-confirm".into()];
    let group = |anomaly: &str, rule: &str, count, first| FindingGroup {
        anomaly: anomaly.into(),
        level: Level::Must,
        side: "company".into(),
        rules: vec![rule.into()],
        count,
        expected: false,
        first,
    };
    let twice = |operation, number| finding(operation, number, "charge took effect twice for one approval.");
    Judged {
        anomalies,
        findings: vec![
            group("double-effect", "OC-29", 12, vec![twice("op_17", 1), twice("op_18", 2), twice("op_25", 3)]),
            group("stale-revision-effect", "OC-7", 1, vec![stale]),
        ],
        ..Judged::default()
    }
}

/// Renders, and holds every line but those of paths and commands to 80 columns.
fn rendered(summary: Summary) -> String {
    let summary = summary.concluded();
    let text = render(&summary, 80, Style::Plain);
    for line in text.lines() {
        let copied = line.contains("/var/lib/") || line.contains("poppyfield run");
        assert!(copied || line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
        assert_eq!(line.trim_end(), line);
    }
    let again: Summary =
        serde_json::from_str(&serde_json::to_string(&summary).expect("serialises")).expect("is read back");
    assert_eq!(again, summary, "summary.json holds all that is printed");
    text
}

#[test]
fn a_clean_run() {
    insta::assert_snapshot!(rendered(clean()));
}

#[test]
fn a_run_with_findings_of_two_kinds() {
    insta::assert_snapshot!(rendered(summary(&meter(), broken())));
}

#[test]
fn what_a_company_counts_itself_is_told() {
    let each = PerformedRow { asked: 40, operations: 37, times: 37 };
    let own = "by the Company's own count";
    assert_eq!(performed_text(each), format!("37 operations, none more than once, {own} (40 asked for)"));
    assert_eq!(performed_text(PerformedRow { asked: 0, operations: 0, times: 0 }), format!("nothing, {own}"));
    assert_eq!(
        performed_text(PerformedRow { asked: 0, times: 39, ..each }),
        format!("37 operations, 39 times in all: MORE THAN ONCE, {own}")
    );
    assert_eq!(
        performed_text(PerformedRow { asked: 0, times: 1, ..each }),
        format!("37 operations, 1 time in all, {own}")
    );
    let judged = Judged { anomalies: held(), performed: Some(each), ..Judged::default() };
    let text = rendered(summary(&meter(), judged));
    assert!(text.contains("\nPerformed    37 operations, none more than once"), "{text}");
}

#[test]
fn a_count_shows_what_a_ledger_would_and_no_more() {
    let sentence = |change: fn(&mut BTreeMap<String, AnomalyStatus>)| {
        let mut anomalies = held();
        for name in ["double-effect", "phantom-success", "effect-off-terms"] {
            anomalies.insert(name.to_owned(), AnomalyStatus::NotJudged { why: "there is no ledger".into() });
        }
        for name in ["performed-twice", "success-not-performed"] {
            anomalies.insert(name.to_owned(), AnomalyStatus::Held { over: 37 });
        }
        change(&mut anomalies);
        summary(&meter(), Judged { anomalies, ..Judged::default() }).concluded().verdict.sentence
    };
    let counted = "every confirmed action ran at most once by the Company's own count, and none was lost.";
    assert_eq!(sentence(|_| {}), counted);
    let violated = |anomalies: &mut BTreeMap<String, AnomalyStatus>| {
        anomalies.insert("double-effect".into(), AnomalyStatus::Violated { times: 1, over: 37 });
    };
    assert!(!sentence(violated).contains("at most once"), "the ledger has the last word");
    let uncounted = sentence(|anomalies| {
        anomalies.insert("performed-twice".into(), AnomalyStatus::NotJudged { why: "nobody counted".into() });
    });
    assert!(uncounted.starts_with("nothing was found that fails a run"), "{uncounted}");
}

#[test]
fn journeys_that_waited_are_told() {
    let meter = meter();
    meter.held();
    let text = rendered(summary(&meter, Judged { anomalies: held(), ..Judged::default() }));
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains("; 1 waited until fewer of their kind were in flight"), "{text}");
}

#[test]
fn a_run_that_was_interrupted() {
    let mut anomalies = held();
    anomalies.insert(
        "unresolved-at-quiescence".into(),
        AnomalyStatus::NotJudged { why: "the run was interrupted before it had settled".into() },
    );
    let mut summary = summary(&meter(), Judged { anomalies, ..Judged::default() });
    summary.partial = true;
    insta::assert_snapshot!(rendered(summary));
}

#[test]
fn a_run_whose_generator_fell_behind() {
    let meter = meter();
    for index in 0..500 {
        let due = index * 20 * MILLISECOND;
        let sent = due + 400 * MILLISECOND;
        let (step, outcome) = (Purpose::Confirm, Outcome::View);
        meter.sample(Sample { step, intended: due, held: 0, sent, done: sent + 9 * MILLISECOND, outcome, why: None });
        meter.dropped();
    }
    let offered = Offered {
        journeys: Some(2_500),
        cpu: Some(Duration::from_secs(19)),
        wall: Duration::from_secs(10),
        cpus: Some(2),
        memory_bytes_max: Some(64 * 1024 * 1024),
        virtual_time: false,
    };
    let figures = meter.figures(10 * SECOND);
    let mut summary = summary(&meter, Judged { anomalies: held(), ..Judged::default() });
    let judged = Judged { anomalies: summary.anomalies.clone(), ..Judged::default() };
    let with = Summary::of(identity(), judged, &figures, HeldTo::default(), &health(&figures, &offered));
    summary.health = with.health;
    insta::assert_snapshot!(rendered(summary));
}

#[test]
fn a_run_that_missed_a_threshold() {
    let meter = meter();
    for index in 0..100 {
        let due = index * 100 * MILLISECOND;
        let (step, outcome) = (Purpose::Confirm, Outcome::View);
        meter.sample(Sample {
            step,
            intended: due,
            held: 0,
            sent: due,
            done: due + 600 * MILLISECOND,
            outcome,
            why: None,
        });
    }
    insta::assert_snapshot!(rendered(summary(&meter, Judged { anomalies: held(), ..Judged::default() })));
}

#[test]
fn a_run_in_which_nothing_ran() {
    let meter = Meter::new();
    let anomalies = held()
        .into_keys()
        .map(|name| (name, AnomalyStatus::NotJudged { why: "the history holds no operation".into() }))
        .collect();
    let figures = meter.figures(0);
    let judged = Judged { anomalies, ..Judged::default() };
    let health = health(&figures, &Offered::default());
    let mut summary = Summary::of(identity(), judged, &figures, HeldTo::default(), &health);
    summary.run.duration_ns = 3 * MILLISECOND;
    insta::assert_snapshot!(rendered(summary));
}

#[test]
fn colours_are_only_used_when_asked_for() {
    let summary = clean().concluded();
    let plain = render(&summary, 80, Style::Plain);
    let coloured = render(&summary, 80, Style::Colour);
    assert!(!plain.contains('\u{1b}'));
    assert!(coloured.starts_with("\u{1b}[1;32mPASS\u{1b}[0m  "));
    let mut stripped = coloured;
    for code in ["1;32", "1;31", "1", "0"] {
        stripped = stripped.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(stripped, plain);
}

#[test]
fn text_of_a_peer_neither_steers_the_terminal_nor_overflows_it() {
    let mut judged = broken();
    judged.findings[0].first[0].sentence = format!("\u{1b}[2J{}", "x".repeat(300));
    judged.findings[0].first[0].action = Some(format!("shop/operation/{}\u{7}", "y".repeat(200)));
    let mut summary = summary(&meter(), judged);
    summary.steps[0].reasons.insert("\u{1b}]0;gotcha\u{7}".into(), 3);
    let text = rendered(summary);
    assert!(text.chars().all(|character| character == '\n' || !character.is_control()));
}

#[test]
fn exit_statuses_follow_from_the_summary() {
    let status = |change: fn(&mut Summary)| {
        let mut summary = clean();
        change(&mut summary);
        summary.concluded().verdict.exit_status
    };
    assert_eq!(status(|_| {}), 0);
    assert_eq!(status(|summary| summary.thresholds[0].held = false), 3);
    assert_eq!(status(|summary| summary.reach[0].enough = false), 4);
    assert_eq!(status(|summary| summary.incomplete.push("the ledger has no end".into())), 4);
    assert_eq!(status(|summary| summary.partial = true), 130);
    assert_eq!(status(|summary| summary.stopped = Some("no space is left".into())), 5);
    assert_eq!(status(|summary| summary.findings = broken().findings), 1);
    assert_eq!(status(|summary| summary.expected_but_absent.push("double-effect".into())), 1);
    assert_eq!(
        status(|summary| {
            summary.expected_but_absent.push("double-effect".into());
            summary.incomplete.push("the ledger has no end".into());
        }),
        4,
        "a ledger with gaps may not hold what was expected"
    );
    assert_eq!(
        status(|summary| {
            for status in summary.anomalies.values_mut() {
                *status = AnomalyStatus::NotJudged { why: "no operation was confirmed".into() };
            }
        }),
        4,
        "a run in which nothing could be judged is no pass"
    );
    assert_eq!(
        status(|summary| {
            summary.findings = broken().findings;
            summary.findings.iter_mut().for_each(|group| group.expected = true);
        }),
        0
    );
    assert_eq!(
        status(|summary| {
            summary.findings = broken().findings;
            summary.findings.iter_mut().for_each(|group| group.level = Level::Should);
        }),
        0
    );
}

#[test]
fn what_was_not_judged_is_not_claimed() {
    let sentence = |unjudged: &str| {
        let mut summary = clean();
        summary.anomalies.insert(unjudged.into(), AnomalyStatus::NotJudged { why: "no ledger".into() });
        summary.concluded().verdict.sentence
    };
    assert_eq!(
        sentence("something-else"),
        "every confirmed action ran at most once, on the terms its User approved, and none was lost."
    );
    assert_eq!(
        sentence("unresolved-at-quiescence"),
        "every confirmed action ran at most once, on the terms its User approved."
    );
    assert_eq!(sentence("unapproved-confirm"), "every confirmed action ran at most once, and none was lost.");
    assert_eq!(sentence("double-effect"), "nothing was found that fails a run (7 of 10 anomalies were judged).");
}

#[test]
fn a_simulated_run_says_what_it_took_and_shows_its_digest_instead_of_lag() {
    let mut summary = clean();
    summary.run.world = WorldKind::Simulated;
    summary.simulation =
        Some(SimulationRow { requests: 12_345, requests_per_cpu_second: Some(1_899.2), fast_signatures: true });
    summary.history_digest = Some("0".repeat(64));
    let text = render(&summary.concluded(), 80, Style::Plain);
    assert!(text.contains("simulated world") && text.contains("of virtual time"), "{text}");
    assert!(text.contains("Simulation   12,345 requests in 6.50 s of CPU: 1,899 a second of it"), "{text}");
    assert!(text.contains(&format!("Digest       {}\n", "0".repeat(64))), "{text}");
    assert!(text.replace("\n             ", " ").contains("fast signatures, which prove nothing"), "{text}");
    assert!(!text.contains("Generator"), "{text}");
    assert!(text.lines().filter(|line| !line.contains('/')).all(|line| line.chars().count() <= 80), "{text}");
}
