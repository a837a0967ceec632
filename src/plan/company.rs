//! One simulated Company, as its profile and the scenario define it.

use std::time::Duration;

use indexmap::IndexMap;
use smol_str::SmolStr;

use super::{Capacity, CompanyDefect, Defects, Distribution, PriceRange};
use crate::protocol::SessionMode;

/// One simulated Company.
#[derive(Debug, Clone)]
pub struct CompanyPlan {
    /// Its name in action IDs and in the history: profile and number (`clothes-1`).
    pub name: SmolStr,
    /// The name under which the scenario speaks of it and its siblings (`shop`).
    pub group: SmolStr,
    /// The name of its profile (`clothes`).
    pub profile: SmolStr,
    /// Its number among its siblings, from 1.
    pub number: u32,
    /// Its domain (`clothes-1.example`); everything it publishes is under `https://{domain}`.
    pub domain: SmolStr,
    /// The name it shows to Users.
    pub title: String,
    /// The version of the Operations extension that it lists.
    pub operations_version: SmolStr,
    /// Sessions and tokens.
    pub sessions: Sessions,
    /// How it answers.
    pub answers: Answers,
    /// How it proposes.
    pub proposals: Proposals,
    /// What it keeps.
    pub store: StoreSettings,
    /// How it deals with its backend.
    pub backend: BackendSettings,
    /// How much it can do at once; `None`: as much as it is asked for.
    pub capacity: Option<Capacity>,
    /// What it can do, by name, in the file's order.
    pub actions: IndexMap<SmolStr, Action>,
    /// Its bugs.
    pub defects: Defects<CompanyDefect>,
}

impl CompanyPlan {
    /// Whether Users can sign in there: where some action needs it.
    #[must_use]
    pub fn offers_sign_in(&self) -> bool {
        self.actions.values().any(|action| action.signed_in)
    }
}

/// Sessions and tokens of a Company.
#[derive(Debug, Clone)]
pub struct Sessions {
    /// Which draft's Sessions it speaks.
    pub mode: SessionMode,
    /// How often the DPoP nonce changes; `None` demands no nonces.
    pub nonce_every: Option<Duration>,
    /// How far a proof's `iat` may lie from now.
    pub proof_window: Duration,
    /// How long a Session Token lives.
    pub token_lifetime: Duration,
    /// Whether the operations endpoint asks for tokens with its own `resource`.
    pub operations_resource: bool,
}

/// How a Company answers.
#[derive(Debug, Clone)]
pub struct Answers {
    /// Its own time for any answer, backend not included.
    pub latency: Distribution,
    /// A confirm waits this long for a final state before it answers `in_progress`.
    pub answer_within: Duration,
    /// `Retry-After` of an operation in progress; sent in whole seconds, rounded up.
    pub retry_after: Duration,
}

/// How a Company proposes.
#[derive(Debug, Clone)]
pub struct Proposals {
    /// How long a revision can be confirmed.
    pub lifetime: Duration,
    /// The chance that terms change between proposal and approval.
    pub revise_before_approval: f64,
    /// How long after the proposal they then change.
    pub revise_after: Distribution,
    /// The chance that terms change while a confirm is being answered, before it is checked.
    pub revise_during_confirm: f64,
}

/// What a Company keeps.
#[derive(Debug, Clone)]
pub struct StoreSettings {
    /// How long final operations stay readable.
    pub keep_final: Duration,
}

/// How a Company deals with its backend.
#[derive(Debug, Clone)]
pub struct BackendSettings {
    /// The backend's time for a step, unless the step has its own.
    pub latency: Distribution,
    /// How long the Company waits for a step's answer.
    pub timeout: Duration,
    /// How long after a lost answer it asks again, under the same key.
    pub ask_again: Duration,
}

/// One action of a Company.
#[derive(Debug, Clone)]
pub struct Action {
    /// Its name (`exchange`).
    pub name: SmolStr,
    /// Whether it needs confirming; one that does not is done at once.
    pub operation: bool,
    /// What an Agent gets that does not list the extension.
    pub without_extension: WithoutExtension,
    /// Whose approval it accepts.
    pub approval: Approval,
    /// The scope that its token needs.
    pub scope: Option<SmolStr>,
    /// Whether it needs a Session that is signed in.
    pub signed_in: bool,
    /// What it costs.
    pub price: PriceRange,
    /// `summary` of a revision, with placeholders; `None` takes a general sentence.
    ///
    /// Placeholders: `{order}`, `{item}`, `{item_id}`, `{replacement}`, `{sku}`, `{price}`, `{customer}`, `{city}`, `{revision}`.
    pub summary: Option<String>,
    /// `terms` of a revision, with the same placeholders in its strings; a string that is just `{price}` becomes an
    /// object with `amount` and `currency`. `None` takes general terms.
    pub terms: Option<serde_json::Map<String, serde_json::Value>>,
    /// What `result.summary` says first when it succeeded, with the same placeholders; receipts follow it.
    pub done: Option<String>,
    /// The steps it takes at the backend, in order; at least one.
    pub steps: Vec<Step>,
    /// Until after which step (index into `steps`) a cancel in progress can still stop it; `None`: it cannot.
    pub can_stop_until: Option<usize>,
    /// What becomes of done steps when a later one fails or is stopped.
    pub on_partial: OnPartial,
}

/// What an Agent gets that does not list the extension (Operations 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithoutExtension {
    /// The action is done at once, as it would be without the extension.
    Act,
    /// 403 `extension_required`.
    Refuse,
}

/// Whose approval an action accepts (Operations 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// Only the User's own, of this revision: `user_approval_required` is true.
    User,
    /// A standing permission as well.
    StandingPermission,
}

/// One step of an action at the backend.
#[derive(Debug, Clone)]
pub struct Step {
    /// Its name (`charge`).
    pub name: SmolStr,
    /// The step that undoes it.
    pub undo: Option<SmolStr>,
    /// Its own time, instead of the backend's.
    pub latency: Option<Distribution>,
    /// The chance that the backend refuses it for good.
    pub fail: f64,
    /// The phrase that tells its effect in `result.summary`.
    pub phrase: Option<SmolStr>,
}

/// What becomes of done steps when a later one fails or is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnPartial {
    /// They stand, and the result tells them.
    Report,
    /// They are undone where a step has an undo, and the result tells both.
    Undo,
}
