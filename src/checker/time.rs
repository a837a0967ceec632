//! Wall-clock times as a Company writes them, with the precision they were written in.

/// A time that was written with a limited precision: any instant from `from` to `to`, in nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wall {
    pub(crate) from: i64,
    pub(crate) to: i64,
}

impl Wall {
    /// Reads an RFC 3339 time. One without a fraction stands for the whole second, one with a fraction for the whole
    /// of its last digit, since nobody says how the rest was rounded away.
    pub(crate) fn parse(text: &str) -> Option<Wall> {
        let instant: jiff::Timestamp = text.parse().ok()?;
        let from = i64::try_from(instant.as_nanosecond()).ok()?;
        let digits = match text.split_once('.') {
            Some((_, fraction)) => fraction.bytes().take_while(u8::is_ascii_digit).count().min(9),
            None => 0,
        };
        // At most nine digits, so the power and its cast are in range.
        let unit = 10_i64.pow(9 - digits as u32);
        Some(Wall { from, to: from.checked_add(unit - 1)? })
    }

    /// How long the written time may differ from the true one, in nanoseconds.
    pub(crate) fn precision(self) -> i64 {
        self.to - self.from + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precision_follows_the_fraction() {
        let second = Wall::parse("2026-01-01T00:00:05Z").expect("parses");
        assert_eq!(second.precision(), 1_000_000_000);
        let milli = Wall::parse("2026-01-01T00:00:05.250+00:00").expect("parses");
        assert_eq!(milli.precision(), 1_000_000);
        assert_eq!(milli.from - second.from, 250_000_000);
        assert_eq!(Wall::parse("2026-01-01T00:00:05.123456789Z").map(Wall::precision), Some(1));
        let offset = Wall::parse("2025-12-31T17:00:05-07:00").expect("parses");
        assert_eq!(offset, second);
    }

    #[test]
    fn what_is_no_time_is_nothing() {
        for text in ["", "yesterday", "2026-01-01", "9999999-01-01T00:00:00Z", "2026-01-01T00:00:00"] {
            assert_eq!(Wall::parse(text), None, "{text}");
        }
    }
}
