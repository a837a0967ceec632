//! Expiry: nothing is confirmed after it, nothing expires before it, and a new revision has a new one.
//!
//! Times of two clocks are compared with the run's declared clock error, and a time stands for as long a span as its
//! last digit: the accusing side must be late by more than both.

use std::collections::BTreeMap;

use super::anomaly::Anomaly;
use super::case::{Ask, Case, Look, Point, note};
use super::ground::Ground;
use super::tally::Tally;
use super::time::Wall;
use crate::history::record::State;

/// A precision under which two equal expiries are no coincidence of rounding, in nanoseconds.
const FINE: i64 = 1_000_000;

/// All rules of this family.
pub(crate) fn judge(case: &Case, ground: &Ground, tally: &mut Tally) {
    judge_confirmed_in_time(case, ground, tally);
    judge_premature(case, ground, tally);
    judge_renewed(case, ground, tally);
}

/// Every expiry that was given for a revision.
fn expiries(case: &Case, revision: u64) -> impl Iterator<Item = Wall> {
    let shown = case.looks.iter().filter(move |look| look.revision == revision).filter_map(|look| look.expires);
    let issued = case.offers.iter().filter(move |offer| offer.revision == revision).filter_map(|offer| offer.expires);
    shown.chain(issued)
}

/// `confirm-accepted-after-expiry`.
fn judge_confirmed_in_time(case: &Case, ground: &Ground, tally: &mut Tally) {
    let Some(look) = case.looks.iter().find(|look| look.shows_confirmed()) else { return };
    let revision = look.confirmation.as_ref().map_or(look.revision, |confirmed| confirmed.revision);
    // Should one revision have been given two expiries, the later one counts: nobody is accused by the earlier.
    let Some(last) = expiries(case, revision).map(|wall| wall.to).max() else { return };
    if !tally.judges(Anomaly::ConfirmAcceptedAfterExpiry) {
        return;
    }
    let dated = look.confirmation.as_ref().and_then(|confirmed| Wall::parse(&confirmed.at));
    if dated.is_some_and(|dated| dated.from > last) {
        let at = look.confirmation.as_ref().map(|confirmed| confirmed.at.as_str()).unwrap_or_default();
        let sentence = format!("Revision {revision} of {} was confirmed at {at}, after its expiry.", case.action);
        let mut evidence = vec![look.evidence()];
        evidence.extend(case.possible_confirms().take(3).map(Ask::sent_evidence));
        tally.found(Anomaly::ConfirmAcceptedAfterExpiry, Some(case), look.heard, sentence, evidence);
        return;
    }
    let causes = || case.possible_confirms().filter(|ask| ask.revision.is_none_or(|asked| asked == revision));
    let Some(earliest) = causes().min_by_key(|ask| ask.sent.at) else { return };
    if ground.wall(earliest.sent).is_some_and(|(from, _)| from > last) {
        let sentence =
            format!("Revision {revision} of {} was accepted, but first confirmed after its expiry.", case.action);
        let evidence = vec![earliest.sent_evidence(), look.evidence()];
        tally.found(Anomaly::ConfirmAcceptedAfterExpiry, Some(case), look.heard, sentence, evidence);
    }
}

/// `premature-expiry`.
fn judge_premature(case: &Case, ground: &Ground, tally: &mut Tally) {
    let Some(expired) = case.first_heard(State::Expired) else { return };
    let Some(first) = expiries(case, expired.revision).map(|wall| wall.from).min() else { return };
    let Some((_, latest)) = ground.wall(expired.heard) else { return };
    if tally.judges(Anomaly::PrematureExpiry) && latest < first {
        let early = (first - latest) / 1_000_000;
        let sentence = format!("{} was reported expired {early} ms before its expiry.", case.action);
        let mut evidence = vec![expired.evidence()];
        evidence.extend(case.looks.first().map(Look::evidence));
        tally.found(Anomaly::PrematureExpiry, Some(case), expired.heard, sentence, evidence);
    }
}

/// What is known of when a revision was issued, and its expiry.
struct Issue {
    /// It had been issued by then.
    by: Point,
    /// It was still the latest then.
    still: Point,
    /// When it was issued, where the Company's side was observed.
    exactly: Option<Point>,
    expires: Wall,
}

/// `expiry-not-renewed`. Coarse times may coincide when two revisions follow each other closely, so these accuse only
/// if more than their precision lies between the two.
fn judge_renewed(case: &Case, ground: &Ground, tally: &mut Tally) {
    let mut issues: BTreeMap<u64, Issue> = BTreeMap::new();
    for look in case.looks.iter().filter(|look| look.state == State::Proposed) {
        let Some(expires) = look.expires else { continue };
        let issue =
            issues.entry(look.revision).or_insert(Issue { by: look.heard, still: look.sent, exactly: None, expires });
        issue.by = issue.by.min(look.heard);
        issue.still = issue.still.max(look.sent);
    }
    for offer in &case.offers {
        let Some(expires) = offer.expires else { continue };
        let point = offer.point;
        let issue = issues.entry(offer.revision).or_insert(Issue { by: point, still: point, exactly: None, expires });
        issue.exactly = issue.exactly.or(Some(point));
    }
    if issues.len() < 2 || !tally.judges(Anomaly::ExpiryNotRenewed) {
        return;
    }
    let pairs = issues.iter().zip(issues.iter().skip(1));
    for ((older, before), (newer, after)) in pairs {
        if *newer != older + 1 || before.expires != after.expires {
            continue;
        }
        let precision = before.expires.precision();
        let apart = match (before.exactly, after.exactly) {
            (Some(before), Some(after)) => after.at.saturating_sub(before.at),
            _ => before.still.at.saturating_sub(before.by.at),
        };
        let slack = precision.saturating_add(i64::try_from(ground.slack()).unwrap_or(i64::MAX));
        if precision <= FINE || i64::try_from(apart).is_ok_and(|apart| apart > slack) {
            let sentence = format!("Revision {newer} of {} kept the expiry of revision {older}.", case.action);
            let evidence = vec![
                note(before.exactly.unwrap_or(before.by), format!("r{older} seen with its expiry")),
                note(after.exactly.unwrap_or(after.by), format!("r{newer} seen with the same expiry")),
            ];
            tally.found(Anomaly::ExpiryNotRenewed, Some(case), after.by, sentence, evidence);
            return;
        }
    }
}
