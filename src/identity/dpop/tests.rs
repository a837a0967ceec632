//! The checks P1-P9 one by one, the fixed vectors, and the laws of mutation and of arbitrary bytes.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::identity::digest;
use crate::identity::jws::{EncodedHeader, forge, sign_compact};
use crate::identity::keys::{KeyError, SigningKey};
use crate::identity::nonce::{NonceIssuer, NoncePolicy};
use crate::identity::replay::ReplayGuard;
use crate::identity::signatures::Signatures;
use crate::identity::testing::{guard, key, vectors};
use crate::protocol::ErrorCode;

const URL: &str = "https://api.teashop.example/poppy/operations/op_1/confirm";
const TOKEN: &str = "sat_example";
const NOW: i64 = 1_796_040_005;

/// A resource's check for [`TOKEN`] bound to `thumbprint`.
fn at_resource<'a>(ath: &'a str, thumbprint: &'a str, replay: &'a ReplayGuard) -> ProofCheck<'a> {
    ProofCheck {
        method: "POST",
        url: URL,
        now: NOW,
        window_seconds: 60,
        bound: Some(Bound { ath, thumbprint }),
        nonce: NoncePolicy::NotRequired,
        signatures: Signatures::Real,
        known: None,
        replay: Some(replay),
    }
}

/// The claims of a good proof.
fn claims() -> Value {
    json!({ "jti": "j1", "htm": "POST", "htu": URL, "iat": NOW, "ath": digest::ath(TOKEN) })
}

/// The header of a good proof.
fn header(key: &SigningKey) -> Value {
    json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": key.public().jwk() })
}

fn signed(header: &Value, claims: &Value, key: &SigningKey) -> String {
    sign_compact(&EncodedHeader::new(header).unwrap(), claims.to_string().as_bytes(), key).unwrap()
}

/// Checks a proof with these claims and this header at a resource.
fn verdict_on(header: &Value, claims: &Value) -> Result<VerifiedProof, ProofError> {
    verdict_on_text(&signed(header, claims, &key(1)))
}

fn verdict_on_text(proof: &str) -> Result<VerifiedProof, ProofError> {
    at_resource(&digest::ath(TOKEN), key(1).public().thumbprint(), &guard()).verify(proof)
}

/// The good claims with one member set, or taken out by `null`.
fn with(member: &str, value: Value) -> Value {
    let mut claims = claims();
    let object = claims.as_object_mut().unwrap();
    if value.is_null() {
        object.remove(member)
    } else {
        object.insert(member.to_owned(), value)
    };
    claims
}

fn header_with(member: &str, value: Value) -> Value {
    let mut header = header(&key(1));
    let object = header.as_object_mut().unwrap();
    if value.is_null() {
        object.remove(member)
    } else {
        object.insert(member.to_owned(), value)
    };
    header
}

fn assert_fails(verdict: &Result<VerifiedProof, ProofError>, check: Check) {
    match verdict {
        Ok(_) => panic!("passed {check}"),
        Err(error) => assert_eq!(error.check(), check, "{error}"),
    }
}

#[test]
fn fixed_vectors_verify() {
    let vectors = vectors();
    let text = |name: &str| vectors[name].as_str().unwrap().to_owned();
    let (guard, thumbprint) = (guard(), vectors["user_key"]["thumbprint"].as_str().unwrap());
    let now = vectors["now"].as_i64().unwrap();
    let confirm = ProofCheck { now, ..at_resource("", thumbprint, &guard) };
    let ath = digest::ath(&text("access_token"));
    assert_eq!(ath, text("ath"));
    let confirm = ProofCheck { bound: Some(Bound { ath: &ath, thumbprint }), ..confirm };
    let verified = confirm.verify(&text("dpop_confirm")).unwrap();
    assert_eq!(verified.key.thumbprint(), thumbprint);
    assert_eq!((verified.jti.as_str(), verified.iat), ("OUbKZP942TymEJCkN8u2sw", 1_796_040_000));
    let token = ProofCheck { url: "https://id.teashop.example/oauth/token", bound: None, ..confirm };
    token.verify(&text("dpop_token_endpoint")).unwrap();
    assert_eq!(token.verify(&text("dpop_token_endpoint")).unwrap_err(), ProofError::Replayed);
}

#[test]
fn what_the_maker_makes_is_good_with_and_without_a_known_key() {
    let maker = ProofMaker::new(key(1));
    let (guard, ath, nonces, key1) = (guard(), digest::ath(TOKEN), NonceIssuer::new(&[3; 32], 300), key(1));
    let check = at_resource(&ath, key1.public().thumbprint(), &guard);
    let check = ProofCheck { nonce: NoncePolicy::Required(&nonces), ..check };
    let make = |jti: &str| {
        let url = format!("{URL}?wait=3#top");
        maker.make("POST", &url, NOW, jti, Some(&ath), Some(&nonces.issue(NOW))).unwrap()
    };
    let first = check.verify(&make("a \"quoted\" \\ jti é")).unwrap();
    assert_eq!(first.jti, "a \"quoted\" \\ jti é");
    let known = ProofCheck { known: Some(&first.key), ..check };
    let second = known.verify(&make("second")).unwrap();
    assert_eq!(second.key.key(), first.key.key());
    // A known key is no more than a short cut: another key's proof is read in full, and refused for its own reason.
    let foreign = ProofMaker::new(key(2)).make("POST", URL, NOW, "third", Some(&ath), Some(&nonces.issue(NOW)));
    assert_eq!(known.verify(&foreign.unwrap()).unwrap_err(), ProofError::Thumbprint);
}

#[test]
fn p1_exactly_one_header_with_one_compact_jwt() {
    assert_eq!(only_proof([]), Err(ProofError::Missing));
    assert_eq!(only_proof([b"a.b.c".as_slice(), b"a.b.c"]), Err(ProofError::Several));
    assert_eq!(only_proof(["é.b.c".as_bytes()]), Err(ProofError::NotCompact));
    assert_eq!(only_proof([b"\xff".as_slice()]), Err(ProofError::NotCompact));
    assert_eq!(only_proof([b" a.b.c ".as_slice()]), Ok("a.b.c"));
    let good = signed(&header(&key(1)), &claims(), &key(1));
    let huge = format!("{good}{}", "A".repeat(1_000_000));
    let joined = format!("{good}, {good}");
    let without_signature = good.rsplit_once('.').unwrap().0;
    let array_claims = forge(header(&key(1)).to_string().as_bytes(), b"[\"j\",\"POST\",\"u\",1]", &[0; 64]);
    let array_header = forge(b"[\"dpop+jwt\",\"ES256\"]", claims().to_string().as_bytes(), &[0; 64]);
    for proof in ["", ".", "..", "...", "a.b", "a.b.c.d", "{}", &huge, &joined, without_signature, &array_claims] {
        assert_fails(&verdict_on_text(proof), Check::P1);
    }
    assert_fails(&verdict_on_text(&array_header), Check::P1);
    for (member, value) in [
        ("jti", Value::Null),
        ("jti", json!(7)),
        ("jti", json!("")),
        ("jti", json!("j".repeat(257))),
        ("htm", Value::Null),
        ("htu", json!([URL])),
        ("iat", Value::Null),
        ("iat", json!("1796040005")),
        ("iat", json!(1e300)),
        ("ath", json!(1)),
    ] {
        assert_fails(&verdict_on(&header(&key(1)), &with(member, value)), Check::P1);
    }
    let twice = claims().to_string().replace("{", "{\"jti\":\"other\",");
    let twice = sign_compact(&EncodedHeader::new(&header(&key(1))).unwrap(), twice.as_bytes(), &key(1)).unwrap();
    assert_fails(&verdict_on_text(&twice), Check::P1);
}

#[test]
fn p2_type_algorithm_and_public_key() {
    let jwk = serde_json::to_value(key(1).public().jwk()).unwrap();
    let changed = |member: &str, value: Value| {
        let mut jwk = jwk.clone();
        jwk[member] = value;
        jwk
    };
    for (member, value) in [
        ("typ", Value::Null),
        ("typ", json!("JWT")),
        ("typ", json!("DPoP+JWT")),
        ("alg", Value::Null),
        ("alg", json!("none")),
        ("alg", json!("HS256")),
        ("alg", json!("RS256")),
        ("crit", json!(["b64"])),
        ("jwk", Value::Null),
        ("jwk", json!({ "kty": "oct", "k": "AA" })),
        ("jwk", changed("d", json!("AAAA"))),
        ("jwk", changed("d", json!(null))),
        ("jwk", changed("k", json!("AAAA"))),
        ("jwk", changed("crv", json!("P-384"))),
        ("jwk", changed("crv", json!("secp256k1"))),
        ("jwk", changed("x", json!("AA"))),
        ("jwk", changed("x", json!(digest::base64url([1; 32])))),
        ("jwk", changed("y", json!(digest::base64url([0; 32])))),
    ] {
        assert_fails(&verdict_on(&header_with(member, value.clone()), &claims()), Check::P2);
    }
    let private = header_with("jwk", changed("d", json!("AAAA")));
    assert_eq!(verdict_on(&private, &claims()).unwrap_err(), ProofError::Key(KeyError::Private));
    assert!(verdict_on(&header_with("jwk", changed("kid", json!("k1"))), &claims()).is_ok());
}

#[test]
fn p3_signature_with_that_key() {
    assert_fails(&verdict_on_text(&signed(&header(&key(1)), &claims(), &key(2))), Check::P3);
    let (head, body) = (header(&key(1)).to_string(), claims().to_string());
    for signature in [&[][..], &[0; 64], &[0xff; 64], &[0; 63], &[7; 512]] {
        assert_fails(&verdict_on_text(&forge(head.as_bytes(), body.as_bytes(), signature)), Check::P3);
    }
    // DER instead of r and s: the right signature in the wrong form.
    let good = signed(&header(&key(1)), &claims(), &key(1));
    let (input, signature) = good.rsplit_once('.').unwrap();
    let raw = digest::from_base64url(signature).unwrap();
    let integer = |half: &[u8]| [&[2, 33, 0], half].concat();
    let der = [&[0x30, 70][..], &integer(&raw[..32]), &integer(&raw[32..])].concat();
    assert_fails(&verdict_on_text(&format!("{input}.{}", digest::base64url(der))), Check::P3);
}

#[test]
fn p4_method_and_target() {
    for method in ["GET", "post", ""] {
        assert_fails(&verdict_on(&header(&key(1)), &with("htm", json!(method))), Check::P4);
    }
    for url in [
        "",
        "https://evil.example/poppy/operations/op_1/confirm",
        "http://127.0.0.1:4000/poppy/operations/op_1/confirm",
    ] {
        assert_fails(&verdict_on(&header(&key(1)), &with("htu", json!(url))), Check::P4);
    }
    let in_other_words = format!("{}?x=1", URL.replace("api.teashop", "API.Teashop"));
    assert!(verdict_on(&header(&key(1)), &with("htu", json!(in_other_words))).is_ok());
}

#[test]
fn p5_made_within_the_window() {
    let at = |iat: Value| verdict_on(&header(&key(1)), &with("iat", iat));
    for seconds in [-60, 0, 60] {
        assert!(at(json!(NOW + seconds)).is_ok(), "{seconds}");
    }
    assert!(at(json!(NOW as f64 - 0.5)).is_ok(), "a fraction is cut off");
    assert_eq!(at(json!(NOW - 61)).unwrap_err(), ProofError::TooOld);
    assert_eq!(at(json!(NOW + 61)).unwrap_err(), ProofError::TooNew);
    for iat in [i64::MIN, -1, 0, i64::MAX] {
        assert_fails(&at(json!(iat)), Check::P5);
    }
}

#[test]
fn p6_ath_goes_with_a_token_and_only_with_one() {
    let verdict = |ath: Value| verdict_on(&header(&key(1)), &with("ath", ath)).unwrap_err();
    assert_eq!(verdict(Value::Null), ProofError::AthMissing);
    assert_eq!(verdict(json!(digest::ath("sat_other"))), ProofError::Ath);
    assert_eq!(verdict(json!("")), ProofError::Ath);
    let guard = guard();
    let token_endpoint = ProofCheck { bound: None, ..at_resource("", "", &guard) };
    let proof = signed(&header(&key(1)), &claims(), &key(1));
    assert_eq!(token_endpoint.verify(&proof).unwrap_err(), ProofError::AthUnexpected);
    let proof = signed(&header(&key(1)), &with("ath", Value::Null), &key(1));
    assert!(token_endpoint.verify(&proof).is_ok());
}

#[test]
fn p7_the_key_is_the_tokens() {
    let proof = signed(&header(&key(2)), &claims(), &key(2));
    assert_eq!(verdict_on_text(&proof).unwrap_err(), ProofError::Thumbprint);
}

#[test]
fn p8_a_nonce_when_one_is_required() {
    let (guard, ath, nonces) = (guard(), digest::ath(TOKEN), NonceIssuer::new(&[3; 32], 300));
    let key = key(1);
    let check =
        ProofCheck { nonce: NoncePolicy::Required(&nonces), ..at_resource(&ath, key.public().thumbprint(), &guard) };
    let verdict = |nonce: Value| check.verify(&signed(&header(&key), &with("nonce", nonce), &key));
    assert_eq!(verdict(Value::Null).unwrap_err(), ProofError::NonceMissing);
    assert_eq!(verdict(json!("guess")).unwrap_err(), ProofError::Nonce);
    assert_eq!(verdict(json!(nonces.issue(NOW - 900))).unwrap_err(), ProofError::Nonce);
    assert!(verdict(json!(nonces.issue(NOW))).is_ok(), "the refused ones have not used up the jti");
    assert_eq!(ProofError::Nonce.code(), ErrorCode::UseDpopNonce);
    assert_eq!(ProofError::Thumbprint.code(), ErrorCode::InvalidDpopProof);
    assert!(verdict_on(&header(&self::key(1)), &with("nonce", json!("not looked at"))).is_ok());
}

#[test]
fn p9_a_jti_is_accepted_once_per_key() {
    let (guard, ath) = (guard(), digest::ath(TOKEN));
    let (key1, key2) = (key(1), key(2));
    let check = at_resource(&ath, key1.public().thumbprint(), &guard);
    let proof = signed(&header(&key1), &claims(), &key1);
    assert!(check.verify(&proof).is_ok());
    assert_eq!(check.verify(&proof).unwrap_err(), ProofError::Replayed);
    let again = signed(&header(&key1), &with("iat", json!(NOW - 9)), &key1);
    assert_eq!(check.verify(&again).unwrap_err(), ProofError::Replayed, "the same jti in another proof");
    let late = ProofCheck { now: NOW + 60, ..check };
    assert_eq!(late.verify(&proof).unwrap_err(), ProofError::Replayed, "at the last second of the window");
    let other = at_resource(&ath, key2.public().thumbprint(), &guard);
    assert!(other.verify(&signed(&header(&key2), &claims(), &key2)).is_ok(), "another key's jti is another");
    let lax = ProofCheck { replay: None, ..check };
    assert!(lax.verify(&proof).is_ok());
    let full = ReplayGuard::with_capacity([0; 16], 0);
    let full = ProofCheck { replay: Some(&full), ..check };
    assert_eq!(full.verify(&proof).unwrap_err(), ProofError::ReplayGuardFull);
}

/// Every byte of a good proof, changed to every value of a list: none may pass, whether the key is known or not.
#[test]
fn no_single_byte_may_change() {
    let proof = signed(&header(&key(1)), &claims(), &key(1));
    let (ath, key) = (digest::ath(TOKEN), key(1));
    let known = verdict_on_text(&proof).unwrap().key;
    for index in 0..proof.len() {
        for byte in [b'A', b'B', b'_', b'.', b'='] {
            let mut mutated = proof.clone().into_bytes();
            if mutated[index] == byte {
                continue;
            }
            mutated[index] = byte;
            let mutated = String::from_utf8(mutated).unwrap();
            let guard = guard();
            let check = at_resource(&ath, key.public().thumbprint(), &guard);
            let check = if byte == b'A' { ProofCheck { known: Some(&known), ..check } } else { check };
            assert!(check.verify(&mutated).is_err(), "byte {index} as {}", char::from(byte));
        }
    }
}

proptest! {
    #[test]
    fn mutated_proofs_are_refused(index in any::<proptest::sample::Index>(), byte in 0x20_u8..0x7f, insert: bool) {
        let mut proof = signed(&header(&key(1)), &claims(), &key(1)).into_bytes();
        let index = index.index(proof.len());
        if insert {
            proof.insert(index, byte);
        } else {
            prop_assume!(proof[index] != byte);
            proof[index] = byte;
        }
        let proof = String::from_utf8(proof).unwrap();
        prop_assert!(verdict_on_text(&proof).is_err());
    }

    #[test]
    fn no_bytes_make_verification_panic(
        text in ".{0,80}",
        header in proptest::collection::vec(any::<u8>(), 0..80),
        payload in proptest::collection::vec(any::<u8>(), 0..80),
        signature in proptest::collection::vec(any::<u8>(), 0..80),
    ) {
        prop_assert!(verdict_on_text(&text).is_err());
        prop_assert!(verdict_on_text(&forge(&header, &payload, &signature)).is_err());
        let good_header = self::header(&key(1)).to_string();
        prop_assert!(verdict_on_text(&forge(good_header.as_bytes(), &payload, &signature)).is_err());
        let _ = only_proof([payload.as_slice()]);
        let _ = same_target(&text, URL);
    }
}
