//! Confirmations as answers showed them: caused by a confirm, of the latest revision, and never rewritten.

use std::collections::BTreeMap;

use super::anomaly::Anomaly;
use super::case::{Ask, Case, Confirmed, Look, Point};
use super::ground::Ground;
use super::revisions;
use super::tally::Tally;
use super::time::Wall;
use crate::history::record::{ApprovedBy, Outcome, Purpose};

/// Refusals that a confirm may get beside another one of the same revision that was accepted: they are about its own
/// credential, its form or the Company's limits, or the Company has forgotten an operation that became final.
const ALLOWED_FOR_A_REPEAT: [&str; 10] = [
    "invalid_token",
    "invalid_dpop_proof",
    "use_dpop_nonce",
    "invalid_client",
    "insufficient_scope",
    "sign_in_required",
    "extension_required",
    "operation_not_found",
    "invalid_request",
    "rate_limited",
];

/// All rules of this family.
pub(crate) fn judge(case: &Case, ground: &Ground, tally: &mut Tally) {
    if !case.looks.iter().any(Look::shows_confirmed) {
        return;
    }
    judge_cause(case, ground, tally);
    judge_revision(case, ground, tally);
    judge_permission(case, tally);
    judge_kept(case, tally);
    judge_repeats(case, tally);
}

/// `phantom-confirmation`.
fn judge_cause(case: &Case, ground: &Ground, tally: &mut Tally) {
    if !tally.judges(Anomaly::PhantomConfirmation) {
        return;
    }
    let mut first: BTreeMap<Option<u64>, Point> = BTreeMap::new();
    for ask in case.possible_confirms() {
        let sent = first.entry(ask.revision).or_insert(ask.sent);
        *sent = ask.sent.min(*sent);
    }
    let uncaused = case.looks.iter().filter(|look| look.shows_confirmed()).find(|look| {
        let revision = look.confirmation.as_ref().map_or(look.revision, |confirmed| confirmed.revision);
        // A confirm whose revision the history does not say may have been of any.
        let mut causes = [Some(revision), None].into_iter().filter_map(|revision| first.get(&revision));
        !causes.any(|sent| !ground.before(look.heard, *sent))
    });
    if let Some(look) = uncaused {
        let sentence = format!("{} was shown as confirmed, but no confirm can have caused that.", case.action);
        let mut evidence = vec![look.evidence()];
        let confirms = case.confirms();
        evidence.extend(confirms.take(3).map(Ask::sent_evidence));
        evidence.extend(case.looks.first().map(Look::evidence));
        tally.found(Anomaly::PhantomConfirmation, Some(case), look.heard, sentence, evidence);
    }
}

/// `stale-revision-accepted`, and `revision-after-confirm` where the order of events does not prove the former.
fn judge_revision(case: &Case, ground: &Ground, tally: &mut Tally) {
    let confirmed = |look: &Look| look.confirmation.as_ref().map(|confirmed| confirmed.revision);
    let Some(first) = case.looks.iter().find(|look| confirmed(look).is_some()) else { return };
    let (stale, after) = (tally.judges(Anomaly::StaleRevisionAccepted), tally.judges(Anomaly::RevisionAfterConfirm));
    let revision = confirmed(first).unwrap_or_default();
    // Shown to somebody, or said by the Company itself: either way it had replaced the older one by then.
    let shown = case.looks.iter().filter(|look| look.revision > revision);
    let shown = shown.map(|look| (look.heard, look.revision, look.evidence()));
    let issued = case.offers.iter().filter(|offer| offer.revision > revision);
    let issued = issued.map(|offer| (offer.point, offer.revision, revisions::issued(offer.point, offer.revision)));
    let newer = shown.chain(issued).min_by_key(|newer| newer.0);
    let earliest = case
        .possible_confirms()
        .filter(|ask| ask.revision.is_none_or(|asked| asked == revision))
        .min_by_key(|ask| ask.sent);
    if let (Some((replaced, newer, proof)), Some(confirm)) = (newer, earliest)
        && ground.before(replaced, confirm.sent)
    {
        if stale {
            let sentence = format!(
                "Revision {revision} of {} was accepted although revision {newer} had replaced it.",
                case.action
            );
            let evidence = vec![proof, confirm.sent_evidence(), first.evidence()];
            tally.found(Anomaly::StaleRevisionAccepted, Some(case), first.heard, sentence, evidence);
        }
        return;
    }
    let changed = case.looks.iter().find(|look| confirmed(look).is_some_and(|revision| revision != look.revision));
    if let Some(look) = changed.filter(|_| after) {
        let sentence = format!("The terms of {} changed after they had been confirmed.", case.action);
        let mut evidence = vec![look.evidence()];
        evidence.extend(earliest.map(Ask::sent_evidence));
        tally.found(Anomaly::RevisionAfterConfirm, Some(case), look.heard, sentence, evidence);
    }
}

/// `standing-permission-accepted`. What a revision requires is to be one thing; where answers differ about it, either was
/// true when the confirm came, and nobody is accused.
fn judge_permission(case: &Case, tally: &mut Tally) {
    let by_standing = |confirmed: &Confirmed| confirmed.approved_by == ApprovedBy::StandingPermission;
    let claimed =
        case.looks.iter().find_map(|look| Some((look, look.confirmation.as_ref().filter(|it| by_standing(it))?)));
    let Some((look, confirmed)) = claimed.filter(|_| tally.judges(Anomaly::StandingPermissionAccepted)) else { return };
    let shown: Vec<&Look> = case.looks.iter().filter(|look| look.revision == confirmed.revision).collect();
    let Some(first) = shown.first().filter(|_| shown.iter().all(|look| look.approval_required)) else { return };
    let sentence = format!(
        "A standing permission was accepted for revision {} of {}, which requires the User's own approval.",
        confirmed.revision, case.action
    );
    let mut evidence = vec![look.evidence(), first.evidence()];
    let confirm = case.possible_confirms().find(|ask| ask.approved_by == Some(ApprovedBy::StandingPermission));
    evidence.extend(confirm.map(Ask::sent_evidence));
    tally.found(Anomaly::StandingPermissionAccepted, Some(case), look.heard, sentence, evidence);
}

/// `confirmation-rewritten`.
fn judge_kept(case: &Case, tally: &mut Tally) {
    let mut shown = case.looks.iter().filter_map(|look| Some((look, look.confirmation.as_ref()?)));
    let Some((first, original)) = shown.next() else { return };
    if !tally.judges(Anomaly::ConfirmationRewritten) {
        return;
    }
    if let Some((look, other)) = shown.find(|(_, other)| !same(original, other)) {
        let sentence = format!(
            "The confirmation of {} was rewritten: r{} at {}, then r{} at {}.",
            case.action, original.revision, original.at, other.revision, other.at
        );
        let evidence = vec![first.evidence(), look.evidence()];
        tally.found(Anomaly::ConfirmationRewritten, Some(case), look.heard, sentence, evidence);
    }
}

/// Whether two confirmations say the same; one instant may be written in several ways.
fn same(a: &Confirmed, b: &Confirmed) -> bool {
    let same_time = a.at == b.at || matches!((Wall::parse(&a.at), Wall::parse(&b.at)), (Some(a), Some(b)) if a == b);
    a.revision == b.revision && a.approved_by == b.approved_by && same_time
}

/// Whether a refusal is about the operation: an error code, and none that is allowed. A bare status (`status-429`) may
/// come from anything in front of the Company.
fn is_of_the_operation(why: &str) -> bool {
    !why.starts_with("status-") && !ALLOWED_FOR_A_REPEAT.contains(&why)
}

/// `repeat-confirm-refused`: whichever of two equal confirms the Company took first, a revision that it accepts was the
/// latest until then and is frozen afterwards, so that the other one has to be answered with the operation.
fn judge_repeats(case: &Case, tally: &mut Tally) {
    let mut shown = case.looks.iter().filter_map(|look| Some((look, look.confirmation.as_ref()?)));
    let Some((accepted, confirmed)) = shown.next() else { return };
    let equal = |ask: &&Ask| {
        ask.purpose == Purpose::Confirm
            && ask.revision == Some(confirmed.revision)
            && ask.approved_by == Some(confirmed.approved_by)
    };
    if case.asks.iter().filter(equal).count() < 2 || !tally.judges(Anomaly::RepeatConfirmRefused) {
        return;
    }
    let refused = case.asks.iter().filter(equal).find(|ask| {
        matches!(ask.ended, Some((_, Outcome::Refused))) && ask.why.as_ref().is_some_and(|why| is_of_the_operation(why))
    });
    if let Some(ask) = refused {
        let sentence =
            format!("{} confirmed {} and was refused, though the same confirm was accepted.", ask.process, case.action);
        let point = ask.ended.map_or(ask.sent, |(point, _)| point);
        let evidence = vec![accepted.evidence(), ask.sent_evidence()];
        tally.found(Anomaly::RepeatConfirmRefused, Some(case), point, sentence, evidence);
    }
}
