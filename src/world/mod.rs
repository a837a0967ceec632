//! Clock, keyed randomness, tasks, crash points, durable disk and the Wire between parties.
//!
//! A party holds a [`World`], one handle per incarnation, and reaches nothing else: no clock, randomness, task or socket.
//! What the handles share is the [`Field`]; it alone knows which lane requests take.

mod about;
mod abroad;
mod clock;
mod delivery;
mod disk;
mod draw;
mod field;
mod incarnation;
mod moment;
mod ordinary;
mod pipe;
mod pool;
mod remote;
mod server;
mod station;
mod tag;
#[cfg(test)]
mod tests;
mod timeline;
mod tls;
mod trouble;
mod trust;
mod wire;

use std::{future::Future, sync::Arc, time::Duration};

use bytes::Bytes;
use http::Request;
use jiff::Timestamp;
use smol_str::SmolStr;

pub use about::{About, Answer, Party, PartyKind, Passing, Reply, Why};
pub use clock::Clock;
pub use delivery::Delivery;
pub use disk::{Disk, Table};
pub use draw::Draw;
pub use field::{Field, FieldError, FieldOptions, Lane};
pub use moment::Moment;
pub use remote::Remote;
pub use station::Host;
pub use timeline::{NotSimulated, Timeline};
pub use tls::Authority;

use crate::{
    history::{Event, Recorder, record::FaultStruck},
    identity::Signatures,
    plan::CrashPoint,
};
use incarnation::Incarnation;

/// All that a party knows of the world: one handle per incarnation of the party, cheap to clone.
#[derive(Debug, Clone)]
pub struct World {
    field: Arc<Field>,
    party: Party,
    incarnation: Arc<Incarnation>,
    disk: Disk,
}

impl World {
    /// The party whose handle this is.
    #[must_use]
    pub fn party(&self) -> &Party {
        &self.party
    }

    /// Which incarnation of the party this is, from 1.
    #[must_use]
    pub fn incarnation(&self) -> u32 {
        self.incarnation.number()
    }

    /// How long the run has lasted.
    #[must_use]
    pub fn now(&self) -> Moment {
        self.field.now()
    }

    /// The party's wall clock.
    #[must_use]
    pub fn wall(&self) -> Timestamp {
        self.field.wall()
    }

    /// The wall-clock time at some moment of the run.
    #[must_use]
    pub fn wall_at(&self, moment: Moment) -> Timestamp {
        self.field.wall_at(moment)
    }

    /// The moment of the run at some wall-clock time; the beginning for times before it.
    #[must_use]
    pub fn moment_at(&self, wall: Timestamp) -> Moment {
        self.field.moment_at(wall)
    }

    /// Moves the wall clock on by so long, in whole milliseconds, for every party of the run; waits and latencies stay what
    /// they are. What goes beyond a hundred years in all, [`crate::limits::WALL_MOVED_SECONDS_MAX`], moves nothing.
    pub fn move_wall(&self, by: Duration) {
        self.field.move_wall(Duration::from_millis(u64::try_from(by.as_millis()).unwrap_or(u64::MAX)));
    }

    /// The choice for `purpose` that `key` and `attempt` name.
    #[must_use]
    pub fn draw(&self, purpose: &str, key: &str, attempt: u64) -> Draw {
        Draw::new(self.field.seed(), purpose, key, attempt)
    }

    /// The kind of signatures that keys make and take here.
    #[must_use]
    pub fn signatures(&self) -> Signatures {
        self.field.signatures()
    }

    /// Waits until that moment.
    pub async fn sleep_until(&self, moment: Moment) {
        self.field.sleep_until(moment).await;
    }

    /// Waits that long.
    pub async fn sleep(&self, duration: Duration) {
        if !duration.is_zero() {
            self.sleep_until(self.now() + duration).await;
        }
    }

    /// What `future` gives, if it does by `deadline`.
    pub async fn within<F: Future>(&self, deadline: Moment, future: F) -> Option<F::Output> {
        tokio::select! {
            biased;
            output = future => Some(output),
            () = self.sleep_until(deadline) => None,
        }
    }

    /// Runs `future` on its own; it ends with this incarnation at the latest.
    pub fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        self.incarnation.spawn(future);
    }

    /// A named point of the party's code: a crash fault may end the incarnation here, and then this never returns.
    pub async fn point(&self, point: CrashPoint, passing: Passing<'_>) {
        self.field.count_point(point);
        let company = self.company();
        let struck = self.field.faults().at_point(self.now(), company, point, passing);
        if let Some(struck) = struck {
            self.record(Event::Fault(FaultStruck {
                party: Some(self.party.name.clone()),
                action: Some(passing.key.into()),
                point: Some(point.word().into()),
                for_ms: Some(u64::try_from(struck.effect.as_millis()).unwrap_or(u64::MAX)),
                ..fault_struck(struck.fault, "crash")
            }));
            Field::crash(&self.field, self.party.clone(), struck.effect);
            std::future::pending::<()>().await;
        }
    }

    /// Whether a fault makes this party, a backend, refuse the step for good.
    #[must_use]
    pub fn backend_fails(&self, step: &str, key: &str, action: &str) -> bool {
        let struck = self.field.faults().backend_fails(self.now(), self.company(), step, key);
        if let Some(struck) = &struck {
            self.record(Event::Fault(FaultStruck {
                party: Some(self.party.name.clone()),
                action: Some(action.into()),
                step: Some(step.into()),
                ..fault_struck(struck.fault.clone(), "backend-fail")
            }));
        }
        struck.is_some()
    }

    /// The party's durable disk, which outlives its incarnations.
    #[must_use]
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Sends a request to the party that its URI's host names, and brings the answer.
    pub async fn call(&self, request: Request<Bytes>, about: About) -> Reply {
        Field::call(&self.field, &self.party, request, about).await
    }

    /// Sends a request to the operator of somebody else's servers, beside the protocol: plain HTTP or HTTPS at its own URL,
    /// on loopback unless its host was named; no fault strikes it, and no history has it.
    pub async fn hook(&self, request: Request<Bytes>) -> Answer {
        self.field.hook(request).await
    }

    /// Puts an event into the history.
    pub fn record(&self, event: Event) {
        self.field.record(event);
    }

    /// The recorder behind [`World::record`]; a backend takes its ledger from it.
    #[must_use]
    pub fn recorder(&self) -> &Recorder {
        self.field.recorder()
    }

    /// The Company that this party is, or whose backend it is.
    fn company(&self) -> &str {
        self.party.name.strip_prefix(BACKEND_PREFIX).unwrap_or(&self.party.name)
    }
}

/// What stands before a Company's name in its backend's.
pub const BACKEND_PREFIX: &str = "backend.";

/// A fault event with nothing but its ID and kind.
fn fault_struck(id: SmolStr, kind: &str) -> FaultStruck {
    FaultStruck {
        id,
        kind: kind.into(),
        call: None,
        copy: None,
        party: None,
        action: None,
        step: None,
        point: None,
        for_ms: None,
    }
}
