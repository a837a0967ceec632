//! The claims and the header of a proof as JSON, read without copying where nothing is escaped.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, de};

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

/// A NumericDate in whole seconds. RFC 7519 section 2 lets it have a fraction, which is cut off.
pub(in crate::identity) fn numeric_date<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    struct NumericDate;

    impl de::Visitor<'_> for NumericDate {
        type Value = i64;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("seconds since 1970")
        }

        fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<i64, E> {
            Ok(seconds)
        }

        fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<i64, E> {
            i64::try_from(seconds).map_err(|_| E::custom("date out of range"))
        }

        fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<i64, E> {
            // Beyond 2^53 a float no longer names whole seconds; no date lies there.
            if seconds.abs() < 9_007_199_254_740_992.0 {
                Ok(seconds.floor() as i64)
            } else {
                Err(E::custom("date out of range"))
            }
        }
    }

    deserializer.deserialize_any(NumericDate)
}
