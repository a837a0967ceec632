//! Each check of an assertion, in both Session modes.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::identity::jws::{self, EncodedHeader};
use crate::identity::keys::PublicKey;
use crate::identity::replay::ReplayGuard;
use crate::identity::signatures::Signatures;
use crate::identity::testing::{guard, key, vectors};
use crate::protocol::SessionMode;

const CLIENT_ID: &str = "https://agent.example/agent.json";
const ISSUER: &str = "https://id.teashop.example";
const TOKEN_ENDPOINT: &str = "https://id.teashop.example/oauth/token";
const NOW: i64 = 1_796_040_005;

fn check(mode: SessionMode, replay: &ReplayGuard) -> AssertionCheck<'_> {
    AssertionCheck { mode, client_id: CLIENT_ID, issuer: ISSUER, token_endpoint: TOKEN_ENDPOINT, now: NOW, replay }
}

/// The verdict on a good client assertion whose header and claims were changed, in draft 0.2.
fn verdict(header: &[(&str, Value)], claims: &[(&str, Value)]) -> Result<VerifiedAssertion, AssertionError> {
    verdict_as(AssertionKind::Client, SessionMode::Dpop02, header, claims)
}

fn verdict_as(
    kind: AssertionKind,
    mode: SessionMode,
    header: &[(&str, Value)],
    claims: &[(&str, Value)],
) -> Result<VerifiedAssertion, AssertionError> {
    let changed = |mut object: Value, changes: &[(&str, Value)]| {
        for (member, value) in changes {
            object[*member] = value.clone();
        }
        object
    };
    let subject = if kind == AssertionKind::Client { CLIENT_ID } else { "usr_1" };
    let header = changed(json!({ "alg": "ES256", "kid": "k1" }), header);
    let claims = changed(
        json!({ "iss": CLIENT_ID, "sub": subject, "aud": ISSUER, "iat": NOW, "exp": NOW + 60, "jti": "j" }),
        claims,
    );
    let text = jws::sign_compact(&EncodedHeader::new(&header).unwrap(), claims.to_string().as_bytes(), &key(1));
    check(mode, &guard()).verify(kind, &text.unwrap(), |kid| (kid == Some("k1")).then(|| key(1).public().clone()))
}

#[test]
fn fixed_vectors_verify() {
    let vectors = vectors();
    let public =
        PublicKey::from_jwk(&serde_json::from_value(vectors["agent_key"]["jwk"].clone()).unwrap(), Signatures::Real)
            .unwrap();
    let guard = guard();
    let check = check(SessionMode::Dpop02, &guard);
    let verify = |kind, name: &str| {
        check.verify(kind, vectors[name].as_str().unwrap(), |kid| (kid == Some("k1")).then(|| public.clone()))
    };
    assert_eq!(verify(AssertionKind::Client, "client_assertion").unwrap().subject, CLIENT_ID);
    assert_eq!(verify(AssertionKind::Session, "session_assertion").unwrap().subject, "usr_9f3kQ2mZr0aB");
    assert_eq!(verify(AssertionKind::Client, "client_assertion").unwrap_err(), AssertionError::Replayed);
    assert_eq!(unverified_issuer(vectors["client_assertion"].as_str().unwrap()).as_deref(), Some(CLIENT_ID));
}

#[test]
fn what_the_maker_makes_is_good_in_both_modes() {
    let maker = AssertionMaker::new(key(1), "k1", CLIENT_ID);
    for mode in [SessionMode::Dpop01, SessionMode::Dpop02] {
        let guard = guard();
        let check = check(mode, &guard);
        let audience = mode.assertion_audience(ISSUER, TOKEN_ENDPOINT);
        let key_of = |_: Option<&str>| Some(key(1).public().clone());
        let client = maker.client(audience, NOW, 60, "j1").unwrap();
        let session = maker.session("usr_1", audience, NOW, 60, "j2").unwrap();
        assert!(check.verify(AssertionKind::Client, &client, key_of).is_ok());
        assert_eq!(check.verify(AssertionKind::Session, &session, key_of).unwrap().subject, "usr_1");
        let same_jti = maker.session("usr_1", audience, NOW, 60, "j1").unwrap();
        let error = check.verify(AssertionKind::Session, &same_jti, key_of).unwrap_err();
        assert_eq!(error, AssertionError::Replayed, "client and Session assertions share their jti");
    }
}

#[test]
fn header_checks() {
    assert!(verdict(&[("typ", json!("JWT"))], &[]).is_ok());
    assert_eq!(verdict(&[("typ", json!("dpop+jwt"))], &[]).unwrap_err(), AssertionError::Type);
    assert_eq!(verdict(&[("crit", json!(["exp"]))], &[]).unwrap_err(), AssertionError::Critical);
    for algorithm in ["none", "HS256", "RS256", "ES384", "es256"] {
        let error = verdict(&[("alg", json!(algorithm))], &[]).unwrap_err();
        assert_eq!(error, AssertionError::AlgorithmNotAllowed, "{algorithm}");
    }
    let unknown = verdict(&[("kid", json!("k".repeat(500)))], &[]).unwrap_err();
    assert_eq!(unknown, AssertionError::UnknownKey { kid: "k".repeat(64) });
    assert_eq!(verdict(&[("alg", json!(7))], &[]).unwrap_err(), AssertionError::Malformed);
    assert!(verdict(&[("jku", json!("https://evil.example/jwks.json"))], &[]).is_ok(), "ignored, not followed");
}

#[test]
fn parties() {
    assert_eq!(verdict(&[], &[("iss", json!("https://other.example/a.json"))]).unwrap_err(), AssertionError::Issuer);
    assert_eq!(verdict(&[], &[("sub", json!("usr_1"))]).unwrap_err(), AssertionError::Subject);
    let session = |subject: Value| verdict_as(AssertionKind::Session, SessionMode::Dpop02, &[], &[("sub", subject)]);
    assert_eq!(session(json!(CLIENT_ID)).unwrap_err(), AssertionError::Subject, "a client assertion is no Session's");
    assert_eq!(session(json!("")).unwrap_err(), AssertionError::Subject);
    assert_eq!(session(json!("u".repeat(257))).unwrap_err(), AssertionError::Subject);
    assert!(session(json!("u".repeat(256))).is_ok());
    assert_eq!(session(json!(1)).unwrap_err(), AssertionError::Malformed);
}

#[test]
fn audience_is_one_string_and_the_modes_own() {
    let aud = |mode, aud: Value| verdict_as(AssertionKind::Client, mode, &[], &[("aud", aud)]);
    for refused in [json!(TOKEN_ENDPOINT), json!([ISSUER]), json!(format!("{ISSUER}/")), json!(null), json!(7)] {
        assert_eq!(aud(SessionMode::Dpop02, refused.clone()).unwrap_err(), AssertionError::Audience, "{refused}");
    }
    assert!(aud(SessionMode::Dpop01, json!(TOKEN_ENDPOINT)).is_ok());
    assert!(aud(SessionMode::Dpop01, json!(ISSUER)).is_ok());
    assert_eq!(aud(SessionMode::Dpop01, json!([TOKEN_ENDPOINT])).unwrap_err(), AssertionError::Audience);
}

#[test]
fn times() {
    let at = |mode, iat: i64, exp: i64| {
        verdict_as(AssertionKind::Client, mode, &[], &[("iat", json!(iat)), ("exp", json!(exp))]).map(|_| ())
    };
    let new = SessionMode::Dpop02;
    assert_eq!(at(new, NOW - 60, NOW - 30), Ok(()), "30 s of skew");
    assert_eq!(at(new, NOW - 60, NOW - 31), Err(AssertionError::Expired));
    assert_eq!(at(new, NOW + 30, NOW + 60), Ok(()));
    assert_eq!(at(new, NOW + 31, NOW + 60), Err(AssertionError::TooNew));
    assert_eq!(at(new, NOW, NOW + 300), Ok(()));
    assert_eq!(at(new, NOW, NOW + 301), Err(AssertionError::Lifetime));
    assert_eq!(at(new, NOW + 1, NOW), Err(AssertionError::Lifetime));
    assert_eq!(at(SessionMode::Dpop01, NOW, NOW + 301), Ok(()));
    assert_eq!(at(new, i64::MIN, i64::MAX), Err(AssertionError::Lifetime));
}

#[test]
fn a_refused_assertion_does_not_use_up_its_jti() {
    let guard = guard();
    let maker = AssertionMaker::new(key(1), "k1", CLIENT_ID);
    let text = maker.client(ISSUER, NOW, 60, "j").unwrap();
    let check = check(SessionMode::Dpop02, &guard);
    let wrong_key = |_: Option<&str>| Some(key(2).public().clone());
    assert_eq!(check.verify(AssertionKind::Client, &text, wrong_key).unwrap_err(), AssertionError::Signature);
    assert!(check.verify(AssertionKind::Client, &text, |_| Some(key(1).public().clone())).is_ok());
    let full = ReplayGuard::with_capacity([0; 16], 0);
    let error = AssertionCheck { replay: &full, ..check }
        .verify(AssertionKind::Client, &text, |_| Some(key(1).public().clone()))
        .unwrap_err();
    assert_eq!(error, AssertionError::ReplayGuardFull);
}

proptest! {
    #[test]
    fn no_bytes_make_verification_panic(
        text in ".{0,80}",
        header in proptest::collection::vec(any::<u8>(), 0..80),
        payload in proptest::collection::vec(any::<u8>(), 0..80),
    ) {
        let guard = guard();
        let check = check(SessionMode::Dpop02, &guard);
        for text in [text, jws::forge(&header, &payload, &[0; 64])] {
            prop_assert!(check.verify(AssertionKind::Client, &text, |_| Some(key(1).public().clone())).is_err());
            let _ = unverified_issuer(&text);
        }
    }
}
