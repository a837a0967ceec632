//! The Personal Agents, and what their Users set out to do.

use std::time::Duration;

use smol_str::SmolStr;

use super::{AgentDefect, Defects, Distribution, Money};
use crate::protocol::SessionMode;

/// The Personal Agents of a run.
#[derive(Debug, Clone)]
pub struct SwarmPlan {
    /// How many operators there are: `client_id`s with metadata and keys of their own, `agent-1.example` and so on.
    pub operators: u32,
    /// How many of them, counted from the last, do not list the Operations extension.
    pub operators_without_extension: u32,
    /// How many Users there are; User `u` belongs to operator `(u - 1) mod operators + 1`.
    pub users: u32,
    /// Which draft's Sessions they speak.
    pub session_mode: SessionMode,
    /// The version of the Operations extension that they list.
    pub operations_version: SmolStr,
    /// How long an Agent waits for an answer.
    pub request_timeout: Duration,
    /// How it tries again.
    pub retry: Retry,
    /// The scopes it asks tokens for; `None` asks for those of all actions.
    pub scopes: Option<Vec<SmolStr>>,
    /// Their bugs.
    pub defects: Defects<AgentDefect>,
}

/// How an Agent tries again after a request that failed or was not answered.
#[derive(Debug, Clone)]
pub struct Retry {
    /// The wait before the first retry.
    pub first: Duration,
    /// What each wait is multiplied by for the next.
    pub factor: f64,
    /// How much of each wait is drawn at random, 0 to 1.
    pub jitter: f64,
    /// The longest wait.
    pub longest: Duration,
    /// How often a proposal, or the token for a request, is asked for before the journey is given up; what may be confirmed is
    /// followed to its end all the same. `None`: no bound.
    pub tries: Option<u32>,
}

/// What a User may set out to do.
#[derive(Debug, Clone)]
pub struct Journey {
    /// Its name.
    pub name: SmolStr,
    /// How often it is drawn, relative to the others.
    pub weight: u32,
    /// The most of its kind at once; a start beyond that waits for one to end. `None`: no guard.
    pub in_flight: Option<u32>,
    /// Its steps, in order.
    pub steps: Vec<JourneyStep>,
}

/// One step of a journey.
#[derive(Debug, Clone)]
pub enum JourneyStep {
    /// Ask a Company for an action.
    Propose {
        /// The scenario's name for the Companies it may go to; one of them is drawn.
        at: SmolStr,
        /// The action's name.
        action: SmolStr,
    },
    /// Show the terms to the User and take the answer.
    AskUser(AskUser),
    /// Confirm the approved revision.
    Confirm(Confirm),
    /// Read the operation until it is final, waiting for `Retry-After` between reads.
    Track,
    /// Cancel the operation.
    Cancel {
        /// How long after the step before.
        after: Distribution,
    },
    /// Do nothing for a while.
    Wait {
        /// For how long.
        time: Distribution,
    },
    /// The Agent signs the User out at the Company that it proposed at. As the last step it is taken however the journey
    /// came to its end.
    SignOut,
    /// The User leaves; the proposal is left to expire. Ends the journey.
    WalkAway,
}

/// How the User answers; what the chances leave over is silence: the User never answers, and the journey ends.
#[derive(Debug, Clone)]
pub struct AskUser {
    /// The chance that the User approves.
    pub approve: f64,
    /// The chance that the User declines; the Agent then cancels.
    pub decline: f64,
    /// The chance that the User wants other terms; the Agent asks at the change endpoint and shows the new revision.
    pub other_terms: f64,
    /// The chance that a User who approved takes it back: before the confirm there is none, after it the Agent cancels.
    pub withdraw: f64,
    /// How long after the approval it is taken back.
    pub withdraw_after: Distribution,
    /// How long the User thinks about each revision.
    pub after: Distribution,
}

/// How the Agent confirms.
#[derive(Debug, Clone)]
pub struct Confirm {
    /// How many confirms are sent side by side, each with a proof of its own.
    pub copies: u32,
    /// On whose approval.
    pub by: By,
    /// If set, the confirm is sent this far around `expires_at`: evenly from so long before it to so long after it.
    pub around_expiry: Option<Duration>,
}

/// On whose approval an Agent confirms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// The User's, given at the ask-user step before.
    User,
    /// A permission that the User gave earlier, up to a price.
    StandingPermission {
        /// The highest price that it covers.
        up_to: Money,
    },
}
