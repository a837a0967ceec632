//! The Agents at work: starts journeys, counts them, and stops them when the run is over.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use futures_util::FutureExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::diary::Diary;
use crate::{
    agent::{self, JourneyRun, Person},
    measure::Meter,
    plan::{Journey, JourneyStep, ListedJourney, LoadModel, Plan},
    world::{Draw, Field, Moment},
};

/// All Personal Agents of a run.
#[derive(Debug)]
pub(super) struct Crew {
    field: Arc<Field>,
    people: Vec<Member>,
    journeys: Vec<Kind>,
    plan: Arc<Plan>,
    meter: Meter,
    in_flight: Arc<AtomicU64>,
    /// Takes what sets out, if anybody wants to know.
    diary: Option<Diary>,
    load_began: Moment,
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
    /// What a list says of it; without one all of it is drawn or counted.
    pub(super) listed: Option<ListedJourney>,
}

/// What a crew tells of itself, and when its load begins.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) in_flight: Arc<AtomicU64>,
    pub(super) diary: Option<Diary>,
    pub(super) load_began: Moment,
}

impl Crew {
    pub(super) fn new(
        field: Arc<Field>,
        people: Vec<Arc<Person>>,
        plan: &Arc<Plan>,
        meter: Meter,
        watch: Watch,
    ) -> Arc<Self> {
        let people: Vec<_> = people.into_iter().map(|person| Member { person, journeys: AtomicU64::new(0) }).collect();
        // What is counted goes on after what is listed, so that no two journeys of a User have one number.
        for journey in listed(plan) {
            if let Some(member) = people.get((journey.user.saturating_sub(1)) as usize) {
                member.journeys.fetch_max(journey.number, Ordering::Relaxed);
            }
        }
        let Watch { in_flight, diary, load_began } = watch;
        Arc::new(Self {
            field,
            people,
            journeys: plan.journeys.iter().cloned().map(Kind::new).collect(),
            plan: Arc::clone(plan),
            meter,
            in_flight,
            diary,
            load_began,
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
        let Some(kind) = self.kind(&start).cloned() else { return };
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
        let listed = start.listed.as_ref();
        let number = listed.map_or_else(|| member.journeys.fetch_add(1, Ordering::Relaxed) + 1, |listed| listed.number);
        let company = listed.and_then(|listed| listed.company.clone());
        self.note(&journey, &start, member, number);
        let person = Arc::clone(&member.person);
        let (crew, due) = (Arc::clone(self), start.due);
        self.meter.arrival(due.as_nanos(), asked.as_nanos());
        self.meter.set_out(&journey.name);
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        let held = self.field.now().since(asked);
        let run = JourneyRun { intent: start.intent.into(), number, company, due, held };
        async move {
            // Boxed here: its kilobytes would be moved by each layer that tracks and spawns what is around it.
            let journey = Box::pin(agent::run_journey(&person, &journey, run));
            let end = tokio::select! {
                biased;
                () = crew.abort.cancelled() => None,
                end = journey => Some(end),
            };
            drop(seat);
            crew.in_flight.fetch_sub(1, Ordering::Relaxed);
            let word = end.map_or("cut-off", |end| end.word());
            crew.meter.journey(due.as_nanos(), crew.field.now().as_nanos(), word);
        }
    }

    /// Notes a journey that sets out, as a list would say it.
    fn note(&self, journey: &Journey, start: &Start, member: &Member, number: u64) {
        let Some(diary) = &self.diary else { return };
        let listed = start.listed.as_ref().and_then(|listed| listed.company.clone());
        let company = listed.or_else(|| {
            let at = journey.steps.iter().find_map(|step| match step {
                JourneyStep::Propose { at, .. } => Some(at),
                _ => None,
            })?;
            let company = agent::destination(&self.plan, &start.intent, at)?;
            self.plan.companies.get(company).map(|company| company.name.clone())
        });
        diary.set_out(ListedJourney {
            journey: journey.name.clone(),
            intent: start.intent.as_str().into(),
            user: member.person.number(),
            number,
            company,
            at: self.field.now().since(self.load_began),
        });
    }

    /// The journey that a start takes: the listed one, or one drawn by weight.
    fn kind(&self, start: &Start) -> Option<&Kind> {
        if let Some(listed) = &start.listed {
            return self.journeys.iter().find(|kind| kind.journey.name == listed.journey);
        }
        let intent = start.intent.as_str();
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

/// All journeys that the plan lists.
fn listed(plan: &Plan) -> impl Iterator<Item = &ListedJourney> {
    let lists = plan.load.iter().filter_map(|load| match &load.model {
        LoadModel::Listed { journeys, .. } => Some(journeys),
        LoadModel::Closed { .. } | LoadModel::Open { .. } => None,
    });
    lists.flatten()
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
