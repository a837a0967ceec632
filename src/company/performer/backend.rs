//! Asking the backend for a step until it is known what became of it (Operations 6, rules OC-29, OC-31).

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use smol_str::{SmolStr, format_smolstr};

use crate::{
    company::{
        Shop,
        record::{Offer, Record},
    },
    history::{
        Event,
        record::{Attempt, AttemptIs, Learnt as Noted, Purpose},
    },
    plan::{CompanyDefect, CrashPoint},
    protocol::{Revision, json},
    world::{About, Answer},
};

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Order<'a> {
    /// The action.
    pub(super) record: &'a Arc<Record>,
    /// The terms to perform.
    pub(super) terms: &'a Offer,
    /// The step, or the one that undoes it.
    pub(super) step: &'a str,
    /// The step that this undoes.
    pub(super) undo_of: Option<&'a str>,
    /// The run, where it is not the first.
    pub(super) again: Option<u64>,
}

/// What is known of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Learnt {
    /// It took effect, with this receipt.
    Done(SmolStr),
    /// It did not, and never will under this key.
    Refused,
    /// Nothing. Only a defect leaves it at that.
    Nothing,
}

/// What is sent to the backend.
#[derive(Debug, Serialize)]
struct StepRequest<'a> {
    action: &'a str,
    kind: &'a str,
    revision: Revision,
    key: &'a str,
    summary: &'a str,
    terms: &'a Map<String, Value>,
    step: &'a str,
    undo_of: Option<&'a str>,
}

/// What it answers.
#[derive(Debug, Deserialize)]
struct StepAnswer {
    outcome: Outcome,
    #[serde(default)]
    receipt: Option<SmolStr>,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Done,
    Refused,
}

/// Asks for a step under its key, and again after a while for as long as no answer says what became of it.
pub(super) async fn ask(shop: &Arc<Shop>, order: Order<'_>) -> Learnt {
    let mut tries = 0;
    loop {
        let key = key(shop, &order, tries);
        let passage = order.record.shared.next_backend_call();
        let learnt = ask_once(shop, order, &key, tries, passage).await;
        if learnt != Learnt::Nothing || shop.has(CompanyDefect::FailOnBackendTimeout) {
            return learnt;
        }
        tries += 1;
        shop.world.sleep(shop.plan.backend.ask_again).await;
    }
}

/// The key that tells the backend which requests are one (rule OC-S4): made of the action's ID and the step, so that
/// every retry has it, after a restart as well.
fn key(shop: &Shop, order: &Order<'_>, tries: u64) -> SmolStr {
    let id = &order.record.id;
    let run = order.again.map(|number| format!("/again-{number}")).unwrap_or_default();
    let mut key = match order.undo_of {
        None => format!("{id}{run}/{}", order.step),
        Some(step) => format!("{id}{run}/{step}/undo"),
    };
    if tries > 0 && shop.has(CompanyDefect::BackendRetryFreshKey) {
        key.push_str(&format!("/try-{tries}"));
    }
    key.into()
}

/// One request. `tries` counts those before it under this order, `passage` those of the action.
async fn ask_once(shop: &Shop, order: Order<'_>, key: &SmolStr, tries: u64, passage: u64) -> Learnt {
    let (world, action_id) = (&shop.world, &order.record.action_id);
    shop.point(CrashPoint::PerformBeforeCall, order.record, false, passage).await;
    let note = |is, learnt| {
        world.record(Event::Attempt(Attempt {
            action: action_id.clone(),
            step: order.step.into(),
            key: key.clone(),
            is,
            learnt,
        }));
    };
    let about = About {
        purpose: Purpose::Backend,
        call: None,
        key: key.clone(),
        attempt: tries,
        action: Some(action_id.clone()),
        step: Some(order.step.into()),
        deadline: world.now() + shop.plan.backend.timeout,
    };
    let request = request(shop, order, key);
    note(AttemptIs::Sent, None);
    // The request leaves when its future is polled first, which `join` does in the order given.
    let sent = world.call(request, about);
    let (reply, ()) = future::join(sent, shop.point(CrashPoint::PerformAfterSend, order.record, false, passage)).await;
    let learnt = match &reply.answer {
        Answer::Response(response) => understand(response),
        Answer::Unknown(_) | Answer::Unsent(_) => Learnt::Nothing,
    };
    match &learnt {
        Learnt::Done(_) => {
            note(AttemptIs::Answered, Some(Noted::Done));
            shop.point(CrashPoint::PerformAfterEffect, order.record, false, passage).await;
        }
        Learnt::Refused => note(AttemptIs::Answered, Some(Noted::NotDone)),
        Learnt::Nothing => note(AttemptIs::Unanswered, None),
    }
    learnt
}

fn request(shop: &Shop, order: Order<'_>, key: &str) -> Request<Bytes> {
    let body = StepRequest {
        action: &order.record.action_id,
        kind: &shop.action(order.record.kind).name,
        revision: order.terms.revision,
        key,
        summary: &order.terms.summary,
        terms: &order.terms.terms,
        step: order.step,
        undo_of: order.undo_of,
    };
    // Strings, numbers and maps with string keys have no way to fail; the backend would refuse an empty body.
    let body = serde_json::to_vec(&body).unwrap_or_default();
    let mut request = Request::new(Bytes::from(body));
    *request.method_mut() = Method::POST;
    let url = format_smolstr!("https://backend.{}/steps/{}", shop.plan.domain, order.step);
    match http::Uri::try_from(url.as_str()) {
        Ok(uri) => *request.uri_mut() = uri,
        Err(error) => tracing::error!("a step's URL cannot be made: {error}"), // then nobody answers
    }
    request.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    request
}

/// What an answer says. Whatever is not clearly one of the two outcomes says nothing.
fn understand(response: &Response<Bytes>) -> Learnt {
    if response.status() != StatusCode::OK {
        return Learnt::Nothing;
    }
    match json::parse_object::<StepAnswer>(response.body()) {
        Ok(StepAnswer { outcome: Outcome::Done, receipt: Some(receipt) }) => Learnt::Done(receipt),
        Ok(StepAnswer { outcome: Outcome::Refused, .. }) => Learnt::Refused,
        Ok(StepAnswer { outcome: Outcome::Done, receipt: None }) | Err(_) => Learnt::Nothing,
    }
}
