//! Histograms, interval log, counters, thresholds and generator health.
//!
//! A [`Meter`] is shared by everything that drives load; it is told what happened and when, and knows no clock itself.
//! What it gathered is read as [`Figures`]; thresholds, minimums and the generator's health are judged on those.
//! `docs/measurements.md` says what each figure means and from when it counts.

mod counts;
mod figures;
mod interval_log;
mod meter;
mod series;
mod times;

pub use counts::{Counts, StepCounts, counter};
pub use figures::{Figures, StepFigures};
pub use meter::{LogFailed, Meter, Sample};
pub use series::{Measure, Series, What, Window, step_word};
pub use times::{Percentiles, Times};
