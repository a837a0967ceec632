//! Users sign in at simulated Companies, whatever happens to the requests by which they do.

use std::{path::Path, time::Duration};

use poppyfield::{
    history::{
        Event,
        record::{LifecycleIs, Outcome, Purpose},
    },
    plan::{CompanyDefect, Distribution, Fault, FaultKind, Plan},
    scenario::{self, Overrides},
};

use crate::rehearsal::{Rehearsal, rehearse};

fn plan(seed: u64) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/signed-in.yaml");
    let overrides = Overrides { seed: Some(seed), ..Overrides::default() };
    let mut plan = scenario::load(&path, &overrides).unwrap_or_else(|problems| panic!("{problems}"));
    for load in &mut plan.load {
        load.operations = Some(80);
    }
    plan
}

/// A fault of every request by which a User signs in or out or her Agent gets a token.
fn fault(kind: FaultKind, chance: f64) -> Fault {
    let on = vec![Purpose::Token, Purpose::SignIn, Purpose::Revoke];
    Fault { id: "F1".into(), kind, at: None, on, step: None, during: None, chance, strikes: None }
}

fn with(faults: Vec<Fault>, seed: u64) -> Rehearsal {
    let mut plan = plan(seed);
    plan.faults = faults;
    rehearse(plan)
}

/// How often calls of a purpose ended that way; `why` is left out for those that were done.
fn ended(run: &Rehearsal, purpose: Purpose, outcome: Outcome, why: Option<&str>) -> usize {
    let calls: std::collections::BTreeSet<_> = run
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Call(call) if call.purpose == purpose => Some(call.id.clone()),
            _ => None,
        })
        .collect();
    let is_one = |event: &&Event| match event {
        Event::Return(end) => calls.contains(&end.call) && end.outcome == outcome && end.why.as_deref() == why,
        _ => false,
    };
    run.events.iter().filter(is_one).count()
}

/// Every rule was kept, and every journey that was not declined came to its end.
fn assert_good(run: &Rehearsal, name: &str) {
    assert!(run.judgement.findings.is_empty(), "{name}:\n{}", run.explained());
    assert!(run.judgement.incomplete.is_empty(), "{name}: {:?}", run.judgement.incomplete);
    let ends = &run.counts.journeys;
    let good = ["completed-succeeded", "declined"];
    let others: Vec<_> = ends.iter().filter(|(end, _)| !good.contains(&end.as_str())).collect();
    assert!(others.is_empty(), "{name}: {others:?}");
    assert!(ends["completed-succeeded"] > 60, "{name}: {ends:?}");
}

#[test]
fn users_sign_in_are_renewed_and_sign_out() {
    let run = with(Vec::new(), 1);
    assert_good(&run, "no faults");
    let token = |outcome, why| ended(&run, Purpose::Token, outcome, why);
    let (pages, signed_out) =
        (ended(&run, Purpose::SignIn, Outcome::Done, None), ended(&run, Purpose::Revoke, Outcome::Done, None));
    assert!(pages > 60 && signed_out > 8, "{pages} {signed_out}");
    assert!(token(Outcome::Refused, Some("authorization_pending")) >= 1);
    assert_eq!(token(Outcome::Refused, Some("slow_down")), 0, "nobody polls too early");
    assert_eq!(token(Outcome::Refused, Some("invalid_grant")), 0);
    // A start of a Session and a sign-in give a token each; there are more than that.
    let sessions = run.events.iter().filter(|event| matches!(event, Event::Session(_))).count();
    let renewed = token(Outcome::Done, None) - sessions - pages / 2;
    assert!(renewed > 5, "{renewed} renewals");
    assert!(ended(&run, Purpose::Confirm, Outcome::Refused, Some("sign_in_required")) > 2);
}

#[test]
fn whatever_happens_to_a_sign_in_nobody_is_accused_and_every_journey_ends() {
    let duplicate = || FaultKind::Duplicate {
        after: Distribution::Uniform { from: Duration::ZERO, to: Duration::from_millis(40) },
    };
    let delay = || Distribution::Uniform { from: Duration::ZERO, to: Duration::from_millis(1_500) };
    let cases: [(&str, Vec<Fault>); 7] = [
        ("lost answers", vec![fault(FaultKind::LoseAnswer, 0.2)]),
        ("lost requests", vec![fault(FaultKind::LoseRequest, 0.2)]),
        ("duplicates", vec![fault(duplicate(), 0.4)]),
        ("hung up", vec![fault(FaultKind::HangUp, 0.2)]),
        ("refused in front", vec![fault(FaultKind::Refuse { status: 503, retry_after: None }, 0.2)]),
        ("late", vec![fault(FaultKind::Delay(delay()), 0.3), fault(FaultKind::DelayAnswer(delay()), 0.3)]),
        (
            "all at once, and confirms as well",
            vec![
                fault(FaultKind::LoseAnswer, 0.1),
                fault(duplicate(), 0.2),
                Fault {
                    on: vec![Purpose::Confirm, Purpose::Read, Purpose::Propose],
                    ..fault(FaultKind::LoseAnswer, 0.1)
                },
            ],
        ),
    ];
    let mut used_up = 0;
    for (seed, (name, faults)) in (1..).zip(cases) {
        let run = with(faults, seed);
        assert_good(&run, name);
        used_up += ended(&run, Purpose::Token, Outcome::Refused, Some("invalid_grant"));
    }
    assert!(used_up > 5, "{used_up} codes and Account Tokens used up by answers that nobody got");
}

#[test]
fn sign_ins_outlive_the_company_s_restarts() {
    let restart = FaultKind::Restart { every: Duration::from_secs(3), down_for: Duration::from_millis(300) };
    let run = with(vec![Fault { on: Vec::new(), ..fault(restart, 1.0) }], 5);
    assert_good(&run, "restarts");
    let stopped = |event: &&Event| matches!(event, Event::Lifecycle(life) if life.is == LifecycleIs::Stopped);
    assert!(run.events.iter().filter(stopped).count() > 3);
    assert_eq!(ended(&run, Purpose::Token, Outcome::Refused, Some("invalid_session")), 0);
}

#[test]
fn a_run_repeats_itself() {
    let ends = |run: &Rehearsal| format!("{:?}", run.events);
    let plan = || {
        let mut plan = plan(9);
        plan.load[0].operations = Some(30);
        plan
    };
    assert_eq!(ends(&rehearse(plan())), ends(&rehearse(plan())));
}

#[test]
fn a_defect_shows_where_users_sign_in_too() {
    let mut plan = plan(2);
    for company in &mut plan.companies {
        company.defects = [CompanyDefect::PerformAgainOnRetry].into_iter().collect();
    }
    assert!(rehearse(plan).anomalies().contains(&"double-effect"));
}
