//! The catalogue of anomalies as a page: `docs/anomalies.md` is this text, kept fresh by a test.

use std::fmt::Write;

use super::anomaly::{Anomaly, Entry, Level, Side};
use super::ground::observation_name;

const HEAD: &str = "\
# Anomalies

What the checker looks for in a history, each with its definition, the rules it breaks, what a history must hold for it
to be judged, and the smallest history that shows it. This page is made from the catalogue in the code; each example is
a test. `docs/history.md` describes the records.

Rules are those of the Operations extension, version 1: `OC-…` bind Companies, `OA-…` bind Personal Agents. A MUST that
is broken fails a run (exit status 1); a SHOULD is a warning.

How the checker judges:

- Every action is judged on its own. When several anomalies arise on one action, the earliest of each side is the root,
  and the others are listed as what also follows; all of them are counted.
- An answer is a fact about the Company at some instant between its request and its arrival. A refusal that carries the
  operation is a fact too. Requests that overlap order nothing.
- A request without an answer is open for ever. It may have acted, and is never a failure. Only a definite refusal, or a
  request that never left, did not act.
- What an Agent knew is what that very process had been told.
- What a history does not hold accuses nobody: the anomaly is *not judged*, with the reason. The same goes for what may
  stand in the missing part of a cut or gapped history.
- Effects are counted per step. An undo is an entry of its own; it does not count, and makes no room for a second effect.
- A Company that is not simulated may say how often it performed an operation. Such a count says neither which steps were
  done nor when, so that `failed`, and `cancelled` after a confirm, may go with one performance or none.
- Actions that a Company does at once, without an operation (`company/direct/id`), have no confirm: only `double-effect`
  is judged for them.
- A written time stands for the whole span of its last digit: `12:00:05Z` for that whole second. Times of two clocks are
  compared with the history's `clock_error_ms`.

Notation of the examples: one event after the other, times in seconds, `5..9` from request to answer, `@6` an instant,
`r1` a revision. After the times stands the answer: a state and its revision, or `unknown`, `refused:code`. An answer
that is confirmed or final carries a confirmation and a result that tells every receipt, unless `conf=`, `at=` (when
confirmed), `result=` say otherwise; `exp=` is its expiry and `terms=` the digest of its terms. `process=` names who
sends. `performed 2` is the Company's own count. Steps are `wrap` alone, unless `steps` says otherwise, and every history ends settled and complete.
";

/// The catalogue as Markdown.
#[must_use]
pub fn catalogue() -> String {
    let mut page = HEAD.to_owned();
    for side in [Side::Company, Side::Agent] {
        page.push_str(if side == Side::Company { "\n## Of the Company\n" } else { "\n## Of the Personal Agent\n" });
        for anomaly in Anomaly::ALL.iter().filter(|anomaly| anomaly.entry().side == side) {
            add(&mut page, &anomaly.entry());
        }
    }
    page
}

fn add(page: &mut String, entry: &Entry) {
    let level = if entry.level == Level::Must { "MUST" } else { "SHOULD" };
    let rules = entry.rules.join(", ");
    let example = entry.example.replace("; ", "\n");
    // Writing into a string cannot fail.
    let _ = write!(
        page,
        "\n### {}\n\n{}\n\n{rules} ({level}). Needs {}.\n\n```text\n{example}\n```\n",
        entry.name,
        entry.definition,
        needs(entry)
    );
}

fn needs(entry: &Entry) -> String {
    let observed: Vec<String> =
        entry.needs.observes.iter().map(|observation| format!("`{}`", observation_name(*observation))).collect();
    let mut needs = observed.join(", ");
    if entry.needs.complete {
        needs.push_str("; history and ledger to their end");
    }
    if entry.needs.without_gaps {
        needs.push_str("; no lost records");
    }
    if entry.needs.settled {
        needs.push_str("; a run that settled");
    }
    needs
}

#[cfg(test)]
mod tests {
    /// `UPDATE_GENERATED=1 cargo test catalogue` writes the page anew.
    #[test]
    fn the_page_is_fresh() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/anomalies.md");
        let page = super::catalogue();
        if std::env::var_os("UPDATE_GENERATED").is_some() {
            std::fs::write(path, &page).expect("docs/ is writable");
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(written == page, "docs/anomalies.md is stale: run `UPDATE_GENERATED=1 cargo test catalogue`");
    }
}
