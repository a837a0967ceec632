//! How much a Company can do at once: workers, the queue before them, and the database behind them.
//!
//! Nothing here is computed from a formula. A request takes a place in the queue, then a worker, then a connection and a
//! row, and holds what it has while it waits for the next: whatever overload looks like comes of that. Each wait is in turn.
//! A queue belongs to one incarnation and is gone with it; a database outlives the Companies that share it.

mod database;

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::{Deserialize, Serialize};
use smol_str::{SmolStr, format_smolstr};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::{
    Shop,
    answer::{self, DPOP},
    body,
    concern::Concern,
};
use crate::{
    history::record::Purpose,
    identity::{CompactJws, only_proof},
    plan::Capacity,
};
use database::Database;
pub use database::Databases;

/// Lays the capacity of a Company around its router, if it has bounds.
pub(super) fn layer(router: Router, shop: &Arc<Shop>, databases: &Databases) -> Router {
    let Some(capacity) = shop.plan.capacity.clone() else { return router };
    let front = Front {
        workers: Arc::new(Semaphore::new(capacity.workers as usize)),
        waiting: AtomicU32::new(0),
        unnamed: AtomicU64::new(0),
        database: databases.of(&shop.plan),
        shop: Arc::clone(shop),
        capacity,
    };
    router.layer(middleware::from_fn_with_state(Arc::new(front), admit))
}

/// What stands before a Company's desk.
struct Front {
    shop: Arc<Shop>,
    capacity: Capacity,
    workers: Arc<Semaphore>,
    /// Requests that wait for a worker.
    waiting: AtomicU32,
    /// Requests that came without a name of their own.
    unnamed: AtomicU64,
    database: Option<Arc<Database>>,
}

/// One request's work.
struct Job {
    purpose: Purpose,
    operation: Option<SmolStr>,
    /// Names it in random choices.
    key: SmolStr,
}

/// A place at the Company, from the moment that a request arrives.
enum Place {
    Worker(OwnedSemaphorePermit),
    Queue(Waiting),
}

/// A place in the queue; given back when it is dropped.
struct Waiting(Arc<Front>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn admit(State(front): State<Arc<Front>>, request: Request, next: Next) -> Response {
    let uri = request.uri().clone();
    let Some(concern) = Concern::of(&front.shop, request.method(), uri.path()) else {
        return next.run(request).await;
    };
    let Some(place) = Front::place(&front) else { return front.refusal() };
    let job = Job {
        purpose: concern.purpose,
        operation: concern.operation.map(SmolStr::from),
        key: front.name(request.headers()),
    };
    // Read here: once the connection is gone there is nothing left to read, and the work goes on all the same.
    let (parts, asked) = request.into_parts();
    let asked = match body::read(asked).await {
        Ok(asked) => asked,
        Err(problem) => return problem.into_response(),
    };
    let request = Request::from_parts(parts, Body::from(asked));
    if front.capacity.abandon {
        let worker = place.worker(&front).await;
        let working = Arc::clone(&front);
        return apart(&front, async move { working.work(worker, &job, request, next).await }).await;
    }
    let working = Arc::clone(&front);
    apart(&front, async move {
        let worker = place.worker(&working).await;
        working.work(worker, &job, request, next).await
    })
    .await
}

/// Works in a task of its own, which goes on when its caller is gone.
async fn apart(front: &Front, work: impl Future<Output = Response> + Send + 'static) -> Response {
    let (bring, brought) = oneshot::channel();
    front.shop.world.spawn(async move {
        // Whoever gave up hears nothing; the work was done.
        let _ = bring.send(work.await);
    });
    brought.await.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

impl Place {
    /// Waits in turn for a worker.
    async fn worker(self, front: &Front) -> Option<OwnedSemaphorePermit> {
        match self {
            Self::Worker(worker) => Some(worker),
            // The semaphore is never closed.
            Self::Queue(_waiting) => Arc::clone(&front.workers).acquire_owned().await.ok(),
        }
    }
}

impl Front {
    /// A worker that is free, or a place in the queue if there is one left.
    fn place(front: &Arc<Self>) -> Option<Place> {
        if let Ok(worker) = Arc::clone(&front.workers).try_acquire_owned() {
            return Some(Place::Worker(worker));
        }
        let most = front.capacity.queue.unwrap_or(u32::MAX);
        let one_more = |waiting: u32| (waiting < most).then(|| waiting + 1);
        front.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).ok()?;
        Some(Place::Queue(Waiting(Arc::clone(front))))
    }

    /// Holds the worker for its time, and meanwhile what the database gives; then the desk decides.
    async fn work(&self, worker: Option<OwnedSemaphorePermit>, job: &Job, request: Request, next: Next) -> Response {
        let world = &self.shop.world;
        let draw = world.draw("company.service", &job.key, 0);
        world.sleep(self.capacity.service_of(job.purpose).sample(draw)).await;
        if let (Some(database), Some(share)) = (&self.database, &self.capacity.database) {
            let time = share.time.sample(world.draw("company.database", &job.key, 0));
            let row = job.operation.as_ref().filter(|_| share.row_locks.take(job.purpose));
            database.transact(world, row, time).await;
        }
        drop(worker);
        next.run(request).await
    }

    /// What a request is called in random choices: the `jti` of its proof, so that no other request changes it. The few
    /// that have no proof are counted.
    fn name(&self, headers: &HeaderMap) -> SmolStr {
        let proof = only_proof(headers.get_all(&DPOP).iter().map(HeaderValue::as_bytes)).ok();
        let jti = proof.and_then(jti);
        jti.unwrap_or_else(|| {
            format_smolstr!("{}#{}", self.shop.plan.name, self.unnamed.fetch_add(1, Ordering::Relaxed))
        })
    }

    /// 503: the queue is full, and nothing was looked at (RFC 9110 section 15.6.4).
    fn refusal(&self) -> Response {
        #[derive(Serialize)]
        struct Overloaded {
            error: &'static str,
        }
        let mut response =
            answer::json(StatusCode::SERVICE_UNAVAILABLE, &Overloaded { error: "temporarily_unavailable" });
        if let Some(wait) = self.capacity.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, answer::retry_after(wait));
        }
        response
    }
}

/// The `jti` of a proof that nobody has checked yet.
fn jti(proof: &str) -> Option<SmolStr> {
    #[derive(Deserialize)]
    struct Claims {
        jti: SmolStr,
    }
    let payload = CompactJws::parse(proof).ok()?.payload_bytes()?;
    Some(serde_json::from_slice::<Claims>(&payload).ok()?.jti)
}
