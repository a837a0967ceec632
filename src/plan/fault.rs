//! Faults: what, where, when, how often.

use std::time::Duration;

use smol_str::SmolStr;

use super::{Distribution, defect::catalogue};
use crate::history::record::Purpose;

/// One fault of a scenario.
#[derive(Debug, Clone)]
pub struct Fault {
    /// Its ID: F1, F2, … in the scenario's order, unless the scenario says otherwise. Every choice about the fault is drawn
    /// from it.
    pub id: SmolStr,
    /// What it does.
    pub kind: FaultKind,
    /// The Companies it strikes, by the scenario's name or by their own; `None` strikes all.
    pub at: Option<SmolStr>,
    /// The requests it strikes; empty strikes each kind that it can.
    pub on: Vec<Purpose>,
    /// The backend step it strikes; `None` strikes all.
    pub step: Option<SmolStr>,
    /// When; `None` is as long as there is load.
    pub during: Option<Window>,
    /// The chance that it strikes where it can, 0 to 1.
    pub chance: f64,
    /// What it strikes, one by one, if that is said: then neither `at`, `on`, `step`, `during` nor `chance` decides anything.
    pub strikes: Option<Vec<Strike>>,
}

/// One strike of a fault, named by what the fault's choices are drawn from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strike {
    /// The kind of request, for a fault of requests.
    pub request: Option<Purpose>,
    /// What is struck: a request's logical key (an intent, an action ID), a backend step's key, the action ID at a crash
    /// point, the Company of a restart.
    pub key: SmolStr,
    /// How often that was there before: tries of a request, arrivals at a point, restarts of the Company.
    pub attempt: u64,
    /// How long it holds, or comes after what it strikes; for a restart, when. `None`: as drawn.
    pub time: Option<Duration>,
    /// For a second copy, whether its answer is the one that is heard. `None`: as drawn.
    pub second_answers: Option<bool>,
}

impl Strike {
    /// A strike whose effect is as drawn.
    #[must_use]
    pub fn on(request: Option<Purpose>, key: impl Into<SmolStr>, attempt: u64) -> Self {
        Self { request, key: key.into(), attempt, time: None, second_answers: None }
    }

    /// Whether this is the strike of that name.
    #[must_use]
    pub fn names(&self, request: Option<Purpose>, key: &str, attempt: u64) -> bool {
        self.attempt == attempt && self.request == request && self.key == key
    }
}

/// A stretch of time, counted from the start of load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Its beginning.
    pub from: Duration,
    /// Its end.
    pub to: Duration,
}

/// What a fault does.
#[derive(Debug, Clone, PartialEq)]
pub enum FaultKind {
    /// A request is held on its way.
    Delay(Distribution),
    /// An answer is held on its way.
    DelayAnswer(Distribution),
    /// A request never arrives, and its sender hears nothing.
    LoseRequest,
    /// The work is done, and the answer never comes back.
    LoseAnswer,
    /// The connection is reset in the middle of the answer.
    Reset,
    /// The connection is reset right after the request was sent, while the Company works on it.
    HangUp,
    /// The request is delivered a second time, byte for byte.
    Duplicate {
        /// How long after the first.
        after: Distribution,
    },
    /// Something in front of the Company answers with a 5xx or 429, and the Company never sees the request.
    Refuse {
        /// The status.
        status: u16,
        /// `Retry-After`, if any.
        retry_after: Option<Duration>,
    },
    /// The Company stops at a named point of its code and starts again; what it stored is kept.
    Crash {
        /// The point.
        point: CrashPoint,
        /// How long it is down.
        down_for: Duration,
        /// Which passings of the point it strikes.
        only: Passings,
    },
    /// The Company stops, wherever it is, and starts again; what it stored is kept.
    Restart {
        /// How often, from the beginning of the window; `chance` is drawn each time.
        every: Duration,
        /// How long it is down.
        down_for: Duration,
    },
    /// A backend step takes longer by this.
    BackendSlow(Distribution),
    /// The backend's answer to a step is lost.
    BackendTimeout {
        /// Whether the step took effect before.
        effect: bool,
    },
    /// The backend refuses a step for good.
    BackendFail,
}

/// Which passings of its point a crash strikes; by default all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Passings {
    /// Those of an operation of this action.
    pub action: Option<SmolStr>,
    /// Those of an operation of that manner.
    pub how: Option<Manner>,
    /// How often at the most.
    pub once: Option<Once>,
}

catalogue! {
    /// What sort of operation passes a point.
    Manner {
        /// One with its first terms, that nobody asked to stop.
        Plain => "plain",
        /// One whose terms were revised.
        Revised => "revised",
        /// One that is confirmed already, at a confirm of it that comes again.
        Repeated => "repeated",
        /// One in progress that the Agent asked to stop.
        Cancelled => "cancelled",
        /// None: the action is done at once, without an operation.
        Direct => "direct",
    }
}

catalogue! {
    /// How often a crash strikes at the most.
    Once {
        /// Once in the run.
        Run => "run",
        /// Once for each operation.
        Operation => "operation",
    }
}

/// How a fault finds its victims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strikes {
    /// It strikes requests; `on` may choose among them.
    Requests,
    /// It strikes backend steps; `step` may choose among them.
    Steps,
    /// It strikes a Company as a whole.
    Company,
}

impl FaultKind {
    /// What it strikes.
    #[must_use]
    pub fn strikes(&self) -> Strikes {
        match self {
            Self::Delay(_)
            | Self::DelayAnswer(_)
            | Self::LoseRequest
            | Self::LoseAnswer
            | Self::Reset
            | Self::HangUp
            | Self::Duplicate { .. }
            | Self::Refuse { .. } => Strikes::Requests,
            Self::BackendSlow(_) | Self::BackendTimeout { .. } | Self::BackendFail => Strikes::Steps,
            Self::Crash { .. } | Self::Restart { .. } => Strikes::Company,
        }
    }

    /// The word that files and histories use for it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Delay(_) => "delay",
            Self::DelayAnswer(_) => "delay-answer",
            Self::LoseRequest => "lose-request",
            Self::LoseAnswer => "lose-answer",
            Self::Reset => "reset",
            Self::HangUp => "hang-up",
            Self::Duplicate { .. } => "duplicate",
            Self::Refuse { .. } => "refuse",
            Self::Crash { .. } => "crash",
            Self::Restart { .. } => "restart",
            Self::BackendSlow(_) => "backend-slow",
            Self::BackendTimeout { .. } => "backend-timeout",
            Self::BackendFail => "backend-fail",
        }
    }
}

catalogue! {
    /// A named point of a Company's code at which a crash fault can stop it.
    CrashPoint {
        /// A confirm arrived; nothing was looked at.
        AcceptReceived => "accept.received",
        /// The confirm passed every check; nothing was stored.
        AcceptChecked => "accept.checked",
        /// The confirmation is stored; the action was not started.
        AcceptRecorded => "accept.recorded",
        /// Before a step is asked for.
        PerformBeforeCall => "perform.before-call",
        /// The request for a step left; its answer is awaited.
        PerformAfterSend => "perform.after-send",
        /// The backend said that the step took effect; the Company has not noted it.
        PerformAfterEffect => "perform.after-effect",
        /// All is done; the final state is not stored.
        PerformBeforeRecord => "perform.before-record",
        /// The final state is stored; nobody was told.
        PerformRecorded => "perform.recorded",
        /// Before an answer is written.
        ReplyBefore => "reply.before",
    }
}
