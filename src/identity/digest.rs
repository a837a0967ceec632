//! Digests and base64url: the small change of JOSE.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

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
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let hash = sha256(bytes);
    let nibbles = hash.iter().take(4).flat_map(|byte| [byte >> 4, byte & 0xf]);
    nibbles.map(|nibble| char::from(DIGITS[usize::from(nibble)])).collect()
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
