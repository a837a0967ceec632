//! The run itself: arrivals, pacing, Agents at work, settling.

mod attendance;
mod closed;
mod crew;
mod due;
mod open;
mod run;
mod set_up;
mod usage;

pub use attendance::{agents_at, at_work_from};
pub use due::DueTimes;
pub use run::{Control, NoKeys, Ran, run};
pub use set_up::{Ground, serve, set_up};
pub use usage::Usage;
