//! What people and machines read of a run: terminal summary, summary.json.
//!
//! [`Summary`] is everything that is said about a run; it is `summary.json`, and [`render`] prints it. Its verdict and
//! exit status follow from the rest of it, by [`Summary::concluded`].

pub mod exit;
pub mod exploration;
pub mod format;
pub mod mutants;
pub mod progress;
pub mod rules;
pub mod summary;

mod fill;
mod judged;
mod terminal;
mod verdict;
mod wrap;

pub use exit::{Ending, ExitStatus, exit_status};
pub use fill::HeldTo;
pub use judged::{Judged, anomaly_file};
pub use summary::Summary;
pub use terminal::{Style, render};
pub use verdict::UNTIL_NOTHING_IS_OPEN;
