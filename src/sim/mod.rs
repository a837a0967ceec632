//! The simulated world: one plan, one seed, one thread, in virtual time, to the letter.
//!
//! A run shares nothing with any other: it has a runtime, a time line and a field of its own, so that any number of them
//! may go on side by side, each in a thread, and give what each gives alone.

pub mod coverage;
pub mod crash_points;
pub mod explore;
pub mod mutants;
mod panics;
pub mod shrink;

use std::{
    io,
    sync::{Arc, Mutex, OnceLock},
};

use jiff::Timestamp;

use crate::{
    checker::{self, Anomaly, Checker, Judgement},
    history::{Event, LedgerRecord, Record, Recorder, Seen, digest, record::FaultStruck},
    identity::Signatures,
    measure::Meter,
    plan::{Invariants, Plan},
    swarm::{self, Companies, Control, Ground, NoKeys, Ran},
    world::{Clock, Field, FieldError, Lane, NotSimulated, Timeline},
};

/// The wall-clock time at the beginning of every simulated run: 2026-01-01T00:00:00Z.
pub const EPOCH: Timestamp = Timestamp::constant(1_767_225_600, 0);

/// Where a simulated run puts what it records and measures, and how it is watched and ended from outside.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Takes the history and the ledger; finished when the run is.
    pub recorder: Recorder,
    /// Takes the figures.
    pub meter: Meter,
    /// Real signatures, or the fast ones that prove nothing and leave the same history.
    pub signatures: Signatures,
    /// Whether requests travel as bytes, HTTP/1.1 through pipes in memory; the history is the same.
    pub pipes: bool,
    /// Ends the run early, and tells how far it is; from another thread, if need be.
    pub control: Control,
    /// Holds the run's field as soon as there is one.
    pub field: Arc<OnceLock<Arc<Field>>>,
    /// The plan's Companies, if an earlier run of the same plan made them ready.
    pub companies: Companies,
}

impl Setting {
    /// Everything stays in memory.
    #[must_use]
    pub fn in_memory(signatures: Signatures) -> Self {
        Self::to(Recorder::in_memory(), Meter::new(), signatures)
    }

    /// History and figures go there.
    #[must_use]
    pub fn to(recorder: Recorder, meter: Meter, signatures: Signatures) -> Self {
        let (control, field, companies) = Default::default();
        Self { recorder, meter, signatures, pipes: false, control, field, companies }
    }
}

/// How a simulated run ended.
#[derive(Debug)]
pub struct Simulated {
    /// When, and what was left open.
    pub ran: Ran,
    /// Requests that were carried to a party, each copy of one counted.
    pub requests: u64,
}

/// Why a plan was not simulated to its end.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// It loads somebody else's Company.
    #[error("{0} is not simulated, and only what is can be part of the simulated world; use `poppyfield run`")]
    Target(String),
    /// Its parties cannot be set up.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// Its Personal Agents have no keys.
    #[error(transparent)]
    Keys(#[from] NoKeys),
    /// Virtual time did not come to the run's end.
    #[error(transparent)]
    Time(#[from] NotSimulated),
    /// Something in it panicked, be it in a task of a party or in a judge: whatever it went on to show proves nothing.
    #[error("{0}")]
    Panicked(String),
}

/// Runs a plan in the simulated world, on this thread, and finishes its recorder.
///
/// What it writes follows from the plan and the version of Poppyfield alone, unless `setting.control` ends it early.
/// Whether the recorder could write everything is for the caller to ask it.
///
/// # Errors
///
/// If the plan has a target, its parties cannot be set up, virtual time does not come to the run's end, or something panics
/// on this thread meanwhile. Such a panic is told by the error alone: a hook of this module's, which stays, keeps it from
/// the process's own.
pub fn simulate(plan: &Arc<Plan>, setting: &Setting) -> Result<Simulated, SimulationError> {
    if let Some(target) = &plan.target {
        return Err(SimulationError::Target(target.name.to_string()));
    }
    let timeline = Timeline::new();
    let ground = Ground {
        recorder: setting.recorder.clone(),
        clock: Clock::Virtual(Arc::clone(&timeline)),
        lane: if setting.pipes { Lane::Pipe(setting.signatures) } else { Lane::Direct(setting.signatures) },
        epoch: EPOCH,
        first_port: None,
        may_load: Default::default(),
    };
    let simulated = panics::noted(|| {
        timeline.run(async {
            let field = swarm::set_up_again(plan, &setting.companies, ground).await?;
            // Whoever watches had its chance to look before: a setting is for one run.
            let _ = setting.field.set(Arc::clone(&field));
            let ran = swarm::run(plan, &field, &setting.meter, &setting.control).await?;
            Ok(Simulated { ran, requests: field.requests() })
        })
    });
    // A recorder that could not write everything says so for itself.
    let _ = setting.recorder.finish();
    simulated.map_err(SimulationError::Panicked)??
}

/// A simulated run that was kept in memory.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub simulated: Simulated,
    /// What was measured.
    pub meter: Meter,
    /// What the parties did and heard.
    pub history: Vec<Record>,
    /// What took effect.
    pub ledger: Vec<LedgerRecord>,
}

impl Outcome {
    /// Simulates a plan and keeps everything in memory.
    ///
    /// # Errors
    ///
    /// As [`simulate`].
    pub fn of(plan: &Arc<Plan>, signatures: Signatures) -> Result<Self, SimulationError> {
        Self::in_setting(plan, Setting::in_memory(signatures))
    }

    /// The same in a setting whose recorder keeps everything in memory.
    ///
    /// # Errors
    ///
    /// As [`simulate`].
    pub fn in_setting(plan: &Arc<Plan>, setting: Setting) -> Result<Self, SimulationError> {
        let simulated = simulate(plan, &setting)?;
        let (history, ledger) = setting.recorder.take();
        Ok(Self { simulated, meter: setting.meter, history, ledger })
    }

    /// Judges it.
    #[must_use]
    pub fn judge(&self, options: checker::Options) -> Judgement {
        let mut checker = Checker::new(options);
        self.history.iter().for_each(|record| checker.event(record));
        self.ledger.iter().for_each(|record| checker.ledger(record));
        checker.judge()
    }

    /// The faults that struck.
    pub fn faults(&self) -> impl Iterator<Item = &FaultStruck> {
        self.history
            .iter()
            .filter_map(|record| if let Event::Fault(fault) = &record.event { Some(fault) } else { None })
    }

    /// The digest of history and ledger.
    ///
    /// # Errors
    ///
    /// If a record cannot be serialised, which no record of the format gives cause for.
    pub fn digest(&self) -> io::Result<String> {
        digest::of_records(&self.history, &self.ledger)
    }
}

/// A simulated run that was judged as it went: nothing of it is kept, so that it may be as long as it likes.
#[derive(Debug)]
pub struct JudgedRun {
    /// How it ended.
    pub simulated: Simulated,
    /// What was measured.
    pub meter: Meter,
    /// What was found.
    pub judgement: Judgement,
}

impl JudgedRun {
    /// Simulates a plan and judges it meanwhile.
    ///
    /// # Errors
    ///
    /// As [`simulate`].
    pub fn of(plan: &Arc<Plan>, signatures: Signatures, options: checker::Options) -> Result<Self, SimulationError> {
        let checker = Arc::new(Mutex::new(Checker::new(options)));
        let judging = Arc::clone(&checker);
        let recorder = Recorder::watched(move |seen| {
            // Broken off in the midst of a record it judges no more, and the run fails of that.
            let Ok(mut checker) = judging.lock() else { return };
            match seen {
                Seen::Event(record) => checker.event(record),
                Seen::Entry(record) => checker.ledger(record),
            }
        });
        let setting = Setting::to(recorder, Meter::new(), signatures);
        let simulated = simulate(plan, &setting)?;
        let checker = std::mem::take(&mut *checker.lock().map_err(|_| broken_off())?);
        Ok(Self { simulated, meter: setting.meter, judgement: checker.judge() })
    }
}

/// That a judge panicked, where nothing else says so.
fn broken_off() -> SimulationError {
    SimulationError::Panicked("the checker panicked in the midst of a record, so that there is no verdict".to_owned())
}

/// Which anomalies are judged, as a checker takes it.
#[must_use]
pub fn judged(invariants: &Invariants) -> checker::Options {
    let only = match invariants {
        Invariants::All => None,
        Invariants::Only(_) | Invariants::Except(_) => {
            Some(Anomaly::ALL.iter().copied().filter(|anomaly| invariants.includes(anomaly.name())).collect())
        }
    };
    checker::Options { only }
}

#[cfg(test)]
mod tests;
