//! The life cycle as answers showed it: it only goes forward, ends once, and does end.

use super::anomaly::Anomaly;
use super::case::{Ask, Case, Look, is_final, state_name};
use super::ground::Ground;
use super::sweep::first_fall;
use super::tally::Tally;
use crate::history::record::{Observation, Outcome, Purpose, State};

/// All rules of this family.
pub(crate) fn judge(case: &Case, ground: &Ground, tally: &mut Tally) {
    judge_finals(case, ground, tally);
    judge_id_reuse(case, ground, tally);
    judge_confirm_kept(case, ground, tally);
    judge_expired_after_confirm(case, ground, tally);
    judge_resolved(case, ground, tally);
}

/// `final-state-flip`.
fn judge_finals(case: &Case, ground: &Ground, tally: &mut Tally) {
    let Some(first) = case.finals().min_by_key(|look| look.heard) else { return };
    if !tally.judges(Anomaly::FinalStateFlip) {
        return;
    }
    let other = case.finals().filter(|look| look.state != first.state).min_by_key(|look| look.heard);
    // What a new proposal is given under an old ID is judged as `id-reuse`.
    let looks: Vec<&Look> =
        case.looks.iter().filter(|look| is_final(look.state) || look.purpose != Purpose::Propose).collect();
    let back = first_fall(&looks, ground, |look| is_final(look.state));
    let pair = other.map(|other| (first, other)).or(back);
    if let Some((before, after)) = pair {
        let (was, became) = (state_name(before.state), state_name(after.state));
        let sentence = format!("{} was reported {was}, which is final, and then {became}.", case.action);
        let evidence = vec![before.evidence(), after.evidence()];
        tally.found(Anomaly::FinalStateFlip, Some(case), after.heard, sentence, evidence);
    }
}

fn judge_id_reuse(case: &Case, ground: &Ground, tally: &mut Tally) {
    let Some(first) = case.finals().min_by_key(|look| look.heard) else { return };
    if !tally.judges(Anomaly::IdReuse) {
        return;
    }
    let reused = case.looks.iter().find(|look| {
        look.purpose == Purpose::Propose && !is_final(look.state) && ground.before(first.heard, look.sent)
    });
    if let Some(reused) = reused {
        let sentence = format!("A new proposal was given the ID of {}, which was already final.", case.action);
        let evidence = vec![first.evidence(), reused.evidence()];
        tally.found(Anomaly::IdReuse, Some(case), reused.heard, sentence, evidence);
    }
}

/// `lost-confirm`.
fn judge_confirm_kept(case: &Case, ground: &Ground, tally: &mut Tally) {
    let open: Vec<&Look> = case.looks.iter().filter(|look| !is_final(look.state)).collect();
    if !open.iter().any(|look| look.shows_confirmed()) || !tally.judges(Anomaly::LostConfirm) {
        return;
    }
    if let Some((confirmed, lost)) = first_fall(&open, ground, Look::shows_confirmed) {
        let sentence = format!("{} was confirmed, and then was waiting to be confirmed again.", case.action);
        let evidence = vec![confirmed.evidence(), lost.evidence()];
        tally.found(Anomaly::LostConfirm, Some(case), lost.heard, sentence, evidence);
    }
}

fn judge_expired_after_confirm(case: &Case, ground: &Ground, tally: &mut Tally) {
    let Some(expired) = case.first_heard(State::Expired) else { return };
    if !tally.judges(Anomaly::ExpiredAfterConfirm) {
        return;
    }
    let confirmed = case.looks.iter().find(|look| look.shows_confirmed() && !ground.before(expired.heard, look.sent));
    if let Some(confirmed) = confirmed {
        let sentence = format!("{} had been confirmed, and yet expired.", case.action);
        let evidence = vec![confirmed.evidence(), expired.evidence()];
        tally.found(Anomaly::ExpiredAfterConfirm, Some(case), expired.heard.max(confirmed.heard), sentence, evidence);
    }
}

/// `unresolved-at-quiescence` and `abandoned-operation`. Only for what was confirmed, or may have been: a proposal that
/// its User walked away from may stay open.
fn judge_resolved(case: &Case, ground: &Ground, tally: &mut Tally) {
    let Some(settled) = ground.settled else { return };
    let shown = case.looks.iter().filter(|look| look.shows_confirmed()).min_by_key(|look| look.heard);
    let may_be: Vec<&Ask> = case.possible_confirms().filter(|ask| may_be_confirmed(case, ground, ask)).collect();
    if shown.is_none() && may_be.is_empty() {
        return;
    }
    let asked_afterwards = case.looks.iter().find(|look| !ground.before(look.sent, settled));
    let judges_resolved = !case.unattended && (asked_afterwards.is_some() || case.finals().next().is_some());
    let unresolved = judges_resolved && tally.judges(Anomaly::UnresolvedAtQuiescence);
    let abandoned = !ground.cut_off && tally.judges(Anomaly::AbandonedOperation);
    if case.finals().next().is_some() {
        return;
    }
    let mut evidence: Vec<_> = may_be.iter().take(3).map(|ask| ask.sent_evidence()).collect();
    evidence.extend(shown.map(Look::evidence));
    evidence.push(super::case::note(settled, "the run has settled"));
    // Only an answer to what was asked after the settle time says that it did not suffice: before, nobody may have looked.
    if let Some(look) = asked_afterwards {
        if unresolved {
            let sentence = format!("{} was confirmed, and still has no final state.", case.action);
            let sentence = if shown.is_some() { sentence } else { sentence.replacen("was", "may have been", 1) };
            evidence.push(look.evidence());
            tally.found(Anomaly::UnresolvedAtQuiescence, Some(case), settled, sentence, evidence);
        }
        return;
    }
    let last = case.asks.iter().max_by_key(|ask| ask.sent);
    let last_confirm = may_be.iter().max_by_key(|ask| ask.sent);
    let followed_up =
        shown.is_some() || last.map(|ask| ask.sent) != last_confirm.map(|ask| ask.sent) || may_be.len() > 1;
    if let Some(confirm) = last_confirm
        && let Some((ended, Outcome::Unknown)) = confirm.ended
        && ground.before(ended, settled)
        && abandoned
        && !followed_up
    {
        let sentence =
            format!("{} never learnt what became of its confirm of {}, and never asked.", confirm.process, case.action);
        tally.found(Anomaly::AbandonedOperation, Some(case), ended, sentence, evidence);
    }
}

/// Whether a confirm without a telling answer may stand accepted. Not if the wire shows that no copy of it arrived, nor
/// if a later request was told of the operation as still waiting to be confirmed.
fn may_be_confirmed(case: &Case, ground: &Ground, ask: &Ask) -> bool {
    if ask.is_unknown() && ground.observes.contains(&Observation::Wire) && !ask.arrived {
        return false;
    }
    let waiting_after = |look: &&Look| {
        look.state == State::Proposed
            && (ask.ended.is_some_and(|(ended, _)| ground.before(ended, look.sent))
                || ask.revision.is_some_and(|revision| look.revision > revision))
    };
    !case.looks.iter().any(|look| waiting_after(&look))
}
