//! The rules of operations (Operations 3 to 7; the decision table C1 to C8 of a confirm, of which C1 is the gate's).
//!
//! Every defect of a decision is read here, where the decision falls, and nowhere else.

use std::{sync::Arc, time::Duration};

use jiff::{SignedDuration, Timestamp};
use smol_str::SmolStr;

use crate::{
    company::record::{Owner, Record},
    plan::{Action, Approval, CompanyDefect, Defects},
    protocol::{ApprovedBy, ConfirmRequest, Confirmation, OperationResult, Revision, Rfc3339, State},
};

/// Who asks, as the gate found.
#[derive(Debug, Clone, Copy)]
pub(in crate::company) struct Caller<'a> {
    /// Agent, User and Session.
    pub(in crate::company) owner: &'a Owner,
    /// The account that the Session is signed in to.
    pub(in crate::company) account: Option<&'a SmolStr>,
    /// The scopes of the token.
    pub(in crate::company) scopes: &'a [SmolStr],
    /// Whether the Agent's metadata lists the extension.
    pub(in crate::company) lists_operations: bool,
}

/// What the rules depend on beside the request.
#[derive(Debug, Clone, Copy)]
pub(in crate::company) struct Rules<'a> {
    /// The action.
    pub(in crate::company) action: &'a Action,
    /// The Company's defects.
    pub(in crate::company) defects: &'a Defects<CompanyDefect>,
}

/// Why a request is refused; it then did nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::company) enum Refusal {
    /// C2: the Agent does not list the extension.
    ExtensionRequired,
    /// C3: there is no such operation for this caller.
    NotFound,
    /// C3: the operation belongs to an account, and the User's Session is signed out (digest 9.5).
    SignInRequired,
    /// C4: the token lacks the action's scope.
    InsufficientScope,
    /// C5: the revision is not the latest.
    TermsChanged,
    /// C6: a standing permission is not enough.
    UserApprovalRequired,
    /// The operation is confirmed already. Only a defect says so.
    AlreadyConfirmed,
}

/// One run of an action's steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::company) struct Run {
    /// Its number, where it is not the first; keys of its steps then carry it.
    pub(in crate::company) again: Option<u64>,
    /// Whether its progress and end are noted in the record.
    pub(in crate::company) noted: bool,
}

impl Run {
    /// The run that a confirm sets off.
    pub(in crate::company) const FIRST: Self = Self { again: None, noted: true };
    /// The same work before any confirm, unknown to the record.
    pub(in crate::company) const AHEAD: Self = Self { again: None, noted: false };
}

/// What the desk decided.
#[derive(Debug, Default)]
pub(in crate::company) struct Decision {
    /// Why the request is refused; otherwise it is answered with the operation.
    pub(in crate::company) refusal: Option<Refusal>,
    /// The record from now on, if it changes.
    pub(in crate::company) record: Option<Record>,
    /// What is to be performed.
    pub(in crate::company) perform: Option<Run>,
}

impl Decision {
    fn refuse(refusal: Refusal) -> Self {
        Self { refusal: Some(refusal), ..Self::default() }
    }
}

/// The record after the clock was looked at: a proposal that nobody confirmed by its last instant is expired, and that
/// instant still counts as in time (Operations 3). `None` if nothing changes.
pub(in crate::company) fn expire(record: &Record, now: Timestamp, rules: Rules<'_>) -> Option<Record> {
    if now <= record.offer.expires_at.timestamp() || record.direct {
        return None;
    }
    let due = match record.state {
        State::Proposed => true,
        State::Expired => false,
        State::InProgress | State::Succeeded | State::Failed | State::Cancelled => {
            rules.defects.has(CompanyDefect::ExpireConfirmed)
        }
    };
    let summary = format!("The {} was not confirmed in time. Nothing was done.", noun(rules.action));
    due.then(|| record.ended(State::Expired, OperationResult { summary, data: None }, now))
}

/// C2 and C3: whether the caller may know of the operation (Operations 2, 3.2).
///
/// # Errors
/// The refusal.
pub(in crate::company) fn admit(
    record: Option<&Record>,
    caller: Caller<'_>,
    defects: &Defects<CompanyDefect>,
) -> Result<(), Refusal> {
    if !caller.lists_operations && !defects.has(CompanyDefect::IgnoreExtensionListing) {
        return Err(Refusal::ExtensionRequired);
    }
    match record {
        Some(record) if !record.direct => check_owner(record, caller),
        Some(_) | None => Err(Refusal::NotFound),
    }
}

/// Whether an operation is the caller's: one of an account belongs to every Session of the same Agent and User that is
/// signed in to it now, any other one to the Session that it was proposed in (Operations 3.2; digest 9.5).
///
/// # Errors
/// The refusal.
pub(in crate::company) fn check_owner(record: &Record, caller: Caller<'_>) -> Result<(), Refusal> {
    let (owner, asks) = (&*record.owner, caller.owner);
    if (&owner.client_id, &owner.user_id) != (&asks.client_id, &asks.user_id) {
        return Err(Refusal::NotFound);
    }
    match (&record.account, caller.account) {
        (Some(account), Some(signed_in)) if account == signed_in => Ok(()),
        (Some(_), None) => Err(Refusal::SignInRequired),
        (None, _) if owner.session_id == asks.session_id => Ok(()),
        (Some(_) | None, _) => Err(Refusal::NotFound),
    }
}

/// Whether the token has the scope that the action needs (C4; also for a proposal).
pub(in crate::company) fn has_scope(caller: Caller<'_>, action: &Action) -> bool {
    action.scope.as_ref().is_none_or(|scope| caller.scopes.contains(scope))
}

/// What the checks of a confirm come to.
enum Checked {
    /// C2 to C6.
    Refuse(Refusal),
    /// C7.
    Repeated,
    /// C8.
    Accept,
}

/// A confirm: all checks, and what follows (Operations 5.2).
pub(in crate::company) fn confirm(
    record: &Record,
    caller: Caller<'_>,
    request: ConfirmRequest,
    now: Timestamp,
    rules: Rules<'_>,
) -> Decision {
    // The clock moves a proposal on before anything else is looked at.
    let expired = if is_accepted_late(record, rules) { None } else { expire(record, now, rules) };
    let current = expired.as_ref().unwrap_or(record);
    let decision = match check(current, caller, request, rules) {
        Checked::Refuse(refusal) => Decision::refuse(refusal),
        Checked::Repeated => repeated(current, now, rules),
        Checked::Accept => accept(current, request, now, rules),
    };
    Decision { record: decision.record.or(expired), ..decision }
}

/// Whether [`confirm`] would accept, without what follows from it.
pub(in crate::company) fn would_accept(
    record: &Record,
    caller: Caller<'_>,
    request: ConfirmRequest,
    now: Timestamp,
    rules: Rules<'_>,
) -> bool {
    let in_time = now <= record.offer.expires_at.timestamp() || is_accepted_late(record, rules);
    in_time && matches!(check(record, caller, request, rules), Checked::Accept)
}

/// Whether the clock does not matter to a confirm of this record.
fn is_accepted_late(record: &Record, rules: Rules<'_>) -> bool {
    record.state == State::Proposed && rules.defects.has(CompanyDefect::ExpiryNotChecked)
}

/// C2 to C8, in this order, of a record that the clock was looked at for.
fn check(record: &Record, caller: Caller<'_>, request: ConfirmRequest, rules: Rules<'_>) -> Checked {
    if let Err(refusal) = admit(Some(record), caller, rules.defects) {
        return Checked::Refuse(refusal);
    }
    if !has_scope(caller, rules.action) {
        return Checked::Refuse(Refusal::InsufficientScope);
    }
    let latest = record.offer.revision;
    if record.state == State::Proposed && request.revision != latest {
        let older = request.revision < latest;
        if !(older && rules.defects.has(CompanyDefect::StaleRevisionAccepted)) {
            return Checked::Refuse(Refusal::TermsChanged);
        }
    }
    if request.approved_by == ApprovedBy::StandingPermission
        && rules.action.approval == Approval::User
        && !rules.defects.has(CompanyDefect::AcceptStandingPermission)
    {
        return Checked::Refuse(Refusal::UserApprovalRequired);
    }
    if record.state == State::Proposed { Checked::Accept } else { Checked::Repeated }
}

/// C8: the confirmation is recorded, and the action begins. Nothing is checked here.
pub(in crate::company) fn accept(
    record: &Record,
    request: ConfirmRequest,
    now: Timestamp,
    rules: Rules<'_>,
) -> Decision {
    if record.state != State::Proposed {
        // Only one that was checked before, and lost its case in between, comes here: the act of check-then-act.
        let run = Run { again: Some(record.shared.next_run()), noted: false };
        return Decision { perform: Some(run), ..Decision::default() };
    }
    let confirmation = Confirmation {
        revision: request.revision, // the record's latest, unless a defect took an older one
        approved_by: request.approved_by,
        confirmed_at: Rfc3339::from_timestamp(now),
    };
    let mut accepted = Record {
        state: State::InProgress,
        confirmation: Some(Arc::new(confirmation)),
        revise_at: None,
        ..record.clone()
    };
    if rules.defects.has(CompanyDefect::AcknowledgeBeforePerform) {
        let summary = format!("The {} is done.", noun(rules.action));
        accepted = accepted.ended(State::Succeeded, OperationResult { summary, data: None }, now);
    }
    Decision { refusal: None, record: Some(accepted), perform: Some(Run::FIRST) }
}

/// C7: a confirm of an operation that is confirmed or final does nothing (Operations 5.2, 6).
fn repeated(record: &Record, now: Timestamp, rules: Rules<'_>) -> Decision {
    let has = |defect| rules.defects.has(defect);
    let mut decision = Decision::default();
    let Some(confirmation) = record.confirmation.as_deref() else { return decision };
    if has(CompanyDefect::RefuseRepeatedConfirm) {
        return Decision::refuse(Refusal::AlreadyConfirmed);
    }
    if has(CompanyDefect::RewriteConfirmation) {
        let confirmed_at = Rfc3339::from_timestamp(now);
        let confirmation = Confirmation { confirmed_at, ..confirmation.clone() };
        decision.record = Some(Record { confirmation: Some(Arc::new(confirmation)), ..record.clone() });
    }
    if has(CompanyDefect::ReviveFailed) && record.state == State::Failed {
        let again = Some(record.shared.next_run());
        let revived = decision.record.unwrap_or_else(|| record.clone());
        decision.record = Some(Record {
            state: State::InProgress,
            result: None,
            final_at: None,
            begun: 0,
            done: Vec::new(),
            again,
            ..revived
        });
        decision.perform = Some(Run { again, noted: true });
    } else if has(CompanyDefect::PerformAgainOnRetry) && matches!(record.state, State::InProgress | State::Succeeded) {
        decision.perform = Some(Run { again: Some(record.shared.next_run()), noted: false });
    }
    decision
}

/// A cancel (Operations 7). A record that comes back unchanged is answered as it is.
pub(in crate::company) fn cancel(record: &Record, now: Timestamp, rules: Rules<'_>) -> Option<Record> {
    let expired = expire(record, now, rules);
    let current = expired.as_ref().unwrap_or(record);
    match current.state {
        State::Proposed => {
            let summary =
                format!("The {} was cancelled before it was confirmed. Nothing was done.", noun(rules.action));
            Some(current.ended(State::Cancelled, OperationResult { summary, data: None }, now))
        }
        State::InProgress if rules.defects.has(CompanyDefect::PerformAfterCancel) => {
            let summary = format!("The {} was cancelled. Nothing was done.", noun(rules.action));
            Some(current.ended(State::Cancelled, OperationResult { summary, data: None }, now))
        }
        State::InProgress => (!current.cancel_asked).then(|| Record { cancel_asked: true, ..current.clone() }),
        State::Succeeded | State::Failed | State::Cancelled | State::Expired => expired,
    }
}

/// Whether an action in progress is to stop before it begins this step: a cancel was asked for, and no step after the
/// last that can be stopped after was begun yet.
pub(in crate::company) fn stops_before(record: &Record, step: usize, action: &Action) -> bool {
    record.cancel_asked && record.begun <= step && action.can_stop_until.is_some_and(|last| step <= last + 1)
}

/// Number and last instant of the revision after this record's (Operations 3.1).
pub(in crate::company) fn next_revision(
    record: &Record,
    now: Timestamp,
    lifetime: Duration,
    rules: Rules<'_>,
) -> (Revision, Rfc3339) {
    let latest = record.offer.revision;
    let revision = if rules.defects.has(CompanyDefect::EditTermsInPlace) {
        latest
    } else if rules.defects.has(CompanyDefect::SkipRevision) {
        latest.next().next()
    } else {
        latest.next()
    };
    let expires_at = if rules.defects.has(CompanyDefect::ExpiryNotRenewed) {
        record.offer.expires_at.clone()
    } else {
        // Two revisions may be issued within the grain of a timestamp: each has an expiry of its own (Operations 3.1).
        let last = record.offer.expires_at.timestamp();
        let next = expiry(now, lifetime);
        if next.timestamp() > last {
            next
        } else {
            Rfc3339::from_timestamp(last.checked_add(EXPIRY_GRAIN).unwrap_or(last))
        }
    };
    (revision, expires_at)
}

/// The least by which a revision's expiry lies after that of the one before: what timestamps on the wire can tell apart.
const EXPIRY_GRAIN: SignedDuration = SignedDuration::from_millis(1);

/// The last instant of a revision that is issued now.
pub(in crate::company) fn expiry(now: Timestamp, lifetime: Duration) -> Rfc3339 {
    let lifetime = SignedDuration::try_from(lifetime).unwrap_or(SignedDuration::MAX);
    Rfc3339::from_timestamp(now.checked_add(lifetime).unwrap_or(Timestamp::MAX))
}

/// The action's name as words.
pub(in crate::company) fn noun(action: &Action) -> String {
    action.name.replace('-', " ")
}
