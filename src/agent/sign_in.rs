//! Signing a Session in by the device grant, and out again (RFC 8628, RFC 7009; digest 3.5).

use std::{sync::Arc, time::Duration};

use smol_str::SmolStr;

use super::{
    allow::allow,
    answer::{Content, Ended, Reading},
    held::{Asking, Token},
    process::{Named, Process},
    session::{Grant, NoToken, TokenDesk, Tries, form_request, host_of},
};
use crate::{
    history::record::{Outcome, Purpose},
    protocol::{DeviceAuthorization, ErrorCode, TokenRequest, device::SLOW_DOWN_SECONDS},
    world::Moment,
};

/// How often a sign-in is begun anew because the answer that ended it was lost.
const STARTS_MAX: u32 = 5;

/// How many polls may be refused for reasons that decide nothing.
const REFUSALS_MAX: u32 = 20;

/// How often an Agent asks to revoke an Account Token.
const REVOKES_MAX: u32 = 20;

/// How often an Agent polls before its User has done anything.
const IMPATIENCE_CHANCE: f64 = 0.1;

/// The shortest interval between polls, whatever the Company says: no Agent spins.
const INTERVAL_MIN: Duration = Duration::from_secs(1);

/// The longest interval between polls that an Agent keeps to; a longer one cannot be told from no answer.
const INTERVAL_MAX: Duration = Duration::from_secs(300);

/// What polling came to.
enum Polled {
    SignedIn(Arc<Token>),
    /// The User has not decided.
    Pending,
    /// The code is used up, by an answer that nobody got.
    UsedUp,
    /// The Session cannot be signed in; another one can.
    NoSession,
}

/// A sign-in under way.
struct Course {
    begun: Box<DeviceAuthorization>,
    interval: Duration,
    /// When both codes end.
    ends: Moment,
    /// When the Company takes the next poll.
    next: Moment,
    nonce_demanded: bool,
    /// Refusals that decided nothing.
    in_vain: u32,
}

impl TokenDesk<'_> {
    /// Signs the Session in. `None` if it takes another Session to sign in; there is none then.
    pub(super) async fn sign_in(
        &self,
        process: &mut Process,
        asking: &mut Asking,
    ) -> Result<Option<Arc<Token>>, NoToken> {
        for _ in 0..STARTS_MAX {
            let mut course = self.begin(process, asking).await?;
            let draw = self.person.shared.world.draw("impatience", &self.home.sessions.who, asking.requests());
            let mut polled = Polled::Pending;
            if draw.chance(IMPATIENCE_CHANCE) {
                polled = self.poll(process, asking, &mut course).await?;
            }
            if matches!(polled, Polled::Pending) {
                if !allow(self, process, asking, &course.begun).await? {
                    return Err(not_signed_in("not-allowed"));
                }
                polled = self.poll_to_the_end(process, asking, &mut course).await?;
            }
            match polled {
                Polled::SignedIn(token) => return Ok(Some(token)),
                Polled::Pending | Polled::UsedUp => {}
                Polled::NoSession => {
                    asking.session = None;
                    return Ok(None);
                }
            }
        }
        Err(not_signed_in("answers-lost"))
    }

    /// Asks for codes.
    async fn begin(&self, process: &mut Process, asking: &mut Asking) -> Result<Course, NoToken> {
        let shared = &self.person.shared;
        let at = &self.site.sign_in;
        let endpoint = at.device_endpoint.as_deref().ok_or_else(|| not_signed_in("no-sign-in"))?;
        let scope = match shared.plan.target.as_ref().and_then(|target| target.sign_in.as_ref()) {
            Some(sign_in) => sign_in.scopes.join(" "),
            None => self.scopes(&at.scopes),
        };
        let mut tries = Tries::default();
        loop {
            if let Some(why) = tries.given_up() {
                return Err(NoToken::NotSignedIn(why));
            }
            let scope = (!scope.is_empty()).then(|| scope.clone());
            let form = |credentials| TokenRequest { scope, ..credentials };
            let asked_at = shared.world.now();
            let ended = self.post(process, asking, Purpose::SignIn, endpoint, Reading::SignIn, form).await?;
            if let Content::SignIn(begun) = ended.content {
                if !self.is_of_the_company(&begun) {
                    return Err(not_signed_in("foreign-sign-in-page"));
                }
                return Ok(Course {
                    interval: Duration::from_secs(begun.interval).clamp(INTERVAL_MIN, INTERVAL_MAX),
                    ends: asked_at + Duration::from_secs(begun.expires_in),
                    begun,
                    next: asked_at,
                    nonce_demanded: false,
                    in_vain: 0,
                });
            }
            if !tries.count(&ended) {
                self.wait(process, asking, &tries, &ended).await;
            }
        }
    }

    /// Whether a User may be shown the page: a Company could pass off another one's as its own (digest 3.7).
    fn is_of_the_company(&self, begun: &DeviceAuthorization) -> bool {
        let within = |host: &str, domain: &str| {
            let (host, domain) = (host.to_ascii_lowercase(), domain.to_ascii_lowercase());
            host.strip_suffix(&domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        let domains = &self.site.sign_in.domains;
        let own = |url: &str| {
            let host = host_of(url);
            let of_the_issuer = within(host, host_of(&self.site.issuer));
            url.starts_with("https://") && (of_the_issuer || domains.iter().any(|domain| within(host, domain)))
        };
        own(&begun.verification_uri) && begun.verification_uri_complete.as_deref().is_none_or(own)
    }

    /// Polls until the sign-in is decided.
    async fn poll_to_the_end(
        &self,
        process: &mut Process,
        asking: &mut Asking,
        course: &mut Course,
    ) -> Result<Polled, NoToken> {
        loop {
            let polled = self.poll(process, asking, course).await?;
            if !matches!(polled, Polled::Pending) {
                return Ok(polled);
            }
        }
    }

    /// One poll, as soon as the Company takes it.
    async fn poll(&self, process: &mut Process, asking: &mut Asking, course: &mut Course) -> Result<Polled, NoToken> {
        let world = &self.person.shared.world;
        if course.next >= course.ends {
            return Err(not_signed_in(ErrorCode::ExpiredToken.as_str()));
        }
        if world.now() < course.next {
            world.sleep_until(course.next).await;
            process.next_due(course.next);
        }
        let grant = Grant::Device(&course.begun.device_code);
        let asked_at = world.wall();
        let ended = self.ask(process, asking, grant, None).await?;
        if let Content::Token(answer) = &ended.content {
            return Ok(Polled::SignedIn(self.take(asking, grant, None, answer, asked_at)?));
        }
        course.next = world.now() + course.interval.max(ended.retry_after.unwrap_or_default());
        match (ended.outcome, ended.code) {
            (_, Some(ErrorCode::SlowDown)) => {
                course.interval += Duration::from_secs(SLOW_DOWN_SECONDS);
                course.next = world.now() + course.interval;
                Ok(Polled::Pending)
            }
            (_, Some(ErrorCode::UseDpopNonce)) if !course.nonce_demanded => {
                course.nonce_demanded = true; // that was not counted as a poll
                course.next = world.now();
                Ok(Polled::Pending)
            }
            (_, Some(ErrorCode::InvalidGrant)) => Ok(Polled::UsedUp),
            (_, Some(ErrorCode::InvalidSession | ErrorCode::AccountMismatch)) => Ok(Polled::NoSession),
            (_, Some(ErrorCode::ExpiredToken | ErrorCode::AccessDenied)) => Err(NoToken::NotSignedIn(why(&ended))),
            (_, Some(ErrorCode::AuthorizationPending)) => Ok(Polled::Pending),
            // Nobody knows, or another copy of the poll used up its proof and assertion: the next one tells.
            _ => {
                course.in_vain += u32::from(ended.outcome == Outcome::Refused);
                if course.in_vain < REFUSALS_MAX { Ok(Polled::Pending) } else { Err(NoToken::NotSignedIn(why(&ended))) }
            }
        }
    }

    /// Signs out: the Account Token is revoked, and no token of the sign-in is used any more.
    pub(super) async fn sign_out(&self, process: &mut Process) -> Result<(), NoToken> {
        let sessions = &self.home.sessions;
        let mut asking = sessions.asking.lock().await;
        let Some(account) = asking.account.take() else { return Ok(()) };
        sessions.doubt();
        sessions.forget_tokens();
        let Some(endpoint) = self.site.sign_in.revocation_endpoint.as_deref() else { return Ok(()) };
        let mut tries = Tries::default();
        for _ in 0..REVOKES_MAX {
            let form = |credentials| TokenRequest { token: Some(account.0.clone()), ..credentials };
            let ended = self.post(process, &mut asking, Purpose::Revoke, endpoint, Reading::Nothing, form).await?;
            if ended.outcome == Outcome::Done || tries.given_up().is_some() {
                break;
            }
            if !tries.count(&ended) {
                self.wait(process, &asking, &tries, &ended).await;
            }
        }
        Ok(())
    }

    /// One request with the Agent's credentials and no proof.
    async fn post(
        &self,
        process: &mut Process,
        asking: &mut Asking,
        purpose: Purpose,
        endpoint: &str,
        reading: Reading<'_>,
        form: impl FnOnce(TokenRequest) -> TokenRequest,
    ) -> Result<Ended, NoToken> {
        let mut call = process.call(purpose);
        call.company = Some(self.site.company.clone());
        call.session.clone_from(&asking.session);
        let request = form_request(endpoint, form(self.credentials(&call.id)?).to_form())?;
        let named = Named { key: self.home.sessions.who.clone(), attempt: asking.next_request() };
        Ok(process.send(&self.person.shared, call, named, request, reading).await)
    }
}

fn not_signed_in(why: &'static str) -> NoToken {
    NoToken::NotSignedIn(SmolStr::new_static(why))
}

fn why(ended: &Ended) -> SmolStr {
    ended.why.clone().unwrap_or_default()
}
