//! The Agents at work: starts journeys, counts them, and stops them when the run is over.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use tokio::sync::mpsc;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    agent::{self, JourneyRun, Person},
    measure::Meter,
    plan::Journey,
    world::{Draw, Field, Moment},
};

/// All Personal Agents of a run.
#[derive(Debug)]
pub(super) struct Crew {
    field: Arc<Field>,
    people: Vec<Member>,
    journeys: Vec<Arc<Journey>>,
    meter: Meter,
    in_flight: Arc<AtomicU64>,
    tasks: TaskTracker,
    abort: CancellationToken,
}

/// One User with her Agent, and how many journeys she set out on.
#[derive(Debug)]
struct Member {
    person: Arc<Person>,
    journeys: AtomicU64,
}

/// One start of a journey.
#[derive(Debug)]
pub(super) struct Start {
    /// The User, counted from 0; beyond the number of Users it starts over.
    pub(super) user: u64,
    /// Names the start among all of the plan: every choice about it is drawn from this.
    pub(super) intent: String,
    /// When it is due.
    pub(super) due: Moment,
}

impl Crew {
    pub(super) fn new(
        field: Arc<Field>,
        people: Vec<Arc<Person>>,
        journeys: Vec<Journey>,
        meter: Meter,
        in_flight: Arc<AtomicU64>,
    ) -> Arc<Self> {
        Arc::new(Self {
            field,
            people: people.into_iter().map(|person| Member { person, journeys: AtomicU64::new(0) }).collect(),
            journeys: journeys.into_iter().map(Arc::new).collect(),
            meter,
            in_flight,
            tasks: TaskTracker::new(),
            abort: CancellationToken::new(),
        })
    }

    pub(super) fn field(&self) -> &Arc<Field> {
        &self.field
    }

    pub(super) fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Starts a journey; sends `note` to `ended` when it is over.
    pub(super) fn start<T: Send + 'static>(self: &Arc<Self>, start: Start, note: T, ended: mpsc::UnboundedSender<T>) {
        let Some(journey) = self.journey(&start.intent) else { return };
        let member = &self.people[(start.user % self.people.len() as u64) as usize];
        let number = member.journeys.fetch_add(1, Ordering::Relaxed) + 1;
        let person = Arc::clone(&member.person);
        let (crew, due) = (Arc::clone(self), start.due);
        self.meter.arrival(due.as_nanos(), self.field.now().as_nanos());
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        let run = JourneyRun { intent: start.intent.into(), number, due };
        self.tasks.spawn(async move {
            let end = tokio::select! {
                biased;
                () = crew.abort.cancelled() => None,
                end = agent::run_journey(&person, &journey, run) => Some(end),
            };
            crew.in_flight.fetch_sub(1, Ordering::Relaxed);
            let word = end.map_or("cut-off", |end| end.word());
            crew.meter.journey(due.as_nanos(), crew.field.now().as_nanos(), word);
            // The load that started it may have ended.
            let _ = ended.send(note);
        });
    }

    /// The journey that the start of that name takes, drawn by weight.
    fn journey(&self, intent: &str) -> Option<Arc<Journey>> {
        let total: u64 = self.journeys.iter().map(|journey| u64::from(journey.weight)).sum();
        let mut drawn = Draw::new(self.field.seed(), "journey", intent, 0).below(total);
        for journey in &self.journeys {
            let weight = u64::from(journey.weight);
            if drawn < weight {
                return Some(Arc::clone(journey));
            }
            drawn -= weight;
        }
        None
    }

    /// Ends when no journey is under way any more.
    pub(super) async fn all_ended(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Cuts off every journey that is under way.
    pub(super) async fn cut_off(&self) {
        self.abort.cancel();
        self.all_ended().await;
    }
}
