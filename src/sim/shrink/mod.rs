//! Reduces a failing run to the smallest one that still shows the same anomaly.
//!
//! First the run is made explicit: what it chose, its journeys and the strikes of its faults, is listed one by one, and
//! has to fail the same way. Then parts are taken away and values made simpler, one candidate after the other, each
//! simulated and judged. Since every choice is drawn from a name, what is left chooses as it did before.

mod ddmin;
mod explicit;
mod parts;
mod trial;
mod values;

use std::{collections::BTreeSet, fmt, sync::Arc};

use tokio_util::sync::CancellationToken;

use self::trial::{Stop, Trial};
use super::SimulationError;
use crate::{
    checker::Anomaly,
    identity::Signatures,
    plan::{Invariants, Plan},
};

/// The most candidates that are tried, unless somebody says so.
pub const CANDIDATES_MAX: u64 = 3_000;

/// The most often that all ways to shrink are gone through.
const ROUNDS_MAX: u32 = 4;

/// How a run is shrunk.
pub struct Options<'a> {
    /// The anomaly to keep; `None`: the gravest that fails the run.
    pub anomaly: Option<Anomaly>,
    /// How requests are signed; fast ones give the same histories sooner.
    pub signatures: Signatures,
    /// The most candidates that are tried.
    pub candidates_max: u64,
    /// Ends it early with the smallest run so far.
    pub stop: CancellationToken,
    /// Told after each candidate.
    pub progress: &'a dyn Fn(&Progress),
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { anomaly, signatures, candidates_max, .. } = self;
        let mut shown = formatter.debug_struct("Options");
        shown.field("anomaly", anomaly).field("signatures", signatures).field("candidates_max", candidates_max);
        shown.finish_non_exhaustive()
    }
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            anomaly: None,
            signatures: Signatures::Fast,
            candidates_max: CANDIDATES_MAX,
            stop: CancellationToken::new(),
            progress: &|_| {},
        }
    }
}

/// How far shrinking is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Candidates tried until now.
    pub candidates: u64,
    /// The smallest run so far.
    pub size: Size,
}

/// How much there is to a run whose journeys and strikes are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Users, each with her Personal Agent.
    pub agents: usize,
    /// Companies.
    pub companies: usize,
    /// Journeys.
    pub journeys: usize,
    /// Strikes of faults.
    pub strikes: usize,
}

impl Size {
    fn of(plan: &Plan) -> Self {
        let (journeys, _) = explicit::journeys(plan);
        let users: BTreeSet<u32> = journeys.iter().map(|journey| journey.user).collect();
        Self {
            agents: users.len(),
            companies: plan.companies.len(),
            journeys: journeys.len(),
            strikes: explicit::strikes(plan).len(),
        }
    }
}

/// What a run was reduced to.
#[derive(Debug)]
pub struct Shrunk {
    /// The smallest plan; its scenario file gives it again.
    pub plan: Plan,
    /// What it still shows.
    pub anomaly: Anomaly,
    /// How much there was.
    pub before: Size,
    /// How much is left.
    pub after: Size,
    /// Candidates that were tried.
    pub candidates: u64,
    /// Why it may not be as small as can be.
    pub unfinished: Option<Unfinished>,
}

/// Why shrinking ended before nothing could be taken away any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfinished {
    /// As many candidates were tried as may be.
    Bound,
    /// It was interrupted.
    Interrupted,
}

/// Why a run was not shrunk.
#[derive(Debug, thiserror::Error)]
pub enum NotShrunk {
    /// It does not show what is to be kept: nothing that fails it, or not that anomaly.
    #[error("the run passes: there is nothing to shrink")]
    Passes,
    /// Interrupted before it was known what to shrink.
    #[error("interrupted before there was anything to keep")]
    Interrupted,
    /// What it chose, said one by one, gives another run.
    #[error("the run does not show {0} any more once its journeys and faults are listed one by one")]
    NotExplicit(&'static str),
    /// It cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}

/// Runs a plan and, if it fails, reduces it to the smallest one that still shows the same anomaly.
///
/// Deterministic, but for an interrupt.
///
/// # Errors
///
/// If the run passes, cannot be simulated, or cannot be said one by one.
pub fn shrink(plan: &Arc<Plan>, options: &Options<'_>) -> Result<Shrunk, NotShrunk> {
    let seen = trial::run(plan, options)?.ok_or(NotShrunk::Interrupted)?;
    let anomaly = match options.anomaly {
        Some(anomaly) => seen.judgement.counts_by_anomaly().contains_key(&anomaly).then_some(anomaly),
        None => trial::gravest(plan, &seen.judgement).map(|finding| finding.anomaly),
    };
    let anomaly = anomaly.ok_or(NotShrunk::Passes)?;
    let mut first = explicit::explicit(plan, &seen);
    if !plan.invariants.includes(anomaly.name()) {
        first.invariants = Invariants::All;
    }
    let mut trial = Trial::new(options, anomaly, plan.as_ref().clone(), seen);
    match trial.attempt(first) {
        Ok(true) => {}
        Ok(false) => return Err(NotShrunk::NotExplicit(anomaly.name())),
        Err(_) => return Err(NotShrunk::Interrupted),
    }
    let before = Size::of(&trial.best);
    let unfinished = match reduce(&mut trial) {
        Ok(()) => None,
        Err(Stop::Bound) => Some(Unfinished::Bound),
        Err(Stop::Interrupted) => Some(Unfinished::Interrupted),
    };
    let after = Size::of(&trial.best);
    Ok(Shrunk { anomaly, before, after, candidates: trial.candidates, unfinished, plan: trial.best })
}

/// Goes through all ways to shrink until none of them helps.
fn reduce(trial: &mut Trial<'_>) -> Result<(), Stop> {
    for _ in 0..ROUNDS_MAX {
        let before = format!("{:?}", trial.best);
        parts::fewer_journeys(trial)?;
        parts::without_idle(trial)?;
        parts::fewer_strikes(trial)?;
        parts::calmer_network(trial)?;
        parts::fewer_defects(trial)?;
        parts::fewer_steps(trial)?;
        parts::fewer_backend_steps(trial)?;
        values::shorter(trial)?;
        values::simpler(trial)?;
        parts::without_idle(trial)?;
        if format!("{:?}", trial.best) == before {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
