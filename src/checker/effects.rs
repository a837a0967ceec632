//! Effects against confirms: how often a step was done, whether anybody had set it off, and on which terms.

use std::collections::{BTreeMap, BTreeSet};

use super::anomaly::Anomaly;
use super::case::{Ask, Case, Did};
use super::finding::Evidence;
use super::ground::Ground;
use super::tally::Tally;
use crate::history::record::State;

/// All rules of this family, for an operation.
pub(crate) fn judge(case: &Case, ground: &Ground, tally: &mut Tally) {
    if case.deeds.is_empty() {
        return;
    }
    judge_once_per_step(case, tally);
    judge_cause(case, ground, tally);
    judge_terms(case, ground, tally);
    judge_after(case, ground, tally, State::Cancelled, Anomaly::EffectAfterCancel);
    judge_after(case, ground, tally, State::Expired, Anomaly::EffectAfterExpiry);
}

/// `double-effect`: also for actions without an operation.
pub(crate) fn judge_once_per_step(case: &Case, tally: &mut Tally) {
    if case.effects().next().is_none() || !tally.judges(Anomaly::DoubleEffect) {
        return;
    }
    // Nearly always each was done once, which takes no more than a look.
    let mut steps: Vec<&str> = case.effects().map(|did| did.step.as_str()).collect();
    steps.sort_unstable();
    if steps.windows(2).all(|pair| pair[0] != pair[1]) {
        return;
    }
    let mut by_step: BTreeMap<&str, Vec<&Did>> = BTreeMap::new();
    for did in case.effects() {
        by_step.entry(&did.step).or_default().push(did);
    }
    let repeated: Vec<&Vec<&Did>> = by_step.values().filter(|deeds| deeds.len() > 1).collect();
    // The step whose second effect came first is the one to tell of.
    let Some(worst) = repeated.iter().min_by_key(|deeds| deeds[1].point) else { return };
    let (step, count) = (&worst[0].step, worst.len());
    let confirms = case.confirms().count();
    let sentence = format!(
        "`{step}` took effect {count} times for {}{}; confirms sent: {confirms}.",
        case.action,
        if repeated.len() > 1 {
            format!(" (and {} more steps more than once)", repeated.len() - 1)
        } else {
            String::new()
        },
    );
    let evidence = with_confirms(case, worst.iter().take(4).map(|did| did.evidence()).collect());
    tally.found(Anomaly::DoubleEffect, Some(case), worst[1].point, sentence, evidence);
}

/// Adds up to four confirms to the evidence.
pub(crate) fn with_confirms(case: &Case, mut evidence: Vec<Evidence>) -> Vec<Evidence> {
    evidence.extend(case.confirms().take(4).map(Ask::sent_evidence));
    evidence
}

/// `orphan-effect`, `unconfirmed-effect`, `effect-before-confirm`. Effects beyond the end of a cut history are left
/// out: their cause may stand in the part that is missing.
fn judge_cause(case: &Case, ground: &Ground, tally: &mut Tally) {
    let Some(first) = case.effects().filter(|did| ground.is_within_history(did.point)).min_by_key(|did| did.point)
    else {
        return;
    };
    let judged = [Anomaly::OrphanEffect, Anomaly::UnconfirmedEffect, Anomaly::EffectBeforeConfirm]
        .map(|anomaly| tally.judges(anomaly));
    let confirm = case.possible_confirms().min_by_key(|ask| ask.sent);
    if case.asks.is_empty() && case.looks.is_empty() {
        if judged[0] {
            let sentence =
                format!("`{}` took effect for {}, which no Agent ever named or saw.", first.step, case.action);
            tally.found(Anomaly::OrphanEffect, Some(case), first.point, sentence, vec![first.evidence()]);
        }
    } else if let Some(confirm) = confirm {
        if judged[2] && ground.before(first.point, confirm.sent) {
            let sentence = format!("`{}` took effect for {} before anybody had confirmed it.", first.step, case.action);
            let evidence = vec![first.evidence(), confirm.sent_evidence()];
            tally.found(Anomaly::EffectBeforeConfirm, Some(case), first.point, sentence, evidence);
        }
    } else if judged[1] {
        let refused = case.confirms().count();
        let why = match refused {
            0 => "which nobody had confirmed".to_owned(),
            refused => format!("of which all {refused} confirms were refused or never left"),
        };
        let sentence = format!("`{}` took effect for {}, {why}.", first.step, case.action);
        let mut evidence = with_confirms(case, vec![first.evidence()]);
        evidence.extend(case.looks.iter().take(1).map(super::case::Look::evidence));
        tally.found(Anomaly::UnconfirmedEffect, Some(case), first.point, sentence, evidence);
    }
}

/// `stale-revision-effect` and `effect-off-terms`.
fn judge_terms(case: &Case, ground: &Ground, tally: &mut Tally) {
    if case.possible_confirms().next().is_none() {
        return;
    }
    let (stale, off) = (tally.judges(Anomaly::StaleRevisionEffect), tally.judges(Anomaly::EffectOffTerms));
    let shown: BTreeSet<u64> =
        case.looks.iter().filter_map(|look| Some(look.confirmation.as_ref()?.revision)).collect();
    let asked: BTreeSet<Option<u64>> = case.possible_confirms().map(|ask| ask.revision).collect();
    let (mut stale_found, mut off_found) = (!stale, !off);
    for did in case.effects().filter(|did| ground.is_within_history(did.point)) {
        // A confirm whose revision the history does not say may have been of any.
        let nobody = !asked.contains(&Some(did.revision)) && !asked.contains(&None);
        let other = !shown.is_empty() && !shown.contains(&did.revision);
        if (nobody || other) && !stale_found {
            stale_found = true;
            let confirmed = shown.first().copied().or_else(|| asked.iter().flatten().next().copied());
            let confirmed = confirmed.map_or_else(|| "another".to_owned(), |revision| format!("revision {revision}"));
            let sentence = format!(
                "`{}` was performed on revision {} of {}, but {confirmed} was confirmed.",
                did.step, did.revision, case.action
            );
            let evidence = with_confirms(case, vec![did.evidence()]);
            tally.found(Anomaly::StaleRevisionEffect, Some(case), did.point, sentence, evidence);
        } else if !nobody && !other && !off_found && !case.is_digest_of(did.revision, &did.terms) {
            off_found = true;
            let sentence = format!(
                "`{}` was performed for {} on terms {}, which are not those of the confirmed revision {}.",
                did.step, case.action, did.terms, did.revision
            );
            let mut evidence = with_confirms(case, vec![did.evidence()]);
            let shown = case.looks.iter().find(|look| look.revision == did.revision);
            evidence.extend(shown.map(|look| {
                super::case::note(
                    look.heard,
                    format!("{} told: r{} has terms {}", look.process, look.revision, look.terms),
                )
            }));
            tally.found(Anomaly::EffectOffTerms, Some(case), did.point, sentence, evidence);
        }
    }
}

/// An effect after a definite `cancelled` or `expired`.
fn judge_after(case: &Case, ground: &Ground, tally: &mut Tally, state: State, anomaly: Anomaly) {
    let Some(ended) = case.first_heard(state) else { return };
    if !tally.judges(anomaly) {
        return;
    }
    let after = case.effects().filter(|did| ground.before(ended.left, did.point)).min_by_key(|did| did.point);
    if let Some(did) = after {
        let name = super::case::state_name(state);
        let sentence = format!("`{}` took effect for {} after an answer had said {name}.", did.step, case.action);
        tally.found(
            anomaly,
            Some(case),
            did.point,
            sentence,
            with_confirms(case, vec![ended.evidence(), did.evidence()]),
        );
    }
}
