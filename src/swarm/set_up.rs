//! Puts the parties of a plan on a field.

use std::sync::Arc;

use axum::Router;
use jiff::Timestamp;

use crate::{
    agent, backend, company,
    fault::Faults,
    history::{
        Event, Recorder,
        record::{FORMAT, Observation, Order, Run, WorldKind},
    },
    plan::{CompanyPlan, Fault, Plan},
    world::{BACKEND_PREFIX, Field, FieldError, FieldOptions, Host, Lane, Party, PartyKind, World},
};

/// What a plan's parties stand on.
#[derive(Debug)]
pub struct Ground {
    /// Takes the history and the ledger.
    pub recorder: Recorder,
    /// Which way requests take.
    pub lane: Lane,
    /// The wall-clock time at the run's beginning.
    pub epoch: Timestamp,
    /// The port of the first Company, the next one's beside it; `None` takes any.
    pub first_port: Option<u16>,
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

/// Writes the history's header and puts every Company, backend and operator of `plan` on a new field.
///
/// # Errors
///
/// If a socket cannot be opened, or a certificate or the HTTP client cannot be made.
pub async fn set_up(plan: &Plan, ground: Ground) -> Result<Arc<Field>, FieldError> {
    let first_port = ground.first_port;
    let field = new_field(plan.seed, plan.faults.clone(), &plan.companies, ground, &EVERYTHING)?;
    for number in 1..=plan.swarm.operators {
        let swarm = Arc::new(plan.swarm.clone());
        field
            .open(Host {
                party: Party::new(PartyKind::Operator, format!("agent-{number}")),
                names: vec![format!("agent-{number}.example")],
                direct: false,
                port: 0,
                make: Box::new(move |world| agent::operator::router(world, Arc::clone(&swarm), number)),
            })
            .await?;
    }
    open_companies(&field, &plan.companies, first_port, company::router).await?;
    Ok(field)
}

/// Puts Companies alone on a new field, for somebody else's Personal Agents.
///
/// # Errors
///
/// As [`set_up`].
pub async fn serve(seed: u64, companies: &[CompanyPlan], ground: Ground) -> Result<Arc<Field>, FieldError> {
    let first_port = ground.first_port;
    let field = new_field(seed, Vec::new(), companies, ground, &COMPANY_SIDE)?;
    open_companies(&field, companies, first_port, company::witnessed_router).await?;
    Ok(field)
}

fn new_field(
    seed: u64,
    faults: Vec<Fault>,
    companies: &[CompanyPlan],
    ground: Ground,
    observes: &[Observation],
) -> Result<Arc<Field>, FieldError> {
    let Ground { recorder, lane, epoch, .. } = ground;
    recorder.record(|| 0, Event::Run(header(seed, epoch, observes)));
    let companies = companies.iter().map(|company| (company.name.clone(), company.group.clone()));
    let faults = Faults::new(seed, faults, companies);
    Field::new(FieldOptions { seed, epoch, recorder, faults, lane })
}

/// Opens each Company and the backend behind it.
async fn open_companies(
    field: &Arc<Field>,
    companies: &[CompanyPlan],
    first_port: Option<u16>,
    router: fn(World, Arc<CompanyPlan>) -> Router,
) -> Result<(), FieldError> {
    for (company, index) in companies.iter().zip(0u16..) {
        let company = Arc::new(company.clone());
        let settings = Arc::clone(&company);
        let backend = Host {
            party: Party::new(PartyKind::Backend, format!("{BACKEND_PREFIX}{}", company.name)),
            names: vec![format!("{BACKEND_PREFIX}{}", company.domain)],
            direct: true,
            port: 0,
            make: Box::new(move |world| backend::router(world, Arc::clone(&settings))),
        };
        field.open(backend).await?;
        let front = Host {
            party: Party::new(PartyKind::Company, company.name.clone()),
            names: vec![company.domain.to_string()],
            direct: false,
            port: first_port.map_or(0, |first| first.saturating_add(index)),
            make: Box::new(move |world| router(world, Arc::clone(&company))),
        };
        field.open(front).await?;
    }
    Ok(())
}

/// The header of a history that the harness writes of its own parties.
fn header(seed: u64, epoch: Timestamp, observes: &[Observation]) -> Run {
    Run {
        format: FORMAT,
        seed,
        world: WorldKind::Real,
        epoch: epoch.to_string(),
        order: Order::Total,
        observes: observes.to_vec(),
        clock_error_ms: 0,
    }
}
