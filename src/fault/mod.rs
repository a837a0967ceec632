//! Where a fault can strike, how, and when.

mod network;
mod schedule;
mod strike;
#[cfg(test)]
mod tests;

pub use network::Transit;
pub use schedule::{Faults, PlannedRestart};
pub use strike::{Disturbance, SecondCopy, Struck};
