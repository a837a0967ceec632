//! A simulated Company: discovery, Sessions, proposals and the operations endpoint, decided by a pure desk and performed
//! by one performer, at a backend that is a party of its own and reached through the Wire only.

mod answer;
mod auth;
mod body;
mod desk;
mod performer;
mod record;
mod routes;
mod shop;
mod terms;
pub mod trial;
mod view;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::Router;

use crate::{plan::CompanyPlan, world::World};
use shop::Shop;

/// The router of a new incarnation of a Company. Its first incarnation records what its actions are made of; every one
/// takes up the work that it finds on its disk.
pub fn router(world: World, plan: Arc<CompanyPlan>) -> Router {
    let shop = Arc::new(Shop::open(world, plan));
    if shop.world.incarnation() == 1 {
        shop.introduce();
    }
    performer::resume(&shop);
    routes::router(shop)
}
