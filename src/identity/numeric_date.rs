//! Dates in claims (RFC 7519 section 2, NumericDate).

use std::fmt;

use serde::{Deserializer, de};

/// A NumericDate in whole seconds. RFC 7519 section 2 lets it have a fraction, which is cut off.
pub(super) fn numeric_date<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
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
