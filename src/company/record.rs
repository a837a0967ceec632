//! The durable record of one action at a Company: an operation, or an action that is done at once.
//!
//! A record is never changed in place: every transition makes a new one, and one store transaction puts it into its row.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use jiff::Timestamp;
use serde_json::{Map, Value};
use smol_str::SmolStr;
use tokio::sync::Notify;

use crate::{
    protocol::{Confirmation, OperationResult, Revision, Rfc3339, State},
    world::Moment,
};

/// Who an action belongs to (Operations 3.2): the Session it was proposed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owner {
    /// The Agent.
    pub(super) client_id: SmolStr,
    /// The User at this Company.
    pub(super) user_id: SmolStr,
    /// The Session.
    pub(super) session_id: SmolStr,
}

/// What an action is about, and the made-up facts that its terms speak of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Subject {
    /// The order, as the request named it.
    pub(super) order: SmolStr,
    /// The item of it, if the request named one.
    pub(super) item_id: Option<SmolStr>,
    /// What the item is called.
    pub(super) item: String,
    /// The customer's name.
    pub(super) customer: String,
    /// The customer's city.
    pub(super) city: String,
}

/// One revision of an action's terms. Fixed once issued.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Offer {
    /// Its number.
    pub(super) revision: Revision,
    /// How many sets of terms were issued before it, plus 1. The revision, unless a defect numbers them wrongly.
    pub(super) edition: u64,
    /// The terms in plain language.
    pub(super) summary: String,
    /// The same terms as JSON.
    pub(super) terms: Map<String, Value>,
    /// The digest of both.
    pub(super) digest: SmolStr,
    /// The last instant at which it can be confirmed.
    pub(super) expires_at: Rfc3339,
}

/// A step that took effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StepDone {
    /// The backend's receipt.
    pub(super) receipt: SmolStr,
    /// What became of its undoing.
    pub(super) undo: Undo,
}

/// What became of the undoing of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Undo {
    /// It was not asked for, or cannot be done.
    None,
    /// It took effect, with this receipt.
    Done(SmolStr),
    /// The backend refused it for good.
    Refused,
}

/// What all versions of one record share: counts that name random choices, and the bell for whoever waits.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Confirms that arrived.
    confirms: AtomicU64,
    /// Requests to the backend.
    backend_calls: AtomicU64,
    /// Runs beyond the first; only defects make any.
    runs: AtomicU64,
    /// Rings when the action becomes final.
    pub(super) finished: Notify,
}

impl Shared {
    /// The number of a confirm that arrives now, from 0.
    pub(super) fn next_confirm(&self) -> u64 {
        self.confirms.fetch_add(1, Ordering::Relaxed)
    }

    /// The number of a request to the backend that leaves now, from 0.
    pub(super) fn next_backend_call(&self) -> u64 {
        self.backend_calls.fetch_add(1, Ordering::Relaxed)
    }

    /// The number of a run beyond the first, from 1.
    pub(super) fn next_run(&self) -> u64 {
        self.runs.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// One action.
#[derive(Debug, Clone)]
pub(super) struct Record {
    /// Its ID at this Company.
    pub(super) id: SmolStr,
    /// Its ID in histories: `company/operation/id` or `company/direct/id`.
    pub(super) action_id: SmolStr,
    /// Which of the plan's actions it is.
    pub(super) kind: usize,
    /// Whether it is done at once, without an operation.
    pub(super) direct: bool,
    /// Whose it is.
    pub(super) owner: Arc<Owner>,
    /// The account that it belongs to, where its Session was signed in (digest 9.5).
    pub(super) account: Option<SmolStr>,
    /// What it is about.
    pub(super) subject: Arc<Subject>,
    /// The latest revision; after a confirm, the confirmed one.
    pub(super) offer: Arc<Offer>,
    /// Where it is.
    pub(super) state: State,
    /// The confirmation.
    pub(super) confirmation: Option<Arc<Confirmation>>,
    /// The result, once it is final.
    pub(super) result: Option<Arc<OperationResult>>,
    /// Whether the Agent asked to stop it in progress.
    pub(super) cancel_asked: bool,
    /// How many steps were begun: each of these was asked for, or is about to be.
    pub(super) begun: usize,
    /// The steps that took effect, in order.
    pub(super) done: Vec<StepDone>,
    /// Which run it is in, where a defect started another.
    pub(super) again: Option<u64>,
    /// When the Company means to change the terms by itself.
    pub(super) revise_at: Option<Moment>,
    /// When it became final.
    pub(super) final_at: Option<Timestamp>,
    /// What all versions share.
    pub(super) shared: Arc<Shared>,
}

impl Record {
    /// The same record in a final state.
    pub(super) fn ended(&self, state: State, result: OperationResult, now: Timestamp) -> Self {
        Self { state, result: Some(Arc::new(result)), final_at: Some(now), revise_at: None, ..self.clone() }
    }
}
