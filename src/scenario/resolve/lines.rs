//! The one-line forms: `faults.lose-answer >= 50`, `recovery.p99.9 < 30s`.

use crate::history::record::Purpose;
use crate::plan::{Comparison, CrashPoint, Figure, Metric, Network, ReachCounter, Threshold, Unit};
use crate::scenario::problem::{Findings, Place, nearest, one_of, shown};
use crate::scenario::raw::fault_words;
use crate::scenario::value::{At, PURPOSES, parse_duration, parse_rate, parse_share};

/// A line of `reach`.
#[derive(Debug)]
pub(super) struct ReachLine {
    pub(super) counter: ReachCounter,
    pub(super) at_least: u64,
}

/// States that an operation can end in (Operations 3).
const FINALS: &[&str] = &["succeeded", "failed", "cancelled", "expired"];

/// A line cut into its three parts, the last two with their places.
struct Parts<'a> {
    name: &'a str,
    operator: &'a str,
    operator_place: Place,
    value: &'a str,
    value_place: Place,
}

/// Cuts `NAME OPERATOR VALUE`.
fn parts<'a>(line: &'a At<String>, example: &str, findings: &mut Findings) -> Option<Parts<'a>> {
    let text = line.value.as_str();
    let is_operator = |c: char| matches!(c, '<' | '>' | '=' | '!');
    let start = text.find(is_operator);
    let Some(start) = start else {
        findings.report(line.place, format!("expected a line like `{example}`, found {}", shown(text)));
        return None;
    };
    let end = start + text[start..].find(|c| !is_operator(c)).unwrap_or(text.len() - start);
    let spaces = text[end..].len() - text[end..].trim_start().len();
    let after = |bytes: usize| line.place.shifted(text[..bytes].chars().count());
    Some(Parts {
        name: text[..start].trim(),
        operator: &text[start..end],
        operator_place: after(start),
        value: text[end..].trim(),
        value_place: after(end + spaces),
    })
}

/// Reads a line of `reach`; what is wrong goes to `findings`.
pub(super) fn reach(line: &At<String>, findings: &mut Findings) -> Option<ReachLine> {
    let parts = parts(line, "faults.lose-answer >= 50", findings)?;
    let counter = counter(parts.name, line.place, findings);
    if parts.operator != ">=" {
        let message = format!("{} in a minimum; expected `>=`", shown(parts.operator));
        findings.report(parts.operator_place, message);
    }
    let number = parts.value.replace('_', "").parse::<u64>().ok().filter(|number| *number > 0);
    if number.is_none() {
        let message = format!("expected a whole number from 1, found {}", shown(parts.value));
        findings.report(parts.value_place, message);
    }
    Some(ReachLine { counter: counter?, at_least: number? })
}

fn counter(name: &str, place: Place, findings: &mut Findings) -> Option<ReachCounter> {
    let mut among = |what: &str, prefix: &str, rest: &str, words: &[&str]| {
        let known = words.contains(&rest);
        if !known {
            let message = format!("unknown {what} {}; expected {}", shown(rest), one_of(words.iter().copied()));
            let near = nearest(rest, words.iter().copied());
            findings.report_near(place.shifted(prefix.len()), message, near);
        }
        known.then(|| rest.into())
    };
    if let Some(kind) = name.strip_prefix("faults.") {
        let words = [fault_words(), &[Network::PARTITION]].concat();
        return among("fault", "faults.", kind, &words).map(ReachCounter::Faults);
    }
    if let Some(point) = name.strip_prefix("crashes.") {
        let points: Vec<&str> = CrashPoint::ALL.iter().map(|point| point.word()).collect();
        return among("crash point", "crashes.", point, &points).map(ReachCounter::Crashes);
    }
    if let Some(state) = name.strip_prefix("finals.") {
        return among("final state", "finals.", state, FINALS).map(ReachCounter::FinalsOf);
    }
    Some(match name {
        "confirms" => ReachCounter::Confirms,
        "finals" => ReachCounter::Finals,
        "terms-changed" => ReachCounter::TermsChanged,
        "recoveries" => ReachCounter::Recoveries,
        _ => {
            let names =
                ["faults.KIND", "crashes.POINT", "confirms", "finals", "finals.STATE", "terms-changed", "recoveries"];
            let message = format!("unknown counter {}; expected {}", shown(name), one_of(names));
            let first = name.split('.').next().unwrap_or(name);
            let near = nearest(first, ["faults", "crashes", "confirms", "finals", "terms-changed", "recoveries"]);
            findings.report_near(place, message, near);
            return None;
        }
    })
}

/// Reads a line of `thresholds`; what is wrong goes to `findings`.
pub(super) fn threshold(line: &At<String>, findings: &mut Findings) -> Option<Threshold> {
    let parts = parts(line, "response.confirm.p99 < 250ms", findings)?;
    let metric = metric(parts.name, line.place, findings);
    let comparison = match parts.operator {
        "<" => Some(Comparison::Less),
        "<=" => Some(Comparison::AtMost),
        ">" => Some(Comparison::More),
        ">=" => Some(Comparison::AtLeast),
        other => {
            findings.report(
                parts.operator_place,
                format!("unknown comparison {}; expected one of <, <=, >, >=", shown(other)),
            );
            None
        }
    };
    let metric = metric?;
    let limit = match metric.unit() {
        Unit::Time => parse_duration(parts.value).map(Figure::Time),
        Unit::Rate => parse_rate(parts.value).map(Figure::Rate),
        Unit::Share => parse_share(parts.value).map(Figure::Share),
    };
    let limit = limit.map_err(|message| {
        let name = shown(parts.name);
        let kind = match metric.unit() {
            Unit::Time => "a duration",
            Unit::Rate => "a rate",
            Unit::Share => "a percentage",
        };
        findings.report(parts.value_place, format!("{name} is held to {kind}: {message}"));
    });
    Some(Threshold { metric, comparison: comparison?, limit: limit.ok()?, text: line.value.clone() })
}

fn metric(name: &str, place: Place, findings: &mut Findings) -> Option<Metric> {
    let (head, rest) = name.split_once('.').unwrap_or((name, ""));
    match (head, rest) {
        ("throughput", "") => return Some(Metric::Throughput),
        ("unknown", "") => return Some(Metric::Unknown),
        ("recovery", rest) => {
            let percentile = percentile(rest, place.shifted(head.len() + 1), findings)?;
            return Some(Metric::Recovery { percentile });
        }
        ("response" | "service", rest) => {
            let (step, rest, skipped) = match rest.split_once('.') {
                Some((word, after)) if !is_percentile(word) => {
                    (Some(step(word, place.shifted(head.len() + 1), findings)?), after, word.len() + 1)
                }
                _ => (None, rest, 0),
            };
            let percentile = percentile(rest, place.shifted(head.len() + 1 + skipped), findings)?;
            return Some(if head == "response" {
                Metric::Response { step, percentile }
            } else {
                Metric::Service { step, percentile }
            });
        }
        _ => {}
    }
    let names =
        ["response.STEP.pN", "response.pN", "service.STEP.pN", "service.pN", "recovery.pN", "throughput", "unknown"];
    let near = nearest(head, ["response", "service", "recovery", "throughput", "unknown"]);
    findings.report_near(place, format!("unknown metric {}; expected {}", shown(name), one_of(names)), near);
    None
}

fn is_percentile(word: &str) -> bool {
    word.strip_prefix('p').is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))
}

fn step(word: &str, place: Place, findings: &mut Findings) -> Option<Purpose> {
    let found = PURPOSES.iter().find(|entry| entry.1 == word).map(|entry| entry.0);
    if found.is_none() {
        let words = || PURPOSES.iter().map(|entry| entry.1);
        let message = format!("unknown step {}; expected {}", shown(word), one_of(words()));
        findings.report_near(place, message, nearest(word, words()));
    }
    found
}

fn percentile(text: &str, place: Place, findings: &mut Findings) -> Option<f64> {
    let number = text.strip_prefix('p').and_then(|digits| digits.parse::<f64>().ok());
    let number = number.filter(|number| (0.0..=100.0).contains(number));
    if number.is_none() {
        let found = if text.is_empty() { "nothing".to_owned() } else { shown(text) };
        findings.report(place, format!("expected a percentile like `p99` or `p99.9`, found {found}"));
    }
    number
}
