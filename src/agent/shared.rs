//! What all Agents of a run share.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex as Guarded},
};

use smol_str::SmolStr;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::{
    discovery::Site,
    hooks::{HookTally, Staff},
    operator::Operator,
    person::lock,
    target::Absent,
    words,
};
use crate::{
    identity::KeyError,
    measure::Meter,
    plan::{AgentDefect, Plan},
    world::{Field, Moment, Party, PartyKind, World},
};

/// What all Agents of a run share: the plan, the world, the meter, their operators, and the Companies they know.
#[derive(Debug)]
pub struct Shared {
    pub(super) plan: Arc<Plan>,
    pub(super) world: World,
    pub(super) meter: Meter,
    pub(super) operators: Vec<Arc<Operator>>,
    /// By the Company's place in the plan. The lock is held while one journey fetches for all.
    pub(super) sites: Vec<Mutex<Known>>,
    /// The people at a target's side.
    pub(super) staff: Arc<Staff>,
    /// The run is over: who waits looks once more.
    pub(super) last_call: CancellationToken,
    /// What makes the identifiers of this run's Users, proofs and assertions unlike those of another run with the same
    /// seed: a target remembers them for longer than a run lasts. Nothing where the Company begins anew with each run.
    pub(super) run_mark: u64,
    /// How often a target's answers gave no value, by where it was to stand.
    absent: Guarded<BTreeMap<Absent, u64>>,
}

/// What the Agents know of a Company.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// What its documents said; an error if they failed a check, which no later fetch mends.
    pub(super) site: Option<Result<Arc<Site>, SmolStr>>,
    /// How many fetches there were.
    pub(super) fetches: u64,
}

impl Shared {
    /// What the Agents of this plan share.
    ///
    /// # Errors
    ///
    /// If an operator's key cannot be made.
    pub fn new(plan: Arc<Plan>, field: &Arc<Field>, meter: Meter) -> Result<Arc<Self>, KeyError> {
        let world = field.world(Party::new(PartyKind::Agent, "swarm"));
        let known = plan.target.as_ref().and_then(|target| target.operator.as_ref());
        let operators = match known {
            Some(known) => vec![Arc::new(Operator::known(known)?)],
            None => (1..=plan.swarm.operators.max(1))
                .map(|number| Operator::new(&plan.swarm, number, &world).map(Arc::new))
                .collect::<Result<_, _>>()?,
        };
        let sites = plan.companies.iter().map(|_| Mutex::default()).collect();
        let last_call = CancellationToken::new();
        let began = |_: &_| u64::try_from(world.wall().as_nanosecond()).unwrap_or_default();
        let run_mark = plan.target.as_ref().map_or(0, began);
        let run = words::name(world.draw("run", "", run_mark)).into();
        let staff = Staff::new(&plan, &world, run, last_call.clone());
        let absent = Guarded::default();
        Ok(Arc::new(Self { plan, world, meter, operators, sites, staff, last_call, run_mark, absent }))
    }

    /// The run is over: every Agent that waits asks once more after its operation, and then no more.
    pub fn last_call(&self) {
        self.last_call.cancel();
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Where the Agents' figures go.
    #[must_use]
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// How many operations a target is asked for its count of.
    #[must_use]
    pub fn operations_to_count(&self) -> u64 {
        self.staff.shown().len() as u64
    }

    /// What came of the target's hooks, by name; only those that were asked.
    #[must_use]
    pub fn hook_tallies(&self) -> BTreeMap<&'static str, HookTally> {
        self.staff.tallies()
    }

    /// How often a target's answers gave no value, by where it was to stand.
    #[must_use]
    pub fn absent(&self) -> BTreeMap<Absent, u64> {
        lock(&self.absent).clone()
    }

    pub(super) fn note_absent(&self, absent: Absent) {
        tracing::debug!("nothing at {} in the answer of {}", absent.place, absent.request);
        *lock(&self.absent).entry(absent).or_default() += 1;
    }

    /// Whether the Agents have a defect.
    pub(super) fn has(&self, defect: AgentDefect) -> bool {
        self.plan.swarm.defects.has(defect)
    }

    /// When an Agent that sends now stops waiting.
    pub(super) fn deadline(&self) -> Moment {
        self.world.now() + self.plan.swarm.request_timeout
    }

    /// The instant in Unix seconds, for proofs and assertions.
    pub(super) fn unix_now(&self) -> i64 {
        self.world.wall().as_second()
    }
}
