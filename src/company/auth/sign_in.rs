//! Sign-in on another device, the Agent's side (RFC 8628; digest 3.5): it asks for codes, and its polls at the token
//! endpoint learn what the User decided on the Company's page.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use smol_str::{SmolStr, format_smolstr};

use super::{account, account::SignedIn, sessions::Session, token};
use crate::{
    company::{
        Shop,
        answer::{self, Problem},
        body,
    },
    identity::digest,
    limits,
    protocol::{DeviceAuthorization, ErrorCode, Place, TokenRequest, device::SLOW_DOWN_SECONDS},
    world::Moment,
};

/// The letters of user codes: no vowels, so that they make no words (RFC 8628 section 6.1).
const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";

/// A sign-in that waits for its User, or for the Agent to ask after it.
#[derive(Debug, Clone)]
pub(in crate::company) struct Pending {
    pub(super) client_id: SmolStr,
    /// What is asked for.
    pub(super) scopes: Vec<SmolStr>,
    user_code: SmolStr,
    pub(super) ends_at: Moment,
    interval: Duration,
    polled_at: Option<Moment>,
    pub(super) decision: Decision,
}

/// What the User decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    /// Nothing yet.
    Open,
    /// These scopes, for this account.
    Allowed { account: SmolStr, scopes: Vec<SmolStr> },
    /// Nothing at all.
    Denied,
}

impl Pending {
    /// The same with the User's decision.
    pub(super) fn decided(&self, decision: Decision) -> Self {
        Self { decision, ..self.clone() }
    }
}

/// `POST /oauth/device`.
pub(in crate::company) async fn authorize(State(shop): State<Arc<Shop>>, request: Request) -> Response {
    let mut response = match begin(&shop, request).await {
        Ok(begun) => answer::json(StatusCode::OK, &begun),
        Err(problem) => problem.into_response(),
    };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn begin(shop: &Shop, request: Request) -> Result<DeviceAuthorization, Problem> {
    let form = TokenRequest::parse(&body::read(request.into_body()).await?)
        .map_err(|error| Problem::invalid_request(error.to_string()))?;
    let client = token::authenticate(shop, &form).await?;
    shop.take_time(&client.jti).await;
    let asked = form.scope.as_deref().unwrap_or_default();
    let scopes: Vec<SmolStr> = asked.split_ascii_whitespace().map(SmolStr::from).collect();
    if scopes.is_empty() || !scopes.iter().all(|scope| shop.knows_scope(scope)) {
        return Err(Problem::new(ErrorCode::InvalidScope, Place::TokenEndpoint));
    }
    // The assertion's `jti` is good once, so it names this sign-in and no other.
    let name = format!("{}\n{}\n{}", shop.plan.name, client.subject, client.jti);
    let drawn: [u8; 32] = shop.world.draw("company.device-code", &name, 0).bytes();
    let device_code = format!("dev_{}", digest::base64url(drawn));
    let user_code = take_user_code(shop, &name, &device_code);
    let lifetime = Duration::from_secs(limits::SIGN_IN_SECONDS);
    let pending = Pending {
        client_id: client.subject.into(),
        scopes,
        user_code: user_code.clone(),
        ends_at: shop.world.now() + lifetime,
        interval: Duration::from_secs(limits::SIGN_IN_INTERVAL_SECONDS),
        polled_at: None,
        decision: Decision::Open,
    };
    shop.accounts.pending.transact(&device_code, |row| *row = Some(Arc::new(pending)));
    let page = format!("{}/device", shop.origin);
    Ok(DeviceAuthorization {
        device_code,
        verification_uri_complete: Some(format!("{page}?user_code={user_code}")),
        user_code: user_code.to_string(),
        verification_uri: page,
        expires_in: lifetime.as_secs(),
        interval: limits::SIGN_IN_INTERVAL_SECONDS,
    })
}

/// A user code that no other sign-in has; short enough to type, so two may be drawn alike.
fn take_user_code(shop: &Shop, name: &str, device_code: &str) -> SmolStr {
    let mut attempt = 0;
    loop {
        let mut bits = shop.world.draw("company.user-code", name, attempt).bits();
        let mut letter = || {
            let letter = LETTERS[(bits % 20) as usize]; // below 20, the number of letters
            bits /= 20;
            char::from(letter)
        };
        let (one, other): (String, String) = ((0..4).map(|_| letter()).collect(), (0..4).map(|_| letter()).collect());
        let code = format_smolstr!("{one}-{other}");
        let free = shop.accounts.user_codes.transact(&code, |row| {
            let free = row.is_none();
            row.get_or_insert_with(|| Arc::new(device_code.into()));
            free
        });
        if free {
            return code;
        }
        attempt += 1;
    }
}

/// A poll: what the User decided so far. A sign-in that she allowed is handed out once.
///
/// # Errors
/// `authorization_pending`, `slow_down`, `expired_token`, `access_denied`, `account_mismatch`, `invalid_session`;
/// `invalid_grant` for a code that is unknown, used up or another Agent's.
pub(super) fn poll(shop: &Shop, client_id: &str, form: &TokenRequest) -> Result<(Arc<Session>, SignedIn), ErrorCode> {
    let session = shop.sessions.get(form.session_id.as_deref().unwrap_or_default());
    let session = session.filter(|session| session.owner.client_id == client_id).ok_or(ErrorCode::InvalidSession)?;
    let code = form.device_code.as_deref().unwrap_or_default();
    let now = shop.world.now();
    let allowed = shop.accounts.pending.transact(code, |row| {
        let pending = row.clone().filter(|pending| pending.client_id == client_id).ok_or(ErrorCode::InvalidGrant)?;
        if now >= pending.ends_at || pending.decision == Decision::Denied {
            *row = None;
            shop.accounts.user_codes.transact(&pending.user_code, |row| *row = None);
            let denied = now < pending.ends_at;
            return Err(if denied { ErrorCode::AccessDenied } else { ErrorCode::ExpiredToken });
        }
        let mut polled = Pending { polled_at: Some(now), ..(*pending).clone() };
        if pending.polled_at.is_some_and(|polled_at| now.since(polled_at) < pending.interval) {
            polled.interval += Duration::from_secs(SLOW_DOWN_SECONDS);
            *row = Some(Arc::new(polled));
            return Err(ErrorCode::SlowDown);
        }
        let Decision::Allowed { account, scopes } = &pending.decision else {
            *row = Some(Arc::new(polled));
            return Err(ErrorCode::AuthorizationPending);
        };
        shop.accounts.tie(&session, account)?;
        *row = None;
        shop.accounts.user_codes.transact(&pending.user_code, |row| *row = None);
        Ok((account.clone(), scopes.clone()))
    });
    let (account, scopes) = allowed?;
    let signed_in = account::begin(shop, &session, code.into(), account, scopes);
    Ok((session, signed_in))
}
