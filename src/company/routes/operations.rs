//! The operations endpoint: read, confirm, cancel (Operations 5.2, 6, 7).
//!
//! The desk decides; here its decisions are put into the store, one row transaction each, and the performer is set off.

use std::sync::Arc;

use axum::{
    extract::{Path, Request, State, rejection::PathRejection},
    response::{IntoResponse, Response},
};
use http::{StatusCode, header, request::Parts};

use super::segment;
use crate::{
    company::{
        Shop,
        answer::{self, Problem},
        auth::gate::{self, Admitted, Endpoint},
        body,
        desk::operations::{self as desk, Refusal},
        performer,
        record::Record,
        view::{ErrorWithOperation, View},
    },
    plan::{CompanyDefect, CrashPoint},
    protocol::{ConfirmRequest, ErrorBody, ErrorCode, Place, State as OperationState, discovery::OPERATIONS_EXTENSION},
};

type OperationId = Result<Path<String>, PathRejection>;

/// `GET /poppy/operations/{id}`.
pub(super) async fn read(State(shop): State<Arc<Shop>>, id: OperationId, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    finish(&shop, read_it(&shop, id, &parts).await)
}

async fn read_it(shop: &Shop, id: OperationId, parts: &Parts) -> Result<Response, Problem> {
    let (admitted, id) = enter(shop, id, parts).await?;
    let record = find(shop, &admitted, &id)?;
    Ok(show(shop, &look(shop, &record)))
}

/// `POST /poppy/operations/{id}/cancel`.
pub(super) async fn cancel(State(shop): State<Arc<Shop>>, id: OperationId, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    finish(&shop, cancel_it(&shop, id, &parts).await)
}

async fn cancel_it(shop: &Shop, id: OperationId, parts: &Parts) -> Result<Response, Problem> {
    let (admitted, id) = enter(shop, id, parts).await?;
    let found = find(shop, &admitted, &id)?;
    let cancelled = change(shop, &found, |record| desk::cancel(record, shop.world.wall(), shop.rules(record.kind)));
    if cancelled.state.is_final() {
        cancelled.shared.finished.notify_waiters();
    }
    Ok(show(shop, &cancelled))
}

/// `POST /poppy/operations/{id}/confirm`.
pub(super) async fn confirm(State(shop): State<Arc<Shop>>, id: OperationId, request: Request) -> Response {
    let answer = confirm_it(&shop, id, request).await;
    finish(&shop, answer)
}

async fn confirm_it(shop: &Arc<Shop>, id: OperationId, request: Request) -> Result<Response, Problem> {
    let answer_by = shop.world.now() + shop.plan.answers.answer_within;
    let (parts, body) = request.into_parts();
    let (admitted, id) = enter(shop, id, &parts).await?;
    let body = body::read(body).await?;
    let request = ConfirmRequest::parse(&body).map_err(|error| Problem::invalid_request(error.to_string()))?;
    let record = find(shop, &admitted, &id)?;
    let number = record.shared.next_confirm();
    let again = record.confirmation.is_some();
    shop.point(CrashPoint::AcceptReceived, &record, again, number).await;
    revise_meanwhile(shop, &record, number);
    let record = match decide(shop, &admitted, &record, request, number).await {
        (record, None) => record,
        (record, Some(refusal)) => {
            shop.point(CrashPoint::ReplyBefore, &record, again, number).await;
            return Ok(refuse(shop, &record, refusal));
        }
    };
    let record = performer::settled(shop, record, answer_by).await;
    shop.point(CrashPoint::ReplyBefore, &record, again, number).await;
    Ok(show(shop, &record))
}

/// Puts the desk's decision on a confirm into the store, and sets off what it says. No await lies between the store and
/// the performer, so that a caller who goes away cannot part them.
async fn decide(
    shop: &Arc<Shop>,
    admitted: &Admitted,
    record: &Arc<Record>,
    request: ConfirmRequest,
    number: u64,
) -> (Arc<Record>, Option<Refusal>) {
    let rules = shop.rules(record.kind);
    let now = || shop.world.wall();
    let seen = shop.records.get(&record.id).unwrap_or_else(|| Arc::clone(record));
    let passed = desk::would_accept(&seen, admitted.caller(), request, now(), rules);
    if passed {
        shop.point(CrashPoint::AcceptChecked, record, false, number).await;
    }
    // A defect: what passed acts on whatever is there after a gap, instead of being checked in the same transaction.
    let unchecked = passed && shop.has(CompanyDefect::CheckThenAct);
    if unchecked {
        let gap = shop.world.draw("company.check-then-act", &record.id, number).below(20_000);
        shop.world.sleep(std::time::Duration::from_micros(5_000 + gap)).await;
    }
    let (record, refusal, perform) = shop.records.transact(&record.id, |row| {
        let current = row.clone().unwrap_or_else(|| Arc::clone(record));
        let decision = if unchecked {
            desk::accept(&current, request, now(), rules)
        } else {
            desk::confirm(&current, admitted.caller(), request, now(), rules)
        };
        let current = decision.record.map_or(current, Arc::new);
        *row = Some(Arc::clone(&current));
        (current, decision.refusal, decision.perform)
    });
    if let Some(run) = perform {
        performer::start(shop, Arc::clone(&record), run, Some(number));
    }
    (record, refusal)
}

/// Terms may change while a confirm is being answered, before it is checked.
fn revise_meanwhile(shop: &Shop, record: &Record, number: u64) {
    let chance = shop.plan.proposals.revise_during_confirm;
    if chance > 0.0 && shop.world.draw("company.revise-during-confirm", &record.id, number).chance(chance) {
        performer::revise(shop, record);
    }
}

/// The gate, and the Company's own time.
async fn enter(shop: &Shop, id: OperationId, parts: &Parts) -> Result<(Admitted, String), Problem> {
    let id = segment(id)?;
    let admitted = gate::admit(shop, parts, Endpoint::Operations)?;
    shop.take_time(&admitted.jti).await;
    Ok((admitted, id))
}

/// The operation, if the caller may use it (C2, C3) and the Company still keeps it.
fn find(shop: &Shop, admitted: &Admitted, id: &str) -> Result<Arc<Record>, Problem> {
    let record = shop.records.get(id).filter(|record| is_kept(shop, record));
    usable(shop, admitted, record)
}

/// The operation, if the caller may use it now (C2, C3; digest 9.5).
pub(super) fn usable(shop: &Shop, admitted: &Admitted, record: Option<Arc<Record>>) -> Result<Arc<Record>, Problem> {
    match (desk::admit(record.as_deref(), admitted.caller(), &shop.plan.defects), record) {
        (Ok(()), Some(record)) => Ok(record),
        (Err(Refusal::ExtensionRequired), _) => Err(extension_required()),
        (Err(Refusal::SignInRequired), Some(record)) => {
            Err(sign_in_required(shop.action(record.kind).scope.as_deref()))
        }
        (Ok(()) | Err(_), _) => Err(Problem::new(ErrorCode::OperationNotFound, Place::Resource)),
    }
}

/// Whether a record is still readable: until it is final, and for some time after. Forgets it otherwise.
fn is_kept(shop: &Shop, record: &Record) -> bool {
    let Some(final_at) = record.final_at else { return true };
    let age = shop.world.wall().duration_since(final_at);
    let kept = std::time::Duration::try_from(age).unwrap_or_default() <= shop.plan.store.keep_final;
    if !kept {
        shop.records.transact(&record.id, |row| *row = None);
    }
    kept
}

/// The record after the clock was looked at.
fn look(shop: &Shop, record: &Arc<Record>) -> Arc<Record> {
    change(shop, record, |record| desk::expire(record, shop.world.wall(), shop.rules(record.kind)))
}

/// Changes a record in one transaction; what is unchanged is not written.
pub(super) fn change(shop: &Shop, record: &Arc<Record>, decide: impl Fn(&Record) -> Option<Record>) -> Arc<Record> {
    shop.records.transact(&record.id, |row| {
        let current = row.clone().unwrap_or_else(|| Arc::clone(record));
        let current = decide(&current).map_or(current, Arc::new);
        *row = Some(Arc::clone(&current));
        current
    })
}

/// 200 with the bare operation; with `Retry-After` while it is in progress (Operations 5.2, 6).
fn show(shop: &Shop, record: &Record) -> Response {
    let mut response = answer::json(StatusCode::OK, &View::of(record, shop.action(record.kind)));
    if record.state == OperationState::InProgress {
        let wait = answer::retry_after(shop.plan.answers.retry_after);
        response.headers_mut().insert(header::RETRY_AFTER, wait);
    }
    response
}

/// 403 `extension_required` (Operations 2, 9).
pub(super) fn extension_required() -> Problem {
    Problem::with_body(ErrorBody::extension_required(OPERATIONS_EXTENSION), Place::Resource)
}

/// 403 `insufficient_scope` with the scope of the action.
pub(super) fn insufficient_scope(scope: Option<&str>) -> Problem {
    let body = ErrorBody::new(ErrorCode::InsufficientScope).with_scope(scope.unwrap_or_default());
    Problem::with_body(body, Place::Resource)
}

/// 403 `sign_in_required` with the scope of the action (digest 5, 9.5).
pub(super) fn sign_in_required(scope: Option<&str>) -> Problem {
    let body = ErrorBody::new(ErrorCode::SignInRequired).with_scope(scope.unwrap_or_default());
    Problem::with_body(body, Place::Resource)
}

/// The answer to a refused confirm.
fn refuse(shop: &Shop, record: &Record, refusal: Refusal) -> Response {
    let action = shop.action(record.kind);
    let with_operation =
        |error| answer::json(StatusCode::CONFLICT, &ErrorWithOperation { error, operation: View::of(record, action) });
    match refusal {
        Refusal::ExtensionRequired => extension_required().into_response(),
        Refusal::NotFound => Problem::new(ErrorCode::OperationNotFound, Place::Resource).into_response(),
        Refusal::SignInRequired => sign_in_required(action.scope.as_deref()).into_response(),
        Refusal::InsufficientScope => insufficient_scope(action.scope.as_deref()).into_response(),
        Refusal::UserApprovalRequired => Problem::new(ErrorCode::UserApprovalRequired, Place::Resource).into_response(),
        Refusal::TermsChanged => with_operation(ErrorCode::TermsChanged.as_str()),
        Refusal::AlreadyConfirmed => {
            #[derive(serde::Serialize)]
            struct Bare {
                error: &'static str,
            }
            answer::json(StatusCode::CONFLICT, &Bare { error: "already_confirmed" })
        }
    }
}

/// The answer with the nonce that the next request may need.
fn finish(shop: &Shop, answer: Result<Response, Problem>) -> Response {
    let mut response = answer.unwrap_or_else(IntoResponse::into_response);
    shop.offer_nonce(response.headers_mut());
    response
}
