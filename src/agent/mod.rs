//! A simulated Personal Agent: discovery, Sessions, journeys, the User's approval, recovery, defects.
//!
//! A [`Person`] is one User with her Agent; [`run_journey`] takes her through one journey. Everything goes through the
//! [`crate::world::World`]; every choice is drawn from the seed. `docs/agents.md` says how an Agent behaves.

mod allow;
mod answer;
mod back_off;
mod course;
mod dealing;
mod discovery;
mod end;
mod errand;
mod held;
mod openapi;
mod operation;
pub mod operator;
mod person;
mod process;
mod session;
mod shared;
mod sign_in;
mod standing;

mod user;
mod view;
mod wish;

pub use course::{JourneyRun, run_journey};
pub use end::JourneyEnd;
pub use person::Person;
pub use shared::Shared;

#[cfg(test)]
mod tests;
