//! One request with a Session Token: a proof of its own for every try, a nonce when one is demanded, a renewed token
//! when the old one is refused, a sign-in when one is required (digest 3.3 to 3.5; rule OA-16).

use std::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Uri, header};
use smol_str::SmolStr;

use super::{
    answer::{Ended, Expected, Reading},
    discovery::Site,
    held::{Token, Wanted},
    person::{Home, Person, lock},
    process::{Named, Process, jti},
    session::{NoToken, TokenDesk, secret},
    view::Seen,
};
use crate::{
    history::record::{ApprovedBy, Outcome, Purpose},
    identity::KeyError,
    protocol::ErrorCode,
};

/// The header with the proof, which as a text would be read anew for each request.
pub(super) static DPOP: HeaderName = HeaderName::from_static("dpop");

/// A URL in the forms that requests need.
#[derive(Debug)]
pub(super) struct Url {
    text: String,
    uri: Uri,
}

impl Url {
    /// A target; `None` if the text is no URL.
    pub(super) fn new(text: String) -> Option<Self> {
        let uri: Uri = text.parse().ok()?;
        uri.host()?;
        Some(Self { text, uri })
    }

    fn host(&self) -> &str {
        self.uri.host().unwrap_or_default()
    }
}

/// How often requests were sent, by purpose: names each try to faults and draws.
#[derive(Debug, Default)]
pub(super) struct Attempts([AtomicU64; 16]);

impl Attempts {
    fn next(&self, purpose: Purpose) -> u64 {
        self.0.get(purpose as usize).map_or(0, |count| count.fetch_add(1, Ordering::Relaxed))
    }
}

/// A proof that a defect sends again.
#[derive(Debug, Clone)]
pub(super) struct KeptProof {
    jti: SmolStr,
    header: HeaderValue,
}

/// What is asked, in what words, where.
#[derive(Debug)]
pub(super) struct Errand<'a> {
    pub(super) purpose: Purpose,
    pub(super) method: Method,
    pub(super) url: &'a Url,
    /// The resource that its token has to name.
    pub(super) resource: Option<&'a str>,
    pub(super) body: Bytes,
    /// Names it to faults and draws.
    pub(super) key: &'a SmolStr,
    pub(super) attempts: &'a Attempts,
    pub(super) intent: Option<&'a SmolStr>,
    pub(super) kind: Option<&'a SmolStr>,
    pub(super) action: Option<&'a SmolStr>,
    pub(super) confirms: Option<(u64, ApprovedBy)>,
    /// The operation that the answer has to show.
    pub(super) id: Option<&'a str>,
    /// That operation as an earlier answer showed it.
    pub(super) known: Option<&'a Seen>,
    /// Not sent once this is set.
    pub(super) unless: Option<&'a AtomicBool>,
    /// Where the proof of the first try is kept for the later ones (a defect).
    pub(super) kept_proof: Option<&'a Mutex<Option<KeptProof>>>,
}

/// Why a request was not sent.
#[derive(Debug)]
pub(super) enum NotSent {
    /// Its reason to be fell away while it was made ready.
    Withheld,
    /// There is no token for it.
    NoToken,
    /// It needs a Session that is signed in, and there is none.
    NotSignedIn,
    /// The token for it was asked for in vain as often as it may be.
    GaveUp,
}

impl From<NoToken> for NotSent {
    fn from(error: NoToken) -> Self {
        match error {
            NoToken::Refused(why) => {
                tracing::debug!("no token: {why}");
                Self::NoToken
            }
            NoToken::GaveUp => Self::GaveUp,
            NoToken::NotSignedIn(why) => {
                tracing::debug!("not signed in: {why}");
                Self::NotSignedIn
            }
        }
    }
}

impl From<KeyError> for NotSent {
    fn from(error: KeyError) -> Self {
        NoToken::from(error).into()
    }
}

impl Errand<'_> {
    fn acts(&self) -> bool {
        self.method != Method::GET
    }

    /// Sends the request, and again at once where the answer asks for a nonce, another token or a sign-in.
    pub(super) async fn run(
        &self,
        person: &Person,
        home: &Home,
        site: &Site,
        process: &mut Process,
    ) -> Result<Ended, NotSent> {
        let desk = TokenDesk { person, home, site };
        let (mut nonce_demanded, mut token_refused, mut sign_in_asked) = (false, false, false);
        let signed_in = self.kind.is_some_and(|kind| site.sign_in.is_needed_by(kind));
        let mut wanted = Wanted { resource: self.resource, signed_in };
        let mut token = desk.token(process, wanted, None).await?;
        // A try that may have acted: what comes after it, and never leaves, does not make it one that did not.
        let mut open: Option<Ended> = None;
        loop {
            if self.unless.is_some_and(|unless| unless.load(Ordering::Acquire)) {
                return open.ok_or(NotSent::Withheld);
            }
            let again = nonce_demanded || token_refused || sign_in_asked;
            let ended = self.send(person, home, site, process, &token, again).await?;
            if let Some(nonce) = &ended.nonce {
                home.sessions.keep_nonce(self.url.host(), nonce.clone());
            }
            let renews = match ended.code {
                Some(ErrorCode::UseDpopNonce) if !nonce_demanded && ended.nonce.is_some() => {
                    nonce_demanded = true;
                    false
                }
                Some(ErrorCode::InvalidToken) if !token_refused => {
                    token_refused = true;
                    true
                }
                Some(ErrorCode::SignInRequired) if !sign_in_asked => {
                    sign_in_asked = true;
                    wanted.signed_in = true;
                    if let Some(kind) = self.kind {
                        site.sign_in.note_needed_by(kind);
                    }
                    true
                }
                _ if ended.outcome == Outcome::Unsent => return Ok(open.unwrap_or(ended)),
                _ => return Ok(ended),
            };
            if ended.outcome == Outcome::Unknown {
                open = Some(ended);
            }
            if renews {
                token = match desk.token(process, wanted, Some(&token)).await {
                    Ok(token) => token,
                    Err(why) => return open.ok_or_else(|| why.into()),
                };
            }
        }
    }

    async fn send(
        &self,
        person: &Person,
        home: &Home,
        site: &Site,
        process: &mut Process,
        token: &Token,
        again: bool,
    ) -> Result<Ended, NotSent> {
        let shared = &person.shared;
        let nonce = home.sessions.nonce(self.url.host());
        let mut call = process.call(self.purpose);
        let proof = self.proof(person, home, &call.id, token, nonce.as_deref(), again)?;
        call.session = Some(token.session.clone());
        call.company = Some(site.company.clone());
        call.intent = self.intent.cloned();
        call.kind = self.kind.cloned();
        call.action = self.action.cloned();
        (call.revision, call.approved_by) = self.confirms.unzip();
        call.proof = Some(proof.jti);
        let mut request = Request::new(self.body.clone());
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.url.uri.clone();
        let headers = request.headers_mut();
        headers.insert(header::AUTHORIZATION, token.header.clone());
        headers.insert(DPOP.clone(), proof.header);
        if !self.body.is_empty() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let named = Named { key: self.key.clone(), attempt: self.attempts.next(self.purpose) };
        let expected = Expected {
            company: &site.company,
            id: self.id,
            known: self.known,
            wrapped: matches!(self.purpose, Purpose::Propose | Purpose::Change),
            acts: self.acts(),
            nonce: nonce.is_some(),
            token_ends: token.ends,
            token_doubtful: &token.doubtful,
        };
        let reading = match self.purpose {
            Purpose::Prepare => Reading::Values(expected),
            _ => Reading::Operation(expected),
        };
        Ok(process.send(shared, call, named, request, reading).await)
    }

    fn proof(
        &self,
        person: &Person,
        home: &Home,
        call: &str,
        token: &Token,
        nonce: Option<&str>,
        again: bool,
    ) -> Result<KeptProof, NotSent> {
        if let (Some(kept), false) = (self.kept_proof, again)
            && let Some(proof) = lock(kept).clone()
        {
            return Ok(proof);
        }
        let shared = &person.shared;
        let jti = jti(shared, "proof", call);
        let made =
            home.proofs.make(self.method.as_str(), &self.url.text, shared.unix_now(), &jti, Some(&token.ath), nonce)?;
        let proof = KeptProof { jti, header: secret(made)? };
        if let Some(kept) = self.kept_proof {
            *lock(kept) = Some(proof.clone());
        }
        Ok(proof)
    }
}
