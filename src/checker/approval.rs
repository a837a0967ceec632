//! The User's approval: of exactly the confirmed revision, still in force, or a standing permission that covers it.

use super::anomaly::Anomaly;
use super::case::{Approved, Ask, Case, Point, Standing, note};
use super::finding::Evidence;
use super::ground::Ground;
use super::tally::Tally;
use crate::history::record::{ApprovalIs, ApprovedBy, Bounds, Outcome};

/// All rules of this family.
pub(crate) fn judge(case: &Case, ground: &Ground, tally: &mut Tally) {
    let confirms = case.confirms().filter(|ask| !matches!(ask.ended, Some((_, Outcome::Unsent))));
    let mut user_found = false;
    let mut standing_found = false;
    for ask in confirms {
        match ask.approved_by {
            Some(ApprovedBy::User) if !user_found => user_found = judge_user(case, ground, tally, ask),
            Some(ApprovedBy::StandingPermission) if !standing_found => {
                standing_found = judge_standing(case, ground, tally, ask);
            }
            _ => {}
        }
    }
}

fn seen(approved: &Approved) -> Evidence {
    let what = match approved.is {
        ApprovalIs::Shown => "was shown",
        ApprovalIs::Approved => "approved",
        ApprovalIs::Declined => "declined",
        ApprovalIs::OtherTerms => "asked for other terms than",
        ApprovalIs::Withdrawn => "took back the approval of",
        ApprovalIs::Standing => "gave a permission for",
        ApprovalIs::Told => "was told the end of",
    };
    let revision = approved.revision.map_or("the operation".to_owned(), |revision| format!("r{revision}"));
    note(approved.point, format!("User {} {what} {revision}", approved.user))
}

/// `unapproved-confirm`, `approval-reuse`, `approval-of-other-terms`, `confirm-after-withdrawal`: at most one of them
/// for a confirm. True if one was found.
fn judge_user(case: &Case, ground: &Ground, tally: &mut Tally, ask: &Ask) -> bool {
    let judged = [
        Anomaly::UnapprovedConfirm,
        Anomaly::ApprovalReuse,
        Anomaly::ApprovalOfOtherTerms,
        Anomaly::ConfirmAfterWithdrawal,
    ]
    .map(|anomaly| tally.judges(anomaly));
    let Some(revision) = ask.revision else { return false };
    // Whatever is not certainly later than the confirm may have come before it.
    let earlier = || case.approvals.iter().filter(|approved| !ground.before(ask.sent, approved.point));
    let is_this = |approved: &&Approved| approved.revision.is_none_or(|shown| shown == revision);
    let approved = |approved: &&Approved| approved.is == ApprovalIs::Approved;
    let process = &ask.process;
    let (anomaly, sentence) = if !earlier().any(|it| approved(&it)) {
        let sentence = format!("{process} confirmed {} in the User's name without any approval.", case.action);
        (Anomaly::UnapprovedConfirm, sentence)
    } else if !earlier().filter(is_this).any(|it| approved(&it)) {
        let sentence =
            format!("{process} confirmed revision {revision} of {}, but the User had approved another.", case.action);
        (Anomaly::ApprovalReuse, sentence)
    } else if !earlier()
        .filter(is_this)
        .filter(approved)
        .any(|it| it.terms.as_ref().is_none_or(|terms| case.is_digest_of(revision, terms)))
    {
        let sentence = format!("The User approved other terms than those of revision {revision} of {}.", case.action);
        (Anomaly::ApprovalOfOtherTerms, sentence)
    } else if earlier()
        .filter(is_this)
        .rfind(|it| matches!(it.is, ApprovalIs::Approved | ApprovalIs::Withdrawn | ApprovalIs::Declined))
        .is_some_and(|last| last.is != ApprovalIs::Approved && ground.before(last.point, ask.sent))
    {
        let sentence = format!("{process} confirmed {} after the User had taken the approval back.", case.action);
        (Anomaly::ConfirmAfterWithdrawal, sentence)
    } else {
        return false;
    };
    let asked_for = match anomaly {
        Anomaly::UnapprovedConfirm => judged[0],
        Anomaly::ApprovalReuse => judged[1],
        Anomaly::ApprovalOfOtherTerms => judged[2],
        _ => judged[3],
    };
    if asked_for {
        let mut evidence: Vec<Evidence> = earlier().rev().take(4).map(seen).collect();
        evidence.push(ask.sent_evidence());
        tally.found(anomaly, Some(case), ask.sent, sentence, evidence);
    }
    asked_for
}

/// `standing-permission-abuse`. True if it was found.
fn judge_standing(case: &Case, ground: &Ground, tally: &mut Tally, ask: &Ask) -> bool {
    if !tally.judges(Anomaly::StandingPermissionAbuse) {
        return false;
    }
    let mut evidence = vec![ask.sent_evidence()];
    let told = case.looks.iter().find(|look| {
        look.process == ask.process
            && Some(look.revision) == ask.revision
            && look.approval_required
            && ground.before(look.heard, ask.sent)
    });
    let why = if let Some(told) = told {
        evidence.push(told.evidence());
        Some("where the Company accepts only the User's own approval")
    } else {
        uncovered(case, ground, ask, &mut evidence)
    };
    let Some(why) = why else { return false };
    let sentence = format!("{} confirmed {} by a standing permission {why}.", ask.process, case.action);
    tally.found(Anomaly::StandingPermissionAbuse, Some(case), ask.sent, sentence, evidence);
    true
}

/// Why no standing permission covers a confirm, as far as the history can tell.
fn uncovered(case: &Case, ground: &Ground, ask: &Ask, evidence: &mut Vec<Evidence>) -> Option<&'static str> {
    let digest = case.looks.iter().find(|look| Some(look.revision) == ask.revision).map(|look| &look.terms);
    let terms = digest.and_then(|digest| ground.terms.get(digest));
    let kind = terms.and_then(|terms| terms.work.kind.as_ref()).or(case.kind.as_ref());
    let money = terms.and_then(|terms| terms.money.as_ref());
    // Where the Session does not say whose it is, any User's permission may be meant.
    let mut in_force: Vec<(Point, &str, &Bounds)> = Vec::new();
    match &ask.user {
        Some(user) => {
            let own = ground.standing.get(user).into_iter();
            in_force.extend(own.flat_map(|all| live(user, all, ground, ask)));
        }
        None => in_force.extend(ground.standing.iter().flat_map(|(user, all)| live(user, all, ground, ask))),
    }
    if in_force.is_empty() {
        return Some("that the User had not given");
    }
    let covers = |(_, _, bounds): &(Point, &str, &Bounds)| {
        bounds.company == case.company()
            && kind.is_none_or(|kind| *kind == bounds.kind)
            && money.is_none_or(|money| {
                money.currency == bounds.currency.as_bytes()
                    && i64::try_from(bounds.up_to_minor).is_ok_and(|bound| money.minor <= bound)
            })
    };
    if in_force.iter().any(covers) {
        return None;
    }
    evidence.extend(in_force.iter().take(2).map(|(point, user, bounds)| {
        let text = format!(
            "User {user} permits {} at {} up to {} {} (minor)",
            bounds.kind, bounds.company, bounds.up_to_minor, bounds.currency
        );
        note(*point, text)
    }));
    Some("that does not cover its terms")
}

/// The permissions of one User that may be in force when a confirm is sent. Taking back ends all given before.
fn live<'a>(user: &'a str, all: &'a [Standing], ground: &Ground, ask: &Ask) -> Vec<(Point, &'a str, &'a Bounds)> {
    let mut live = Vec::new();
    for standing in all.iter().filter(|standing| !ground.before(ask.sent, standing.point)) {
        match &standing.bounds {
            Some(bounds) => live.push((standing.point, user, bounds)),
            None if ground.before(standing.point, ask.sent) => live.clear(),
            None => {}
        }
    }
    live
}
