//! A Company that stops at each named point of its code, and starts again: every step once, every confirmed operation
//! brought to its end, nothing done that was not recorded as confirmed.

use super::stand::{Stand, fault, ms, plan};
use crate::plan::{CompanyDefect, CompanyPlan, CrashPoint, Distribution, Fault, FaultKind, OnPartial, Window};

/// Stops the Company at that point for a second, whenever it comes by within the first two seconds.
fn crash(point: CrashPoint) -> Fault {
    let window = Window { from: ms(0), to: ms(2_000) };
    Fault {
        during: Some(window),
        ..fault(FaultKind::Crash { point, down_for: ms(1_000), only: Default::default() }, None)
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_at_any_point_leaves_every_step_done_once() {
    for point in CrashPoint::ALL {
        let stand = Stand::new(plan(), vec![crash(*point)]).await;
        let agent = stand.agent("u1").await;
        let id = agent.proposed("ord_1").await;
        let first = agent.confirm(&id, 1).await;
        let mut end = None;
        for _ in 0..10 {
            stand.pass(ms(1_500)).await;
            if let Some(heard) = agent.confirm(&id, 1).await {
                end = Some(heard);
            }
        }
        assert!(first.is_none(), "{point}: the answer was lost");
        let end = end.unwrap();
        assert_eq!(end.state(), "succeeded", "{point}: {:?}", end.body);
        assert_eq!(stand.steps(), ["take-back", "charge", "ship"], "{point}");
        for effect in stand.effects() {
            assert!(end.result().contains(effect.receipt.as_str()), "{point}: {}", end.result());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_accepted_goes_on_by_itself_and_what_was_not_stays_proposed() {
    for point in CrashPoint::ALL {
        let stand = Stand::new(plan(), vec![crash(*point)]).await;
        let agent = stand.agent("u1").await;
        let id = agent.proposed("ord_1").await;
        agent.confirm(&id, 1).await;
        stand.pass(ms(20_000)).await;
        let stored = !matches!(point, CrashPoint::AcceptReceived | CrashPoint::AcceptChecked);
        let expected = if stored { "succeeded" } else { "proposed" };
        assert_eq!(agent.read(&id).await.state(), expected, "{point}");
        assert_eq!(stand.steps().len(), if stored { 3 } else { 0 }, "{point}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_while_undoing_undoes_each_step_once() {
    let mut plan = plan();
    plan.actions[0].on_partial = OnPartial::Undo;
    for point in [CrashPoint::PerformBeforeCall, CrashPoint::PerformAfterEffect, CrashPoint::PerformBeforeRecord] {
        let stand = Stand::new(plan.clone(), vec![fault(FaultKind::BackendFail, Some("ship")), crash(point)]).await;
        let agent = stand.agent("u1").await;
        let id = agent.proposed("ord_1").await;
        agent.confirm(&id, 1).await;
        stand.pass(ms(20_000)).await;
        assert_eq!(agent.read(&id).await.state(), "failed", "{point}");
        assert_eq!(stand.steps(), ["take-back", "charge", "refund", "give-back"], "{point}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancel_outlives_a_crash() {
    let mut plan = plan();
    plan.answers.answer_within = ms(0);
    plan.backend.latency = Distribution::Constant(ms(1_000));
    let stand = Stand::new(plan, vec![crash(CrashPoint::PerformAfterEffect)]).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    agent.confirm(&id, 1).await;
    assert_eq!(agent.cancel(&id).await.state(), "in_progress");
    stand.pass(ms(10_000)).await;
    let end = agent.read(&id).await;
    assert_eq!(end.state(), "cancelled", "{:?}", end.body);
    assert_eq!(stand.steps(), ["take-back"]);
    assert!(end.result().contains(stand.effects()[0].receipt.as_str()));
}

#[tokio::test(start_paused = true)]
async fn a_restart_keeps_sessions_replays_and_the_company_s_own_revisions() {
    let mut plan = plan();
    plan.proposals.revise_before_approval = 1.0;
    plan.proposals.revise_after = Distribution::Constant(ms(5_000));
    let stand = Stand::new(plan, vec![crash(CrashPoint::AcceptReceived)]).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let path = format!("/poppy/operations/{id}");
    let used = agent.signed(http::Method::GET, &path, "");
    assert!(agent.send(used.clone(), crate::history::record::Purpose::Read).await.unwrap().status.is_success());
    assert!(agent.confirm(&id, 1).await.is_none());
    stand.pass(ms(2_000)).await;
    let replayed = agent.send(used, crate::history::record::Purpose::Read).await.unwrap();
    assert_eq!((replayed.status.as_u16(), replayed.error()), (401, "invalid_dpop_proof"));
    stand.pass(ms(5_000)).await;
    assert_eq!(agent.read(&id).await.body["revision"], 2);
}

#[tokio::test(start_paused = true)]
async fn forgotten_work_stays_in_progress() {
    let plan = CompanyPlan { defects: [CompanyDefect::DropInProgressOnRestart].into_iter().collect(), ..plan() };
    let stand = Stand::new(plan, vec![crash(CrashPoint::PerformBeforeCall)]).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    agent.confirm(&id, 1).await;
    stand.pass(ms(300_000)).await;
    assert_eq!(agent.read(&id).await.state(), "in_progress");
    assert_eq!(stand.steps().len(), 0);
}
