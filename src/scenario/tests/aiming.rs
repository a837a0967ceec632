//! A scenario pointed at a target: what stays, what is dropped with a note, what is refused.

use super::targets::{folder, target};
use super::*;
use crate::history::record::Purpose;
use crate::plan::{Approval, FaultKind, JourneyStep};
use crate::protocol::SessionMode;

const TARGET: &str = "\
target: manzanita
domain: manzanita.example
connect_to: 127.0.0.1:18443
session_mode: dpop-0.2
operator: { client_id: https://atlas.example/agent.json, key: state/agent.pem, key_id: key-1 }
sign_in: { scopes: [orders:write] }
actions:
  exchange: { propose: { post: /exchanges } }
  gift-wrap: { propose: { post: /wraps }, approval: standing-permission }
hooks:
  revise: { post: 'http://127.0.0.1:18444/revise/{operation_id}' }
known: [duplicate-proposal, busy-poll]
";

const SCENARIO: &str = "\
scenario: small
companies:
  shop: { profile: shop, count: 2, proposals: { revise: { before_approval: 20%, during_confirm: 5% } } }
  wrapper:
    company:
      company: wraps
      actions: { gift-wrap: { approval: standing-permission, price: 3.00 EUR, steps: [{ name: wrap }] } }
agents: { operators: 3, without_extension: 1 }
journeys:
  exchange: { steps: [propose: { at: shop, action: exchange }, ask-user: { other_terms: 10% }, confirm: { around_expiry: 1s }, track] }
  wrap: { steps: [propose: { at: wrapper, action: gift-wrap }, confirm: { by: { standing-permission: { up_to: 5.00 EUR } } }] }
load: [closed: { agents: 10, for: 5s }]
faults:
  - { do: { crash: { point: perform.after-effect } } }
  - { do: lose-answer, at: shop, on: [confirm, keys] }
  - { do: backend-fail, step: charge }
  - { do: { restart: { every: 4s } } }
  - { do: { delay: 5ms }, at: shop-2 }
  - { do: { backend-slow: 5ms } }
  - { do: reset, on: [keys] }
  - { do: hang-up }
expect: { may: [busy-poll] }
reach: [faults.lose-answer >= 5, faults.crash >= 1, crashes.perform.after-effect >= 1, terms-changed >= 3, faults.reset >= 1, confirms >= 10]
";

/// The plan of a scenario, pointed at that target.
fn aimed(scenario: &str, target_text: &str) -> Result<Plan, String> {
    let folder = folder(target_text, scenario);
    let overrides = Overrides {
        target: Some(Target { file: "target.yaml".to_owned(), ..target(target_text) }),
        ..Overrides::default()
    };
    load(&folder.path().join("scenarios/small.yaml"), &overrides)
        .map_err(|problems| problems.to_string().replace(&format!("{}/", folder.path().display()), ""))
}

#[test]
fn the_target_takes_the_place_of_all_companies() {
    let plan = aimed(SCENARIO, TARGET).unwrap();
    let [company] = plan.companies.as_slice() else { panic!("{:?}", plan.companies) };
    assert_eq!((company.name.as_str(), company.group.as_str()), ("manzanita", "manzanita"));
    assert_eq!(company.domain, "manzanita.example");
    assert_eq!(company.proposals.revise_before_approval, 0.2);
    assert_eq!(company.sessions.mode, SessionMode::Dpop02);
    assert_eq!(company.actions.keys().collect::<Vec<_>>(), ["exchange", "gift-wrap"]);
    assert_eq!(company.actions["gift-wrap"].approval, Approval::StandingPermission);
    assert!(company.actions.values().all(|action| action.signed_in && action.operation));
    assert_eq!(plan.target.as_ref().map(|target| target.name.as_str()), Some("manzanita"));
    assert!(plan.tls);
    assert_eq!(plan.swarm.session_mode, SessionMode::Dpop02);
    assert_eq!((plan.swarm.operators, plan.swarm.operators_without_extension), (1, 0));
    assert_eq!(plan.expect.may, ["busy-poll", "duplicate-proposal"]);
    for journey in &plan.journeys {
        assert!(matches!(&journey.steps[0], JourneyStep::Propose { at, .. } if at == "manzanita"));
    }
}

#[test]
fn what_strikes_simulated_parties_is_dropped_and_said() {
    let plan = aimed(SCENARIO, TARGET).unwrap();
    let left: Vec<_> =
        plan.faults.iter().map(|fault| (fault.id.as_str(), fault.kind.word(), fault.at.as_deref())).collect();
    assert_eq!(
        left,
        [("F2", "lose-answer", Some("manzanita")), ("F5", "delay", Some("manzanita")), ("F8", "hang-up", None),]
    );
    assert_eq!(plan.faults[0].on, [Purpose::Confirm]);
    let minimums: Vec<_> = plan.reach.iter().map(|minimum| minimum.text.as_str()).collect();
    assert_eq!(minimums, ["faults.lose-answer >= 5", "terms-changed >= 3", "confirms >= 10"]);
    insta::assert_snapshot!(plan.notes().join("\n"), @r"
    fault F1 (`crash`) is dropped: it stops a Company that is simulated
    fault F3 (`backend-fail`) is dropped: it strikes a backend that is simulated
    fault F4 (`restart`) is dropped: it stops a Company that is simulated
    fault F6 (`backend-slow`) is dropped: it strikes a backend that is simulated
    fault F7 (`reset`) is dropped: no Agent sends requests for `keys`
    the minimum `faults.crash >= 1` is dropped: no fault that is left does that
    the minimum `crashes.perform.after-effect >= 1` is dropped: no fault that is left does that
    the minimum `faults.reset >= 1` is dropped: no fault that is left does that
    terms change at `manzanita` as often as at `shop`, the first group
    all Users belong to one operator: `manzanita` knows `https://atlas.example/agent.json`
    nobody gets other terms in journey `exchange`: `exchange` of `manzanita` has no `change`
    journey `exchange` confirms around `expires_at`: how long proposals live is up to `manzanita`
    ");
}

#[test]
fn without_the_hook_terms_change_as_the_target_likes() {
    let without: String = TARGET
        .lines()
        .filter(|line| !line.contains("revise") && !line.contains("hooks"))
        .map(|line| format!("{line}\n"))
        .collect();
    let plan = aimed(SCENARIO, &without).unwrap();
    assert_eq!(plan.companies[0].proposals.revise_before_approval, 0.0);
    assert_eq!(plan.companies[0].proposals.revise_during_confirm, 0.0);
    assert!(plan.reach.iter().all(|minimum| minimum.text != "terms-changed >= 3"));
    let about: Vec<&String> = plan.notes().iter().filter(|note| note.contains("revise")).collect();
    insta::assert_snapshot!(format!("{about:#?}"), @r#"
    [
        "the minimum `terms-changed >= 3` is dropped: `manzanita` has no hook `revise`",
        "`proposals.revise` is dropped: `manzanita` has no hook `revise`, so terms change as it likes",
    ]
    "#);
}

#[test]
fn a_plan_without_a_target_has_no_notes() {
    let folder = folder(TARGET, SCENARIO);
    let plan = load(&folder.path().join("scenarios/small.yaml"), &Overrides::default()).unwrap();
    assert!(plan.notes().is_empty() && plan.target.is_none() && plan.companies.len() == 3 && !plan.tls);
    assert!(plan.faults.iter().any(|fault| matches!(fault.kind, FaultKind::Crash { .. })));
}

#[test]
fn the_resolved_scenario_is_the_one_before_and_can_be_aimed_again() {
    let mut plan = aimed(SCENARIO, TARGET).unwrap();
    plan.load[0].operations = Some(7);
    let written = resolved_yaml(&plan);
    let folder = folder(TARGET, &written);
    let path = folder.path().join("scenarios/small.yaml");
    let alone = load(&path, &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!((alone.companies.len(), alone.faults.len(), alone.reach.len(), alone.tls), (3, 8, 6, false));
    assert_eq!((alone.swarm.operators, alone.load[0].operations), (3, Some(7)));
    assert_eq!(alone.expect, plan.expect, "judged again by it alone, a run has the same verdict");
    let again = aimed(&written, TARGET).unwrap();
    assert_eq!(resolved_yaml(&again), written);
    assert_eq!(again.notes(), plan.notes());
    assert_eq!(
        format!("{:?}", (&again.companies, &again.faults, &again.load)),
        format!("{:?}", (&plan.companies, &plan.faults, &plan.load))
    );
}

/// What is said about the scenario with `old` replaced, pointed at the target.
fn refused(old: &str, new: &str) -> String {
    assert!(SCENARIO.contains(old), "{old}");
    aimed(&SCENARIO.replacen(old, new, 1), TARGET).err().unwrap_or_else(|| "no mistake".to_owned())
}

#[test]
fn defects_are_refused() {
    insta::assert_snapshot!(refused("count: 2", "count: 2, defects: [check-then-act]"), @r"
    scenarios/small.yaml:3:46: defect `check-then-act`: a target that is not simulated has its own defects; expected none
      3 |   shop: { profile: shop, count: 2, defects: [check-then-act], proposals: { revise: { before_approval
        |                                              ^
    ");
    insta::assert_snapshot!(refused("company: wraps", "company: wraps\n      defects: [skip-revision]"), @r"
    scenarios/small.yaml:7:17: defect `skip-revision`: a target that is not simulated has its own defects; expected none
      7 |       defects: [skip-revision]
        |                 ^
    ");
    insta::assert_snapshot!(refused("agents: {", "agents: { defects: [confirm-unseen],"), @r"
    scenarios/small.yaml:8:21: defect `confirm-unseen`: a target that is not simulated has its own defects; expected none
      8 | agents: { defects: [confirm-unseen], operators: 3, without_extension: 1 }
        |                     ^
    ");
}

#[test]
fn an_action_that_the_target_lacks() {
    let offer = "actions: { gift-wrap: {";
    let more = "actions: { gift-wrapping: { steps: [{ name: wrap }] }, gift-wrap: {";
    let scenario = SCENARIO.replacen(offer, more, 1).replacen("action: gift-wrap }", "action: gift-wrapping }", 1);
    let scenario = scenario.replacen(", confirm: { by: { standing-permission: { up_to: 5.00 EUR } } }", "", 1);
    insta::assert_snapshot!(aimed(&scenario, TARGET).unwrap_err(), @r"
    scenarios/small.yaml:11:51: target `manzanita` offers no action `gift-wrapping`; expected one of exchange, gift-wrap, or that action among `actions` of target.yaml; did you mean `gift-wrap`?
      11 |   wrap: { steps: [propose: { at: wrapper, action: gift-wrapping }] }
         |                                                   ^
    ");
}

#[test]
fn a_permission_that_the_target_does_not_accept() {
    let target = TARGET.replacen(", approval: standing-permission", "", 1);
    insta::assert_snapshot!(aimed(SCENARIO, &target).unwrap_err(), @r"
    scenarios/small.yaml:11:79: action `gift-wrap` of target `manzanita` accepts only the User's own approval; expected `by: user`, or `approval: standing-permission` in target.yaml
      11 |   wrap: { steps: [propose: { at: wrapper, action: gift-wrap }, confirm: { by: { standing-permission:
         |                                                                               ^
    ");
}

#[test]
fn drafts() {
    let old = SCENARIO.replacen("agents: {", "agents: { session_mode: dpop-0.1,", 1);
    let plan = aimed(&old, TARGET).unwrap();
    assert_eq!((plan.swarm.session_mode, plan.companies[0].sessions.mode), (SessionMode::Dpop02, SessionMode::Dpop02));
    let silent = TARGET.replacen("session_mode: dpop-0.2\n", "", 1);
    insta::assert_snapshot!(aimed(&old, &silent).unwrap_err(), @r"
    scenarios/small.yaml:8:25: Users sign in at `manzanita` (`sign_in`), which `dpop-0.1` has none of; expected `dpop-0.2`, or `session_mode` in target.yaml
      8 | agents: { session_mode: dpop-0.1, operators: 3, without_extension: 1 }
        |                         ^
    ");
    let plan = aimed(&old, &silent.replacen("sign_in: { scopes: [orders:write] }\n", "", 1)).unwrap();
    assert_eq!(plan.swarm.session_mode, SessionMode::Dpop01);
    assert!(plan.companies[0].actions.values().all(|action| !action.signed_in));
}

#[test]
fn operators_beyond_the_last_port() {
    let own: String = TARGET
        .lines()
        .map(
            |line| {
                if line.starts_with("operator:") { "operators_port: 65534\n".to_owned() } else { format!("{line}\n") }
            },
        )
        .collect();
    insta::assert_snapshot!(aimed(SCENARIO, &own).unwrap_err(), @r"
    scenarios/small.yaml:8:22: 3 operators have no ports from 65534 (`operators_port` of target.yaml); expected at most 2
      8 | agents: { operators: 3, without_extension: 1 }
        |                      ^
    ");
    let two = aimed(&SCENARIO.replacen("operators: 3", "operators: 2", 1), &own).unwrap();
    assert_eq!((two.swarm.operators, two.swarm.operators_without_extension), (2, 1));
}
