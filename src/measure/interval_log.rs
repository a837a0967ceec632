//! `latency.hlog`: each interval's histograms, HdrHistogram V2 + deflate, tagged by series.
//!
//! Every interval is flushed, so that a run that is killed loses the open interval at the most.

use std::{
    collections::BTreeMap,
    fmt,
    io::{self, Write},
    time::{Duration, SystemTime},
};

use hdrhistogram::serialization::{
    V2DeflateSerializer,
    interval_log::{IntervalLogWriterBuilder, IntervalLogWriterError, Tag},
};

use super::{series::Series, times::Times};

/// Writes the intervals of a run.
pub(super) struct IntervalLog {
    writer: Box<dyn Write + Send>,
    serializer: V2DeflateSerializer,
}

impl fmt::Debug for IntervalLog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("IntervalLog").finish_non_exhaustive()
    }
}

impl IntervalLog {
    /// Begins a log. `began` is the wall-clock time at nanosecond 0 of the run.
    pub(super) fn begin(mut writer: Box<dyn Write + Send>, began: SystemTime, about: &str) -> io::Result<Self> {
        let mut serializer = V2DeflateSerializer::new();
        IntervalLogWriterBuilder::new()
            .add_comment(about)
            .add_comment("values in nanoseconds; tags are step/measure[/window]")
            .with_start_time(began)
            .with_base_time(began)
            .begin_log_with(&mut writer, &mut serializer)?;
        writer.flush()?;
        Ok(Self { writer, serializer })
    }

    /// Writes one interval, from `from` to `to` (nanoseconds since the run began).
    pub(super) fn write(&mut self, from: u64, to: u64, interval: &BTreeMap<Series, Times>) -> io::Result<()> {
        // The crate's writer borrows what it writes to, so each interval has its own; without headers it writes none.
        let mut log = IntervalLogWriterBuilder::new().begin_log_with(&mut self.writer, &mut self.serializer)?;
        let (start, length) = (Duration::from_nanos(from), Duration::from_nanos(to.saturating_sub(from)));
        for (series, times) in interval {
            let Some(histogram) = times.histogram() else { continue };
            let tag = series.to_string();
            log.write_histogram(histogram, start, length, Tag::new(&tag)).map_err(|error| match error {
                IntervalLogWriterError::IoError(error) => error,
                IntervalLogWriterError::SerializeError(error) => io::Error::other(format!("{error:?}")),
            })?;
        }
        self.writer.flush()
    }
}
