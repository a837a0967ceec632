//! What a User holds at one Company: Session Tokens, an Account Token, nonces. All of it is secret.

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use http::HeaderValue;
use jiff::Timestamp;
use smol_str::SmolStr;

use super::person::lock;

/// What a User holds at one Company.
#[derive(Debug)]
pub(super) struct Sessions {
    /// The User and the Company, for draws.
    pub(super) who: SmolStr,
    held: Mutex<Held>,
    /// Held while a token is asked for, so that journeys side by side ask once.
    pub(super) asking: tokio::sync::Mutex<Asking>,
}

#[derive(Debug, Default)]
struct Held {
    /// One token for each `resource`.
    tokens: Vec<(Option<SmolStr>, Arc<Token>)>,
    /// The last nonce by the host that it came from: a token endpoint and an API on one host probably share theirs.
    nonces: Vec<(SmolStr, SmolStr)>,
}

/// What only one journey at a time may use or change.
#[derive(Debug, Default)]
pub(super) struct Asking {
    pub(super) session: Option<SmolStr>,
    /// The Account Token, after a sign-in.
    pub(super) account: Option<Secret>,
    requests: u64,
}

impl Asking {
    /// The number of the request that is sent now.
    pub(super) fn next_request(&mut self) -> u64 {
        self.requests += 1;
        self.requests - 1
    }

    /// How many requests were sent.
    pub(super) fn requests(&self) -> u64 {
        self.requests
    }
}

/// A text that `Debug` does not show.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Secret(pub(super) String);

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

/// A Session Token.
pub(super) struct Token {
    /// `Authorization`.
    pub(super) header: HeaderValue,
    pub(super) ath: String,
    pub(super) session: SmolStr,
    /// When it ends, on the wall clock.
    pub(super) ends: Timestamp,
    pub(super) renew_at: Timestamp,
    /// Whether it was given to a Session that is signed in.
    pub(super) signed_in: bool,
    /// Whether the Company may have ended it since, by giving another one or by a sign-out.
    pub(super) doubtful: AtomicBool,
}

/// Not shown: it is a credential.
impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Token").field("session", &self.session).finish_non_exhaustive()
    }
}

/// Which token is needed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// The resource that it has to name.
    pub(super) resource: Option<&'a str>,
    /// Whether its Session has to be signed in.
    pub(super) signed_in: bool,
}

impl Sessions {
    pub(super) fn new(who: SmolStr) -> Self {
        Self { who, held: Mutex::default(), asking: tokio::sync::Mutex::default() }
    }

    /// The last nonce that came from a host.
    pub(super) fn nonce(&self, from: &str) -> Option<SmolStr> {
        lock(&self.held).nonces.iter().find(|(known, _)| known == from).map(|(_, nonce)| nonce.clone())
    }

    /// Keeps a nonce for the next proof.
    pub(super) fn keep_nonce(&self, from: &str, nonce: SmolStr) {
        let nonces = &mut lock(&self.held).nonces;
        match nonces.iter_mut().find(|(known, _)| known == from) {
            Some((_, kept)) => *kept = nonce,
            None => nonces.push((from.into(), nonce)),
        }
    }

    /// The token that is wanted, unless it is about to end or is the one that was refused.
    pub(super) fn usable(
        &self,
        wanted: Wanted<'_>,
        now: Timestamp,
        refused: Option<&Arc<Token>>,
    ) -> Option<Arc<Token>> {
        let held = lock(&self.held);
        let (_, token) = held.tokens.iter().find(|(known, _)| known.as_deref() == wanted.resource)?;
        let good = now < token.renew_at
            && (token.signed_in || !wanted.signed_in)
            && !refused.is_some_and(|refused| Arc::ptr_eq(refused, token));
        good.then(|| Arc::clone(token))
    }

    /// Takes a token into use.
    pub(super) fn keep(&self, resource: Option<&str>, token: &Arc<Token>) {
        let tokens = &mut lock(&self.held).tokens;
        match tokens.iter_mut().find(|(known, _)| known.as_deref() == resource) {
            Some((_, kept)) => *kept = Arc::clone(token),
            None => {
                // Hardly anybody needs more than one, and an hour's run keeps hundreds of thousands of these.
                tokens.reserve_exact(1);
                tokens.push((resource.map(SmolStr::from), Arc::clone(token)));
            }
        }
    }

    /// A request leaves that may end the tokens that are in use.
    pub(super) fn doubt(&self) {
        lock(&self.held).tokens.iter().for_each(|(_, token)| token.doubtful.store(true, Ordering::Release));
    }

    /// No token is used any more.
    pub(super) fn forget_tokens(&self) {
        lock(&self.held).tokens.clear();
    }
}
