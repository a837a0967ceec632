//! A simulated Company: discovery, Sessions, proposals and the operations endpoint, decided by a pure desk and performed
//! by one performer, at a backend that is a party of its own and reached through the Wire only.

mod answer;
mod auth;
mod body;
mod capacity;
mod concern;
mod desk;
mod performer;
mod record;
mod routes;
mod shop;
mod terms;
pub mod trial;
mod view;
mod witness;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::Router;

use crate::{plan::CompanyPlan, world::World};
pub use capacity::Databases;
use shop::Shop;

/// What a Company is to all of its incarnations, in any number of runs: its plan, and its endpoints with the documents
/// that follow from the plan alone.
#[derive(Debug, Clone)]
pub struct Premises {
    plan: Arc<CompanyPlan>,
    routes: Router<Arc<Shop>>,
}

impl Premises {
    /// Those of the Company that a plan describes.
    #[must_use]
    pub fn of(plan: Arc<CompanyPlan>) -> Self {
        Self { routes: routes::of(&plan), plan }
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Arc<CompanyPlan> {
        &self.plan
    }
}

/// The router of a new incarnation of a Company. Its first incarnation records what its actions are made of; every one
/// takes up the work that it finds on its disk. `databases` are those of the run.
pub fn router(world: World, premises: &Premises, databases: &Databases) -> Router {
    let shop = opened(world, Arc::clone(&premises.plan));
    capacity::layer(premises.routes.clone().with_state(Arc::clone(&shop)), &shop, databases)
}

/// As [`router`], for Personal Agents that write no history of their own: the Company then records what it was asked and
/// what it answered.
pub fn witnessed_router(world: World, premises: &Premises, databases: &Databases) -> Router {
    let shop = opened(world, Arc::clone(&premises.plan));
    let router = capacity::layer(premises.routes.clone().with_state(Arc::clone(&shop)), &shop, databases);
    witness::layer(router, shop)
}

fn opened(world: World, plan: Arc<CompanyPlan>) -> Arc<Shop> {
    let shop = Arc::new(Shop::open(world, plan));
    if shop.world.incarnation() == 1 {
        shop.introduce();
    }
    performer::resume(&shop);
    shop
}
