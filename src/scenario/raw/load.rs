//! How much is asked of the Companies.

use crate::scenario::value::{AgentsText, At, RateText, Spread, Time};

use super::{section, words};

/// One entry of the load; entries run side by side.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::scenario) enum LoadChoice {
    /// A number of Agents, each starting its next journey a think time after the last one ended.
    Closed(ClosedSettings),
    /// Journeys start at their due times, however long the ones before take.
    Open(OpenSettings),
    /// Journeys one by one: which, whose, and when.
    Listed(ListedSettings),
}

/// Journeys one by one.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct ListedSettings {
    /// The journeys.
    pub(in crate::scenario) journeys: At<Vec<At<ListedJourneySettings>>>,
    /// What starts within this long of the beginning is left out of the figures, never of the checker. Default: 0s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) warm_up: Option<At<Time>>,
    /// How long the load lasts; faults are off afterwards.
    pub(in crate::scenario) r#for: At<Time>,
    /// The most journeys that it starts. Default: no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) operations: Option<At<u64>>,
}

/// One journey of a list.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct ListedJourneySettings {
    /// The journey's name.
    pub(in crate::scenario) journey: At<String>,
    /// Names it among all of the run; every choice about it is drawn from this. Default: `iE-N`, the entry's and its own
    /// place from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) intent: Option<At<String>>,
    /// The number of its User, from 1.
    pub(in crate::scenario) user: At<u32>,
    /// Its number among those of its User, from 1. Default: one more than the highest before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) number: Option<At<u64>>,
    /// The Company that it goes to. Default: one of the group, drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) company: Option<At<String>>,
    /// When it starts, counted from the start of load.
    pub(in crate::scenario) at: At<Time>,
}

section! {
    /// A number of Agents. Either `agents` (with `for`) or `stages`.
    ClosedSettings {
        /// How many Agents.
        agents: At<u32>,
        /// How many Agents, over time.
        stages: At<Vec<AgentStageSettings>>,
        /// The think time between journeys, and (drawn anew) before the first. Default: 1s.
        think: Spread,
        /// What starts within this long of the beginning is left out of the figures, never of the checker. Default: 0s.
        warm_up: At<Time>,
        /// How long journeys start. Left out with `operations`: 10m.
        r#for: At<Time>,
        /// The most journeys that it starts. Default: no bound.
        operations: At<u64>,
    }
}

section! {
    /// An arrival rate. Either `rate` (with `for`) or `stages`.
    OpenSettings {
        /// How due times are spread. Default: poisson.
        arrivals: ArrivalsWord,
        /// The arrival rate.
        rate: At<RateText>,
        /// The arrival rate, over time.
        stages: At<Vec<RateStageSettings>>,
        /// What starts within this long of the beginning is left out of the figures, never of the checker. Default: 0s.
        warm_up: At<Time>,
        /// The most journeys at once. Default: 1000.
        in_flight: At<u32>,
        /// What happens to a due journey beyond that. Default: queue.
        when_full: WhenFullWord,
        /// How long journeys start. Left out with `operations`: 10m.
        r#for: At<Time>,
        /// The most journeys that it starts. Default: no bound.
        operations: At<u64>,
    }
}

/// A stretch of time with a number of Agents.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct AgentStageSettings {
    /// How many, or from how many to how many: `200`, `0..200`.
    pub(in crate::scenario) agents: AgentsText,
    /// How long it lasts.
    pub(in crate::scenario) r#for: At<Time>,
}

/// A stretch of time with an arrival rate.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct RateStageSettings {
    /// The rate, or from which to which: `40/s`, `0/s..40/s`.
    pub(in crate::scenario) rate: RateText,
    /// How long it lasts.
    pub(in crate::scenario) r#for: At<Time>,
}

words! {
    /// How due times are spread.
    ArrivalsWord {
        /// As evenly as the rate allows.
        Constant,
        /// A Poisson process of that rate.
        Poisson,
    }
}

words! {
    /// What happens to a journey that is due while too many are in flight.
    WhenFullWord {
        /// It starts as soon as another ends; its response time counts from when it was due.
        Queue,
        /// It is dropped and counted.
        Skip,
    }
}
