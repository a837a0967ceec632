//! Discovery, Sessions, tokens and proofs.

use super::*;

fn sessions(run: &Run) -> Vec<crate::history::record::Session> {
    let events = run.events().into_iter();
    events.filter_map(|event| if let Event::Session(session) = event { Some(session) } else { None }).collect()
}

#[tokio::test(start_paused = true)]
async fn journeys_side_by_side_share_documents_and_session() {
    let run = run().await;
    let one = Person::new(&run.shared, 1);
    let other = Person::new(&run.shared, 3);
    let steps = ordinary();
    let (a, b, c) = tokio::join!(
        run.journey_of(&one, &steps, 1),
        run.journey_of(&one, &steps, 2),
        run.journey_of(&other, &steps, 1)
    );
    assert_eq!([a, b, c], [JourneyEnd::CompletedSucceeded; 3]);
    assert_eq!(run.calls(Purpose::Discover).len(), 3);
    assert_eq!(run.calls(Purpose::Token).len(), 2);
    let mut sessions = sessions(&run);
    assert_eq!(sessions.len(), 2);
    sessions.sort_by_key(|session| session.user.clone());
    assert_eq!((sessions[0].user.as_str(), sessions[0].operator.as_str()), ("u1", "agent-1"));
    assert_eq!(sessions[0].extensions, ["operations"]);
    assert_eq!(sessions[0].company, "shop-1");
}

#[tokio::test(start_paused = true)]
async fn who_a_user_is_differs_from_company_to_company_and_stays() {
    let run = run().await;
    let (one, other) = (Person::new(&run.shared, 1), Person::new(&run.shared, 3));
    let home = one.home(0).unwrap();
    assert!(Arc::ptr_eq(&home, &one.home(0).unwrap()));
    let ids = [home.user_id.clone(), other.home(0).unwrap().user_id.clone(), one.home(1).unwrap().user_id.clone()];
    assert!(ids[0] != ids[1] && ids[0] != ids[2]);
    assert!(ids.iter().all(|id| id.starts_with("usr_") && crate::identity::assertions::is_user_id(id)));
    let thumbprint =
        |person: &Person, company| person.home(company).unwrap().proofs.key().public().thumbprint().to_owned();
    assert_ne!(thumbprint(&one, 0), thumbprint(&one, 1));
    assert_ne!(thumbprint(&one, 0), thumbprint(&other, 0));
}

#[tokio::test(start_paused = true)]
async fn a_nonce_is_answered_once_with_a_fresh_proof_and_fresh_assertions() {
    let run = run().await;
    *super::super::person::lock(&run.fake.nonce) = Some("n1");
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::CompletedSucceeded);
    let tokens = run.fake.asked("token");
    assert_eq!(tokens.len(), 2);
    assert_ne!(tokens[0].jti, tokens[1].jti);
    let assertions = |body: &str| {
        let form = crate::protocol::TokenRequest::parse(body.as_bytes()).unwrap();
        [form.assertion.unwrap(), form.client_assertion.unwrap()]
    };
    let (first, second) = (assertions(&tokens[0].body), assertions(&tokens[1].body));
    assert!(first[0] != second[0] && first[1] != second[1]);
    assert_eq!(tokens[1].nonce.as_deref(), Some("n1"));
    assert_eq!(run.outcomes(Purpose::Propose), [Outcome::View], "the nonce is known by then");
}

#[tokio::test(start_paused = true)]
async fn a_new_nonce_at_an_api_is_answered_once_and_an_old_one_proves_nothing() {
    let run = run().await;
    let person = Person::new(&run.shared, 1);
    run.journey_of(&person, &ordinary(), 1).await;
    for nonce in ["n1", "n2"] {
        *super::super::person::lock(&run.fake.nonce) = Some(nonce);
        run.journey_of(&person, &ordinary(), if nonce == "n1" { 2 } else { 3 }).await;
    }
    use Outcome::{Refused, Unknown, View};
    // With a nonce that is no longer good, the first of two copies may have come in time.
    assert_eq!(run.outcomes(Purpose::Propose), [View, Refused, View, Unknown, View]);
    assert_eq!(run.outcomes(Purpose::Confirm), [View; 3]);
    let mut proofs: Vec<String> = run.fake.asked("propose").into_iter().map(|asked| asked.jti).collect();
    proofs.dedup();
    assert_eq!(proofs.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_refused_token_is_renewed_in_the_same_session() {
    let run = run().await;
    let person = Person::new(&run.shared, 1);
    run.journey_of(&person, &ordinary(), 1).await;
    run.fake.forget_tokens();
    assert_eq!(run.journey_of(&person, &ordinary(), 2).await, JourneyEnd::CompletedSucceeded);
    let tokens = run.fake.asked("token");
    assert!(tokens[1].body.contains("session_id=ses_1"));
    assert_eq!(sessions(&run).len(), 1);
    let refused = &run.calls(Purpose::Propose)[1].1;
    assert_eq!((refused.outcome, refused.why.as_deref()), (Outcome::Refused, Some("invalid_token")));
}

#[tokio::test(start_paused = true)]
async fn a_token_is_renewed_before_it_ends() {
    let mut fake = Fake::new("shop-1.example");
    fake.token_seconds = 10;
    let run = run_with(fake, swarm()).await;
    let wait = JourneyStep::Wait { time: Distribution::Constant(Duration::from_millis(9_500)) };
    let steps = [propose(), JourneyStep::AskUser(approves()), wait, confirm(), JourneyStep::Track];
    assert_eq!(run.journey(1, &steps).await, JourneyEnd::CompletedSucceeded);
    assert_eq!(run.outcomes(Purpose::Token), [Outcome::Done; 2]);
    assert_eq!(run.outcomes(Purpose::Confirm), [Outcome::View]);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_gone_is_followed_by_a_new_one() {
    let run = run().await;
    let person = Person::new(&run.shared, 1);
    run.journey_of(&person, &ordinary(), 1).await;
    run.fake.forget_tokens();
    run.fake.say("token", [Say::Only(400, None, r#"{"error":"invalid_session"}"#)]);
    assert_eq!(run.journey_of(&person, &ordinary(), 2).await, JourneyEnd::CompletedSucceeded);
    assert_eq!(sessions(&run).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_token_of_its_own_is_asked_for_an_endpoint_with_a_resource() {
    let mut fake = Fake::new("shop-1.example");
    fake.resource = Some("https://shop-1.example/ops");
    let run = run_with(fake, swarm()).await;
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::CompletedSucceeded);
    let tokens = run.fake.asked("token");
    assert!(!tokens[0].body.contains("resource=") && tokens[1].body.contains("resource="));
    assert!(tokens[1].body.contains("session_id=ses_1"));
    assert!(tokens.iter().all(|token| token.body.contains("scope=shop%3Awrite")));
    assert_eq!(sessions(&run).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn token_requests_are_tried_again_and_in_the_end_given_up() {
    let run = run().await;
    let person = Person::new(&run.shared, 1);
    run.fake.say("token", [Say::Only(503, Some(5), ""), Say::Ignored, Say::Instead(200, "{}")]);
    assert_eq!(run.journey_of(&person, &ordinary(), 1).await, JourneyEnd::CompletedSucceeded);
    assert!(run.fake.asked("token")[1].at.since(run.fake.asked("token")[0].at) >= Duration::from_secs(5));
    assert_eq!(run.outcomes(Purpose::Token), [Outcome::Unknown, Outcome::Unknown, Outcome::Unknown, Outcome::Done]);
    let stranger = Person::new(&run.shared, 3);
    run.fake.say("token", vec![Say::Only(401, None, r#"{"error":"invalid_client"}"#); 20]);
    assert_eq!(run.journey_of(&stranger, &ordinary(), 1).await, JourneyEnd::Refused);
}

#[tokio::test(start_paused = true)]
async fn documents_are_tried_for_again_and_bad_ones_never_used() {
    let run = run().await;
    run.fake.say("document", [Say::Only(503, None, ""), Say::Ignored]);
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::CompletedSucceeded);
    assert_eq!(run.calls(Purpose::Discover).len(), 5);

    let bad = super::run().await;
    let twice =
        r#"{"protocol_version":"0.2","protocol_version":"0.2","organization":{"name":"S","domain":"shop-1.example"}}"#;
    bad.fake.say("document", [Say::Only(200, None, twice)]);
    assert_eq!(bad.journey(1, &ordinary()).await, JourneyEnd::NotDiscovered);
    assert_eq!(bad.journey(3, &ordinary()).await, JourneyEnd::NotDiscovered);
    assert_eq!(bad.calls(Purpose::Discover).len(), 1, "no fetch mends it");
}

#[tokio::test(start_paused = true)]
async fn operators_serve_what_their_agents_use() {
    use axum::body::{Body, to_bytes};
    use tower::ServiceExt as _;
    let run = run().await;
    let get = async |number: u32, path: &str| {
        let world = run.field.world(Party::new(PartyKind::Operator, "agent-1"));
        let router = super::super::operator::router(world, Arc::new(swarm()), number);
        let request = http::Request::get(path).body(Body::empty()).unwrap();
        to_bytes(router.oneshot(request).await.unwrap().into_body(), 1 << 16).await.unwrap()
    };
    let metadata: crate::protocol::ClientMetadata = serde_json::from_slice(&get(1, "/agent.json").await).unwrap();
    assert_eq!(metadata.client_id, "https://agent-1.example/agent.json");
    assert_eq!(metadata.jwks_uri, "https://agent-1.example/jwks.json");
    assert!(metadata.lists_operations("1"));
    let other: crate::protocol::ClientMetadata = serde_json::from_slice(&get(2, "/agent.json").await).unwrap();
    assert!(other.extensions.is_empty());
    let keys: crate::protocol::JwkSet = serde_json::from_slice(&get(1, "/jwks.json").await).unwrap();
    let person = Person::new(&run.shared, 1);
    let assertion = person.operator.assertions.client("https://shop-1.example", 1_800_000_000, 60, "j").unwrap();
    let jws = crate::identity::CompactJws::parse(&assertion).unwrap();
    let key =
        crate::identity::PublicKey::from_jwk(keys.find("k1").unwrap(), crate::identity::Signatures::Real).unwrap();
    assert_eq!(jws.verify(&key), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_user_is_somebody_new_to_a_target_in_each_run_and_the_same_to_a_simulated_company() {
    let user_id = |run: &Run| Person::new(&run.shared, 1).home(0).unwrap().user_id.clone();
    let (first, mut second) = (run().await, run().await);
    assert_eq!(user_id(&first), user_id(&second));
    Arc::get_mut(&mut second.shared).unwrap().run_mark = 1;
    assert_ne!(user_id(&first), user_id(&second));
}
