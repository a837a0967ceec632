//! An exploration as people read it, and its lines while it goes on.

use std::time::Duration;

use super::{CoverageRow, Exploration, FailureRow, FoundRow};
use crate::report::{
    Style,
    format::{count, counted, duration, nanoseconds, times},
    summary::Level,
    terminal::{
        findings::{judged, side},
        page::Page,
    },
};

impl FoundRow {
    /// Whether it fails the trials that show it.
    pub(super) fn fails(&self) -> bool {
        self.level == Level::Must && !self.expected
    }
}

/// The line about a failing trial: what failed it, and the command that runs it again.
#[must_use]
pub fn failure(failure: &FailureRow) -> String {
    let trouble = failure.trouble.iter().map(|trouble| trouble.lines().next().unwrap_or_default());
    let why: Vec<&str> = trouble.chain(failure.anomalies.iter().map(String::as_str)).collect();
    format!("{}: {}; replay: {}\n", failure.of, why.join(", "), failure.replay)
}

/// The line that shows how far an exploration is; runs are single crashes and seeds alike.
#[must_use]
pub fn progress(runs: u64, failing: u64, requests: u64, elapsed: Duration, cpu: Option<Duration>) -> String {
    let per = |number: u64, time: Duration| number as f64 / time.as_secs_f64().max(1e-3);
    let mut line = format!(
        "{} s  {}  {} a second  {} failing",
        elapsed.as_secs(),
        counted(runs, "run", "runs"),
        count(per(runs, elapsed).round() as u64),
        count(failing)
    );
    if let Some(cpu) = cpu {
        line += &format!("  {} requests per CPU second", count(per(requests, cpu).round() as u64));
    }
    line
}

/// Renders an exploration in lines of at most `width` columns; only paths, commands and records may be longer.
#[must_use]
pub fn render(exploration: &Exploration, width: usize, style: Style) -> String {
    let mut page = Page::new(width, style);
    let verdict = &exploration.verdict;
    let mut sentence = verdict.sentence.clone();
    if let Some(first) = sentence.get(..1).map(str::to_uppercase) {
        sentence.replace_range(..1, &first);
    }
    page.verdict(&verdict.word.to_uppercase(), &sentence, verdict.exit_status == 0);
    for reason in &verdict.reasons {
        page.hanging("  - ", reason);
    }
    page.blank();
    search(&mut page, exploration);
    cost(&mut page, exploration);
    let mut label = "Reached";
    for reach in &exploration.reach {
        page.judged(label, reach.enough, "yes", "no", &format!("{} ({})", reach.text, count(reach.count)));
        label = "";
    }
    findings(&mut page, exploration);
    judged(&mut page, &exploration.anomalies);
    coverage(&mut page, &exploration.coverage, &exploration.tried());
    page.blank();
    if let Some(digest) = &exploration.digest {
        page.verbatim("Digest", digest);
    }
    if let Some(folder) = &exploration.folder {
        page.verbatim("Files", folder);
    }
    page.finish()
}

fn search(page: &mut Page, exploration: &Exploration) {
    let search = &exploration.search;
    let mut text = format!("{}, {}", search.name, exploration.tried());
    if exploration.seeds > 0 {
        text += &format!(" from {} to {}", search.seed, search.seed.saturating_add(exploration.seeds - 1));
    }
    if let Some(operations) = search.operations {
        text += &format!(", {} each at the most", counted(operations, "journey", "journeys"));
    }
    if search.twice {
        text += ", each run twice";
    }
    if search.fast_signatures {
        text += "; fast signatures, which prove nothing";
    }
    page.entry("Explored", &text);
}

fn cost(page: &mut Page, exploration: &Exploration) {
    let cost = &exploration.cost;
    let mut text = format!(
        "{} on {}, {} of virtual time",
        nanoseconds(cost.wall_ns),
        counted(cost.workers, "thread", "threads"),
        nanoseconds(cost.virtual_ns)
    );
    if let Some(seconds) = cost.cpu_seconds {
        text += &format!(", {} of CPU", duration(Duration::try_from_secs_f64(seconds).unwrap_or_default()));
    }
    page.entry("Time", &text);
    let mut text = format!(
        "{}, {}",
        counted(cost.operations, "operation", "operations"),
        counted(cost.requests, "request", "requests")
    );
    if let (Some(trials), Some(requests)) =
        (cost.per_cpu_second(exploration.trials()), cost.per_cpu_second(cost.requests))
    {
        let trials = trials.round() as u64;
        let [one, many] = unit(exploration);
        let (trials, requests) = (counted(trials, one, many), count(requests.round() as u64));
        text += &format!("; per CPU second {trials} and {requests} requests");
    }
    page.entry("Work", &text);
}

/// What one trial is called, and many: single crashes are no seeds.
fn unit(exploration: &Exploration) -> [&'static str; 2] {
    if exploration.crashes == 0 { ["seed", "seeds"] } else { ["run", "runs"] }
}

fn findings(page: &mut Page, exploration: &Exploration) {
    for found in &exploration.findings {
        page.blank();
        page.heading(&head(found, unit(exploration)));
        for first in &found.first {
            page.hanging(&format!("  {}: ", first.of), &first.sentence);
        }
        more(page, found.trials, found.first.len());
    }
    if exploration.troubles.count > 0 {
        page.blank();
        page.heading("Came to no proper end");
        for first in &exploration.troubles.first {
            let mut lines = first.sentence.lines();
            page.hanging(&format!("  {}: ", first.of), lines.next().unwrap_or_default());
            lines.for_each(|line| page.verbatim("", line.trim()));
        }
        more(page, exploration.troubles.count, exploration.troubles.first.len());
    }
}

/// `double-effect, 12 times in 3 seeds (MUST of the Company, OC-29)`.
fn head(found: &FoundRow, [one, many]: [&str; 2]) -> String {
    let level = if found.level == Level::Must { "MUST" } else { "SHOULD" };
    let rules: String = found.rules.iter().map(|rule| format!(", {rule}")).collect();
    let expected = if found.expected { "; the scenario expects or allows it" } else { "" };
    format!(
        "{}, {} in {} ({level} of the {}{rules}{expected})",
        found.anomaly,
        times(found.count),
        counted(found.trials, one, many),
        side(&found.side)
    )
}

fn more(page: &mut Page, all: u64, shown: usize) {
    let more = all.saturating_sub(shown as u64);
    if more > 0 {
        page.hanging("  ", &format!("and {}", counted(more, "more", "more")));
    }
}

fn coverage(page: &mut Page, coverage: &CoverageRow, tried: &str) {
    page.blank();
    let faults = coverage.faults.iter().map(|fault| match fault.id.contains(&fault.kind) {
        true => format!("{} {}", fault.id, count(fault.struck)),
        false => format!("{} {} {}", fault.id, fault.kind, count(fault.struck)),
    });
    list(page, "Faults", faults);
    let points = coverage.crash_points.iter().map(|point| match point.crashed {
        0 => format!("{} {}", point.point, count(point.passed)),
        crashed => format!("{} {} (crashed at {})", point.point, count(point.passed), count(crashed)),
    });
    list(page, "Crash points", points);
    list(page, "Journeys", coverage.journeys.iter().map(|(name, times)| format!("{name} {}", count(*times))));
    let changes = coverage
        .changes
        .iter()
        .map(|change| format!("{} > {} {}", change.from.as_deref().unwrap_or("new"), change.to, count(change.times)));
    list(page, "States", changes);
    let overlaps = coverage.overlaps.iter().map(|pair| format!("{}|{} {}", pair.of[0], pair.of[1], count(pair.times)));
    list(page, "Overlaps", overlaps);
    for (index, never) in coverage.never.iter().enumerate() {
        page.entry(if index == 0 { "Never" } else { "" }, &format!("{never} in {tried}"));
    }
    if let Some(last) = &coverage.last_new {
        let kinds = count(coverage.kinds);
        page.entry("New", &format!("{kinds} kinds of things in all; the last new one in {}: {}", last.of, last.what));
    }
}

fn list(page: &mut Page, label: &str, parts: impl Iterator<Item = String>) {
    let parts: Vec<String> = parts.collect();
    if !parts.is_empty() {
        page.entry(label, &parts.join(", "));
    }
}
