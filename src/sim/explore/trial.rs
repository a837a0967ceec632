//! One plan tried: simulated, judged, and what it exercised.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::Search;
use crate::{
    checker::{Anomaly, Judgement, Level},
    history::Recorder,
    measure::{Meter, counter, reached},
    plan::{CrashPoint, Expectation, Plan},
    sim::{Outcome, Setting, SimulationError, coverage::Coverage, crash_points::Spot, judged, panics},
    swarm::{Companies, Control},
};

/// What was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrialOf {
    /// The plan with one crash more.
    Crash(Spot),
    /// The plan with this seed.
    Seed(u64),
}

impl fmt::Display for TrialOf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crash(spot) => write!(formatter, "crash {spot}"),
            Self::Seed(seed) => write!(formatter, "seed {seed}"),
        }
    }
}

/// What one trial showed.
#[derive(Debug, Clone)]
pub struct Trial {
    /// What was tried.
    pub of: TrialOf,
    /// Why it shows less than it should; then it fails, whatever else was found.
    pub trouble: Option<Trouble>,
    /// What was found, by anomaly: the gravest first. What follows from something else is not counted.
    pub found: Vec<Found>,
    /// How often each anomaly showed, also as a consequence.
    pub shown: BTreeMap<Anomaly, u64>,
    /// What each of the plan's minimums counts, in their order.
    pub reached: Vec<u64>,
    /// Operations that were confirmed, or may have been, and not final for their Agent when it stopped.
    pub left_open: u64,
    /// Operations.
    pub operations: u64,
    /// Requests that were carried.
    pub requests: u64,
    /// How long it lasted, in nanoseconds of virtual time.
    pub virtual_ns: u64,
    /// What it exercised.
    pub coverage: Coverage,
    /// The digest of history and ledger, where it was asked for.
    pub digest: Option<String>,
}

/// Why a trial shows less than it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// It came to no end: a panic, or a standstill.
    NotSimulated(String),
    /// Its history or ledger lacks something.
    Incomplete(String),
    /// A second run of it was another one: where the two part.
    Differs(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSimulated(why) | Self::Incomplete(why) => formatter.write_str(why),
            Self::Differs(at) => write!(formatter, "two runs of it differ: {at}"),
        }
    }
}

/// An anomaly that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Which.
    pub anomaly: Anomaly,
    /// How often.
    pub count: u64,
    /// Whether the scenario expects or allows it.
    pub expected: bool,
    /// The first one, in a sentence.
    pub sentence: String,
}

impl Found {
    /// Whether it fails a trial.
    #[must_use]
    pub fn fails(&self) -> bool {
        !self.expected && self.anomaly.entry().level == Level::Must
    }
}

impl Trial {
    /// Whether it fails.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.trouble.is_some() || self.found.iter().any(Found::fails)
    }

    /// The anomalies that fail it.
    pub fn failures(&self) -> impl Iterator<Item = &Found> {
        self.found.iter().filter(|found| found.fails())
    }

    fn of(of: TrialOf) -> Self {
        Self {
            of,
            trouble: None,
            found: Vec::new(),
            shown: BTreeMap::new(),
            reached: Vec::new(),
            left_open: 0,
            operations: 0,
            requests: 0,
            virtual_ns: 0,
            coverage: Coverage::default(),
            digest: None,
        }
    }
}

/// Tries a plan whose Companies may be ready; `None` if it was given up meanwhile.
pub(super) fn attempt(
    of: TrialOf,
    plan: &Arc<Plan>,
    companies: &Companies,
    search: &Search,
    stop: &CancellationToken,
) -> Option<Trial> {
    let mut trial = Trial::of(of);
    let tried = || -> Result<bool, SimulationError> {
        let (outcome, points) = run(plan, companies, search, stop)?;
        if outcome.simulated.ran.interrupted {
            return Ok(false);
        }
        take(&mut trial, plan, &outcome, points);
        if search.twice {
            let (again, _) = run(plan, companies, search, stop)?;
            if again.simulated.ran.interrupted {
                return Ok(false);
            }
            compare(&mut trial, &outcome, &again);
        }
        Ok(true)
    };
    let why = match panics::noted(tried) {
        Ok(Ok(true)) => None,
        Ok(Ok(false)) => return None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(panic) => Some(panic),
    };
    if let Some(why) = why {
        trial.trouble = Some(Trouble::NotSimulated(why));
    }
    Some(trial)
}

/// Simulates a plan and keeps all but times in memory; with how often crash points were come to.
fn run(
    plan: &Arc<Plan>,
    companies: &Companies,
    search: &Search,
    stop: &CancellationToken,
) -> Result<(Outcome, Passed), SimulationError> {
    let mut setting = Setting::to(Recorder::in_memory(), Meter::counting(), search.signatures);
    setting.control = Control { stop: stop.clone(), ..Control::default() };
    setting.companies = companies.clone();
    let field = Arc::clone(&setting.field);
    let outcome = Outcome::in_setting(plan, setting)?;
    Ok((outcome, field.get().map(|field| field.points_passed()).unwrap_or_default()))
}

/// How often each crash point was come to.
type Passed = BTreeMap<CrashPoint, u64>;

/// Judges a run and takes what it showed.
fn take(trial: &mut Trial, plan: &Plan, outcome: &Outcome, points: Passed) {
    let judgement = outcome.judge(judged(&plan.invariants));
    trial.coverage = Coverage::of(plan, &outcome.history, &judgement, &outcome.meter.counts(), points);
    for fault in outcome.faults() {
        outcome.meter.fault(&fault.kind, fault.point.as_deref());
    }
    let counts = outcome.meter.counts();
    trial.reached = plan.reach.iter().map(|reach| reached(reach, &counts).count).collect();
    trial.left_open = counts.counter(counter::LEFT_OPEN);
    trial.operations = judgement.counts.operations;
    trial.requests = outcome.simulated.requests;
    trial.virtual_ns = outcome.simulated.ran.ended.as_nanos();
    trial.shown = judgement.counts_by_anomaly();
    trial.found = found(&judgement, &plan.expect);
    trial.trouble = judgement.incomplete.first().cloned().map(Trouble::Incomplete);
}

/// The findings by anomaly, in the order of the first ones. What follows from an expected one fails nothing.
fn found(judgement: &Judgement, expect: &Expectation) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for finding in &judgement.findings {
        match found.iter_mut().find(|known| known.anomaly == finding.anomaly) {
            Some(known) => known.count += 1,
            None => {
                let name = finding.anomaly.name();
                found.push(Found {
                    anomaly: finding.anomaly,
                    count: 1,
                    expected: expect.must.iter().chain(&expect.may).any(|expected| expected == name),
                    sentence: finding.sentence.clone(),
                });
            }
        }
    }
    found
}

/// Holds a run against a second one of the same plan.
fn compare(trial: &mut Trial, one: &Outcome, other: &Outcome) {
    match (one.digest(), other.digest()) {
        (Ok(one), Ok(other)) if one == other => trial.digest = Some(one),
        (Ok(_), Ok(_)) => {
            let parting = parting("history", &one.history, &other.history)
                .or_else(|| parting("ledger", &one.ledger, &other.ledger));
            // Digests of the same lines are the same.
            trial.trouble = Some(Trouble::Differs(parting.unwrap_or_else(|| "the digests".to_owned())));
        }
        (Err(error), _) | (_, Err(error)) => trial.trouble = Some(Trouble::Incomplete(error.to_string())),
    }
}

/// Where the lines of two files of that name part, if they do: the number of the first line that differs, and both of it.
#[must_use]
pub fn parting<T: Serialize + PartialEq>(file: &str, one: &[T], other: &[T]) -> Option<String> {
    let longest = one.len().max(other.len());
    let index = (0..longest).find(|index| one.get(*index) != other.get(*index))?;
    let text = |records: &[T]| match records.get(index).map(serde_json::to_string) {
        Some(Ok(line)) => line,
        Some(Err(error)) => format!("({error})"),
        None => "(no line)".to_owned(),
    };
    Some(format!("line {} of the {file}\n  {}\n  {}", index + 1, text(one), text(other)))
}
