//! The crashes that a search tries before its seeds: each crash point once with each kind of operation that passes it.

use std::sync::Arc;

use super::{Search, Watch};
use crate::{
    history::Recorder,
    measure::Meter,
    plan::Plan,
    sim::{
        Setting,
        crash_points::{Variant, that_strike},
    },
    swarm::Control,
};

/// The variants of `plan` whose crash strikes. None if the plan itself comes to no proper end, or is given up meanwhile: the
/// first seed tells of that.
#[must_use]
pub fn crashes(plan: &Plan, search: &Search, watch: &Watch) -> Vec<Variant> {
    let mut setting = Setting::to(Recorder::in_memory(), Meter::counting(), search.signatures);
    setting.control = Control { stop: watch.stop.clone(), ..Control::default() };
    let plan = Arc::new(Plan { seed: search.seed, ..plan.clone() });
    that_strike(&plan, &setting).unwrap_or_default()
}
