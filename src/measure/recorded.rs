//! Reads back what a run measured: the service times of one kind of request, out of its `latency.hlog`.

use std::time::Duration;

use base64::Engine as _;
use hdrhistogram::{
    Histogram,
    serialization::{
        Deserializer,
        interval_log::{IntervalLogIterator, LogEntry, LogIteratorError},
    },
};

use super::series::{Measure, Series, What, Window};
use crate::{history::record::Purpose, plan::PercentileTable};

/// The percentiles that are kept of a histogram: enough that what is drawn between them is as good as the histogram.
const KEPT: [f64; 31] = [
    0.0, 1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0, 65.0, 70.0, 75.0, 80.0, 85.0,
    90.0, 92.5, 95.0, 97.0, 98.0, 99.0, 99.5, 99.9, 99.95, 99.99, 100.0,
];

/// Why a log gives no service times.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotRecorded {
    /// It is something else.
    #[error("this is no interval log of a run; expected a `latency.hlog`")]
    NoLog,
    /// One of its histograms cannot be read.
    #[error("the histogram of `{0}` cannot be read; expected HdrHistogram V2")]
    NoHistogram(String),
    /// It has none of this step.
    #[error("it has no service times of `{step}`; expected one of {}", known.join(", "))]
    NoSuchStep {
        /// The step.
        step: String,
        /// The steps that it has.
        known: Vec<String>,
    },
    /// It has no service times at all.
    #[error("it has no service times; expected the `latency.hlog` of a run with requests in steady load")]
    Nothing,
}

/// The service times of a kind of request in steady load, from the first send to the answer, all intervals together.
///
/// # Errors
///
/// If `log` is no interval log, or has no such times.
pub fn recorded_service(log: &[u8], step: Purpose) -> Result<PercentileTable, NotRecorded> {
    let series = |step| Series { what: What::Step(step), measure: Measure::Service, window: Window::Steady };
    let wanted = series(step).to_string();
    let (mut all, mut known) = (Histogram::<u64>::new(3).map_err(|_| NotRecorded::NoLog)?, Vec::new());
    let mut deserializer = Deserializer::new();
    for entry in IntervalLogIterator::new(log) {
        let interval = match entry {
            Ok(LogEntry::Interval(interval)) => interval,
            Ok(LogEntry::StartTime(_) | LogEntry::BaseTime(_)) => continue,
            // What a run that was killed had begun to write.
            Err(LogIteratorError::ParseError { offset })
                if offset > 0 && !log.get(offset..).unwrap_or_default().contains(&b'\n') =>
            {
                break;
            }
            Err(LogIteratorError::ParseError { .. }) => return Err(NotRecorded::NoLog),
        };
        let Some(tag) = interval.tag().map(|tag| tag.as_str()) else { continue };
        if tag != wanted {
            if let Some(step) = tag.strip_suffix("/service").filter(|step| !known.iter().any(|known| known == step)) {
                known.push(step.to_owned());
            }
            continue;
        }
        let unreadable = || NotRecorded::NoHistogram(tag.to_owned());
        let bytes = base64::engine::general_purpose::STANDARD.decode(interval.encoded_histogram());
        let bytes = bytes.map_err(|_| unreadable())?;
        let histogram: Histogram<u64> = deserializer.deserialize(&mut bytes.as_slice()).map_err(|_| unreadable())?;
        all.add(histogram).map_err(|_| unreadable())?;
    }
    if all.is_empty() {
        let step = wanted.trim_end_matches("/service").to_owned();
        return Err(if known.is_empty() { NotRecorded::Nothing } else { NotRecorded::NoSuchStep { step, known } });
    }
    let value = |percentile: f64| match percentile {
        0.0 => all.min(),
        _ => all.value_at_quantile(percentile / 100.0),
    };
    let entries = KEPT.iter().map(|percentile| (*percentile, Duration::from_nanos(value(*percentile).min(all.max()))));
    PercentileTable::new(entries.collect()).ok_or(NotRecorded::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        history::record::Outcome,
        measure::{Meter, Sample},
    };
    use std::{
        io,
        sync::{Arc, Mutex},
        time::SystemTime,
    };

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("whole").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The log of a run of two seconds with a thousand confirms: 1 ms, 2 ms, … 1 s.
    fn log() -> Vec<u8> {
        let written = Shared::default();
        let meter = Meter::with_log(Box::new(written.clone()), SystemTime::UNIX_EPOCH, "a test").expect("writes");
        for number in 1..=1_000u64 {
            let done = number * 1_000_000;
            let (step, outcome) = (Purpose::Confirm, Outcome::View);
            meter.sample(Sample { step, intended: 0, held: 0, sent: 0, done, outcome, why: None });
            if number == 500 {
                meter.tick(1_000_000_000).expect("writes");
            }
        }
        meter.tick(2_000_000_000).expect("writes");
        written.0.lock().expect("whole").clone()
    }

    #[test]
    fn what_was_measured_is_what_is_read() {
        let table = recorded_service(&log(), Purpose::Confirm).expect("has confirms");
        for (percentile, expected) in [(0.0, 0.001), (50.0, 0.5), (62.5, 0.625), (99.0, 0.99), (100.0, 1.0)] {
            let seen = table.at(percentile).as_secs_f64();
            assert!((seen / expected - 1.0).abs() < 0.002, "p{percentile}: {seen} instead of {expected}");
        }
    }

    #[test]
    fn a_line_that_breaks_off_ends_a_log() {
        let whole = log();
        let broken = [&whole[..], b"Tag=confirm/service,2.0,1.0"].concat();
        assert_eq!(recorded_service(&broken, Purpose::Confirm), recorded_service(&whole, Purpose::Confirm));
    }

    #[test]
    fn what_is_none_is_said_to_be_none() {
        let missing = NotRecorded::NoSuchStep { step: "cancel".into(), known: vec!["confirm".into()] };
        assert_eq!(recorded_service(&log(), Purpose::Cancel), Err(missing));
        assert_eq!(recorded_service(b"", Purpose::Read), Err(NotRecorded::Nothing));
        assert_eq!(recorded_service(b"scenario: a\n", Purpose::Read), Err(NotRecorded::NoLog));
        let broken = String::from_utf8(log()).expect("a log is text").replace("HIST", "HUST");
        assert_eq!(
            recorded_service(broken.as_bytes(), Purpose::Confirm),
            Err(NotRecorded::NoHistogram("confirm/service".into()))
        );
    }
}
