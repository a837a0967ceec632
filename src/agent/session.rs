//! A User's Session at one Company: started when it is first needed, renewed before its token ends (digest 3.2, 3.6).

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Uri, header};
use smol_str::SmolStr;

use super::{
    answer::{Content, Ended, Reading},
    back_off,
    discovery::Site,
    person::{Home, Person, lock},
    process::{Named, Process, jti},
};
use crate::{
    history::{
        Event,
        record::{self, Call, Outcome, Purpose},
    },
    identity::{KeyError, digest},
    protocol::{
        ErrorCode, TokenRequest, TokenResponse,
        token::{CLIENT_ASSERTION_TYPE, FORM_CONTENT_TYPE, GRANT_JWT_BEARER},
    },
    world::Moment,
};

/// How long assertions are good, in seconds (digest 3.6).
const ASSERTION_SECONDS: i64 = 60;

/// A token is renewed so long before it ends, or in the last tenth of a short life.
const RENEW_BEFORE_MAX: Duration = Duration::from_secs(30);

/// How many refusals that are not about its proof a token request may get before its journey gives up.
const REFUSALS_MAX: u32 = 5;

/// How many refusals of any kind it may get in a row.
const TRIES_MAX: u32 = 20;

/// What a User holds at one Company.
#[derive(Debug)]
pub(super) struct Sessions {
    /// The User and the Company, for draws.
    who: SmolStr,
    held: Mutex<Held>,
    /// Held while a token is asked for, so that journeys side by side ask once.
    asking: tokio::sync::Mutex<Asking>,
}

#[derive(Debug, Default)]
struct Held {
    /// One token for each `resource`.
    tokens: Vec<(Option<SmolStr>, Arc<Token>)>,
    /// The last nonce by the host that it came from: a token endpoint and an API on one host probably share theirs.
    nonces: Vec<(SmolStr, SmolStr)>,
}

#[derive(Debug, Default)]
struct Asking {
    session: Option<SmolStr>,
    requests: u64,
}

/// A Session Token.
pub(super) struct Token {
    /// `Authorization`.
    pub(super) header: HeaderValue,
    pub(super) ath: String,
    pub(super) session: SmolStr,
    /// When it ends.
    pub(super) ends: Moment,
    renew_at: Moment,
}

/// Not shown: it is a credential.
impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Token").field("session", &self.session).finish_non_exhaustive()
    }
}

/// A Company gives no token: its error code, or why none could be asked for.
#[derive(Debug)]
pub(super) struct NoToken(pub(super) SmolStr);

impl From<KeyError> for NoToken {
    fn from(error: KeyError) -> Self {
        tracing::error!("a credential cannot be made: {error}");
        Self(SmolStr::new_static("no-key"))
    }
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

    /// The token for a resource, unless it is about to end or is the one that was refused.
    fn usable(&self, resource: Option<&str>, now: Moment, refused: Option<&Arc<Token>>) -> Option<Arc<Token>> {
        let held = lock(&self.held);
        let (_, token) = held.tokens.iter().find(|(known, _)| known.as_deref() == resource)?;
        let good = now < token.renew_at && !refused.is_some_and(|refused| Arc::ptr_eq(refused, token));
        good.then(|| Arc::clone(token))
    }

    fn keep(&self, resource: Option<&str>, token: &Arc<Token>) {
        let tokens = &mut lock(&self.held).tokens;
        match tokens.iter_mut().find(|(known, _)| known.as_deref() == resource) {
            Some((_, kept)) => *kept = Arc::clone(token),
            None => tokens.push((resource.map(SmolStr::from), Arc::clone(token))),
        }
    }
}

/// Asks for tokens on behalf of one process.
pub(super) struct TokenDesk<'a> {
    pub(super) person: &'a Person,
    pub(super) home: &'a Home,
    pub(super) site: &'a Site,
}

impl TokenDesk<'_> {
    /// A token for a resource other than the `refused` one; starts or renews the Session if need be.
    pub(super) async fn token(
        &self,
        process: &mut Process,
        resource: Option<&str>,
        refused: Option<&Arc<Token>>,
    ) -> Result<Arc<Token>, NoToken> {
        let world = &self.person.shared.world;
        let sessions = &self.home.sessions;
        if let Some(token) = sessions.usable(resource, world.now(), refused) {
            return Ok(token);
        }
        let mut asking = sessions.asking.lock().await;
        if let Some(token) = sessions.usable(resource, world.now(), refused) {
            return Ok(token);
        }
        let (mut refusals, mut failures, mut waits, mut nonce_demanded) = (0, 0, 0, false);
        let mut why = None;
        while refusals < REFUSALS_MAX && failures < TRIES_MAX {
            let asked_at = world.now();
            let ended = self.ask(process, &mut asking, resource).await?;
            if let Content::Token(answer) = &ended.content {
                return self.take(&mut asking, resource, answer, asked_at);
            }
            failures = if ended.outcome == Outcome::Refused { failures + 1 } else { 0 };
            match ended.code {
                Some(ErrorCode::UseDpopNonce) if !nonce_demanded => {
                    nonce_demanded = true;
                    continue;
                }
                Some(ErrorCode::InvalidSession) => asking.session = None,
                Some(ErrorCode::InvalidGrant) if refusals > 0 => asking.session = None,
                _ => {}
            }
            // Another copy of the request may have used up what this one carried.
            let proof = matches!(ended.code, Some(ErrorCode::UseDpopNonce | ErrorCode::InvalidDpopProof));
            refusals += u32::from(ended.outcome == Outcome::Refused && !proof && ended.status != Some(429));
            waits += 1;
            let draw = world.draw("back-off-token", &sessions.who, asking.requests);
            let wait = back_off::wait(&self.person.shared.plan.swarm.retry, waits, draw);
            let due = world.now() + wait.max(ended.retry_after.unwrap_or_default());
            why = ended.why;
            world.sleep_until(due).await;
            process.next_due(due);
        }
        Err(NoToken(why.unwrap_or_default()))
    }

    /// One token request, with a proof and assertions of its own.
    async fn ask(&self, process: &mut Process, asking: &mut Asking, resource: Option<&str>) -> Result<Ended, NoToken> {
        let (shared, sessions) = (&self.person.shared, &self.home.sessions);
        let endpoint = self.site.token_endpoint.as_str();
        let mut call = process.call(Purpose::Token);
        call.company = Some(self.site.company.clone());
        call.session.clone_from(&asking.session);
        let request = self.request(&mut call, endpoint, asking.session.as_deref(), resource)?;
        let named = Named { key: sessions.who.clone(), attempt: asking.requests };
        asking.requests += 1;
        let ended = process.send(shared, call, named, request, Reading::Token).await;
        if let Some(nonce) = &ended.nonce {
            sessions.keep_nonce(host_of(endpoint), nonce.clone());
        }
        Ok(ended)
    }

    fn request(
        &self,
        call: &mut Call,
        endpoint: &str,
        session: Option<&str>,
        resource: Option<&str>,
    ) -> Result<Request<Bytes>, NoToken> {
        let shared = &self.person.shared;
        let swarm = &shared.plan.swarm;
        let (now, assertions) = (shared.unix_now(), &self.person.operator.assertions);
        let audience = swarm.session_mode.assertion_audience(&self.site.issuer, endpoint);
        let fresh = |purpose: &str| jti(shared, purpose, &call.id);
        let (client, person, proof) = (fresh("client-assertion"), fresh("session-assertion"), fresh("proof"));
        let scope = match &swarm.scopes {
            Some(scopes) => scopes.join(" "),
            None => self.site.scopes.clone(),
        };
        let form = TokenRequest {
            grant_type: Some(GRANT_JWT_BEARER.to_owned()),
            assertion: Some(assertions.session(&self.home.user_id, audience, now, ASSERTION_SECONDS, &person)?),
            client_id: Some(assertions.client_id().to_owned()),
            client_assertion_type: Some(CLIENT_ASSERTION_TYPE.to_owned()),
            client_assertion: Some(assertions.client(audience, now, ASSERTION_SECONDS, &client)?),
            session_id: session.map(str::to_owned),
            resource: resource.map(str::to_owned),
            scope: (!scope.is_empty()).then_some(scope),
        };
        let nonce = self.home.sessions.nonce(host_of(endpoint));
        let made = self.home.proofs.make("POST", endpoint, now, &proof, None, nonce.as_deref())?;
        call.proof = Some(proof);
        let mut request = Request::new(Bytes::from(form.to_form()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = endpoint.parse::<Uri>().map_err(|_| NoToken(SmolStr::new_static("no-endpoint")))?;
        let headers = request.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(FORM_CONTENT_TYPE));
        headers.insert("dpop", secret(&made)?);
        Ok(request)
    }

    /// Takes a token into use, and notes a Session that is new.
    fn take(
        &self,
        asking: &mut Asking,
        resource: Option<&str>,
        answer: &TokenResponse,
        asked_at: Moment,
    ) -> Result<Arc<Token>, NoToken> {
        let session = SmolStr::from(answer.session_id.as_str());
        let lives = Duration::from_secs(answer.expires_in);
        let token = Arc::new(Token {
            header: secret(&format!("DPoP {}", answer.access_token))?,
            ath: digest::ath(&answer.access_token),
            session: session.clone(),
            ends: asked_at + lives,
            renew_at: asked_at + (lives - RENEW_BEFORE_MAX.min(lives / 10)),
        });
        if asking.session.as_ref() != Some(&session) {
            lock(&self.home.sessions.held).tokens.clear(); // those of a Session that is gone
            self.person.shared.world.record(Event::Session(record::Session {
                id: session.clone(),
                company: self.site.company.clone(),
                operator: self.person.operator.name.clone(),
                user: self.person.user(),
                extensions: self.person.operator.extensions.clone(),
            }));
            asking.session = Some(session);
        }
        self.home.sessions.keep(resource, &token);
        Ok(token)
    }
}

/// The host of an absolute URL.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', ':']).next().unwrap_or_default()
}

/// A header that `Debug` does not show.
pub(super) fn secret(text: &str) -> Result<HeaderValue, NoToken> {
    let mut value = HeaderValue::from_str(text).map_err(|_| NoToken(SmolStr::new_static("unreadable")))?;
    value.set_sensitive(true);
    Ok(value)
}
