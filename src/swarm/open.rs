//! An open load: journeys start at their due times, however long the ones before take.

use std::{collections::VecDeque, sync::Arc};

use tokio::sync::mpsc;

use super::LATE_START_MAX;
use super::{
    crew::{Crew, Start},
    due::DueTimes,
};
use crate::{
    plan::{Arrivals, Load, RateStage, WhenFull},
    world::Moment,
};

/// One open load entry at work.
pub(super) struct Open<'a> {
    pub(super) crew: &'a Arc<Crew>,
    pub(super) entry: usize,
    pub(super) load: &'a Load,
    pub(super) arrivals: Arrivals,
    pub(super) stages: &'a [RateStage],
    pub(super) in_flight_max: u32,
    pub(super) when_full: WhenFull,
    pub(super) began: Moment,
}

impl Open<'_> {
    /// Starts journeys until the load is over, `operations` were started, or this is dropped.
    pub(super) async fn run(self, operations: u64) {
        let field = Arc::clone(self.crew.field());
        let end = self.began + self.load.duration();
        let mut schedule = DueTimes::new(self.stages, self.arrivals, field.seed(), self.entry).zip(0..operations);
        let (ended, mut endings) = mpsc::unbounded_channel::<()>();
        let mut next = schedule.next();
        let mut queue = VecDeque::new();
        let mut in_flight = 0;
        while next.is_some() || !queue.is_empty() {
            let wake = next.map_or(end, |(due, _)| self.began + due);
            tokio::select! {
                biased;
                Some(()) = endings.recv() => {
                    in_flight -= 1;
                    if let Some((due, number)) = queue.pop_front() {
                        in_flight += 1;
                        self.start(due, number, &ended);
                    }
                }
                () = field.sleep_until(wake) => {
                    let Some((due, number)) = next.take() else { break };
                    // However far behind it is: load ends when it was to end.
                    if field.now() >= end + LATE_START_MAX {
                        queue.push_back((self.began + due, number));
                        break;
                    }
                    let due = self.began + due;
                    if in_flight < self.in_flight_max {
                        in_flight += 1;
                        self.start(due, number, &ended);
                    } else if self.when_full == WhenFull::Queue {
                        queue.push_back((due, number));
                    } else {
                        self.crew.meter().dropped();
                    }
                    next = schedule.next();
                }
            }
        }
        // Load is over: what is still queued was due and never started, which the run has to admit.
        for _ in 0..queue.len() + schedule.count() {
            self.crew.meter().dropped();
        }
    }

    fn start(&self, due: Moment, number: u64, ended: &mpsc::UnboundedSender<()>) {
        let intent = format!("i{}-{number}", self.entry);
        self.crew.start(Start { user: number, intent, due, listed: None }, (), ended.clone());
    }
}
