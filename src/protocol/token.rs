//! The token endpoint's shapes: the request form and the answer (digest 3.2, 3.5).

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits;

/// `grant_type` of a token request with a Session assertion (RFC 7523).
pub const GRANT_JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// `grant_type` of a poll for a sign-in on another device (RFC 8628).
pub const GRANT_DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// `grant_type` of a request with an Account Token (RFC 6749 section 6).
pub const GRANT_REFRESH_TOKEN: &str = "refresh_token";
/// `client_assertion_type` of a client assertion (RFC 7523).
pub const CLIENT_ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// `token_type` of a Session Token bound to a key.
pub const TOKEN_TYPE_DPOP: &str = "DPoP";
/// `Content-Type` of a token request.
pub const FORM_CONTENT_TYPE: &str = "application/x-www-form-urlencoded";

/// The fields of a token request, and of requests to the revocation and device authorization endpoints, where the Agent
/// authenticates the same way. All are optional as a shape: which are missing decides the error that is answered.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TokenRequest {
    /// Which grant: [`GRANT_JWT_BEARER`] starts and renews Sessions, [`GRANT_DEVICE_CODE`] and [`GRANT_REFRESH_TOKEN`]
    /// sign them in.
    pub grant_type: Option<String>,
    /// The Session assertion.
    pub assertion: Option<String>,
    /// Who asks.
    pub client_id: Option<String>,
    /// [`CLIENT_ASSERTION_TYPE`].
    pub client_assertion_type: Option<String>,
    /// The client assertion.
    pub client_assertion: Option<String>,
    /// The Session to renew.
    pub session_id: Option<String>,
    /// The service that the token is for (RFC 8707).
    pub resource: Option<String>,
    /// The scopes asked for.
    pub scope: Option<String>,
    /// The code of a sign-in that a poll asks after.
    pub device_code: Option<String>,
    /// The Account Token.
    pub refresh_token: Option<String>,
    /// What is to be revoked (RFC 7009).
    pub token: Option<String>,
}

/// Assertions, codes and tokens are credentials: not shown.
impl fmt::Debug for TokenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenRequest")
            .field("grant_type", &self.grant_type)
            .field("client_id", &self.client_id)
            .field("session_id", &self.session_id)
            .field("resource", &self.resource)
            .field("scope", &self.scope)
            .field("assertion", &self.assertion.is_some())
            .field("client_assertion", &self.client_assertion.is_some())
            .finish_non_exhaustive()
    }
}

/// Why a token request's body is refused: 400 `invalid_request`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    /// Longer than [`limits::BODY_BYTES_MAX`].
    #[error("form of {0} bytes")]
    TooLong(usize),
    /// A field came twice (RFC 6749 section 3.2).
    #[error("field `{0}` stands twice")]
    Twice(&'static str),
}

impl TokenRequest {
    /// Reads a form body. Unknown fields are ignored; an empty value counts as absent (RFC 6749 section 3.2).
    ///
    /// # Errors
    /// [`FormError`] for a body that is too long or has a known field twice.
    pub fn parse(body: &[u8]) -> Result<Self, FormError> {
        if body.len() > limits::BODY_BYTES_MAX {
            return Err(FormError::TooLong(body.len()));
        }
        let mut request = Self::default();
        for piece in body.split(|byte| *byte == b'&') {
            if let Some((name, value)) = pair(piece) {
                request.set(&name, value)?;
            }
        }
        Ok(request)
    }

    fn set(&mut self, name: &str, value: Cow<'_, str>) -> Result<(), FormError> {
        let Some((name, field)) = self.fields_mut().into_iter().find(|(known, _)| *known == name) else {
            return Ok(());
        };
        if field.is_some() {
            return Err(FormError::Twice(name));
        }
        if !value.is_empty() {
            *field = Some(value.into_owned());
        }
        Ok(())
    }

    /// The form body.
    #[must_use]
    pub fn to_form(&self) -> String {
        let mut form = form_urlencoded::Serializer::new(String::new());
        for (name, value) in self.fields() {
            if let Some(value) = value {
                form.append_pair(name, value);
            }
        }
        form.finish()
    }

    fn fields(&self) -> [(&'static str, Option<&str>); 11] {
        [
            ("grant_type", self.grant_type.as_deref()),
            ("assertion", self.assertion.as_deref()),
            ("client_id", self.client_id.as_deref()),
            ("client_assertion_type", self.client_assertion_type.as_deref()),
            ("client_assertion", self.client_assertion.as_deref()),
            ("session_id", self.session_id.as_deref()),
            ("resource", self.resource.as_deref()),
            ("scope", self.scope.as_deref()),
            ("device_code", self.device_code.as_deref()),
            ("refresh_token", self.refresh_token.as_deref()),
            ("token", self.token.as_deref()),
        ]
    }

    fn fields_mut(&mut self) -> [(&'static str, &mut Option<String>); 11] {
        [
            ("grant_type", &mut self.grant_type),
            ("assertion", &mut self.assertion),
            ("client_id", &mut self.client_id),
            ("client_assertion_type", &mut self.client_assertion_type),
            ("client_assertion", &mut self.client_assertion),
            ("session_id", &mut self.session_id),
            ("resource", &mut self.resource),
            ("scope", &mut self.scope),
            ("device_code", &mut self.device_code),
            ("refresh_token", &mut self.refresh_token),
            ("token", &mut self.token),
        ]
    }
}

/// The field that a piece of a form holds. Assertions are long and have nothing to decode, and are not gone through byte
/// by byte.
fn pair(piece: &[u8]) -> Option<(Cow<'_, str>, Cow<'_, str>)> {
    match std::str::from_utf8(piece) {
        Ok(plain) if memchr::memchr2(b'%', b'+', piece).is_none() => {
            let (name, value) = plain.split_once('=').unwrap_or((plain, ""));
            Some((name.into(), value.into()))
        }
        _ => form_urlencoded::parse(piece).next(),
    }
}

/// A token endpoint's answer.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenResponse {
    /// The Session Token, opaque to the Agent.
    pub access_token: String,
    /// [`TOKEN_TYPE_DPOP`].
    pub token_type: String,
    /// Lifetime in seconds, more than 0.
    pub expires_in: u64,
    /// The scopes granted, space between.
    #[serde(default)]
    pub scope: String,
    /// The Session.
    pub session_id: String,
    /// Whether the Session is signed in.
    #[serde(default)]
    pub signed_in: bool,
    /// The Account Token, after a sign-in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
}

/// Tokens are credentials: not shown.
impl fmt::Debug for TokenResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenResponse")
            .field("token_type", &self.token_type)
            .field("expires_in", &self.expires_in)
            .field("scope", &self.scope)
            .field("session_id", &self.session_id)
            .field("signed_in", &self.signed_in)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> TokenRequest {
        TokenRequest {
            grant_type: Some(GRANT_JWT_BEARER.to_owned()),
            assertion: Some("a.b.c".to_owned()),
            client_id: Some("https://agent.example/agent.json".to_owned()),
            client_assertion_type: Some(CLIENT_ASSERTION_TYPE.to_owned()),
            client_assertion: Some("d.e.f".to_owned()),
            session_id: Some("ses_1".to_owned()),
            resource: Some("https://api.teashop.example/poppy/operations?a=b&c=d".to_owned()),
            scope: Some("shop:read shop:write".to_owned()),
            device_code: Some("dev_1".to_owned()),
            refresh_token: Some("acct_1".to_owned()),
            token: Some("acct_2".to_owned()),
        }
    }

    #[test]
    fn reads_what_it_writes() {
        let form = request().to_form();
        assert!(form.starts_with("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=a.b.c&"));
        assert_eq!(TokenRequest::parse(form.as_bytes()).unwrap(), request());
        assert_eq!(TokenRequest::parse(b"").unwrap(), TokenRequest::default());
    }

    #[test]
    fn unknown_fields_and_empty_values_are_ignored() {
        let read = TokenRequest::parse(b"x=1&x=2&scope=&client_id=a%20b").unwrap();
        assert_eq!(read, TokenRequest { client_id: Some("a b".to_owned()), ..TokenRequest::default() });
    }

    #[test]
    fn a_known_field_stands_once() {
        assert_eq!(TokenRequest::parse(b"scope=a&scope=a"), Err(FormError::Twice("scope")));
        let long = vec![b'a'; limits::BODY_BYTES_MAX + 1];
        assert_eq!(TokenRequest::parse(&long), Err(FormError::TooLong(long.len())));
    }

    proptest::proptest! {
        #[test]
        fn pieces_are_read_as_the_library_reads_forms(body in "[ab=&%20+é]{0,24}", tail: Vec<u8>) {
            let body = [body.as_bytes(), &tail].concat();
            let own: Vec<_> =
                body.split(|byte| *byte == b'&').filter(|piece| !piece.is_empty()).filter_map(pair).collect();
            assert_eq!(own, form_urlencoded::parse(&body).collect::<Vec<_>>());
        }
    }

    #[test]
    fn debug_shows_no_credential() {
        let answer: TokenResponse = serde_json::from_str(
            r#"{"access_token":"sat_x","token_type":"DPoP","expires_in":3600,"scope":"","session_id":"ses_Kx81",
                "signed_in":false,"refresh_token":"acc_y","extra":1}"#,
        )
        .unwrap();
        let shown = format!("{answer:?} {:?}", request());
        for credential in ["sat_x", "acc_y", "a.b.c", "d.e.f", "dev_1", "acct_1", "acct_2"] {
            assert!(!shown.contains(credential), "{shown}");
        }
        let written = serde_json::to_value(&answer).unwrap();
        assert_eq!((&written["access_token"], &written["expires_in"]), (&"sat_x".into(), &3600.into()));
    }
}
