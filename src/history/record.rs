//! The records of a run's history, one JSON line each: `{"seq":…,"at":…,"<kind>":{…}}`.
//!
//! Whoever drove a run writes these; the checker reads nothing else (but for the ledger). `docs/history.md` documents the
//! format for other programs. No record holds a token, assertion, proof, signature or key: only a proof's `jti` and
//! short hashes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// The version of the history format that this build writes and reads.
pub const FORMAT: u32 = 1;

/// One line of `history.jsonl`: a sequence number, a time and one event.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Position in the run's one order over history and ledger; unique.
    pub seq: u64,
    /// Nanoseconds since the run began.
    pub at: u64,
    /// What happened.
    pub event: Event,
}

/// What a history records.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The header: always the first line.
    Run(Run),
    /// A Company of the run and what its actions are made of.
    Company(Company),
    /// A Session that an Agent holds, and what its operator lists.
    Session(Session),
    /// A party sends a request.
    Call(Call),
    /// The same request ended for its caller.
    Return(Return),
    /// The full terms behind a digest, once per digest.
    Terms(Terms),
    /// A Company issued a revision (Company's side).
    Offer(Offer),
    /// What a User was shown and answered (the scripted User's surface).
    Approval(Approval),
    /// What became of one copy of a request on a wire that the harness owns.
    Wire(Wire),
    /// A Company's request to its backend, and what it learnt.
    Attempt(Attempt),
    /// A fault struck.
    Fault(FaultStruck),
    /// A party started or stopped.
    Lifecycle(Lifecycle),
    /// The wall clock was moved on.
    Clock(ClockMoved),
    /// The run passed into another phase.
    Phase(Phase),
    /// The trailer: always the last line of a complete history.
    End(End),
}

/// The header of a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The format's version, [`FORMAT`].
    pub format: u32,
    /// The seed of the run.
    pub seed: u64,
    /// Where the run took place.
    pub world: WorldKind,
    /// The wall-clock time at `at` 0, RFC 3339.
    pub epoch: String,
    /// Whether `seq` orders all records (`total`) or only `at` does, within clock error (`clock`).
    pub order: Order,
    /// What the writer recorded; a rule whose observation is missing is "not judged".
    pub observes: Vec<Observation>,
    /// How far the clocks behind `at` and the Companies' timestamps may differ, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub clock_error_ms: u64,
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// The two worlds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorldKind {
    /// Sockets and wall-clock time.
    Real,
    /// In-process calls and virtual time.
    Simulated,
}

/// How the records of a history are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// `seq` is one order over all records of history and ledger.
    Total,
    /// Only `at` orders records of different parties.
    Clock,
}

/// Something that a history's writer observed in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Observation {
    /// Every request of the Agents and its end (`call`, `return`).
    Calls,
    /// The wire between the parties (`wire`).
    Wire,
    /// The Companies' requests to their backends (`attempt`).
    Attempts,
    /// The Users' surface (`approval`).
    Approvals,
    /// Every revision issued (`offer`).
    Offers,
    /// Every effect (`ledger.jsonl`).
    Ledger,
    /// How often operations were performed, as their Company counts (`ledger.jsonl`).
    Performed,
    /// Every Session and what its operator lists (`session`).
    Sessions,
}

/// A Company of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Company {
    /// Its name; the first part of its action IDs.
    pub name: SmolStr,
    /// Its actions by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub actions: BTreeMap<SmolStr, ActionShape>,
}

/// What one action of a Company consists of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActionShape {
    /// Its steps in order; `succeeded` means that each was done once.
    pub steps: Vec<SmolStr>,
    /// The phrase that tells a step's effect in `result.summary`, where the Company file gives one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub phrases: BTreeMap<SmolStr, SmolStr>,
}

/// A Session that an Agent started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// The Session's ID at its Company.
    pub id: SmolStr,
    /// The Company.
    pub company: SmolStr,
    /// The operator whose `client_id` the Agent uses.
    pub operator: SmolStr,
    /// The User, as the harness numbers them (`u3`); not the User ID on the wire.
    pub user: SmolStr,
    /// The extensions that the operator's client metadata lists.
    pub extensions: Vec<SmolStr>,
}

/// A request leaves its sender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// Identifies the call in this history.
    pub id: SmolStr,
    /// Who sends it. A process does one thing at a time; each worker has an ID of its own.
    pub process: SmolStr,
    /// The Session it is sent in, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SmolStr>,
    /// What it asks for.
    #[serde(rename = "do")]
    pub purpose: Purpose,
    /// The Company it goes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub company: Option<SmolStr>,
    /// The User's wish behind a proposal: one wish, one intent, however often it is proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<SmolStr>,
    /// The name of the proposed action (`exchange`), on a `propose`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<SmolStr>,
    /// The action ID (`company/operation/id`) it concerns, where it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<SmolStr>,
    /// The revision that a confirm names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// How the Agent says that the revision was approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<ApprovedBy>,
    /// The `jti` of the proof it carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<SmolStr>,
    /// The intended start, in nanoseconds since the run began, where it differs from `at`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<u64>,
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// A discovery document: `poppy.json`, authorization server metadata, OpenAPI description.
    Discover,
    /// A Company reads an operator's client metadata or keys.
    Keys,
    /// The token endpoint.
    Token,
    /// The revocation endpoint.
    Revoke,
    /// A sign-in: the device authorization endpoint, and the User's own browser on the Company's page.
    SignIn,
    /// A request before a proposal, whose answer gives values for it.
    Prepare,
    /// A request that would perform the action, answered by an operation.
    Propose,
    /// A request for other terms of an open operation, at the change endpoint.
    Change,
    /// Reading an operation.
    Read,
    /// Confirming an operation.
    Confirm,
    /// Cancelling an operation.
    Cancel,
    /// A Company's request to its backend.
    Backend,
}

/// `approved_by` of a confirm (Operations 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovedBy {
    /// The User approved this revision.
    User,
    /// A permission that the User gave earlier covers it.
    StandingPermission,
}

/// A request ended for its caller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Return {
    /// The call that ended.
    pub call: SmolStr,
    /// How it ended.
    pub outcome: Outcome,
    /// The HTTP status, if an answer arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The protocol's error code of a refusal, or why there is no answer (`timeout`, `reset`, `refused`, `unreadable`, …).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<SmolStr>,
    /// The operation that the answer carried, also that of a refusal (`terms_changed`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<View>,
    /// The Session that a `token` call gave or renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SmolStr>,
    /// `Retry-After` of the answer, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// How a request ended for its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// An answer that carried an operation, and no refusal.
    View,
    /// An answer without an operation: a document, a token, an action done at once.
    Done,
    /// A definite refusal: this request did nothing.
    Refused,
    /// No answer, or none that says what happened. It may have acted, and stays so for ever.
    Unknown,
    /// No byte left the caller: it did nothing.
    Unsent,
}

/// An operation as an answer showed it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct View {
    /// The action ID, `company/operation/id`.
    pub action: SmolStr,
    /// The state.
    pub state: State,
    /// The revision.
    pub revision: u64,
    /// The digest of summary and terms.
    pub terms: SmolStr,
    /// The last time this revision can be confirmed, RFC 3339.
    #[serde(default)]
    pub expires_at: Option<SmolStr>,
    /// Whether only the User's own approval is accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub user_approval_required: bool,
    /// The confirmation, or null.
    #[serde(default)]
    pub confirmation: Option<Confirmation>,
    /// `result.summary`, or null.
    #[serde(default)]
    pub result: Option<String>,
}

/// The state of an operation (Operations 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Waiting to be confirmed.
    Proposed,
    /// Confirmed, being performed.
    InProgress,
    /// Performed. Final.
    Succeeded,
    /// Not completed. Final.
    Failed,
    /// Declined or stopped. Final.
    Cancelled,
    /// Not confirmed in time. Final.
    Expired,
}

/// `confirmation` of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Confirmation {
    /// The confirmed revision.
    pub revision: u64,
    /// How it was approved.
    pub approved_by: ApprovedBy,
    /// When, RFC 3339.
    pub confirmed_at: SmolStr,
}

/// The full terms behind a digest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// The digest that views, approvals and effects name.
    pub digest: SmolStr,
    /// `summary` of the revision.
    pub summary: String,
    /// `terms` of the revision.
    #[serde(default)]
    pub terms: Option<serde_json::Value>,
    /// The name of the action (`exchange`), where the writer knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<SmolStr>,
    /// The steps that performing these terms takes, where the writer knows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<SmolStr>,
}

/// A Company issued a revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    /// The action ID.
    pub action: SmolStr,
    /// The revision.
    pub revision: u64,
    /// The digest of summary and terms.
    pub terms: SmolStr,
    /// The last time it can be confirmed, RFC 3339.
    pub expires_at: SmolStr,
}

/// What a User was shown and answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// What happened at the User's surface.
    pub is: ApprovalIs,
    /// The User.
    pub user: SmolStr,
    /// The action ID; absent for a standing permission given ahead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<SmolStr>,
    /// The revision that was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// The digest of what was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<SmolStr>,
    /// The text of the result that the User was told (`told`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bounds of a standing permission (`standing`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Bounds>,
}

/// What happened at a User's surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalIs {
    /// The terms were shown.
    Shown,
    /// The User approved what was shown.
    Approved,
    /// The User declined.
    Declined,
    /// The User asked for other terms.
    OtherTerms,
    /// The User took an approval back.
    Withdrawn,
    /// The User gave a standing permission.
    Standing,
    /// The User was told how the operation ended.
    Told,
}

/// The bounds of a standing permission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// The Company it is for.
    pub company: SmolStr,
    /// The action it is for, by name.
    pub kind: SmolStr,
    /// The highest price it covers, in minor units of `currency`.
    pub up_to_minor: u64,
    /// ISO 4217 code.
    pub currency: SmolStr,
}

/// What became of one copy of a request, seen on the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wire {
    /// The call.
    pub call: SmolStr,
    /// Which copy of it, from 1.
    pub copy: u32,
    /// What was seen.
    pub is: WireIs,
    /// The status of an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The fault that cut the answer off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<SmolStr>,
    /// Which incarnation of the receiver it reached, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incarnation: Option<u32>,
}

/// What was seen of a copy on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WireIs {
    /// It reached the receiver.
    Arrived,
    /// The receiver answered it.
    Answered,
}

/// A Company's request to its backend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    /// The action ID.
    pub action: SmolStr,
    /// The step.
    pub step: SmolStr,
    /// The key that identifies a retry to the backend.
    pub key: SmolStr,
    /// Whether the request left or its answer came.
    pub is: AttemptIs,
    /// What the Company learnt from the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learnt: Option<Learnt>,
}

/// Whether a request to a backend left, or its answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AttemptIs {
    /// The request left.
    Sent,
    /// An answer came.
    Answered,
    /// The Company stopped waiting: it does not know.
    Unanswered,
}

/// What a Company learnt of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Learnt {
    /// It took effect.
    Done,
    /// It did not, and never will under this key.
    NotDone,
}

/// A fault struck.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultStruck {
    /// The fault's ID in the scenario (`F1`).
    pub id: SmolStr,
    /// Its kind.
    #[serde(rename = "do")]
    pub kind: SmolStr,
    /// The call it struck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<SmolStr>,
    /// Which copy of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<u32>,
    /// The party it struck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub party: Option<SmolStr>,
    /// The action it struck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<SmolStr>,
    /// The backend step it struck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<SmolStr>,
    /// The crash point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<SmolStr>,
    /// How long it holds a message or a party, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_ms: Option<u64>,
}

/// The wall clock of all parties was moved on, in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClockMoved {
    /// From when on it is moved, in nanoseconds since the run began; before this record, or at it.
    pub since: u64,
    /// By how much, in milliseconds.
    pub by_ms: u64,
}

/// A party started or stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lifecycle {
    /// The party.
    pub party: SmolStr,
    /// Whether it started or stopped.
    pub is: LifecycleIs,
    /// Its incarnation, from 1.
    pub incarnation: u32,
}

/// Whether a party started or stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LifecycleIs {
    /// It takes requests from now on.
    Started,
    /// Its volatile state is gone.
    Stopped,
}

/// The run passed into another phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// The phase that begins.
    pub is: PhaseIs,
    /// Journeys that are still under way, on `settled`: their Agents are asked for one last look, and then cut off.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub open: u64,
}

/// The phases of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseIs {
    /// Journeys start; faults strike in their windows.
    Load,
    /// No new journeys, no faults: what is open may come to its end.
    Settling,
    /// The settle time is over, or nothing was open any more. What was asked afterwards tells what is still unresolved.
    Settled,
    /// The run was interrupted: what is open stays open.
    Interrupted,
}

/// The trailer of a complete history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// Records before this one in this file.
    pub records: u64,
    /// Records that could not be written.
    pub lost: u64,
}

/// One line of `ledger.jsonl`.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerRecord {
    /// Position in the run's one order over history and ledger; unique.
    pub seq: u64,
    /// Nanoseconds since the run began.
    pub at: u64,
    /// What the backend did or saw.
    pub entry: LedgerEntry,
}

/// What a ledger records.
#[derive(Debug, Clone, PartialEq)]
pub enum LedgerEntry {
    /// Something took effect.
    Effect(Effect),
    /// A request to the backend, as the backend saw it.
    Request(BackendRequest),
    /// How often one operation was performed, as its Company counts.
    Performed(Performed),
    /// How many performances of how many operations there were, as their Company counts.
    Totals(Totals),
    /// The trailer: always the last line of a complete ledger.
    End(End),
}

/// Something took effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Effect {
    /// Identifies the effect.
    pub id: SmolStr,
    /// The action ID.
    pub action: SmolStr,
    /// The revision that was performed.
    pub revision: u64,
    /// The digest of the terms that were performed.
    pub terms: SmolStr,
    /// The step.
    pub step: SmolStr,
    /// The key under which it was asked for.
    pub key: SmolStr,
    /// An unguessable receipt, `rtn_…`.
    pub receipt: SmolStr,
    /// The step that this undoes, or null.
    pub undo_of: Option<SmolStr>,
}

/// How often one operation was performed, as its Company counts. What its Agents had heard by then is in the history
/// before this entry's place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Performed {
    /// The action ID.
    pub action: SmolStr,
    /// How often.
    pub times: u64,
}

/// How many performances of how many operations there were during the run, as the Company counts: what it said at the
/// end less what it said at the beginning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// The Company.
    pub company: SmolStr,
    /// Performances.
    pub performed: u64,
    /// Operations that were performed, each counted once.
    pub operations: u64,
}

/// A request to the backend, as the backend saw it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackendRequest {
    /// The action ID.
    pub action: SmolStr,
    /// The step.
    pub step: SmolStr,
    /// The key.
    pub key: SmolStr,
    /// When it arrived, in nanoseconds since the run began.
    pub arrived: u64,
    /// Whether this request made the effect (a repeat under a known key does not).
    pub acted: bool,
    /// Whether the backend answered it.
    pub answered: bool,
    /// Whether the answer reached the Company.
    pub delivered: bool,
}
