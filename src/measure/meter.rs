//! The meter that everything which drives load reports to.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use smol_str::SmolStr;

use super::{
    counts::Counts,
    figures::Figures,
    interval_log::IntervalLog,
    series::{Measure, Series, What, Window},
    times::Times,
};
use crate::history::record::{Outcome, Purpose, State};

/// One request and its end. Times are nanoseconds since the run began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// What the request asked for.
    pub step: Purpose,
    /// When it should have been sent: the journey's due time for its first request, later the end of the think time,
    /// back-off or `Retry-After` that it waited for.
    pub intended: u64,
    /// For how long after that it was held back because the scenario asks for it (a journey's `in_flight`): part of the
    /// response time, but no lag of the generator.
    pub held: u64,
    /// When it was handed to the wire. Waiting for a connection is no lag of the generator, so it counts from here.
    pub sent: u64,
    /// When the answer was read in full, or the caller stopped waiting.
    pub done: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// The error code of a refusal, or why there is no answer.
    pub why: Option<SmolStr>,
}

/// The interval log could not be written (disk full, for one); the figures in memory are complete all the same.
#[derive(Debug, thiserror::Error)]
#[error("the interval log could not be written")]
pub struct LogFailed(#[from] io::Error);

/// Gathers what a run measures. Cheap to clone; all clones feed one set of figures.
///
/// Memory does not grow with the length of the run: values go into histograms, and each [`Meter::tick`] of a meter with a log
/// adds the closed interval to the totals and writes it out.
#[derive(Debug, Clone, Default)]
pub struct Meter {
    shared: Arc<Shared>,
}

/// Two locks, taken in this order: `closed`, then `open`. A sample takes `open` only, and only for a few records.
#[derive(Debug, Default)]
struct Shared {
    closed: Mutex<Closed>,
    open: Mutex<Open>,
}

/// What goes on.
#[derive(Debug)]
struct Open {
    interval: BTreeMap<Series, Times>,
    counts: Counts,
    steady_from: u64,
    steady_to: u64,
    /// Times are not kept: a histogram costs more than a short run does.
    counts_only: bool,
}

impl Default for Open {
    fn default() -> Self {
        Self {
            interval: BTreeMap::new(),
            counts: Counts::default(),
            steady_from: 0,
            steady_to: u64::MAX,
            counts_only: false,
        }
    }
}

/// What is done with.
#[derive(Debug, Default)]
struct Closed {
    totals: BTreeMap<Series, Times>,
    until: u64,
    log: Option<IntervalLog>,
}

/// A meter's locks guard plain numbers, which are as good after a panic elsewhere as before.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Meter {
    /// A meter that keeps totals only.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A meter that counts and keeps no times, for runs so short that making histograms would take longer.
    #[must_use]
    pub fn counting() -> Self {
        let meter = Self::default();
        lock(&meter.shared.open).counts_only = true;
        meter
    }

    /// A meter that writes each interval to `writer` as well (`latency.hlog`).
    ///
    /// `began` is the wall-clock time at nanosecond 0; `about` becomes the log's first comment.
    ///
    /// # Errors
    /// If the head of the log could not be written.
    pub fn with_log(writer: Box<dyn Write + Send>, began: SystemTime, about: &str) -> Result<Self, LogFailed> {
        let meter = Self::default();
        lock(&meter.shared.closed).log = Some(IntervalLog::begin(writer, began, about)?);
        Ok(meter)
    }

    /// Says when load is steady: what has its intended start outside goes to intervals of its own and into no figure.
    ///
    /// To be called before load starts; without it all of the run is steady. The end may be `u64::MAX`.
    pub fn steady(&self, from_ns: u64, to_ns: u64) {
        let mut open = lock(&self.shared.open);
        (open.steady_from, open.steady_to) = (from_ns, to_ns);
    }

    /// Says that load ended (as planned, or interrupted): steady load lasts no longer than until now.
    pub fn load_ended(&self, at_ns: u64) {
        let mut open = lock(&self.shared.open);
        open.steady_to = open.steady_to.min(at_ns);
    }

    /// Takes one request and its end.
    ///
    /// Only answered requests have a response and a service time; the time that a request without an answer took is
    /// kept apart as [`Measure::Unanswered`]. Lag counts for all that were sent.
    pub fn sample(&self, sample: Sample) {
        let Sample { step, intended, held, sent, done, outcome, why } = sample;
        let mut open = lock(&self.shared.open);
        let window = open.window(intended);
        open.counts.steps.entry(step).or_default().call(outcome, why.as_ref(), window == Window::Steady);
        let what = What::Step(step);
        if outcome != Outcome::Unsent {
            open.record(what, Measure::Lag, window, sent.saturating_sub(intended.saturating_add(held)));
        }
        let waited = done.saturating_sub(intended);
        match outcome {
            Outcome::View | Outcome::Done | Outcome::Refused => {
                open.record(what, Measure::Response, window, waited);
                open.record(what, Measure::Service, window, done.saturating_sub(sent));
            }
            Outcome::Unknown | Outcome::Unsent => open.record(what, Measure::Unanswered, window, waited),
        }
    }

    /// Takes the start of a journey: when it was due, and when it started or would have if others of its kind had not
    /// been under way.
    pub fn arrival(&self, due_ns: u64, started_ns: u64) {
        let mut open = lock(&self.shared.open);
        let window = open.window(due_ns);
        open.counts.arrivals += 1;
        open.counts.arrivals_steady += u64::from(window == Window::Steady);
        open.record(What::Arrival, Measure::Lag, window, started_ns.saturating_sub(due_ns));
    }

    /// Counts the start of a journey of that name.
    pub fn set_out(&self, journey: &str) {
        bump(&mut lock(&self.shared.open).counts.set_out, journey);
    }

    /// Takes the end of a journey: when it was due, when it ended, and how, in a word.
    pub fn journey(&self, started_ns: u64, ended_ns: u64, end: &str) {
        let mut open = lock(&self.shared.open);
        let window = open.window(started_ns);
        bump(&mut open.counts.journeys, end);
        open.record(What::Journey, Measure::Took, window, ended_ns.saturating_sub(started_ns));
    }

    /// Counts a journey that was due while too many were in flight, and was skipped.
    pub fn dropped(&self) {
        lock(&self.shared.open).counts.dropped += 1;
    }

    /// Counts a journey that was due while as many of its kind as may be were in flight, and waited for one to end.
    pub fn held(&self) {
        lock(&self.shared.open).counts.held += 1;
    }

    /// Counts an operation that its Agent saw in a final state for the first time (`confirmed`: it was confirmed before).
    pub fn finished(&self, state: State, confirmed: bool, at_ns: u64) {
        let mut open = lock(&self.shared.open);
        *open.counts.finals.entry(state).or_default() += 1;
        let steady = open.window(at_ns) == Window::Steady;
        open.counts.finals_confirmed_steady += u64::from(steady && confirmed);
    }

    /// Takes a recovery: how long it took from a confirm's first failure to a known final state, in nanoseconds.
    ///
    /// Recoveries count over the whole run, since faults have windows of their own.
    pub fn recovered(&self, took_ns: u64) {
        let mut open = lock(&self.shared.open);
        open.counts.recoveries += 1;
        open.record(What::Recovery, Measure::Took, Window::Steady, took_ns);
    }

    /// Counts a fault that struck; `point` is the crash point of a crash.
    pub fn fault(&self, kind: &str, point: Option<&str>) {
        let mut open = lock(&self.shared.open);
        bump(&mut open.counts.faults, kind);
        if let Some(point) = point {
            bump(&mut open.counts.crash_points, point);
        }
    }

    /// Counts one of the names in [`super::counter`].
    pub fn count(&self, counter: &'static str) {
        *lock(&self.shared.open).counts.counters.entry(counter).or_default() += 1;
    }

    /// Closes the open interval: adds it to the totals and writes it to the log; nothing without a log. To be called about
    /// each second, and once at the end.
    ///
    /// # Errors
    /// If the log could not be written. The log is given up then and later calls succeed; the figures stay complete.
    pub fn tick(&self, now_ns: u64) -> Result<(), LogFailed> {
        let mut closed = lock(&self.shared.closed);
        if closed.log.is_none() {
            return Ok(()); // nobody tells one interval from the next, and fresh histograms for each cost more than a request
        }
        let interval = std::mem::take(&mut lock(&self.shared.open).interval);
        for (series, times) in &interval {
            closed.totals.entry(*series).or_default().add(times);
        }
        let from = closed.until;
        closed.until = now_ns.max(from);
        let until = closed.until;
        let Some(log) = &mut closed.log else { return Ok(()) };
        let written = log.write(from, until, &interval);
        if written.is_err() {
            closed.log = None;
        }
        Ok(written?)
    }

    /// What was counted until now.
    #[must_use]
    pub fn counts(&self) -> Counts {
        lock(&self.shared.open).counts.clone()
    }

    /// What was measured until now, the open interval included. `now_ns` bounds steady load if it has not ended.
    #[must_use]
    pub fn figures(&self, now_ns: u64) -> Figures {
        let closed = lock(&self.shared.closed);
        let open = lock(&self.shared.open);
        let steady = open.steady_to.min(now_ns).saturating_sub(open.steady_from);
        let mut figures =
            Figures { counts: open.counts.clone(), steady_for: Duration::from_nanos(steady), ..Figures::default() };
        for (series, times) in closed.totals.iter().chain(&open.interval) {
            if let (Window::Steady, Some(into)) = (series.window, figures.of(series.what, series.measure)) {
                into.add(times);
            }
        }
        figures
    }
}

impl Open {
    fn window(&self, at: u64) -> Window {
        if at < self.steady_from {
            Window::WarmUp
        } else if at < self.steady_to {
            Window::Steady
        } else {
            Window::Settling
        }
    }

    fn record(&mut self, what: What, measure: Measure, window: Window, nanoseconds: u64) {
        if !self.counts_only {
            self.interval.entry(Series { what, measure, window }).or_default().record(nanoseconds);
        }
    }
}

impl Figures {
    /// Where a series of steady load belongs.
    fn of(&mut self, what: What, measure: Measure) -> Option<&mut Times> {
        match (what, measure) {
            (What::Step(step), measure) => {
                let step = self.steps.entry(step).or_default();
                match measure {
                    Measure::Response => Some(&mut step.response),
                    Measure::Service => Some(&mut step.service),
                    Measure::Lag => Some(&mut step.lag),
                    Measure::Unanswered => Some(&mut step.unanswered),
                    Measure::Took => None,
                }
            }
            (What::Arrival, _) => Some(&mut self.arrival_lag),
            (What::Journey, _) => Some(&mut self.journeys),
            (What::Recovery, _) => Some(&mut self.recovery),
        }
    }
}

fn bump(counts: &mut BTreeMap<SmolStr, u64>, name: &str) {
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => {
            counts.insert(SmolStr::from(name), 1);
        }
    }
}

#[cfg(test)]
mod tests;
