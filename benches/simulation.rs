//! How many simulated requests one CPU second carries, and how many small seeds: whole runs without sockets and without
//! waiting, judged from their histories as they go (single runs) or from what was kept (seeds), with fast signatures and
//! with real ones.
//!
//! With real signatures, and nearly every request carrying a proof of its own, the bar is 70 % of what one core signs and
//! verifies without doing anything else. With fast ones it is 40,000 requests, or 600 seeds of 2 Agents and 6 operations under faults, with fast signatures; and a thousand
//! seeds of 20 Agents and 200 operations in a minute on two cores. A million operations may cost 1.2 times as much each as
//! ten thousand do. An hour of 100,000 Agents, each thinking five minutes, may take five minutes and 4 GiB.
//!
//! A request is whatever a party of the run answered: those of the Personal Agents and those of the Companies to their
//! backends. Not a Criterion bench: CPU time of the whole process counts, so that other work on the machine does not.

#![expect(clippy::print_stdout, reason = "a bench prints")]

use std::{num::NonZeroUsize, path::Path, sync::Arc};

use poppyfield::{
    checker::Options,
    identity::{Signatures, SigningKey},
    plan::Plan,
    scenario::{self, Overrides},
    sim::{
        JudgedRun,
        explore::{Search, Watch, explore},
    },
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
    // The same of so many small seeds, one after the other.
    if let Some(seeds) = std::env::var("SEEDS").ok().and_then(|text| text.parse().ok()) {
        println!("{:.0} seeds per CPU second", seeds_per_second(&small(), seeds, NonZeroUsize::MIN));
        return;
    }
    if std::env::var_os("HOUR").is_some() {
        return hour();
    }
    let mut rows: [Vec<Run>; 4] = Default::default();
    let mut pairs = Vec::new();
    for _ in 0..ROUNDS {
        rows[0].push(simulate(Signatures::Fast, 20_000));
        rows[1].push(simulate(Signatures::Fast, 1_000));
        rows[2].push(simulate(Signatures::Real, 2_000));
        rows[3].push(run(load("simulation-signed"), Signatures::Real));
        pairs.push(pairs_per_second());
    }
    println!("simulated requests per CPU second, median of {ROUNDS} rounds");
    let names = ["fast, 20,000 operations", "fast, 1,000 operations", "real, 2,000 operations", "real, all signed"];
    let mut signed = 0.0;
    for (what, runs) in names.iter().zip(rows) {
        let requests = runs[0].requests;
        signed = median(runs.iter().map(Run::per_second).collect());
        println!("  {what:24} {signed:8.0}  ({requests} requests, {:.1} us each)", 1e6 / signed);
    }
    let pairs = median(pairs);
    println!("  one signature and its verification alone: {pairs:.0}");
    println!("  all signed: {:.0} % of that  (the bar is 70)", 100.0 * signed / pairs);
    let [few, many] = [10_000, 1_000_000].map(|operations| {
        let run = simulate(Signatures::Fast, operations);
        run.seconds * 1e6 / operations as f64
    });
    println!("CPU of one operation, in microseconds");
    println!("  of 10,000 {few:.0}, of 1,000,000 {many:.0}: {:.2} times  (the bar is 1.2)", many / few);
    let workers = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    println!("seeds per CPU second, median of {ROUNDS} rounds");
    for (what, plan, seeds) in
        [("2 Agents, 6 operations", small(), 2_000), ("20 Agents, 200 operations", middling(), 100)]
    {
        let figure = median((0..ROUNDS).map(|_| seeds_per_second(&plan, seeds, workers)).collect());
        println!("  {what:26} {figure:6.0}  ({seeds} seeds, {:.2} ms each)", 1e3 / figure);
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// How often one core signs and verifies in a second, as a proof is, and does nothing else.
fn pairs_per_second() -> f64 {
    const PAIRS: u32 = 4_000;
    let key = SigningKey::from_scalar(&[7; 32]).expect("a scalar");
    let message = [0x41; 400];
    let before = Usage::now().expect("the system tells CPU times");
    for _ in 0..PAIRS {
        let signature = key.sign(std::hint::black_box(&message)).expect("it signs");
        assert!(key.public().verifies(std::hint::black_box(&message), signature.as_ref()));
    }
    f64::from(PAIRS) / Usage::now().expect("the system tells CPU times").cpu_since(&before).as_secs_f64()
}

/// An hour of 100,000 Agents.
#[expect(clippy::disallowed_methods, reason = "a bench measures the machine's time")]
fn hour() {
    let plan = Arc::new(load("simulation-hour"));
    let began = std::time::Instant::now();
    let run = JudgedRun::of(&plan, Signatures::Fast, Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let (elapsed, usage) = (began.elapsed(), Usage::now().expect("the system tells CPU times"));
    assert!(run.judgement.findings.is_empty(), "{}", run.judgement.findings[0]);
    let gib = usage.memory_bytes_max as f64 / f64::from(1 << 30);
    println!(
        "an hour of 100,000 Agents: {} operations in {} requests",
        run.judgement.counts.operations, run.simulated.requests
    );
    println!("  {:.0} s, {:.2} GiB at the most  (the bars are 300 and 4)", elapsed.as_secs_f64(), gib);
}

/// A small seed with faults of all kinds.
fn small() -> Plan {
    load("exploration")
}

/// Twenty Agents, two hundred operations.
fn middling() -> Plan {
    load("exploration-200")
}

fn load(name: &str) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("benches/{name}.yaml"));
    scenario::load(&path, &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"))
}

fn seeds_per_second(plan: &Plan, seeds: u64, workers: NonZeroUsize) -> f64 {
    let search = Search {
        first: Vec::new(),
        seed: 1,
        seeds: Some(seeds),
        workers,
        signatures: Signatures::Fast,
        fail_fast: false,
        twice: false,
    };
    let before = Usage::now().expect("the system tells CPU times");
    let explored = explore(plan, &search, &Watch::default(), &mut |trial| {
        assert!(!trial.fails(), "{}: {:?} {:?}", trial.of, trial.trouble, trial.found);
    });
    assert_eq!(explored.seeds, seeds);
    seeds as f64 / Usage::now().expect("the system tells CPU times").cpu_since(&before).as_secs_f64()
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
    let mut plan = load("simulation");
    plan.load[0].operations = Some(operations);
    run(plan, signatures)
}

/// A run whose journeys propose one operation each.
fn run(plan: Plan, signatures: Signatures) -> Run {
    let plan = Arc::new(plan);
    let before = Usage::now().expect("the system tells CPU times");
    let run = JudgedRun::of(&plan, signatures, Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let seconds = Usage::now().expect("the system tells CPU times").cpu_since(&before).as_secs_f64();
    assert!(run.judgement.findings.is_empty(), "{}", run.judgement.findings[0]);
    assert_eq!(Some(run.judgement.counts.operations), plan.load[0].operations, "as many as there are journeys");
    Run { requests: run.simulated.requests, seconds }
}
