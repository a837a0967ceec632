//! `poppyfield sim --seeds N`: many seeds of one scenario, judged together.

mod fill;

use std::{
    num::NonZeroUsize,
    sync::Arc,
    time::{Duration, Instant},
};

use indicatif::ProgressBar;

use super::{
    Console, ExploreArgs, Failure, Format, Keep, ScenarioArgs, SignatureKind, Switch,
    folder::{RunFolder, SCENARIO_FILE},
    progress, run, shrink, signals,
};
use crate::{
    plan::Plan,
    report::{
        ExitStatus,
        exploration::{self, Exploration, FAILURES_MAX, FailureRow},
    },
    scenario,
    sim::{
        crash_points::{self, Spot},
        explore::{self, Explored, Search, Trial, TrialOf, Watch},
    },
    swarm::Usage,
};

/// What is done after the first signal.
const ENDING: &str = "telling what was found until now";

/// How a scenario is explored.
pub(super) struct Exploring<'a> {
    pub(super) args: &'a ScenarioArgs,
    pub(super) explore: &'a ExploreArgs,
    pub(super) signatures: SignatureKind,
    /// What is kept of the lowest failing trial, if it is to be shrunk.
    pub(super) shrink: Option<Keep>,
    /// The crash that every seed has.
    pub(super) crash_at: Option<&'a Spot>,
}

impl Exploring<'_> {
    /// The command that runs a trial again.
    fn replay(&self, of: &TrialOf, first_seed: u64) -> String {
        let (seed, crash) = match of {
            TrialOf::Seed(seed) => (*seed, self.crash_at),
            TrialOf::Crash(spot) => (first_seed, Some(spot)),
        };
        let crash_at = crash.map(|spot| format!(" --crash-at {spot}")).unwrap_or_default();
        run::repeat_of("sim", self.args, &format!("{}{crash_at}", self.signatures.option()), seed)
    }
}

/// What an exploration showed, and took.
struct Searched {
    explored: Explored,
    failures: Vec<FailureRow>,
    /// The first trial with a finding that fails it, and its plan.
    first: Option<Plan>,
    wall: Duration,
    cpu: Option<Duration>,
    workers: usize,
}

pub(super) fn explore(plan: &Plan, exploring: &Exploring<'_>, console: &Console) -> Result<ExitStatus, Failure> {
    let Exploring { args, .. } = exploring;
    let started = run::now();
    let folder = RunFolder::make(&args.out, &plan.name, started, plan.seed)?;
    let written = folder.write(SCENARIO_FILE, &scenario::resolved_yaml(plan));
    let searched = match written.and_then(|()| search(plan, exploring, console)) {
        Ok(searched) => searched,
        Err(failure) => {
            folder.discard();
            return Err(failure);
        }
    };
    let to_shrink = exploring.shrink.map(|keep| (keep, to_shrink(plan, keep, &searched)));
    let exploration = fill::exploration(plan, exploring, started, &folder, searched).concluded();
    let written = folder.write_exploration(&exploration);
    if !args.quiet {
        console.result(&print(&exploration, args.format, console));
    }
    let status = ExitStatus::from_code(exploration.verdict.exit_status).unwrap_or(ExitStatus::Stopped);
    match written {
        // As in a single run, what was found outweighs what could not be written.
        Err(failure) if status == ExitStatus::Violated => console.note(&failure.to_string()),
        written => written?,
    }
    let shrunk = match to_shrink {
        Some((keep, Some(plan))) => shrink::shrunk(&Arc::new(plan), keep, &folder, console, args.quiet),
        Some((keep, None)) => Some(shrink::nothing(keep)),
        None => None,
    };
    if !args.quiet {
        shrink::tell(shrunk, args.format, console);
    }
    Ok(status)
}

/// The plan of the lowest trial that shows what is to be kept, be it as a consequence of something else.
fn to_shrink(plan: &Plan, keep: Keep, searched: &Searched) -> Option<Plan> {
    match keep {
        Keep::Gravest => searched.first.clone(),
        Keep::This(anomaly) => plan_of(plan, &searched.explored.shown.get(&anomaly)?.first),
    }
}

/// The plan that a trial ran.
fn plan_of(plan: &Plan, of: &TrialOf) -> Option<Plan> {
    match of {
        TrialOf::Seed(seed) => Some(Plan { seed: *seed, ..plan.clone() }),
        TrialOf::Crash(spot) => {
            crash_points::at(plan, spot.clone()).ok().map(|variant| Arc::unwrap_or_clone(variant.plan))
        }
    }
}

/// Explores in threads of its own, while this one watches for signals and the time, and shows how far it is.
fn search(plan: &Plan, exploring: &Exploring<'_>, console: &Console) -> Result<Searched, Failure> {
    let ExploreArgs { seeds, budget, fail_fast, twice, crashes, jobs } = exploring.explore;
    let quiet = exploring.args.quiet;
    let workers = workers(*jobs);
    let mut search = Search {
        first: Vec::new(),
        seed: plan.seed,
        seeds: *seeds,
        workers,
        signatures: exploring.signatures.signatures(),
        fail_fast: *fail_fast,
        twice: *twice,
    };
    let watch = Watch::default();
    let before = Usage::now();
    #[expect(clippy::disallowed_methods, reason = "what an exploration takes is told, and decides nothing in it")]
    let began = Instant::now();
    let runtime = run::runtime()?;
    let shown = runtime.block_on(async {
        signals::watch(&watch.stop, ENDING, console)?;
        if let Some(budget) = budget {
            end_after(*budget, &watch);
        }
        Ok((!quiet && console.shows_progress()).then(|| progress::show_search(&watch, before)))
    })?;
    if *crashes == Switch::On && exploring.crash_at.is_none() {
        search.first = explore::crashes(plan, &search, &watch);
    }
    let mut told = Told {
        failures: Vec::new(),
        first: None,
        plan,
        exploring,
        seed: plan.seed,
        console,
        bar: shown.as_ref().map(progress::Shown::bar),
    };
    // On this thread: those of the runtime go on with signals, time and terminal.
    let explored = explore::explore(plan, &search, &watch, &mut |trial| told.trial(trial));
    let (failures, first) = (told.failures, told.first);
    if let Some(shown) = shown {
        runtime.block_on(shown.end());
    }
    let cpu = Usage::now().zip(before).map(|(after, before)| after.cpu_since(&before));
    Ok(Searched { explored, failures, first, wall: began.elapsed(), cpu, workers: workers.get() })
}

pub(super) fn workers(jobs: Option<u16>) -> NonZeroUsize {
    let asked = jobs.and_then(|jobs| NonZeroUsize::new(jobs.into()));
    asked.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
}

/// Lets nothing begin after that time.
fn end_after(budget: Duration, watch: &Watch) {
    let enough = watch.enough.clone();
    #[expect(clippy::disallowed_methods, reason = "a budget is time of the real world")]
    tokio::spawn(async move {
        tokio::time::sleep(budget).await;
        enough.cancel();
    });
}

/// Tells of each trial that fails, as soon as its turn comes.
struct Told<'a> {
    failures: Vec<FailureRow>,
    /// The plan of the first trial with a finding that fails it.
    first: Option<Plan>,
    plan: &'a Plan,
    exploring: &'a Exploring<'a>,
    /// The first seed.
    seed: u64,
    console: &'a Console,
    bar: Option<ProgressBar>,
}

impl Told<'_> {
    fn trial(&mut self, trial: &Trial) {
        if !trial.fails() {
            return;
        }
        if self.first.is_none() && trial.failures().next().is_some() {
            self.first = plan_of(self.plan, &trial.of);
        }
        let failure = FailureRow {
            of: trial.of.to_string(),
            anomalies: trial.failures().map(|found| found.anomaly.name().to_owned()).collect(),
            trouble: trial.trouble.as_ref().map(ToString::to_string),
            replay: self.exploring.replay(&trial.of, self.seed),
        };
        let args = self.exploring.args;
        if !args.quiet && args.format == Format::Text {
            let line = exploration::failure(&failure);
            match &self.bar {
                Some(bar) => bar.suspend(|| self.console.result(&line)),
                None => self.console.result(&line),
            }
        }
        if self.failures.len() < FAILURES_MAX {
            self.failures.push(failure);
        }
    }
}

/// The exploration as it goes to stdout.
fn print(exploration: &Exploration, format: Format, console: &Console) -> String {
    match format {
        Format::Text => exploration::render(exploration, run::WIDTH, console.style()),
        Format::Json => run::json(exploration),
    }
}
