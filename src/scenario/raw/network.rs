//! The network between Personal Agents and Companies.

use crate::plan::Direction;
use crate::scenario::value::{At, Share, Spread, WindowText, Word};

use super::section;

section! {
    /// The network between Personal Agents, with their operators, and Companies.
    NetworkSettings {
        /// How long a message takes one way, drawn for each message; a random one reorders. Default: 0s.
        latency: Spread,
        /// The chance that a message is lost, drawn for a request and its answer apart. Default: 0%.
        loss: At<Share>,
        /// The chance that a request is delivered twice. Default: 0%.
        duplicate: At<Share>,
        /// When nothing gets through. Default: never.
        partitions: Vec<At<PartitionSettings>>,
    }
}

/// A stretch of time in which Companies cannot be reached.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct PartitionSettings {
    /// The Companies that are cut off, by the scenario's name or by a Company's own. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) at: Option<At<String>>,
    /// Which messages do not get through. Default: both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) direction: Option<Word<Direction>>,
    /// When, counted from the start of load.
    pub(in crate::scenario) during: At<WindowText>,
}
