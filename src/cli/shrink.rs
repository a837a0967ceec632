//! `poppyfield sim --shrink`: a failing run reduced to a small scenario file in its folder.

use std::{path::Path, sync::Arc};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio_util::sync::CancellationToken;

use super::{Console, Failure, Format, Keep, folder::RunFolder, run, signals};
use crate::{
    checker::Anomaly,
    plan::Plan,
    report::format::counted,
    scenario,
    sim::shrink::{self, NotShrunk, Options, Progress, Shrunk, Size, Unfinished},
};

/// The file in a run's folder that holds what the run was reduced to.
pub(super) const SHRUNK_FILE: &str = "shrunk.yaml";

/// What is done after the first signal.
const KEEPING: &str = "keeping the smallest run so far";

/// Reduces the run of a plan and writes what is left into the run's folder; gives what there is to say about it.
///
/// What the run showed stands without it: where shrinking fails, that is said on stderr, and the exit status stays the run's.
pub(super) fn shrunk(
    plan: &Arc<Plan>,
    keep: Keep,
    folder: &RunFolder,
    console: &Console,
    quiet: bool,
) -> Option<String> {
    let told = to_file(plan, keep, folder, console, quiet);
    told.map_err(|failure| console.note(&format!("nothing was shrunk: {failure}"))).ok()
}

/// The same, and why it could not be done.
fn to_file(
    plan: &Arc<Plan>,
    keep: Keep,
    folder: &RunFolder,
    console: &Console,
    quiet: bool,
) -> Result<String, Failure> {
    let anomaly = match keep {
        Keep::Gravest => None,
        Keep::This(anomaly) => Some(anomaly),
    };
    match reduce(plan, anomaly, console, quiet)? {
        Ok(shrunk) => {
            folder.write(SHRUNK_FILE, &text(plan, &shrunk))?;
            Ok(told(&shrunk, &folder.path().join(SHRUNK_FILE)))
        }
        Err(NotShrunk::Passes) => Ok(nothing(keep)),
        Err(NotShrunk::Interrupted) => Ok("Nothing was shrunk: it was interrupted before the first step.\n".to_owned()),
        Err(error @ (NotShrunk::NotExplicit(_) | NotShrunk::Simulation(_))) => {
            Ok(format!("Nothing was shrunk:\n{error}.\n"))
        }
    }
}

/// What there is to say where nothing shows what is to be kept.
pub(super) fn nothing(keep: Keep) -> String {
    match keep {
        Keep::Gravest => "Nothing to shrink: nothing was found that fails the run.\n".to_owned(),
        Keep::This(anomaly) => format!("Nothing to shrink: {anomaly} was not found.\n"),
    }
}

/// Says it after the summary: stdout is for that alone where a program reads it.
pub(super) fn tell(text: Option<String>, format: Format, console: &Console) {
    match (text, format) {
        (Some(text), Format::Text) => console.result(&format!("\n{text}")),
        (Some(text), Format::Json) => console.note(text.trim_end()),
        (None, _) => {}
    }
}

/// Shrinks in a thread of its own, while this one watches for signals.
fn reduce(
    plan: &Arc<Plan>,
    anomaly: Option<Anomaly>,
    console: &Console,
    quiet: bool,
) -> Result<Result<Shrunk, NotShrunk>, Failure> {
    let bar = (!quiet && console.shows_progress()).then(|| {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.set_style(ProgressStyle::default_spinner());
        bar
    });
    let (plan, shown) = (Arc::clone(plan), bar.clone());
    let ended = run::runtime()?.block_on(async {
        let stop = CancellationToken::new();
        signals::watch(&stop, KEEPING, console)?;
        #[expect(clippy::disallowed_methods, reason = "the simulated world is entered from outside")]
        let ended = tokio::task::spawn_blocking(move || {
            let progress = |progress: &Progress| {
                if let Some(bar) = &shown {
                    let tried = counted(progress.candidates, "run", "runs");
                    bar.set_message(format!("shrinking: {tried}, {}", size(&progress.size)));
                    bar.tick();
                }
            };
            shrink::shrink(&plan, &Options { anomaly, stop, progress: &progress, ..Options::default() })
        });
        ended.await.map_err(|error| Failure::environment(format!("shrinking failed: {error}")))
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    ended
}

/// The scenario file, which says where it comes from.
fn text(plan: &Plan, shrunk: &Shrunk) -> String {
    let (name, seed, anomaly) = (&plan.name, plan.seed, shrunk.anomaly);
    let head = format!("# What was left of {name} with seed {seed} and still shows {anomaly}.\n");
    head + &scenario::resolved_yaml(&shrunk.plan)
}

/// What the terminal says.
fn told(shrunk: &Shrunk, path: &Path) -> String {
    let (anomaly, path) = (shrunk.anomaly, path.display());
    let mut lines = vec![
        format!("Shrunk       {anomaly} is left with"),
        format!("             {}", size(&shrunk.after)),
        format!("             of {}", size(&shrunk.before)),
        format!("             after {} of smaller plans", counted(shrunk.candidates, "run", "runs")),
    ];
    lines.extend(shrunk.unfinished.map(|why| match why {
        Unfinished::Bound => "             as many as may be; it might become smaller still".to_owned(),
        Unfinished::Interrupted => "             until it was interrupted; it might become smaller still".to_owned(),
    }));
    lines.push(format!("File         {path}"));
    lines.push(format!("Run it       poppyfield sim {path}"));
    lines.join("\n") + "\n"
}

fn size(size: &Size) -> String {
    [
        counted(size.agents as u64, "Agent", "Agents"),
        counted(size.companies as u64, "Company", "Companies"),
        counted(size.journeys as u64, "journey", "journeys"),
        counted(size.strikes as u64, "fault strike", "fault strikes"),
    ]
    .join(", ")
}
