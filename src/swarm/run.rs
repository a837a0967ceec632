//! A run from its first journey to its last: load, settling, and the end.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use super::{
    closed::Closed,
    counted::{self, Before},
    crew::{Crew, Watch},
    diary::Diary,
    listed::Listed,
    open::Open,
};
use crate::{
    agent::{Absent, HookTally, NoCount, Person, Shared},
    history::{
        Event,
        record::{Phase, PhaseIs},
    },
    measure::Meter,
    plan::{Load, LoadModel, Plan},
    world::{Field, Moment},
};

/// How often the meter's intervals are closed.
const INTERVAL: Duration = Duration::from_secs(1);

/// What a run is watched and ended by, from outside.
#[derive(Debug, Clone, Default)]
pub struct Control {
    /// Ends the run early when it is cancelled.
    pub stop: CancellationToken,
    /// Journeys under way.
    pub in_flight: Arc<AtomicU64>,
    /// Whether load is over and what is open comes to its end.
    pub settling: Arc<AtomicBool>,
    /// Takes down what the run chooses, if that is wanted.
    pub diary: Option<Diary>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// When load began.
    pub load_began: Moment,
    /// When load ended.
    pub load_ended: Moment,
    /// When settling ended.
    pub ended: Moment,
    /// Journeys that were cut off.
    pub cut_off: u64,
    /// What came of a target's hooks, by name.
    pub hooks: BTreeMap<&'static str, HookTally>,
    /// Counts that a target was to give, and did not, by why.
    pub uncounted: BTreeMap<NoCount, u64>,
    /// How often a target's answers gave no value to a proposal, by where it was to stand.
    pub absent: BTreeMap<Absent, u64>,
}

/// The seed gives an operator no key that can be used (its chance is that of guessing one), or a key file does not.
#[derive(Debug, thiserror::Error)]
#[error("the keys of the Personal Agents cannot be made: {0}; choose another seed, or another key file")]
pub struct NoKeys(String);

/// Runs the load of `plan` on a field that its parties stand on, and closes the field.
///
/// # Errors
///
/// If the keys of the Personal Agents cannot be made.
pub async fn run(plan: &Arc<Plan>, field: &Arc<Field>, meter: &Meter, control: &Control) -> Result<Ran, NoKeys> {
    let shared = Shared::new(Arc::clone(plan), field, meter.clone()).map_err(|error| NoKeys(error.to_string()))?;
    let people = (1..=plan.swarm.users).map(|number| Person::new(&shared, number)).collect();
    let before = Before::take(&shared, &control.stop).await;
    let load_began = field.now();
    let (in_flight, diary) = (Arc::clone(&control.in_flight), control.diary.clone());
    let watch = Watch { in_flight, diary, load_began };
    let crew = Crew::new(Arc::clone(field), people, plan, meter.clone(), watch);
    if control.diary.is_some() {
        field.faults().keep_strikes();
    }
    let warm_up = plan.load.iter().map(|load| load.warm_up).max().unwrap_or_default();
    meter.steady((load_began + warm_up).as_nanos(), (load_began + plan.load_duration()).as_nanos());
    enter(field, PhaseIs::Load, 0);
    tracing::info!("load begins");
    field.faults().begin(load_began);
    let background = Background::start(field, meter, plan, load_began);
    let interrupted = tokio::select! {
        biased;
        () = control.stop.cancelled() => true,
        () = play(&crew, plan, load_began) => false,
    };
    let load_ended = field.now();
    crew.load_over();
    field.faults().end(load_ended);
    background.load_over();
    meter.load_ended(load_ended.as_nanos());

    let interrupted = interrupted || settle(field, &crew, plan.settle, control).await;
    let cut_off = control.in_flight.load(Ordering::Relaxed);
    enter(field, if interrupted { PhaseIs::Interrupted } else { PhaseIs::Settled }, cut_off);
    if !interrupted && cut_off > 0 {
        shared.last_call();
        last_looks(field, &crew, plan.swarm.request_timeout, control).await;
    }
    crew.cut_off().await;
    shared.last_call();
    let ended = field.now();
    let uncounted = counted::at_the_end(&shared, field, before, &control.stop).await;
    let interrupted = interrupted || (control.stop.is_cancelled() && !uncounted.is_empty());
    field.close().await;
    background.stop().await;
    if let Some(diary) = &control.diary {
        let restarts = field.faults().restarts(plan.load_duration());
        diary.struck(field.faults().struck());
        diary.struck(restarts.into_iter().map(|restart| (restart.fault.clone(), restart.into_strike())));
    }
    let (hooks, absent) = (shared.hook_tallies(), shared.absent());
    Ok(Ran { interrupted, load_began, load_ended, ended, cut_off, hooks, uncounted, absent })
}

/// Runs the load. One that started all that it may lasts until its last journey is at its end, so that faults strike that
/// one too, or until its time is over.
async fn play(crew: &Arc<Crew>, plan: &Plan, began: Moment) {
    drive(crew, &plan.load, began).await;
    tokio::select! {
        biased;
        () = crew.all_ended() => {}
        () = crew.field().sleep_until(began + plan.load_duration()) => {}
    }
}

/// Runs every entry of the load side by side.
async fn drive(crew: &Arc<Crew>, load: &[Load], began: Moment) {
    join_all(load.iter().enumerate().map(|(entry, load)| async move {
        let operations = load.operations.unwrap_or(u64::MAX);
        match &load.model {
            LoadModel::Closed { stages, think } => {
                Closed::new(crew, entry, load, stages, think, began).run(operations).await;
            }
            LoadModel::Open { arrivals, stages, in_flight, when_full } => {
                let (arrivals, when_full, in_flight_max) = (*arrivals, *when_full, *in_flight);
                Open { crew, entry, load, arrivals, stages, in_flight_max, when_full, began }.run(operations).await;
            }
            LoadModel::Listed { journeys, time: _ } => {
                Listed { crew, journeys, began }.run(operations).await;
            }
        }
    }))
    .await;
}

/// Lets what is open come to its end, within `time`; says whether the run was interrupted meanwhile.
async fn settle(field: &Arc<Field>, crew: &Crew, time: Duration, control: &Control) -> bool {
    control.settling.store(true, Ordering::Relaxed);
    enter(field, PhaseIs::Settling, 0);
    tokio::select! {
        biased;
        () = control.stop.cancelled() => true,
        () = crew.all_ended() => false,
        () = field.sleep_until(field.now() + time) => false,
    }
}

/// Gives the Agents that are still at work time for one last look after what they confirmed.
async fn last_looks(field: &Arc<Field>, crew: &Crew, request_timeout: Duration, control: &Control) {
    tokio::select! {
        biased;
        () = control.stop.cancelled() => {}
        () = crew.all_ended() => {}
        () = field.sleep_until(field.now() + request_timeout) => {}
    }
}

fn enter(field: &Field, phase: PhaseIs, open: u64) {
    field.record(Event::Phase(Phase { is: phase, open }));
}

/// What goes on beside the load: closing the meter's intervals to the end of all, and restarts that the plan sets to the
/// end of load, since faults are off from then on.
struct Background {
    load_over: CancellationToken,
    over: CancellationToken,
    ticker: tokio::task::JoinHandle<()>,
}

impl Background {
    fn start(field: &Arc<Field>, meter: &Meter, plan: &Plan, began: Moment) -> Self {
        let (load_over, over) = (CancellationToken::new(), CancellationToken::new());
        let restarts = field.faults().restarts(plan.load_duration());
        let (restarter, ended) = (Arc::clone(field), load_over.clone());
        tokio::spawn(async move {
            for restart in restarts {
                tokio::select! {
                    biased;
                    () = ended.cancelled() => return,
                    () = restarter.sleep_until(began + restart.at) => restarter.restart(&restart),
                }
            }
        });
        let (field, meter, ended) = (Arc::clone(field), meter.clone(), over.clone());
        let ticker = tokio::spawn(async move {
            let mut next = field.now() + INTERVAL;
            loop {
                let over = tokio::select! {
                    biased;
                    () = ended.cancelled() => true,
                    () = field.sleep_until(next) => false,
                };
                if let Err(error) = meter.tick(field.now().as_nanos()) {
                    tracing::warn!("{error}");
                }
                if over {
                    return;
                }
                next = next + INTERVAL;
            }
        });
        Self { load_over, over, ticker }
    }

    /// No restart comes any more. One that has come already still brings its Company back.
    fn load_over(&self) {
        self.load_over.cancel();
    }

    /// Ends what is left, and closes the last interval.
    async fn stop(self) {
        self.over.cancel();
        if self.ticker.await.is_err() {
            tracing::error!("the task that closes the meter's intervals failed");
        }
    }
}
