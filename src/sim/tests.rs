//! A simulated run says what it did, and fails where it cannot.

use std::{path::Path, sync::Arc};

use super::*;
use crate::scenario::{self, Overrides};

/// The small seed, with its text changed.
fn plan(changes: &[(&str, &str)]) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/exploration.yaml");
    let mut text = std::fs::read_to_string(path).expect("the scenario can be read");
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    scenario::load_text("small.yaml", &text, &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn no_restart_comes_when_load_has_ended() {
    let restarts = "\
faults:
  - do: { restart: { every: 10s, down_for: 100ms } }
    strikes: [{ key: shop-1, attempt: 0, time: 1500ms }, { key: shop-1, attempt: 1, time: 3s }]
";
    let plan = plan(&[
        ("for: 1h, operations: 6", "for: 2s"),
        (
            "backend: { latency: { uniform: { from: 5ms, to: 300ms } }, timeout: 400ms }",
            "backend: { latency: 4s, timeout: 8s }",
        ),
        ("faults:\n", restarts),
    ]);
    let outcome = Outcome::of(&Arc::new(plan), Signatures::Fast).expect("it is simulated");
    let ran = &outcome.simulated.ran;
    let after = |moment: crate::world::Moment| moment.since(ran.load_began).as_millis();
    assert!(after(ran.load_ended) == 2_000 && after(ran.ended) > 3_000, "{ran:?}");
    assert_eq!(outcome.faults().filter(|fault| fault.kind == "restart").count(), 1);
}

#[test]
fn a_run_fails_of_a_panic_in_a_task_of_a_party() {
    let recorder = Recorder::watched(|seen| {
        if let Seen::Event(Record { event: Event::Wire(_), .. }) = seen {
            panic!("no records of wires");
        }
    });
    let setting = Setting::to(recorder, Meter::new(), Signatures::Fast);
    let ended = simulate(&Arc::new(plan(&[])), &setting);
    let Err(SimulationError::Panicked(why)) = ended else { panic!("{ended:?}") };
    assert!(why.starts_with("panicked at src/sim/tests.rs:") && why.ends_with(": no records of wires"), "{why}");
}
