//! The body of a confirm request, parsed strictly (Operations 5.2).
//!
//! Whatever is not exactly a revision and one of the two words performs nothing: a Company answers every error from
//! here with 400 `invalid_request`.

use serde::{Deserialize, Serialize};

use super::json::{self, JsonError};
use super::operation::{ApprovedBy, Revision};

/// The body of a confirm: which revision, and how it was approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfirmRequest {
    /// The revision that the User approved: a JSON integer, 1 or more.
    pub revision: Revision,
    /// How it was approved.
    pub approved_by: ApprovedBy,
}

impl ConfirmRequest {
    /// Parses a body. Unknown members are ignored.
    ///
    /// # Errors
    /// [`JsonError`] for anything but an object with an integer `revision` ≥ 1 (no boolean, string or `1.0`) and one of
    /// the two words in `approved_by`; a Company answers 400 `invalid_request`.
    pub fn parse(body: &[u8]) -> Result<Self, JsonError> {
        json::parse_object(body)
    }

    /// The body that an Agent sends.
    #[must_use]
    pub fn to_body(self) -> String {
        // Written by hand: two words and a number need no escaping, and this is the hot path of every run.
        format!(r#"{{"revision":{},"approved_by":"{}"}}"#, self.revision, self.approved_by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for approved_by in [ApprovedBy::User, ApprovedBy::StandingPermission] {
            let request = ConfirmRequest { revision: Revision::new(7).unwrap(), approved_by };
            assert_eq!(ConfirmRequest::parse(request.to_body().as_bytes()).unwrap(), request);
        }
    }

    #[test]
    fn ignores_unknown_members() {
        let request = ConfirmRequest::parse(br#" {"note":{"a":[1]},"approved_by":"user","revision":2} "#).unwrap();
        assert_eq!(request.revision.get(), 2);
    }

    #[test]
    fn refuses_wrong_types_and_values() {
        for body in [
            "",
            "null",
            "[1,\"user\"]",
            "\"confirm\"",
            "{}",
            r#"{"revision":1}"#,
            r#"{"approved_by":"user"}"#,
            r#"{"revision":true,"approved_by":"user"}"#,
            r#"{"revision":"1","approved_by":"user"}"#,
            r#"{"revision":1.0,"approved_by":"user"}"#,
            r#"{"revision":1e0,"approved_by":"user"}"#,
            r#"{"revision":null,"approved_by":"user"}"#,
            r#"{"revision":0,"approved_by":"user"}"#,
            r#"{"revision":-1,"approved_by":"user"}"#,
            r#"{"revision":18446744073709551616,"approved_by":"user"}"#,
            r#"{"revision":[1],"approved_by":"user"}"#,
            r#"{"revision":1,"approved_by":"User"}"#,
            r#"{"revision":1,"approved_by":"agent"}"#,
            r#"{"revision":1,"approved_by":["user"]}"#,
            r#"{"revision":1,"approved_by":null}"#,
            r#"{"revision":1,"approved_by":true}"#,
            r#"{"revision":1,"approved_by":{"user":null}}"#,
            r#"{"revision":1,"revision":2,"approved_by":"user"}"#,
            r#"{"revision":1,"approved_by":"user"} trailing"#,
            r#"{"revision":1,"approved_by":"user""#,
        ] {
            assert!(ConfirmRequest::parse(body.as_bytes()).is_err(), "{body}");
        }
    }
}
