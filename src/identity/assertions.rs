//! Client and Session assertions (digest 3.1, 3.2; RFC 7523): made by Agents, verified by Companies.
//!
//! The two differ in `sub` alone: a client assertion speaks for the Agent (`sub` is the `client_id`), a Session
//! assertion for one User at one Company (`sub` is the User ID). Their `jti` share one replay scope per `client_id`.

use serde::{Deserialize, Deserializer};
use serde_json::json;

use super::dpop::claims::numeric_date;
use super::jws::{self, CompactJws, EncodedHeader};
use super::keys::{Algorithm, KeyError, PublicKey, SigningKey};
use super::replay::{ReplayGuard, ReplayVerdict};
use crate::limits;
use crate::protocol::{ErrorCode, SessionMode};

/// The longest `jti` that is taken, in bytes.
const JTI_BYTES_MAX: usize = 256;

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
        let claims = json!({
            "iss": self.client_id, "sub": user_id, "aud": audience,
            "iat": iat, "exp": iat.saturating_add(lifetime_seconds), "jti": jti,
        });
        jws::sign_compact(&self.header, claims.to_string().as_bytes(), &self.key)
    }
}

/// Which of the two an assertion has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssertionKind {
    /// Authenticates the Agent.
    Client,
    /// Names the User.
    Session,
}

/// Why an assertion is refused. None of them carries a part of the assertion but its `kid`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssertionError {
    /// Not a compact JWT, or its header or claims are not JSON of the right types.
    #[error("not a JWT with the claims of an assertion")]
    Malformed,
    /// `typ` is there and not `JWT`.
    #[error("typ is not JWT")]
    Type,
    /// `crit` is there, and we understand nothing that could stand in it.
    #[error("crit names an extension that is not understood")]
    Critical,
    /// No key with this `kid` is known: fetch the JWKS again, about once in 30 s at most (digest 1.4).
    #[error("no key `{kid}`")]
    UnknownKey {
        /// The `kid`, cut to 64 characters.
        kid: String,
    },
    /// `alg` is not the one that the key is for: `none` and HMAC always end here.
    #[error("alg is not the key's")]
    AlgorithmNotAllowed,
    /// The signature does not verify.
    #[error("signature does not verify")]
    Signature,
    /// `iss` is another client.
    #[error("iss is another client")]
    Issuer,
    /// `sub` of a client assertion is not the `client_id`, or that of a Session assertion is no User ID.
    #[error("sub is not what this assertion needs")]
    Subject,
    /// `aud` is another audience, or not one string.
    #[error("aud is another audience")]
    Audience,
    /// `exp` has passed.
    #[error("expired")]
    Expired,
    /// `iat` lies in the future.
    #[error("iat is in the future")]
    TooNew,
    /// `exp` lies too far after `iat`, or before it.
    #[error("lifetime is out of bounds")]
    Lifetime,
    /// The `jti` was accepted before.
    #[error("jti was accepted before")]
    Replayed,
    /// The replay guard is full.
    #[error("replay guard is full")]
    ReplayGuardFull,
}

impl AssertionKind {
    /// The error that a token endpoint answers when this assertion is refused.
    #[must_use]
    pub fn refusal(self) -> ErrorCode {
        match self {
            Self::Client => ErrorCode::InvalidClient,
            Self::Session => ErrorCode::InvalidGrant,
        }
    }
}

/// What an assertion has to be good for.
#[derive(Clone, Copy, Debug)]
pub struct AssertionCheck<'a> {
    /// Which draft's rules.
    pub mode: SessionMode,
    /// The Agent: `iss` of both, `sub` of the client assertion.
    pub client_id: &'a str,
    /// The Company's issuer.
    pub issuer: &'a str,
    /// The Company's token endpoint.
    pub token_endpoint: &'a str,
    /// The instant, in Unix seconds.
    pub now: i64,
    /// Where accepted `jti` are remembered.
    pub replay: &'a ReplayGuard,
}

/// What a good assertion said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedAssertion {
    /// `sub`: the `client_id` or the User ID.
    pub subject: String,
    /// Its identifier.
    pub jti: String,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    typ: Option<String>,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default)]
    crit: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    #[serde(deserialize_with = "one_audience")]
    aud: Option<String>,
    #[serde(deserialize_with = "numeric_date")]
    iat: i64,
    #[serde(deserialize_with = "numeric_date")]
    exp: i64,
    jti: String,
}

/// An `aud` of one string; `None` for anything else, so that an array fails as an audience and not as garbage.
fn one_audience<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let audience = serde_json::Value::deserialize(deserializer)?;
    Ok(audience.as_str().map(str::to_owned))
}

impl AssertionCheck<'_> {
    /// Makes all checks; `key_of` finds a key of the client's verified `jwks_uri` by `kid` (an assertion without `kid`
    /// asks with `None`). The `jti` is used up last.
    ///
    /// # Errors
    /// The first check that failed.
    pub fn verify(
        &self,
        kind: AssertionKind,
        assertion: &str,
        key_of: impl FnOnce(Option<&str>) -> Option<PublicKey>,
    ) -> Result<VerifiedAssertion, AssertionError> {
        let jws = CompactJws::parse(assertion).map_err(|_| AssertionError::Malformed)?;
        let header: Header = object(jws.header_bytes())?;
        let claims: Claims = object(jws.payload_bytes())?;
        if claims.jti.is_empty() || claims.jti.len() > JTI_BYTES_MAX {
            return Err(AssertionError::Malformed);
        }
        if header.typ.as_deref().is_some_and(|typ| !typ.eq_ignore_ascii_case("JWT")) {
            return Err(AssertionError::Type);
        }
        if header.crit.is_some() {
            return Err(AssertionError::Critical);
        }
        if header.alg != Algorithm::Es256.as_str() && header.alg != Algorithm::Rs256.as_str() {
            return Err(AssertionError::AlgorithmNotAllowed);
        }
        let key = key_of(header.kid.as_deref()).ok_or_else(|| AssertionError::UnknownKey {
            kid: header.kid.as_deref().unwrap_or_default().chars().take(64).collect(),
        })?;
        if header.alg != key.algorithm().as_str() {
            return Err(AssertionError::AlgorithmNotAllowed);
        }
        jws.verify(&key).map_err(|_| AssertionError::Signature)?;
        self.check_parties(kind, &claims)?;
        self.check_times(&claims)?;
        self.check_replay(&claims)?;
        Ok(VerifiedAssertion { subject: claims.sub, jti: claims.jti })
    }

    fn check_parties(&self, kind: AssertionKind, claims: &Claims) -> Result<(), AssertionError> {
        if claims.iss != self.client_id {
            return Err(AssertionError::Issuer);
        }
        let subject_fits = match kind {
            AssertionKind::Client => claims.sub == self.client_id,
            AssertionKind::Session => is_user_id(&claims.sub),
        };
        if !subject_fits {
            return Err(AssertionError::Subject);
        }
        let audience = claims.aud.as_deref().ok_or(AssertionError::Audience)?;
        if !self.mode.accepts_audience(audience, self.issuer, self.token_endpoint) {
            return Err(AssertionError::Audience);
        }
        Ok(())
    }

    fn check_times(&self, claims: &Claims) -> Result<(), AssertionError> {
        if claims.exp.saturating_add(limits::CLOCK_SKEW_SECONDS) < self.now {
            return Err(AssertionError::Expired);
        }
        if claims.iat > self.now.saturating_add(limits::CLOCK_SKEW_SECONDS) {
            return Err(AssertionError::TooNew);
        }
        if !(0..=self.mode.assertion_seconds_max()).contains(&claims.exp.saturating_sub(claims.iat)) {
            return Err(AssertionError::Lifetime);
        }
        Ok(())
    }

    fn check_replay(&self, claims: &Claims) -> Result<(), AssertionError> {
        let until = claims.exp.saturating_add(limits::CLOCK_SKEW_SECONDS);
        match self.replay.accept(self.client_id, &claims.jti, until, self.now) {
            ReplayVerdict::Fresh => Ok(()),
            ReplayVerdict::Replayed => Err(AssertionError::Replayed),
            ReplayVerdict::Full => Err(AssertionError::ReplayGuardFull),
        }
    }
}

/// Whether a text may be a User ID: `[A-Za-z0-9_-]{1,256}` (digest section 2).
#[must_use]
pub fn is_user_id(text: &str) -> bool {
    (1..=256).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// `iss` of a token that nobody has verified yet: to find the client whose keys may verify it.
#[must_use]
pub fn unverified_issuer(assertion: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Issuer {
        iss: String,
    }
    let jws = CompactJws::parse(assertion).ok()?;
    object::<Issuer>(jws.payload_bytes()).ok().map(|claims| claims.iss)
}

/// Reads a segment that has to be a JSON object (serde would also fill a struct from an array).
fn object<T: serde::de::DeserializeOwned>(bytes: Option<Vec<u8>>) -> Result<T, AssertionError> {
    let bytes = bytes.filter(|bytes| bytes.first() == Some(&b'{')).ok_or(AssertionError::Malformed)?;
    serde_json::from_slice(&bytes).map_err(|_| AssertionError::Malformed)
}

#[cfg(test)]
mod tests;
