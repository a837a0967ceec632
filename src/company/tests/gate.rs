//! The gate (C1): every bad credential is refused with the protocol's error, and performs nothing.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};

use super::stand::{Agent, Heard, ORIGIN, Stand, ms, plan};
use crate::history::record::Purpose;

/// Confirms with headers that the test spoilt.
async fn confirm_with(agent: &Agent, id: &str, spoil: impl FnOnce(&mut Request<Bytes>)) -> Heard {
    let body = r#"{"revision":1,"approved_by":"user"}"#;
    let mut request = agent.signed(Method::POST, &format!("/poppy/operations/{id}/confirm"), body);
    spoil(&mut request);
    agent.send(request, Purpose::Confirm).await.unwrap()
}

fn set(headers: &mut HeaderMap, name: &'static str, value: &str) {
    headers.insert(name, HeaderValue::from_str(value).unwrap());
}

fn challenge(heard: &Heard) -> &str {
    heard.headers["www-authenticate"].to_str().unwrap()
}

#[tokio::test(start_paused = true)]
async fn bad_tokens_are_refused() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let token = agent.token.clone();
    let none = confirm_with(&agent, &id, |request| drop(request.headers_mut().remove("authorization"))).await;
    assert_eq!((none.status, challenge(&none)), (StatusCode::UNAUTHORIZED, "DPoP algs=\"ES256\""));
    for value in [format!("Bearer {token}"), "DPoP".to_owned(), "DPoP sat_unknown".to_owned(), token.clone()] {
        let heard = confirm_with(&agent, &id, |request| set(request.headers_mut(), "authorization", &value)).await;
        assert_eq!((heard.status, heard.error()), (StatusCode::UNAUTHORIZED, "invalid_token"), "{value:.8}");
        assert!(challenge(&heard).contains("invalid_token"));
    }
    let twice = confirm_with(&agent, &id, |request| {
        request.headers_mut().append("authorization", HeaderValue::from_str(&format!("DPoP {token}")).unwrap());
    });
    assert_eq!(twice.await.status, StatusCode::BAD_REQUEST);
    let in_url = confirm_with(&agent, &id, |request| {
        *request.uri_mut() = format!("{}?access_token={token}", request.uri()).parse().unwrap();
    });
    assert_eq!(in_url.await.error(), "invalid_request");
    let lower =
        confirm_with(&agent, &id, |request| set(request.headers_mut(), "authorization", &format!("dpop {token}")));
    assert_eq!(lower.await.state(), "succeeded", "the scheme's case does not matter");
    stand.pass(ms(3_600_000)).await;
    assert_eq!(agent.read(&id).await.error(), "invalid_token", "it has ended");
}

#[tokio::test(start_paused = true)]
async fn bad_proofs_are_refused() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let (agent, other) = (stand.agent("u1").await, stand.agent("u2").await);
    let id = agent.proposed("ord_1").await;
    let url = format!("{ORIGIN}/poppy/operations/{id}/confirm");
    let old = agent.proof("POST", &url, None);
    stand.pass(ms(120_000)).await;
    let stolen = other.clone().with_token(&agent.token).proof("POST", &url, None);
    let proofs = [
        String::new(),
        "a.b.c".to_owned(),
        old,
        agent.proof("GET", &url, None),
        agent.proof("POST", &format!("{url}/more"), None),
        other.proof("POST", &url, None),
        stolen,
    ];
    for proof in proofs {
        let heard = confirm_with(&agent, &id, |request| set(request.headers_mut(), "dpop", &proof)).await;
        assert_eq!((heard.status, heard.error()), (StatusCode::UNAUTHORIZED, "invalid_dpop_proof"), "{proof:.20}");
        assert!(challenge(&heard).contains("invalid_dpop_proof"));
    }
    let missing = confirm_with(&agent, &id, |request| drop(request.headers_mut().remove("dpop"))).await;
    assert_eq!(missing.error(), "invalid_dpop_proof");
    let second = HeaderValue::from_str(&agent.proof("POST", &url, None)).unwrap();
    let twice = confirm_with(&agent, &id, |request| {
        request.headers_mut().append("dpop", second);
    })
    .await;
    assert_eq!(twice.error(), "invalid_dpop_proof");
    assert_eq!(stand.steps().len(), 0);
    let good = agent.proof("POST", &url, None);
    let first = confirm_with(&agent, &id, |request| set(request.headers_mut(), "dpop", &good)).await;
    assert_eq!(first.state(), "succeeded");
    let replayed = confirm_with(&agent, &id, |request| set(request.headers_mut(), "dpop", &good)).await;
    assert_eq!(replayed.error(), "invalid_dpop_proof");
}

#[tokio::test(start_paused = true)]
async fn nonces_are_demanded_and_renewed() {
    let mut plan = plan();
    plan.sessions.nonce_every = Some(ms(300_000));
    let stand = Stand::new(plan, Vec::new()).await;
    let mut agent = stand.unsigned("u1");
    let demanded = agent.ask_token(&[]).await;
    assert_eq!((demanded.status, demanded.error()), (StatusCode::BAD_REQUEST, "use_dpop_nonce"));
    let nonce = demanded.headers["dpop-nonce"].to_str().unwrap().to_owned();
    let given = agent.ask_token_with(&[("scope", "orders:write")], Some(&nonce)).await;
    assert_eq!(given.status, StatusCode::OK, "{:?}", given.body);
    agent.token = given.body["access_token"].as_str().unwrap().to_owned();
    let bare = agent.read("op_1").await;
    assert_eq!((bare.status, bare.error()), (StatusCode::UNAUTHORIZED, "use_dpop_nonce"));
    assert!(challenge(&bare).contains("use_dpop_nonce"));
    let nonce = bare.headers["dpop-nonce"].to_str().unwrap().to_owned();
    let url = format!("{ORIGIN}/poppy/operations/op_1");
    let mut request = agent.signed(Method::GET, "/poppy/operations/op_1", "");
    set(request.headers_mut(), "dpop", &agent.proof("GET", &url, Some(&nonce)));
    let heard = agent.send(request, Purpose::Read).await.unwrap();
    assert_eq!(heard.error(), "operation_not_found", "past the gate");
    assert!(heard.headers.contains_key("dpop-nonce"), "every answer offers the next");
}

#[tokio::test(start_paused = true)]
async fn the_operations_endpoint_can_ask_for_tokens_of_its_own() {
    let mut plan = plan();
    plan.sessions.operations_resource = true;
    let stand = Stand::new(plan, Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    assert_eq!(agent.read(&id).await.error(), "invalid_token");
    let wrong = agent.ask_token(&[("resource", "https://elsewhere.example/")]).await;
    assert_eq!((wrong.status, wrong.error()), (StatusCode::BAD_REQUEST, "invalid_target"));
    let session = agent.session.clone();
    let endpoint = format!("{ORIGIN}/poppy/operations");
    let more = [("session_id", session.as_str()), ("resource", endpoint.as_str()), ("scope", "orders:write")];
    let token = agent.ask_token(&more).await.body["access_token"].as_str().unwrap().to_owned();
    let special = agent.clone().with_token(&token);
    assert_eq!(special.confirm(&id, 1).await.unwrap().state(), "succeeded");
    assert_eq!(special.propose("ord_2").await.error(), "invalid_token", "and it is good nowhere else");
}
