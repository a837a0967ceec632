//! The answer of the device authorization endpoint: how the User signs in by herself, and how the Agent learns of it
//! (RFC 8628 section 3.2; digest 3.5).

use std::fmt;

use serde::{Deserialize, Serialize};

/// How often an Agent may poll where the answer does not say, in seconds (RFC 8628 section 3.2).
pub const INTERVAL_SECONDS_DEFAULT: u64 = 5;

/// What `slow_down` adds to the interval, in seconds (RFC 8628 section 3.5).
pub const SLOW_DOWN_SECONDS: u64 = 5;

/// A sign-in that has begun.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceAuthorization {
    /// What the Agent polls with.
    pub device_code: String,
    /// What the User types in, or finds typed in, on the Company's page.
    pub user_code: String,
    /// The Company's page.
    pub verification_uri: String,
    /// The page with the code filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification_uri_complete: Option<String>,
    /// How long both codes are good, in seconds.
    pub expires_in: u64,
    /// How long the Agent waits between polls, in seconds.
    #[serde(default = "interval_default")]
    pub interval: u64,
}

fn interval_default() -> u64 {
    INTERVAL_SECONDS_DEFAULT
}

/// Codes are credentials, and a page's address may hold one: not shown.
impl fmt::Debug for DeviceAuthorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceAuthorization")
            .field("expires_in", &self.expires_in)
            .field("interval", &self.interval)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_without_interval_means_five_seconds_and_no_code_is_shown() {
        let text = r#"{"device_code":"dev_1","user_code":"BCDF-GHJK","verification_uri":"https://a.example/device",
                       "expires_in":600,"unknown":1}"#;
        let answer: DeviceAuthorization = serde_json::from_str(text).unwrap();
        assert_eq!((answer.interval, answer.verification_uri_complete.as_deref()), (5, None));
        let shown = format!("{answer:?}");
        assert!(!shown.contains("dev_1") && !shown.contains("BCDF"), "{shown}");
        let written = serde_json::to_value(&answer).unwrap();
        assert_eq!(serde_json::from_value::<DeviceAuthorization>(written).unwrap(), answer);
    }
}
