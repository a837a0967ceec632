//! A token endpoint's checks of an assertion.

use serde::{Deserialize, Deserializer};

use super::error::{AssertionError, AssertionKind};
use crate::identity::jws::{CompactJws, JTI_BYTES_MAX};
use crate::identity::keys::{Algorithm, PublicKey};
use crate::identity::numeric_date::numeric_date;
use crate::identity::replay::{ReplayGuard, ReplayVerdict};
use crate::limits;
use crate::protocol::SessionMode;

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
