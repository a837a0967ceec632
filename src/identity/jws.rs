//! JSON Web Signatures in compact form (RFC 7515): made with a pre-encoded header, taken apart, verified, and forged.

use std::sync::Arc;

use serde::Serialize;

use super::digest;
use super::keys::{KeyError, PublicKey, SigningKey};

/// The longest compact JWS that is looked at, in bytes. Proofs and assertions are a tenth of it.
pub const COMPACT_BYTES_MAX: usize = 8 * 1024;

/// The longest `jti` of a proof or an assertion that is taken, in bytes.
pub(super) const JTI_BYTES_MAX: usize = 256;

/// Why a text is no compact JWS, or not one of this key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JwsError {
    /// Longer than [`COMPACT_BYTES_MAX`].
    #[error("longer than {COMPACT_BYTES_MAX} bytes")]
    TooLong,
    /// Not three segments of base64url with dots between.
    #[error("not three base64url segments")]
    Segments,
    /// The signature does not verify.
    #[error("signature does not verify")]
    Signature,
}

/// A protected header, encoded once for all the tokens that carry it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedHeader(Arc<str>);

impl EncodedHeader {
    /// Encodes a header.
    ///
    /// # Errors
    /// The header cannot be written as JSON.
    pub fn new(header: &impl Serialize) -> Result<Self, serde_json::Error> {
        Ok(Self::from_json(&serde_json::to_string(header)?))
    }

    /// Encodes a header that is JSON already, or is meant not to be.
    #[must_use]
    pub fn from_json(header: &str) -> Self {
        Self(digest::base64url(header).into())
    }

    /// The first segment of the tokens.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Signs a payload in compact form.
///
/// # Errors
/// [`KeyError::Signing`] when the library cannot sign.
pub fn sign_compact(header: &EncodedHeader, payload: &[u8], key: &SigningKey) -> Result<String, KeyError> {
    // 4 characters for 3 bytes, two dots, and 86 characters of signature: one allocation for the whole token.
    let mut text = String::with_capacity(header.0.len() + payload.len().div_ceil(3) * 4 + 88);
    text.push_str(&header.0);
    text.push('.');
    digest::base64url_onto(payload, &mut text);
    let signature = key.sign(text.as_bytes())?;
    text.push('.');
    digest::base64url_onto(signature, &mut text);
    Ok(text)
}

/// Writes any three byte strings in compact form: a token with whatever is wrong with it.
#[must_use]
pub fn forge(header: &[u8], payload: &[u8], signature: &[u8]) -> String {
    [header, payload, signature].map(digest::base64url).join(".")
}

/// A compact JWS, taken apart and not yet believed.
#[derive(Clone, Copy, Debug)]
pub struct CompactJws<'a> {
    signing_input: &'a str,
    header: &'a str,
    payload: &'a str,
    signature: &'a str,
}

impl<'a> CompactJws<'a> {
    /// Takes a text apart. What the segments hold is decoded later.
    ///
    /// # Errors
    /// [`JwsError::TooLong`] and [`JwsError::Segments`].
    pub fn parse(text: &'a str) -> Result<Self, JwsError> {
        if text.len() > COMPACT_BYTES_MAX {
            return Err(JwsError::TooLong);
        }
        let (signing_input, signature) = text.rsplit_once('.').ok_or(JwsError::Segments)?;
        let (header, payload) = signing_input.split_once('.').ok_or(JwsError::Segments)?;
        if payload.contains('.') || header.is_empty() {
            return Err(JwsError::Segments);
        }
        Ok(Self { signing_input, header, payload, signature })
    }

    /// The header segment, encoded as it came.
    #[must_use]
    pub fn header_segment(&self) -> &'a str {
        self.header
    }

    /// The header's bytes, or `None` when the segment is not base64url.
    #[must_use]
    pub fn header_bytes(&self) -> Option<Vec<u8>> {
        digest::from_base64url(self.header)
    }

    /// The payload's bytes, or `None` when the segment is not base64url.
    #[must_use]
    pub fn payload_bytes(&self) -> Option<Vec<u8>> {
        digest::from_base64url(self.payload)
    }

    /// Checks the signature. That the header's `alg` is the key's is the caller's check.
    ///
    /// # Errors
    /// [`JwsError::Signature`].
    pub fn verify(&self, key: &PublicKey) -> Result<(), JwsError> {
        // ES256 signatures are 64 bytes and need no heap; RSA ones are longer.
        let good = match digest::from_base64url_exact::<64>(self.signature) {
            Some(signature) => key.verifies(self.signing_input.as_bytes(), &signature),
            None => digest::from_base64url(self.signature)
                .is_some_and(|signature| key.verifies(self.signing_input.as_bytes(), &signature)),
        };
        if good { Ok(()) } else { Err(JwsError::Signature) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::testing::key;

    #[test]
    fn reads_what_it_signs() {
        let header = EncodedHeader::new(&serde_json::json!({ "alg": "ES256" })).unwrap();
        let text = sign_compact(&header, b"payload", &key(1)).unwrap();
        let jws = CompactJws::parse(&text).unwrap();
        assert_eq!(jws.header_segment(), header.as_str());
        assert_eq!(jws.header_bytes().unwrap(), br#"{"alg":"ES256"}"#);
        assert_eq!(jws.payload_bytes().unwrap(), b"payload");
        assert_eq!(jws.verify(key(1).public()), Ok(()));
        assert_eq!(jws.verify(key(2).public()), Err(JwsError::Signature));
    }

    #[test]
    fn forges_anything() {
        let text = forge(br#"{"alg":"none"}"#, b"\xff", b"");
        let jws = CompactJws::parse(&text).unwrap();
        assert_eq!(jws.payload_bytes().unwrap(), b"\xff");
        assert_eq!(jws.verify(key(1).public()), Err(JwsError::Signature));
    }

    #[test]
    fn takes_three_segments_and_no_more_than_the_bound() {
        for text in ["", "a", "a.b", "a.b.c.d", ".b.c", ".."] {
            assert_eq!(CompactJws::parse(text).unwrap_err(), JwsError::Segments, "{text}");
        }
        let longest = format!("a.b.{}", "c".repeat(COMPACT_BYTES_MAX - 4));
        assert!(CompactJws::parse(&longest).is_ok());
        assert_eq!(CompactJws::parse(&format!("{longest}c")).unwrap_err(), JwsError::TooLong);
        assert_eq!(CompactJws::parse("a+/.b.c").unwrap().header_bytes(), None);
    }
}
