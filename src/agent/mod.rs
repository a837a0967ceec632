//! A simulated Personal Agent: discovery, Sessions, journeys, the User's approval, recovery, defects.
//!
//! A [`Person`] is one User with her Agent; [`run_journey`] takes her through one journey. Everything goes through the
//! [`crate::world::World`]; every choice is drawn from the seed. `docs/agents.md` says how an Agent behaves.

mod allow;
mod answer;
mod back_off;
mod count;
mod course;
mod dealing;
mod discovery;
mod end;
mod errand;
mod held;
mod hooks;
mod openapi;
mod operation;
pub mod operator;
mod person;
mod probe;
mod process;
mod session;
mod shared;
mod sign_in;
mod standing;
mod target;
mod user;
mod view;
mod wish;
mod words;

pub use count::{NoCount, Totals, each_operation, totals};
pub use course::{JourneyRun, destination, run_journey};
pub use end::JourneyEnd;
pub use hooks::HookTally;
pub use person::Person;
pub use probe::{Published, Unfit, probe};
pub use shared::Shared;
pub use target::Absent;

#[cfg(test)]
mod tests;
