//! One process of the history: it sends one request at a time, and each is recorded, sent, judged and measured here.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use smol_str::{SmolStr, format_smolstr};

use super::{
    answer::{self, Ended, Reading},
    shared::Shared,
};
use crate::{
    history::{
        Event,
        record::{Call, Purpose, Return},
    },
    identity::digest,
    measure::Sample,
    world::{About, Moment},
};

/// A process of the history.
#[derive(Debug)]
pub(super) struct Process {
    /// Its name: `a3/17`, and `a3/17.2` for a worker beside it.
    pub(super) name: SmolStr,
    calls: u64,
    due: Option<Moment>,
    held: Duration,
}

/// How faults and draws know a request.
#[derive(Debug)]
pub(super) struct Named {
    /// Its logical key.
    pub(super) key: SmolStr,
    /// How often it was sent before.
    pub(super) attempt: u64,
}

impl Process {
    /// A process whose first request is due at that moment.
    pub(super) fn new(name: SmolStr, due: Moment) -> Self {
        Self { name, calls: 0, due: Some(due), held: Duration::ZERO }
    }

    /// Says for how long its first request was held back because the scenario asks for it.
    pub(super) fn held_back(mut self, time: Duration) -> Self {
        self.held = time;
        self
    }

    /// Says when the next request is to be sent; without it, it is due when it is made.
    pub(super) fn next_due(&mut self, due: Moment) {
        self.due = Some(due);
    }

    /// The next call, with nothing but its ID, process and purpose.
    pub(super) fn call(&mut self, purpose: Purpose) -> Call {
        self.calls += 1;
        Call {
            id: format_smolstr!("{}#{}", self.name, self.calls),
            process: self.name.clone(),
            session: None,
            purpose,
            company: None,
            intent: None,
            kind: None,
            action: None,
            revision: None,
            approved_by: None,
            proof: None,
            due: None,
        }
    }

    /// Sends a request: records the call, brings the answer, says what it means, records and measures that.
    pub(super) async fn send(
        &mut self,
        shared: &Shared,
        mut call: Call,
        named: Named,
        request: Request<Bytes>,
        reading: Reading<'_>,
    ) -> Ended {
        let world = &shared.world;
        let now = world.now();
        let intended = self.due.take().map_or(now, |due| due.min(now));
        let held = u64::try_from(std::mem::take(&mut self.held).as_nanos()).unwrap_or(u64::MAX);
        call.due = (intended < now).then(|| intended.as_nanos());
        let (purpose, id) = (call.purpose, call.id.clone());
        let about = About {
            purpose,
            call: Some(id.clone()),
            key: named.key,
            attempt: named.attempt,
            action: call.action.clone(),
            step: None,
            deadline: shared.deadline(),
        };
        world.record(Event::Call(call));
        let reply = world.call(request, about).await;
        let done = world.now();
        let ended = answer::judge(reply.answer, &reading, world.wall());
        let (outcome, why) = (ended.outcome, ended.why.clone());
        world.record(Event::Return(Return {
            call: id,
            outcome,
            status: ended.status,
            why: why.clone(),
            view: ended.seen().map(super::view::Seen::view),
            session: ended.token().map(|token| token.session_id.as_str().into()),
            retry_after_ms: ended.retry_after.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
        }));
        let (intended, sent, done) = (intended.as_nanos(), reply.sent.as_nanos(), done.as_nanos());
        shared.meter.sample(Sample { step: purpose, intended, held, sent, done, outcome, why });
        ended
    }
}

/// An unguessable identifier of 128 bits, drawn for one use of one call (digest 3.1: `jti`).
pub(super) fn jti(shared: &Shared, purpose: &str, call: &str) -> SmolStr {
    digest::base64url(shared.world.draw(purpose, call, shared.run_mark).bytes::<16>()).into()
}
