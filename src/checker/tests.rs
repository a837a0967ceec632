//! What the checker says of small histories: each anomaly's smallest example, and what must stay silent.

use super::script::read;
use super::*;

fn judged(script: &str) -> Judgement {
    let (history, ledger) = read(script);
    let judgement = judge(history.clone(), ledger.clone(), Options::default());
    assert_eq!(judgement, judged_packed(&history, &ledger), "{script}");
    judgement
}

/// With every case packed as soon as another one is spoken of, history and ledger in turn; no judgement differs for that.
pub(super) fn judged_packed(history: &[Record], ledger: &[LedgerRecord]) -> Judgement {
    let mut checker = Checker::with_open(1);
    let mut entries = ledger.iter().peekable();
    for record in history {
        while let Some(entry) = entries.next_if(|entry| entry.seq < record.seq) {
            checker.ledger(entry);
        }
        checker.event(record);
    }
    entries.for_each(|entry| checker.ledger(entry));
    checker.judge()
}

/// The names of everything found, consequences included.
fn found(script: &str) -> Vec<&'static str> {
    judged(script).counts_by_anomaly().into_keys().map(Anomaly::name).collect()
}

#[test]
fn every_smallest_example_shows_its_anomaly_and_no_other() {
    for anomaly in Anomaly::ALL {
        let example = anomaly.entry().example;
        assert_eq!(found(example), [anomaly.name()], "{example}\n{:#?}", judged(example).findings);
    }
}

#[test]
fn evidence_is_in_order_and_fits_a_terminal() {
    for anomaly in Anomaly::ALL {
        let judgement = judged(anomaly.entry().example);
        for finding in &judgement.findings {
            assert!(!finding.evidence.is_empty(), "{anomaly}");
            assert!(finding.evidence.is_sorted_by_key(|evidence| evidence.seq), "{anomaly}");
            for evidence in &finding.evidence {
                assert!(evidence.to_string().chars().count() <= 78, "{evidence}");
            }
            assert_eq!(finding.action.is_none(), *anomaly == Anomaly::ProofReuse);
        }
    }
}

#[test]
fn legal_histories_stay_silent() {
    let legal = [
        // A confirm whose answer was lost, then sent again: one effect.
        "propose 1..2 proposed r1; confirm r1 5..8 unknown; effect wrap r1 @6; confirm r1 9..10 succeeded r1",
        // Reads that straddle a change, of revision and of state.
        "propose 1..2 proposed r1; read 3..9 proposed r1; read process=a2 4..5 proposed r2; read process=a2 6..7 proposed r2; confirm process=a2 r2 10..20 succeeded r2; effect wrap r2 @12; read 11..15 proposed r2; read process=a3 11..13 in_progress r2",
        // Failed with a part done, and told.
        "steps wrap ship; propose 1..2 proposed r1; confirm r1 5..9 failed r1; effect wrap r1 @6",
        // Failed with a part done and undone.
        "steps wrap ship; propose 1..2 proposed r1; confirm r1 5..9 failed r1 result=Nothing; effect wrap r1 @6; undo wrap r1 @7",
        // A stale confirm of a final operation, answered 200 or 409.
        "propose 1..2 proposed r1; read process=a2 3..4 proposed r2; confirm process=a2 r2 5..6 failed r2; confirm r1 8..9 failed r2",
        "propose 1..2 proposed r1; read process=a2 3..4 proposed r2; confirm process=a2 r2 5..6 failed r2; confirm r1 8..9 refused:terms_changed",
        // A cancel racing a confirm, either winner.
        "propose 1..2 proposed r1; confirm r1 5..9 cancelled r1; cancel process=a2 5..9 cancelled r1",
        "propose 1..2 proposed r1; confirm r1 5..9 succeeded r1; cancel process=a2 5..9 succeeded r1; effect wrap r1 @6",
        // A second confirm while in progress.
        "propose 1..2 proposed r1; confirm r1 5..6 in_progress r1; confirm r1 7..8 in_progress r1; effect wrap r1 @9; read 10..11 succeeded r1",
        // Confirmed only when the settle time was over.
        "propose 1..2 proposed r1; settled @60; confirm r1 61..62 in_progress r1; read 63..64 in_progress r1",
        // Never confirmed, and expired; or left open.
        "propose 1..2 proposed r1 exp=8; read 9..10 expired r1 exp=8",
        "propose 1..2 proposed r1",
        // A proposal whose answer was lost; proposed again.
        "propose intent=i1 1..9 unknown; propose intent=i1 10..11 proposed r1",
        // A request that never left, and a refusal, set nothing off.
        "propose 1..2 proposed r1; confirm r1 5..5 unsent; confirm r1 6..7 refused:terms_changed r2; read 8..9 proposed r2",
        // A second proposal after the first was final, or had expired unconfirmed.
        "propose intent=i1 1..2 proposed r1; cancel 3..4 cancelled r1; propose intent=i1 op=op2 5..6 proposed r1",
        "propose intent=i1 1..2 proposed r1 exp=8; propose intent=i1 op=op2 9..10 proposed r1",
        // Another process proposes the same wish without having been told.
        "propose intent=i1 1..2 proposed r1; propose intent=i1 process=a2 op=op2 3..4 proposed r1",
        // Confirmed at the very instant of the expiry; at a whole second, somewhere within it.
        "propose 1..2 proposed r1 exp=5; confirm r1 5..6 failed r1 exp=5 at=5",
        "propose 1..2 proposed r1 exp=5 coarse=; confirm r1 5.9..6 failed r1 exp=5 coarse= at=5.9",
        // Two revisions close together under a coarse clock.
        "propose 1..2 proposed r1 exp=900 coarse=; read 3..4 proposed r2 exp=900 coarse=",
        // A confirm that the wire shows never arrived, and the User walked away.
        "propose 1..2 proposed r1; arrived 9 @3; confirm r1 5..9 unknown",
        // A confirm without an answer, and a later look that finds it still waiting; the User walked away.
        "propose 1..2 proposed r1; confirm r1 5..9 unknown; read 10..11 proposed r1",
        // A backend that was asked again under the same key and then answered.
        "propose 1..2 proposed r1; confirm r1 5..20 failed r1; attempt wrap @6; unanswered wrap @8; attempt wrap @9; answered wrap @10 not-done",
        // Approved, taken back, approved again; an approval of the right revision after an older one.
        "propose 1..2 proposed r1; approve r1 @3; withdraw r1 @4; approve r1 @4.5; confirm r1 5..6 failed r1",
        "propose 1..2 proposed r1; approve r1 @3; read 3.1..3.2 proposed r2; decline r1 @3.3; approve r2 @4; confirm r2 5..6 failed r2",
        // A standing permission that covers the terms.
        "session s1 listed; standing 400 @0.5; propose session=s1 1..2 proposed r1; confirm session=s1 r1 by=standing 5..6 failed r1 by=standing",
        // Two processes that hear of things in another order than they asked.
        "propose 1..2 proposed r1; confirm r1 5..30 succeeded r1; read process=a2 6..20 in_progress r1; read process=a3 7..8 succeeded r1; effect wrap r1 @7.5",
        // A read that waits as long as it was told to.
        "propose 1..2 proposed r1; confirm r1 retry=2000 5..6 in_progress r1; read 8..9 failed r1",
        // Counts that a correct Company gives: of a success, of nothing done, of a part done, of an unanswered confirm.
        "propose 1..2 proposed r1; confirm r1 5..9 succeeded r1; performed 1 @20; totals 1 1 @20",
        "propose 1..2 proposed r1; confirm r1 5..9 failed r1; performed 0 @20",
        "propose 1..2 proposed r1; confirm r1 5..9 failed r1; performed 1 @20",
        "propose 1..2 proposed r1; confirm r1 5..7 in_progress r1; cancel 8..9 cancelled r1 conf=1; performed 1 @20",
        "propose 1..2 proposed r1; confirm r1 5..7 in_progress r1; cancel 8..9 cancelled r1; performed 1 @20",
        "propose 1..2 proposed r1; cancel 8..9 cancelled r1; performed 0 @20",
        "propose 1..2 proposed r1; confirm r1 5..9 unknown; read 10..11 proposed r1; performed 1 @20",
        "propose 1..2 proposed r1; confirm r1 5..9 unknown; read 10..11 proposed r1; performed 0 @20",
        // A count from before the answer; counts of what is not this history's; totals with others' performances.
        "propose 1..2 proposed r1; performed 0 @4; confirm r1 5..9 succeeded r1",
        "performed op=foreign 1 @20; totals 900 900 @20",
        // A later count stands for the one before.
        "propose 1..2 proposed r1; confirm r1 5..9 succeeded r1; performed 0 @4; performed 1 @20",
        // A refusal is one copy's; the other one was accepted.
        "propose 1..2 proposed r1; confirm doubled= r1 3..4 refused:status-429; effect wrap r1 @6; read 10..11 succeeded r1",
        // Confirmed with less than half of the settle time left.
        "propose 1..2 proposed r1; settling @40; confirm r1 55..56 in_progress r1; settled @60; read 61..62 in_progress r1",
        // An action done at once, and one of a kind that this build does not know.
        "effect wrap kind=direct op=d1 @3",
        "effect wrap kind=ballot op=b1 @3; effect wrap kind=ballot op=b1 @4",
    ];
    for script in legal {
        assert!(judged(script).findings.is_empty(), "{script}\n{:#?}", judged(script).findings);
    }
}

#[test]
fn more_ways_to_show_an_anomaly() {
    let cases = [
        ("effect wrap kind=direct op=d1 @3; effect wrap kind=direct op=d1 @4", "double-effect"),
        // An undo makes no room for a second effect.
        (
            "propose 1..2 proposed r1; confirm r1 5..9 succeeded r1; effect wrap @6; undo wrap @7; effect wrap @8",
            "double-effect",
        ),
        (
            "propose 1..2 proposed r1; confirm r1 3..4 refused:user_approval_required; effect wrap @6",
            "unconfirmed-effect",
        ),
        ("steps wrap ship; propose 1..2 proposed r1; confirm r1 5..9 succeeded r1; effect wrap @6", "phantom-success"),
        ("propose 1..2 proposed r1; confirm r1 5..9 succeeded r1; effect wrap @6; undo wrap @7", "phantom-success"),
        ("propose 1..2 proposed r1; cancel 3..4 cancelled r1 result=none", "result-missing"),
        ("propose 1..2 proposed r1; confirm r1 5..6 failed r1; read 8..9 in_progress r1", "final-state-flip"),
        ("offer r2 @1; offer r1 @2; observe offers; propose 3..4 proposed r1", "revision-gap"),
        (
            "propose 1..2 proposed r1; confirm r1 5..9 unknown; read 10..19 unknown; settled @60; read 61..62 in_progress r1",
            "unresolved-at-quiescence",
        ),
        (
            "propose 1..2 proposed r1; confirm r1 5..9 open; read 10..19 unknown; settled @60; read 61..62 in_progress r1",
            "unresolved-at-quiescence",
        ),
        (
            "propose 1..2 proposed r1; settling @40; confirm r1 45..46 in_progress r1; settled @60; read 61..62 in_progress r1",
            "unresolved-at-quiescence",
        ),
        ("propose 1..2 proposed r1 exp=8; confirm r1 5..12 failed r1 exp=8 at=8.001", "confirm-accepted-after-expiry"),
        (
            "propose 1..2 proposed r1 exp=900 coarse=; read 4..5 proposed r1 exp=900 coarse=; read 6..7 proposed r2 exp=900 coarse=",
            "expiry-not-renewed",
        ),
        (
            "propose 1..2 proposed r1; approve r1 @3; decline r1 @4; confirm r1 5..6 failed r1",
            "confirm-after-withdrawal",
        ),
        (
            "session s1 listed; standing 399 @0.5; propose session=s1 1..2 proposed r1; confirm session=s1 r1 by=standing 5..6 failed r1 by=standing",
            "standing-permission-abuse",
        ),
        (
            "session s1 listed; standing 400 @0.5; withdraw standing @3; propose session=s1 1..2 proposed r1; confirm session=s1 r1 by=standing 5..6 failed r1 by=standing",
            "standing-permission-abuse",
        ),
        (
            "session s1 listed; standing 400 @0.5; propose session=s1 1..2 proposed r1 only_user=; confirm session=s1 r1 by=standing 5..6 failed r1 by=standing",
            "standing-permission-abuse",
        ),
        (
            "propose 1..2 proposed r1; confirm r1 5..11 failed r1; attempt wrap key=k1 @6; unanswered wrap key=k1 @7; attempt wrap key=k2 @8; answered wrap key=k2 @9 not-done",
            "failed-while-unknown",
        ),
        // What a Company counts in all: more performances than operations; fewer operations than it said succeeded.
        ("propose 1..2 proposed r1; confirm r1 5..9 succeeded r1; totals 2 1 @20", "performed-twice"),
        ("propose 1..2 proposed r1; confirm r1 5..9 succeeded r1; totals 0 0 @20", "success-not-performed"),
        ("performed op=foreign 2 @20", "performed-twice"),
        ("propose 1..2 proposed r1; confirm r1 3..4 refused:terms_changed; performed 1 @20", "performed-unconfirmed"),
        ("propose 1..2 proposed r1; cancel 3..4 cancelled r1; performed 1 @20", "performed-though-cancelled"),
        // A refusal that carries the operation is a fact, also for who was told.
        (
            "propose 1..2 proposed r1; confirm r1 3..4 refused:terms_changed r2; confirm r1 5..6 refused:terms_changed r2",
            "knowingly-stale-confirm",
        ),
    ];
    for (script, expected) in cases {
        assert!(found(script).contains(&expected), "{script}\n{:#?}", judged(script).findings);
    }
}

#[test]
fn what_the_history_does_not_hold_is_not_judged() {
    let why = |script: &str, anomaly: Anomaly| match judged(script).status(anomaly) {
        Some(Status::NotJudged { why }) => why.clone(),
        other => panic!("{script}: {anomaly} was judged: {other:?}"),
    };
    let success = "propose 1..2 proposed r1; confirm r1 5..9 succeeded r1";
    let open = "propose 1..2 proposed r1; confirm r1 5..6 in_progress r1";
    assert_eq!(
        why(&format!("forget ledger; {success}"), Anomaly::PhantomSuccess),
        "the history did not observe ledger"
    );
    assert_eq!(why(&format!("cut ledger; {success}"), Anomaly::PhantomSuccess), "there is no ledger");
    assert_eq!(why(&format!("cut history; {success}"), Anomaly::PhantomSuccess), "the history stops without its `end`");
    assert_eq!(why(&format!("unsettled; {open}"), Anomaly::UnresolvedAtQuiescence), "the run did not settle");
    assert_eq!(why(&format!("interrupted; {open}"), Anomaly::UnresolvedAtQuiescence), "the run was interrupted");
    assert_eq!(why(success, Anomaly::UnapprovedConfirm), "the history did not observe approvals");
    assert_eq!(why(success, Anomaly::RevisionGap), "the history did not observe offers");
    assert_eq!(why(success, Anomaly::ExpiredAfterConfirm), "nothing in the history could show it");
    for script in ["cut ledger", "cut history", "interrupted"] {
        let judgement = judged(&format!("{script}; {open}"));
        assert!(judgement.findings.is_empty(), "{script}: {:#?}", judgement.findings);
    }
}

#[test]
fn a_count_is_judged_like_a_ledger() {
    let why = |script: &str, anomaly: Anomaly| match judged(script).status(anomaly) {
        Some(Status::NotJudged { why }) => why.clone(),
        other => panic!("{script}: {anomaly} was judged: {other:?}"),
    };
    let counted = "propose 1..2 proposed r1; confirm r1 5..9 succeeded r1; performed 1 @20";
    // Effects were not observed: their rules hold nobody to anything, and a count is none.
    assert_eq!(why(counted, Anomaly::DoubleEffect), "the history did not observe ledger");
    assert_eq!(why(counted, Anomaly::PhantomSuccess), "the history did not observe ledger");
    assert_eq!(judged(counted).status(Anomaly::PerformedTwice), Some(&Status::Held { over: 1 }));
    let performances = Performances { asked: 1, operations: 1, times: 1 };
    assert_eq!(judged(counted).counts.performed, Some(performances));
    // No ledger, or one that stops: what a count says, it says; what it does not say is not there.
    let uncounted = "observe performed; forget ledger; propose 1..2 proposed r1; confirm r1 5..9 succeeded r1";
    assert_eq!(why(&format!("cut ledger; {uncounted}"), Anomaly::PerformedTwice), "there is no ledger");
    assert_eq!(why(uncounted, Anomaly::PerformedTwice), "nothing in the history could show it");
    assert_eq!(judged(&format!("cut ledger; {counted}")).incomplete, ["the ledger stops without its `end`"]);
    assert!(judged(uncounted).incomplete.is_empty());
    assert_eq!(judged(uncounted).counts.performed, None);
    // Its cause may stand in the part of the history that is missing.
    assert_eq!(found("cut history; propose 1..2 proposed r1; performed 1 @20"), Vec::<&str>::new());
    assert_eq!(found("cut history; propose 1..2 proposed r1; performed 2 @20"), ["performed-twice"]);
    let within = "cut history; propose 1..2 proposed r1; performed 1 @20; read 21..22 proposed r1";
    assert_eq!(found(within), ["performed-unconfirmed"]);
}

#[test]
fn an_effect_beyond_the_end_of_a_cut_history_accuses_nobody() {
    let script = "cut history; propose 1..2 proposed r1; effect wrap r1 @6";
    assert_eq!(found(script), Vec::<&str>::new());
    assert!(!judged(script).incomplete.is_empty());
    let within = "cut history; propose 1..2 proposed r1; effect wrap r1 @6; read 7..8 proposed r1";
    assert_eq!(found(within), ["unconfirmed-effect"]);
}

#[test]
fn lost_records_silence_the_rules_that_rest_on_absence() {
    let (mut history, ledger) =
        read("propose 1..2 proposed r1; effect wrap r1 @6; effect wrap r1 @7; read 8..9 proposed r1");
    let last = history.last_mut().expect("a trailer");
    let crate::history::Event::End(end) = &mut last.event else { panic!("no trailer") };
    end.lost = 3;
    let judgement = judge(history, ledger, Options::default());
    let names: Vec<_> = judgement.counts_by_anomaly().into_keys().collect();
    assert_eq!(names, [Anomaly::DoubleEffect]);
    assert_eq!(judgement.incomplete, ["the history lost 3 records"]);
}

#[test]
fn clocks_that_may_differ_order_only_what_is_further_apart() {
    let script = "propose 1..2 proposed r1; effect wrap r1 @4.99; confirm r1 5..9 succeeded r1";
    assert_eq!(found(&format!("order clock; clock 5; {script}")), ["effect-before-confirm"]);
    assert_eq!(found(&format!("order clock; clock 20; {script}")), Vec::<&str>::new());
    let expired = "propose 1..2 proposed r1 exp=8; read 7..7.9 expired r1 exp=8";
    assert_eq!(found(expired), ["premature-expiry"]);
    assert_eq!(found(&format!("clock 200; {expired}")), Vec::<&str>::new());
}

#[test]
fn consequences_stand_under_the_earliest_finding_and_are_counted() {
    let script = "propose 1..2 proposed r1; confirm r1 5..6 in_progress r1; effect wrap r1 @6; read 7..8 proposed r1; \
                  confirm r1 9..12 succeeded r1; effect wrap r1 @10";
    let judgement = judged(script);
    assert_eq!(judgement.findings.len(), 1);
    let root = &judgement.findings[0];
    assert_eq!(root.anomaly, Anomaly::LostConfirm);
    assert_eq!(root.also_follows.iter().map(|finding| finding.anomaly).collect::<Vec<_>>(), [Anomaly::DoubleEffect]);
    assert_eq!(judgement.counts_by_anomaly().len(), 2);
    assert_eq!(judgement.status(Anomaly::DoubleEffect), Some(&Status::Violated { times: 1, over: 1 }));
    assert!(root.to_string().contains("also follows: double-effect"));
}

#[test]
fn a_should_is_a_warning_and_no_violation() {
    let judgement = judged(Anomaly::BusyPoll.entry().example);
    assert_eq!(judgement.findings.len(), 1);
    assert!(!judgement.violated());
    assert!(judged(Anomaly::DoubleEffect.entry().example).violated());
}

#[test]
fn only_what_is_asked_for_is_judged() {
    let (history, ledger) = read(Anomaly::DoubleEffect.entry().example);
    let only = Some([Anomaly::PhantomSuccess].into());
    let judgement = judge(history, ledger, Options { only });
    assert!(judgement.findings.is_empty());
    assert_eq!(judgement.status(Anomaly::DoubleEffect), Some(&Status::NotJudged { why: "not asked for".to_owned() }));
}

#[test]
fn names_are_unique_and_found_again() {
    for anomaly in Anomaly::ALL {
        assert_eq!(Anomaly::named(anomaly.name()), Some(*anomaly));
    }
    assert_eq!(Anomaly::named("wibble"), None);
}

#[test]
fn the_documented_history_of_a_lost_answer_is_clean() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/histories/lost-answer");
    let folder = crate::history::open_folder(std::path::Path::new(folder)).expect("a folder");
    let checker = std::cell::RefCell::new(Checker::new(Options::default()));
    let extent = folder
        .read(|record| checker.borrow_mut().event(record), |entry| checker.borrow_mut().ledger(entry))
        .expect("reads");
    let judgement = checker.into_inner().judge();
    assert!(judgement.findings.is_empty(), "{:#?}", judgement.findings);
    assert_eq!(judgement.counts.operations, 1);
    assert_eq!(judgement.counts.unknown, 1);
    assert_eq!(judgement.status(Anomaly::DoubleEffect), Some(&Status::Held { over: 1 }));
    // Neither file has its trailer: what rests on absence to the end is not judged.
    assert_eq!(judgement.incomplete.len(), 2);
    assert!(matches!(extent.history, crate::history::Completeness::Incomplete { .. }));
    assert!(matches!(judgement.status(Anomaly::PhantomSuccess), Some(Status::NotJudged { .. })));
}

#[test]
fn the_wire_narrows_when_an_answer_was_true() {
    let script = "propose 1..2 proposed r1; confirm r1 4..20 unknown; cancel 5..9 cancelled r1; effect wrap r1 @7";
    assert_eq!(found(&format!("{script} ; read 30..31 cancelled r1 result=Nothing")), Vec::<&str>::new());
    assert_eq!(found(&format!("arrived 3 @5.5; answers 3 @6; {script}")), ["effect-after-cancel"]);
}

#[test]
fn the_documentation_shows_the_example_as_it_is() {
    let page = include_str!("../../docs/history.md");
    assert!(page.contains(include_str!("../../tests/fixtures/histories/lost-answer/history.jsonl")));
    assert!(page.contains(include_str!("../../tests/fixtures/histories/lost-answer/ledger.jsonl")));
}
