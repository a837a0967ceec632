//! Durations (`250ms`, `1m30s`) and windows of time (`5s..25s`), as people write them.

use std::time::Duration;

use super::text_value;
use crate::limits;
use crate::plan::Window;
use crate::scenario::problem::shown;

/// Units, longest first, with their nanoseconds.
const UNITS: [(&str, u64); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

const FORM: &str = "a duration like `250ms`, `3s`, `5m`, `1h` or `1m30s`";

/// A duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scenario) struct Time(pub(in crate::scenario) Duration);

text_value!(
    Time,
    parse_duration,
    written_duration,
    "a duration like `250ms`, `3s` or `1m30s`",
    r"^([0-9]+(\.[0-9]+)?(d|h|ms|m|s|us|ns))+$"
);

/// A stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scenario) struct WindowText(pub(in crate::scenario) Window);

text_value!(
    WindowText,
    parse_window,
    written_window,
    "a stretch of time like `5s..25s`",
    r"^([0-9]+(\.[0-9]+)?(d|h|ms|m|s|us|ns))+\.\.([0-9]+(\.[0-9]+)?(d|h|ms|m|s|us|ns))+$"
);

/// Reads a duration as files have it: `250ms`, `3s`, `1m30s`.
///
/// # Errors
/// What was expected, and what was found.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(format!("expected {FORM}, found nothing"));
    }
    let mut nanoseconds: u64 = 0;
    let mut last = u64::MAX;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let letters = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        if number.is_empty() {
            return Err(format!("expected {FORM}, found {}", shown(text)));
        }
        if unit.is_empty() && !after.is_empty() {
            return Err(format!("expected {FORM}, found {}", shown(text)));
        }
        if unit.is_empty() {
            return Err(format!("{} lacks a unit; expected {FORM}", shown(text)));
        }
        let Some((_, size)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(format!("unknown unit {} of a duration; expected one of ms, s, m, h, d, us, ns", shown(unit)));
        };
        if *size >= last {
            return Err(format!("expected {FORM}, larger units first and each once, found {}", shown(text)));
        }
        last = *size;
        let part = scaled(number, *size).ok_or_else(|| format!("expected {FORM}, found {}", shown(text)))?;
        nanoseconds = nanoseconds.saturating_add(part);
        rest = after;
    }
    let duration = Duration::from_nanos(nanoseconds);
    if duration > Duration::from_secs(limits::DURATION_SECONDS_MAX) {
        let days = limits::DURATION_SECONDS_MAX / 86_400;
        return Err(format!("{} is too long; expected at most {days} days", shown(text)));
    }
    Ok(duration)
}

/// `number` units of that size in nanoseconds, saturating; decimals below a nanosecond are cut.
fn scaled(number: &str, size: u64) -> Option<u64> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || decimals.contains('.') || number.ends_with('.') {
        return None;
    }
    let whole = whole.parse::<u64>().unwrap_or(u64::MAX).saturating_mul(size);
    let mut part = 0;
    let mut step = size;
    for digit in decimals.chars() {
        step /= 10;
        part += u64::from(digit.to_digit(10)?) * step;
    }
    Some(whole.saturating_add(part))
}

/// Writes a duration so that reading it gives the same.
pub(in crate::scenario) fn written_duration(duration: &Duration) -> String {
    let mut rest = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    if rest == 0 {
        return "0s".to_owned();
    }
    let mut text = String::new();
    for (unit, size) in UNITS {
        if rest >= size {
            text.push_str(&format!("{}{unit}", rest / size));
            rest %= size;
        }
    }
    text
}

fn parse_window(text: &str) -> Result<Window, String> {
    let Some((from, to)) = text.split_once("..") else {
        return Err(format!("expected a stretch of time like `5s..25s`, found {}", shown(text)));
    };
    let window = Window { from: parse_duration(from)?, to: parse_duration(to)? };
    if window.from >= window.to {
        return Err(format!("{} ends before it begins; expected the earlier time first", shown(text)));
    }
    Ok(window)
}

fn written_window(window: &Window) -> String {
    format!("{}..{}", written_duration(&window.from), written_duration(&window.to))
}
