//! What a field's time is: the machine's, or virtual.

use std::sync::Arc;

use tokio::time::Instant;

use super::{Moment, Timeline};
use crate::history::record::WorldKind;

/// What a field's time is.
#[derive(Debug, Clone)]
pub enum Clock {
    /// The machine's, from that instant on.
    Real(Instant),
    /// Virtual: it jumps to the next event.
    Virtual(Arc<Timeline>),
}

impl Clock {
    /// The machine's time, from now on.
    #[must_use]
    pub fn real() -> Self {
        Self::Real(Instant::now())
    }

    /// The world that this is the time of.
    #[must_use]
    pub fn world(&self) -> WorldKind {
        match self {
            Self::Real(_) => WorldKind::Real,
            Self::Virtual(_) => WorldKind::Simulated,
        }
    }

    /// The moment it is.
    #[must_use]
    pub fn now(&self) -> Moment {
        match self {
            Self::Real(started) => Moment::START + (Instant::now() - *started),
            Self::Virtual(timeline) => timeline.now(),
        }
    }

    /// Sets aside a turn, where time is virtual.
    pub(super) fn set_aside(&self) -> Option<u64> {
        match self {
            Self::Real(_) => None,
            Self::Virtual(timeline) => Some(timeline.set_aside()),
        }
    }

    /// Waits for a turn that was set aside, if there is one.
    pub(super) async fn turn(&self, turn: Option<u64>) {
        if let (Self::Virtual(timeline), Some(turn)) = (self, turn) {
            timeline.turn(turn).await;
        }
    }

    /// Waits until that moment.
    pub async fn sleep_until(&self, moment: Moment) {
        match self {
            Self::Real(started) => tokio::time::sleep_until(*started + moment.since(Moment::START)).await,
            Self::Virtual(timeline) => timeline.until(moment).await,
        }
    }
}
