//! Fast signatures change what a run costs, and nothing of what happens in it.

use std::path::Path;

use poppyfield::{
    history::Record,
    identity::Signatures,
    plan::Plan,
    scenario::{self, Overrides},
};

use crate::rehearsal::rehearse_with;

fn shipped(scenario: &str, seed: u64) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(format!("{scenario}.yaml"));
    let overrides = Overrides { seed: Some(seed), ..Overrides::default() };
    let mut plan = scenario::load(&path, &overrides).unwrap_or_else(|problems| panic!("{problems}"));
    for load in &mut plan.load {
        load.operations = Some(40);
    }
    plan
}

fn lines(history: &[Record]) -> Vec<String> {
    history.iter().map(|record| serde_json::to_string(record).expect("a record is JSON")).collect()
}

#[test]
fn a_seed_gives_the_same_history_with_real_and_with_fast_signatures() {
    for scenario in ["quickstart", "timeout-recovery", "revision-race", "signed-in"] {
        let [real, fast] = [Signatures::Real, Signatures::Fast].map(|kind| rehearse_with(shipped(scenario, 7), kind));
        assert!(real.counts.arrivals > 0 && real.history.len() > 100, "{scenario} ran");
        let (real, fast) = (lines(&real.history), lines(&fast.history));
        for (one, other) in real.iter().zip(&fast) {
            assert_eq!(one, other, "{scenario}");
        }
        assert_eq!(real.len(), fast.len(), "{scenario}");
    }
}
