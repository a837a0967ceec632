//! Every JSON and HTTP example of `operations.md`, read and written again, with the members and null rules of the text.

use serde_json::Value;

use super::discovery::{ClientMetadata, PoppyDocument};
use super::endpoint::{cancel_url, confirm_url, operation_url};
use super::operation::{ApprovedBy, Operation, OperationAnswer, Revision, State};
use super::{ConfirmRequest, json};

const ENDPOINT: &str = "https://api.example.com/poppy/operations";

macro_rules! example {
    ($name:literal) => {
        include_str!(concat!("../../tests/fixtures/operations/", $name))
    };
}

/// The head lines and the body of an HTTP example.
fn http(example: &str) -> (Vec<&str>, &str) {
    let (head, body) = example.split_once("\n\n").unwrap();
    (head.lines().collect(), body)
}

/// Reads an operation and checks that writing it gives the same members and values, in the order of the text's table.
fn read_and_write(written: &Value) -> Operation {
    let operation: Operation = json::parse(written.to_string().as_bytes()).unwrap();
    let again = serde_json::to_string(&operation).unwrap();
    assert_eq!(&serde_json::from_str::<Value>(&again).unwrap(), written);
    let order = [
        "operation_id",
        "revision",
        "state",
        "summary",
        "terms",
        "expires_at",
        "user_approval_required",
        "url",
        "confirmation",
        "result",
    ];
    let mut rest = again.as_str();
    for member in order.iter().filter(|member| written.get(**member).is_some()) {
        let quoted = format!("\"{member}\":");
        rest = rest.split_once(&quoted).unwrap_or_else(|| panic!("{member} out of order")).1;
    }
    operation
}

#[test]
fn section_2_poppy_json() {
    let document: PoppyDocument = json::parse_document(example!("2-poppy.json").as_bytes()).unwrap();
    let operations = document.operations().unwrap();
    assert_eq!((operations.version.as_str(), operations.endpoint.as_deref()), ("1", Some(ENDPOINT)));
    let written = serde_json::to_value(&document).unwrap();
    assert_eq!(written, serde_json::from_str::<Value>(example!("2-poppy.json")).unwrap());
}

#[test]
fn section_2_client_metadata() {
    let document: ClientMetadata = json::parse_document(example!("2-client-metadata.json").as_bytes()).unwrap();
    assert!(document.lists_operations("1"));
    assert!(!document.lists_operations("2"));
    let written = serde_json::to_value(&document).unwrap();
    assert_eq!(written, serde_json::from_str::<Value>(example!("2-client-metadata.json")).unwrap());
    let built = ClientMetadata {
        redirect_uris: document.redirect_uris.clone(),
        ..ClientMetadata::new(&document.client_id, "Example Agent", &document.jwks_uri).with_operations("1")
    };
    assert_eq!(built, document);
}

#[test]
fn section_3_operation_proposed() {
    let operation = read_and_write(&serde_json::from_str(example!("3-operation-proposed.json")).unwrap());
    assert_eq!(operation.operation_id, "exc_5Rt2");
    assert_eq!(operation.revision, Revision::FIRST);
    assert_eq!(operation.state, State::Proposed);
    assert_eq!(operation.terms.as_ref().unwrap()["price_difference"]["amount"], "70.00");
    assert_eq!(operation.expires_at_timestamp(), Some("2026-10-08T19:20:00Z".parse().unwrap()));
    assert_eq!((operation.confirmation, operation.result), (None, None));
}

#[test]
fn section_4_1_propose() {
    let (head, body) = http(example!("4.1-propose-request.http"));
    assert_eq!(head[0], "POST https://api.example.com/orders/ord_7Hk2/exchanges");
    assert_eq!(json::parse_object::<Value>(body.as_bytes()).unwrap()["item_id"], "itm_4Qa");

    let (head, body) = http(example!("4.1-propose-response.http"));
    assert_eq!(head[0], "HTTP/1.1 202 Accepted");
    let answer: OperationAnswer = json::parse_object(body.as_bytes()).unwrap();
    assert_eq!(serde_json::to_value(&answer).unwrap(), serde_json::from_str::<Value>(body).unwrap());
    assert_eq!(answer.operation.state, State::Proposed);
}

#[test]
fn section_4_2_and_4_3_carry_the_same_object() {
    let proposed: Value = serde_json::from_str(example!("3-operation-proposed.json")).unwrap();
    let tool: Value = json::parse(example!("4.2-tool-result.json").as_bytes()).unwrap();
    let event: Value = json::parse(example!("4.3-event.json").as_bytes()).unwrap();
    for carried in [&tool["structuredContent"]["operation"], &event["message"]["operation"]] {
        assert_eq!(read_and_write(carried), read_and_write(&proposed));
    }
}

#[test]
fn section_5_2_confirm() {
    let (head, body) = http(example!("5.2-confirm-request.http"));
    assert_eq!(head[0], format!("POST {}", confirm_url(ENDPOINT, "exc_5Rt2")));
    let request = ConfirmRequest::parse(body.as_bytes()).unwrap();
    assert_eq!(request, ConfirmRequest { revision: Revision::FIRST, approved_by: ApprovedBy::User });
    let written: Value = serde_json::from_str(&request.to_body()).unwrap();
    assert_eq!(written, serde_json::from_str::<Value>(body).unwrap());

    let (head, body) = http(example!("5.2-confirm-response.http"));
    assert_eq!(head[0], "HTTP/1.1 200 OK");
    let operation = read_and_write(&serde_json::from_str(body).unwrap());
    assert_eq!(operation.state, State::Succeeded);
    assert_eq!(operation.expires_at, None);
    let confirmation = operation.confirmation.unwrap();
    assert_eq!(confirmation.confirmed_at.as_str(), "2026-10-08T12:04:31-07:00");
    assert_eq!(operation.result.unwrap().data.unwrap()["return_id"], "rtn_8Lp3");
}

#[test]
fn sections_6_and_7_read_and_cancel() {
    let (head, body) = http(example!("6-read-request.http"));
    assert_eq!((head[0], body), (format!("GET {}", operation_url(ENDPOINT, "exc_5Rt2")).as_str(), ""));
    let (head, body) = http(example!("7-cancel-request.http"));
    assert_eq!((head[0], body), (format!("POST {}", cancel_url(ENDPOINT, "exc_5Rt2")).as_str(), ""));
}

/// The proposed example with one member replaced, or taken out.
fn changed(member: &str, value: Option<Value>) -> Result<Operation, json::JsonError> {
    let mut object: serde_json::Map<String, Value> =
        serde_json::from_str(example!("3-operation-proposed.json")).unwrap();
    match value {
        Some(value) => object.insert(member.to_owned(), value),
        None => object.remove(member),
    };
    json::parse_object(Value::Object(object).to_string().as_bytes())
}

#[test]
fn members_marked_no_may_be_missing_and_those_marked_yes_may_not() {
    for member in ["terms", "expires_at", "user_approval_required", "url"] {
        assert!(changed(member, None).is_ok(), "{member}");
    }
    assert!(!changed("user_approval_required", None).unwrap().user_approval_required);
    for member in ["operation_id", "revision", "state", "summary", "confirmation", "result"] {
        assert!(changed(member, None).is_err(), "{member}");
    }
    let written = serde_json::to_value(changed("terms", None).unwrap()).unwrap();
    assert_eq!(written.get("terms"), None);
    assert_eq!(written.get("confirmation"), Some(&Value::Null));
    assert_eq!(written.get("result"), Some(&Value::Null));
}

#[test]
fn unknown_members_are_ignored_and_wrong_types_are_not() {
    assert!(changed("gift_wrap", Some(Value::from("yes"))).is_ok());
    for (member, value) in [
        ("operation_id", Value::from(7)),
        ("revision", Value::from(0)),
        ("revision", Value::from(1.0)),
        ("revision", Value::from("1")),
        ("revision", Value::from(true)),
        ("state", Value::from("done")),
        ("summary", Value::Null),
        ("terms", Value::from("none")),
        ("terms", Value::Array(Vec::new())),
        ("expires_at", Value::from(1_796_040_000)),
        ("expires_at", Value::from("tomorrow")),
        ("user_approval_required", Value::from("false")),
        ("state", serde_json::json!({ "proposed": null })),
        ("confirmation", Value::from(true)),
        ("confirmation", serde_json::json!([1, "user", "2026-10-08T12:04:31-07:00"])),
        ("result", serde_json::json!(["done", null])),
        ("result", Value::from("done")),
    ] {
        assert!(changed(member, Some(value.clone())).is_err(), "{member}: {value}");
    }
}

#[test]
fn four_states_are_final_and_every_word_reads_back() {
    let finals: Vec<_> = State::ALL.into_iter().filter(|state| state.is_final()).collect();
    assert_eq!(finals, [State::Succeeded, State::Failed, State::Cancelled, State::Expired]);
    for state in State::ALL {
        assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        assert_eq!(serde_json::from_value::<State>(Value::from(state.as_str())).unwrap(), state);
    }
}
