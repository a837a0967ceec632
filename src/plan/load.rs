//! How much is asked of the Companies, and when.

use std::time::Duration;

use smol_str::SmolStr;

use super::Distribution;

/// One entry of a scenario's load; entries run side by side.
#[derive(Debug, Clone)]
pub struct Load {
    /// How journeys start.
    pub model: LoadModel,
    /// What starts within this long of the beginning is excluded from the figures (never from the checker).
    pub warm_up: Duration,
    /// The most journeys that it starts, if bounded.
    pub operations: Option<u64>,
}

impl Load {
    /// How long the entry starts journeys at the most.
    #[must_use]
    pub fn duration(&self) -> Duration {
        match &self.model {
            LoadModel::Closed { stages, .. } => stages.iter().map(|stage| stage.time).sum(),
            LoadModel::Open { stages, .. } => stages.iter().map(|stage| stage.time).sum(),
            LoadModel::Listed { time, .. } => *time,
        }
    }
}

/// How journeys start.
#[derive(Debug, Clone)]
pub enum LoadModel {
    /// A number of Agents, each starting its next journey a think time after the last one ended.
    Closed {
        /// How many Agents, over time.
        stages: Vec<AgentStage>,
        /// The think time between journeys, and (drawn anew) before the first.
        think: Distribution,
    },
    /// Journeys start at their due times, however long the ones before take.
    Open {
        /// How due times are spread.
        arrivals: Arrivals,
        /// The arrival rate, over time.
        stages: Vec<RateStage>,
        /// The most journeys at once.
        in_flight: u32,
        /// What happens to a due journey beyond that.
        when_full: WhenFull,
    },
    /// Journeys are listed one by one, so that each can be taken away and leave the others as they were.
    Listed {
        /// The journeys, in the order of the list; they start in the order of time.
        journeys: Vec<ListedJourney>,
        /// How long the load lasts, and with it the faults.
        time: Duration,
    },
}

/// One journey of a load that lists them: everything that its choices are drawn from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedJourney {
    /// The journey's name.
    pub journey: SmolStr,
    /// The User's wish: unique in the run, and the key of every choice about it.
    pub intent: SmolStr,
    /// Whose it is: the number of a User, from 1.
    pub user: u32,
    /// Its number among those of its User, from 1; names its process `a{user}/{number}`.
    pub number: u64,
    /// The Company that it goes to; `None` draws one of its group.
    pub company: Option<SmolStr>,
    /// When it starts, counted from the start of load.
    pub at: Duration,
}

/// A stretch of time with a number of Agents, moving evenly from one number to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentStage {
    /// At its beginning.
    pub from: u32,
    /// At its end.
    pub to: u32,
    /// How long it lasts.
    pub time: Duration,
}

/// A stretch of time with an arrival rate, moving evenly from one rate to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateStage {
    /// Journeys a second at its beginning.
    pub from: f64,
    /// Journeys a second at its end.
    pub to: f64,
    /// How long it lasts.
    pub time: Duration,
}

/// How due times are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// As evenly as the rate allows.
    Constant,
    /// A Poisson process of that rate.
    Poisson,
}

/// What happens to a journey that is due while too many are in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// It starts as soon as another ends; its response time counts from when it was due.
    Queue,
    /// It is dropped and counted.
    Skip,
}
