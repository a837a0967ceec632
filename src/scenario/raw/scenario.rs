//! A scenario file.

use crate::plan::AgentDefect;
use crate::scenario::value::{At, Named, Share, Time, Word};

use super::{FaultSettings, Group, JourneySettings, LoadChoice, NetworkSettings, leaf, section, words};

/// A scenario: parties, journeys, load, faults, and what the run is held to.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct ScenarioFile {
    /// The scenario's name. This key comes first: it says what kind of file this is.
    pub(in crate::scenario) scenario: At<String>,
    /// The seed of every random choice. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) seed: Option<u64>,
    /// Whether parties talk TLS, with a CA made for the run. Default: off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) tls: Option<Switch>,
    /// The Companies, in groups with names of the scenario's own.
    pub(in crate::scenario) companies: At<Named<Group>>,
    /// The Personal Agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) agents: Option<AgentSettings>,
    /// What Users may set out to do, by name.
    pub(in crate::scenario) journeys: At<Named<JourneySettings>>,
    /// How much is asked of the Companies; entries run side by side.
    pub(in crate::scenario) load: At<Vec<At<LoadChoice>>>,
    /// What goes wrong. Default: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) faults: Option<Vec<At<FaultSettings>>>,
    /// The network between Personal Agents and Companies. Default: messages take no time, and each arrives once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) network: Option<NetworkSettings>,
    /// How long, with faults off, what is open may take to come to its end. Default: 30s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) settle: Option<Time>,
    /// Which anomalies are judged. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) invariants: Option<InvariantsSettings>,
    /// Which anomalies have to, or are allowed to, show. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) expect: Option<ExpectSettings>,
    /// What the run has to have exercised: lines like `faults.lose-answer >= 50`. Default: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) reach: Option<Vec<At<String>>>,
    /// What the figures have to hold: lines like `recovery.p99.9 < 30s`. Default: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) thresholds: Option<Vec<At<String>>>,
}

words! {
    /// On or off.
    Switch {
        /// On.
        On,
        /// Off.
        Off,
    }
}

section! {
    /// The Personal Agents.
    AgentSettings {
        /// How many operators: `client_id`s with metadata and keys of their own. Default: 1.
        operators: At<u32>,
        /// How many of them, counted from the last, do not list the Operations extension. Default: 0.
        without_extension: At<u32>,
        /// How many Users. Default: 100.
        users: At<u32>,
        /// Which draft's Sessions they speak. Default: dpop-0.2.
        session_mode: At<SessionModeWord>,
        /// The version of the Operations extension that they list. Default: "1".
        operations_version: At<String>,
        /// How long an Agent waits for an answer. Default: 5s.
        request_timeout: At<Time>,
        /// How it tries again.
        retry: RetrySettings,
        /// The scopes it asks tokens for. Default: those of all actions.
        scopes: Vec<String>,
        /// Bugs switched on, from docs/defects.md. Default: none.
        defects: Vec<At<Word<AgentDefect>>>,
    }
}

words! {
    /// Which draft's Sessions are spoken.
    SessionModeWord {
        /// DPoP Session Tokens as in draft 0.1.
        #[serde(rename = "dpop-0.1")]
        Dpop01,
        /// DPoP Session Tokens as in draft 0.2.
        #[serde(rename = "dpop-0.2")]
        Dpop02,
    }
}

section! {
    /// How an Agent tries again after a request that failed or was not answered.
    RetrySettings {
        /// The wait before the first retry. Default: 200ms.
        first: At<Time>,
        /// What each wait is multiplied by for the next. Default: 2.0.
        factor: At<f64>,
        /// How much of each wait is drawn at random. Default: 50%.
        jitter: Share,
        /// The longest wait. Default: 5s.
        longest: At<Time>,
        /// How often a proposal, or the token for a request, is asked for before the journey is given up. Left out, there is no bound.
        tries: At<u32>,
    }
}

section! {
    /// Which anomalies have to, or are allowed to, show.
    ExpectSettings {
        /// Each has to show at least once.
        must: Vec<At<String>>,
        /// These may show without failing the run.
        may: Vec<At<String>>,
    }
}

/// Which anomalies are judged: `all`, `{ only: […] }` or `{ except: […] }`.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::scenario) enum InvariantsSettings {
    /// All of them.
    All,
    /// Only these.
    Only(Vec<At<String>>),
    /// All but these.
    Except(Vec<At<String>>),
}

leaf!(InvariantsSettings);
