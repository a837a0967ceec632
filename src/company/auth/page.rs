//! Sign-in on another device, the User's side (RFC 8628 section 3.3; digest 3.5): the Company's page, on which she allows
//! it or denies it. She says which account is hers, and is believed.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    response::{Html, IntoResponse, Response},
};
use http::StatusCode;
use smol_str::SmolStr;

use super::sign_in::{Decision, Pending};
use crate::{
    company::{Shop, body},
    limits,
};

/// `GET /device`: the page that the User's browser opens. Opening it decides nothing.
pub(in crate::company) async fn show(State(shop): State<Arc<Shop>>, request: Request) -> Response {
    let user_code = field(request.uri().query().unwrap_or_default().as_bytes(), "user_code");
    let Some(pending) = waiting(&shop, user_code.as_deref().unwrap_or_default()) else {
        return told(StatusCode::NOT_FOUND, "This code is not known, or no longer good.");
    };
    let form = format!(
        "<form method=\"post\"><p>{} asks to act for you at {}: {}.</p>\
         <p><label>Account <input name=\"account\" required></label></p>\
         <p><button name=\"decision\" value=\"allow\">Allow</button> \
         <button name=\"decision\" value=\"deny\" formnovalidate>Deny</button></p></form>",
        escaped(&pending.client_id),
        escaped(&shop.plan.title),
        escaped(&pending.scopes.join(", ")),
    );
    Html(document(&form)).into_response()
}

/// `POST /device`: what the User decides there. Said twice, it counts once.
pub(in crate::company) async fn decide(State(shop): State<Arc<Shop>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = match body::read(body).await {
        Ok(body) => body,
        Err(problem) => return problem.into_response(),
    };
    let user_code = field(parts.uri.query().unwrap_or_default().as_bytes(), "user_code");
    let user_code = user_code.or_else(|| field(&body, "user_code")).unwrap_or_default();
    shop.take_time(&user_code).await;
    let account = field(&body, "account").filter(|account| {
        (1..=limits::ACCOUNT_BYTES_MAX).contains(&account.len()) && !account.chars().any(char::is_control)
    });
    let decision = match (field(&body, "decision").as_deref(), account) {
        (Some("allow"), Some(account)) => Some((account, field(&body, "scope"))),
        (Some("deny"), _) => None,
        _ => return told(StatusCode::BAD_REQUEST, "Say allow, with an account, or deny."),
    };
    let Some(device_code) = shop.accounts.user_codes.get(&user_code) else {
        return told(StatusCode::NOT_FOUND, "This code is not known, or no longer good.");
    };
    let now = shop.world.now();
    let taken = shop.accounts.pending.transact(&device_code, |row| {
        let pending = row.clone().filter(|pending| now < pending.ends_at)?;
        let decision = match &decision {
            None => Decision::Denied,
            Some((account, scopes)) => allowed(&pending, account, scopes.as_deref()),
        };
        let fits = pending.decision == Decision::Open || pending.decision == decision;
        if fits {
            *row = Some(Arc::new(pending.decided(decision)));
        }
        Some(fits)
    });
    match taken {
        Some(true) => told(StatusCode::OK, "Done. You can go back to your Agent."),
        Some(false) => told(StatusCode::CONFLICT, "This was decided otherwise before."),
        None => told(StatusCode::NOT_FOUND, "This code is not known, or no longer good."),
    }
}

/// What the User allows: all that was asked for, or the part of it that she names.
fn allowed(pending: &Pending, account: &str, scopes: Option<&str>) -> Decision {
    let named = |scope: &&SmolStr| scopes.is_none_or(|named| named.split_ascii_whitespace().any(|one| one == **scope));
    Decision::Allowed { account: account.into(), scopes: pending.scopes.iter().filter(named).cloned().collect() }
}

/// The sign-in behind a user code that is still good.
fn waiting(shop: &Shop, user_code: &str) -> Option<Arc<Pending>> {
    let device_code = shop.accounts.user_codes.get(user_code)?;
    shop.accounts.pending.get(&device_code).filter(|pending| shop.world.now() < pending.ends_at)
}

/// A field of a form.
fn field(form: &[u8], name: &str) -> Option<String> {
    form_urlencoded::parse(form).find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
}

fn told(status: StatusCode, text: &str) -> Response {
    (status, Html(document(&format!("<p>{text}</p>")))).into_response()
}

fn document(content: &str) -> String {
    format!("<!doctype html><html lang=\"en\"><title>Sign in</title>{content}</html>")
}

/// Text as it may stand in a page.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
