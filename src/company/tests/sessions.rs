//! Sessions: started, renewed, ended; and the operators behind them.

use std::sync::atomic::Ordering;

use http::{Request, StatusCode};

use super::stand::{ORIGIN, Stand, ms, plan};
use crate::{history::record::Purpose, plan::Distribution};

#[tokio::test(start_paused = true)]
async fn a_session_starts_and_is_renewed() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let first = agent.ask_token(&[("scope", "orders:write unknown orders:write")]).await;
    assert_eq!(first.headers["cache-control"], "no-store");
    assert_eq!((&first.body["token_type"], &first.body["scope"]), (&"DPoP".into(), &"orders:write".into()));
    assert_eq!((&first.body["expires_in"], &first.body["signed_in"]), (&3_600.into(), &false.into()));
    let session = first.body["session_id"].as_str().unwrap();
    let renewed = agent.ask_token(&[("session_id", session)]).await;
    assert_eq!((renewed.body["session_id"].as_str(), renewed.body["scope"].as_str()), (Some(session), Some("")));
    assert_ne!(renewed.body["access_token"], first.body["access_token"]);
    for id in ["ses_unknown", session] {
        let heard = stand.agent("u2").await.ask_token(&[("session_id", id)]).await;
        assert_eq!((heard.status, heard.error()), (StatusCode::BAD_REQUEST, "invalid_session"), "{id}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_operation_survives_renewal_and_confirmed_work_the_end_of_the_token() {
    let mut plan = plan();
    plan.answers.answer_within = ms(0);
    plan.backend.latency = Distribution::Constant(ms(500));
    let stand = Stand::new(plan, Vec::new()).await;
    let mut agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    agent.confirm(&id, 1).await;
    let session = agent.session.clone();
    let form = agent.token_form(&[("token", &agent.token)]);
    let request = Request::builder().method("POST").uri(format!("{ORIGIN}/oauth/revoke")).body(form.into()).unwrap();
    assert_eq!(agent.send(request, Purpose::Revoke).await.unwrap().status, StatusCode::OK);
    assert_eq!(agent.read(&id).await.error(), "invalid_token");
    let renewed = agent.ask_token(&[("session_id", &session), ("scope", "orders:write")]).await;
    agent.token = renewed.body["access_token"].as_str().unwrap().to_owned();
    assert_eq!(agent.tracked(&id).await.state(), "succeeded");
    assert_eq!(stand.steps().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn bad_token_requests_are_refused() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let without = |field: &str| {
        let form = agent.token_form(&[]);
        let kept = form_urlencoded::parse(form.as_bytes()).filter(|(name, _)| name != field);
        form_urlencoded::Serializer::new(String::new()).extend_pairs(kept).finish()
    };
    let with = |field: &str, value: &str| without(field) + "&" + field + "=" + value;
    let cases = [
        (without("grant_type"), 400, "invalid_request"),
        (with("grant_type", "password"), 400, "unsupported_grant_type"),
        (without("assertion"), 400, "invalid_request"),
        (with("assertion", "x"), 400, "invalid_grant"),
        (without("client_assertion"), 401, "invalid_client"),
        (with("client_assertion", "x"), 401, "invalid_client"),
        (with("client_id", "http%3A%2F%2Fagent-1.example%2Fagent.json"), 401, "invalid_client"),
        (with("client_id", "https%3A%2F%2Fnowhere.example%2Fagent.json"), 401, "invalid_client"),
        (agent.token_form(&[("grant_type", "x")]), 400, "invalid_request"),
    ];
    for (form, status, error) in cases {
        let heard = agent.send_token(form.clone()).await;
        assert_eq!((heard.status.as_u16(), heard.error()), (status, error), "{form:.60}");
        assert_eq!(heard.headers.contains_key("www-authenticate"), status == 401);
    }
    let good = agent.token_form(&[]);
    assert_eq!(agent.send_token(good.clone()).await.status, StatusCode::OK);
    assert_eq!(agent.send_token(good).await.error(), "invalid_client", "an assertion is good once");
    let form = agent.token_form(&[]);
    let request = Request::builder().method("POST").uri(format!("{ORIGIN}/oauth/token")).body(form.into()).unwrap();
    let heard = agent.send(request, Purpose::Token).await.unwrap();
    assert_eq!((heard.status, heard.error()), (StatusCode::BAD_REQUEST, "invalid_dpop_proof"));
}

#[tokio::test(start_paused = true)]
async fn an_operator_s_documents_are_fetched_once_and_its_new_keys_after_a_while() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let users: Vec<_> = (0..8).map(|index| format!("u{index}")).collect();
    let agents = futures_util::future::join_all(users.iter().map(|user| stand.agent(user))).await;
    assert_eq!(stand.fetches(), (1, 1), "eight token requests at once, one fetch of each document");
    stand.operator.key.store(2, Ordering::Relaxed);
    let renewed = agents[0].clone().with_key(2);
    assert_eq!(renewed.ask_token(&[]).await.error(), "invalid_client", "not again so soon");
    assert_eq!(stand.fetches(), (1, 1));
    stand.pass(ms(31_000)).await;
    assert_eq!(renewed.ask_token(&[]).await.status, StatusCode::OK);
    assert_eq!(stand.fetches(), (1, 2));
    assert_eq!(agents[0].ask_token(&[]).await.error(), "invalid_client", "the old key is gone");
}
