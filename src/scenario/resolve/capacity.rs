//! How much a Company can do at once, with service times read from the logs that it names.

use std::collections::BTreeMap;
use std::time::Duration;

use smol_str::SmolStr;

use super::{check_name, report_unknown};
use crate::history::record::Purpose;
use crate::limits;
use crate::measure::recorded_service;
use crate::plan::{Capacity, CompanyPlan, DatabaseShare, Distribution, RowLocks};
use crate::scenario::files;
use crate::scenario::problem::{Findings, Place, shown};
use crate::scenario::raw::{CapacitySection, DatabaseSection, RowLocksWord, YesNo};
use crate::scenario::value::{At, Catalogue as _, MeasuredSettings, ServiceSpread};

const WORKERS: u32 = 8;
const SERVICE: Distribution = Distribution::Constant(Duration::from_millis(5));
const CONNECTIONS: u32 = 10;
const DATABASE_TIME: Distribution = Distribution::Constant(Duration::from_millis(2));

/// Fills in and checks `capacity`.
pub(super) fn resolve(settings: &CapacitySection, findings: &mut Findings) -> Capacity {
    let mut service_of = BTreeMap::new();
    for (name, time) in settings.service_of.iter().flat_map(|named| &named.0) {
        let kinds: Vec<&str> = Capacity::KINDS.iter().map(|kind| kind.name()).collect();
        match Capacity::KINDS.iter().find(|kind| kind.name() == name.value) {
            Some(kind) => drop(service_of.insert(*kind, spread(time, findings))),
            None => report_unknown("kind of request that takes a worker", name, &kinds, findings),
        }
    }
    if let Some(queue) = settings.queue.as_ref().filter(|queue| queue.value > limits::CAPACITY_MAX) {
        findings.report(queue.place, format!("`queue` is {}; expected at most {}", queue.value, limits::CAPACITY_MAX));
    }
    Capacity {
        workers: bounded("workers", settings.workers.as_ref(), WORKERS, findings),
        queue: settings.queue.as_ref().map(|queue| queue.value),
        retry_after: settings.retry_after.map(|time| time.0),
        service: settings.service.as_ref().map_or(SERVICE, |time| spread(time, findings)),
        service_of,
        abandon: settings.abandon == Some(YesNo::Yes),
        database: settings.database.as_ref().map(|settings| database(settings, findings)),
    }
}

fn database(settings: &DatabaseSection, findings: &mut Findings) -> DatabaseShare {
    if let Some(name) = &settings.name {
        check_name("database", name, findings);
    }
    DatabaseShare {
        name: settings.name.as_ref().map(|name| SmolStr::from(name.value.as_str())),
        connections: bounded("connections", settings.connections.as_ref(), CONNECTIONS, findings),
        time: settings.time.as_ref().map_or(DATABASE_TIME, |time| spread(time, findings)),
        row_locks: match settings.row_locks {
            Some(RowLocksWord::Writes) | None => RowLocks::Writes,
            Some(RowLocksWord::All) => RowLocks::All,
            Some(RowLocksWord::None) => RowLocks::None,
        },
    }
}

fn bounded(key: &str, value: Option<&At<u32>>, default: u32, findings: &mut Findings) -> u32 {
    let Some(at) = value else { return default };
    let most = limits::CAPACITY_MAX;
    if !(1..=most).contains(&at.value) {
        findings.report(at.place, format!("`{key}` is {}; expected 1 to {most}", at.value));
        return default;
    }
    at.value
}

/// A distribution as it is given, or as a log has it.
fn spread(time: &At<ServiceSpread>, findings: &mut Findings) -> Distribution {
    match &time.value {
        ServiceSpread::Given(distribution) => distribution.clone(),
        ServiceSpread::Measured(settings) => measured(settings, findings).unwrap_or(Distribution::ZERO),
    }
}

fn measured(settings: &MeasuredSettings, findings: &mut Findings) -> Option<Distribution> {
    let MeasuredSettings { from, step } = settings;
    let path = findings.folder(from.place.file).join(&from.value);
    let at = |place: Place, message: String, findings: &mut Findings| {
        findings.report(place, format!("{}: {message}", shown(&from.value)));
        None
    };
    if step.value.0 == Purpose::Backend {
        return at(
            step.place,
            "requests to a backend are not measured; expected a kind of request of an Agent".to_owned(),
            findings,
        );
    }
    let log = match files::read_log(&path) {
        Ok(log) => log,
        Err(message) => return at(from.place, message, findings),
    };
    match recorded_service(&log, step.value.0) {
        Ok(table) => Some(Distribution::Percentiles(table)),
        Err(error @ crate::measure::NotRecorded::NoSuchStep { .. }) => at(step.place, error.to_string(), findings),
        Err(error) => at(from.place, error.to_string(), findings),
    }
}

/// Reports Companies that share a database and do not agree on its connections.
pub(super) fn check_shared(place: Place, companies: &[CompanyPlan], findings: &mut Findings) {
    let mut seen: BTreeMap<&SmolStr, (u32, &SmolStr)> = BTreeMap::new();
    for company in companies {
        let Some(share) = company.capacity.as_ref().and_then(|capacity| capacity.database.as_ref()) else { continue };
        let Some(name) = &share.name else { continue };
        let (connections, group) = *seen.entry(name).or_insert((share.connections, &company.group));
        if connections != share.connections {
            let message = format!(
                "{} and {} share the database {}, and one gives it {connections} connections, the other {}; expected the same",
                shown(group),
                shown(&company.group),
                shown(name),
                share.connections
            );
            findings.report(place, message);
            return;
        }
    }
}
