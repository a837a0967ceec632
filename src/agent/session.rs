//! A User's Session at one Company: started when it is first needed, renewed before its token ends, signed in where an
//! action needs that (digest 3.2, 3.5, 3.6).

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Uri, header};
use jiff::Timestamp;
use smol_str::SmolStr;

use super::{
    answer::{Content, Ended, Reading},
    back_off,
    discovery::Site,
    errand::DPOP,
    held::{Asking, Secret, Token, Wanted},
    person::{Home, Person},
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
        token::{CLIENT_ASSERTION_TYPE, FORM_CONTENT_TYPE, GRANT_DEVICE_CODE, GRANT_JWT_BEARER, GRANT_REFRESH_TOKEN},
    },
};

/// How long assertions are good, in seconds (digest 3.6).
const ASSERTION_SECONDS: i64 = 60;

/// A token is renewed so long before it ends, or in the last tenth of a short life.
const RENEW_BEFORE_MAX: Duration = Duration::from_secs(30);

/// How many refusals that are not about its proof a token request may get before its journey gives up.
const REFUSALS_MAX: u32 = 5;

/// How many refusals of any kind it may get in a row.
const TRIES_MAX: u32 = 20;

/// How often a User is asked to sign in for one token.
const SIGN_INS_MAX: u32 = 3;

/// A Company gives no token: its error code, or why none could be asked for.
#[derive(Debug)]
pub(super) enum NoToken {
    /// It gives none.
    Refused(SmolStr),
    /// The sign-in came to nothing.
    NotSignedIn(SmolStr),
    /// It was asked for as often as the plan lets an Agent ask.
    GaveUp,
}

impl From<KeyError> for NoToken {
    fn from(error: KeyError) -> Self {
        tracing::error!("a credential cannot be made: {error}");
        Self::Refused(SmolStr::new_static("no-key"))
    }
}

/// What a token is asked for with.
#[derive(Debug, Clone, Copy)]
pub(super) enum Grant<'a> {
    /// A Session assertion: a new Session, or a signed-out token of the one there is.
    Session,
    /// The code of a sign-in.
    Device(&'a str),
    /// An Account Token.
    Account(&'a Secret),
}

/// How often one thing was asked for in vain.
#[derive(Debug, Default)]
pub(super) struct Tries {
    refusals: u32,
    failures: u32,
    waits: u32,
    nonce_demanded: bool,
    why: SmolStr,
}

impl Tries {
    /// Counts one in vain. Whether it may be sent again at once, with the nonce that was demanded.
    pub(super) fn count(&mut self, ended: &Ended) -> bool {
        self.failures = if ended.outcome == Outcome::Refused { self.failures + 1 } else { 0 };
        if ended.code == Some(ErrorCode::UseDpopNonce) && !self.nonce_demanded {
            self.nonce_demanded = true;
            return true;
        }
        // Another copy of the request may have used up what this one carried.
        let proof = matches!(ended.code, Some(ErrorCode::UseDpopNonce | ErrorCode::InvalidDpopProof));
        self.refusals += u32::from(ended.outcome == Outcome::Refused && !proof && ended.status != Some(429));
        self.waits += 1;
        self.why = ended.why.clone().unwrap_or_default();
        false
    }

    /// Why no more are made, if they are too many.
    pub(super) fn given_up(&self) -> Option<SmolStr> {
        (self.refusals >= REFUSALS_MAX || self.failures >= TRIES_MAX).then(|| self.why.clone())
    }
}

/// Asks for tokens on behalf of one process.
pub(super) struct TokenDesk<'a> {
    pub(super) person: &'a Person,
    pub(super) home: &'a Home,
    pub(super) site: &'a Site,
}

impl TokenDesk<'_> {
    /// The wanted token, other than the `refused` one; starts, renews or signs in the Session if need be.
    pub(super) async fn token(
        &self,
        process: &mut Process,
        wanted: Wanted<'_>,
        refused: Option<&Arc<Token>>,
    ) -> Result<Arc<Token>, NoToken> {
        let (shared, sessions) = (&self.person.shared, &self.home.sessions);
        let always = shared.plan.target.as_ref().is_some_and(|target| target.sign_in.is_some());
        let wanted = Wanted { signed_in: wanted.signed_in || always, ..wanted };
        if let Some(token) = sessions.usable(wanted, shared.world.wall(), refused) {
            return Ok(token);
        }
        // Boxed: most requests have a token at hand, and would carry the room of all that gets one.
        Box::pin(self.obtain(process, wanted, refused)).await
    }

    /// The wanted token, once nobody else asks for one.
    async fn obtain(
        &self,
        process: &mut Process,
        wanted: Wanted<'_>,
        refused: Option<&Arc<Token>>,
    ) -> Result<Arc<Token>, NoToken> {
        let (shared, sessions) = (&self.person.shared, &self.home.sessions);
        let mut asking = sessions.asking.lock().await;
        if let Some(token) = sessions.usable(wanted, shared.world.wall(), refused) {
            return Ok(token);
        }
        let (mut tries, mut sign_ins) = (Tries::default(), 0);
        loop {
            if let Some(why) = tries.given_up() {
                return Err(NoToken::Refused(why));
            }
            if shared.plan.swarm.retry.tries.is_some_and(|most| tries.waits >= most) {
                return Err(NoToken::GaveUp);
            }
            if sign_ins == SIGN_INS_MAX {
                return Err(NoToken::NotSignedIn(SmolStr::new_static("no-session")));
            }
            let account = asking.account.clone();
            let (grant, resource) = match (&asking.session, &account) {
                (Some(_), Some(account)) => (Grant::Account(account), wanted.resource),
                (Some(_), None) if wanted.signed_in => {
                    sign_ins += 1;
                    let token = self.sign_in(process, &mut asking).await?;
                    match token.filter(|_| wanted.resource.is_none()) {
                        Some(token) => return Ok(token),
                        None => continue, // for a token of that resource, or with a new Session
                    }
                }
                // The token of a Session that is signed in next is for no resource yet.
                (None, _) if wanted.signed_in || account.is_some() => (Grant::Session, None),
                (_, None) | (None, Some(_)) => (Grant::Session, wanted.resource),
            };
            let asked_at = shared.world.wall();
            let ended = self.ask(process, &mut asking, grant, resource).await?;
            if let Content::Token(answer) = &ended.content {
                let token = self.take(&mut asking, grant, resource, answer, asked_at)?;
                if resource == wanted.resource && (token.signed_in || !(wanted.signed_in || account.is_some())) {
                    return Ok(token);
                }
                continue;
            }
            match (ended.code, grant) {
                (Some(ErrorCode::InvalidGrant), Grant::Account(_)) => asking.account = None,
                (Some(ErrorCode::InvalidSession | ErrorCode::AccountMismatch), _) => asking.session = None,
                (Some(ErrorCode::InvalidGrant), _) if tries.refusals > 0 => asking.session = None,
                _ => {}
            }
            if !tries.count(&ended) {
                self.wait(process, &asking, &tries, &ended).await;
            }
        }
    }

    /// Waits before the next try.
    pub(super) async fn wait(&self, process: &mut Process, asking: &Asking, tries: &Tries, ended: &Ended) {
        let shared = &self.person.shared;
        let draw = shared.world.draw("back-off-token", &self.home.sessions.who, asking.requests());
        let wait = back_off::wait(&shared.plan.swarm.retry, tries.waits, draw);
        let due = shared.world.now() + wait.max(ended.retry_after.unwrap_or_default());
        shared.world.sleep_until(due).await;
        process.next_due(due);
    }

    /// One token request, with a proof and assertions of its own.
    pub(super) async fn ask(
        &self,
        process: &mut Process,
        asking: &mut Asking,
        grant: Grant<'_>,
        resource: Option<&str>,
    ) -> Result<Ended, NoToken> {
        let (shared, sessions) = (&self.person.shared, &self.home.sessions);
        let endpoint = self.site.token_endpoint.as_str();
        let mut call = process.call(Purpose::Token);
        call.company = Some(self.site.company.clone());
        call.session.clone_from(&asking.session);
        let request = self.request(&mut call, endpoint, grant, asking.session.as_deref(), resource)?;
        let named = Named { key: sessions.who.clone(), attempt: asking.next_request() };
        sessions.doubt();
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
        grant: Grant<'_>,
        session: Option<&str>,
        resource: Option<&str>,
    ) -> Result<Request<Bytes>, NoToken> {
        let shared = &self.person.shared;
        let now = shared.unix_now();
        let fresh = |purpose: &str| jti(shared, purpose, &call.id);
        let mut form = TokenRequest {
            session_id: session.map(str::to_owned),
            resource: resource.map(str::to_owned),
            ..self.credentials(&call.id)?
        };
        match grant {
            Grant::Session => {
                let audience = self.audience();
                let assertions = &self.person.operator.assertions;
                let id = fresh("session-assertion");
                form.grant_type = Some(GRANT_JWT_BEARER.to_owned());
                form.assertion = Some(assertions.session(&self.home.user_id, audience, now, ASSERTION_SECONDS, &id)?);
                let scope = self.scopes(&self.site.scopes);
                form.scope = (!scope.is_empty()).then_some(scope);
            }
            Grant::Device(code) => {
                form.grant_type = Some(GRANT_DEVICE_CODE.to_owned());
                form.device_code = Some(code.to_owned());
            }
            Grant::Account(Secret(token)) => {
                form.grant_type = Some(GRANT_REFRESH_TOKEN.to_owned());
                form.refresh_token = Some(token.clone());
            }
        }
        let proof = fresh("proof");
        let nonce = self.home.sessions.nonce(host_of(endpoint));
        let made = self.home.proofs.make("POST", endpoint, now, &proof, None, nonce.as_deref())?;
        call.proof = Some(proof);
        let mut request = form_request(endpoint, form.to_form())?;
        request.headers_mut().insert(DPOP.clone(), secret(made)?);
        Ok(request)
    }

    /// What the Agent authenticates with in one request: a client assertion of its own.
    pub(super) fn credentials(&self, call: &str) -> Result<TokenRequest, NoToken> {
        let shared = &self.person.shared;
        let assertions = &self.person.operator.assertions;
        let id = jti(shared, "client-assertion", call);
        Ok(TokenRequest {
            client_id: Some(assertions.client_id().to_owned()),
            client_assertion_type: Some(CLIENT_ASSERTION_TYPE.to_owned()),
            client_assertion: Some(assertions.client(self.audience(), shared.unix_now(), ASSERTION_SECONDS, &id)?),
            ..TokenRequest::default()
        })
    }

    fn audience(&self) -> &str {
        let mode = self.person.shared.plan.swarm.session_mode;
        mode.assertion_audience(&self.site.issuer, &self.site.token_endpoint)
    }

    /// The scopes to ask for: those that the plan sets, or those that the Company lists.
    pub(super) fn scopes(&self, listed: &str) -> String {
        match &self.person.shared.plan.swarm.scopes {
            Some(scopes) => scopes.join(" "),
            None => listed.to_owned(),
        }
    }

    /// Takes a token into use, and notes a Session that is new.
    pub(super) fn take(
        &self,
        asking: &mut Asking,
        grant: Grant<'_>,
        resource: Option<&str>,
        answer: &TokenResponse,
        asked_at: Timestamp,
    ) -> Result<Arc<Token>, NoToken> {
        let session = SmolStr::from(answer.session_id.as_str());
        let lives = Duration::from_secs(answer.expires_in);
        let token = Arc::new(Token {
            header: secret(format!("DPoP {}", answer.access_token))?,
            ath: digest::ath(&answer.access_token),
            session: session.clone(),
            ends: after(asked_at, lives),
            renew_at: after(asked_at, lives - RENEW_BEFORE_MAX.min(lives / 10)),
            signed_in: !matches!(grant, Grant::Session),
            doubtful: AtomicBool::new(false),
        });
        if let Some(account) = &answer.refresh_token {
            asking.account = Some(Secret(account.clone()));
        }
        if asking.session.as_ref() != Some(&session) {
            self.home.sessions.forget_tokens(); // those of a Session that is gone
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

/// The time so long after another, or the last that there is.
fn after(time: Timestamp, wait: Duration) -> Timestamp {
    time.checked_add(wait).unwrap_or(Timestamp::MAX)
}

/// A form, as a request that carries no credential beside it.
pub(super) fn form_request(url: &str, form: String) -> Result<Request<Bytes>, NoToken> {
    let mut request = Request::new(Bytes::from(form));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = url.parse::<Uri>().map_err(|_| NoToken::Refused(SmolStr::new_static("no-endpoint")))?;
    request.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(FORM_CONTENT_TYPE));
    Ok(request)
}

/// The host of an absolute URL.
pub(super) fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', ':', '?']).next().unwrap_or_default()
}

/// A header that `Debug` does not show.
pub(super) fn secret(text: String) -> Result<HeaderValue, NoToken> {
    let mut value = HeaderValue::try_from(text).map_err(|_| NoToken::Refused(SmolStr::new_static("unreadable")))?;
    value.set_sensitive(true);
    Ok(value)
}
