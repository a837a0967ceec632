//! Backends that are slow to answer, lose answers, or refuse.

use http::StatusCode;

use super::stand::{Stand, fault, ms, plan};
use crate::{
    history::{
        LedgerEntry,
        record::{AttemptIs, BackendRequest, Learnt},
    },
    plan::{Fault, FaultKind, OnPartial, Window},
};

/// A backend timeout of `charge` within the first second.
fn timeout(effect: bool) -> Vec<Fault> {
    let window = Window { from: ms(0), to: ms(1_000) };
    vec![Fault { during: Some(window), ..fault(FaultKind::BackendTimeout { effect }, Some("charge")) }]
}

#[tokio::test(start_paused = true)]
async fn after_a_timeout_the_operation_stays_in_progress_until_the_company_knows() {
    for effect in [true, false] {
        let mut plan = plan();
        plan.answers.answer_within = ms(500);
        let stand = Stand::new(plan, timeout(effect)).await;
        let agent = stand.agent("u1").await;
        let id = agent.proposed("ord_1").await;
        assert_eq!(agent.confirm(&id, 1).await.unwrap().state(), "in_progress");
        assert_eq!(agent.tracked(&id).await.state(), "succeeded");
        assert_eq!(stand.steps(), ["take-back", "charge", "ship"], "effect before the loss: {effect}");
        let charges: Vec<_> = stand.attempts().into_iter().filter(|attempt| attempt.step == "charge").collect();
        assert!(charges.iter().all(|attempt| attempt.key == format!("{id}/charge")), "one key for all");
        let said: Vec<_> = charges.iter().map(|attempt| (attempt.is, attempt.learnt)).collect();
        assert_eq!(
            said,
            [
                (AttemptIs::Sent, None),
                (AttemptIs::Unanswered, None),
                (AttemptIs::Sent, None),
                (AttemptIs::Answered, Some(Learnt::Done)),
            ]
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_ledger_tells_every_request_as_the_backend_saw_it() {
    let stand = Stand::new(plan(), timeout(true)).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    agent.confirm(&id, 1).await;
    agent.tracked(&id).await;
    let requests: Vec<BackendRequest> = stand
        .recorder
        .snapshot()
        .1
        .into_iter()
        .filter_map(|record| if let LedgerEntry::Request(request) = record.entry { Some(request) } else { None })
        .filter(|request| request.step == "charge")
        .collect();
    let seen: Vec<_> = requests.iter().map(|request| (request.acted, request.answered)).collect();
    assert_eq!(seen, [(true, true), (false, true)], "the second made no effect");
}

#[tokio::test(start_paused = true)]
async fn a_refused_step_fails_the_action_and_the_result_tells_what_stands() {
    let stand = Stand::new(plan(), vec![fault(FaultKind::BackendFail, Some("ship"))]).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let heard = agent.confirm(&id, 1).await.unwrap();
    assert_eq!((heard.status, heard.state()), (StatusCode::OK, "failed"));
    assert_eq!(stand.steps(), ["take-back", "charge"]);
    for effect in stand.effects() {
        assert!(heard.result().contains(effect.receipt.as_str()), "{}", heard.result());
    }
    let new = agent.proposed("ord_1").await;
    assert_ne!(new, id, "a new attempt after a final state has a new ID");
}

#[tokio::test(start_paused = true)]
async fn a_refused_step_undoes_those_before_it_where_the_action_says_so() {
    let mut plan = plan();
    plan.actions[0].on_partial = OnPartial::Undo;
    let stand = Stand::new(plan, vec![fault(FaultKind::BackendFail, Some("ship"))]).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let heard = agent.confirm(&id, 1).await.unwrap();
    assert_eq!(heard.state(), "failed");
    assert_eq!(stand.steps(), ["take-back", "charge", "refund", "give-back"]);
    let effects = stand.effects();
    let undone: Vec<_> = effects.iter().map(|effect| effect.undo_of.as_deref()).collect();
    assert_eq!(undone, [None, None, Some("charge"), Some("take-back")]);
    assert_eq!(effects[2].key, format!("{id}/charge/undo"));
    assert!(effects.iter().all(|effect| heard.result().contains(effect.receipt.as_str())), "{}", heard.result());
}

#[tokio::test(start_paused = true)]
async fn an_undo_that_is_refused_is_told() {
    let mut plan = plan();
    plan.actions[0].on_partial = OnPartial::Undo;
    let faults = vec![fault(FaultKind::BackendFail, Some("ship")), fault(FaultKind::BackendFail, Some("refund"))];
    let stand = Stand::new(plan, faults).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let heard = agent.confirm(&id, 1).await.unwrap();
    assert!(heard.result().contains("could not be undone: refund was refused"), "{}", heard.result());
    assert_eq!(stand.steps(), ["take-back", "charge", "give-back"]);
}

#[tokio::test(start_paused = true)]
async fn a_step_that_fails_by_its_own_chance_fails_for_good() {
    let mut plan = plan();
    plan.actions[0].steps[0].fail = 1.0;
    let stand = Stand::new(plan, Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let heard = agent.confirm(&id, 1).await.unwrap();
    assert_eq!(heard.state(), "failed");
    assert!(heard.result().contains("Nothing was done"), "{}", heard.result());
    assert_eq!(stand.steps().len(), 0);
}
