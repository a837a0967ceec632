//! A Company's own count of performances against what it answered: how often, and whether at all.
//!
//! A count says neither which steps were done nor when. `failed`, and `cancelled` after a confirm, may leave a part done,
//! so that any count up to one is right for them; and of an operation that nobody was told the end of, only a second
//! performance is wrong.

use std::collections::BTreeSet;

use smol_str::SmolStr;

use super::anomaly::Anomaly;
use super::case::{Case, Counted, Look, Point, times};
use super::cases::Cases;
use super::effects::with_confirms;
use super::finding::Performances;
use super::ground::Ground;
use super::tally::Tally;
use crate::history::record::{State, Totals};

/// All rules of this family that are about one operation.
pub(crate) fn judge(case: &Case, ground: &Ground, tally: &mut Tally) {
    let Some(counted) = case.counted else { return };
    judge_once(case, counted, tally);
    judge_cause(case, counted, ground, tally);
    judge_ended(case, counted, tally, State::Cancelled, Anomaly::PerformedThoughCancelled);
    judge_ended(case, counted, tally, State::Expired, Anomaly::PerformedThoughExpired);
    judge_success(case, counted, ground, tally);
}

/// `performed-twice`.
fn judge_once(case: &Case, counted: Counted, tally: &mut Tally) {
    if tally.judges(Anomaly::PerformedTwice) && counted.times > 1 {
        let confirms = case.confirms().count();
        let sentence = format!("{} was performed {}; confirms sent: {confirms}.", case.action, times(counted.times));
        let evidence = with_confirms(case, vec![counted.evidence()]);
        tally.found(Anomaly::PerformedTwice, Some(case), counted.point, sentence, evidence);
    }
}

/// `performed-unconfirmed`. An operation that no Agent of the history was ever told of may be of somebody else's, and a
/// count that was taken after the end of a cut history may have its cause in the part that is missing.
fn judge_cause(case: &Case, counted: Counted, ground: &Ground, tally: &mut Tally) {
    if case.looks.is_empty()
        || !ground.is_within_history(counted.point)
        || !tally.judges(Anomaly::PerformedUnconfirmed)
        || counted.times == 0
        || case.possible_confirms().next().is_some()
    {
        return;
    }
    let confirms = case.confirms().count();
    let why = match confirms {
        0 => "and nobody had confirmed it".to_owned(),
        confirms => format!("and all {confirms} confirms of it were refused or never left"),
    };
    let sentence = format!("{} was performed {}, {why}.", case.action, times(counted.times));
    let mut evidence = with_confirms(case, vec![counted.evidence()]);
    evidence.extend(case.looks.iter().take(1).map(Look::evidence));
    tally.found(Anomaly::PerformedUnconfirmed, Some(case), counted.point, sentence, evidence);
}

/// `performed-though-cancelled` and `performed-though-expired`.
fn judge_ended(case: &Case, counted: Counted, tally: &mut Tally, state: State, anomaly: Anomaly) {
    let Some(ended) = case.first_heard(state) else { return };
    // Stopped after it was confirmed, it may have been performed in part.
    let may_be_partial = state == State::Cancelled && case.looks.iter().any(Look::shows_confirmed);
    if may_be_partial || !tally.judges(anomaly) || counted.times == 0 {
        return;
    }
    let name = super::case::state_name(state);
    let sentence = format!("{} ended as {name}, and was performed {}.", case.action, times(counted.times));
    let evidence = with_confirms(case, vec![ended.evidence(), counted.evidence()]);
    tally.found(anomaly, Some(case), counted.point.max(ended.heard), sentence, evidence);
}

/// `success-not-performed`, for one operation.
fn judge_success(case: &Case, counted: Counted, ground: &Ground, tally: &mut Tally) {
    let Some(success) = case.first_heard(State::Succeeded) else { return };
    // A count from before the answer left says nothing of it.
    if !ground.before(success.left, counted.point) || !tally.judges(Anomaly::SuccessNotPerformed) {
        return;
    }
    if counted.times == 0 {
        let sentence = format!("{} was reported succeeded, but was never performed.", case.action);
        let evidence = with_confirms(case, vec![success.evidence(), counted.evidence()]);
        tally.found(Anomaly::SuccessNotPerformed, Some(case), counted.point, sentence, evidence);
    }
}

/// The same of what Companies counted in all. Others may use a Company at the same time, so that it may have performed
/// more than this history knows of; not less, and nothing twice.
pub(crate) fn judge_totals(cases: &Cases, totals: &[(Point, Totals)], ground: &Ground, tally: &mut Tally) {
    for (point, total) in totals {
        let evidence = super::case::note(
            *point,
            format!("{}'s own count: {} performances, {} operations", total.company, total.performed, total.operations),
        );
        if tally.judges(Anomaly::PerformedTwice) && total.performed > total.operations {
            let sentence = format!(
                "{} counts {} performances of {} operations, so that something was performed more than once.",
                total.company, total.performed, total.operations
            );
            tally.found(Anomaly::PerformedTwice, None, *point, sentence, vec![evidence.clone()]);
        }
        let (mut succeeded, mut shown) = (0, Vec::new());
        for case in cases.of_company(&total.company) {
            let look = case.first_heard(State::Succeeded).filter(|look| ground.before(look.left, *point));
            succeeded += u64::from(look.is_some());
            shown.extend(look.filter(|_| shown.len() < 4).map(Look::evidence));
        }
        if succeeded == 0 || !tally.judges(Anomaly::SuccessNotPerformed) {
            continue;
        }
        if succeeded > total.operations {
            let sentence = format!(
                "{succeeded} operations of {} were reported succeeded, and by its own count {} were performed.",
                total.company, total.operations
            );
            let mut evidence = vec![evidence];
            evidence.extend(shown);
            tally.found(Anomaly::SuccessNotPerformed, None, *point, sentence, evidence);
        }
    }
}

/// What Companies said of operations that they were asked about one by one.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    performances: Performances,
    companies: BTreeSet<SmolStr>,
}

impl Asked {
    /// Adds what was said of one operation, if anything.
    pub(crate) fn add(&mut self, case: &Case) {
        let Some(counted) = case.counted else { return };
        self.performances.asked += 1;
        self.performances.operations += u64::from(counted.times > 0);
        self.performances.times += counted.times;
        if !self.companies.contains(case.company()) {
            self.companies.insert(case.company().into());
        }
    }

    /// What was counted, with totals; nothing where nobody counted.
    pub(crate) fn with(self, totals: &[(Point, Totals)]) -> Option<Performances> {
        let Asked { mut performances, companies } = self;
        // Where a Company was asked both ways, the totals would count the same again.
        for (_, total) in totals.iter().filter(|(_, total)| !companies.contains(&total.company)) {
            performances.operations += total.operations;
            performances.times += total.performed;
        }
        (performances.asked > 0 || !totals.is_empty()).then_some(performances)
    }
}
