//! One life of a party: its tasks end with it.

use std::{
    future::Future,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::task::JoinSet;

/// One life of a party, from a start to a stop.
#[derive(Debug)]
pub(super) struct Incarnation {
    number: u32,
    /// `None` once it has been stopped.
    tasks: Mutex<Option<JoinSet<()>>>,
}

impl Incarnation {
    pub(super) fn new(number: u32) -> Self {
        Self { number, tasks: Mutex::new(Some(JoinSet::new())) }
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Runs `future` until it ends or the incarnation does; not at all once that has ended.
    pub(super) fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        if let Some(tasks) = &mut *self.tasks() {
            tasks.spawn(future);
            // What has ended is let go of as new work comes; a task that panicked has said so on stderr.
            while tasks.try_join_next().is_some() {}
        }
    }

    /// Ends the incarnation; returns when each of its tasks is dropped, so that none acts afterwards.
    pub(super) async fn stop(&self) {
        let tasks = self.tasks().take();
        if let Some(mut tasks) = tasks {
            tasks.shutdown().await;
        }
    }

    /// A lock whose holder panicked still holds a whole set.
    fn tasks(&self) -> MutexGuard<'_, Option<JoinSet<()>>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
