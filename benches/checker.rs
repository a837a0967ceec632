//! How fast a recorded run is judged: a million events from the files of a run's folder, read, parsed and judged.
//!
//! The history is made once: operations of two steps over several Companies, some with a lost answer and a retry, every
//! observation recorded. Throughput is in events (records of history and ledger) per second of one thread; on a machine
//! that others use, the events per CPU second are the ones to look at.

#![allow(missing_docs, clippy::print_stdout, reason = "a bench prints")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use poppyfield::checker::{Checker, Judgement, Options};
use poppyfield::history::record::*;
use poppyfield::history::{Recorder, open_folder};
use smol_str::{SmolStr, format_smolstr};

#[global_allocator] // as the program has it
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const EVENTS: u64 = 1_000_000;
const STEPS: [&str; 2] = ["take-back", "ship"];

struct Run {
    recorder: Recorder,
    at: u64,
    events: u64,
    calls: u64,
}

impl Run {
    fn record(&mut self, event: Event) {
        self.at += 1_000;
        self.events += 1;
        let at = self.at;
        self.recorder.record(|| at, event);
    }

    fn enter(&mut self, entry: LedgerEntry) {
        self.at += 1_000;
        self.events += 1;
        let at = self.at;
        self.recorder.ledger().enter(|| at, entry);
    }

    fn call(&mut self, purpose: Purpose, number: u64, action: &SmolStr) -> SmolStr {
        self.calls += 1;
        let id = format_smolstr!("c{}", self.calls);
        let (propose, confirm) = (purpose == Purpose::Propose, purpose == Purpose::Confirm);
        self.record(Event::Call(Call {
            id: id.clone(),
            process: format_smolstr!("a{}/1", number % 200),
            session: Some(format_smolstr!("ses_{}", number % 200)),
            purpose,
            company: Some("clothes-1".into()),
            intent: propose.then(|| format_smolstr!("i{number}")),
            kind: propose.then(|| "exchange".into()),
            action: (!propose).then(|| action.clone()),
            revision: confirm.then_some(1),
            approved_by: confirm.then_some(ApprovedBy::User),
            proof: Some(format_smolstr!("9b1deb4d-3b7d-4bad-9bdd-{:012}", self.calls)),
            due: None,
        }));
        id
    }

    fn answer(&mut self, call: SmolStr, view: Option<View>) {
        let outcome = if view.is_some() { Outcome::View } else { Outcome::Unknown };
        let why = view.is_none().then(|| "timeout".into());
        let status = view.is_some().then_some(200);
        self.record(Event::Return(Return { call, outcome, status, why, view, session: None, retry_after_ms: None }));
    }

    fn wire(&mut self, call: &SmolStr, is: WireIs) {
        let status = (is == WireIs::Answered).then_some(200);
        self.record(Event::Wire(Wire { call: call.clone(), copy: 1, is, status, cut: None, incarnation: Some(1) }));
    }

    fn step(&mut self, action: &SmolStr, step: &str, receipt: SmolStr, terms: &SmolStr) {
        let key = format_smolstr!("{action}/{step}");
        let attempt = |is, learnt| Attempt { action: action.clone(), step: step.into(), key: key.clone(), is, learnt };
        self.record(Event::Attempt(attempt(AttemptIs::Sent, None)));
        self.enter(LedgerEntry::Effect(Effect {
            id: receipt.clone(),
            action: action.clone(),
            revision: 1,
            terms: terms.clone(),
            step: step.into(),
            key: key.clone(),
            receipt,
            undo_of: None,
        }));
        let (arrived, acted, answered, delivered) = (self.at, true, true, true);
        let (action, step) = (action.clone(), step.into());
        let request = BackendRequest { action, step, key: key.clone(), arrived, acted, answered, delivered };
        self.record(Event::Attempt(attempt(AttemptIs::Answered, Some(Learnt::Done))));
        self.enter(LedgerEntry::Request(request));
    }

    fn approval(&mut self, is: ApprovalIs, user: SmolStr, action: &SmolStr, terms: &SmolStr) {
        let (action, terms) = (Some(action.clone()), Some(terms.clone()));
        self.record(Event::Approval(Approval { is, user, action, revision: Some(1), terms, text: None, bounds: None }));
    }

    fn operation(&mut self, number: u64) {
        let action = format_smolstr!("clothes-1/operation/exc_{number:08}");
        let terms = format_smolstr!("{:04x}", number % 50);
        let user = format_smolstr!("u{}", number % 200);
        let mut view = View {
            action: action.clone(),
            state: State::Proposed,
            revision: 1,
            terms: terms.clone(),
            expires_at: Some("2026-01-01T01:00:00.000Z".into()),
            user_approval_required: false,
            confirmation: None,
            result: None,
        };
        let call = self.call(Purpose::Propose, number, &action);
        self.wire(&call, WireIs::Arrived);
        let expires_at = "2026-01-01T01:00:00.000Z".into();
        self.record(Event::Offer(Offer { action: action.clone(), revision: 1, terms: terms.clone(), expires_at }));
        self.wire(&call, WireIs::Answered);
        self.answer(call, Some(view.clone()));
        self.approval(ApprovalIs::Shown, user.clone(), &action, &terms);
        self.approval(ApprovalIs::Approved, user.clone(), &action, &terms);
        let call = self.call(Purpose::Confirm, number, &action);
        self.wire(&call, WireIs::Arrived);
        let receipts = STEPS.map(|step| format_smolstr!("rtn_{step}_{number:08x}"));
        for (step, receipt) in STEPS.into_iter().zip(&receipts) {
            self.step(&action, step, receipt.clone(), &terms);
        }
        view.state = State::Succeeded;
        view.confirmation = Some(Confirmation {
            revision: 1,
            approved_by: ApprovedBy::User,
            confirmed_at: "2026-01-01T00:00:05.021Z".into(),
        });
        view.result = Some(format!("Exchange placed. Receipts {} and {}.", receipts[0], receipts[1]));
        self.wire(&call, WireIs::Answered);
        if number.is_multiple_of(8) {
            self.answer(call, None);
            let call = self.call(Purpose::Confirm, number, &action);
            self.answer(call, Some(view));
        } else {
            self.answer(call, Some(view));
        }
        self.approval(ApprovalIs::Told, user, &action, &terms);
    }
}

/// Writes the run; the number of its events.
fn write(folder: &Path) -> u64 {
    let recorder = Recorder::to_folder(folder).expect("the folder is writable");
    let mut run = Run { recorder, at: 0, events: 0, calls: 0 };
    use Observation::{Approvals, Attempts, Calls, Ledger, Offers, Sessions, Wire};
    run.record(Event::Run(poppyfield::history::record::Run {
        format: FORMAT,
        seed: 7,
        world: WorldKind::Real,
        epoch: "2026-01-01T00:00:00Z".to_owned(),
        order: Order::Total,
        observes: vec![Calls, Wire, Attempts, Approvals, Offers, Ledger, Sessions],
        clock_error_ms: 0,
    }));
    let shape = ActionShape { steps: STEPS.map(SmolStr::from).to_vec(), phrases: BTreeMap::new() };
    let actions = [(SmolStr::from("exchange"), shape)].into();
    run.record(Event::Company(Company { name: "clothes-1".into(), actions }));
    for number in 0..200 {
        run.record(Event::Session(Session {
            id: format_smolstr!("ses_{number}"),
            company: "clothes-1".into(),
            operator: "operator-1".into(),
            user: format_smolstr!("u{number}"),
            extensions: vec!["operations".into()],
        }));
    }
    for number in 0.. {
        run.operation(number);
        if run.events >= EVENTS {
            break;
        }
    }
    run.record(Event::Phase(Phase { is: PhaseIs::Settled, open: 0 }));
    run.recorder.finish().expect("written");
    run.events
}

fn read_and_judge(folder: &Path) -> Judgement {
    let checker = RefCell::new(Checker::new(Options::default()));
    let files = open_folder(folder).expect("opens");
    files.read(|record| checker.borrow_mut().event(record), |entry| checker.borrow_mut().ledger(entry)).expect("reads");
    checker.into_inner().judge()
}

/// CPU time of this process, user and system, in seconds (Linux; its clock ticks are hundredths there).
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the name in parentheses; `utime` and `stime` are the 14th and 15th.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / 100.0)
}

/// Prints events per CPU second, the median of some rounds, and the highest memory use until then.
fn print_cpu(folder: &Path, events: u64) {
    let seconds = || {
        let before = cpu_seconds()?;
        black_box(read_and_judge(folder));
        Some(cpu_seconds()? - before)
    };
    let Some(mut rounds) = (0..5).map(|_| seconds()).collect::<Option<Vec<f64>>>() else { return };
    rounds.sort_by(f64::total_cmp);
    let millions = events as f64 / 1e6 / rounds[rounds.len() / 2];
    println!("checker: {millions:.2} million events per CPU second, read from the files and judged");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(peak) = status.lines().find_map(|line| line.strip_prefix("VmHWM:")) {
        println!("checker: highest memory use {}", peak.trim());
    }
}

fn checker(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let events = write(folder.path());
    let judgement = read_and_judge(folder.path());
    assert!(judgement.findings.is_empty() && judgement.incomplete.is_empty(), "{:#?}", judgement.findings.first());
    print_cpu(folder.path(), events);
    let mut group = criterion.benchmark_group("checker");
    group.warm_up_time(Duration::from_secs(1));
    group.sample_size(10).sampling_mode(SamplingMode::Flat).throughput(Throughput::Elements(events));
    group.bench_function("read", |bencher| {
        bencher.iter(|| {
            let files = open_folder(folder.path()).expect("opens");
            let mut last = 0;
            files.read(|record| last = record.seq, |_| ()).expect("reads");
            black_box(last)
        });
    });
    group.bench_function("read-and-judge", |bencher| bencher.iter(|| read_and_judge(folder.path())));
    group.finish();
}

criterion_group!(benches, checker);
criterion_main!(benches);
