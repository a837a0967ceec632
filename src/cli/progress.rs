//! The progress line on a terminal.

use std::{
    sync::{Arc, OnceLock, atomic::Ordering},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::task::JoinHandle;

use crate::{
    history::record::Outcome,
    measure::{Meter, counter},
    plan::Plan,
    report::{
        exploration,
        progress::{Progress, line},
    },
    sim::explore::Watch,
    swarm::{Control, Usage},
    world::Field,
};

/// How often the line is written over.
const REFRESH: Duration = Duration::from_millis(250);

/// The field of the run, once it is set up.
pub(super) type Seen = Arc<OnceLock<Arc<Field>>>;

/// A progress line that is shown until [`Shown::end`].
pub(super) struct Shown {
    bar: ProgressBar,
    task: JoinHandle<()>,
}

/// A line on stderr that is written over.
fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(ProgressStyle::default_spinner());
    bar
}

/// Shows how an exploration gets on.
pub(super) fn show_search(watch: &Watch, before: Option<Usage>) -> Shown {
    let bar = bar();
    let (watch, shown) = (watch.clone(), bar.clone());
    #[expect(clippy::disallowed_methods, reason = "the terminal is outside the world")]
    let task = tokio::spawn(async move {
        let began = std::time::Instant::now();
        loop {
            tokio::time::sleep(REFRESH).await;
            let cpu = Usage::now().zip(before).map(|(now, before)| now.cpu_since(&before));
            let line = exploration::progress(watch.done(), watch.failing(), watch.requests(), began.elapsed(), cpu);
            shown.set_message(line);
            shown.tick();
        }
    });
    Shown { bar, task }
}

/// Shows how the run gets on.
pub(super) fn show(plan: &Plan, seen: &Seen, meter: &Meter, control: &Control) -> Shown {
    let bar = bar();
    let (seen, meter, control) = (Arc::clone(seen), meter.clone(), control.clone());
    let (planned, shown) = (plan.load_duration(), bar.clone());
    #[expect(clippy::disallowed_methods, reason = "the terminal is outside the world")]
    let task = tokio::spawn(async move {
        let mut began = None;
        let mut confirms_before = 0;
        loop {
            tokio::time::sleep(REFRESH).await;
            let Some(field) = seen.get() else { continue };
            let began = *began.get_or_insert_with(|| field.now());
            let counts = meter.counts();
            let confirms = counts.counter(counter::CONFIRMS);
            let unknown = counts.steps.values().filter_map(|step| step.outcomes.get(&Outcome::Unknown)).sum();
            shown.set_message(line(&Progress {
                elapsed: field.now().since(began),
                planned: Some(planned),
                settling: control.settling.load(Ordering::Relaxed),
                in_flight: control.in_flight.load(Ordering::Relaxed),
                ended: counts.journeys_all(),
                confirms_per_second: (confirms - confirms_before) as f64 / REFRESH.as_secs_f64(),
                unknown,
                faults: field.faults_struck(),
            }));
            shown.tick();
            confirms_before = confirms;
        }
    });
    Shown { bar, task }
}

impl Shown {
    /// The line itself, for those who write above it.
    pub(super) fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    /// Takes the line away.
    pub(super) async fn end(self) {
        self.task.abort();
        // It was aborted just now; there is nothing to learn from how it ended.
        let _ = self.task.await;
        self.bar.finish_and_clear();
    }
}
