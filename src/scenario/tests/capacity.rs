//! Capacities of Companies: what they resolve to, and what is said about mistakes in them.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use super::*;
use crate::history::record::{Outcome, Purpose};
use crate::measure::{Meter, Sample};
use crate::plan::{Capacity, Distribution, RowLocks};

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The interval log of a run with confirms that took 1 ms, 2 ms, … 100 ms.
fn log() -> Vec<u8> {
    let written = Written::default();
    let meter = Meter::with_log(Box::new(written.clone()), SystemTime::UNIX_EPOCH, "a test").unwrap();
    for number in 1..=100 {
        let (step, outcome, done) = (Purpose::Confirm, Outcome::View, number * 1_000_000);
        meter.sample(Sample { step, intended: 0, held: 0, sent: 0, done, outcome, why: None });
    }
    meter.tick(1_000_000_000).unwrap();
    written.0.lock().unwrap().clone()
}

/// A folder with a log, the profile `shop`, and this scenario.
fn folder(scenario: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files: [(&str, &[u8]); 4] = [
        ("scenarios/latency.hlog", &log()),
        ("scenarios/broken.hlog", b"what is this\n"),
        ("sim-companies/shop.yaml", SHOP.as_bytes()),
        ("scenarios/a.yaml", scenario.as_bytes()),
    ];
    for (name, content) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    folder
}

fn scenario(capacity: &str) -> String {
    format!(
        "scenario: a\ncompanies:\n  one:\n    profile: shop\n    capacity: {capacity}\n  other: {{ profile: shop, capacity: {{ \
         database: {{ name: orders, connections: 4 }} }} }}\njourneys: {{ a: {{ steps: [propose: {{ at: one, action: exchange \
         }}, walk-away] }} }}\nload: [open: {{ rate: 1/s, for: 5s }}]\n"
    )
}

fn plan(capacity: &str) -> Plan {
    let folder = folder(&scenario(capacity));
    load(&folder.path().join("scenarios/a.yaml"), &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"))
}

fn told(capacity: &str) -> String {
    told_about(folder(&scenario(capacity)).path(), "scenarios/a.yaml")
}

fn capacity(plan: &Plan, company: usize) -> &Capacity {
    plan.companies[company].capacity.as_ref().unwrap()
}

#[test]
fn defaults_are_those_of_the_reference() {
    let plan = plan("{ database: {} }");
    let one = capacity(&plan, 0);
    let (ms, database) = (Duration::from_millis, one.database.as_ref().unwrap());
    assert_eq!((one.workers, one.queue, one.retry_after, one.abandon), (8, None, None, false));
    assert_eq!(one.service_of(Purpose::Confirm), &Distribution::Constant(ms(5)));
    assert_eq!((database.name.as_deref(), database.connections, database.row_locks), (None, 10, RowLocks::Writes));
    assert_eq!(database.time, Distribution::Constant(ms(2)));
    assert_eq!(capacity(&plan, 1).database.as_ref().unwrap().name.as_deref(), Some("orders"));
}

/// The resolved scenario stands alone: it names no log any more.
#[test]
fn what_was_measured_is_in_the_resolved_scenario() {
    let first = plan(
        "{ workers: 3, queue: 0, retry_after: 2s, abandon: yes, service: { percentiles: { p0: 1ms, p99.95: 9ms } }, \
         service_of: { confirm: { measured: { from: latency.hlog, step: confirm } }, sign-in: { exponential: { mean: 3ms } } }, \
         database: { name: orders, connections: 4, time: { uniform: { from: 1ms, to: 2ms } }, row_locks: all } }",
    );
    let Distribution::Percentiles(table) = capacity(&first, 0).service_of(Purpose::Confirm) else { panic!("a table") };
    for (percentile, expected) in [(0.0, 1.0), (50.0, 50.0), (72.5, 72.5), (99.0, 99.0), (100.0, 100.0)] {
        let seen = table.at(percentile).as_secs_f64() * 1_000.0;
        assert!((seen / expected - 1.0).abs() < 0.01, "p{percentile}: {seen} instead of {expected}");
    }
    let text = resolved_yaml(&first);
    assert!(text.contains("p99.95: 9ms") && !text.contains("hlog"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scenario.yaml");
    std::fs::write(&path, &text).unwrap();
    let again = load(&path, &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(format!("{again:?}"), format!("{first:?}"));
}

#[test]
fn mistakes_are_told_with_their_place() {
    let cases = [
        "{ worker: 2 }",
        "{ workers: 0 }",
        "{ queue: 9999999 }",
        "{ service: 5 }",
        "{ service: { exponental: { mean: 5ms } } }",
        "{ service: { percentiles: { p50: 5ms, p90: 4ms } } }",
        "{ service: { percentiles: { p101: 5ms } } }",
        "{ service: { percentiles: {} } }",
        "{ service_of: { confrim: 5ms } }",
        "{ service_of: { discover: 5ms } }",
        "{ service: { measured: { from: nowhere.hlog, step: confirm } } }",
        "{ service: { measured: { from: broken.hlog, step: confirm } } }",
        "{ service: { measured: { from: latency.hlog, step: read } } }",
        "{ service: { measured: { from: latency.hlog, step: confrim } } }",
        "{ service: { measured: { from: latency.hlog } } }",
        "{ service: { uniform: { from: 5ms, to: 1ms } } }",
        "{ abandon: maybe }",
        "{ database: { connections: 0 } }",
        "{ database: { name: Orders } }",
        "{ database: { name: orders, connections: 5 } }",
        "{ database: { row_locks: some } }",
    ];
    let told: Vec<String> = cases.iter().map(|case| told(case)).collect();
    assert!(told.iter().all(|told| told.starts_with("scenarios/a.yaml:")), "{told:#?}");
    insta::assert_snapshot!(told.join("\n"));
}
