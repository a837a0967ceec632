//! Writes the calls of Personal Agents that write no history of their own, as the Company saw them: when a request
//! arrived, and what it was answered.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{StatusCode, header};
use serde::Deserialize as _;
use serde_json::Value;
use smol_str::{SmolStr, format_smolstr};

use super::{Shop, body, concern::Concern};
use crate::{
    history::{
        Event,
        record::{Call, Outcome, Purpose, Return, View},
    },
    identity::digest::terms_digest,
    protocol::{ConfirmRequest, Operation},
};

/// Lays the witness around a Company's router.
pub(super) fn layer(router: Router, shop: Arc<Shop>) -> Router {
    let witness = Arc::new(Witness { shop, calls: AtomicU64::new(0) });
    router.layer(middleware::from_fn_with_state(witness, watch))
}

struct Witness {
    shop: Arc<Shop>,
    calls: AtomicU64,
}

async fn watch(State(witness): State<Arc<Witness>>, request: Request, next: Next) -> Response {
    let uri = request.uri().clone();
    let Some(concern) = Concern::of(&witness.shop, request.method(), uri.path()).filter(is_of_operations) else {
        return next.run(request).await;
    };
    let (parts, asked) = request.into_parts();
    let asked = match body::read(asked).await {
        Ok(asked) => asked,
        Err(problem) => return problem.into_response(),
    };
    let call = witness.call(&concern, &asked);
    let response = next.run(Request::from_parts(parts, Body::from(asked))).await;
    let (parts, answered) = response.into_parts();
    // Its own answers are whole and short.
    let answered = body::read(answered).await.unwrap_or_default();
    let retry_after = parts.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    witness.answered(call, parts.status, &answered, retry_after);
    Response::from_parts(parts, Body::from(answered))
}

/// Whether a request is about an operation, or asks for one.
fn is_of_operations(concern: &Concern<'_>) -> bool {
    concern.kind.is_some() || concern.operation.is_some()
}

impl Witness {
    /// Writes that a request arrived; gives the call's ID.
    fn call(&self, concern: &Concern<'_>, body: &Bytes) -> SmolStr {
        let shop = &self.shop;
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        // What one sender knew cannot be told from here, so each request counts as a sender of its own.
        let id = format_smolstr!("{}/{}#{number}", shop.plan.name, shop.world.incarnation());
        let confirm = (concern.purpose == Purpose::Confirm).then(|| ConfirmRequest::parse(body).ok()).flatten();
        shop.world.record(Event::Call(Call {
            id: id.clone(),
            process: id.clone(),
            session: None,
            purpose: concern.purpose,
            company: Some(shop.plan.name.clone()),
            intent: None,
            kind: concern.kind.map(SmolStr::from),
            action: concern.operation.map(|operation| self.action(operation)),
            revision: confirm.map(|confirm| confirm.revision.get()),
            approved_by: confirm.map(|confirm| confirm.approved_by.into()),
            proof: None,
            due: None,
        }));
        id
    }

    /// Writes what a request was answered.
    fn answered(&self, call: SmolStr, status: StatusCode, body: &Bytes, retry_after_seconds: Option<u64>) {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let view = Operation::deserialize(body.get("operation").unwrap_or(&body)).ok().map(|operation| {
            let terms = terms_digest(&operation.summary, operation.terms.as_ref());
            View::of(&operation, self.action(&operation.operation_id), terms)
        });
        let outcome = match (status.as_u16(), &view) {
            (200..=299, Some(_)) => Outcome::View,
            (200..=299, None) => Outcome::Done,
            (400..=499, _) => Outcome::Refused,
            _ => Outcome::Unknown,
        };
        self.shop.world.record(Event::Return(Return {
            call,
            outcome,
            status: Some(status.as_u16()),
            why: body.get("error").and_then(Value::as_str).map(SmolStr::from),
            view,
            session: None,
            retry_after_ms: retry_after_seconds.map(|seconds| seconds.saturating_mul(1_000)),
        }));
    }

    fn action(&self, operation: &str) -> SmolStr {
        format_smolstr!("{}/operation/{operation}", self.shop.plan.name)
    }
}
