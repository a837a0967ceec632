//! Proofs made by an Agent: the header is encoded once per key, the claims are written by hand.

use serde::Serialize;

use super::known::TYPE;
use super::target::without_query;
use crate::identity::jwk::push_json_string;
use crate::identity::jws::{self, EncodedHeader};
use crate::identity::keys::{Algorithm, KeyError, SigningKey};
use crate::protocol::Jwk;

/// The header of a proof (RFC 9449 section 4.2).
#[derive(Serialize)]
struct Header<'a> {
    alg: &'static str,
    jwk: &'a Jwk,
    typ: &'static str,
}

/// Makes the proofs of one key. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ProofMaker {
    key: SigningKey,
    header: EncodedHeader,
}

impl ProofMaker {
    /// A maker for this key.
    #[must_use]
    pub fn new(key: SigningKey) -> Self {
        let header = Header { alg: Algorithm::Es256.as_str(), jwk: key.public().jwk(), typ: TYPE };
        // Serde fails for what JSON cannot say; texts it can.
        let header = EncodedHeader::new(&header).expect("texts have a form in JSON");
        Self { key, header }
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &SigningKey {
        &self.key
    }

    /// The header that every proof of this key carries.
    #[must_use]
    pub fn header(&self) -> &EncodedHeader {
        &self.header
    }

    /// Makes a proof for a request: `url` as published (query and fragment are cut off), `iat` in Unix seconds, `ath`
    /// exactly when a token is presented, `nonce` when the Company demanded one.
    ///
    /// # Errors
    /// [`KeyError::Signing`] when the library cannot sign.
    pub fn make(
        &self,
        method: &str,
        url: &str,
        iat: i64,
        jti: &str,
        ath: Option<&str>,
        nonce: Option<&str>,
    ) -> Result<String, KeyError> {
        let url = without_query(url);
        let lengths = [method, url, jti, ath.unwrap_or_default(), nonce.unwrap_or_default()].map(str::len);
        let mut claims = String::with_capacity(96 + lengths.iter().sum::<usize>());
        claims.push_str("{\"jti\":");
        push_json_string(&mut claims, jti);
        claims.push_str(",\"htm\":");
        push_json_string(&mut claims, method);
        claims.push_str(",\"htu\":");
        push_json_string(&mut claims, url);
        claims.push_str(",\"iat\":");
        claims.push_str(&iat.to_string());
        for (name, value) in [(",\"ath\":", ath), (",\"nonce\":", nonce)] {
            if let Some(value) = value {
                claims.push_str(name);
                push_json_string(&mut claims, value);
            }
        }
        claims.push('}');
        jws::sign_compact(&self.header, claims.as_bytes(), &self.key)
    }
}
