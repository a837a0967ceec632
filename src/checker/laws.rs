//! Laws of the checker, on random histories (tests only).

use std::collections::BTreeSet;

use proptest::prelude::*;
use smol_str::SmolStr;

use super::case::{Look, Point};
use super::ground::Ground;
use super::legal::play;
use super::script::read;
use super::sweep::first_fall;
use super::tests::judged_packed;
use super::*;
use crate::history::record::{Order, Outcome, Purpose, State};
use crate::history::{Event, LedgerEntry, LedgerRecord};

/// Whether answers of these intervals and ranks can be placed on a time line along which the rank never falls: by trying
/// every order, as the search that the sweep stands in for would.
fn can_be_placed(looks: &[&Look], placed: &mut Vec<usize>) -> bool {
    if placed.len() == looks.len() {
        return true;
    }
    (0..looks.len()).filter(|index| !placed.contains(index)).collect::<Vec<_>>().into_iter().any(|next| {
        let rises = placed.last().is_none_or(|last| looks[*last].revision <= looks[next].revision);
        // Nothing unplaced may have been heard before this one was sent.
        let minimal = (0..looks.len())
            .filter(|other| !placed.contains(other))
            .all(|other| looks[other].heard.seq >= looks[next].sent.seq || other == next);
        placed.push(next);
        let possible = rises && minimal && can_be_placed(looks, placed);
        placed.pop();
        possible
    })
}

fn look(sent: u64, length: u64, revision: u64) -> Look {
    let point = |seq| Point { seq, at: seq };
    Look {
        sent: point(sent),
        left: point(sent + length),
        heard: point(sent + length),
        process: "a".into(),
        purpose: Purpose::Read,
        listed: None,
        state: State::Proposed,
        revision,
        terms: "t".into(),
        expires: None,
        approval_required: false,
        confirmation: None,
        result: None,
    }
}

/// Choices from a seed: much quicker to make than a vector that can shrink.
fn spread(state: &mut u64, length: usize) -> Vec<u16> {
    let next = |_| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 40) as u16
    };
    (0..length).map(next).collect()
}

/// Every outcome and state must come up, or the laws below would hold of nothing.
#[test]
fn the_random_histories_are_rich() {
    let mut seen: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    let mut state = 0x9E37_79B9_u64;
    for _ in 0..400 {
        let (history, ledger) = play(&spread(&mut state, 160));
        for record in history {
            let Event::Return(end) = record.event else { continue };
            *seen.entry(format!("{:?}", end.outcome)).or_default() += 1;
            if let Some(view) = end.view {
                *seen.entry(format!("{:?}", view.state)).or_default() += 1;
                *seen.entry("revised".to_owned()).or_default() += usize::from(view.revision > 1);
            }
        }
        let entries = |wanted: fn(&LedgerEntry) -> bool| ledger.iter().filter(|one| wanted(&one.entry)).count();
        *seen.entry("effects".to_owned()).or_default() += entries(|one| matches!(one, LedgerEntry::Effect(_)));
        *seen.entry("counted".to_owned()).or_default() += entries(|one| matches!(one, LedgerEntry::Performed(_)));
    }
    for expected in [
        "View",
        "Refused",
        "Unknown",
        "Proposed",
        "InProgress",
        "Succeeded",
        "Failed",
        "Cancelled",
        "Expired",
        "revised",
        "effects",
        "counted",
    ] {
        assert!(seen.get(expected).is_some_and(|count| *count >= 40), "{expected}: {seen:?}");
    }
}

/// What was reported succeeded.
fn succeeded(history: &[Record]) -> BTreeSet<SmolStr> {
    let ends = history.iter().filter_map(|record| match &record.event {
        Event::Return(end) if end.outcome == Outcome::View => end.view.as_ref(),
        _ => None,
    });
    ends.filter(|view| view.state == State::Succeeded).map(|view| view.action.clone()).collect()
}

fn total_order() -> Ground {
    let (history, _) = read("propose 1..2 proposed r1");
    let Event::Run(run) = &history[0].event else { panic!("no header") };
    assert_eq!(run.order, Order::Total);
    let mut ground = Ground::default();
    ground.open(run);
    ground
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn legal_histories_are_never_accused(mut seed: u64, length in 20usize..100) {
        let (history, ledger) = play(&spread(&mut seed, length));
        let judgement = judge(history, ledger, Options::default());
        prop_assert!(judgement.findings.is_empty(), "{:#?}", judgement.findings);
        prop_assert!(judgement.incomplete.is_empty());
    }
}

proptest! {
    #[test]
    fn a_legal_history_cut_anywhere_is_never_accused(
        choices in prop::collection::vec(any::<u16>(), 20..200),
        history_kept in 0usize..200,
        ledger_kept in 0usize..20,
    ) {
        let (mut history, mut ledger) = play(&choices);
        history.truncate(history_kept.max(1));
        ledger.truncate(ledger_kept);
        let judgement = judge(history, ledger, Options::default());
        prop_assert!(judgement.findings.is_empty(), "{:#?}", judgement.findings);
    }

    #[test]
    fn an_effect_done_again_is_always_found(choices in prop::collection::vec(any::<u16>(), 60..200), which: u16) {
        let (history, mut ledger) = play(&choices);
        let effects: Vec<&LedgerRecord> =
            ledger.iter().filter(|record| matches!(record.entry, LedgerEntry::Effect(_))).collect();
        if effects.is_empty() {
            return Ok(());
        }
        let mut again = effects[usize::from(which) % effects.len()].clone();
        again.seq = u64::MAX;
        ledger.insert(ledger.len() - 1, again);
        let judgement = judge(history, ledger, Options::default());
        prop_assert!(judgement.counts_by_anomaly().contains_key(&Anomaly::DoubleEffect));
    }

    #[test]
    fn an_effect_taken_away_is_always_missed(choices in prop::collection::vec(any::<u16>(), 60..200)) {
        let (history, mut ledger) = play(&choices);
        let succeeded = succeeded(&history);
        let Some(action) = succeeded.first() else { return Ok(()) };
        ledger.retain(|record| !matches!(&record.entry,
            LedgerEntry::Effect(effect) if effect.action == *action && effect.step == "wrap"));
        let last = ledger.last_mut().expect("a trailer");
        if let LedgerEntry::End(end) = &mut last.entry {
            end.records -= 1;
        }
        let judgement = judge(history, ledger, Options::default());
        prop_assert!(judgement.counts_by_anomaly().contains_key(&Anomaly::PhantomSuccess));
    }

    #[test]
    fn a_count_that_is_wrong_is_always_found(choices in prop::collection::vec(any::<u16>(), 60..200), which: u16) {
        let (history, ledger) = play(&choices);
        let succeeded = succeeded(&history);
        let counts: Vec<usize> = (0..ledger.len()).filter(|at| matches!(ledger[*at].entry, LedgerEntry::Performed(_))).collect();
        if counts.is_empty() {
            return Ok(());
        }
        let at = counts[usize::from(which) % counts.len()];
        let recounted = |times: u64| {
            let mut ledger = ledger.clone();
            let LedgerEntry::Performed(performed) = &mut ledger[at].entry else { panic!("no count") };
            performed.times = times;
            (performed.action.clone(), judge(history.clone(), ledger, Options::default()).counts_by_anomaly())
        };
        prop_assert!(recounted(2).1.contains_key(&Anomaly::PerformedTwice));
        let (action, found) = recounted(0);
        prop_assert_eq!(found.contains_key(&Anomaly::SuccessNotPerformed), succeeded.contains(&action));
    }

    #[test]
    fn packing_cases_changes_no_judgement(
        choices in prop::collection::vec(any::<u16>(), 20..200),
        dropped in prop::collection::btree_set(1usize..200, 0..8),
    ) {
        // With records missing, many a history is accused, or left unjudged; either way alike.
        let (history, ledger) = play(&choices);
        let kept = |at: &usize| !dropped.contains(at);
        let history: Vec<Record> = (0..history.len()).filter(kept).map(|at| history[at].clone()).collect();
        let open = judge(history.clone(), ledger.clone(), Options::default());
        prop_assert_eq!(open, judged_packed(&history, &ledger));
    }

    #[test]
    fn the_sweep_agrees_with_a_search(intervals in prop::collection::vec((0u64..12, 0u64..6, 1u64..4), 0..7)) {
        let looks: Vec<Look> = intervals.into_iter().map(|(sent, length, rank)| look(sent, length, rank)).collect();
        let looks: Vec<&Look> = looks.iter().collect();
        let swept = first_fall(&looks, &total_order(), |look| look.revision);
        prop_assert_eq!(swept.is_none(), can_be_placed(&looks, &mut Vec::new()));
        if let Some((higher, lower)) = swept {
            prop_assert!(higher.revision > lower.revision && higher.heard.seq < lower.sent.seq);
        }
    }
}
