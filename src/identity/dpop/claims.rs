//! The claims and the header of a proof as JSON, read without copying where nothing is escaped.

use std::borrow::Cow;

use serde::{Deserialize, de};

use crate::identity::numeric_date::numeric_date;
use crate::protocol::{Jwk, strict};

/// The claims of a proof (RFC 9449 section 4.2). Unknown claims are ignored, a known one twice is an error.
#[derive(Debug, Deserialize)]
pub(super) struct Claims<'a> {
    #[serde(borrow)]
    pub(super) jti: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) htm: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) htu: Cow<'a, str>,
    #[serde(deserialize_with = "numeric_date")]
    pub(super) iat: i64,
    #[serde(borrow, default)]
    pub(super) ath: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) nonce: Option<Cow<'a, str>>,
}

/// The header of a proof. All members are optional here, so that a missing one fails as P2 and not as garbage.
#[derive(Debug, Deserialize)]
pub(super) struct Header {
    #[serde(default)]
    pub(super) typ: Option<String>,
    #[serde(default)]
    pub(super) alg: Option<String>,
    #[serde(default, deserialize_with = "strict::object_or_null")]
    pub(super) jwk: Option<Jwk>,
    #[serde(default)]
    pub(super) crit: Option<de::IgnoredAny>,
}
