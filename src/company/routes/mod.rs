//! The Company's endpoints: documents, Sessions, its API, the operations endpoint.

mod documents;
mod openapi;
mod operations;
mod propose;

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, Request, State, rejection::PathRejection},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use http::StatusCode;

use super::{
    Shop,
    answer::{self, Problem},
    auth::{page, revoke, sign_in, token},
    shop::Addresses,
};
use crate::{
    plan::CompanyPlan,
    protocol::discovery::{AUTHORIZATION_SERVER_PATH, POPPY_JSON_PATH},
};

/// Where the OpenAPI description lies.
const OPENAPI_PATH: &str = "/openapi.json";

/// All endpoints of a Company, for an incarnation of it to become their state.
pub(super) fn of(plan: &CompanyPlan) -> Router<Arc<Shop>> {
    let addresses = Addresses::of(plan);
    let mut router = Router::new()
        .route(POPPY_JSON_PATH, documents::serve(documents::poppy(plan, &addresses)))
        .route(AUTHORIZATION_SERVER_PATH, documents::serve(documents::authorization_server(plan, &addresses)))
        .route(OPENAPI_PATH, documents::serve(openapi::describe(plan, &addresses)))
        .route("/oauth/token", post(token::handle))
        .route("/oauth/revoke", post(revoke::handle))
        .route("/poppy/operations/{operation_id}", get(operations::read))
        .route("/poppy/operations/{operation_id}/confirm", post(operations::confirm))
        .route("/poppy/operations/{operation_id}/cancel", post(operations::cancel));
    if plan.offers_sign_in() {
        router = router
            .route("/oauth/device", post(sign_in::authorize))
            .route("/device", get(page::show).post(page::decide));
    }
    for (kind, name) in plan.actions.keys().enumerate() {
        let propose =
            move |State(shop): State<Arc<Shop>>, order: Result<Path<String>, PathRejection>, request: Request| {
                propose::propose(shop, kind, segment(order), request)
            };
        let change = move |State(shop): State<Arc<Shop>>,
                           ids: Result<Path<(String, String)>, PathRejection>,
                           request: Request| propose::change(shop, kind, segment(ids), request);
        router = router
            .route(&format!("/orders/{{order_id}}/{name}s"), post(propose))
            .route(&format!("/orders/{{order_id}}/{name}s/{{operation_id}}"), post(change));
    }
    router.fallback(nowhere)
}

/// Path segments, or the answer to what is no text.
fn segment<T>(path: Result<Path<T>, PathRejection>) -> Result<T, Problem> {
    path.map(|Path(segments)| segments).map_err(|rejection| Problem::invalid_request(rejection.body_text()))
}

async fn nowhere() -> Response {
    #[derive(serde::Serialize)]
    struct NotFound {
        error: &'static str,
    }
    answer::json(StatusCode::NOT_FOUND, &NotFound { error: "not_found" }).into_response()
}
