//! A scenario and a seed made definite: parties, journeys, load, faults, thresholds.
//!
//! `scenario/` reads YAML into its own raw types and resolves them into these; nothing downstream sees the raw ones.
//! Everything here is plain data: no clock, no randomness of its own.

mod capacity;
mod company;
mod defect;
mod distribution;
mod exposure;
mod fault;
mod judging;
mod load;
mod money;
mod network;
mod swarm;
mod target;

pub use capacity::{Capacity, DatabaseShare, RowLocks};
pub use company::{
    Action, Answers, Approval, BackendSettings, CompanyPlan, OnPartial, Proposals, Sessions, Step, StoreSettings,
    WithoutExtension,
};
pub use defect::{AgentDefect, CompanyDefect, Defect, Defects};
pub use distribution::{Distribution, PercentileTable};
pub use exposure::Exposure;
pub use fault::{CrashPoint, Fault, FaultKind, Manner, Once, Passings, Strike, Strikes, Window};
pub use judging::{Comparison, Expectation, Figure, Invariants, Metric, Reach, ReachCounter, Threshold, Unit};
pub use load::{AgentStage, Arrivals, ListedJourney, Load, LoadModel, RateStage, WhenFull};
pub use money::{Money, PriceRange};
pub use network::{Direction, Message, Network, Partition};
pub use swarm::{AskUser, By, Confirm, Journey, JourneyStep, Retry, SwarmPlan};
pub use target::{
    CaFile, ConnectTo, FakeValue, Hook, Hooks, KnownOperator, Performed, Piece, Preparation, RequestShape, Settle,
    SignIn, Target, TargetAction, pieces,
};

use std::time::Duration;

/// A whole run, definite but for the choices that a hash of the seed makes.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The scenario's name.
    pub name: String,
    /// The seed of every choice.
    pub seed: u64,
    /// Whether parties talk TLS, with a CA made for the run.
    pub tls: bool,
    /// The Companies, `shop` with `count: 3` resolved into three. With a target there is one, which stands for it: its
    /// name, domain and actions (without steps) are the target's, its `proposals` the scenario's.
    pub companies: Vec<CompanyPlan>,
    /// The Company that is not simulated and takes the place of all others, if there is one.
    pub target: Option<Target>,
    /// What the plan was before it was pointed at the target, if there is one.
    pub aimed: Option<Box<Aimed>>,
    /// The Personal Agents.
    pub swarm: SwarmPlan,
    /// What a User may set out to do; drawn by weight.
    pub journeys: Vec<Journey>,
    /// Entries run side by side.
    pub load: Vec<Load>,
    /// The faults, in the scenario's order.
    pub faults: Vec<Fault>,
    /// The network between Personal Agents and Companies.
    pub network: Network,
    /// How long, with faults off, what is open may take to come to its end.
    pub settle: Duration,
    /// Which anomalies are judged.
    pub invariants: Invariants,
    /// Which anomalies have to, or are allowed to, show.
    pub expect: Expectation,
    /// What the run has to have exercised; short of it, it is inconclusive.
    pub reach: Vec<Reach>,
    /// What the figures have to hold.
    pub thresholds: Vec<Threshold>,
}

/// A plan before it was pointed at a target.
#[derive(Debug, Clone)]
pub struct Aimed {
    /// The scenario's own plan, with Companies that are simulated.
    pub scenario: Plan,
    /// What of it cannot be had at the target and was dropped, a sentence each.
    pub notes: Vec<String>,
}

impl Plan {
    /// At most so many journeys in all, shared among the entries of the load.
    pub fn limit(&mut self, journeys: u64) {
        let entries = self.load.len() as u64;
        for (index, load) in self.load.iter_mut().enumerate() {
            let share = journeys / entries + u64::from((index as u64) < journeys % entries);
            load.operations = Some(load.operations.map_or(share, |own| own.min(share)));
        }
    }

    /// How long load lasts at the most, settling not counted; `None` if only a number of operations bounds it.
    #[must_use]
    pub fn load_duration(&self) -> Duration {
        self.load.iter().map(Load::duration).max().unwrap_or_default()
    }

    /// What was dropped when the plan was pointed at a target, a sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        self.aimed.as_ref().map_or(&[], |aimed| &aimed.notes)
    }
}
