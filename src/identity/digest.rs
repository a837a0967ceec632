//! Digests and base64url: the small change of JOSE.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};
use smol_str::SmolStr;

/// Encodes as base64url without padding (RFC 7515 section 2).
#[must_use]
pub fn base64url(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Appends base64url without padding to a text.
pub fn base64url_onto(bytes: impl AsRef<[u8]>, text: &mut String) {
    URL_SAFE_NO_PAD.encode_string(bytes, text);
}

/// Decodes base64url without padding. Padding, other alphabets and non-zero trailing bits are refused, so that every
/// value has one spelling.
#[must_use]
pub fn from_base64url(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// Decodes base64url into exactly `N` bytes, without a heap allocation.
#[must_use]
pub fn from_base64url_exact<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let written = URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).ok()?;
    (written == N).then_some(bytes)
}

/// SHA-256.
#[must_use]
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest(&SHA256, bytes).as_ref()); // SHA-256 always gives 32 bytes
    hash
}

/// The `ath` of a token: base64url of its SHA-256 (RFC 9449 section 4.2).
#[must_use]
pub fn ath(access_token: &str) -> String {
    base64url(sha256(access_token.as_bytes()))
}

/// Eight hex digits that stand for a credential in histories and logs: the head of its SHA-256. Enough to tell two
/// apart, too little to use or to find the credential.
#[must_use]
pub fn short_hash(bytes: &[u8]) -> String {
    hex(&sha256(bytes)[..4]).collect()
}

/// Sixteen hex digits that stand for the terms of a revision in histories and ledgers: the head of the SHA-256 of its
/// `summary` and `terms`, written as one JSON object without spaces and with the members of every object sorted.
#[must_use]
pub fn terms_digest(summary: &str, terms: Option<&Map<String, Value>>) -> SmolStr {
    let mut text = Vec::with_capacity(512 + summary.len());
    text.extend_from_slice(b"{\"summary\":");
    push_scalar(&mut text, &summary);
    text.extend_from_slice(b",\"terms\":");
    match terms {
        Some(terms) => push_object(&mut text, terms),
        None => text.extend_from_slice(b"null"),
    }
    text.push(b'}');
    hex(&sha256(&text)[..8]).collect()
}

/// Whether two revisions with one summary have one [`terms_digest`], at the price of a look. `false` says nothing: it may
/// be one even so.
#[must_use]
pub fn same_terms(one: Option<&Map<String, Value>>, other: Option<&Map<String, Value>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => same_members(one, other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn same_members(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|((name, value), (other, of))| name == other && same_value(value, of))
}

fn same_value(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => same_members(one, other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same_value(one, other))
        }
        // Zero and minus zero are equal, and written differently.
        (Value::Number(one), Value::Number(other)) if one.is_f64() => {
            other.is_f64() && one.as_f64().map(f64::to_bits) == other.as_f64().map(f64::to_bits)
        }
        _ => one == other,
    }
}

fn push_canonical(text: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Object(members) => push_object(text, members),
        Value::Array(items) => {
            text.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                push_canonical(text, item);
            }
            text.push(b']');
        }
        scalar => push_scalar(text, scalar),
    }
}

/// Sorts by itself where it has to: whether the map does depends on a feature that any crate of the tree may switch on.
fn push_object(text: &mut Vec<u8>, members: &Map<String, Value>) {
    if members.keys().is_sorted() {
        push_members(text, members.iter());
    } else {
        let mut members: Vec<(&String, &Value)> = members.iter().collect();
        members.sort_unstable_by_key(|(name, _)| *name);
        push_members(text, members.into_iter());
    }
}

fn push_members<'a>(text: &mut Vec<u8>, members: impl Iterator<Item = (&'a String, &'a Value)>) {
    text.push(b'{');
    for (index, (name, value)) in members.enumerate() {
        if index > 0 {
            text.push(b',');
        }
        push_scalar(text, name);
        text.push(b':');
        push_canonical(text, value);
    }
    text.push(b'}');
}

fn push_scalar<T: serde::Serialize + ?Sized>(text: &mut Vec<u8>, value: &T) {
    // Strings, numbers, booleans and null have no way to fail, nor has a write into memory.
    let _ = serde_json::to_writer(text, value);
}

fn hex(bytes: &[u8]) -> impl Iterator<Item = char> + '_ {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]).map(|nibble| char::from(DIGITS[usize::from(nibble)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        assert_eq!(ath("sat_vector_0001"), "Q_nYR009XItc66mlRRokFWd4bKUytpR3wDEv5neO6Rw");
        assert_eq!(short_hash(b"abc"), "ba7816bf"); // FIPS 180-2 appendix B.1
        assert_eq!(base64url([0xfb, 0xff]), "-_8");
    }

    #[test]
    fn the_digest_of_terms_depends_on_what_they_say_and_not_on_the_order_of_members() {
        let terms = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap();
        let one = terms(r#"{"price":{"amount":"4.00","currency":"USD"},"items":[1,"a",null]}"#);
        let same = terms(r#"{ "items": [1, "a", null], "price": {"currency":"USD", "amount":"4.00"} }"#);
        let digest = terms_digest("Gift wrap", Some(&one));
        assert_eq!(digest, terms_digest("Gift wrap", Some(&same)));
        // printf '{"summary":"Gift wrap","terms":{"items":[1,"a",null],"price":{"amount":"4.00","currency":"USD"}}}' | sha256sum
        assert_eq!(digest, "54eda40e0c5bde7a");
        let other = terms(r#"{"price":{"amount":"4.01","currency":"USD"},"items":[1,"a",null]}"#);
        assert_ne!(digest, terms_digest("Gift wrap", Some(&other)));
        assert_ne!(digest, terms_digest("Gift wrap.", Some(&one)));
        assert_ne!(terms_digest("", None), terms_digest("", Some(&Map::new())));
    }

    #[test]
    fn terms_are_the_same_only_if_their_digests_are() {
        let terms = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap();
        let texts = [
            "{}",
            r#"{"a":0}"#,
            r#"{"a":0.0}"#,
            r#"{"a":-0.0}"#,
            r#"{"a":"0"}"#,
            r#"{"b":0}"#,
            r#"{"a":0,"b":0}"#,
            r#"{"a":[]}"#,
            r#"{"a":[{}]}"#,
            r#"{"a":[{},null]}"#,
            r#"{"a":{"b":[{"c":-0.0}]}}"#,
            r#"{"a":{"b":[{"c":0.0}]}}"#,
        ];
        let all: Vec<_> = std::iter::once(None).chain(texts.iter().map(|text| Some(terms(text)))).collect();
        for one in &all {
            for other in &all {
                let (one, other) = (one.as_ref(), other.as_ref());
                assert_eq!(
                    same_terms(one, other),
                    terms_digest("", one) == terms_digest("", other),
                    "{one:?} {other:?}"
                );
            }
        }
    }

    #[test]
    fn one_spelling_for_every_value() {
        assert_eq!(from_base64url("-_8").unwrap(), [0xfb, 0xff]);
        for text in ["-_9", "-_8=", "+/8", "-_8\n", "-", "é"] {
            assert_eq!(from_base64url(text), None, "{text}");
        }
        assert_eq!(from_base64url_exact::<2>("-_8"), Some([0xfb, 0xff]));
        assert_eq!(from_base64url_exact::<3>("-_8"), None);
        assert_eq!(from_base64url_exact::<1>("-_8"), None);
        assert_eq!(from_base64url_exact::<0>(""), Some([]));
    }
}
