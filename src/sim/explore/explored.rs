//! What a search showed, over all of its trials.

use std::collections::{BTreeMap, BTreeSet};

use super::trial::{Trial, TrialOf};
use crate::{
    checker::Anomaly,
    plan::Plan,
    sim::coverage::{Coverage, Item},
};

/// The most trials of one anomaly, or in trouble, that are kept with what they showed; all are counted.
pub(super) const KEPT_MAX: usize = 3;

/// What a search showed.
#[derive(Debug, Clone)]
pub struct Explored {
    /// Trials that ended.
    pub trials: u64,
    /// How many of them were of seeds.
    pub seeds: u64,
    /// Those that fail.
    pub failing: u64,
    /// Whether trials were given up.
    pub interrupted: bool,
    /// What was found, by anomaly, in the order in which they were first found.
    pub groups: Vec<Group>,
    /// Every anomaly that showed, also as a consequence of something else.
    pub shown: BTreeMap<Anomaly, Shown>,
    /// Trials that came to no proper end, or differ from themselves.
    pub in_trouble: u64,
    /// The first few of them, with why.
    pub troubles: Vec<(TrialOf, String)>,
    /// Anomalies that have to show and did in no trial.
    pub absent: Vec<String>,
    /// What each of the plan's minimums counts, over all trials.
    pub reached: Vec<u64>,
    /// Trials in which operations that may have been confirmed were left open, and the first of them.
    pub left_open: Option<(u64, TrialOf)>,
    /// Operations.
    pub operations: u64,
    /// Requests that were carried.
    pub requests: u64,
    /// Virtual time of all trials, in nanoseconds.
    pub virtual_ns: u64,
    /// What was exercised.
    pub coverage: Coverage,
    /// The last trial that exercised something new, and the first thing that was new in it.
    pub last_new: Option<(TrialOf, Item)>,
    /// The digest of all trials' digests, in order, where each was run twice and was the same.
    pub digests: Vec<String>,
    must: BTreeSet<Anomaly>,
}

/// How often an anomaly showed, consequences included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// How often.
    pub count: u64,
    /// The first trial in which it did.
    pub first: TrialOf,
}

/// An anomaly over all trials.
#[derive(Debug, Clone)]
pub struct Group {
    /// Which.
    pub anomaly: Anomaly,
    /// Whether the scenario expects or allows it.
    pub expected: bool,
    /// In how many trials it was found.
    pub trials: u64,
    /// How often.
    pub count: u64,
    /// The first few trials, with the first finding of each in a sentence.
    pub first: Vec<(TrialOf, String)>,
}

impl Explored {
    pub(super) fn new(plan: &Plan) -> Self {
        let must: BTreeSet<Anomaly> = plan.expect.must.iter().filter_map(|name| Anomaly::named(name)).collect();
        Self {
            trials: 0,
            seeds: 0,
            failing: 0,
            interrupted: false,
            groups: Vec::new(),
            shown: BTreeMap::new(),
            in_trouble: 0,
            troubles: Vec::new(),
            absent: must.iter().map(|anomaly| anomaly.name().to_owned()).collect(),
            reached: vec![0; plan.reach.len()],
            left_open: None,
            operations: 0,
            requests: 0,
            virtual_ns: 0,
            coverage: Coverage::default(),
            last_new: None,
            digests: Vec::new(),
            must,
        }
    }

    /// Takes the next trial.
    pub(super) fn add(&mut self, trial: Trial) {
        self.trials += 1;
        let is_seed = matches!(trial.of, TrialOf::Seed(_));
        self.seeds += u64::from(is_seed);
        self.failing += u64::from(trial.fails());
        self.operations += trial.operations;
        self.requests += trial.requests;
        self.virtual_ns += trial.virtual_ns;
        if is_seed {
            // A crash that the search adds shows nothing of what the scenario exercises by itself.
            self.reached.iter_mut().zip(&trial.reached).for_each(|(all, one)| *all += one);
        }
        self.must.retain(|anomaly| !trial.shown.contains_key(anomaly));
        self.absent = self.must.iter().map(|anomaly| anomaly.name().to_owned()).collect();
        for (anomaly, count) in &trial.shown {
            let first = || Shown { count: 0, first: trial.of.clone() };
            self.shown.entry(*anomaly).or_insert_with(first).count += count;
        }
        if let Some(new) = self.coverage.add(&trial.coverage) {
            self.last_new = Some((trial.of.clone(), new));
        }
        if trial.left_open > 0 {
            self.left_open.get_or_insert_with(|| (0, trial.of.clone())).0 += 1;
        }
        if let Some(trouble) = &trial.trouble {
            self.in_trouble += 1;
            if self.troubles.len() < KEPT_MAX {
                self.troubles.push((trial.of.clone(), trouble.to_string()));
            }
        }
        self.digests.extend(trial.digest);
        let mut places: BTreeMap<Anomaly, usize> =
            self.groups.iter().enumerate().map(|(place, group)| (group.anomaly, place)).collect();
        for found in trial.found {
            let place = *places.entry(found.anomaly).or_insert_with(|| {
                let (anomaly, expected) = (found.anomaly, found.expected);
                self.groups.push(Group { anomaly, expected, trials: 0, count: 0, first: Vec::new() });
                self.groups.len() - 1
            });
            let group = &mut self.groups[place];
            group.trials += 1;
            group.count += found.count;
            if group.first.len() < KEPT_MAX {
                group.first.push((trial.of.clone(), found.sentence));
            }
        }
    }
}
