//! The line that shows how a run gets on. Whether and where it is shown is the command line's affair.

use std::time::Duration;

use super::format::count;

/// How far a run is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Progress {
    /// Since load began.
    pub elapsed: Duration,
    /// How long load is meant to last, if that is known.
    pub planned: Option<Duration>,
    /// Load is over; what is open may come to its end.
    pub settling: bool,
    /// Journeys under way.
    pub in_flight: u64,
    /// Journeys that ended.
    pub ended: u64,
    /// Confirms of late, per second.
    pub confirms_per_second: f64,
    /// Calls that ended without an answer.
    pub unknown: u64,
    /// Faults that struck.
    pub faults: u64,
}

/// The line: `12 s of 30 s  142 in flight  1,204 ended  85 confirms/s  12 unknown  87 faults`.
#[must_use]
pub fn line(progress: &Progress) -> String {
    let seconds = progress.elapsed.as_secs();
    let time = match (progress.settling, progress.planned) {
        (true, _) => format!("{seconds} s, settling"),
        (false, Some(planned)) => format!("{seconds} s of {} s", planned.as_secs_f64().ceil()),
        (false, None) => format!("{seconds} s"),
    };
    format!(
        "{time}  {} in flight  {} ended  {} confirms/s  {} unknown  {} faults",
        count(progress.in_flight),
        count(progress.ended),
        count(progress.confirms_per_second.max(0.0).round() as u64),
        count(progress.unknown),
        count(progress.faults),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_a_run_is() {
        let progress = Progress {
            elapsed: Duration::from_millis(12_900),
            planned: Some(Duration::from_secs(30)),
            settling: false,
            in_flight: 142,
            ended: 1204,
            confirms_per_second: 84.7,
            unknown: 12,
            faults: 87,
        };
        assert_eq!(line(&progress), "12 s of 30 s  142 in flight  1,204 ended  85 confirms/s  12 unknown  87 faults");
        let endless = Progress { planned: None, ..progress };
        assert!(line(&endless).starts_with("12 s  142"));
        let settling = Progress { settling: true, in_flight: 3, ..progress };
        assert!(line(&settling).starts_with("12 s, settling  3 in flight"));
    }
}
