//! Histograms, interval log, counters, thresholds and generator health.
//!
//! A [`Meter`] is shared by everything that drives load; it is told what happened and when, and knows no clock itself.
//! What it gathered is read as [`Figures`]; thresholds, minimums and the generator's health are judged on those.
//! `docs/measurements.md` says what each figure means and from when it counts.

mod counts;
mod figures;
mod health;
mod interval_log;
mod meter;
mod reach;
mod recorded;
mod series;
mod thresholds;
mod times;

pub use counts::{Counts, StepCounts, counter};
pub use figures::{Figures, StepFigures};
pub use health::{Health, Inconclusive, Offered, health};
pub use meter::{LogFailed, Meter, Sample};
pub use reach::{Reached, reached};
pub use recorded::{NotRecorded, recorded_service};
pub use series::{Measure, Series, What, Window, state_word, step_word};
pub use thresholds::{ThresholdResult, judge_threshold};
pub use times::{Percentiles, Times};
