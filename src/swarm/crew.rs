//! The Agents at work: starts journeys, counts them, and stops them when the run is over.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use futures_util::FutureExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
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
    journeys: Vec<Kind>,
    meter: Meter,
    in_flight: Arc<AtomicU64>,
    tasks: TaskTracker,
    /// No journey sets out any more.
    load_over: CancellationToken,
    abort: CancellationToken,
}

/// A journey, and the seats for those who are under way on it at once; none where any number may be.
#[derive(Debug, Clone)]
struct Kind {
    journey: Arc<Journey>,
    seats: Option<Arc<Semaphore>>,
}

/// A place among those who are under way: given back when it is dropped.
type Seat = Option<OwnedSemaphorePermit>;

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
            journeys: journeys.into_iter().map(Kind::new).collect(),
            meter,
            in_flight,
            tasks: TaskTracker::new(),
            load_over: CancellationToken::new(),
            abort: CancellationToken::new(),
        })
    }

    pub(super) fn field(&self) -> &Arc<Field> {
        &self.field
    }

    pub(super) fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Starts a journey, or has it wait until fewer of its kind are under way; sends `note` to `ended` when it is over.
    ///
    /// Who waits sets out in the order of the starts. Who still waits when load ends was due and never started.
    pub(super) fn start<T: Send + 'static>(self: &Arc<Self>, start: Start, note: T, ended: mpsc::UnboundedSender<T>) {
        let Some(kind) = self.kind(&start.intent).cloned() else { return };
        let (crew, asked) = (Arc::clone(self), self.field.now());
        match kind.seat_at_once() {
            Some(seat) => {
                let under_way = self.set_out(kind.journey, start, asked, seat);
                self.tasks.spawn(under_way.map(move |()| {
                    // The load that started it may have ended.
                    let _ = ended.send(note);
                }));
            }
            None => {
                self.meter.held();
                self.tasks.spawn(async move {
                    let seat = tokio::select! {
                        biased;
                        () = crew.load_over.cancelled() => None,
                        seat = kind.seat() => Some(seat),
                    };
                    match seat {
                        Some(seat) => crew.set_out(kind.journey, start, asked, seat).await,
                        None => crew.meter.dropped(),
                    }
                    let _ = ended.send(note);
                });
            }
        }
    }

    /// Counts the start of a journey that was asked for at `asked`, and takes it to its end.
    fn set_out(
        self: &Arc<Self>,
        journey: Arc<Journey>,
        start: Start,
        asked: Moment,
        seat: Seat,
    ) -> impl Future<Output = ()> + Send + use<> {
        let member = &self.people[(start.user % self.people.len() as u64) as usize];
        let number = member.journeys.fetch_add(1, Ordering::Relaxed) + 1;
        let person = Arc::clone(&member.person);
        let (crew, due) = (Arc::clone(self), start.due);
        self.meter.arrival(due.as_nanos(), asked.as_nanos());
        self.meter.set_out(&journey.name);
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        let held = self.field.now().since(asked);
        let run = JourneyRun { intent: start.intent.into(), number, due, held };
        async move {
            let end = tokio::select! {
                biased;
                () = crew.abort.cancelled() => None,
                end = agent::run_journey(&person, &journey, run) => Some(end),
            };
            drop(seat);
            crew.in_flight.fetch_sub(1, Ordering::Relaxed);
            let word = end.map_or("cut-off", |end| end.word());
            crew.meter.journey(due.as_nanos(), crew.field.now().as_nanos(), word);
        }
    }

    /// The journey that the start of that name takes, drawn by weight.
    fn kind(&self, intent: &str) -> Option<&Kind> {
        let total: u64 = self.journeys.iter().map(|kind| u64::from(kind.journey.weight)).sum();
        let mut drawn = Draw::new(self.field.seed(), "journey", intent, 0).below(total);
        for kind in &self.journeys {
            let weight = u64::from(kind.journey.weight);
            if drawn < weight {
                return Some(kind);
            }
            drawn -= weight;
        }
        None
    }

    /// Says that load is over: who waits for others to end does not set out any more.
    pub(super) fn load_over(&self) {
        self.load_over.cancel();
    }

    /// Ends when no journey is under way any more.
    pub(super) async fn all_ended(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Cuts off every journey that is under way.
    pub(super) async fn cut_off(&self) {
        self.load_over();
        self.abort.cancel();
        self.all_ended().await;
    }
}

impl Kind {
    fn new(journey: Journey) -> Self {
        let seats = journey.in_flight.map(|seats| Arc::new(Semaphore::new(seats as usize)));
        Self { journey: Arc::new(journey), seats }
    }

    /// A seat, if one is free and nobody waits.
    fn seat_at_once(&self) -> Option<Seat> {
        match &self.seats {
            None => Some(None),
            Some(seats) => Arc::clone(seats).try_acquire_owned().ok().map(Some),
        }
    }

    /// A seat, in turn.
    async fn seat(&self) -> Seat {
        match &self.seats {
            None => None,
            // Nobody closes it, so that a seat is always given.
            Some(seats) => Arc::clone(seats).acquire_owned().await.ok(),
        }
    }
}
