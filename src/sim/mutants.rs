//! Whether the checker finds what it has to find: every defect under the scenario that exposes it, over many seeds, next to
//! correct parties under the same faults.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroUsize,
};

use super::explore::{Search, Trial, TrialOf, Watch, explore};
use crate::{
    checker::Anomaly,
    identity::Signatures,
    plan::{Defect, LoadModel, Plan},
};

/// Agents of a trial at the most, where the load is closed: faults end with load, and load with the start of its last
/// journey, so that few Agents make both last.
const AGENTS_MAX: u32 = 4;

/// What a defect showed.
#[derive(Debug, Clone)]
pub struct Mutant {
    /// Which.
    pub defect: Defect,
    /// Seeds that were tried to their end.
    pub seeds: u64,
    /// Those of them that show the anomaly that it has to raise.
    pub showing: u64,
    /// The first of these.
    pub first: Option<u64>,
    /// Every anomaly that showed, consequences included, with the number of seeds that show it.
    pub found: BTreeMap<Anomaly, u64>,
    /// Seeds that came to no proper end, the first of them, and why.
    pub troubled: Option<(u64, String)>,
}

impl Mutant {
    fn new(defect: Defect) -> Self {
        Self { defect, seeds: 0, showing: 0, first: None, found: BTreeMap::new(), troubled: None }
    }

    /// Anomalies that it may not raise, and did.
    #[must_use]
    pub fn strange(&self) -> Vec<Anomaly> {
        let allowed: BTreeSet<&str> = self.defect.exposure().anomalies().collect();
        self.found.keys().copied().filter(|anomaly| !allowed.contains(anomaly.name())).collect()
    }

    /// Whether it showed for its own anomaly and for none that it may not raise.
    #[must_use]
    pub fn is_caught(&self) -> bool {
        self.showing > 0 && self.strange().is_empty() && self.troubled.is_none()
    }

    fn take(&mut self, trial: &Trial) {
        let TrialOf::Seed(seed) = trial.of else { return };
        self.seeds += 1;
        for anomaly in trial.shown.keys() {
            *self.found.entry(*anomaly).or_default() += 1;
            if anomaly.name() == self.defect.exposure().must {
                self.showing += 1;
                self.first.get_or_insert(seed);
            }
        }
        if let (None, Some(trouble)) = (&self.troubled, &trial.trouble) {
            self.troubled = Some((seed, trouble.to_string()));
        }
    }
}

/// What correct parties showed under a scenario's faults.
#[derive(Debug, Clone, Default)]
pub struct Innocent {
    /// Seeds that were tried to their end.
    pub seeds: u64,
    /// Operations in them.
    pub operations: u64,
    /// Seeds in which anybody was accused of anything, or that came to no proper end.
    pub accused: u64,
    /// The first of these, and of what.
    pub first: Option<(u64, String)>,
}

impl Innocent {
    fn take(&mut self, trial: &Trial) {
        let TrialOf::Seed(seed) = trial.of else { return };
        self.seeds += 1;
        self.operations += trial.operations;
        let accused = trial.found.iter().filter(|found| !found.expected).map(|found| found.sentence.clone());
        let why = trial.trouble.as_ref().map(ToString::to_string);
        if let Some(why) = accused.chain(why).next() {
            self.accused += 1;
            self.first.get_or_insert((seed, why));
        }
    }
}

/// How many seeds are tried, and by how many threads.
#[derive(Debug, Clone, Copy)]
pub struct Trials {
    /// Seeds of each defect and each scenario, from 1 on.
    pub seeds: u64,
    /// Threads.
    pub workers: NonZeroUsize,
}

impl Trials {
    fn search(self) -> Search {
        Search {
            first: Vec::new(),
            seed: 1,
            seeds: Some(self.seeds),
            workers: self.workers,
            signatures: Signatures::Fast,
            fail_fast: false,
            twice: false,
        }
    }

    /// Tries a defect under the plan of the scenario that exposes it, as [`small`] made it.
    #[must_use]
    pub fn of_defect(self, plan: &Plan, defect: Defect, watch: &Watch) -> Mutant {
        let mut plan = plan.clone();
        defect.switch_on(&mut plan);
        let mut mutant = Mutant::new(defect);
        explore(&plan, &self.search(), watch, &mut |trial| mutant.take(trial));
        mutant
    }

    /// Tries correct parties under the plan of a scenario, as [`small`] made it.
    #[must_use]
    pub fn of_correct_parties(self, plan: &Plan, watch: &Watch) -> Innocent {
        let mut innocent = Innocent::default();
        explore(plan, &self.search(), watch, &mut |trial| innocent.take(trial));
        innocent
    }
}

/// The plan with so many journeys, and few Agents to make them. Faults strike from beginning to end, since so few journeys
/// are over before most windows open.
#[must_use]
pub fn small(mut plan: Plan, operations: u64) -> Plan {
    plan.limit(operations);
    for load in &mut plan.load {
        if let LoadModel::Closed { stages, .. } = &mut load.model {
            for stage in stages {
                (stage.from, stage.to) = (stage.from.min(AGENTS_MAX), stage.to.min(AGENTS_MAX));
            }
        }
    }
    plan.faults.iter_mut().for_each(|fault| fault.during = None);
    plan
}
