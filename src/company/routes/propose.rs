//! The Company's API: an endpoint for each action, which proposes an operation or does the action at once, and one that
//! asks for other terms (Operations 2, 3.1, 4, 4.1).

use std::sync::Arc;

use axum::{
    extract::Request,
    response::{IntoResponse, Response},
};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use smol_str::{SmolStr, format_smolstr};

use super::operations::{extension_required, insufficient_scope, sign_in_required, usable};
use crate::{
    company::{
        Shop,
        answer::{self, Problem},
        auth::gate::{self, Admitted, Endpoint},
        body,
        desk::operations::{self as desk, Run},
        performer,
        record::{Record, Shared},
        shop::Wish,
        terms::{self, Heading},
        view::{View, Wrapped},
    },
    identity::digest,
    limits,
    plan::{CompanyDefect, WithoutExtension},
    protocol::{OperationResult, Revision, State, json},
};

/// The body of a proposal. Members beyond these are ignored.
#[derive(Debug, Deserialize)]
struct Proposal {
    #[serde(default)]
    item_id: Option<SmolStr>,
}

/// What is asked for.
struct Asked {
    admitted: Admitted,
    order: SmolStr,
    item_id: Option<SmolStr>,
}

/// `POST /orders/{order_id}/{action}s`.
pub(super) async fn propose(
    shop: Arc<Shop>,
    kind: usize,
    order: Result<String, Problem>,
    request: Request,
) -> Response {
    let answer = match ask(&shop, kind, order, request).await {
        Ok(asked) => answer_proposal(&shop, kind, asked).await,
        Err(problem) => Err(problem),
    };
    finish(&shop, answer)
}

/// `POST /orders/{order_id}/{action}s/{operation_id}`.
pub(super) async fn change(
    shop: Arc<Shop>,
    kind: usize,
    ids: Result<(String, String), Problem>,
    request: Request,
) -> Response {
    let (order, id) = match ids {
        Ok((order, id)) => (Ok(order), id),
        Err(problem) => (Err(problem), String::new()),
    };
    let answer = ask(&shop, kind, order, request).await;
    finish(&shop, answer.and_then(|asked| answer_change(&shop, kind, &asked, &id)))
}

fn finish(shop: &Shop, answer: Result<Response, Problem>) -> Response {
    let mut response = answer.unwrap_or_else(IntoResponse::into_response);
    shop.offer_nonce(response.headers_mut());
    response
}

/// The checks that proposal and change share: credential, scope, order and body.
async fn ask(shop: &Shop, kind: usize, order: Result<String, Problem>, request: Request) -> Result<Asked, Problem> {
    let (parts, body) = request.into_parts();
    let order = order?;
    let admitted = gate::admit(shop, &parts, Endpoint::Api)?;
    shop.take_time(&admitted.jti).await;
    let action = shop.action(kind);
    if action.signed_in && admitted.account.is_none() {
        return Err(sign_in_required(action.scope.as_deref()));
    }
    if !desk::has_scope(admitted.caller(), action) {
        return Err(insufficient_scope(action.scope.as_deref()));
    }
    let body = body::read(body).await?;
    let proposal: Proposal = json::parse_object(&body).map_err(|error| Problem::invalid_request(error.to_string()))?;
    let fits = |id: &str| !id.is_empty() && id.len() <= limits::ORDER_ID_BYTES_MAX && !id.chars().any(char::is_control);
    if !fits(&order) || !proposal.item_id.as_deref().is_none_or(fits) {
        return Err(Problem::invalid_request("order or item ID out of bounds"));
    }
    Ok(Asked { admitted, order: order.into(), item_id: proposal.item_id })
}

async fn answer_proposal(shop: &Arc<Shop>, kind: usize, asked: Asked) -> Result<Response, Problem> {
    let action = shop.action(kind);
    let listed = asked.admitted.lists_operations || shop.has(CompanyDefect::IgnoreExtensionListing);
    if action.operation && listed {
        let record = proposed(shop, kind, &asked);
        return Ok(answer::json(StatusCode::ACCEPTED, &Wrapped { operation: View::of(&record, action) }));
    }
    if action.operation && action.without_extension == WithoutExtension::Refuse {
        return Err(extension_required());
    }
    let record = made(shop, kind, &asked, true, count_anew(shop, kind, &asked));
    shop.records.transact(&record.id, |row| *row = Some(Arc::clone(&record)));
    performer::start(shop, Arc::clone(&record), Run::FIRST, None);
    let record = performer::ended(shop, record).await;
    Ok(answer::json(StatusCode::OK, &Done { result: record.result.as_deref() }))
}

#[derive(Serialize)]
struct Done<'a> {
    result: Option<&'a OperationResult>,
}

/// What makes two requests ask for the same action.
fn wish_key(shop: &Shop, kind: usize, asked: &Asked) -> String {
    let owner = &asked.admitted.grant.owner;
    let item = asked.item_id.as_deref().unwrap_or_default();
    let action = shop.action(kind);
    let mut key = [&owner.client_id, &owner.user_id, asked.order.as_str(), &action.name, item].join("\n");
    // An account's orders are its own; elsewhere a sign-in between two requests leaves the wish what it was.
    if let Some(account) = asked.admitted.account.as_deref().filter(|_| action.signed_in) {
        key.push('\n');
        key.push_str(account);
    }
    key
}

/// The operation that is open for this wish, or a new one (Operations 4; rules OC-14, OC-S1). Two requests for one wish
/// at once get the same.
fn proposed(shop: &Arc<Shop>, kind: usize, asked: &Asked) -> Arc<Record> {
    let (record, new) = shop.wishes.transact(&wish_key(shop, kind, asked), |row| {
        let latest = row.as_ref().and_then(|wish| shop.records.get(&wish.latest));
        let open = latest.filter(|record| {
            let expired = desk::expire(record, shop.world.wall(), shop.rules(kind)).is_some();
            // One of an earlier Session, or another account, belongs there alone (Operations 3.2).
            !expired && !record.state.is_final() && desk::check_owner(record, asked.admitted.caller()).is_ok()
        });
        if let Some(record) = open {
            return (record, false);
        }
        let count = row.as_ref().map_or(0, |wish| wish.count + 1);
        let record = made(shop, kind, asked, false, count);
        shop.tell_offer(&record.action_id, kind, &record.offer);
        shop.records.transact(&record.id, |row| *row = Some(Arc::clone(&record)));
        *row = Some(Arc::new(Wish { count, latest: record.id.clone() }));
        (record, true)
    });
    if new {
        performer::watch_revision(shop, &record);
        if shop.has(CompanyDefect::PerformOnPropose) {
            performer::start(shop, Arc::clone(&record), Run::AHEAD, None);
        }
    }
    record
}

/// The number of an action that is done at once: each request is another.
fn count_anew(shop: &Shop, kind: usize, asked: &Asked) -> u64 {
    shop.wishes.transact(&wish_key(shop, kind, asked), |row| {
        let count = row.as_ref().map_or(0, |wish| wish.count + 1);
        *row = Some(Arc::new(Wish { count, latest: SmolStr::default() }));
        count
    })
}

/// A new record. Its ID is drawn from what it is about, so that no other request shifts it.
fn made(shop: &Shop, kind: usize, asked: &Asked, direct: bool, count: u64) -> Arc<Record> {
    let (world, plan, action) = (&shop.world, &shop.plan, shop.action(kind));
    let named = format!("{}\n{}", plan.name, wish_key(shop, kind, asked));
    let drawn: [u8; 8] = world.draw("company.operation-id", &named, count).bytes();
    let drawn = digest::base64url(drawn);
    let (id, path) = if direct { ("act", "direct") } else { ("op", "operation") };
    let id = format_smolstr!("{id}_{}", &drawn[..10]); // 8 bytes make 11 characters
    let action_id = format_smolstr!("{}/{path}/{id}", plan.name);
    let subject = Arc::new(terms::subject(world, &action_id, asked.order.clone(), asked.item_id.clone()));
    let expires_at = desk::expiry(world.wall(), plan.proposals.lifetime);
    let heading = Heading { revision: Revision::FIRST, edition: 1, expires_at };
    let offer = terms::offer(world, action, &action_id, &subject, heading);
    let revises = !direct
        && world.draw("company.revise-before-approval", &action_id, 0).chance(plan.proposals.revise_before_approval);
    let revise_at = revises
        .then(|| world.now() + plan.proposals.revise_after.sample(world.draw("company.revise-after", &action_id, 0)));
    if direct {
        shop.tell_terms(kind, &offer);
    }
    Arc::new(Record {
        id,
        action_id,
        kind,
        direct,
        owner: Arc::clone(&asked.admitted.grant.owner),
        account: asked.admitted.account.clone(),
        subject,
        offer,
        state: if direct { State::InProgress } else { State::Proposed },
        confirmation: None,
        result: None,
        cancel_asked: false,
        begun: 0,
        done: Vec::new(),
        again: None,
        revise_at,
        final_at: None,
        shared: Arc::new(Shared::default()),
    })
}

/// Other terms for an open operation: 202 with its next revision, or 200 with the operation as it is.
fn answer_change(shop: &Shop, kind: usize, asked: &Asked, id: &str) -> Result<Response, Problem> {
    let record = shop.records.get(id).filter(|record| record.kind == kind && record.subject.order == asked.order);
    let record = usable(shop, &asked.admitted, record)?;
    let (record, revised) = performer::revise(shop, &record);
    let status = if revised { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok(answer::json(status, &Wrapped { operation: View::of(&record, shop.action(kind)) }))
}
