//! How much is asked of the Companies.

use std::time::Duration;

use super::listed::{self, Cast, Said};
use crate::limits;
use crate::plan::{AgentStage, Arrivals, Distribution, Load, LoadModel, RateStage, WhenFull};
use crate::scenario::problem::{Findings, Place};
use crate::scenario::raw::{ArrivalsWord, ClosedSettings, LoadChoice, OpenSettings, WhenFullWord};
use crate::scenario::value::{At, Time, written_duration};

const THINK: Distribution = Distribution::Constant(Duration::from_secs(1));
const IN_FLIGHT: u32 = 1_000;

/// Fills in and checks `load`.
pub(super) fn resolve(entries: &At<Vec<At<LoadChoice>>>, cast: &Cast<'_>, findings: &mut Findings) -> Vec<Load> {
    if entries.value.is_empty() {
        findings.report(entries.place, "`load` has no entry; expected `closed`, `open` or `listed`");
    }
    let mut said = Said::default();
    entries
        .value
        .iter()
        .enumerate()
        .filter_map(|(index, entry)| match &entry.value {
            LoadChoice::Closed(settings) => closed(entry.place, settings, findings),
            LoadChoice::Open(settings) => open(entry.place, settings, findings),
            LoadChoice::Listed(settings) => {
                let model = listed::resolve(index, settings, cast, &mut said, findings);
                let operations = settings.operations.as_ref();
                let bounds = Bounds { place: entry.place, time: Some(&settings.r#for), operations };
                Some(bounds.load(model, settings.warm_up.as_ref(), findings))
            }
        })
        .collect()
}

fn closed(place: Place, settings: &ClosedSettings, findings: &mut Findings) -> Option<Load> {
    let bounds = Bounds { place, time: settings.r#for.as_ref(), operations: settings.operations.as_ref() };
    let stages = match (&settings.agents, &settings.stages) {
        (Some(agents), None) => {
            let (from, time) = (agents.value, bounds.time(findings)?);
            if !(1..=limits::USERS_MAX).contains(&from) {
                findings.report(agents.place, format!("`agents` is {from}; expected 1 to {}", limits::USERS_MAX));
            }
            vec![AgentStage { from, to: from, time }]
        }
        (None, Some(stages)) => {
            bounds.no_time_beside_stages(findings);
            let list: Vec<AgentStage> = stages
                .value
                .iter()
                .map(|stage| {
                    let (from, to) = stage.agents.0;
                    AgentStage { from, to, time: positive(&stage.r#for, findings) }
                })
                .collect();
            if list.iter().all(|stage| stage.from == 0 && stage.to == 0) {
                findings.report(stages.place, "no stage has any Agent; expected at least one");
            }
            list
        }
        _ => {
            findings.report(place, "expected either `agents` or `stages`");
            return None;
        }
    };
    let model = LoadModel::Closed { stages, think: settings.think.clone().map_or(THINK, |think| think.0) };
    Some(bounds.load(model, settings.warm_up.as_ref(), findings))
}

fn open(place: Place, settings: &OpenSettings, findings: &mut Findings) -> Option<Load> {
    let bounds = Bounds { place, time: settings.r#for.as_ref(), operations: settings.operations.as_ref() };
    let (at, stages) = match (&settings.rate, &settings.stages) {
        (Some(rate), None) => {
            let (from, to) = rate.value.0;
            (rate.place, vec![RateStage { from, to, time: bounds.time(findings)? }])
        }
        (None, Some(stages)) => {
            bounds.no_time_beside_stages(findings);
            let list = stages.value.iter().map(|stage| {
                let (from, to) = stage.rate.0;
                RateStage { from, to, time: positive(&stage.r#for, findings) }
            });
            (stages.place, list.collect())
        }
        _ => {
            findings.report(place, "expected either `rate` or `stages`");
            return None;
        }
    };
    if stages.iter().all(|stage| stage.from <= 0.0 && stage.to <= 0.0) {
        findings.report(at, "the rate is 0 all the time; expected more");
    }
    let in_flight = settings.in_flight.as_ref().map_or(IN_FLIGHT, |limit| limit.value);
    if let Some(limit) = settings.in_flight.as_ref().filter(|limit| !(1..=limits::USERS_MAX).contains(&limit.value)) {
        findings.report(limit.place, format!("`in_flight` is {in_flight}; expected 1 to {}", limits::USERS_MAX));
    }
    let model = LoadModel::Open {
        arrivals: match settings.arrivals {
            Some(ArrivalsWord::Constant) => Arrivals::Constant,
            Some(ArrivalsWord::Poisson) | None => Arrivals::Poisson,
        },
        stages,
        in_flight,
        when_full: match settings.when_full {
            Some(WhenFullWord::Skip) => WhenFull::Skip,
            Some(WhenFullWord::Queue) | None => WhenFull::Queue,
        },
    };
    Some(bounds.load(model, settings.warm_up.as_ref(), findings))
}

/// What bounds an entry.
struct Bounds<'a> {
    place: Place,
    time: Option<&'a At<Time>>,
    operations: Option<&'a At<u64>>,
}

impl Bounds<'_> {
    fn time(&self, findings: &mut Findings) -> Option<Duration> {
        match (self.time, self.operations) {
            (Some(time), _) => Some(positive(time, findings)),
            (None, Some(_)) => Some(Duration::from_secs(limits::LOAD_SECONDS_DEFAULT)),
            (None, None) => {
                findings.report(self.place, "nothing ends this entry; expected `for`, `operations` or `stages`");
                None
            }
        }
    }

    fn no_time_beside_stages(&self, findings: &mut Findings) {
        if let Some(time) = self.time {
            findings.report(time.place, "`for` beside `stages`; expected it in each stage alone");
        }
    }

    fn load(&self, model: LoadModel, warm_up: Option<&At<Time>>, findings: &mut Findings) -> Load {
        let operations = self.operations.map(|operations| operations.value);
        if let Some(at) = self.operations.filter(|operations| operations.value == 0) {
            findings.report(at.place, "`operations` is 0; expected at least 1");
        }
        let load = Load { model, warm_up: warm_up.map_or(Duration::ZERO, |time| time.value.0), operations };
        let span = load.duration();
        if let Some(at) = warm_up.filter(|_| load.warm_up >= span && !span.is_zero()) {
            let message = format!("`warm_up` leaves nothing to measure of {}; expected less", written_duration(&span));
            findings.report(at.place, message);
        }
        load
    }
}

fn positive(time: &At<Time>, findings: &mut Findings) -> Duration {
    if time.value.0.is_zero() {
        findings.report(time.place, "`for` has to be more than 0");
    }
    time.value.0
}
