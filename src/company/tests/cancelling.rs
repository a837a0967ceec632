//! Cancels, before and after the confirm.

use super::stand::{Agent, Heard, Stand, ms, plan};
use crate::plan::{CompanyPlan, Distribution, OnPartial};

/// A Company whose steps take a second each and whose confirms do not wait.
fn slow() -> CompanyPlan {
    let mut plan = plan();
    plan.answers.answer_within = ms(0);
    plan.backend.latency = Distribution::Constant(ms(1_000));
    plan
}

/// Confirms, cancels after `after`, and tracks.
async fn cancelled_after(stand: &Stand, agent: &Agent, after: u64) -> (Heard, Heard) {
    let id = agent.proposed("ord_1").await;
    agent.confirm(&id, 1).await.unwrap();
    stand.pass(ms(after)).await;
    (agent.cancel(&id).await, agent.tracked(&id).await)
}

#[tokio::test(start_paused = true)]
async fn a_proposal_that_is_cancelled_cannot_be_confirmed() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    for heard in [agent.cancel(&id).await, agent.cancel(&id).await, agent.confirm(&id, 1).await.unwrap()] {
        assert_eq!((heard.status.as_u16(), heard.state()), (200, "cancelled"));
        assert!(heard.result().contains("Nothing was done"));
    }
    assert_eq!(stand.steps().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn work_that_can_be_stopped_is_and_tells_what_stands() {
    let stand = Stand::new(slow(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let (at_once, end) = cancelled_after(&stand, &agent, 500).await;
    assert_eq!(at_once.state(), "in_progress", "until it is known");
    assert!(at_once.headers.contains_key("retry-after"));
    assert_eq!(end.state(), "cancelled");
    assert_eq!(stand.steps(), ["take-back"], "the step under way is brought to its end");
    assert!(end.result().contains(stand.effects()[0].receipt.as_str()), "{}", end.result());
}

#[tokio::test(start_paused = true)]
async fn stopped_work_is_undone_where_the_action_says_so() {
    let mut plan = slow();
    plan.actions[0].on_partial = OnPartial::Undo;
    let stand = Stand::new(plan, Vec::new()).await;
    let agent = stand.agent("u1").await;
    let (_, end) = cancelled_after(&stand, &agent, 500).await;
    assert_eq!(end.state(), "cancelled");
    assert_eq!(stand.steps(), ["take-back", "give-back"]);
}

#[tokio::test(start_paused = true)]
async fn work_that_is_too_far_on_succeeds() {
    let stand = Stand::new(slow(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let (at_once, end) = cancelled_after(&stand, &agent, 1_500).await;
    assert_eq!((at_once.state(), end.state()), ("in_progress", "succeeded"));
    assert_eq!(stand.steps(), ["take-back", "charge", "ship"]);
    let id = end.body["operation_id"].as_str().unwrap();
    assert_eq!(agent.cancel(id).await.body, end.body, "a final operation is returned as it is");
}

#[tokio::test(start_paused = true)]
async fn an_action_that_cannot_be_stopped_is_not() {
    let mut plan = slow();
    plan.actions[0].can_stop_until = None;
    let stand = Stand::new(plan, Vec::new()).await;
    let agent = stand.agent("u1").await;
    assert_eq!(cancelled_after(&stand, &agent, 10).await.1.state(), "succeeded");
}
