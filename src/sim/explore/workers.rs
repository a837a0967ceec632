//! The threads of a search, and the order in which their trials are told of.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
};

use super::{
    Search, Watch,
    explored::Explored,
    trial::{Trial, TrialOf, attempt},
};
use crate::{plan::Plan, swarm::Companies};

/// Tries what `search` says and tells `each` of every trial, in order: first the crashes, then the seeds.
///
/// With [`Search::fail_fast`] nothing after the first failing trial is told of, though some of it may have been tried; all
/// before it was. So what is told does not depend on the number of workers. Only where [`Watch::stop`] gives trials up is
/// there a gap, and after [`Watch::enough`] chance says how many there were.
pub fn explore(plan: &Plan, search: &Search, watch: &Watch, each: &mut dyn FnMut(&Trial)) -> Explored {
    let queue = Queue::new(plan, search, watch);
    let (done, trials) = mpsc::channel();
    let mut explored = Explored::new(plan);
    thread::scope(|scope| {
        for _ in 0..search.workers.get() {
            let (queue, done) = (&queue, done.clone());
            scope.spawn(move || queue.work(&done));
        }
        drop(done);
        let mut told = InOrder { next: 0, waiting: BTreeMap::new(), over: false };
        let mut tell = |trial: Trial| {
            each(&trial);
            let fails = trial.fails();
            explored.add(trial);
            search.fail_fast && fails
        };
        for (place, trial) in trials {
            told.take(place, trial, &mut tell);
        }
        told.rest(&mut tell);
    });
    explored.interrupted = watch.stop.is_cancelled();
    explored
}

/// What is still to be tried.
struct Queue<'a> {
    plan: &'a Plan,
    search: &'a Search,
    watch: &'a Watch,
    /// The Companies of all seeds.
    companies: Companies,
    /// The next place that nobody took.
    next: AtomicU64,
    /// No place after this one is worth trying.
    last: AtomicU64,
}

impl<'a> Queue<'a> {
    fn new(plan: &'a Plan, search: &'a Search, watch: &'a Watch) -> Self {
        let first = search.first.len() as u64;
        // Seeds go up to the greatest number there is.
        let most = (u64::MAX - search.seed).saturating_add(1);
        let seeds = search.seeds.unwrap_or(most).min(most);
        let last = first.saturating_add(seeds);
        // `last` is one past the end until here; a search for nothing ends before it begins.
        let (next, last) = (AtomicU64::new(u64::from(last == 0)), AtomicU64::new(last.max(1) - 1));
        Self { plan, search, watch, companies: Companies::default(), next, last }
    }

    /// One worker's part: takes the next place until none is left.
    fn work(&self, done: &mpsc::Sender<(u64, Trial)>) {
        while !self.watch.enough.is_cancelled() && !self.watch.stop.is_cancelled() {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            if place > self.last.load(Ordering::Relaxed) {
                return;
            }
            let (of, plan, companies) = self.at(place);
            let Some(trial) = attempt(of, &plan, &companies, self.search, &self.watch.stop) else { return };
            self.watch.count(&trial);
            if self.search.fail_fast && trial.fails() {
                self.last.fetch_min(place, Ordering::Relaxed);
            }
            if done.send((place, trial)).is_err() {
                return;
            }
        }
    }

    /// What is tried at a place, and its Companies.
    fn at(&self, place: u64) -> (TrialOf, Arc<Plan>, Companies) {
        let first = self.search.first.len() as u64;
        match usize::try_from(place).ok().and_then(|place| self.search.first.get(place)) {
            Some(first) => (TrialOf::Crash(first.spot.clone()), Arc::clone(&first.plan), Companies::default()),
            None => {
                let seed = self.search.seed.wrapping_add(place - first);
                (TrialOf::Seed(seed), Arc::new(Plan { seed, ..self.plan.clone() }), self.companies.clone())
            }
        }
    }
}

/// Puts trials into their order.
struct InOrder {
    next: u64,
    waiting: BTreeMap<u64, Trial>,
    /// Nothing more is to be told.
    over: bool,
}

impl InOrder {
    fn take(&mut self, place: u64, trial: Trial, tell: &mut impl FnMut(Trial) -> bool) {
        self.waiting.insert(place, trial);
        while let (false, Some(trial)) = (self.over, self.waiting.remove(&self.next)) {
            self.next += 1;
            self.over = tell(trial);
        }
    }

    /// Those after a trial that was given up.
    fn rest(self, tell: &mut impl FnMut(Trial) -> bool) {
        let mut over = self.over;
        for trial in self.waiting.into_values() {
            if over {
                return;
            }
            over = tell(trial);
        }
    }
}
