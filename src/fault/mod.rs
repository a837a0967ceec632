//! Where a fault can strike, how, and when.

mod schedule;
mod strike;

pub use schedule::{Faults, PlannedRestart};
pub use strike::{Disturbance, SecondCopy, Struck};
