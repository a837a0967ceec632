//! The backend's work: once for each key, in a task of its own, written to the ledger at the instant it takes effect.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use smol_str::format_smolstr;
use tokio::sync::Notify;

use super::{
    exchange::Order,
    memory::{Memory, Outcome},
};
use crate::{
    history::{
        Ledger, LedgerEntry,
        record::{BackendRequest, Effect},
    },
    identity::digest,
    plan::{CompanyPlan, Step},
    world::{Delivery, Moment, Table, World},
};

/// One incarnation of a backend.
#[derive(Debug)]
pub(super) struct Backend {
    world: World,
    plan: Arc<CompanyPlan>,
    ledger: Ledger,
    keys: Table<Memory>,
}

impl Backend {
    /// Opens the ledger, and the memory that the disk holds.
    pub(super) fn open(world: World, plan: Arc<CompanyPlan>) -> Self {
        Self { ledger: world.recorder().ledger(), keys: world.disk().table("keys"), world, plan }
    }

    fn enter(&self, entry: LedgerEntry) {
        self.ledger.enter(|| self.world.now().as_nanos(), entry);
    }

    /// The step's own settings; a step that undoes another has none.
    fn step(&self, order: &Order) -> Option<&Step> {
        self.plan.actions.get(&order.kind)?.steps.iter().find(|step| step.name == order.step)
    }
}

/// A request as the ledger tells it: entered when the last who holds it, the answer or the work that it set off, is
/// done with it.
struct Visit {
    backend: Arc<Backend>,
    order: Arc<Order>,
    arrived: Moment,
    acted: AtomicBool,
    answered: AtomicBool,
    delivered: AtomicBool,
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.backend.enter(LedgerEntry::Request(BackendRequest {
            action: self.order.action.clone(),
            step: self.order.step.clone(),
            key: self.order.key.clone(),
            arrived: self.arrived.as_nanos(),
            acted: self.acted.load(Ordering::Acquire),
            answered: self.answered.load(Ordering::Acquire),
            delivered: self.delivered.load(Ordering::Acquire),
        }));
    }
}

/// Does the work of an order, unless its key is known, and waits for its outcome. A caller that goes away stops the
/// waiting, not the work.
pub(super) async fn answer(backend: &Arc<Backend>, order: Order) -> (Outcome, Delivery) {
    let visit = Arc::new(Visit {
        backend: Arc::clone(backend),
        order: Arc::new(order),
        arrived: backend.world.now(),
        acted: AtomicBool::new(false),
        answered: AtomicBool::new(false),
        delivered: AtomicBool::new(false),
    });
    let (known, first) = open(backend, &visit.order.key);
    if first {
        backend.world.spawn(work(Arc::clone(&visit), Arc::clone(&known)));
    }
    loop {
        let rings = known.notified();
        tokio::pin!(rings);
        // Listening before looking: an outcome in between is not missed.
        rings.as_mut().enable();
        let outcome = backend.keys.get(&visit.order.key).and_then(|memory| memory.outcome.clone());
        if let Some(outcome) = outcome {
            visit.answered.store(true, Ordering::Release);
            return (outcome, Delivery::new(move || visit.delivered.store(true, Ordering::Release)));
        }
        rings.await;
    }
}

/// The bell of a key, and whether the work behind it is the caller's to begin.
fn open(backend: &Backend, key: &str) -> (Arc<Notify>, bool) {
    let incarnation = backend.world.incarnation();
    backend.keys.transact(key, |row| {
        let first = match row.as_deref() {
            None => true,
            Some(memory) => memory.outcome.is_none() && memory.incarnation != incarnation,
        };
        if first {
            *row = Some(Arc::new(Memory { outcome: None, incarnation, known: Arc::default() }));
        }
        // It was there or was just put there.
        (row.as_ref().map(|memory| Arc::clone(&memory.known)).unwrap_or_default(), first)
    })
}

/// The work itself: takes its time, then takes effect or is refused, for good.
async fn work(visit: Arc<Visit>, known: Arc<Notify>) {
    let (backend, order) = (&visit.backend, &visit.order);
    let world = &backend.world;
    let step = backend.step(order);
    let latency = step.and_then(|step| step.latency.as_ref()).unwrap_or(&backend.plan.backend.latency);
    world.sleep(latency.sample(world.draw("backend.latency", &named(order), 0))).await;
    let fails = step.is_some_and(|step| world.draw("backend.fail", &named(order), 0).chance(step.fail))
        || world.backend_fails(&order.step, &order.key, &order.action);
    let outcome = if fails { Outcome::Refused } else { Outcome::Done { receipt: receipt(world, order) } };
    backend.keys.transact(&order.key, |row| {
        if let Outcome::Done { receipt } = &outcome {
            // Under the row's lock: memory and ledger agree at every instant.
            backend.enter(LedgerEntry::Effect(effect(order, receipt)));
            visit.acted.store(true, Ordering::Release);
        }
        *row = Some(Arc::new(Memory {
            outcome: Some(outcome),
            incarnation: world.incarnation(),
            known: Arc::clone(&known),
        }));
    });
    known.notify_waiters();
}

/// What names an order in random choices: unique in the run, as the key is at its Company.
fn named(order: &Order) -> String {
    format!("{}\n{}", order.action, order.key)
}

/// A text that nobody can guess who did not see it.
fn receipt(world: &World, order: &Order) -> smol_str::SmolStr {
    let drawn: [u8; 9] = world.draw("backend.receipt", &named(order), 0).bytes();
    format_smolstr!("rtn_{}", digest::base64url(drawn))
}

/// The effect, with a digest of the terms that the backend itself was told to perform.
fn effect(order: &Order, receipt: &str) -> Effect {
    Effect {
        id: format_smolstr!("e_{}", &receipt[4..]),
        action: order.action.clone(),
        revision: order.revision.get(),
        terms: digest::terms_digest(&order.summary, order.terms.as_ref()),
        step: order.step.clone(),
        key: order.key.clone(),
        receipt: receipt.into(),
        undo_of: order.undo_of.clone(),
    }
}
