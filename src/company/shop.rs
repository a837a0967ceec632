//! What every request to one incarnation of a Company shares: its world, its plan and its tables.

use std::{collections::BTreeMap, sync::Arc};

use http::{HeaderMap, HeaderValue};
use smol_str::SmolStr;

use super::{
    answer::DPOP_NONCE,
    auth::{
        account::Accounts,
        clients::Clients,
        sessions::{Grant, Session},
    },
    desk::operations::Rules,
    record::{Offer, Record},
};
use crate::{
    history::{Event, record as events},
    identity::{NonceIssuer, NoncePolicy, ReplayGuard},
    plan::{Action, CompanyDefect, CompanyPlan, CrashPoint, Manner},
    world::{Passing, Table, World},
};

/// One User's wish at this Company: the same Agent, User, order, action and item.
#[derive(Debug, Clone)]
pub(super) struct Wish {
    /// How often it was proposed anew.
    pub(super) count: u64,
    /// The latest operation for it.
    pub(super) latest: SmolStr,
}

/// One incarnation of a Company.
#[derive(Debug)]
pub(super) struct Shop {
    pub(super) world: World,
    pub(super) plan: Arc<CompanyPlan>,
    /// `https://{domain}`: the issuer, too.
    pub(super) origin: String,
    pub(super) operations_endpoint: String,
    pub(super) token_endpoint: String,
    pub(super) records: Table<Record>,
    pub(super) wishes: Table<Wish>,
    pub(super) people: Table<u64>,
    pub(super) sessions: Table<Session>,
    pub(super) grants: Table<Grant>,
    pub(super) accounts: Accounts,
    pub(super) clients: Clients,
    pub(super) proofs_seen: Arc<ReplayGuard>,
    pub(super) assertions_seen: Arc<ReplayGuard>,
    terms_told: Table<()>,
    nonces: Option<NonceIssuer>,
}

/// Where a Company is.
#[derive(Debug)]
pub(super) struct Addresses {
    /// `https://{domain}`: the issuer, too.
    pub(super) origin: String,
    pub(super) operations_endpoint: String,
    pub(super) token_endpoint: String,
}

impl Addresses {
    pub(super) fn of(plan: &CompanyPlan) -> Self {
        let origin = format!("https://{}", plan.domain);
        let operations_endpoint = format!("{origin}/poppy/operations");
        Self { token_endpoint: format!("{origin}/oauth/token"), operations_endpoint, origin }
    }
}

impl Shop {
    /// Opens the tables that the Company's disk holds.
    pub(super) fn open(world: World, plan: Arc<CompanyPlan>) -> Self {
        let Addresses { origin, operations_endpoint, token_endpoint } = Addresses::of(&plan);
        let disk = world.disk();
        let nonces = plan.sessions.nonce_every.map(|every| {
            let key = world.draw("company.nonce-key", &plan.name, 0).bytes();
            NonceIssuer::new(&key, i64::try_from(every.as_secs()).unwrap_or(i64::MAX))
        });
        Self {
            operations_endpoint,
            token_endpoint,
            origin,
            records: disk.table("records"),
            wishes: disk.table("wishes"),
            people: disk.table("people"),
            sessions: disk.table("sessions"),
            grants: disk.table("grants"),
            accounts: Accounts::open(disk),
            clients: Clients::new(disk.table("clients"), plan.operations_version.clone()),
            proofs_seen: replay_guard(&world, "proofs"),
            assertions_seen: replay_guard(&world, "assertions"),
            terms_told: disk.table("terms-told"),
            nonces,
            world,
            plan,
        }
    }

    /// Tells the history what the Company's actions are made of.
    pub(super) fn introduce(&self) {
        let shape = |action: &Action| events::ActionShape {
            steps: action.steps.iter().map(|step| step.name.clone()).collect(),
            phrases: action.steps.iter().filter_map(|step| Some((step.name.clone(), step.phrase.clone()?))).collect(),
        };
        let actions: BTreeMap<_, _> =
            self.plan.actions.iter().map(|(name, action)| (name.clone(), shape(action))).collect();
        self.world.record(Event::Company(events::Company { name: self.plan.name.clone(), actions }));
    }

    /// The action that a record is of.
    pub(super) fn action(&self, kind: usize) -> &Action {
        &self.plan.actions[kind] // every `kind` of a record is an index that `propose` took from these very actions
    }

    /// The rules for a record's action.
    pub(super) fn rules(&self, kind: usize) -> Rules<'_> {
        Rules { action: self.action(kind), defects: &self.plan.defects }
    }

    pub(super) fn has(&self, defect: CompanyDefect) -> bool {
        self.plan.defects.has(defect)
    }

    /// The wall clock in whole Unix seconds.
    pub(super) fn unix_now(&self) -> i64 {
        self.world.wall().as_second()
    }

    pub(super) fn proof_window_seconds(&self) -> i64 {
        i64::try_from(self.plan.sessions.proof_window.as_secs()).unwrap_or(i64::MAX)
    }

    pub(super) fn nonce_policy(&self) -> NoncePolicy<'_> {
        self.nonces.as_ref().map_or(NoncePolicy::NotRequired, NoncePolicy::Required)
    }

    /// Puts the nonce of this instant on an answer that has none, where the Company demands nonces (RFC 9449 section 8.2).
    pub(super) fn offer_nonce(&self, headers: &mut HeaderMap) {
        if let Some(issuer) = &self.nonces
            && !headers.contains_key(&DPOP_NONCE)
            && let Ok(nonce) = HeaderValue::try_from(issuer.issue(self.unix_now()))
        {
            headers.insert(DPOP_NONCE.clone(), nonce);
        }
    }

    /// Takes the Company's own time for an answer; `key` names the request.
    pub(super) async fn take_time(&self, key: &str) {
        let draw = self.world.draw("company.latency", key, 0);
        self.world.sleep(self.plan.answers.latency.sample(draw)).await;
    }

    /// A named point of the work on an action, where a crash may end this incarnation. `again` says whether it is a
    /// confirm of an operation that was confirmed before.
    pub(super) async fn point(&self, point: CrashPoint, record: &Record, again: bool, attempt: u64) {
        let current = self.records.get(&record.id);
        let current = current.as_deref().unwrap_or(record);
        let how = if record.direct {
            Manner::Direct
        } else if current.cancel_asked {
            Manner::Cancelled
        } else if again {
            Manner::Repeated
        } else if current.offer.edition > 1 {
            Manner::Revised
        } else {
            Manner::Plain
        };
        let action = &self.action(record.kind).name;
        self.world.point(point, Passing { key: &record.action_id, attempt, action, how }).await;
    }

    /// Whether Users can sign in.
    pub(super) fn offers_sign_in(&self) -> bool {
        self.plan.offers_sign_in()
    }

    /// Whether some action needs that scope.
    pub(super) fn knows_scope(&self, scope: &str) -> bool {
        self.plan.actions.values().any(|action| action.scope.as_deref() == Some(scope))
    }

    /// Whether some action needs that scope and no sign-in: a sign-in is not the only way to it.
    pub(super) fn is_free_scope(&self, scope: &str) -> bool {
        self.plan.actions.values().any(|action| !action.signed_in && action.scope.as_deref() == Some(scope))
    }

    /// Of the scopes that a signed-out Session asks for, those that it can have; in the order asked, each once.
    pub(super) fn granted_scopes(&self, asked: &str) -> Vec<SmolStr> {
        let mut granted: Vec<SmolStr> = Vec::new();
        for scope in asked.split_ascii_whitespace() {
            if self.is_free_scope(scope) && granted.iter().all(|other| other != scope) {
                granted.push(scope.into());
            }
        }
        granted
    }

    /// Tells the history of a revision, before anybody can see it.
    pub(super) fn tell_offer(&self, action_id: &SmolStr, kind: usize, offer: &Offer) {
        self.tell_terms(kind, offer);
        self.world.record(Event::Offer(events::Offer {
            action: action_id.clone(),
            revision: offer.revision.get(),
            terms: offer.digest.clone(),
            expires_at: offer.expires_at.as_str().into(),
        }));
    }

    /// Tells the history the text behind a digest, the first time.
    pub(super) fn tell_terms(&self, kind: usize, offer: &Offer) {
        let first = self.terms_told.transact(&offer.digest, |row| row.replace(Arc::new(())).is_none());
        if first {
            let action = self.action(kind);
            self.world.record(Event::Terms(events::Terms {
                digest: offer.digest.clone(),
                summary: offer.summary.clone(),
                terms: Some(serde_json::Value::Object(offer.terms.clone())),
                kind: Some(action.name.clone()),
                steps: action.steps.iter().map(|step| step.name.clone()).collect(),
            }));
        }
    }
}

/// The guard of that name. It lies on the disk, so that a restart forgets no proof.
fn replay_guard(world: &World, name: &'static str) -> Arc<ReplayGuard> {
    world.disk().table::<ReplayGuard>("replay").transact(name, |row| {
        let made = || Arc::new(ReplayGuard::new(world.draw("company.replay-key", &world.party().name, 0).bytes()));
        Arc::clone(row.get_or_insert_with(made))
    })
}
