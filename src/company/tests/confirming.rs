//! Confirms: what they set off, how often, and what they are answered.

use futures_util::future::join_all;
use http::{Method, StatusCode};
use serde_json::json;

use super::stand::{ORIGIN, Stand, fault, ms, plan};
use crate::{
    history::{Event, record::Purpose},
    plan::{Approval, Distribution, FaultKind},
    protocol::Operation,
};

#[tokio::test(start_paused = true)]
async fn a_confirm_performs_every_step_once_and_tells_each_receipt() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    assert_eq!(stand.steps(), Vec::<String>::new(), "nothing happens before the confirm");
    let heard = agent.confirm(&id, 1).await.unwrap();
    assert_eq!((heard.status, heard.state()), (StatusCode::OK, "succeeded"), "{:?}", heard.body);
    assert_eq!(stand.steps(), ["take-back", "charge", "ship"]);
    let offers: Vec<_> = stand
        .events()
        .into_iter()
        .filter_map(|event| if let Event::Offer(offer) = event { Some(offer) } else { None })
        .collect();
    for effect in stand.effects() {
        assert!(heard.result().contains(effect.receipt.as_str()), "{}", heard.result());
        assert_eq!(effect.action, format!("shop-1/operation/{id}"));
        assert_eq!((effect.revision, effect.key.as_str()), (1, format!("{id}/{}", effect.step).as_str()));
        assert_eq!(effect.terms, offers[0].terms, "the digest of what was offered");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_answered_is_the_operation_object_with_its_null_rules() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let proposed = agent.propose("ord_1").await.body["operation"].clone();
    let id = proposed["operation_id"].as_str().unwrap().to_owned();
    let confirmed = agent.confirm(&id, 1).await.unwrap().body;
    for (body, final_) in [(proposed, false), (confirmed, true)] {
        let operation: Operation = serde_json::from_value(body.clone()).unwrap();
        assert_eq!(serde_json::to_value(&operation).unwrap(), body, "no member beyond the object's own");
        assert_eq!(body.get("expires_at").is_some(), !final_);
        assert_eq!((body["confirmation"].is_null(), body["result"].is_null()), (!final_, !final_));
    }
}

#[tokio::test(start_paused = true)]
async fn sixty_four_confirms_at_once_perform_once() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let heard = join_all((0..64).map(|_| agent.confirm(&id, 1))).await;
    let bodies: Vec<_> = heard.into_iter().map(|heard| heard.unwrap().body).collect();
    assert!(bodies.iter().all(|body| body == &bodies[0] && body["state"] == "succeeded"), "{:?}", bodies[0]);
    assert_eq!(stand.steps(), ["take-back", "charge", "ship"]);
}

#[tokio::test(start_paused = true)]
async fn a_repeated_confirm_is_answered_with_the_operation_as_it_is() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let first = agent.confirm(&id, 1).await.unwrap();
    stand.pass(ms(5_000)).await;
    for revision in [1, 7] {
        let again = agent.confirm(&id, revision).await.unwrap();
        assert_eq!((again.status, &again.body), (StatusCode::OK, &first.body));
    }
    assert_eq!(stand.steps().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn slow_work_is_answered_in_progress_with_retry_after_and_then_tracked() {
    let mut plan = plan();
    plan.answers.answer_within = ms(100);
    plan.answers.retry_after = ms(1_200);
    plan.backend.latency = Distribution::Constant(ms(400));
    let stand = Stand::new(plan, Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let began = stand.field.now();
    let first = agent.confirm(&id, 1).await.unwrap();
    assert_eq!(stand.field.now().since(began), ms(100));
    for heard in [first, agent.read(&id).await, agent.confirm(&id, 1).await.unwrap()] {
        assert_eq!((heard.status, heard.state()), (StatusCode::OK, "in_progress"));
        assert_eq!(heard.headers["retry-after"], "2", "rounded up");
    }
    assert_eq!(agent.tracked(&id).await.state(), "succeeded");
    assert_eq!(agent.read(&id).await.headers.get("retry-after"), None);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_stops_nothing() {
    let lose = fault(FaultKind::LoseAnswer, None);
    let stand = Stand::new(plan(), vec![crate::plan::Fault { on: vec![Purpose::Confirm], ..lose }]).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    #[expect(clippy::disallowed_methods, reason = "the caller gives up, whoever it is")]
    let gone = tokio::time::timeout(ms(10), agent.confirm(&id, 1)).await;
    assert!(gone.is_err());
    assert_eq!(agent.tracked(&id).await.state(), "succeeded");
    assert_eq!(stand.steps().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn only_the_latest_revision_and_its_terms_are_performed() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let first = agent.read(&id).await.body;
    stand.pass(ms(1_000)).await;
    let changed = agent.change("ord_1", &id).await;
    assert_eq!(changed.status, StatusCode::ACCEPTED);
    let changed = &changed.body["operation"];
    assert_eq!((changed["operation_id"].as_str(), changed["revision"].as_u64()), (Some(id.as_str()), Some(2)));
    assert_ne!((&changed["summary"], &changed["expires_at"]), (&first["summary"], &first["expires_at"]));
    let stale = agent.confirm(&id, 1).await.unwrap();
    assert_eq!((stale.status, stale.error()), (StatusCode::CONFLICT, "terms_changed"));
    assert_eq!(&stale.body["operation"], changed);
    assert_eq!(stand.steps().len(), 0);
    assert_eq!(agent.confirm(&id, 2).await.unwrap().state(), "succeeded");
    assert!(stand.effects().iter().all(|effect| effect.revision == 2));
    let late = agent.change("ord_1", &id).await;
    assert_eq!((late.status, late.body["operation"]["revision"].as_u64()), (StatusCode::OK, Some(2)));
}

#[tokio::test(start_paused = true)]
async fn the_company_changes_terms_by_itself_before_and_during_a_confirm() {
    let mut plan = plan();
    plan.proposals.revise_before_approval = 1.0;
    let stand = Stand::new(plan, Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    stand.pass(ms(60)).await;
    assert_eq!(agent.read(&id).await.body["revision"], 2);
    stand.pass(ms(60_000)).await;
    assert_eq!(agent.read(&id).await.body["revision"], 2, "once");

    let mut plan = super::stand::plan();
    plan.proposals.revise_during_confirm = 1.0;
    let stand = Stand::new(plan, Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let heard = agent.confirm(&id, 1).await.unwrap();
    assert_eq!((heard.error(), heard.body["operation"]["revision"].as_u64()), ("terms_changed", Some(2)));
}

#[tokio::test(start_paused = true)]
async fn expiry_is_inclusive_and_final() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let (early, late) = (agent.proposed("ord_1").await, agent.proposed("ord_2").await);
    let moment =
        |body: &serde_json::Value| stand.field.moment_at(body["expires_at"].as_str().unwrap().parse().unwrap());
    stand.field.sleep_until(moment(&agent.read(&early).await.body)).await;
    assert_eq!(agent.confirm(&early, 1).await.unwrap().state(), "succeeded");
    stand.pass(ms(1)).await;
    let expired = agent.confirm(&late, 1).await.unwrap();
    assert_eq!((expired.status, expired.state()), (StatusCode::OK, "expired"));
    assert!(expired.result().contains("Nothing was done"));
    assert_eq!(agent.cancel(&late).await.state(), "expired");
    assert!(stand.effects().iter().all(|effect| effect.action.ends_with(&early)));
}

#[tokio::test(start_paused = true)]
async fn a_standing_permission_is_taken_only_where_the_action_allows_it() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let heard = agent.confirm_by(&id, 1, "standing_permission").await.unwrap();
    assert_eq!((heard.status, heard.error()), (StatusCode::FORBIDDEN, "user_approval_required"));
    assert_eq!(stand.steps().len(), 0);

    let mut plan = plan();
    plan.actions[0].approval = Approval::StandingPermission;
    let stand = Stand::new(plan, Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let heard = agent.confirm_by(&id, 1, "standing_permission").await.unwrap();
    assert_eq!(heard.body["confirmation"]["approved_by"], "standing_permission");
}

#[tokio::test(start_paused = true)]
async fn garbage_is_refused_and_performs_nothing() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let path = format!("/poppy/operations/{id}/confirm");
    let deep = "[".repeat(100_000);
    for body in [
        "",
        "null",
        "[1]",
        &deep,
        r#"{"revision":true,"approved_by":"user"}"#,
        r#"{"revision":"1","approved_by":"user"}"#,
        r#"{"revision":1.0,"approved_by":"user"}"#,
        r#"{"revision":0,"approved_by":"user"}"#,
        r#"{"revision":1,"approved_by":"nobody"}"#,
        r#"{"revision":1}"#,
    ] {
        let request = agent.signed(Method::POST, &path, body.to_owned());
        let heard = agent.send(request, Purpose::Confirm).await.unwrap();
        assert_eq!((heard.status, heard.error()), (StatusCode::BAD_REQUEST, "invalid_request"), "{body:.40}");
    }
    let padded = format!("{{\"revision\":1,\"approved_by\":\"user\",\"pad\":\"{}\"}}", "x".repeat(1024 * 1024));
    let request = agent.signed(Method::POST, &path, padded);
    assert_eq!(agent.send(request, Purpose::Confirm).await.unwrap().status, StatusCode::PAYLOAD_TOO_LARGE);
    for (item, status) in [(json!({"item_id": 7}), 400), (json!([]), 400), (json!({"item_id": null, "x": 1}), 202)] {
        let request = agent.signed(Method::POST, "/orders/ord_9/exchanges", item.to_string());
        assert_eq!(agent.send(request, Purpose::Propose).await.unwrap().status, status, "{item}");
    }
    let request = http::Request::builder().uri(format!("{ORIGIN}/nowhere")).body(bytes::Bytes::new()).unwrap();
    assert_eq!(agent.send(request, Purpose::Read).await.unwrap().status, StatusCode::NOT_FOUND);
    assert_eq!(stand.steps().len(), 0);
    assert_eq!(agent.confirm(&id, 1).await.unwrap().state(), "succeeded", "and the operation is as it was");
}
