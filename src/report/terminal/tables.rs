//! The tables of calls and of times.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

use super::{
    super::{
        format::{count, counted, nanoseconds},
        summary::StepRow,
    },
    page::Page,
};
use crate::measure::Percentiles;

/// How the calls of each step ended, over the whole run.
pub(super) fn calls(page: &mut Page, steps: &[StepRow]) {
    if steps.is_empty() {
        return;
    }
    page.blank();
    let header = ["Calls", "all", "answered", "refused", "unknown", "unsent"];
    let rows = steps.iter().map(|step| {
        let of = |words: &[&str]| count(words.iter().filter_map(|word| step.outcomes.get(*word)).sum());
        let cells = [count(step.calls), of(&["view", "done"]), of(&["refused"]), of(&["unknown"]), of(&["unsent"])];
        (step.step.clone(), cells.to_vec())
    });
    print(page, &header, rows, 3);
    reasons(page, steps);
}

/// Why calls were refused or had no answer.
fn reasons(page: &mut Page, steps: &[StepRow]) {
    for step in steps.iter().filter(|step| !step.reasons.is_empty()) {
        let reasons: Vec<String> =
            step.reasons.iter().map(|(reason, number)| format!("{} {reason}", count(*number))).collect();
        page.hanging(&format!("  {}: ", step.step), &reasons.join(", "));
    }
}

/// How long answered calls took in steady load, and how late they were sent.
pub(super) fn times(page: &mut Page, steps: &[StepRow], steady_ns: u64) {
    if steps.iter().all(|step| step.response.is_none()) {
        return;
    }
    page.blank();
    let header =
        ["\nTimes", "response\np50", "\np90", "\np99", "\np99.9", "\nmax", "service\np50", "\np99", "lag\np99"];
    let rows = steps.iter().filter(|step| step.response.is_some()).map(|step| {
        let cell = |times: Option<Percentiles>, part: fn(&Percentiles) -> u64| {
            times.map_or_else(|| "-".to_owned(), |times| nanoseconds(part(&times)))
        };
        let cells = vec![
            cell(step.response, |times| times.p50_ns),
            cell(step.response, |times| times.p90_ns),
            cell(step.response, |times| times.p99_ns),
            cell(step.response, |times| times.p99_9_ns),
            cell(step.response, |times| times.max_ns),
            cell(step.service, |times| times.p50_ns),
            cell(step.service, |times| times.p99_ns),
            cell(step.lag, |times| times.p99_ns),
        ];
        (step.step.clone(), cells)
    });
    print(page, &header, rows, 1);
    let mut note = format!(
        "Calls are of the whole run, times of the answered calls in {} of steady load: response counts from the \
         intended start, service from the send, lag is what lies between.",
        nanoseconds(steady_ns)
    );
    let unanswered = || steps.iter().filter_map(|step| step.unanswered);
    if let Some(longest) = unanswered().map(|times| times.max_ns).max() {
        let number = unanswered().map(|times| times.count).sum();
        let calls = counted(number, "call without an answer is", "calls without an answer are");
        note += &format!(" {calls} in none of them; the longest wait was {}.", nanoseconds(longest));
    }
    page.hanging("  ", &note);
}

/// Numbers to the right, `gap` columns apart.
fn print(page: &mut Page, header: &[&str], rows: impl Iterator<Item = (String, Vec<String>)>, gap: u16) {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled).force_no_tty();
    table.set_header(header.iter().map(Cell::new));
    for (name, cells) in rows {
        table.add_row(std::iter::once(format!("  {name}")).chain(cells));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        if index == 0 {
            column.set_padding((0, 0));
        } else {
            column.set_padding((gap, 0)).set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in table.lines() {
        page.line(&line);
    }
}
