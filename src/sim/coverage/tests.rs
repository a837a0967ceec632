//! What is read from a history, and what is said to be missing.

use std::path::Path;

use super::*;
use crate::{
    history::{
        Event,
        record::{
            Attempt, AttemptIs, Call, FaultStruck, Lifecycle, LifecycleIs, Outcome, Purpose, Return, View, Wire, WireIs,
        },
    },
    scenario::{self, Overrides},
};

const ACTION: &str = "shop-1/operation/op_1";

fn plan() -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/exploration.yaml");
    scenario::load(&path, &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"))
}

fn call(id: &str, purpose: Purpose, action: Option<&str>) -> Event {
    Event::Call(Call {
        id: id.into(),
        process: "a1".into(),
        session: None,
        purpose,
        company: None,
        intent: None,
        kind: None,
        action: action.map(Into::into),
        revision: None,
        approved_by: None,
        proof: None,
        due: None,
    })
}

fn wire(call: &str, copy: u32, is: WireIs) -> Event {
    Event::Wire(Wire { call: call.into(), copy, is, status: None, cut: None, incarnation: None })
}

fn attempt(is: AttemptIs) -> Event {
    Event::Attempt(Attempt { action: ACTION.into(), step: "charge".into(), key: "k".into(), is, learnt: None })
}

fn seen(state: State) -> Event {
    let view = View {
        action: ACTION.into(),
        state,
        revision: 1,
        terms: "t".into(),
        expires_at: None,
        user_approval_required: false,
        confirmation: None,
        result: None,
    };
    Event::Return(Return {
        call: "c".into(),
        outcome: Outcome::View,
        status: Some(200),
        why: None,
        view: Some(view),
        session: None,
        retry_after_ms: None,
    })
}

fn gathered(events: Vec<Event>) -> Vec<(String, u64)> {
    let records: Vec<_> = events.into_iter().zip(0..).map(|(event, seq)| Record { seq, at: seq, event }).collect();
    let mut coverage = Coverage::default();
    gather::gather(&mut coverage, &plan(), &records);
    coverage.items().map(|(item, times)| (item.to_string(), times)).collect()
}

fn counted(items: &[(&str, u64)]) -> Vec<(String, u64)> {
    items.iter().map(|(item, times)| ((*item).to_owned(), *times)).collect()
}

#[test]
fn what_is_at_a_company_at_once_about_one_operation_overlaps() {
    use WireIs::{Answered, Arrived};
    let events = vec![
        call("c1", Purpose::Confirm, Some(ACTION)),
        call("c2", Purpose::Cancel, Some(ACTION)),
        call("c3", Purpose::Confirm, Some("shop-1/operation/op_2")),
        call("c4", Purpose::Token, None),
        wire("c4", 1, Arrived),
        wire("c3", 1, Arrived),
        wire("c1", 1, Arrived),
        wire("c1", 2, Arrived),
        attempt(AttemptIs::Sent),
        wire("c1", 1, Answered),
        attempt(AttemptIs::Answered),
        // Only the second copy of the confirm is still there.
        wire("c2", 1, Arrived),
        wire("c1", 2, Answered),
        wire("c2", 1, Answered),
        call("c5", Purpose::Read, Some(ACTION)),
        wire("c5", 1, Arrived),
    ];
    let expected = counted(&[("cancel|confirm", 1), ("confirm|confirm", 1), ("confirm|perform", 2)]);
    assert_eq!(gathered(events), expected);
}

#[test]
fn a_crash_meets_what_is_at_its_company_and_ends_it() {
    let crash = Event::Fault(FaultStruck {
        id: "F3".into(),
        kind: "crash".into(),
        call: None,
        copy: None,
        party: Some("shop-1".into()),
        action: Some(ACTION.into()),
        step: None,
        point: Some("perform.after-effect".into()),
        for_ms: Some(300),
    });
    let stopped = Event::Lifecycle(Lifecycle { party: "shop-1".into(), is: LifecycleIs::Stopped, incarnation: 1 });
    let events = vec![
        call("c1", Purpose::Confirm, Some(ACTION)),
        call("c2", Purpose::Read, Some(ACTION)),
        call("c3", Purpose::Confirm, Some("shop-10/operation/op_2")),
        wire("c1", 1, WireIs::Arrived),
        wire("c3", 1, WireIs::Arrived),
        crash,
        stopped,
        wire("c2", 1, WireIs::Arrived),
    ];
    let expected = counted(&[("F3 struck", 1), ("a crash at perform.after-effect", 1), ("confirm|crash", 1)]);
    assert_eq!(gathered(events), expected);
}

#[test]
fn an_answer_that_comes_late_is_no_change_of_state() {
    use State::{Failed, InProgress, Proposed, Succeeded};
    let events = [Proposed, Proposed, InProgress, Proposed, Succeeded, InProgress, Failed].map(seen).into();
    let expected = [
        ("new > proposed", 1),
        ("proposed > in_progress", 1),
        ("in_progress > succeeded", 1),
        // No late answer can show another end.
        ("succeeded > failed", 1),
    ];
    assert_eq!(gathered(events), counted(&expected));
}

#[test]
fn what_is_new_is_told_once_and_sums_up() {
    let one = |items: &[(Item, u64)]| Coverage { items: items.iter().cloned().collect() };
    let mut all = Coverage::default();
    let pair = Item::Overlap("confirm", "read");
    assert_eq!(all.add(&one(&[(pair.clone(), 2)])), Some(pair.clone()));
    let fault = Item::Fault("F1".into());
    assert_eq!(all.add(&one(&[(pair.clone(), 3), (fault.clone(), 1)])), Some(fault.clone()));
    assert_eq!(all.add(&one(&[(pair.clone(), 1)])), None);
    assert_eq!((all.times(&pair), all.times(&fault), all.times(&Item::Journey("j".into()))), (6, 1, 0));
}

#[test]
fn a_scenario_is_told_what_it_names_and_never_exercised() {
    let mut plan = plan();
    plan.expect.must = vec!["double-effect".into()];
    let mut coverage = Coverage::default();
    for id in ["F1", "F2", "F5"] {
        coverage.count(Item::Fault(id.into()), 1);
    }
    coverage.count(Item::Journey("exchange".into()), 9);
    coverage.count(Item::Passed(CrashPoint::PerformAfterEffect), 7);
    let expected = [
        "F3 (crash at perform.after-effect) never struck",
        "F4 (crash at accept.recorded) never struck, and no Company came to that point",
        "the journey change-of-mind never set out",
        "double-effect was never judged",
    ];
    assert_eq!(never(&plan, &coverage), expected);
    // What has no chance is not waited for; a network's is a fault too.
    plan.faults.iter_mut().for_each(|fault| fault.chance = 0.0);
    plan.network.loss = 0.1;
    assert_eq!(never(&plan, &coverage)[0], "network-loss never struck");
    assert_eq!(never(&plan, &coverage).len(), 3);
}
