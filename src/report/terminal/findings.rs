//! What was found, with its evidence, and what was not judged and why.

use std::collections::BTreeMap;

use super::{
    super::{
        format::{count, counted, times},
        summary::{AnomalyStatus, FindingGroup, FindingLine, Level, Summary},
    },
    page::Page,
};

/// The most events that are shown of one finding; its file has them all.
const SHOWN_EVENTS_MAX: usize = 12;

/// The findings, grouped by anomaly.
pub(super) fn findings(page: &mut Page, summary: &Summary) {
    for group in &summary.findings {
        page.blank();
        page.heading(&head(group));
        for finding in &group.first {
            one(page, finding);
        }
        let more = group.count.saturating_sub(group.first.len() as u64);
        if more > 0 {
            page.hanging("  ", &format!("and {} more like it, each in anomalies/", count(more)));
        }
    }
}

/// `double-effect, 12 times (MUST, OC-29)`.
fn head(group: &FindingGroup) -> String {
    let level = match group.level {
        Level::Must => "MUST",
        Level::Should => "SHOULD",
    };
    let rules: String = group.rules.iter().map(|rule| format!(", {rule}")).collect();
    let expected = if group.expected { "; the scenario expects or allows it" } else { "" };
    format!("{}, {} ({level} of the {}{rules}{expected})", group.anomaly, times(group.count), side(&group.side))
}

pub(in crate::report) fn side(side: &str) -> &str {
    if side == "company" { "Company" } else { "Agent" }
}

fn one(page: &mut Page, finding: &FindingLine) {
    let action = finding.action.as_ref().map(|action| format!("{action}: ")).unwrap_or_default();
    page.hanging("  ", &format!("{action}{}", finding.sentence));
    for event in finding.evidence.iter().take(SHOWN_EVENTS_MAX) {
        let milliseconds = event.at / 1_000_000;
        let time = format!("{}.{:03} s", milliseconds / 1000, milliseconds % 1000);
        let number = format!("#{}", event.seq);
        page.hanging(&format!("  {time:>11}  {number:<6} "), &event.text);
    }
    let more = finding.evidence.len().saturating_sub(SHOWN_EVENTS_MAX) as u64;
    if more > 0 {
        page.hanging("    ", &format!("and {}", counted(more, "more event", "more events")));
    }
    if !finding.also_follows.is_empty() {
        page.hanging("    ", &format!("also follows: {}", finding.also_follows.join(", ")));
    }
    if let Some(file) = &finding.file {
        page.line(&format!("    {file}"));
    }
}

/// How many anomalies were judged, and which were not, by what is missing.
pub(in crate::report) fn judged(page: &mut Page, anomalies: &BTreeMap<String, AnomalyStatus>) {
    let (mut held, mut violated) = (0, 0);
    let mut missing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, status) in anomalies {
        match status {
            AnomalyStatus::Held { .. } => held += 1,
            AnomalyStatus::Violated { .. } => violated += 1,
            AnomalyStatus::NotJudged { why } => missing.entry(why).or_default().push(name),
        }
    }
    let unjudged: usize = missing.values().map(Vec::len).sum();
    page.blank();
    let all = counted(anomalies.len() as u64, "anomaly", "anomalies");
    page.entry("Checked for", &format!("{all}: {held} held, {violated} found, {unjudged} not judged"));
    let mut label = "Not judged";
    for (why, names) in missing {
        page.entry(label, &format!("{why}: {}", names.join(", ")));
        label = "";
    }
}
