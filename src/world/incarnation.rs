//! One life of a party: its tasks end with it.

use futures_lite::future;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// One life of a party, from a start to a stop.
#[derive(Debug)]
pub(super) struct Incarnation {
    number: u32,
    stopped: CancellationToken,
    tasks: TaskTracker,
}

impl Incarnation {
    pub(super) fn new(number: u32) -> Self {
        Self { number, stopped: CancellationToken::new(), tasks: TaskTracker::new() }
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Runs `future` until it ends or the incarnation does.
    pub(super) fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        // Boxed first: what takes kilobytes would be moved by each layer that tracks and spawns it.
        self.tasks.spawn(future::or(self.stopped.clone().cancelled_owned(), Box::pin(future)));
    }

    /// Ends the incarnation; returns when each of its tasks is dropped, so that none acts afterwards.
    pub(super) async fn stop(&self) {
        self.stopped.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}
