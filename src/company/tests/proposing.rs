//! Discovery and proposals: which operation is answered, to whom, and what is done at once.

use http::{Method, StatusCode};
use serde_json::Value;

use super::stand::{ORIGIN, Stand, fault, ms, plan};
use crate::{
    history::{Event, record::Purpose},
    plan::{CrashPoint, FaultKind, WithoutExtension},
    protocol::{AuthorizationServerMetadata, PoppyDocument},
};

#[tokio::test(start_paused = true)]
async fn documents_point_at_each_other() {
    let mut plan = plan();
    plan.sessions.operations_resource = true;
    let stand = Stand::new(plan, Vec::new()).await;
    let agent = stand.agent("u1").await;
    let read = async |path| agent.get(path).await.body;
    let poppy: PoppyDocument = serde_json::from_value(read("/.well-known/poppy.json").await).unwrap();
    let server: AuthorizationServerMetadata =
        serde_json::from_value(read("/.well-known/oauth-authorization-server").await).unwrap();
    let auth = poppy.auth.as_ref().unwrap();
    assert_eq!((auth.issuer.as_str(), server.issuer.as_str()), (ORIGIN, ORIGIN));
    assert_eq!(
        (poppy.organization.domain.as_str(), server.poppy_domains),
        ("shop-1.example", vec!["shop-1.example".to_owned()])
    );
    assert!(auth.custom_scopes.contains_key("orders:write"));
    let operations = poppy.operations().unwrap();
    assert_eq!((operations.version.as_str(), &operations.resource), ("1", &operations.endpoint));
    assert_eq!(poppy.apis[0].url, format!("{ORIGIN}/openapi.json"));
    let api = read("/openapi.json").await;
    let post = |path: &str| api["paths"][path]["post"].clone();
    let exchange = post("/orders/{order_id}/exchanges");
    assert_eq!(exchange["operationId"], "exchange");
    assert!(exchange["responses"]["202"].is_object());
    assert_eq!(post("/orders/{order_id}/exchanges/{operation_id}")["operationId"], "change-exchange");
    assert_eq!(post("/orders/{order_id}/gift-wraps")["responses"]["202"], Value::Null);
    assert_eq!(post("/orders/{order_id}/gift-wraps/{operation_id}"), Value::Null);
}

#[tokio::test(start_paused = true)]
async fn the_history_has_the_company_its_terms_and_its_offers() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    agent.change("ord_1", &id).await;
    let events = stand.events();
    let companies: Vec<_> = events.iter().filter(|event| matches!(event, Event::Company(_))).collect();
    let [Event::Company(company)] = companies[..] else { panic!("{companies:?}") };
    assert_eq!(company.actions["exchange"].steps, ["take-back", "charge", "ship"]);
    let told: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Terms(terms) => Some(("terms", terms.digest.clone(), 0)),
            Event::Offer(offer) => Some(("offer", offer.terms.clone(), offer.revision)),
            _ => None,
        })
        .collect();
    let [(a, one, _), (b, first, 1), (c, two, _), (d, second, 2)] = &told[..] else { panic!("{told:?}") };
    assert_eq!([a, b, c, d], [&"terms", &"offer", &"terms", &"offer"]);
    assert_eq!((one, two), (first, second));
}

#[tokio::test(start_paused = true)]
async fn the_same_wish_gets_the_open_operation_and_a_new_one_after_the_end() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    assert_eq!(agent.proposed("ord_1").await, id);
    assert_ne!(agent.proposed("ord_2").await, id, "another order");
    assert_ne!(stand.agent("u2").await.proposed("ord_1").await, id, "another User");
    agent.cancel(&id).await;
    let second = agent.proposed("ord_1").await;
    assert_ne!(second, id);
    stand.pass(ms(901_000)).await;
    assert_ne!(agent.proposed("ord_1").await, second, "expired by the clock alone");
}

#[tokio::test(start_paused = true)]
async fn a_wish_in_another_session_is_another_operation() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let (one, other) = (stand.agent("u1").await, stand.agent("u1").await);
    let id = one.proposed("ord_1").await;
    assert_ne!(other.proposed("ord_1").await, id);
    let (foreign, unknown) = (other.read(&id).await, other.read("op_unknown").await);
    assert_eq!(foreign.status, StatusCode::NOT_FOUND);
    assert_eq!((foreign.body, foreign.headers), (unknown.body, unknown.headers), "nobody learns that it exists");
    assert_eq!(other.confirm(&id, 1).await.unwrap().error(), "operation_not_found");
    assert_eq!(other.cancel(&id).await.error(), "operation_not_found");
    assert_eq!(other.change("ord_1", &id).await.error(), "operation_not_found");
    assert_eq!(one.change("ord_2", &id).await.error(), "operation_not_found", "of another order");
    assert_eq!(one.read(&id).await.state(), "proposed");
}

#[tokio::test(start_paused = true)]
async fn ids_and_terms_do_not_depend_on_what_others_do() {
    let alone = Stand::new(plan(), Vec::new()).await;
    let lone = alone.agent("u1").await.propose("ord_1").await.body;
    let crowd = Stand::new(plan(), Vec::new()).await;
    crowd.agent("u2").await.propose("ord_1").await;
    let among = crowd.agent("u1").await.propose("ord_1").await.body;
    for member in ["operation_id", "summary", "terms"] {
        assert_eq!(lone["operation"][member], among["operation"][member]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_action_that_needs_no_confirming_is_done_at_once() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let heard = agent.wrap("ord_1").await.unwrap();
    assert_eq!(heard.status, StatusCode::OK);
    assert_eq!(heard.body["operation"], Value::Null);
    let effects = stand.effects();
    assert_eq!(effects.len(), 1);
    assert!(heard.result().contains(effects[0].receipt.as_str()), "{:?}", heard.body);
    let id = effects[0].action.strip_prefix("shop-1/direct/").unwrap();
    assert_eq!(agent.read(id).await.error(), "operation_not_found", "it is no operation");
    agent.wrap("ord_1").await.unwrap();
    assert_ne!(stand.effects()[1].action, effects[0].action, "each request is another action");
}

#[tokio::test(start_paused = true)]
async fn an_action_done_at_once_outlives_a_crash() {
    let crash = FaultKind::Crash { point: CrashPoint::PerformAfterEffect, down_for: ms(500), only: Default::default() };
    let window = crate::plan::Window { from: ms(0), to: ms(100) };
    let stand = Stand::new(plan(), vec![crate::plan::Fault { during: Some(window), ..fault(crash, None) }]).await;
    let agent = stand.agent("u1").await;
    assert!(agent.wrap("ord_1").await.is_none());
    stand.pass(ms(5_000)).await;
    assert_eq!(stand.steps(), ["wrap"]);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_does_not_list_the_extension_never_sees_an_operation() {
    let stand = Stand::with(plan(), Vec::new(), false).await;
    let agent = stand.agent("u1").await;
    let refused = agent.propose("ord_1").await;
    assert_eq!((refused.status, refused.error()), (StatusCode::FORBIDDEN, "extension_required"));
    assert_eq!(refused.body["extension"], "operations");
    assert!(refused.headers["www-authenticate"].to_str().unwrap().contains("extension=\"operations\""));
    assert_eq!(agent.read("op_1").await.error(), "extension_required");
    assert_eq!(stand.steps().len(), 0);

    let mut plan = plan();
    plan.actions[0].without_extension = WithoutExtension::Act;
    let stand = Stand::with(plan, Vec::new(), false).await;
    let agent = stand.agent("u1").await;
    let done = agent.propose("ord_1").await;
    assert_eq!((done.status, &done.body["operation"]), (StatusCode::OK, &Value::Null));
    assert_eq!(stand.steps(), ["take-back", "charge", "ship"]);
    assert!(stand.effects()[0].action.starts_with("shop-1/direct/"));
}

#[tokio::test(start_paused = true)]
async fn final_operations_are_kept_for_a_while() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    agent.cancel(&id).await;
    stand.pass(ms(600_000)).await;
    assert_eq!(agent.read(&id).await.state(), "cancelled");
    stand.pass(ms(1)).await;
    assert_eq!(agent.read(&id).await.error(), "operation_not_found");
}

#[tokio::test(start_paused = true)]
async fn a_proposal_needs_the_action_s_scope() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let mut agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let session = agent.ask_token(&[]).await;
    let session = session.body["session_id"].as_str().unwrap().to_owned();
    let bare = agent.ask_token(&[("session_id", &session)]).await;
    agent.token = bare.body["access_token"].as_str().unwrap().to_owned();
    let heard = agent.propose("ord_2").await;
    assert_eq!((heard.status, heard.error()), (StatusCode::FORBIDDEN, "insufficient_scope"));
    assert_eq!(heard.body["scope"], "orders:write");
    let request = agent.signed(Method::GET, &format!("/poppy/operations/{id}"), "");
    assert_eq!(agent.send(request, Purpose::Read).await.unwrap().error(), "operation_not_found", "another Session");
}
