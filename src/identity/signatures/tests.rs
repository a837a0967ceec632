//! Each kind of signature is good among its own, and nothing to the other.

use super::*;
use crate::identity::{
    AssertionCheck, AssertionError, AssertionKind, AssertionMaker, KeyError, NoncePolicy, ProofCheck, ProofError,
    ProofMaker, PublicKey, SigningKey, jwk, jws, testing::guard,
};
use crate::protocol::{Jwk, SessionMode};

const URL: &str = "https://teashop.example/oauth/token";
const NOW: i64 = 1_796_040_000;
const BOTH: [Signatures; 2] = [Signatures::Real, Signatures::Fast];

fn key(signatures: Signatures, number: u8) -> SigningKey {
    SigningKey::derive(signatures, |_| [number; 32]).unwrap()
}

/// What a token endpoint whose keys are of that kind says to a proof.
fn verdict(signatures: Signatures, proof: &str) -> Result<String, ProofError> {
    let guard = guard();
    let check = ProofCheck {
        method: "POST",
        url: URL,
        now: NOW,
        window_seconds: 60,
        bound: None,
        nonce: NoncePolicy::NotRequired,
        signatures,
        known: None,
        replay: Some(&guard),
    };
    check.verify(proof).map(|verified| verified.key.thumbprint().to_owned())
}

fn proof(key: &SigningKey) -> String {
    ProofMaker::new(key.clone()).make("POST", URL, NOW, "j1", None, None).unwrap()
}

#[test]
fn proofs_are_good_where_the_kind_is_theirs() {
    for signatures in BOTH {
        let key = key(signatures, 1);
        assert_eq!(verdict(signatures, &proof(&key)).unwrap(), key.public().thumbprint());
    }
}

#[test]
fn a_real_verifier_refuses_fast_proofs_and_a_fast_one_real_proofs() {
    let (real, fast) = (proof(&key(Signatures::Real, 1)), proof(&key(Signatures::Fast, 1)));
    assert_eq!(verdict(Signatures::Real, &fast).unwrap_err(), ProofError::Key(KeyError::Invalid));
    assert_eq!(verdict(Signatures::Fast, &real).unwrap_err(), ProofError::Signature);
}

/// Everybody can make a fast signature for any public key, also for a real one: a real verifier takes none.
#[test]
fn a_fast_signature_for_a_real_key_is_good_only_where_the_kind_is_fast() {
    let key = key(Signatures::Real, 1);
    let good = proof(&key);
    let (input, _) = good.rsplit_once('.').unwrap();
    let forged = fast_signature(key.public().thumbprint(), input.as_bytes());
    let forged = format!("{input}.{}", digest::base64url(forged));
    assert_eq!(verdict(Signatures::Real, &forged).unwrap_err(), ProofError::Signature);
    assert!(!key.public().verifies(input.as_bytes(), &fast_signature(key.public().thumbprint(), input.as_bytes())));
    assert!(verdict(Signatures::Fast, &forged).is_ok());
}

/// The key that a gate remembers from the token endpoint is of one kind, whatever the check asks for.
#[test]
fn a_parsed_key_stays_of_its_kind() {
    for signatures in BOTH {
        let (signing, message) = (key(signatures, 3), b"message");
        let read = PublicKey::from_jwk(signing.public().jwk(), signatures).unwrap();
        assert_eq!(&read, signing.public());
        assert!(read.verifies(message, &signing.sign(message).unwrap()));
        assert!(!read.verifies(b"massage", &signing.sign(message).unwrap()));
        assert!(!read.verifies(message, &key(signatures, 4).sign(message).unwrap()));
        assert!(!read.verifies(message, b""));
    }
    let real = key(Signatures::Real, 3);
    let fast = PublicKey::from_jwk(real.public().jwk(), Signatures::Fast).unwrap();
    assert_eq!(fast.thumbprint(), real.public().thumbprint());
    assert_ne!(&fast, real.public());
}

#[test]
fn assertions_are_good_where_the_kind_is_theirs_alone() {
    let (client_id, issuer) = ("https://agent-1.example/agent.json", "https://teashop.example");
    for made in BOTH {
        let key = key(made, 5);
        let assertion = AssertionMaker::new(key.clone(), "k1", client_id).client(issuer, NOW, 60, "j").unwrap();
        for taken in BOTH {
            let guard = guard();
            let check = AssertionCheck {
                mode: SessionMode::Dpop02,
                client_id,
                issuer,
                token_endpoint: URL,
                now: NOW,
                replay: &guard,
            };
            let listed = PublicKey::from_jwk(key.public().jwk(), taken).ok();
            let verdict = check.verify(AssertionKind::Client, &assertion, |_| listed.clone());
            match (made, taken) {
                (Signatures::Real, Signatures::Real) | (Signatures::Fast, Signatures::Fast) => {
                    assert_eq!(verdict.unwrap().subject, client_id);
                }
                (Signatures::Real, Signatures::Fast) => assert_eq!(verdict, Err(AssertionError::Signature)),
                // No point on the curve: a Company passes over the key.
                (Signatures::Fast, Signatures::Real) => {
                    assert_eq!(verdict, Err(AssertionError::UnknownKey { kid: "k1".to_owned() }));
                }
            }
        }
    }
}

#[test]
fn a_fast_key_has_the_shape_of_a_real_one() {
    let (real, fast) = (key(Signatures::Real, 1), key(Signatures::Fast, 1));
    let lengths = |key: &SigningKey| {
        let listed = key.public().jwk_with_kid("k1");
        (listed.kty.clone(), listed.crv.clone(), listed.x.map(|x| x.len()), listed.y.map(|y| y.len()), listed.alg)
    };
    assert_eq!(lengths(&real), lengths(&fast));
    assert_eq!(jwk::thumbprint(fast.public().jwk()).unwrap(), fast.public().thumbprint());
    assert_eq!(proof(&real).len(), proof(&fast).len());
    assert_ne!(fast.public(), key(Signatures::Fast, 2).public());
    assert_eq!(fast.public(), key(Signatures::Fast, 1).public());
}

/// Headers and shapes are checked as ever.
#[test]
fn a_fast_verifier_refuses_keys_of_a_wrong_shape() {
    let good = key(Signatures::Fast, 1).public().jwk().clone();
    let refused = |jwk: &Jwk| PublicKey::from_jwk(jwk, Signatures::Fast).unwrap_err();
    assert_eq!(refused(&Jwk { d: true, ..good.clone() }), KeyError::Private);
    assert_eq!(refused(&Jwk { crv: Some("P-384".to_owned()), ..good.clone() }), KeyError::Shape);
    assert_eq!(refused(&Jwk { y: None, ..good.clone() }), KeyError::Shape);
    assert_eq!(refused(&Jwk { x: Some("AA".to_owned()), ..good.clone() }), KeyError::Shape);
    assert_eq!(refused(&jwk::rsa(&"A".repeat(342), "AQAB")), KeyError::Shape);
    let header = serde_json::json!({ "typ": "JWT", "alg": "ES256", "jwk": good });
    let header = jws::EncodedHeader::new(&header).unwrap();
    let proof = jws::sign_compact(&header, b"{\"jti\":\"j\"}", &key(Signatures::Fast, 1)).unwrap();
    assert!(verdict(Signatures::Fast, &proof).is_err());
}

/// Another value here means that recorded seeds no longer replay.
#[test]
fn a_fast_signature_is_the_same_on_every_machine() {
    let key = key(Signatures::Fast, 7);
    let signature = key.sign(b"message").unwrap();
    assert_eq!(key.public().thumbprint(), "F6gE_kY3O3hCM-uRtFCBPV-hGVxXoKsBSufAy3CSJwU");
    assert_eq!(digest::base64url(&signature[..16]), "ypcmsb8WdCs_i1znNzMrYQ");
    assert!(signature.chunks_exact(16).all(|part| part == &signature[..16]));
}
