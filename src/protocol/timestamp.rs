//! RFC 3339 timestamps as the wire carries them: the text as it was written, and the instant it names.
//!
//! The text is kept because an operation that is read back must show the same characters, offset included; the instant
//! is what rules compare.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A timestamp in RFC 3339, with its text kept byte for byte. Equality is equality of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rfc3339 {
    text: String,
    at: Timestamp,
}

/// Why a text is no RFC 3339 timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an RFC 3339 timestamp with an offset")]
pub struct NotRfc3339;

impl Rfc3339 {
    /// Reads a text.
    ///
    /// # Errors
    /// [`NotRfc3339`] when the text has another shape, names no instant, or has no offset.
    pub fn parse(text: impl Into<String>) -> Result<Self, NotRfc3339> {
        let text = text.into();
        // jiff reads more than RFC 3339 has (no seconds, a zone in brackets), hence the look at the shape.
        if !has_rfc3339_shape(text.as_bytes()) {
            return Err(NotRfc3339);
        }
        let at: Timestamp = text.parse().map_err(|_| NotRfc3339)?;
        Ok(Self { text, at })
    }

    /// The instant, written in UTC with `Z`.
    #[must_use]
    pub fn from_timestamp(at: Timestamp) -> Self {
        Self { text: at.to_string(), at }
    }

    /// The text as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The instant that the text names.
    #[must_use]
    pub fn timestamp(&self) -> Timestamp {
        self.at
    }
}

impl From<Timestamp> for Rfc3339 {
    fn from(at: Timestamp) -> Self {
        Self::from_timestamp(at)
    }
}

impl fmt::Display for Rfc3339 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Rfc3339 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Rfc3339 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(text).map_err(de::Error::custom)
    }
}

/// `dddd-dd-ddTdd:dd:dd[.d+](Z|±dd:dd)`, `T` and `Z` in either case (RFC 3339 section 5.6).
fn has_rfc3339_shape(text: &[u8]) -> bool {
    let Some((date_time, rest)) = text.split_at_checked(19) else { return false };
    let fits = |pattern: &[u8], part: &[u8]| {
        pattern.len() == part.len()
            && pattern.iter().zip(part).all(|(want, byte)| match want {
                b'd' => byte.is_ascii_digit(),
                b'T' => byte.eq_ignore_ascii_case(&b'T'),
                b'+' => matches!(byte, b'+' | b'-'),
                other => byte == other,
            })
    };
    if !fits(b"dddd-dd-ddTdd:dd:dd", date_time) {
        return false;
    }
    let offset = match rest.strip_prefix(b".") {
        None => rest,
        Some(fraction) => {
            let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if !(1..=9).contains(&digits) {
                return false; // finer than a nanosecond cannot be kept, and nobody writes it
            }
            &fraction[digits..]
        }
    };
    offset.eq_ignore_ascii_case(b"Z") || fits(b"+dd:dd", offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_text_and_knows_the_instant() {
        let written = Rfc3339::parse("2026-10-08T12:20:00-07:00").unwrap();
        assert_eq!(written.as_str(), "2026-10-08T12:20:00-07:00");
        assert_eq!(written.timestamp(), "2026-10-08T19:20:00Z".parse().unwrap());
        assert_eq!(serde_json::to_string(&written).unwrap(), "\"2026-10-08T12:20:00-07:00\"");
    }

    #[test]
    fn reads_what_it_writes() {
        for nanoseconds in [0, 1, 120_000_000] {
            let at = Timestamp::new(1_796_040_000, nanoseconds).unwrap();
            let written = Rfc3339::from_timestamp(at);
            assert_eq!(Rfc3339::parse(written.as_str()).unwrap().timestamp(), at);
        }
    }

    #[test]
    fn refuses_other_shapes() {
        for text in [
            "",
            "2026-10-08",
            "2026-10-08T12:20:00",
            "2026-10-08 12:20:00Z",
            "2026-10-08T12:20Z",
            "2026-10-08T12:20:00.Z",
            "2026-10-08T12:20:00-0700",
            "2026-10-08T12:20:00-07:00[America/Los_Angeles]",
            "2026-13-08T12:20:00Z",
            "2026-10-08T25:20:00Z",
            "1796040000",
            "2026-10-08T12:20:00é",
        ] {
            assert!(Rfc3339::parse(text).is_err(), "{text}");
        }
    }
}
