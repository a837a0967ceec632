//! How many simulated requests one CPU second carries: a whole run without sockets and without waiting, its history kept in
//! memory and judged, with fast signatures and with real ones.
//!
//! The bar is 40,000 with fast signatures. A request is whatever a party of the run answered: those of the Personal Agents
//! and those of the Companies to their backends. Not a Criterion bench: CPU time of the whole process counts, so that other
//! work on the machine does not.

#![expect(clippy::print_stdout, reason = "a bench prints")]

use std::{path::Path, sync::Arc};

use poppyfield::{
    checker::Options,
    identity::Signatures,
    scenario::{self, Overrides},
    sim::Outcome,
    swarm::Usage,
};

#[global_allocator] // as the program has it
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often each figure is taken, in turn; the median counts.
const ROUNDS: usize = 5;

fn main() {
    // `cargo test --benches` and `cargo bench --no-run` only want to know that it builds and starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    // For a profiler: one run of so many operations, and nothing else.
    if let Some(operations) = std::env::var("OPERATIONS").ok().and_then(|text| text.parse().ok()) {
        let run = simulate(Signatures::Fast, operations);
        println!("{} requests, {:.0} per CPU second", run.requests, run.per_second());
        return;
    }
    let mut rows: [Vec<Run>; 3] = Default::default();
    for _ in 0..ROUNDS {
        rows[0].push(simulate(Signatures::Fast, 20_000));
        rows[1].push(simulate(Signatures::Fast, 1_000));
        rows[2].push(simulate(Signatures::Real, 2_000));
    }
    println!("simulated requests per CPU second, median of {ROUNDS} rounds");
    for (what, runs) in ["fast, 20,000 operations", "fast, 1,000 operations", "real, 2,000 operations"].iter().zip(rows)
    {
        let requests = runs[0].requests;
        let mut figures: Vec<f64> = runs.iter().map(Run::per_second).collect();
        figures.sort_by(f64::total_cmp);
        let median = figures[figures.len() / 2];
        println!("  {what:24} {median:8.0}  ({requests} requests, {:.1} us each)", 1e6 / median);
    }
}

/// One run, judged.
struct Run {
    requests: u64,
    seconds: f64,
}

impl Run {
    fn per_second(&self) -> f64 {
        self.requests as f64 / self.seconds
    }
}

fn simulate(signatures: Signatures, operations: u64) -> Run {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/simulation.yaml");
    let mut plan = scenario::load(&path, &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"));
    plan.load[0].operations = Some(operations);
    let plan = Arc::new(plan);
    let before = Usage::now().expect("the system tells CPU times");
    let outcome = Outcome::of(&plan, signatures).unwrap_or_else(|error| panic!("{error}"));
    let judgement = outcome.judge(Options::default());
    let seconds = Usage::now().expect("the system tells CPU times").cpu_since(&before).as_secs_f64();
    assert!(judgement.findings.is_empty(), "{}", judgement.findings[0]);
    assert_eq!(judgement.counts.operations, operations, "each journey proposed one operation");
    Run { requests: outcome.simulated.requests, seconds }
}
