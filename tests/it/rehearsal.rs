//! Runs a plan without sockets and without waiting: the direct lane, one thread, time that jumps to the next event.

use std::sync::Arc;

use jiff::Timestamp;
use poppyfield::{
    checker::{self, Judgement, Options},
    history::{Event, Record, Recorder},
    identity::Signatures,
    measure::{Counts, Meter},
    plan::Plan,
    swarm::{self, Control, Ground},
    world::Lane,
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
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without sockets can be made");
    let recorder = Recorder::in_memory();
    let meter = Meter::new();
    let plan = Arc::new(plan);
    runtime.block_on(async {
        let ground = Ground {
            recorder: recorder.clone(),
            lane: Lane::Direct(signatures),
            epoch: epoch(),
            first_port: None,
            may_load: Default::default(),
        };
        let field = swarm::set_up(&plan, ground).await.expect("parties without sockets can be set up");
        swarm::run(&plan, &field, &meter, &Control::default()).await.expect("the Agents have keys");
    });
    recorder.finish().expect("memory can be written");
    let (history, ledger) = recorder.snapshot();
    let events = history.iter().map(|record| record.event.clone()).collect();
    let judgement = checker::judge(history.clone(), ledger, Options::default());
    Rehearsal { judgement, history, counts: meter.counts(), events }
}

/// Where virtual time begins.
fn epoch() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().expect("a time")
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
