//! An independent JWT crate as the oracle, both ways: its tokens are good here, ours are good there.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use jsonwebtoken as oracle;
use serde_json::{Value, json};

use super::assertions::{AssertionCheck, AssertionKind, AssertionMaker};
use super::dpop::{Bound, ProofCheck, ProofMaker};
use super::jws::CompactJws;
use super::keys::{Algorithm, PublicKey};
use super::nonce::NoncePolicy;
use super::signatures::Signatures;
use super::testing::{guard, key, vectors};
use super::{digest, jwk};
use crate::protocol::SessionMode;

const NOW: i64 = 1_796_040_005;
const URL: &str = "https://api.teashop.example/poppy/operations/op_1/confirm";

/// The key of a small number in the form that the oracle reads.
fn oracle_key(number: u8) -> oracle::EncodingKey {
    let scalar = [number; 32];
    let x_y = key(number).public().jwk().clone();
    let half = |text: Option<String>| digest::from_base64url(&text.unwrap()).unwrap();
    let point = [vec![4], half(x_y.x), half(x_y.y)].concat();
    let pair =
        EcdsaKeyPair::from_private_key_and_public_key(&ECDSA_P256_SHA256_FIXED_SIGNING, &scalar, &point).unwrap();
    oracle::EncodingKey::from_ec_der(pair.to_pkcs8v1().unwrap().as_ref())
}

fn oracle_jwk(key: &PublicKey) -> oracle::jwk::Jwk {
    serde_json::from_value(serde_json::to_value(key.jwk()).unwrap()).unwrap()
}

/// What the oracle says of a token of ours; times are not its subject here.
fn oracle_claims(token: &str, key: &PublicKey) -> Value {
    let mut validation = oracle::Validation::new(oracle::Algorithm::ES256);
    validation.validate_exp = false;
    validation.validate_aud = false;
    validation.required_spec_claims.clear();
    let key = oracle::DecodingKey::from_jwk(&oracle_jwk(key)).unwrap();
    oracle::decode::<Value>(token, &key, &validation).unwrap().claims
}

#[test]
fn thumbprints_agree() {
    for number in 1..20 {
        let key = key(number);
        let theirs = oracle_jwk(key.public()).thumbprint(oracle::jwk::ThumbprintHash::SHA256).unwrap();
        assert_eq!(key.public().thumbprint(), theirs);
    }
    for name in ["agent_key", "user_key"] {
        let vector = &vectors()[name];
        let public =
            PublicKey::from_jwk(&serde_json::from_value(vector["jwk"].clone()).unwrap(), Signatures::Real).unwrap();
        assert_eq!(public.thumbprint(), vector["thumbprint"].as_str().unwrap());
        let scalar = digest::from_base64url_exact(vector["d"].as_str().unwrap()).unwrap();
        assert_eq!(super::SigningKey::from_scalar(&scalar).unwrap().public(), &public);
    }
}

#[test]
fn our_proofs_and_assertions_are_good_there() {
    let ath = digest::ath("sat_example");
    let proof = ProofMaker::new(key(1)).make("POST", URL, NOW, "j1", Some(&ath), Some("n1")).unwrap();
    let expected = json!({ "jti": "j1", "htm": "POST", "htu": URL, "iat": NOW, "ath": ath, "nonce": "n1" });
    assert_eq!(oracle_claims(&proof, key(1).public()), expected);
    let header = oracle::decode_header(&proof).unwrap();
    assert_eq!(header.typ.as_deref(), Some("dpop+jwt"));
    assert_eq!(
        header.jwk.unwrap().thumbprint(oracle::jwk::ThumbprintHash::SHA256).unwrap(),
        key(1).public().thumbprint()
    );

    let maker = AssertionMaker::new(key(2), "k1", "https://agent.example/agent.json");
    let assertion = maker.session("usr_1", "https://id.teashop.example", NOW, 60, "j2").unwrap();
    let claims = oracle_claims(&assertion, key(2).public());
    assert_eq!((&claims["sub"], &claims["exp"]), (&json!("usr_1"), &json!(NOW + 60)));
    assert_eq!(oracle::decode_header(&assertion).unwrap().kid.as_deref(), Some("k1"));
}

#[test]
fn their_proofs_are_good_here() {
    let mut header = oracle::Header::new(oracle::Algorithm::ES256);
    header.typ = Some("dpop+jwt".to_owned());
    header.jwk = Some(oracle_jwk(key(1).public()));
    let ath = digest::ath("sat_example");
    let claims = json!({ "iat": NOW, "htu": URL, "htm": "GET", "jti": "j1", "ath": ath, "other": [1] });
    let proof = oracle::encode(&header, &claims, &oracle_key(1)).unwrap();
    let (guard, key) = (guard(), key(1));
    let check = ProofCheck {
        method: "GET",
        url: URL,
        now: NOW,
        window_seconds: 60,
        bound: Some(Bound { ath: &ath, thumbprint: key.public().thumbprint() }),
        nonce: NoncePolicy::NotRequired,
        signatures: Signatures::Real,
        known: None,
        replay: Some(&guard),
    };
    assert_eq!(check.verify(&proof).unwrap().jti, "j1");
}

#[test]
fn their_assertions_are_good_here() {
    let (client_id, issuer) = ("https://agent.example/agent.json", "https://id.teashop.example");
    let mut header = oracle::Header::new(oracle::Algorithm::ES256);
    header.kid = Some("k1".to_owned());
    let claims = json!({ "iss": client_id, "sub": client_id, "aud": issuer, "iat": NOW, "exp": NOW + 60, "jti": "j" });
    let assertion = oracle::encode(&header, &claims, &oracle_key(1)).unwrap();
    let guard = guard();
    let check = AssertionCheck {
        mode: SessionMode::Dpop02,
        client_id,
        issuer,
        token_endpoint: "https://id.teashop.example/oauth/token",
        now: NOW,
        replay: &guard,
    };
    let verified = check.verify(AssertionKind::Client, &assertion, |kid| {
        assert_eq!(kid, Some("k1"));
        Some(key(1).public().clone())
    });
    assert_eq!(verified.unwrap().subject, client_id);
}

#[test]
fn rs256_verifies() {
    let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let public = pair.public_key();
    let number = |bytes: &[u8]| digest::base64url(bytes);
    let shape = jwk::rsa(
        &number(public.modulus().big_endian_without_leading_zero()),
        &number(public.exponent().big_endian_without_leading_zero()),
    );
    let key = PublicKey::from_jwk(&shape, Signatures::Real).unwrap();
    assert_eq!(key.algorithm(), Algorithm::Rs256);
    let input = format!("{}.{}", number(br#"{"alg":"RS256"}"#), number(b"{}"));
    let mut signature = vec![0; pair.public_modulus_len()];
    pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), input.as_bytes(), &mut signature).unwrap();
    let token = format!("{input}.{}", number(&signature));
    assert!(CompactJws::parse(&token).unwrap().verify(&key).is_ok());
    signature[9] ^= 1;
    let token = format!("{input}.{}", number(&signature));
    assert!(CompactJws::parse(&token).unwrap().verify(&key).is_err());
    let small = jwk::rsa(&number(&[0xff; 128]), "AQAB");
    assert!(PublicKey::from_jwk(&small, Signatures::Real).is_err(), "1024 bits are too few");
}
