//! The OpenAPI description that `poppy.json` names: where each action is proposed and changed, and which endpoints
//! answer 202 with an operation (Operations 4.1).

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::{Addresses, documents::written};
use crate::plan::{Action, CompanyPlan};

/// The description of a Company's API.
pub(super) fn describe(plan: &CompanyPlan, addresses: &Addresses) -> Bytes {
    let mut paths = Map::new();
    for action in plan.actions.values() {
        paths.insert(format!("/orders/{{order_id}}/{}s", action.name), json!({ "post": propose(action) }));
        if action.operation {
            let path = format!("/orders/{{order_id}}/{}s/{{operation_id}}", action.name);
            paths.insert(path, json!({ "post": change(action) }));
        }
    }
    written(&json!({
        "openapi": "3.1.0",
        "info": { "title": plan.title, "version": "1" },
        "servers": [{ "url": addresses.origin }],
        "paths": paths,
        "components": {
            "securitySchemes": { "session": { "type": "http", "scheme": "DPoP" } },
            "schemas": { "Operation": operation(), "Wrapped": wrapped(), "Result": result() },
        },
        "security": [{ "session": [] }],
    }))
}

fn propose(action: &Action) -> Value {
    let mut responses = Map::new();
    if action.operation {
        responses.insert("202".to_owned(), returns_operation("Not done yet: an operation to confirm."));
    }
    responses.insert(
        "200".to_owned(),
        json!({
            "description": "Done at once, without an operation.",
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Result" } } },
        }),
    );
    json!({
        "operationId": action.name,
        "summary": if action.operation { "Answers 202 with an operation." } else { "Done at once." },
        "description": scope(action),
        "parameters": [parameter("order_id")],
        "requestBody": body(),
        "responses": responses,
    })
}

fn change(action: &Action) -> Value {
    json!({
        "operationId": format!("change-{}", action.name),
        "summary": "Asks for other terms. Answers 202 with the same operation and its next revision.",
        "description": scope(action),
        "parameters": [parameter("order_id"), parameter("operation_id")],
        "requestBody": body(),
        "responses": {
            "202": returns_operation("The same operation with its next revision."),
            "200": returns_operation("The operation as it is: its terms can no longer change."),
        },
    })
}

fn scope(action: &Action) -> String {
    match &action.scope {
        Some(scope) => format!("Needs the scope `{scope}`."),
        None => "Needs no scope.".to_owned(),
    }
}

fn parameter(name: &str) -> Value {
    json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } })
}

fn body() -> Value {
    json!({
        "required": true,
        "content": { "application/json": { "schema": {
            "type": "object", "properties": { "item_id": { "type": "string" } },
        } } },
    })
}

fn returns_operation(description: &str) -> Value {
    json!({
        "description": description,
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Wrapped" } } },
    })
}

fn wrapped() -> Value {
    json!({
        "type": "object",
        "required": ["operation"],
        "properties": { "operation": { "$ref": "#/components/schemas/Operation" } },
    })
}

fn result() -> Value {
    json!({
        "type": "object",
        "required": ["result"],
        "properties": { "result": {
            "type": "object", "required": ["summary"],
            "properties": { "summary": { "type": "string" }, "data": { "type": "object" } },
        } },
    })
}

fn operation() -> Value {
    json!({
        "type": "object",
        "required": ["operation_id", "revision", "state", "summary", "confirmation", "result"],
        "properties": {
            "operation_id": { "type": "string" },
            "revision": { "type": "integer", "minimum": 1 },
            "state": { "enum": ["proposed", "in_progress", "succeeded", "failed", "cancelled", "expired"] },
            "summary": { "type": "string" },
            "terms": { "type": "object" },
            "expires_at": { "type": "string", "format": "date-time" },
            "user_approval_required": { "type": "boolean" },
            "confirmation": { "type": ["object", "null"] },
            "result": { "type": ["object", "null"] },
        },
    })
}
