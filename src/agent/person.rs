//! One User with her Agent, and who she is to each Company.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use smol_str::{SmolStr, format_smolstr};

use super::{held::Sessions, operator::Operator, shared::Shared};
use crate::{
    identity::{KeyError, ProofMaker, SigningKey, digest},
    plan::Money,
};

/// One User with her Agent. Costs little until she acts: who she is to a Company is made when she first goes there.
pub struct Person {
    pub(super) shared: Arc<Shared>,
    pub(super) operator: Arc<Operator>,
    number: u32,
    /// Her name in the history.
    user: SmolStr,
    homes: Mutex<Vec<Arc<Home>>>,
}

impl fmt::Debug for Person {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Person").field("number", &self.number).finish_non_exhaustive()
    }
}

/// Who a User is to one Company: a User ID and a key that no other Company sees (digest 2), and her Session there.
#[derive(Debug)]
pub(super) struct Home {
    company: usize,
    pub(super) user_id: SmolStr,
    pub(super) proofs: ProofMaker,
    pub(super) sessions: Sessions,
    /// The standing permissions that she gave for this Company.
    pub(super) standing: Mutex<Vec<(SmolStr, Money)>>,
}

impl Person {
    /// User `number`, from 1; she belongs to operator `(number - 1) mod operators + 1`.
    #[must_use]
    pub fn new(shared: &Arc<Shared>, number: u32) -> Arc<Self> {
        let operators = shared.operators.len().max(1);
        let place = usize::try_from(number.saturating_sub(1)).unwrap_or_default() % operators;
        let operator = Arc::clone(&shared.operators[place]); // there is at least one, see Shared::new
        Arc::new(Self {
            shared: Arc::clone(shared),
            operator,
            number,
            user: format_smolstr!("u{number}"),
            homes: Mutex::default(),
        })
    }

    /// Her number, from 1.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Her name in the history.
    pub(super) fn user(&self) -> SmolStr {
        self.user.clone()
    }

    /// Who she is to the Company with that place in the plan.
    ///
    /// # Errors
    ///
    /// If her key cannot be made.
    pub(super) fn home(&self, company: usize) -> Result<Arc<Home>, KeyError> {
        let mut homes = lock(&self.homes);
        if let Some(home) = homes.iter().find(|home| home.company == company) {
            return Ok(Arc::clone(home));
        }
        let name = self.shared.plan.companies.get(company).map(|company| company.name.as_str()).unwrap_or_default();
        let who = format!("{}@{name}", self.user);
        let world = &self.shared.world;
        let scalar = |attempt| world.draw("user-key", &who, u64::from(attempt)).bytes();
        let key = SigningKey::derive(world.signatures(), scalar)?;
        // A target that knows her from an earlier run would give her the operations that she left open in it.
        let user_id = digest::base64url(world.draw("user-id", &who, self.shared.run_mark).bytes::<16>());
        let home = Arc::new(Home {
            company,
            user_id: format_smolstr!("usr_{user_id}"),
            proofs: ProofMaker::new(key),
            sessions: Sessions::new(who.into()),
            standing: Mutex::default(),
        });
        homes.push(Arc::clone(&home));
        Ok(home)
    }
}

impl Home {
    /// Notes a standing permission; whether it is new.
    pub(super) fn permit(&self, action: &SmolStr, up_to: &Money) -> bool {
        let mut standing = lock(&self.standing);
        if standing.iter().any(|(known, money)| known == action && money == up_to) {
            return false;
        }
        standing.push((action.clone(), up_to.clone()));
        true
    }
}

/// A lock whose holder panicked is still whole: every change under it is one push or assignment.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
