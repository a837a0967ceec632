//! Revisions: they only grow, by one, and never change once issued.

use std::collections::BTreeMap;

use super::anomaly::Anomaly;
use super::case::{Case, Look, Point, note};
use super::finding::Evidence;
use super::ground::Ground;
use super::sweep::first_fall;
use super::tally::Tally;

/// All rules of this family.
pub(crate) fn judge(case: &Case, ground: &Ground, tally: &mut Tally) {
    judge_growth(case, ground, tally);
    judge_gaps(case, tally);
    judge_fixed(case, tally);
}

/// `non-monotonic-revision`, by answers and by what the Company issued.
fn judge_growth(case: &Case, ground: &Ground, tally: &mut Tally) {
    if (case.looks.len() < 2 && case.offers.len() < 2) || !tally.judges(Anomaly::NonMonotonicRevision) {
        return;
    }
    let looks: Vec<&Look> = case.looks.iter().collect();
    if let Some((newer, older)) = first_fall(&looks, ground, |look| look.revision) {
        let sentence = format!("{} went back from revision {} to {}.", case.action, newer.revision, older.revision);
        let evidence = vec![newer.evidence(), older.evidence()];
        tally.found(Anomaly::NonMonotonicRevision, Some(case), older.heard, sentence, evidence);
        return;
    }
    if let Some(pair) = case.offers.windows(2).find(|pair| pair[1].revision < pair[0].revision) {
        let sentence = format!("{} went back from revision {} to {}.", case.action, pair[0].revision, pair[1].revision);
        let evidence = pair.iter().map(|offer| issued(offer.point, offer.revision)).collect();
        tally.found(Anomaly::NonMonotonicRevision, Some(case), pair[1].point, sentence, evidence);
    }
}

pub(super) fn issued(point: Point, revision: u64) -> Evidence {
    note(point, format!("revision {revision} issued"))
}

/// `revision-gap`: judged by the offers alone, since an Agent need not see every revision.
fn judge_gaps(case: &Case, tally: &mut Tally) {
    if case.offers.is_empty() || !tally.judges(Anomaly::RevisionGap) {
        return;
    }
    let mut last: Option<(u64, Point)> = None;
    for offer in &case.offers {
        let highest = last.map_or(0, |(revision, _)| revision);
        if offer.revision > highest + 1 {
            let sentence = match highest {
                0 => format!("{} began at revision {}, not at 1.", case.action, offer.revision),
                highest => format!("{} skipped from revision {highest} to {}.", case.action, offer.revision),
            };
            let mut evidence = vec![issued(offer.point, offer.revision)];
            evidence.extend(last.map(|(revision, point)| issued(point, revision)));
            tally.found(Anomaly::RevisionGap, Some(case), offer.point, sentence, evidence);
            return;
        }
        if offer.revision > highest {
            last = Some((offer.revision, offer.point));
        }
    }
}

/// `mutated-revision-terms`.
fn judge_fixed(case: &Case, tally: &mut Tally) {
    let shown = case.looks.iter().map(|look| (look.heard, look.revision, &look.terms));
    let offered = case.offers.iter().map(|offer| (offer.point, offer.revision, &offer.terms));
    if case.looks.len() + case.offers.len() < 2 || !tally.judges(Anomaly::MutatedRevisionTerms) {
        return;
    }
    let mut all: Vec<_> = shown.chain(offered).collect();
    all.sort_by_key(|(point, ..)| *point);
    let mut first: BTreeMap<u64, (Point, &str)> = BTreeMap::new();
    for (point, revision, terms) in all {
        let (earlier, known) = *first.entry(revision).or_insert((point, terms.as_str()));
        if known != terms.as_str() {
            let sentence = format!("The terms of revision {revision} of {} changed after it was issued.", case.action);
            let evidence = vec![
                note(earlier, format!("r{revision} has terms {known}")),
                note(point, format!("r{revision} has terms {terms}")),
            ];
            tally.found(Anomaly::MutatedRevisionTerms, Some(case), point, sentence, evidence);
            return;
        }
    }
}
