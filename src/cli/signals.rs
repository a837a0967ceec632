//! Ctrl-C, SIGTERM and a closed terminal: the first ends the run early and in order, the second at once.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::{Console, Failure};
use crate::report::ExitStatus;

/// What is done after the first signal.
pub(super) const JUDGING: &str = "judging and writing what there is";

/// Cancels `stop` at the first signal, and says that `next` is done now; ends the process at the second.
pub(super) fn watch(stop: &CancellationToken, next: impl Into<String>, console: &Console) -> Result<(), Failure> {
    let cannot = |error: std::io::Error| Failure::environment(format!("cannot watch for signals: {error}"));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(cannot)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(cannot)?;
    let mut hangup = signal(SignalKind::hangup()).map_err(cannot)?;
    let (stop, next, console) = (stop.clone(), next.into(), console.clone());
    #[expect(clippy::disallowed_methods, reason = "signals come from outside the world")]
    tokio::spawn(async move {
        let mut signals = 0;
        loop {
            let received = tokio::select! {
                biased;
                received = interrupt.recv() => received,
                received = terminate.recv() => received,
                received = hangup.recv() => received,
            };
            if received.is_none() {
                return;
            }
            signals += 1;
            if signals == 1 {
                console.note(&format!("interrupted: {next} (once more to end at once)"));
                stop.cancel();
            } else {
                std::process::exit(ExitStatus::Interrupted.code().into());
            }
        }
    });
    Ok(())
}
