//! The run itself: arrivals, pacing, Agents at work, settling.

mod attendance;
mod closed;
mod counted;
mod crew;
mod diary;
mod due;
mod listed;
mod open;
mod probe;
mod run;
mod set_up;
mod usage;

/// How long after the end of load a journey may still start that was due before.
const LATE_START_MAX: std::time::Duration = std::time::Duration::from_secs(1);

pub use attendance::{agents_at, at_work_from};
pub use counted::COUNT_INTERRUPTED_TIME;
pub use diary::Diary;
pub use due::DueTimes;
pub use probe::{NotLoaded, Reached, probe};
pub use run::{Control, NoKeys, Ran, run};
pub use set_up::{Companies, Ground, serve, set_up, set_up_again};
pub use usage::Usage;

pub use crate::agent::{Absent, NoCount};
