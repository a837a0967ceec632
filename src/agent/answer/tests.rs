//! Which answers are refusals, and which leave it unknown.

use super::*;

const OPERATION: &str = r#"{"operation_id":"op_1","revision":1,"state":"proposed","summary":"S","expires_at":
    "2027-01-15T08:00:00Z","confirmation":null,"result":null,"more":[1]}"#;

fn expected(wrapped: bool, acts: bool) -> Expected<'static> {
    Expected {
        company: "shop-1",
        id: (!wrapped).then_some("op_1"),
        known: None,
        wrapped,
        acts,
        nonce: false,
        token_ends: at(100),
        token_doubtful: &CERTAIN,
    }
}

/// So many nanoseconds after 1970.
fn at(nanoseconds: i128) -> Timestamp {
    Timestamp::from_nanosecond(nanoseconds).unwrap()
}

static CERTAIN: AtomicBool = AtomicBool::new(false);
static DOUBTFUL: AtomicBool = AtomicBool::new(true);

fn answer(status: u16, headers: &[(&'static str, &str)], body: &str) -> Answer {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    Answer::Response(response.body(Bytes::from(body.to_owned())).unwrap())
}

fn judged(expected: Expected<'_>, status: u16, body: &str) -> (Outcome, Option<SmolStr>) {
    let ended = judge(answer(status, &[], body), &Reading::Operation(expected), at(50));
    (ended.outcome, ended.why)
}

#[test]
fn what_cannot_be_read_says_nothing_of_what_happened() {
    let other = OPERATION.replace("op_1", "op_2");
    let revision = OPERATION.replace("\"revision\":1", "\"revision\":true");
    let id = OPERATION.replace("op_1", "op 1");
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    for body in ["", "null", "[]", "{}", "<html>", &other, &revision, &id, &deep, &OPERATION[..80]] {
        let (outcome, why) = judged(expected(false, true), 200, body);
        assert_eq!((outcome, why.as_deref()), (Outcome::Unknown, Some("unreadable")), "{body}");
    }
    assert_eq!(judged(expected(false, true), 200, OPERATION).0, Outcome::View);
}

#[test]
fn a_garbled_document_is_none() {
    let read = |body| judge(answer(200, &[], body), &Reading::Document, Timestamp::UNIX_EPOCH);
    for body in ["", "<html>", "{\"protocol_version\":", "{} {}"] {
        let ended = read(body);
        assert_eq!((ended.outcome, ended.why.as_deref()), (Outcome::Unknown, Some("unreadable")), "{body}");
    }
    assert_eq!(read("{}").outcome, Outcome::Done);
}

#[test]
fn a_proposal_is_answered_by_an_operation_or_done_at_once() {
    let wrapped = format!("{{\"operation\":{OPERATION}}}");
    assert_eq!(judged(expected(true, true), 202, &wrapped).0, Outcome::View);
    for body in ["", "{}", r#"{"result":{"summary":"Done."}}"#] {
        assert_eq!(judged(expected(true, true), 200, body).0, Outcome::Done, "{body}");
    }
    for body in ["[]", "done", r#"{"operation":null}"#, r#"{"operation":{"operation_id":"op_1"}}"#] {
        assert_eq!(judged(expected(true, true), 202, body).0, Outcome::Unknown, "{body}");
    }
}

#[test]
fn only_what_shows_that_nothing_was_done_is_a_refusal() {
    let error = |word: &str| format!("{{\"error\":\"{word}\"}}");
    for (status, word) in [
        (404, "operation_not_found"),
        (403, "user_approval_required"),
        (403, "insufficient_scope"),
        (403, "extension_required"),
        (400, "invalid_request"),
        (429, "rate_limited"),
        (401, "invalid_token"),
        (403, "sign_in_required"),
        (401, "use_dpop_nonce"),
        (418, "teapot"),
    ] {
        let (outcome, why) = judged(expected(false, true), status, &error(word));
        assert_eq!((outcome, why.as_deref()), (Outcome::Refused, Some(word)));
    }
    for (status, body) in [
        (500, error("invalid_request")),
        (503, String::new()),
        (408, String::new()),
        (302, String::new()),
        (401, error("invalid_dpop_proof")),
    ] {
        assert_eq!(judged(expected(false, true), status, &body).0, Outcome::Unknown, "{status}");
    }
    // A nonce or token that ended between two copies of the request.
    let old_nonce = Expected { nonce: true, ..expected(false, true) };
    assert_eq!(judged(old_nonce, 401, &error("use_dpop_nonce")).0, Outcome::Unknown);
    let old_token = Expected { token_ends: at(50), ..expected(false, true) };
    assert_eq!(judged(old_token, 401, &error("invalid_token")).0, Outcome::Unknown);
    // A token that another one may have taken the place of, and a sign-in that may have ended, in between.
    for (status, word) in [(401, "invalid_token"), (403, "sign_in_required")] {
        let doubtful = Expected { token_doubtful: &DOUBTFUL, ..expected(false, true) };
        assert_eq!(judged(doubtful, status, &error(word)).0, Outcome::Unknown, "{word}");
    }
    // A read does nothing either way.
    assert_eq!(judged(expected(false, false), 401, &error("invalid_dpop_proof")).0, Outcome::Refused);
}

#[test]
fn a_sign_in_that_begins_has_codes_and_a_revocation_has_no_content() {
    let read = |body: &str, reading: &Reading<'_>| judge(answer(200, &[], body), reading, Timestamp::UNIX_EPOCH);
    let whole = r#"{"device_code":"d","user_code":"u","verification_uri":"https://a.example/d","expires_in":600}"#;
    assert!(matches!(read(whole, &Reading::SignIn).content, Content::SignIn(begun) if begun.interval == 5));
    for wrong in [
        "",
        "[]",
        &whole.replace("\"d\"", "\"\""),
        &whole.replace("\"u\"", "7"),
        &whole.replace("600", "0"),
        &whole.replace("600", "-1"),
    ] {
        assert_eq!(read(wrong, &Reading::SignIn).outcome, Outcome::Unknown, "{wrong}");
    }
    for body in ["", "{}", "<p>Done.</p>"] {
        assert_eq!(read(body, &Reading::Nothing).outcome, Outcome::Done);
    }
    let seen_other = judge(answer(303, &[], ""), &Reading::Nothing, Timestamp::UNIX_EPOCH);
    assert_eq!(seen_other.outcome, Outcome::Unknown);
}

#[test]
fn a_refusal_may_carry_the_operation_and_its_garbage_does_not_hide_the_error() {
    let body = format!("{{\"error\":\"terms_changed\",\"operation\":{OPERATION}}}");
    let reading = Reading::Operation(expected(false, true));
    let ended = judge(answer(409, &[], &body), &reading, Timestamp::UNIX_EPOCH);
    assert_eq!(ended.code, Some(ErrorCode::TermsChanged));
    assert_eq!(ended.seen().unwrap().action, "shop-1/operation/op_1");
    let garbage = r#"{"error":"terms_changed","operation":[7]}"#;
    let ended = judge(answer(409, &[], garbage), &reading, Timestamp::UNIX_EPOCH);
    assert!(ended.code == Some(ErrorCode::TermsChanged) && ended.seen().is_none());
}

#[test]
fn words_of_a_peer_are_recorded_only_if_they_look_like_words() {
    for word in ["", "Not A Word", "a-b", &"x".repeat(41)] {
        let body = serde_json::json!({ "error": word }).to_string();
        assert_eq!(judged(expected(false, true), 400, &body).1.as_deref(), Some("status-400"), "{word}");
    }
}

#[test]
fn retry_after_is_seconds_or_a_date_and_at_most_an_hour() {
    let wall: Timestamp = "2026-10-08T19:20:00Z".parse().unwrap();
    let wait = |text: &str| {
        let reading = Reading::Operation(expected(false, true));
        judge(answer(503, &[("retry-after", text)], ""), &reading, wall).retry_after
    };
    assert_eq!(wait("3"), Some(Duration::from_secs(3)));
    assert_eq!(wait("Thu, 08 Oct 2026 19:20:07 GMT"), Some(Duration::from_secs(7)));
    assert_eq!(wait("Thu, 08 Oct 2026 19:19:00 GMT"), Some(Duration::ZERO));
    assert_eq!(wait("999999999"), Some(Duration::from_secs(3_600)));
    assert_eq!(wait("soon"), None);
    assert_eq!(wait("-3"), None);
}
