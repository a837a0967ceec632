//! Puts the parties of a plan on a field.

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

use axum::Router;
use jiff::Timestamp;

use crate::{
    agent, backend,
    company::{self, Databases, Premises},
    fault::Faults,
    history::{
        Event, Recorder,
        record::{Company, FORMAT, Observation, Order, Run},
    },
    plan::{CompanyPlan, Plan, Target},
    world::{BACKEND_PREFIX, Clock, Field, FieldError, FieldOptions, Host, Lane, Party, PartyKind, Remote, World},
};

/// What a plan's parties stand on.
#[derive(Debug)]
pub struct Ground {
    /// Takes the history and the ledger.
    pub recorder: Recorder,
    /// What time is.
    pub clock: Clock,
    /// Which way requests take.
    pub lane: Lane,
    /// The wall-clock time at the run's beginning.
    pub epoch: Timestamp,
    /// The port of the first Company, the next one's beside it; `None` takes any.
    pub first_port: Option<u16>,
    /// The hosts of a target that may be loaded although they are not on loopback.
    pub may_load: BTreeSet<String>,
}

/// The Companies of a plan, made ready by the first run and there for those that follow. For runs of one plan: they may
/// differ in their seeds, but not in their Companies.
#[derive(Debug, Clone, Default)]
pub struct Companies(Arc<OnceLock<Vec<Premises>>>);

impl Companies {
    fn of(&self, plans: &[CompanyPlan]) -> &[Premises] {
        self.0.get_or_init(|| plans.iter().map(|plan| Premises::of(Arc::new(plan.clone()))).collect())
    }
}

/// Everything that happens, seen from all sides: what the harness observes of its own parties.
const EVERYTHING: [Observation; 7] = [
    Observation::Calls,
    Observation::Wire,
    Observation::Attempts,
    Observation::Approvals,
    Observation::Offers,
    Observation::Ledger,
    Observation::Sessions,
];

/// What is seen where the Personal Agents are somebody else's: calls as they arrive, and nothing of the Users.
const COMPANY_SIDE: [Observation; 4] =
    [Observation::Calls, Observation::Attempts, Observation::Offers, Observation::Ledger];

/// What is seen where the Company is somebody else's: what the Agents send and hear, and their Users.
const AGENT_SIDE: [Observation; 3] = [Observation::Calls, Observation::Approvals, Observation::Sessions];

/// Writes the history's header and puts every Company, backend and operator of `plan` on a new field; with a target, that
/// one instead of Companies and backends, and no operator where it knows one already.
///
/// # Errors
///
/// If a socket cannot be opened, or a certificate or the HTTP client cannot be made.
pub async fn set_up(plan: &Plan, ground: Ground) -> Result<Arc<Field>, FieldError> {
    set_up_again(plan, &Companies::default(), ground).await
}

/// As [`set_up`], with Companies that an earlier run may have made ready.
///
/// # Errors
///
/// As [`set_up`].
pub async fn set_up_again(plan: &Plan, companies: &Companies, ground: Ground) -> Result<Arc<Field>, FieldError> {
    if let Some(target) = &plan.target {
        return set_up_target(plan, target, ground).await;
    }
    let first_port = ground.first_port;
    let header = header(plan.seed, &ground, &EVERYTHING);
    let field = new_field(header, Some(plan), &plan.companies, ground)?;
    open_operators(&field, plan, None).await?;
    open_companies(&field, companies.of(&plan.companies), first_port, company::router).await?;
    Ok(field)
}

/// The Agents' side of a run against a target.
async fn set_up_target(plan: &Plan, target: &Target, ground: Ground) -> Result<Arc<Field>, FieldError> {
    let mut observes = AGENT_SIDE.to_vec();
    observes.extend(target.hooks.performed.is_some().then_some(Observation::Performed));
    let clock_error_ms = u64::try_from(target.clock_error.as_millis()).unwrap_or(u64::MAX);
    let header = Run { clock_error_ms, ..header(plan.seed, &ground, &observes) };
    let remote = remote(target, &ground.may_load);
    let field = new_field(header, Some(plan), &plan.companies, ground)?;
    field.connect(remote)?;
    field.record(Event::Company(Company { name: target.name.clone(), actions: Default::default() }));
    if target.operator.is_none() {
        open_operators(&field, plan, target.operators_port).await?;
    }
    Ok(field)
}

/// The target as the Wire knows it.
pub(super) fn remote(target: &Target, may_load: &BTreeSet<String>) -> Remote {
    Remote {
        party: Party::new(PartyKind::Company, target.name.clone()),
        connect_to: target.connect_to.clone(),
        ca: target.ca.clone(),
        may_load: may_load.clone(),
    }
}

/// Serves the documents of every operator, the first one's at `first_port`.
async fn open_operators(field: &Arc<Field>, plan: &Plan, first_port: Option<u16>) -> Result<(), FieldError> {
    for (number, index) in (1..=plan.swarm.operators).zip(0u16..) {
        let swarm = Arc::new(plan.swarm.clone());
        field
            .open(Host {
                party: Party::new(PartyKind::Operator, agent::operator::name(number)),
                names: vec![agent::operator::host(number)],
                direct: false,
                port: first_port.map_or(0, |first| first.saturating_add(index)),
                make: Box::new(move |world| agent::operator::router(world, Arc::clone(&swarm), number)),
            })
            .await?;
    }
    Ok(())
}

/// Puts Companies alone on a new field, for somebody else's Personal Agents.
///
/// # Errors
///
/// As [`set_up`].
pub async fn serve(seed: u64, companies: &[CompanyPlan], ground: Ground) -> Result<Arc<Field>, FieldError> {
    let first_port = ground.first_port;
    let header = header(seed, &ground, &COMPANY_SIDE);
    let field = new_field(header, None, companies, ground)?;
    let ready = Companies::default();
    open_companies(&field, ready.of(companies), first_port, company::witnessed_router).await?;
    Ok(field)
}

/// A field with the faults and the network of a plan, if there is one.
fn new_field(
    header: Run,
    plan: Option<&Plan>,
    companies: &[CompanyPlan],
    ground: Ground,
) -> Result<Arc<Field>, FieldError> {
    let Ground { recorder, clock, lane, epoch, .. } = ground;
    let seed = header.seed;
    recorder.record(|| 0, Event::Run(header));
    let companies = companies.iter().map(|company| (company.name.clone(), company.group.clone()));
    let (faults, network) = plan.map(|plan| (plan.faults.clone(), plan.network.clone())).unwrap_or_default();
    let faults = Faults::new(seed, faults, companies).with_network(network);
    Field::new(FieldOptions { seed, clock, epoch, recorder, faults, lane })
}

/// Opens each Company and the backend behind it.
async fn open_companies(
    field: &Arc<Field>,
    companies: &[Premises],
    first_port: Option<u16>,
    router: fn(World, &Premises, &Databases) -> Router,
) -> Result<(), FieldError> {
    let databases = Databases::default();
    for (premises, index) in companies.iter().zip(0u16..) {
        let company = premises.plan();
        let settings = Arc::clone(company);
        let backend = Host {
            party: Party::new(PartyKind::Backend, format!("{BACKEND_PREFIX}{}", company.name)),
            names: vec![format!("{BACKEND_PREFIX}{}", company.domain)],
            direct: true,
            port: 0,
            make: Box::new(move |world| backend::router(world, Arc::clone(&settings))),
        };
        field.open(backend).await?;
        let (databases, premises) = (databases.clone(), premises.clone());
        let front = Host {
            party: Party::new(PartyKind::Company, company.name.clone()),
            names: vec![company.domain.to_string()],
            direct: false,
            port: first_port.map_or(0, |first| first.saturating_add(index)),
            make: Box::new(move |world| router(world, &premises, &databases)),
        };
        field.open(front).await?;
    }
    Ok(())
}

/// The header of a history that the harness writes of its own parties.
fn header(seed: u64, ground: &Ground, observes: &[Observation]) -> Run {
    Run {
        format: FORMAT,
        seed,
        world: ground.clock.world(),
        epoch: ground.epoch.to_string(),
        order: Order::Total,
        observes: observes.to_vec(),
        clock_error_ms: 0,
    }
}
