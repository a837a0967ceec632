//! The wall clock as journeys move it: proposals expire, tokens run out and are renewed, and nobody is accused of it.

use std::{fs, path::Path, process::Command, sync::Arc};

use poppyfield::{
    checker::Options,
    history::{
        Event,
        record::{Outcome, Purpose, State},
    },
    identity::Signatures,
    plan::Plan,
    scenario::{self, Overrides},
    sim::Outcome as Run,
};

/// Clothes and subscriptions; some Users are away for a month before they confirm, or while the work goes on.
const SCENARIO: &str = "\
scenario: later
companies:
  shop: { profile: clothes, count: 2, answers: { answer_within: 50ms } }
  service: { profile: subscriptions, sessions: { dpop-0.2: { nonce_every: 5m, token_lifetime: 1h } } }
agents: { users: 12, request_timeout: 800ms, retry: { first: 100ms, longest: 1s } }
journeys:
  exchange: { weight: 6, steps: [propose: { at: shop, action: exchange }, ask-user, confirm, track] }
  change-plan: { weight: 6, steps: [propose: { at: service, action: change-plan }, ask-user, confirm, track] }
  away: { weight: 1, steps: [propose: { at: shop, action: exchange }, ask-user, later: 30d, confirm, track] }
  away-meanwhile: { weight: 1, steps: [propose: { at: shop, action: exchange }, ask-user, confirm, later: 2h, track] }
load:
  - closed: { agents: 12, think: { uniform: { from: 10ms, to: 500ms } }, operations: 80 }
faults:
  - { do: lose-answer, on: [confirm, read, token], chance: 10% }
  - { do: { duplicate: { after: { uniform: { from: 0ms, to: 200ms } } } }, on: [confirm, token], chance: 20% }
  - { do: { delay: { uniform: { from: 0ms, to: 400ms } } }, chance: 20% }
settle: 30s
";

/// A folder with the scenario and the profiles that it names.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let profiles = folder.path().join("sim-companies");
    for sub in [folder.path().join("scenarios"), profiles.clone()] {
        fs::create_dir(sub).expect("a folder");
    }
    for profile in ["clothes.yaml", "subscriptions.yaml"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("sim-companies").join(profile);
        fs::copy(from, profiles.join(profile)).expect("the profile can be copied");
    }
    fs::write(folder.path().join("scenarios/later.yaml"), SCENARIO).expect("the scenario can be written");
    folder
}

fn plan(seed: u64) -> Plan {
    let folder = folder();
    let path = folder.path().join("scenarios/later.yaml");
    let overrides = Overrides { seed: Some(seed), ..Overrides::default() };
    scenario::load(&path, &overrides).unwrap_or_else(|problems| panic!("{problems}"))
}

fn run(seed: u64) -> Run {
    Run::of(&Arc::new(plan(seed)), Signatures::Fast).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn nobody_is_accused_of_what_the_clock_did() {
    let (mut expired, mut succeeded, mut renewals, mut moves) = (0, 0, 0, 0);
    for seed in 1..=12 {
        let run = run(seed);
        let judgement = run.judge(Options::default());
        let told = judgement.findings.iter().take(2).map(ToString::to_string).collect::<Vec<_>>().join("\n");
        assert!(judgement.findings.is_empty(), "seed {seed}:\n{told}");
        assert!(judgement.incomplete.is_empty(), "seed {seed}: {:?}", judgement.incomplete);
        let mut tokens = std::collections::BTreeMap::new();
        for record in &run.history {
            match &record.event {
                Event::Clock(_) => moves += 1,
                Event::Call(call) if call.purpose == Purpose::Token && call.session.is_some() => {
                    tokens.insert(call.id.clone(), ());
                }
                Event::Return(end) if end.outcome == Outcome::Done && tokens.contains_key(&end.call) => renewals += 1,
                Event::Return(end) => match end.view.as_ref().map(|view| view.state) {
                    Some(State::Expired) => expired += 1,
                    Some(State::Succeeded) => succeeded += 1,
                    _ => {}
                },
                _ => {}
            }
        }
    }
    assert!(
        moves > 40 && expired > 20 && renewals > 100 && succeeded > 400,
        "{moves} {expired} {renewals} {succeeded}"
    );
}

/// The records are what clears them: without these the same history accuses the Companies of expiring too early.
#[test]
fn the_history_tells_that_the_clock_was_moved() {
    let run = run(3);
    let judged = |keep: &dyn Fn(&Event) -> bool| {
        let mut checker = poppyfield::checker::Checker::new(Options::default());
        run.history.iter().filter(|record| keep(&record.event)).for_each(|record| checker.event(record));
        run.ledger.iter().for_each(|record| checker.ledger(record));
        checker.judge().counts_by_anomaly().into_keys().map(|anomaly| anomaly.name()).collect::<Vec<_>>()
    };
    assert_eq!(judged(&|_| true), Vec::<&str>::new());
    assert!(judged(&|event| !matches!(event, Event::Clock(_))).contains(&"premature-expiry"));
}

/// Over sockets, in the machine's own time.
#[test]
fn the_clock_moves_in_the_real_world_too() {
    let folder = folder();
    let mut command = Command::new(env!("CARGO_BIN_EXE_poppyfield"));
    command.env_remove("RUST_LOG").arg("run").arg(folder.path().join("scenarios/later.yaml"));
    let output = command.arg("--out").arg(folder.path().join("out")).output().expect("the program runs");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("expired"), "{told}");
    // A machine that is too busy to keep the schedule proves nothing either way.
    assert!(matches!(output.status.code(), Some(0 | 4)), "{told}");
}

/// Latencies are of the other clock: a month makes no run longer.
#[test]
fn waits_stay_what_they_are() {
    let run = run(1);
    assert!(run.simulated.ran.ended.as_nanos() < 120_000_000_000, "{:?}", run.simulated.ran.ended);
    assert_eq!(run.digest().expect("serialises"), self::run(1).digest().expect("serialises"));
}
