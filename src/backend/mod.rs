//! The backend behind a Company: where an action takes effect. A party of its own, reached through the Wire only; it
//! alone opens the ledger, and shares no code with the Company's decisions.

mod desk;
mod exchange;
mod memory;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::{Path, Request, State, rejection::PathRejection},
    response::{IntoResponse, Response},
    routing::post,
};
use http::StatusCode;

use crate::{limits, plan::CompanyPlan, world::World};
use desk::Backend;

/// The router of a new incarnation of a Company's backend.
pub fn router(world: World, plan: Arc<CompanyPlan>) -> Router {
    let backend = Arc::new(Backend::open(world, plan));
    Router::new().route("/steps/{step}", post(take)).with_state(backend)
}

/// `POST /steps/{step}`: does the step, once for its key, and answers what became of it.
async fn take(
    State(backend): State<Arc<Backend>>,
    step: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    let Ok(Path(step)) = step else { return StatusCode::BAD_REQUEST.into_response() };
    let Ok(body) = axum::body::to_bytes(request.into_body(), limits::BODY_BYTES_MAX).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    match exchange::Order::parse(&body) {
        Ok(order) if order.step == step => {
            let (outcome, delivery) = desk::answer(&backend, order).await;
            (Extension(delivery), outcome).into_response()
        }
        Ok(_) | Err(_) => StatusCode::BAD_REQUEST.into_response(),
    }
}
