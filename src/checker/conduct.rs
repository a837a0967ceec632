//! What an Agent was told, and did all the same; and what it should never have been given.
//!
//! Knowledge is a process's own: what another worker of the same Agent was told proves nothing here.

use std::collections::BTreeMap;

use super::anomaly::Anomaly;
use super::case::{Ask, Case, Look, note};
use super::ground::Ground;
use super::tally::Tally;
use crate::history::record::{Outcome, Purpose};

/// How much earlier than `Retry-After` a read may come, for timers that round, in nanoseconds.
const TIMER_SLACK: u64 = 1_000_000;

/// All rules of this family.
pub(crate) fn judge(case: &Case, ground: &Ground, tally: &mut Tally) {
    judge_stale(case, ground, tally);
    judge_polls(case, ground, tally);
    judge_leak(case, tally);
}

/// `knowingly-stale-confirm`.
fn judge_stale(case: &Case, ground: &Ground, tally: &mut Tally) {
    let confirms: Vec<&Ask> = case.confirms().filter(|ask| ask.revision.is_some()).collect();
    if confirms.is_empty() || !tally.judges(Anomaly::KnowinglyStaleConfirm) {
        return;
    }
    // The first time that each process was told of each revision.
    let mut told: BTreeMap<(&str, u64), &Look> = BTreeMap::new();
    for look in &case.looks {
        let first = told.entry((&look.process, look.revision)).or_insert(look);
        if look.heard < first.heard {
            *first = look;
        }
    }
    for ask in confirms {
        let Some(revision) = ask.revision else { continue };
        let newer = told.range((ask.process.as_str(), revision.saturating_add(1))..=(ask.process.as_str(), u64::MAX));
        let newer = newer.map(|(_, look)| *look);
        if let Some(told) =
            newer.filter(|look| look.revision > revision).find(|look| ground.before(look.heard, ask.sent))
        {
            let sentence = format!(
                "{} confirmed revision {revision} of {} though it had been told of revision {}.",
                ask.process, case.action, told.revision
            );
            let evidence = vec![told.evidence(), ask.sent_evidence()];
            tally.found(Anomaly::KnowinglyStaleConfirm, Some(case), ask.sent, sentence, evidence);
            return;
        }
    }
}

/// `busy-poll`: once for an operation, however often it happens.
fn judge_polls(case: &Case, ground: &Ground, tally: &mut Tally) {
    let mut last: BTreeMap<&str, &Ask> = BTreeMap::new();
    let mut could = false;
    let mut early: Option<(&Ask, &Ask, u64)> = None;
    // What is asked after the settle time is the run's last look, whatever the Agent was told before.
    let in_time = |ask: &&Ask| ground.settled.is_none_or(|settled| ground.before(ask.sent, settled));
    for ask in case.asks.iter().filter(in_time) {
        let before = last.insert(&ask.process, ask);
        let Some(before) = before.filter(|_| ask.purpose == Purpose::Read) else { continue };
        let (Some((heard, Outcome::View)), Some(wait)) = (before.ended, before.retry_after_ms) else { continue };
        could = true;
        let due = heard.at.saturating_add(wait.saturating_mul(1_000_000));
        if early.is_none() && ask.sent.at.saturating_add(TIMER_SLACK) < due {
            early = Some((before, ask, due - ask.sent.at));
        }
    }
    if !could || !tally.judges(Anomaly::BusyPoll) {
        return;
    }
    if let Some((before, ask, by)) = early {
        let sentence = format!(
            "{} read {} again {} ms before the time it had been given.",
            ask.process,
            case.action,
            by / 1_000_000
        );
        let mut evidence = vec![ask.sent_evidence()];
        if let (Some((heard, _)), Some(wait)) = (before.ended, before.retry_after_ms) {
            evidence.push(note(heard, format!("{} told to wait {wait} ms", before.process)));
        }
        tally.found(Anomaly::BusyPoll, Some(case), ask.sent, sentence, evidence);
    }
}

/// `extension-leak`.
fn judge_leak(case: &Case, tally: &mut Tally) {
    if case.looks.iter().all(|look| look.listed.is_none()) || !tally.judges(Anomaly::ExtensionLeak) {
        return;
    }
    if let Some(leak) = case.looks.iter().find(|look| look.listed == Some(false)) {
        let sentence =
            format!("{} was given {} though its operator does not list the extension.", leak.process, case.action);
        tally.found(Anomaly::ExtensionLeak, Some(case), leak.heard, sentence, vec![leak.evidence()]);
    }
}
