//! The revocation endpoint (RFC 7009): ends a Session Token, or signs out with an Account Token. Confirmed work goes on
//! (Operations 5.2).

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use http::StatusCode;

use super::token::authenticate;
use crate::{
    company::{Shop, answer::Problem, body},
    protocol::TokenRequest,
};

/// `POST /oauth/revoke`.
pub(in crate::company) async fn handle(State(shop): State<Arc<Shop>>, request: Request) -> Response {
    match revoke(&shop, request).await {
        Ok(()) => StatusCode::OK.into_response(),
        Err(problem) => problem.into_response(),
    }
}

async fn revoke(shop: &Shop, request: Request) -> Result<(), Problem> {
    let body = body::read(request.into_body()).await?;
    let form = TokenRequest::parse(&body).map_err(|error| Problem::invalid_request(error.to_string()))?;
    let token = form.token.as_deref().ok_or_else(|| Problem::invalid_request("one `token` is needed"))?;
    let client_id = authenticate(shop, &form).await?.subject;
    // Unknown tokens and those of others are answered alike, so that nobody learns which exist (RFC 7009 section 2.2).
    shop.grants.transact(token, |row| {
        if row.as_ref().is_some_and(|grant| grant.owner.client_id == client_id) {
            *row = None;
        }
    });
    shop.accounts.sign_out(token, &client_id);
    Ok(())
}
