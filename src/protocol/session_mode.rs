//! Which draft's Sessions are spoken: DPoP Session Tokens of draft 0.1 or of draft 0.2 (digest 3.7).

use serde::{Deserialize, Serialize};

use crate::limits;

/// Assertions of draft 0.1 had no bound on their lifetime in the text. A verifier still has to forget some day which
/// `jti` it saw, so this is ours.
const DRAFT_01_ASSERTION_SECONDS_MAX: i64 = 3_600;

/// How Sessions work. A setting of the run, not a code path: what differs is asked of this type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SessionMode {
    /// DPoP Session Tokens as in draft 0.1: the assertions' audience is the token endpoint.
    #[serde(rename = "dpop-0.1")]
    Dpop01,
    /// DPoP Session Tokens as in draft 0.2: the assertions' audience is the issuer, five minutes at most.
    #[default]
    #[serde(rename = "dpop-0.2")]
    Dpop02,
}

impl SessionMode {
    /// The word in files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dpop01 => "dpop-0.1",
            Self::Dpop02 => "dpop-0.2",
        }
    }

    /// `protocol_version` of the draft, as `poppy.json` says it.
    #[must_use]
    pub fn protocol_version(self) -> &'static str {
        match self {
            Self::Dpop01 => "0.1",
            Self::Dpop02 => "0.2",
        }
    }

    /// The `aud` that an Agent writes into its client and Session assertions (digest 3.1).
    #[must_use]
    pub fn assertion_audience<'a>(self, issuer: &'a str, token_endpoint: &'a str) -> &'a str {
        match self {
            Self::Dpop01 => token_endpoint,
            Self::Dpop02 => issuer,
        }
    }

    /// Whether a Company takes an assertion with this `aud`: in 0.2 the issuer, compared character by character; in 0.1
    /// the token endpoint or, as implementations did, the issuer.
    #[must_use]
    pub fn accepts_audience(self, audience: &str, issuer: &str, token_endpoint: &str) -> bool {
        match self {
            Self::Dpop01 => audience == token_endpoint || audience == issuer,
            Self::Dpop02 => audience == issuer,
        }
    }

    /// The longest lifetime of an assertion that a Company takes, in seconds.
    #[must_use]
    pub fn assertion_seconds_max(self) -> i64 {
        match self {
            Self::Dpop01 => DRAFT_01_ASSERTION_SECONDS_MAX,
            Self::Dpop02 => limits::ASSERTION_SECONDS_MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_files() {
        for mode in [SessionMode::Dpop01, SessionMode::Dpop02] {
            let word = serde_json::to_value(mode).unwrap();
            assert_eq!(word, mode.as_str());
            assert_eq!(serde_json::from_value::<SessionMode>(word).unwrap(), mode);
        }
        assert_eq!(SessionMode::default(), SessionMode::Dpop02);
    }

    #[test]
    fn audience_is_the_issuer_since_draft_02() {
        let (issuer, endpoint) = ("https://id.teashop.example", "https://id.teashop.example/token");
        let written = |mode: SessionMode| mode.assertion_audience(issuer, endpoint);
        assert_eq!(written(SessionMode::Dpop01), endpoint);
        assert_eq!(written(SessionMode::Dpop02), issuer);
        assert!(SessionMode::Dpop01.accepts_audience(issuer, issuer, endpoint));
        assert!(!SessionMode::Dpop02.accepts_audience(endpoint, issuer, endpoint));
        assert!(!SessionMode::Dpop02.accepts_audience("https://id.teashop.example/", issuer, endpoint));
    }
}
