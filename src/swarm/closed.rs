//! A closed load: each Agent starts its next journey a think time after the last one ended.
//!
//! A waiting Agent is an entry in a queue of due times, not a parked task.

use std::{cmp::Reverse, collections::BinaryHeap, sync::Arc, time::Duration};

use tokio::sync::mpsc;

use super::{
    LATE_START_MAX,
    attendance::{agents_at, at_work_from},
    crew::{Crew, Start},
};
use crate::{
    plan::{AgentStage, Distribution, Load},
    world::{Draw, Moment},
};

/// One closed load entry at work.
pub(super) struct Closed<'a> {
    crew: &'a Arc<Crew>,
    entry: usize,
    stages: &'a [AgentStage],
    think: &'a Distribution,
    began: Moment,
    end: Moment,
    /// Waiting Agents by due time, with the number of their next journey.
    waiting: BinaryHeap<Reverse<(Moment, u32, u64)>>,
}

impl<'a> Closed<'a> {
    pub(super) fn new(
        crew: &'a Arc<Crew>,
        entry: usize,
        load: &Load,
        stages: &'a [AgentStage],
        think: &'a Distribution,
        began: Moment,
    ) -> Self {
        let end = began + load.duration();
        let mut closed = Self { crew, entry, stages, think, began, end, waiting: BinaryHeap::new() };
        let agents = stages.iter().map(|stage| stage.from.max(stage.to)).max().unwrap_or(0);
        for agent in 0..agents {
            closed.wait_from(agent, 1, began);
        }
        closed
    }

    /// Queues an Agent's next journey: a think time after `from`, or after it is next wanted.
    fn wait_from(&mut self, agent: u32, journey: u64, from: Moment) {
        let Some(at_work) = at_work_from(self.stages, agent, from.since(self.began)) else { return };
        let key = format!("{}/{agent}", self.entry);
        let think = self.think.sample(Draw::new(self.crew.field().seed(), "think", &key, journey));
        self.waiting.push(Reverse((self.began + at_work + think, agent, journey)));
    }

    /// Starts journeys until the load is over, `operations` were started, or this is dropped.
    pub(super) async fn run(mut self, operations: u64) {
        let (ended, mut endings) = mpsc::unbounded_channel::<(u32, u64)>();
        let field = Arc::clone(self.crew.field());
        let mut started = 0;
        while started < operations {
            let due = self.waiting.peek().map_or(self.end, |Reverse(next)| next.0).min(self.end);
            tokio::select! {
                biased;
                Some((agent, journey)) = endings.recv() => self.wait_from(agent, journey + 1, field.now()),
                () = field.sleep_until(due) => {
                    // However far behind it is: load ends when it was to end.
                    if due >= self.end || field.now() >= self.end + LATE_START_MAX {
                        return;
                    }
                    if let Some(Reverse((due, agent, journey))) = self.waiting.pop() {
                        started += u64::from(self.set_out(due, agent, journey, &ended));
                    }
                }
            }
        }
    }

    /// Starts an Agent's journey if it is still wanted; says whether it did.
    fn set_out(&mut self, due: Moment, agent: u32, journey: u64, ended: &mpsc::UnboundedSender<(u32, u64)>) -> bool {
        if agents_at(self.stages, due.since(self.began)) <= agent {
            // Past this instant, so that an Agent who is not wanted now cannot be told to come now.
            self.wait_from(agent, journey, due + Duration::from_millis(1));
            return false;
        }
        let intent = format!("i{}-{agent}-{journey}", self.entry);
        self.crew.start(Start { user: u64::from(agent), intent, due, listed: None }, (agent, journey), ended.clone());
        true
    }
}
