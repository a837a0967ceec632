//! The summary as people read it: the verdict first, then what was run, measured, found, and not judged.

pub(super) mod findings;
pub(super) mod page;
mod tables;

use std::{cmp::Ordering, collections::BTreeMap};

use page::Page;

use super::{
    format::{count, counted, duration, nanoseconds, rate, share},
    summary::{HealthRow, Measured, PerformedRow, RecordedRow, SimulationRow, Summary, ThresholdRow},
};
use crate::{history::record::WorldKind, measure::Percentiles};

/// Whether colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// Text alone.
    #[default]
    Plain,
    /// ANSI colours.
    Colour,
}

/// The least width that the tables fit in.
const WIDTH_MIN: usize = 80;

/// Renders a summary in lines of at most `width` columns (80 at the least); only paths and commands may be longer.
#[must_use]
pub fn render(summary: &Summary, width: usize, style: Style) -> String {
    let mut page = Page::new(width.max(WIDTH_MIN), style);
    verdict(&mut page, summary);
    page.blank();
    match &summary.recorded {
        Some(held) => recorded(&mut page, held, summary),
        None => measured(&mut page, summary),
    }
    findings::findings(&mut page, summary);
    findings::judged(&mut page, &summary.anomalies);
    files(&mut page, summary);
    page.finish()
}

/// A run that was measured.
fn measured(page: &mut Page, summary: &Summary) {
    run(page, summary);
    load(page, summary);
    tables::calls(page, &summary.steps);
    tables::times(page, &summary.steps, summary.steady_ns);
    recovery(page, summary.recovery.as_ref());
    faults(page, summary);
    held_to(page, summary);
    match &summary.simulation {
        None => generator(page, &summary.health, summary.journeys.dropped),
        Some(simulation) => simulated(page, simulation, summary),
    }
}

/// A history alone.
fn recorded(page: &mut Page, held: &RecordedRow, summary: &Summary) {
    let run = &summary.run;
    let began = if run.started.is_empty() { String::new() } else { format!(" from {}", run.started) };
    let records = counted(held.records, "record", "records");
    page.entry("History", &format!("{records}, {}{began}", world(run.world)));
    let mut text = format!(
        "{} in {}",
        counted(held.operations, "operation", "operations"),
        counted(held.calls, "request about them", "requests about them")
    );
    if held.unknown > 0 {
        text += &format!(", {} without an answer", count(held.unknown));
    }
    page.entry("Operations", &text);
    if held.entries > 0 {
        let effects = counted(held.effects, "effect", "effects");
        page.entry("Ledger", &format!("{}, {effects}", counted(held.entries, "entry", "entries")));
    }
    if let Some(performed) = summary.performed {
        page.entry("Performed", &performed_text(performed));
    }
    if !summary.faults.by_kind.is_empty() {
        faults(page, summary);
    }
}

fn world(world: WorldKind) -> &'static str {
    match world {
        WorldKind::Real => "real world",
        WorldKind::Simulated => "simulated world",
    }
}

fn verdict(page: &mut Page, summary: &Summary) {
    let verdict = &summary.verdict;
    let mut sentence = verdict.sentence.clone();
    if let Some(first) = sentence.get(..1).map(str::to_uppercase) {
        sentence.replace_range(..1, &first);
    }
    let good = verdict.exit_status == 0;
    page.verdict(&verdict.word.to_uppercase(), &sentence, good);
    for reason in &verdict.reasons {
        page.hanging("  - ", reason);
    }
}

fn run(page: &mut Page, summary: &Summary) {
    let run = &summary.run;
    let world = world(run.world);
    let length = nanoseconds(run.duration_ns);
    let length = match run.world {
        WorldKind::Real => length,
        WorldKind::Simulated => format!("{length} of virtual time"),
    };
    page.entry("Run", &format!("{}, seed {}, {world}, {length} from {}", run.name, run.seed, run.started));
    if let Some(target) = &run.target {
        page.entry("Target", target);
    }
    for (index, note) in summary.notes.iter().enumerate() {
        page.entry(if index == 0 { "Notes" } else { "" }, note);
    }
}

fn load(page: &mut Page, summary: &Summary) {
    let journeys = &summary.journeys;
    let mut text = format!("{} started{}", count(journeys.started), each(&journeys.ended));
    if let Some(took) = journeys.took {
        text += &format!("; half of them took up to {}", nanoseconds(took.p50_ns));
    }
    if journeys.held > 0 {
        text += &format!("; {} waited until fewer of their kind were in flight", count(journeys.held));
    }
    if journeys.dropped > 0 {
        text += &format!("; {} more were due and did not start", count(journeys.dropped));
    }
    page.entry("Journeys", &text);
    let operations = &summary.operations;
    let finals: u64 = operations.finals.values().sum();
    let mut text = format!(
        "{} confirmed; {} came to an end{}",
        count(operations.confirmed),
        count(finals),
        each(&operations.finals)
    );
    if operations.terms_changed > 0 {
        text +=
            &format!("; {}", counted(operations.terms_changed, "confirm met other terms", "confirms met other terms"));
    }
    if operations.left_open > 0 {
        text += &format!("; {} left open", count(operations.left_open));
    }
    if let Some(throughput) = operations.throughput_per_second {
        text += &format!("; {} confirmed and done in steady load", rate(throughput));
    }
    page.entry("Operations", &text);
    if let Some(performed) = summary.performed {
        page.entry("Performed", &performed_text(performed));
    }
}

/// What the Companies counted themselves.
fn performed_text(performed: PerformedRow) -> String {
    let operations = counted(performed.operations, "operation", "operations");
    let times = counted(performed.times, "time", "times");
    let mut text = match performed.times.cmp(&performed.operations) {
        Ordering::Equal if performed.operations == 0 => "nothing".to_owned(),
        Ordering::Equal => format!("{operations}, none more than once"),
        Ordering::Greater => format!("{operations}, {times} in all: MORE THAN ONCE"),
        // No count can be so; whoever reads it is to see what was said.
        Ordering::Less => format!("{operations}, {times} in all"),
    };
    text += ", by the Company's own count";
    if performed.asked > 0 {
        text += &format!(" ({} asked for)", count(performed.asked));
    }
    text
}

/// `: 3 this, 2 that`, or nothing.
fn each(counts: &BTreeMap<String, u64>) -> String {
    let words: Vec<String> = counts.iter().map(|(word, number)| format!("{} {word}", count(*number))).collect();
    if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) }
}

fn recovery(page: &mut Page, recovery: Option<&Percentiles>) {
    let Some(recovery) = recovery else { return };
    page.blank();
    page.entry(
        "Recovery",
        &format!(
            "{} without an answer at first; then known after {} (p50), {} (p99), {} (p99.9), {} (max)",
            counted(recovery.count, "confirm was", "confirms were"),
            nanoseconds(recovery.p50_ns),
            nanoseconds(recovery.p99_ns),
            nanoseconds(recovery.p99_9_ns),
            nanoseconds(recovery.max_ns),
        ),
    );
}

fn faults(page: &mut Page, summary: &Summary) {
    let faults = &summary.faults;
    if summary.recovery.is_none() {
        page.blank();
    }
    let all: u64 = faults.by_kind.values().sum();
    let mut text = format!("{} struck{}", count(all), each(&faults.by_kind));
    if !faults.crash_points.is_empty() {
        text += &format!("; crashes{}", each(&faults.crash_points));
    }
    page.entry("Faults", &text);
}

fn held_to(page: &mut Page, summary: &Summary) {
    let mut label = "Thresholds";
    for threshold in &summary.thresholds {
        page.judged(label, threshold.held, "held", "missed", &threshold_text(threshold));
        label = "";
    }
    label = "Reached";
    for reach in &summary.reach {
        page.judged(label, reach.enough, "yes", "no", &format!("{} ({})", reach.text, count(reach.count)));
        label = "";
    }
}

fn threshold_text(threshold: &ThresholdRow) -> String {
    let value = match threshold.value {
        None => "no samples".to_owned(),
        Some(Measured::Seconds(value)) => duration(std::time::Duration::try_from_secs_f64(value).unwrap_or_default()),
        Some(Measured::PerSecond(value)) => rate(value),
        Some(Measured::Share(value)) => share(value),
    };
    format!("{} ({value})", threshold.text)
}

fn generator(page: &mut Page, health: &HealthRow, dropped: u64) {
    let mut parts = vec![match (health.lag_p99_ns, health.lag_max_ns) {
        (Some(p99), Some(max)) => format!("sent {} late (p99), {} at the worst", nanoseconds(p99), nanoseconds(max)),
        _ => "sent nothing in steady load".to_owned(),
    }];
    if let (Some(offered), Some(achieved)) = (health.offered_per_second, health.achieved_per_second) {
        parts.push(format!("{} journeys started of {} due", rate(achieved), rate(offered)));
    }
    if dropped > 0 {
        parts.push(format!("{} not started", count(dropped)));
    }
    if let Some(seconds) = health.cpu_seconds {
        let of_all = health.cpu_share.map(|part| format!(" ({} of the machine)", share(part))).unwrap_or_default();
        parts.push(format!(
            "{} of CPU{of_all}",
            duration(std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default())
        ));
    }
    parts.extend(memory(health));
    page.entry("Generator", &parts.join("; "));
}

fn memory(health: &HealthRow) -> Option<String> {
    let bytes = health.memory_bytes_max?;
    Some(format!("{} MiB of memory at the most", count(bytes.div_ceil(1024 * 1024))))
}

/// What a simulated run took, and the digest that a repetition has to have.
fn simulated(page: &mut Page, simulation: &SimulationRow, summary: &Summary) {
    let health = &summary.health;
    let mut parts = vec![counted(simulation.requests, "request", "requests")];
    if let Some(seconds) = health.cpu_seconds {
        let cpu = duration(std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default());
        let each = simulation.requests_per_cpu_second.map(|rate| format!(": {} a second of it", count(rate as u64)));
        parts[0] += &format!(" in {cpu} of CPU{}", each.unwrap_or_default());
    }
    if let (Some(offered), Some(achieved)) = (health.offered_per_second, health.achieved_per_second) {
        parts.push(format!("{} journeys started of {} due", rate(achieved), rate(offered)));
    }
    if summary.journeys.dropped > 0 {
        parts.push(format!("{} not started", count(summary.journeys.dropped)));
    }
    parts.extend(memory(health));
    if simulation.fast_signatures {
        parts.push("fast signatures, which prove nothing".to_owned());
    }
    page.entry("Simulation", &parts.join("; "));
    if let Some(digest) = &summary.history_digest {
        page.verbatim("Digest", digest);
    }
}

fn files(page: &mut Page, summary: &Summary) {
    page.blank();
    if let Some(folder) = &summary.files.folder {
        page.verbatim("Files", folder);
        page.entry("", &summary.files.names.join(", "));
    }
    if !summary.run.repeat.is_empty() {
        page.verbatim("Repeat", &summary.run.repeat);
    }
}

#[cfg(test)]
mod tests;
