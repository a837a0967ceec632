//! The desk as a decision table: every state, every request, every defect of a decision.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use serde_json::Map;
use smol_str::SmolStr;

use super::operations::{
    Caller, Decision, Refusal, Rules, Run, accept, admit, cancel, confirm, expire, next_revision, stops_before,
};
use crate::{
    company::record::{Offer, Owner, Record, Shared, Subject},
    plan::{Action, Approval, CompanyDefect, Defects, OnPartial, PriceRange, Step, WithoutExtension},
    protocol::{ApprovedBy, ConfirmRequest, Confirmation, OperationResult, Revision, Rfc3339, State},
};

const EXPIRES: i64 = 1_000;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn time(second: i64) -> Rfc3339 {
    Rfc3339::from_timestamp(at(second))
}

fn owner(session: &str) -> Owner {
    Owner { client_id: "https://a.example/a.json".into(), user_id: "u1".into(), session_id: session.into() }
}

fn action(approval: Approval) -> Action {
    let step = |name: &str| Step { name: name.into(), undo: None, latency: None, fail: 0.0, phrase: None };
    Action {
        name: "gift-wrap".into(),
        operation: true,
        without_extension: WithoutExtension::Refuse,
        approval,
        scope: Some("orders:write".into()),
        signed_in: false,
        price: PriceRange { from_minor: 1, to_minor: 1, currency: "USD".into() },
        summary: None,
        terms: None,
        done: None,
        steps: vec![step("one"), step("two"), step("three")],
        can_stop_until: Some(0),
        on_partial: OnPartial::Report,
    }
}

/// A record at revision 3 that expires at [`EXPIRES`].
fn record(state: State) -> Record {
    let confirmed = !matches!(state, State::Proposed | State::Expired);
    let confirmation =
        Confirmation { revision: Revision::new(3).unwrap(), approved_by: ApprovedBy::User, confirmed_at: time(900) };
    let offer = Offer {
        revision: Revision::new(3).unwrap(),
        edition: 3,
        summary: "Wrap".to_owned(),
        terms: Map::new(),
        digest: "d3".into(),
        expires_at: time(EXPIRES),
    };
    let subject = Subject {
        order: "ord_1".into(),
        item_id: None,
        item: String::new(),
        customer: String::new(),
        city: String::new(),
    };
    Record {
        id: "op_1".into(),
        action_id: "shop/operation/op_1".into(),
        kind: 0,
        direct: false,
        owner: Arc::new(owner("ses_1")),
        account: None,
        subject: Arc::new(subject),
        offer: Arc::new(offer),
        state,
        confirmation: confirmed.then(|| Arc::new(confirmation)),
        result: state.is_final().then(|| Arc::new(OperationResult { summary: "told".to_owned(), data: None })),
        cancel_asked: false,
        begun: 0,
        done: Vec::new(),
        again: None,
        revise_at: None,
        final_at: state.is_final().then(|| at(950)),
        shared: Arc::new(Shared::default()),
    }
}

/// One request and all that it depends on.
struct Case {
    record: Record,
    action: Action,
    defects: Defects<CompanyDefect>,
    owner: Owner,
    account: Option<SmolStr>,
    scopes: Vec<SmolStr>,
    lists_operations: bool,
    revision: u64,
    approved_by: ApprovedBy,
    now: i64,
}

impl Case {
    /// The right confirm of a record in this state, in time.
    fn of(state: State) -> Self {
        Self {
            record: record(state),
            action: action(Approval::User),
            defects: Defects::default(),
            owner: owner("ses_1"),
            account: None,
            scopes: vec!["orders:write".into()],
            lists_operations: true,
            revision: 3,
            approved_by: ApprovedBy::User,
            now: 999,
        }
    }

    fn defective(state: State, defect: CompanyDefect) -> Self {
        Self { defects: [defect].into_iter().collect(), ..Self::of(state) }
    }

    fn caller(&self) -> Caller<'_> {
        Caller {
            owner: &self.owner,
            account: self.account.as_ref(),
            scopes: &self.scopes,
            lists_operations: self.lists_operations,
        }
    }

    fn rules(&self) -> Rules<'_> {
        Rules { action: &self.action, defects: &self.defects }
    }

    fn request(&self) -> ConfirmRequest {
        ConfirmRequest { revision: Revision::new(self.revision).unwrap(), approved_by: self.approved_by }
    }

    fn confirm(&self) -> Decision {
        confirm(&self.record, self.caller(), self.request(), at(self.now), self.rules())
    }

    fn cancel(&self) -> Option<Record> {
        cancel(&self.record, at(self.now), self.rules())
    }

    /// What a refused confirm is answered; it changes and performs nothing.
    fn refusal(&self) -> Option<Refusal> {
        let decision = self.confirm();
        assert!(decision.perform.is_none() || decision.refusal.is_none());
        if decision.refusal.is_some() && self.record.state != State::Proposed {
            assert!(decision.record.is_none(), "{:?}", decision.record);
        }
        decision.refusal
    }
}

const NOT_PROPOSED: [State; 5] = [State::InProgress, State::Succeeded, State::Failed, State::Cancelled, State::Expired];

#[test]
fn c2_and_c3_come_before_everything_in_every_state() {
    for state in State::ALL {
        let wrong =
            || Case { scopes: Vec::new(), revision: 1, approved_by: ApprovedBy::StandingPermission, ..Case::of(state) };
        let unlisted = Case { lists_operations: false, owner: owner("ses_9"), ..wrong() };
        assert_eq!(unlisted.refusal(), Some(Refusal::ExtensionRequired), "{state}");
        for stranger in [
            owner("ses_9"),
            Owner { user_id: "u9".into(), ..owner("ses_1") },
            Owner { client_id: "https://b.example/b.json".into(), ..owner("ses_1") },
        ] {
            assert_eq!(Case { owner: stranger, ..wrong() }.refusal(), Some(Refusal::NotFound), "{state}");
        }
    }
    let known = Case::of(State::Proposed);
    assert_eq!(admit(None, known.caller(), &known.defects), Err(Refusal::NotFound), "as an unknown one");
    let direct = Record { direct: true, ..record(State::Succeeded) };
    assert_eq!(admit(Some(&direct), known.caller(), &known.defects), Err(Refusal::NotFound), "no operation at all");
}

#[test]
fn an_account_s_operation_is_for_sessions_that_are_signed_in_to_it() {
    for state in State::ALL {
        let own = || Case {
            record: Record { account: Some("a1".into()), ..record(state) },
            owner: owner("ses_9"),
            account: Some("a1".into()),
            ..Case::of(state)
        };
        assert_eq!(own().refusal(), None, "{state}");
        assert_eq!(Case { account: None, ..own() }.refusal(), Some(Refusal::SignInRequired), "{state}");
        let signed_out = Case { account: None, owner: owner("ses_1"), scopes: Vec::new(), ..own() };
        assert_eq!(signed_out.refusal(), Some(Refusal::SignInRequired), "{state}: before the scope");
        assert_eq!(Case { account: Some("a2".into()), ..own() }.refusal(), Some(Refusal::NotFound), "{state}");
        let other = Owner { user_id: "u9".into(), ..owner("ses_1") };
        assert_eq!(Case { owner: other, account: None, ..own() }.refusal(), Some(Refusal::NotFound), "{state}");
        let signed_in_since = Case { account: Some("a1".into()), ..Case::of(state) };
        assert_eq!(signed_in_since.refusal(), None, "{state}: proposed signed out, in the same Session");
        let elsewhere = Case { owner: owner("ses_9"), ..signed_in_since };
        assert_eq!(elsewhere.refusal(), Some(Refusal::NotFound), "{state}");
    }
}

#[test]
fn c4_comes_next_in_every_state() {
    for state in State::ALL {
        let case = Case {
            scopes: vec!["orders:read".into()],
            revision: 1,
            approved_by: ApprovedBy::StandingPermission,
            ..Case::of(state)
        };
        assert_eq!(case.refusal(), Some(Refusal::InsufficientScope), "{state}");
    }
    let mut free = Case { scopes: Vec::new(), ..Case::of(State::Proposed) };
    free.action.scope = None;
    assert_eq!(free.refusal(), None);
}

#[test]
fn c5_refuses_every_revision_but_the_latest_while_proposed() {
    for revision in [1, 2, 4, u64::MAX] {
        for approved_by in [ApprovedBy::User, ApprovedBy::StandingPermission] {
            let case = Case { revision, approved_by, ..Case::of(State::Proposed) };
            assert_eq!(case.refusal(), Some(Refusal::TermsChanged), "{revision}");
            assert!(case.confirm().record.is_none());
        }
        for state in NOT_PROPOSED {
            assert_eq!(Case { revision, ..Case::of(state) }.refusal(), None, "{state}: answered as it is");
        }
    }
}

#[test]
fn c6_refuses_a_standing_permission_where_the_user_is_needed() {
    for state in State::ALL {
        let standing = |approval| {
            let case = Case { approved_by: ApprovedBy::StandingPermission, ..Case::of(state) };
            Case { action: action(approval), ..case }.refusal()
        };
        assert_eq!(standing(Approval::User), Some(Refusal::UserApprovalRequired), "{state}");
        assert_eq!(standing(Approval::StandingPermission), None, "{state}");
    }
}

#[test]
fn c7_does_nothing_in_every_state_but_proposed() {
    for state in NOT_PROPOSED {
        for now in [999, EXPIRES, EXPIRES + 1] {
            let decision = Case { now, ..Case::of(state) }.confirm();
            assert!(decision.refusal.is_none() && decision.record.is_none() && decision.perform.is_none(), "{state}");
        }
    }
}

#[test]
fn c8_records_the_confirmation_and_performs_once() {
    for approved_by in [ApprovedBy::User, ApprovedBy::StandingPermission] {
        let mut case = Case { approved_by, ..Case::of(State::Proposed) };
        case.action.approval = Approval::StandingPermission;
        let decision = case.confirm();
        assert_eq!((decision.refusal, decision.perform), (None, Some(Run::FIRST)));
        let accepted = decision.record.unwrap();
        assert_eq!(accepted.state, State::InProgress);
        let confirmation = Confirmation { revision: Revision::new(3).unwrap(), approved_by, confirmed_at: time(999) };
        assert_eq!(accepted.confirmation.as_deref(), Some(&confirmation));
        assert_eq!(accepted.offer, case.record.offer);
    }
}

#[test]
fn the_last_instant_is_in_time_and_the_next_is_not() {
    let confirmed = |now: Timestamp| {
        let case = Case::of(State::Proposed);
        confirm(&case.record, case.caller(), case.request(), now, case.rules())
    };
    assert!(confirmed(at(EXPIRES)).perform.is_some());
    let late = confirmed(Timestamp::new(EXPIRES, 1).unwrap());
    assert_eq!((late.refusal, late.perform), (None, None));
    let expired = late.record.unwrap();
    assert_eq!(expired.state, State::Expired);
    assert!(expired.confirmation.is_none() && expired.result.unwrap().summary.contains("Nothing was done"));
    // A stale revision of what is over is no longer a matter of terms.
    assert_eq!(Case { now: EXPIRES + 1, revision: 1, ..Case::of(State::Proposed) }.refusal(), None);
}

#[test]
fn the_clock_ends_proposals_and_nothing_else() {
    for state in State::ALL {
        let case = Case { now: EXPIRES + 1, ..Case::of(state) };
        let expired = expire(&case.record, at(case.now), case.rules());
        assert_eq!(expired.map(|record| record.state), (state == State::Proposed).then_some(State::Expired), "{state}");
        assert!(expire(&case.record, at(EXPIRES), case.rules()).is_none(), "{state}");
    }
}

#[test]
fn a_cancel_in_every_state() {
    let cancelled = Case::of(State::Proposed).cancel().unwrap();
    assert_eq!(cancelled.state, State::Cancelled);
    assert!(cancelled.result.unwrap().summary.contains("Nothing was done"));
    let asked = Case::of(State::InProgress).cancel().unwrap();
    assert_eq!((asked.state, asked.cancel_asked), (State::InProgress, true));
    assert!(Case { record: asked, ..Case::of(State::InProgress) }.cancel().is_none(), "asked once");
    for state in [State::Succeeded, State::Failed, State::Cancelled, State::Expired] {
        assert!(Case::of(state).cancel().is_none(), "{state}");
    }
    let late = Case { now: EXPIRES + 1, ..Case::of(State::Proposed) };
    assert_eq!(late.cancel().unwrap().state, State::Expired);
}

#[test]
fn a_cancel_stops_only_before_a_step_after_which_nothing_can_stop() {
    let case = Case::of(State::InProgress);
    let stops = |begun, step, until| {
        let record = Record { cancel_asked: true, begun, ..record(State::InProgress) };
        stops_before(&record, step, &Action { can_stop_until: until, ..case.action.clone() })
    };
    assert!(stops(0, 0, Some(0)) && stops(1, 1, Some(0)));
    assert!(!stops(2, 2, Some(0)), "the step after the last that can be stopped after was begun");
    assert!(stops(2, 2, Some(1)));
    assert!(!stops(1, 0, Some(0)), "a step that was begun is brought to its end");
    assert!(!stops(0, 0, None));
    assert!(!stops_before(&case.record, 0, &case.action), "nobody asked");
}

#[test]
fn defects_of_the_check() {
    let late = Case { now: EXPIRES + 5, ..Case::defective(State::Proposed, CompanyDefect::ExpiryNotChecked) };
    assert_eq!(late.confirm().perform, Some(Run::FIRST));
    let stale = Case { revision: 2, ..Case::defective(State::Proposed, CompanyDefect::StaleRevisionAccepted) };
    let accepted = stale.confirm().record.unwrap();
    assert_eq!(accepted.confirmation.unwrap().revision.get(), 2);
    assert_eq!(accepted.offer.revision.get(), 3, "what is performed");
    let future = Case { revision: 4, ..Case::defective(State::Proposed, CompanyDefect::StaleRevisionAccepted) };
    assert_eq!(future.refusal(), Some(Refusal::TermsChanged));
    let unlisted = Case::defective(State::Proposed, CompanyDefect::IgnoreExtensionListing);
    assert_eq!(Case { lists_operations: false, ..unlisted }.refusal(), None);
    let confirmed = Case { now: EXPIRES + 5, ..Case::defective(State::Succeeded, CompanyDefect::ExpireConfirmed) };
    assert_eq!(confirmed.confirm().record.unwrap().state, State::Expired);
}

#[test]
fn defects_of_acceptance() {
    let acknowledged = Case::defective(State::Proposed, CompanyDefect::AcknowledgeBeforePerform).confirm();
    assert_eq!(acknowledged.record.unwrap().state, State::Succeeded);
    assert_eq!(acknowledged.perform, Some(Run::FIRST));
    // The act of check-then-act on what another confirm took meanwhile.
    let taken = Case::defective(State::InProgress, CompanyDefect::CheckThenAct);
    let decision = accept(&taken.record, taken.request(), at(999), taken.rules());
    assert_eq!(decision.perform, Some(Run { again: Some(1), noted: false }));
    let cancelled = Case::defective(State::InProgress, CompanyDefect::PerformAfterCancel).cancel().unwrap();
    assert_eq!(cancelled.state, State::Cancelled);
}

#[test]
fn defects_of_a_repeated_confirm() {
    for state in [State::InProgress, State::Succeeded] {
        let again = Case::defective(state, CompanyDefect::PerformAgainOnRetry).confirm();
        assert_eq!(again.perform, Some(Run { again: Some(1), noted: false }), "{state}");
        assert!(again.record.is_none());
    }
    let refused = Case::defective(State::InProgress, CompanyDefect::RefuseRepeatedConfirm);
    assert_eq!(refused.refusal(), Some(Refusal::AlreadyConfirmed));
    let rewritten = Case::defective(State::Succeeded, CompanyDefect::RewriteConfirmation).confirm().record.unwrap();
    assert_eq!(rewritten.confirmation.unwrap().confirmed_at, time(999));
    let revived = Case::defective(State::Failed, CompanyDefect::ReviveFailed).confirm();
    assert_eq!(revived.perform, Some(Run { again: Some(1), noted: true }));
    let revived = revived.record.unwrap();
    assert_eq!((revived.state, revived.result, revived.again), (State::InProgress, None, Some(1)));
    for state in [State::Expired, State::Cancelled] {
        let none = Case::defective(state, CompanyDefect::PerformAgainOnRetry);
        let record = Record { confirmation: None, ..none.record.clone() };
        assert!(Case { record, ..none }.confirm().perform.is_none(), "{state}");
    }
}

#[test]
fn revisions_go_up_by_one_with_a_new_expiry() {
    let next = |defects: &[CompanyDefect]| {
        let case = Case { defects: defects.iter().copied().collect(), ..Case::of(State::Proposed) };
        let (revision, expires_at) = next_revision(&case.record, at(500), Duration::from_secs(900), case.rules());
        (revision.get(), expires_at.timestamp().as_second())
    };
    assert_eq!(next(&[]), (4, 1_400));
    assert_eq!(next(&[CompanyDefect::EditTermsInPlace]), (3, 1_400));
    assert_eq!(next(&[CompanyDefect::SkipRevision]), (5, 1_400));
    assert_eq!(next(&[CompanyDefect::ExpiryNotRenewed]), (4, EXPIRES));
}
