//! Runs a plan in the simulated world and judges it.

use poppyfield::{
    checker::{Judgement, Options},
    history::{Event, Record},
    identity::Signatures,
    measure::Counts,
    plan::Plan,
    sim::Outcome,
};

/// What a rehearsed run left behind.
pub(crate) struct Rehearsal {
    pub(crate) judgement: Judgement,
    pub(crate) history: Vec<Record>,
    pub(crate) counts: Counts,
    pub(crate) events: Vec<Event>,
}

/// Runs `plan` to its end and judges it.
pub(crate) fn rehearse(plan: Plan) -> Rehearsal {
    rehearse_with(plan, Signatures::Real)
}

/// The same with that kind of signatures.
pub(crate) fn rehearse_with(plan: Plan, signatures: Signatures) -> Rehearsal {
    let outcome = Outcome::of(&plan.into(), signatures).unwrap_or_else(|error| panic!("{error}"));
    let judgement = outcome.judge(Options::default());
    let events = outcome.history.iter().map(|record| record.event.clone()).collect();
    Rehearsal { judgement, counts: outcome.meter.counts(), history: outcome.history, events }
}

impl Rehearsal {
    /// The names of the anomalies that were found, consequences included.
    pub(crate) fn anomalies(&self) -> Vec<&'static str> {
        self.judgement.counts_by_anomaly().into_keys().map(|anomaly| anomaly.name()).collect()
    }

    /// The findings as a person reads them, the first few.
    pub(crate) fn explained(&self) -> String {
        self.judgement.findings.iter().take(3).map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }
}
