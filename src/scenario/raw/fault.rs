//! Faults: what, where, when, how often.

use crate::history::record::Purpose;
use crate::plan::{CrashPoint, Manner, Once};
use crate::scenario::value::{At, Share, Spread, Time, WindowText, Word};

use super::{section, words};

/// One fault.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct FaultSettings {
    /// What it does.
    pub(in crate::scenario) r#do: At<FaultChoice>,
    /// Its ID in the history, from which its choices are drawn. Default: F1, F2, … by its place in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) id: Option<At<String>>,
    /// The Companies it strikes, by the scenario's name or by a Company's own. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) at: Option<At<String>>,
    /// The requests it strikes. Default: all but `discover` and `keys`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) on: Option<At<Vec<Word<Purpose>>>>,
    /// The backend step that a fault of the backend strikes. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) step: Option<At<String>>,
    /// When, counted from the start of load. Default: as long as there is load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) during: Option<At<WindowText>>,
    /// The chance that it strikes where it can. Default: 100%.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) chance: Option<At<Share>>,
    /// What it strikes, one by one, in place of `at`, `on`, `step`, `during` and `chance`. Default: as the chance has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) strikes: Option<At<Vec<At<StrikeSettings>>>>,
}

/// One strike of a fault.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct StrikeSettings {
    /// The kind of request; only, and always, for faults of requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) request: Option<At<Word<Purpose>>>,
    /// What is struck: the intent or action ID that a request is about, the key of a backend step, the action ID at a crash
    /// point, the Company of a restart.
    pub(in crate::scenario) key: At<String>,
    /// How often that was there before. Default: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) attempt: Option<u64>,
    /// How long it holds, or comes after what it strikes; for a restart, when. Default: as drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) time: Option<At<Time>>,
    /// For a duplicate, whether the second copy's answer is the one that is heard. Default: as drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) second_answers: Option<At<bool>>,
}

/// What a fault does.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::scenario) enum FaultChoice {
    /// A request is held on its way.
    Delay(Spread),
    /// An answer is held on its way.
    DelayAnswer(Spread),
    /// A request never arrives, and its sender hears nothing.
    LoseRequest,
    /// The work is done, and the answer never comes back.
    LoseAnswer,
    /// The connection is reset in the middle of the answer.
    Reset,
    /// The connection is reset right after the request was sent, while the Company works on it.
    HangUp,
    /// The request is delivered a second time, byte for byte.
    Duplicate(DuplicateSettings),
    /// Something in front of the Company answers with a 5xx or 429, and the Company never sees the request.
    Refuse(RefuseSettings),
    /// The Company stops at a named point of its code and starts again; what it stored is kept.
    Crash(CrashSettings),
    /// The Company stops, wherever it is, and starts again; what it stored is kept.
    Restart(RestartSettings),
    /// A backend step takes longer by this.
    BackendSlow(Spread),
    /// The backend's answer to a step is lost.
    BackendTimeout(BackendTimeoutSettings),
    /// The backend refuses a step for good.
    BackendFail,
}

section! {
    /// How a request is delivered twice.
    DuplicateSettings {
        /// How long after the first. Default: 5ms.
        after: Spread,
    }
}

section! {
    /// How a request is refused in front of the Company.
    RefuseSettings {
        /// The status: 429 or 500 to 599. Default: 503.
        status: At<u16>,
        /// `Retry-After`. Default: none.
        retry_after: Time,
    }
}

super::leaf!(u16);

/// Where a Company stops, and for how long.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct CrashSettings {
    /// The point.
    pub(in crate::scenario) point: Word<CrashPoint>,
    /// Only at operations of this action. Default: of any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) action: Option<At<String>>,
    /// Only at operations that pass in this manner. Default: in any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) how: Option<Word<Manner>>,
    /// At the most once in the run, or once for each operation. Default: whenever it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) once: Option<Word<Once>>,
    /// How long it is down. Default: 1s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) down_for: Option<Time>,
}

/// When a Company stops, and for how long.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct RestartSettings {
    /// How often, from the beginning of the window; `chance` is drawn each time.
    pub(in crate::scenario) every: At<Time>,
    /// How long it is down. Default: 1s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) down_for: Option<At<Time>>,
}

section! {
    /// What a backend that does not answer has done.
    BackendTimeoutSettings {
        /// Whether the step took effect before. Default: done.
        effect: EffectWord,
    }
}

words! {
    /// Whether a step took effect.
    EffectWord {
        /// It did.
        Done,
        /// It did not.
        None,
    }
}

/// The words of all faults, as `do` takes them.
pub(in crate::scenario) fn fault_words() -> &'static [&'static str] {
    &[
        "delay",
        "delay-answer",
        "lose-request",
        "lose-answer",
        "reset",
        "hang-up",
        "duplicate",
        "refuse",
        "crash",
        "restart",
        "backend-slow",
        "backend-timeout",
        "backend-fail",
    ]
}
