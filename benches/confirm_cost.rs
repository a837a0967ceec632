//! What one signed confirm costs in CPU time, Agent and Company in one process with history and histograms on, against
//! the sum of its parts measured in the same minute: one ES256 signature, one verification and one bare exchange of the
//! same size between a hyper client and an axum server on loopback.
//!
//! The bar is at most twice the sum of the parts. Not a Criterion bench: CPU time of a whole process is what counts here,
//! so that waiting, and other work on the machine, do not.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a bench measures from outside the world, and prints"
)]

use std::{
    net::{IpAddr, Ipv4Addr},
    path::Path,
    sync::Arc,
    time::Duration,
};

use axum::{Router, routing::post};
use bytes::Bytes;
use jiff::Timestamp;
use poppyfield::{
    fault::Faults,
    history::{Recorder, record::Purpose},
    identity::SigningKey,
    measure::{Meter, counter},
    plan::{JourneyStep, Plan},
    scenario::{self, Overrides},
    swarm::{self, Control, Ground, Usage},
    world::{About, Answer, Clock, Field, FieldOptions, Host, Lane, Party, PartyKind},
};

#[global_allocator] // as the program has it
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often each figure is taken, in turn; the median counts.
const ROUNDS: usize = 5;

/// Signatures, verifications and exchanges of one round.
const PARTS: u32 = 4_000;

fn main() {
    // `cargo test --benches` and `cargo bench --no-run` only want to know that it builds and starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let mut rows: [Vec<f64>; 5] = Default::default();
    for _ in 0..ROUNDS {
        let (whole, reads) = journeys(true);
        let (proposal, _) = journeys(false);
        // Some Agents look before they confirm: a read is counted as a confirm, which costs no less.
        let confirm = (whole - proposal) / (1.0 + reads);
        for (row, value) in rows.iter_mut().zip([sign(), verify(), exchange(), backend_step(), confirm]) {
            row.push(value);
        }
    }
    let [sign, verify, exchange, step, confirm] = rows.map(median);
    let parts = sign + verify + exchange + step;
    println!("CPU time, median of {ROUNDS} rounds, in microseconds");
    println!("  one ES256 signature               {sign:8.1}");
    println!("  one ES256 verification            {verify:8.1}");
    println!("  one bare exchange on loopback     {exchange:8.1}");
    println!("  one exchange with the backend     {step:8.1}");
    println!("  sum of the parts                  {parts:8.1}");
    println!("  one signed confirm                {confirm:8.1}");
    println!("  confirm / parts                   {:8.2}  (the bar is 2)", confirm / parts);
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn cpu() -> Duration {
    Usage::now().expect("the system tells CPU times").cpu
}

/// Microseconds of CPU time for each of `count` repetitions of what `work` did.
fn per_piece(count: u32, work: impl FnOnce()) -> f64 {
    let before = cpu();
    work();
    (cpu() - before).as_secs_f64() * 1e6 / f64::from(count)
}

fn sign() -> f64 {
    let key = SigningKey::from_scalar(&[7; 32]).expect("a scalar");
    let message = [0x41; 400];
    per_piece(PARTS * 4, || {
        for _ in 0..PARTS * 4 {
            std::hint::black_box(key.sign(std::hint::black_box(&message)).expect("it signs"));
        }
    })
}

fn verify() -> f64 {
    let key = SigningKey::from_scalar(&[7; 32]).expect("a scalar");
    let message = [0x41; 400];
    let signature = key.sign(&message).expect("it signs");
    per_piece(PARTS, || {
        for _ in 0..PARTS {
            assert!(key.public().verifies(std::hint::black_box(&message), signature.as_ref()));
        }
    })
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime")
}

fn lane() -> Lane {
    Lane::Sockets { bind: IpAddr::V4(Ipv4Addr::LOCALHOST), authority: None }
}

/// A field with one party that answers any body with one of a confirm's size.
async fn bare_field(direct: bool) -> Arc<Field> {
    let field = Field::new(FieldOptions {
        seed: 1,
        clock: Clock::real(),
        epoch: Timestamp::UNIX_EPOCH,
        recorder: Recorder::in_memory(),
        faults: Faults::new(1, vec![], []),
        lane: lane(),
    })
    .expect("a field");
    let host = Host {
        party: Party::new(PartyKind::Company, "bare-1"),
        names: vec!["bare-1.example".into()],
        direct,
        port: 0,
        make: Box::new(|_| Router::new().route("/", post(|_: Bytes| async { "x".repeat(700) }))),
    };
    field.open(host).await.expect("a party");
    field
}

async fn exchanges(field: &Arc<Field>, count: u32) {
    let agents: Vec<_> = (0..32)
        .map(|number| {
            let world = field.world(Party::new(PartyKind::Agent, format!("a{number}")));
            tokio::spawn(async move {
                for _ in 0..count / 32 {
                    let request = http::Request::post("https://bare-1.example/")
                        .header("dpop", "x".repeat(530))
                        .header("authorization", "DPoP 0123456789012345678901234567890123456789")
                        .body(Bytes::from_static(br#"{"revision":1,"approved_by":"user"}"#))
                        .expect("a request");
                    let about = About {
                        purpose: Purpose::Confirm,
                        call: None,
                        key: "k".into(),
                        attempt: 0,
                        action: None,
                        step: None,
                        deadline: world.now() + Duration::from_secs(10),
                    };
                    let reply = world.call(request, about).await;
                    assert!(matches!(reply.answer, Answer::Response(_)), "{:?}", reply.answer);
                }
            })
        })
        .collect();
    for agent in agents {
        agent.await.expect("an Agent ends");
    }
}

fn exchange() -> f64 {
    runtime().block_on(async {
        let field = bare_field(false).await;
        exchanges(&field, 320).await;
        let before = cpu();
        exchanges(&field, PARTS * 4).await;
        let took = (cpu() - before).as_secs_f64() * 1e6 / f64::from(PARTS * 4);
        field.close().await;
        took
    })
}

/// What one step costs by itself: a request straight into a router and its answer.
fn backend_step() -> f64 {
    runtime().block_on(async {
        let field = bare_field(true).await;
        let before = cpu();
        exchanges(&field, PARTS * 4).await;
        let took = (cpu() - before).as_secs_f64() * 1e6 / f64::from(PARTS * 4);
        field.close().await;
        took
    })
}

/// Microseconds of CPU time of one journey, a proposal and, if `confirms`, the confirm of it; and its number of reads.
fn journeys(confirms: bool) -> (f64, f64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/confirm-cost.yaml");
    let mut plan: Plan = scenario::load(&path, &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"));
    if !confirms {
        for journey in &mut plan.journeys {
            journey.steps.retain(|step| matches!(step, JourneyStep::Propose { .. }));
        }
    }
    let folder = tempfile::TempDir::new().expect("a folder");
    let recorder = Recorder::to_folder(folder.path()).expect("a history");
    let meter = Meter::new();
    let before = cpu();
    runtime().block_on(async {
        let ground = Ground {
            recorder: recorder.clone(),
            lane: lane(),
            clock: Clock::real(),
            epoch: Timestamp::UNIX_EPOCH,
            first_port: None,
            may_load: Default::default(),
        };
        let field = swarm::set_up(&plan, ground).await.expect("the parties");
        swarm::run(&Arc::new(plan), &field, &meter, &Control::default()).await.expect("the Agents have keys");
    });
    recorder.finish().expect("the history is written");
    let counts = meter.counts();
    let confirmed = counts.counter(counter::CONFIRMS);
    assert!(!confirms || confirmed == counts.arrivals, "{confirmed} of {} were confirmed", counts.arrivals);
    let reads = counts.steps.get(&Purpose::Read).map_or(0, |step| step.calls());
    let each = |sum: f64| sum / counts.arrivals as f64;
    (each((cpu() - before).as_secs_f64() * 1e6), each(reads as f64))
}
