//! How numbers are written for people: three digits, a unit, thousands set apart.

use std::time::Duration;

/// A duration to three digits: `850 ns`, `12.3 ms`, `1.23 s`, `1,002 s`. At most seven columns up to an hour.
#[must_use]
pub fn duration(duration: Duration) -> String {
    const UNITS: [(f64, &str); 4] = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];
    let nanoseconds = duration.as_nanos() as f64;
    if nanoseconds == 0.0 {
        return "0 s".to_owned();
    }
    let mut written = String::new();
    for (index, (size, unit)) in UNITS.into_iter().enumerate() {
        written = format!("{} {unit}", digits(nanoseconds / size));
        // A value that rounds up to the next unit is written in that: `1.00 ms`, never `1000 µs`.
        if UNITS.get(index + 1).is_none() || nanoseconds / size < 999.5 {
            break;
        }
    }
    written
}

/// A duration given in nanoseconds.
#[must_use]
pub fn nanoseconds(nanoseconds: u64) -> String {
    duration(Duration::from_nanos(nanoseconds))
}

/// A count with its thousands set apart: `12,345`.
#[must_use]
pub fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut written = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            written.push(',');
        }
        written.push(digit);
    }
    written
}

/// A count and its noun: `1 journey`, `12,345 journeys`.
#[must_use]
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// How often: `once`, `twice`, `12 times`.
#[must_use]
pub fn times(number: u64) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{} times", count(number)),
    }
}

/// A rate: `85.3/s`.
#[must_use]
pub fn rate(per_second: f64) -> String {
    format!("{}/s", digits(per_second))
}

/// A share of 1, in per cent: `1.25 %`.
#[must_use]
pub fn share(share: f64) -> String {
    format!("{} %", digits(share * 100.0))
}

/// A number to three digits, without a fraction from 100 on, its thousands set apart.
fn digits(number: f64) -> String {
    if !number.is_finite() {
        return number.to_string();
    }
    let number = number.max(0.0);
    if number >= 99.95 {
        count(number.round() as u64)
    } else if number >= 9.995 {
        format!("{number:.1}")
    } else if number == number.trunc() {
        format!("{number:.0}")
    } else {
        format!("{number:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits_and_the_unit_that_suits_them() {
        for (value, written) in [
            (0, "0 s"),
            (850, "850 ns"),
            (1_000, "1 µs"),
            (12_345, "12.3 µs"),
            (999_400, "999 µs"),
            (999_600, "1.00 ms"),
            (1_234_567, "1.23 ms"),
            (99_960_000, "100 ms"),
            (1_230_000_000, "1.23 s"),
            (30_000_000_000, "30.0 s"),
            (999_000_000_000, "999 s"),
            (1_002_000_000_000, "1,002 s"),
            (36_000_000_000_000, "36,000 s"),
        ] {
            assert_eq!(nanoseconds(value), written);
        }
    }

    #[test]
    fn thousands_are_set_apart() {
        for (value, written) in [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345, "12,345"), (1_234_567, "1,234,567")]
        {
            assert_eq!(count(value), written);
        }
        assert_eq!((counted(1, "call", "calls"), counted(0, "call", "calls")), ("1 call".into(), "0 calls".into()));
        assert_eq!((times(1), times(2), times(1200)), ("once".into(), "twice".into(), "1,200 times".into()));
    }

    #[test]
    fn rates_and_shares_have_three_digits() {
        assert_eq!((rate(85.34), rate(1234.5), rate(0.0)), ("85.3/s".into(), "1,235/s".into(), "0/s".into()));
        assert_eq!((share(0.0125), share(1.0), share(0.0)), ("1.25 %".into(), "100 %".into(), "0 %".into()));
        assert_eq!(rate(f64::NAN), "NaN/s");
    }
}
