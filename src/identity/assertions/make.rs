//! Assertions made by an Agent.

use serde::Serialize;
use serde_json::json;

use crate::identity::jws::{self, EncodedHeader};
use crate::identity::keys::{Algorithm, KeyError, SigningKey};

/// The claims of an assertion (RFC 7523 section 3).
#[derive(Serialize)]
struct Claims<'a> {
    aud: &'a str,
    exp: i64,
    iat: i64,
    iss: &'a str,
    jti: &'a str,
    sub: &'a str,
}

/// Makes the assertions of one Agent with one of its keys. Cheap to clone.
#[derive(Clone, Debug)]
pub struct AssertionMaker {
    key: SigningKey,
    header: EncodedHeader,
    client_id: String,
}

impl AssertionMaker {
    /// A maker for this `client_id` with a key that its JWKS lists as `kid`.
    #[must_use]
    pub fn new(key: SigningKey, kid: &str, client_id: impl Into<String>) -> Self {
        let header = json!({ "alg": Algorithm::Es256.as_str(), "typ": "JWT", "kid": kid });
        Self { key, header: EncodedHeader::from_json(&header.to_string()), client_id: client_id.into() }
    }

    /// The `client_id` that the assertions speak for.
    #[must_use]
    pub fn client_id(&self) -> &str {
        &self.client_id
    }

    /// A client assertion: good from `iat` for `lifetime_seconds`, for the audience of
    /// [`SessionMode::assertion_audience`].
    ///
    /// # Errors
    /// [`KeyError::Signing`] when the library cannot sign.
    pub fn client(&self, audience: &str, iat: i64, lifetime_seconds: i64, jti: &str) -> Result<String, KeyError> {
        self.session(&self.client_id, audience, iat, lifetime_seconds, jti)
    }

    /// A Session assertion for a User ID.
    ///
    /// # Errors
    /// [`KeyError::Signing`] when the library cannot sign.
    pub fn session(
        &self,
        user_id: &str,
        audience: &str,
        iat: i64,
        lifetime_seconds: i64,
        jti: &str,
    ) -> Result<String, KeyError> {
        let exp = iat.saturating_add(lifetime_seconds);
        let claims = Claims { aud: audience, exp, iat, iss: &self.client_id, jti, sub: user_id };
        // Texts and numbers have no way to fail.
        let claims = serde_json::to_vec(&claims).map_err(|_| KeyError::Signing)?;
        jws::sign_compact(&self.header, &claims, &self.key)
    }
}
