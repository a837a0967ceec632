//! The gate of every endpoint that takes a Session Token: token, proof, nonce, replay (C1; digest 3.3, 3.4).

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, header, request::Parts};
use smol_str::SmolStr;

use super::sessions::Grant;
use crate::{
    company::{
        Shop,
        answer::{DPOP, Problem},
        desk::operations::Caller,
    },
    identity::{Bound, NoncePolicy, ProofCheck, ProofError, only_proof},
    protocol::{ErrorCode, Place},
};

/// Which kind of endpoint is asked: a token for the one need not be good for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::company) enum Endpoint {
    /// The Company's API.
    Api,
    /// The operations endpoint.
    Operations,
}

/// A request that passed.
#[derive(Debug)]
pub(in crate::company) struct Admitted {
    /// What its token is good for.
    pub(in crate::company) grant: Arc<Grant>,
    /// The account that its Session is signed in to now.
    pub(in crate::company) account: Option<SmolStr>,
    /// What is left of its token's scopes, where the token outlived its sign-in.
    signed_out: Option<Vec<SmolStr>>,
    /// Whether its Agent lists the Operations extension.
    pub(in crate::company) lists_operations: bool,
    /// The `jti` of its proof: names the request in random choices.
    pub(in crate::company) jti: String,
}

impl Admitted {
    /// Who asks, for the desk.
    pub(in crate::company) fn caller(&self) -> Caller<'_> {
        Caller {
            owner: &self.grant.owner,
            account: self.account.as_ref(),
            scopes: self.signed_out.as_ref().unwrap_or(&self.grant.scopes),
            lists_operations: self.lists_operations,
        }
    }
}

/// Checks the credential of a request.
///
/// # Errors
/// The answer to it.
pub(in crate::company) fn admit(shop: &Shop, parts: &Parts, endpoint: Endpoint) -> Result<Admitted, Problem> {
    if parts.uri.query().is_some_and(has_access_token) {
        return Err(Problem::invalid_request("a token does not belong into a URL"));
    }
    let token = session_token(&parts.headers)?;
    let now = shop.unix_now();
    let invalid = || Problem::new(ErrorCode::InvalidToken, Place::Resource);
    let grant = shop.grants.get(token).filter(|grant| now < grant.ends_at).ok_or_else(invalid)?;
    let wanted = match endpoint {
        Endpoint::Operations if shop.plan.sessions.operations_resource => Some(shop.operations_endpoint.as_str()),
        Endpoint::Operations | Endpoint::Api => None,
    };
    if grant.resource.as_deref() != wanted {
        return Err(invalid());
    }
    let proof = only_proof(parts.headers.get_all(&DPOP).iter().map(HeaderValue::as_bytes));
    let path = parts.uri.path();
    let mut url = String::with_capacity(shop.origin.len() + path.len());
    url.push_str(&shop.origin);
    url.push_str(path);
    let check = ProofCheck {
        method: parts.method.as_str(),
        url: &url,
        now,
        window_seconds: shop.proof_window_seconds(),
        bound: Some(Bound { ath: &grant.ath, thumbprint: grant.key.thumbprint() }),
        nonce: shop.nonce_policy(),
        signatures: shop.world.signatures(),
        known: Some(&grant.key),
        replay: Some(&shop.proofs_seen),
    };
    let verified = proof.and_then(|proof| check.verify(proof));
    let verified = verified.map_err(|error| refused(shop, error, Place::Resource))?;
    let lists_operations = shop.clients.lists_operations(&grant.owner.client_id);
    // Looked up each time, so that a sign-out counts from the next request on (digest 3.5).
    let account = grant.sign_in.as_ref().and_then(|sign_in| shop.accounts.account(sign_in));
    let signed_out = (grant.sign_in.is_some() && account.is_none())
        .then(|| grant.scopes.iter().filter(|scope| shop.is_free_scope(scope)).cloned().collect());
    Ok(Admitted { grant, account, signed_out, lists_operations, jti: verified.jti })
}

/// The answer to a bad proof; with a nonce where the Company demands them.
pub(super) fn refused(shop: &Shop, error: ProofError, place: Place) -> Problem {
    let nonce = match shop.nonce_policy() {
        NoncePolicy::NotRequired => None,
        NoncePolicy::Required(issuer) => Some(issuer.issue(shop.unix_now())),
    };
    Problem::proof(error, place, nonce)
}

/// The token of the one `Authorization` header. The scheme's case does not matter (RFC 9110 section 11.1).
fn session_token(headers: &HeaderMap) -> Result<&str, Problem> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next().ok_or_else(Problem::no_credential)?;
    if values.next().is_some() {
        return Err(Problem::invalid_request("more than one Authorization header"));
    }
    let invalid = || Problem::new(ErrorCode::InvalidToken, Place::Resource);
    let text = value.to_str().map_err(|_| invalid())?;
    let (scheme, token) = text.trim().split_once(' ').ok_or_else(invalid)?;
    if scheme.eq_ignore_ascii_case("DPoP") { Ok(token.trim()) } else { Err(invalid()) }
}

fn has_access_token(query: &str) -> bool {
    form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == "access_token")
}
