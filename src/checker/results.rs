//! Final answers against the ledger and the Company's own knowledge: is what they say true and whole?

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use super::anomaly::Anomaly;
use super::case::{Case, Did, Look, Tried, note, state_name};
use super::ground::Ground;
use super::tally::Tally;
use crate::history::record::{AttemptIs, State};

/// All rules of this family.
pub(crate) fn judge(case: &Case, ground: &Ground, tally: &mut Tally) {
    judge_result_present(case, tally);
    judge_success(case, ground, tally);
    judge_told(case, ground, tally);
    judge_undos(case, tally);
    judge_known(case, ground, tally, State::Failed, Anomaly::FailedWhileUnknown);
    judge_known(case, ground, tally, State::Cancelled, Anomaly::CancelledWhileUnknown);
}

fn judge_result_present(case: &Case, tally: &mut Tally) {
    if case.finals().next().is_none() || !tally.judges(Anomaly::ResultMissing) {
        return;
    }
    if let Some(silent) = case.finals().find(|look| look.result.is_none()) {
        let sentence =
            format!("{} ended as {}, and nobody was told what happened.", case.action, state_name(silent.state));
        tally.found(Anomaly::ResultMissing, Some(case), silent.heard, sentence, vec![silent.evidence()]);
    }
}

/// How often each step stands done: effects less undos.
fn standing(case: &Case) -> BTreeMap<&str, i64> {
    let mut standing = BTreeMap::new();
    for did in &case.deeds {
        match &did.undo_of {
            None => *standing.entry(did.step.as_str()).or_default() += 1,
            Some(step) => *standing.entry(step.as_str()).or_default() -= 1,
        }
    }
    standing
}

/// `early-success` and `phantom-success`.
fn judge_success(case: &Case, ground: &Ground, tally: &mut Tally) {
    let Some(success) = case.first_heard(State::Succeeded) else { return };
    let (early, phantom) = (tally.judges(Anomaly::EarlySuccess), tally.judges(Anomaly::PhantomSuccess));
    let mut first: BTreeMap<&str, &Did> = BTreeMap::new();
    for did in case.effects() {
        first.entry(&did.step).or_insert(did);
    }
    let late = first.values().filter(|did| ground.before(success.left, did.point)).min_by_key(|did| did.point);
    if let Some(did) = late.filter(|_| early) {
        let sentence = format!("{} was reported succeeded before `{}` had taken effect.", case.action, did.step);
        let evidence = vec![success.evidence(), did.evidence()];
        tally.found(Anomaly::EarlySuccess, Some(case), success.heard, sentence, evidence);
    }
    let standing = standing(case);
    let stands = |step: &str| standing.get(step).is_some_and(|count| *count > 0);
    let missing: Option<Option<&str>> = match ground.steps(case, success) {
        Some(steps) => steps.iter().find(|step| !stands(step)).map(|step| Some(step.as_str())),
        // Without its steps an operation can only be asked for any effect at all.
        None => (!standing.values().any(|count| *count > 0)).then_some(None),
    };
    if let Some(missing) = missing.filter(|_| phantom) {
        let what = missing.map_or("nothing".to_owned(), |step| format!("`{step}` did not"));
        let sentence = match missing {
            Some(_) => format!("{} was reported succeeded, but {what} take effect, or was undone.", case.action),
            None => format!("{} was reported succeeded, but nothing took effect.", case.action),
        };
        let mut evidence = vec![success.evidence()];
        evidence.extend(case.deeds.iter().take(4).map(Did::evidence));
        tally.found(Anomaly::PhantomSuccess, Some(case), success.heard, sentence, evidence);
    }
}

/// `hidden-effect` and `partial-effect-untold`. An undone effect need not be told; one that came after `cancelled` or
/// `expired` had been heard is another anomaly.
fn judge_told(case: &Case, ground: &Ground, tally: &mut Tally) {
    let ends: Vec<&Look> = case.finals().filter(|look| look.state != State::Succeeded).collect();
    let Some(first) = ends.iter().min_by_key(|look| look.heard) else { return };
    let mut may_tell = false;
    let standing = standing(case);
    let mut untold: Vec<&Did> = Vec::new();
    for did in case.effects().filter(|did| standing.get(did.step.as_str()).is_some_and(|count| *count > 0)) {
        if first.state != State::Failed && ground.before(first.left, did.point) {
            continue;
        }
        let phrase = ground.phrase(case, &first.terms, &did.step).filter(|phrase| !phrase.is_empty());
        if did.receipt.is_empty() && phrase.is_none() {
            continue;
        }
        may_tell = true;
        let told = ends.iter().filter_map(|look| look.result.as_deref()).any(|text| {
            (!did.receipt.is_empty() && text.contains(did.receipt.as_str()))
                || phrase.is_some_and(|phrase| text.contains(phrase))
        });
        if !told {
            untold.push(did);
        }
    }
    if !may_tell {
        return;
    }
    let (partly, wholly) = (tally.judges(Anomaly::PartialEffectUntold), tally.judges(Anomaly::HiddenEffect));
    let Some(did) = untold.first() else { return };
    let all_done = ground
        .steps(case, first)
        .is_none_or(|steps| steps.iter().all(|step| standing.get(step.as_str()).is_some_and(|count| *count > 0)));
    let (anomaly, judged) =
        if all_done { (Anomaly::HiddenEffect, wholly) } else { (Anomaly::PartialEffectUntold, partly) };
    if judged {
        let sentence = format!(
            "`{}` took effect for {}, and its `{}` result does not tell it.",
            did.step,
            case.action,
            state_name(first.state)
        );
        let mut evidence = vec![first.evidence()];
        if let Some(text) = &first.result {
            evidence.push(note(first.heard, format!("result: {}", shorten(text))));
        }
        evidence.extend(untold.iter().take(4).map(|did| did.evidence()));
        // Wrong from the moment that both stand: the answer, or an effect that came still later.
        let point = first.heard.max(did.point);
        tally.found(anomaly, Some(case), point, sentence, evidence);
    }
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(44).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

fn judge_undos(case: &Case, tally: &mut Tally) {
    if case.deeds.iter().all(|did| did.undo_of.is_none()) || !tally.judges(Anomaly::CompensationGap) {
        return;
    }
    let mut done: BTreeMap<&SmolStr, i64> = BTreeMap::new();
    for did in &case.deeds {
        let Some(step) = &did.undo_of else {
            *done.entry(&did.step).or_default() += 1;
            continue;
        };
        let count = done.entry(step).or_default();
        *count -= 1;
        if *count < 0 {
            let sentence = format!("`{step}` of {} was undone, but had not taken effect.", case.action);
            let evidence = case.deeds.iter().take(6).map(Did::evidence).collect();
            tally.found(Anomaly::CompensationGap, Some(case), did.point, sentence, evidence);
            return;
        }
    }
}

/// `failed` or `cancelled` while the outcome of a request to the backend was not known to the Company.
fn judge_known(case: &Case, ground: &Ground, tally: &mut Tally, state: State, anomaly: Anomaly) {
    let Some(end) = case.first_heard(state) else { return };
    if !tally.judges(anomaly) {
        return;
    }
    // What was sent, and what was learnt, before the answer arrived: later sends are no part of what it says.
    let mut open: BTreeMap<(&str, &str), &Tried> = BTreeMap::new();
    let mut known: BTreeSet<(&str, &str)> = BTreeSet::new();
    for tried in case.tries.iter().filter(|tried| ground.before(tried.point, end.left)) {
        let key = (tried.step.as_str(), tried.key.as_str());
        match tried.is {
            AttemptIs::Sent if !known.contains(&key) => {
                open.entry(key).or_insert(tried);
            }
            AttemptIs::Answered if tried.learnt.is_some() => {
                known.insert(key);
                open.remove(&key);
            }
            AttemptIs::Sent | AttemptIs::Answered | AttemptIs::Unanswered => {}
        }
    }
    // An answer within clock error of the end may have come before it.
    open.retain(|key, _| {
        !case.tries.iter().any(|tried| {
            (tried.step.as_str(), tried.key.as_str()) == *key
                && tried.learnt.is_some()
                && !ground.before(end.left, tried.point)
        })
    });
    if let Some(tried) = open.values().min_by_key(|tried| tried.point) {
        let name = state_name(state);
        let sentence = format!(
            "{} was reported {name} while the Company did not know whether `{}` had taken effect.",
            case.action, tried.step
        );
        let mut evidence = vec![note(tried.point, format!("{} asked of the backend, key {}", tried.step, tried.key))];
        let later = case.tries.iter().filter(|other| other.key == tried.key && other.point > tried.point);
        evidence.extend(later.take(3).map(|other| {
            let what = match (other.is, other.learnt) {
                (AttemptIs::Sent, _) => "asked again".to_owned(),
                (AttemptIs::Unanswered, _) => "given up waiting".to_owned(),
                (AttemptIs::Answered, learnt) => format!("answered: {learnt:?}"),
            };
            note(other.point, format!("{}: {what}", other.step))
        }));
        evidence.push(end.evidence());
        tally.found(anomaly, Some(case), end.heard, sentence, evidence);
    }
}
