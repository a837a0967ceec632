//! The token endpoint: Sessions start and are renewed by the JWT bearer grant (digest 3.2), and are signed in by the
//! device grant and with Account Tokens (digest 3.5).

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use smol_str::{SmolStr, format_smolstr};

use super::{
    account::{self, SignedIn},
    gate,
    sessions::{Grant, Session},
    sign_in,
};
use crate::{
    company::{
        Shop,
        answer::{self, DPOP, Problem},
        body,
        record::Owner,
    },
    identity::{
        AssertionCheck, AssertionError, AssertionKind, ProofCheck, VerifiedAssertion, VerifiedProof,
        assertions::unverified_issuer, digest, only_proof,
    },
    protocol::{
        ErrorBody, ErrorCode, Place, TokenRequest, TokenResponse,
        token::{CLIENT_ASSERTION_TYPE, GRANT_DEVICE_CODE, GRANT_JWT_BEARER, GRANT_REFRESH_TOKEN, TOKEN_TYPE_DPOP},
    },
};

/// `POST /oauth/token`.
pub(in crate::company) async fn handle(State(shop): State<Arc<Shop>>, request: Request) -> Response {
    let mut response = match grant(&shop, request).await {
        Ok(response) => answer::json(StatusCode::OK, &response),
        Err(problem) => problem.into_response(),
    };
    shop.offer_nonce(response.headers_mut());
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn grant(shop: &Shop, request: Request) -> Result<TokenResponse, Problem> {
    let (parts, body) = request.into_parts();
    let form =
        TokenRequest::parse(&body::read(body).await?).map_err(|error| Problem::invalid_request(error.to_string()))?;
    let (way, credential) = way(shop, &form)?;
    let proof = check_proof(shop, &parts.headers)?;
    shop.take_time(&proof.jti).await;
    let client_id = authenticate(shop, &form).await?.subject;
    let resource = check_resource(shop, form.resource.as_deref())?;
    let (session, signed_in) = match way {
        Way::Session => {
            let user = check_assertion(shop, &client_id, AssertionKind::Session, credential)
                .await
                .map_err(|error| refusal(AssertionKind::Session, &error))?;
            // A signed-in Session gets a signed-out token this way; its Account Token is what signs it in again.
            let session = session(shop, &client_id, &user.subject, form.session_id.as_deref())?;
            let scopes = shop.granted_scopes(form.scope.as_deref().unwrap_or_default());
            return Ok(issue(shop, &session, proof, scopes, resource));
        }
        Way::Device => sign_in::poll(shop, &client_id, &form),
        Way::Account => account::renew(shop, &client_id, &form),
    }
    .map_err(problem)?;
    Ok(issue_signed_in(shop, &session, proof, signed_in, resource))
}

/// The grants.
enum Way {
    /// JWT bearer, with a Session assertion.
    Session,
    /// A poll with a device code.
    Device,
    /// An Account Token.
    Account,
}

/// The grant that is asked for, and the credential that it needs.
fn way<'a>(shop: &Shop, form: &'a TokenRequest) -> Result<(Way, &'a str), Problem> {
    let (way, credential) = match form.grant_type.as_deref() {
        Some(GRANT_JWT_BEARER) => (Way::Session, &form.assertion),
        Some(GRANT_DEVICE_CODE) if shop.offers_sign_in() => (Way::Device, &form.device_code),
        Some(GRANT_REFRESH_TOKEN) if shop.offers_sign_in() => (Way::Account, &form.refresh_token),
        Some(_) => return Err(problem(ErrorCode::UnsupportedGrantType)),
        None => return Err(Problem::invalid_request("no grant_type")),
    };
    let credential = credential.as_deref().ok_or_else(|| Problem::invalid_request("the grant's credential is missing"));
    Ok((way, credential?))
}

fn problem(code: ErrorCode) -> Problem {
    Problem::new(code, Place::TokenEndpoint)
}

/// The proof of a token request: bound to no token, its `jti` good once.
fn check_proof(shop: &Shop, headers: &HeaderMap) -> Result<VerifiedProof, Problem> {
    let check = ProofCheck {
        method: "POST",
        url: &shop.token_endpoint,
        now: shop.unix_now(),
        window_seconds: shop.proof_window_seconds(),
        bound: None,
        nonce: shop.nonce_policy(),
        signatures: shop.world.signatures(),
        known: None,
        replay: Some(&shop.proofs_seen),
    };
    only_proof(headers.get_all(&DPOP).iter().map(HeaderValue::as_bytes))
        .and_then(|proof| check.verify(proof))
        .map_err(|error| gate::refused(shop, error, Place::TokenEndpoint))
}

/// Authenticates the Agent by its client assertion, whose subject is its `client_id`.
pub(super) async fn authenticate(shop: &Shop, form: &TokenRequest) -> Result<VerifiedAssertion, Problem> {
    let invalid = |why: &str| {
        let body = ErrorBody::new(ErrorCode::InvalidClient).with_description(why);
        Problem::with_body(body, Place::TokenEndpoint)
    };
    let (Some(CLIENT_ASSERTION_TYPE), Some(assertion)) =
        (form.client_assertion_type.as_deref(), form.client_assertion.as_deref())
    else {
        return Err(invalid("no client assertion"));
    };
    // `client_id` may be left out, since the assertion names it (RFC 7521 section 4.2).
    let client_id = match &form.client_id {
        Some(client_id) => client_id.clone(),
        None => unverified_issuer(assertion).ok_or_else(|| invalid("no client_id"))?,
    };
    let verified = check_assertion(shop, &client_id, AssertionKind::Client, assertion).await;
    verified.map_err(|error| refusal(AssertionKind::Client, &error))
}

/// Why an assertion is refused.
#[derive(Debug, thiserror::Error)]
enum Refused {
    /// The Agent's documents cannot be had.
    #[error("client metadata: {0}")]
    Metadata(#[from] super::fetch::FetchError),
    /// The assertion is not good.
    #[error(transparent)]
    Assertion(#[from] AssertionError),
}

fn refusal(kind: AssertionKind, error: &Refused) -> Problem {
    let body = ErrorBody::new(kind.refusal()).with_description(error.to_string());
    Problem::with_body(body, Place::TokenEndpoint)
}

/// Checks an assertion with the Agent's keys; fetches them again, if it may, when its key is unknown.
async fn check_assertion(
    shop: &Shop,
    client_id: &str,
    kind: AssertionKind,
    assertion: &str,
) -> Result<VerifiedAssertion, Refused> {
    let client = shop.clients.get(&shop.world, client_id).await?;
    let check = || AssertionCheck {
        mode: shop.plan.sessions.mode,
        client_id,
        issuer: &shop.origin,
        token_endpoint: &shop.token_endpoint,
        now: shop.unix_now(),
        replay: &shop.assertions_seen,
    };
    match check().verify(kind, assertion, |kid| client.key(kid)) {
        Err(AssertionError::UnknownKey { kid }) => {
            let client = shop.clients.refresh_keys(&shop.world, client_id, &client).await;
            let client = client.ok_or(AssertionError::UnknownKey { kid })?;
            Ok(check().verify(kind, assertion, |kid| client.key(kid))?)
        }
        checked => Ok(checked?),
    }
}

/// The resource that the token is to be for: the operations endpoint where it asks for tokens of its own, or none.
fn check_resource(shop: &Shop, resource: Option<&str>) -> Result<Option<SmolStr>, Problem> {
    match resource {
        None => Ok(None),
        Some(resource) if shop.plan.sessions.operations_resource && resource == shop.operations_endpoint => {
            Ok(Some(resource.into()))
        }
        Some(_) => {
            // RFC 8707 section 2; the protocol's own list has no word for it.
            let body = ErrorBody { error: "invalid_target".to_owned(), ..ErrorBody::new(ErrorCode::InvalidRequest) };
            Err(Problem::with_body(body, Place::TokenEndpoint))
        }
    }
}

/// A new Session, or the one to renew.
fn session(shop: &Shop, client_id: &str, user_id: &str, renewed: Option<&str>) -> Result<Arc<Session>, Problem> {
    if let Some(session_id) = renewed {
        let known = shop.sessions.get(session_id);
        let own = known.filter(|known| known.owner.client_id == client_id && known.owner.user_id == user_id);
        return own.ok_or_else(|| problem(ErrorCode::InvalidSession));
    }
    let person = format!("{client_id}\n{user_id}");
    let number = shop.people.transact(&person, |row| {
        let number = row.as_deref().copied().unwrap_or(0);
        *row = Some(Arc::new(number + 1));
        number
    });
    let drawn: [u8; 12] = shop.world.draw("company.session", &format!("{}\n{person}", shop.plan.name), number).bytes();
    let session_id = format_smolstr!("ses_{}", digest::base64url(drawn));
    let owner = Owner { client_id: client_id.into(), user_id: user_id.into(), session_id: session_id.clone() };
    let session = Arc::new(Session::new(owner));
    shop.sessions.transact(&session_id, |row| *row = Some(Arc::clone(&session)));
    Ok(session)
}

/// A new token of the Session, bound to the proof's key.
fn issue(
    shop: &Shop,
    session: &Session,
    proof: VerifiedProof,
    scopes: Vec<SmolStr>,
    resource: Option<SmolStr>,
) -> TokenResponse {
    issue_by(shop, session, proof, Terms { scopes, resource, sign_in: None })
}

/// The same, of a Session that is signed in.
fn issue_signed_in(
    shop: &Shop,
    session: &Session,
    proof: VerifiedProof,
    signed_in: SignedIn,
    resource: Option<SmolStr>,
) -> TokenResponse {
    let SignedIn { sign_in, scopes, account_token } = signed_in;
    let issued = issue_by(shop, session, proof, Terms { scopes, resource, sign_in: Some(sign_in) });
    TokenResponse { signed_in: true, refresh_token: Some(account_token), ..issued }
}

/// What a token is good for.
struct Terms {
    scopes: Vec<SmolStr>,
    resource: Option<SmolStr>,
    sign_in: Option<SmolStr>,
}

fn issue_by(shop: &Shop, session: &Session, proof: VerifiedProof, terms: Terms) -> TokenResponse {
    let Terms { scopes, resource, sign_in } = terms;
    let name = format!("{}\n{}", shop.plan.name, session.owner.session_id);
    let drawn: [u8; 32] = shop.world.draw("company.token", &name, session.next_token()).bytes();
    let token = format!("sat_{}", digest::base64url(drawn));
    let lifetime = shop.plan.sessions.token_lifetime.as_secs().max(1);
    let ends_at = shop.unix_now().saturating_add_unsigned(lifetime);
    let scope = scopes.join(" ");
    let grant =
        Grant { scopes, resource, sign_in, ..Grant::new(&token, Arc::clone(&session.owner), proof.key, ends_at) };
    shop.grants.transact(&token, |row| *row = Some(Arc::new(grant)));
    TokenResponse {
        access_token: token,
        token_type: TOKEN_TYPE_DPOP.to_owned(),
        expires_in: lifetime,
        scope,
        session_id: session.owner.session_id.to_string(),
        signed_in: false,
        refresh_token: None,
    }
}
