//! Journeys against a scripted Company, in process and in virtual time.

mod defects;
mod fake;
mod journeys;
mod sessions;
mod signing_in;

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;

use super::{JourneyEnd, JourneyRun, Person, Shared, run_journey};
use crate::{
    fault::Faults,
    history::{
        Event, Recorder,
        record::{Approval, ApprovalIs, Call, Outcome, Purpose, Return},
    },
    identity::Signatures,
    measure::Meter,
    plan::{
        AgentDefect, Answers, AskUser, BackendSettings, By, CompanyPlan, Confirm, Distribution, Expectation,
        Invariants, Journey, JourneyStep, Money, Plan, Proposals, Retry, Sessions, StoreSettings, SwarmPlan,
    },
    protocol::SessionMode,
    world::{Clock, Field, FieldOptions, Host, Lane, Moment, Party, PartyKind},
};
use fake::{Fake, Say};

/// A run with one Company and its Agents.
struct Run {
    field: Arc<Field>,
    fake: Arc<Fake>,
    shared: Arc<Shared>,
    recorder: Recorder,
    meter: Meter,
}

fn company(domain: &str) -> CompanyPlan {
    CompanyPlan {
        name: "shop-1".into(),
        group: "shop".into(),
        profile: "shop".into(),
        number: 1,
        domain: domain.into(),
        title: "Shop".into(),
        operations_version: "1".into(),
        sessions: Sessions {
            mode: SessionMode::Dpop02,
            nonce_every: None,
            proof_window: Duration::from_secs(60),
            token_lifetime: Duration::from_secs(3_600),
            operations_resource: false,
        },
        answers: Answers {
            latency: Distribution::ZERO,
            answer_within: Duration::from_secs(3),
            retry_after: Duration::from_secs(1),
        },
        proposals: Proposals {
            lifetime: Duration::from_secs(900),
            revise_before_approval: 0.0,
            revise_after: Distribution::ZERO,
            revise_during_confirm: 0.0,
        },
        store: StoreSettings { keep_final: Duration::from_secs(600) },
        backend: BackendSettings {
            latency: Distribution::ZERO,
            timeout: Duration::from_secs(3),
            ask_again: Duration::from_secs(1),
        },
        capacity: None,
        actions: Default::default(),
        defects: Default::default(),
    }
}

fn swarm() -> SwarmPlan {
    SwarmPlan {
        operators: 2,
        operators_without_extension: 1,
        users: 10,
        session_mode: SessionMode::Dpop02,
        operations_version: "1".into(),
        request_timeout: Duration::from_millis(800),
        retry: Retry {
            first: Duration::from_millis(200),
            factor: 2.0,
            jitter: 0.5,
            longest: Duration::from_secs(5),
            tries: None,
        },
        scopes: None,
        defects: Default::default(),
    }
}

async fn run_with(fake: Fake, swarm: SwarmPlan) -> Run {
    let plan = Arc::new(Plan {
        target: None,
        aimed: None,
        name: "test".into(),
        seed: 7,
        tls: false,
        companies: vec![company(&fake.domain)],
        swarm,
        journeys: Vec::new(),
        load: Vec::new(),
        faults: Vec::new(),
        network: Default::default(),
        settle: Duration::from_secs(30),
        invariants: Invariants::All,
        expect: Expectation::default(),
        reach: Vec::new(),
        thresholds: Vec::new(),
    });
    let recorder = Recorder::in_memory();
    let field = Field::new(FieldOptions {
        seed: plan.seed,
        clock: Clock::real(),
        epoch: Timestamp::from_second(1_800_000_000).unwrap(),
        recorder: recorder.clone(),
        faults: Faults::new(plan.seed, Vec::new(), []),
        lane: Lane::Direct(Signatures::Real),
    })
    .unwrap();
    let fake = Arc::new(fake);
    let router = Arc::clone(&fake);
    let host = Host {
        party: Party::new(PartyKind::Company, "shop-1"),
        names: vec![fake.domain.clone()],
        direct: true,
        port: 0,
        make: Box::new(move |world| router.router(world)),
    };
    field.open(host).await.unwrap();
    let meter = Meter::new();
    let shared = Shared::new(plan, &field, meter.clone()).unwrap();
    Run { field, fake, shared, recorder, meter }
}

async fn run() -> Run {
    run_with(Fake::new("shop-1.example"), swarm()).await
}

async fn run_defective(defect: AgentDefect) -> Run {
    run_with(Fake::new("shop-1.example"), SwarmPlan { defects: [defect].into_iter().collect(), ..swarm() }).await
}

impl Run {
    async fn journey(&self, user: u32, steps: &[JourneyStep]) -> JourneyEnd {
        self.journey_of(&Person::new(&self.shared, user), steps, 1).await
    }

    async fn journey_of(&self, person: &Arc<Person>, steps: &[JourneyStep], number: u64) -> JourneyEnd {
        let journey = Journey { name: "test".into(), weight: 1, in_flight: None, steps: steps.to_vec() };
        let intent = format!("i{}-{number}", person.number()).into();
        let run = JourneyRun { intent, number, company: None, due: self.field.now(), held: Duration::ZERO };
        let world = self.field.world(Party::new(PartyKind::Agent, "test"));
        let deadline = self.field.now() + Duration::from_secs(7_200);
        world.within(deadline, run_journey(person, &journey, run)).await.expect("a journey ends")
    }

    fn events(&self) -> Vec<Event> {
        self.recorder.snapshot().0.into_iter().map(|record| record.event).collect()
    }

    /// The calls of a purpose, each with its end.
    fn calls(&self, purpose: Purpose) -> Vec<(Call, Return)> {
        let events = self.events();
        let end = |id: &str| {
            events.iter().find_map(|event| match event {
                Event::Return(end) if end.call == id => Some(end.clone()),
                _ => None,
            })
        };
        let calls = events.iter().filter_map(|event| match event {
            Event::Call(call) if call.purpose == purpose => Some(call.clone()),
            _ => None,
        });
        calls.map(|call| (call.clone(), end(&call.id).expect("a call that ended"))).collect()
    }

    fn outcomes(&self, purpose: Purpose) -> Vec<Outcome> {
        self.calls(purpose).into_iter().map(|(_, end)| end.outcome).collect()
    }

    fn approvals(&self) -> Vec<Approval> {
        let approvals = self.events().into_iter();
        approvals
            .filter_map(|event| if let Event::Approval(approval) = event { Some(approval) } else { None })
            .collect()
    }

    /// What happened at the User's surface, with the revision.
    fn surface(&self) -> Vec<(ApprovalIs, Option<u64>)> {
        self.approvals().into_iter().map(|approval| (approval.is, approval.revision)).collect()
    }

    fn at(&self) -> Moment {
        self.field.now()
    }
}

fn propose() -> JourneyStep {
    JourneyStep::Propose { at: "shop".into(), action: "wrap".into() }
}

/// The User approves after 300 ms.
fn approves() -> AskUser {
    AskUser {
        approve: 1.0,
        decline: 0.0,
        other_terms: 0.0,
        withdraw: 0.0,
        withdraw_after: Distribution::ZERO,
        after: Distribution::Constant(Duration::from_millis(300)),
    }
}

fn confirm() -> JourneyStep {
    JourneyStep::Confirm(Confirm { copies: 1, by: By::User, around_expiry: None })
}

fn confirm_by_standing(up_to: u64) -> JourneyStep {
    let by = By::StandingPermission { up_to: Money { minor: up_to, currency: "USD".into() } };
    JourneyStep::Confirm(Confirm { copies: 1, by, around_expiry: None })
}

fn ordinary() -> [JourneyStep; 4] {
    [propose(), JourneyStep::AskUser(approves()), confirm(), JourneyStep::Track]
}
