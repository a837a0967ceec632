//! Operators whose documents are not as they should be: what a Company takes, and what it refuses.

use axum::{Router, response::Redirect, routing::get};
use http::StatusCode;
use serde_json::{Value, json};

use super::stand::{Stand, operator_jwk, plan};

const HOST: &str = "https://other-1.example";

/// The answer to a token request of an Agent whose documents are these, at these paths.
async fn answered(client_id: &str, metadata: Value, keys: Value, hops: usize) -> (StatusCode, String) {
    let stand = Stand::new(plan(), Vec::new()).await;
    let mut router = Router::new()
        .route("/agent.json", get(move || async move { axum::Json(metadata) }))
        .route("/jwks.json", get(move || async move { axum::Json(keys) }))
        .route("/plain", get(|| async { Redirect::temporary("http://other-1.example/agent.json") }));
    for hop in 1..=hops {
        let next = if hop == 1 { "/agent.json".to_owned() } else { format!("{HOST}/hop-{}", hop - 1) };
        router = router.route(&format!("/hop-{hop}"), get(move || async move { Redirect::temporary(&next) }));
    }
    stand.open_operator("other-1", router).await;
    let heard = stand.unsigned("u1").of_client(client_id).ask_token(&[]).await;
    (heard.status, heard.error().to_owned())
}

fn metadata(client_id: &str) -> Value {
    json!({ "client_id": client_id, "jwks_uri": format!("{HOST}/jwks.json"), "birds": 2 })
}

fn keys() -> Value {
    json!({ "keys": [operator_jwk(1)] })
}

fn agent() -> String {
    format!("{HOST}/agent.json")
}

#[tokio::test(start_paused = true)]
async fn good_documents_are_taken_after_a_few_redirects_too() {
    assert_eq!(answered(&agent(), metadata(&agent()), keys(), 0).await.0, StatusCode::OK);
    for (hops, status) in [(1, StatusCode::OK), (3, StatusCode::OK), (4, StatusCode::UNAUTHORIZED)] {
        let client_id = format!("{HOST}/hop-{hops}");
        assert_eq!(answered(&client_id, metadata(&client_id), keys(), hops).await.0, status, "{hops} redirects");
    }
}

#[tokio::test(start_paused = true)]
async fn bad_documents_are_refused() {
    let refused = (StatusCode::UNAUTHORIZED, "invalid_client".to_owned());
    let with = |member: &str, value: Value| {
        let mut document = metadata(&agent());
        document[member] = value;
        document
    };
    let mut private = operator_jwk(1);
    private["d"] = "AA".into();
    let cases = [
        ("another client_id", with("client_id", format!("{HOST}/other.json").into()), keys()),
        ("keys elsewhere", with("jwks_uri", "https://agent-1.example/jwks.json".into()), keys()),
        ("keys over plain HTTP", with("jwks_uri", "http://other-1.example/jwks.json".into()), keys()),
        ("a redirect URI elsewhere", with("redirect_uris", json!(["https://agent-1.example/cb"])), keys()),
        ("too long", with("pad", "x".repeat(200_000).into()), keys()),
        ("no document", json!([1]), keys()),
        ("no keys", metadata(&agent()), json!({})),
        ("a private key", metadata(&agent()), json!({ "keys": [operator_jwk(1), private] })),
        ("another key", metadata(&agent()), json!({ "keys": [operator_jwk(2)] })),
    ];
    for (what, metadata, keys) in cases {
        assert_eq!(answered(&agent(), metadata, keys, 0).await, refused, "{what}");
    }
    let plain = format!("{HOST}/plain");
    assert_eq!(answered(&plain, metadata(&plain), keys(), 0).await, refused, "a redirect away from HTTPS");
    let missing = format!("{HOST}/nothing");
    assert_eq!(answered(&missing, metadata(&missing), keys(), 0).await, refused);
}
