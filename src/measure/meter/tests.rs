//! A meter's figures, its windows, and its log.

use std::{
    io::{self, Cursor},
    sync::{Arc, Mutex},
    time::SystemTime,
};

use hdrhistogram::{
    Histogram,
    serialization::{
        Deserializer,
        interval_log::{IntervalLogIterator, LogEntry},
    },
};
use proptest::prelude::*;

use super::*;
use crate::measure::counter;

const SECOND: u64 = 1_000_000_000;

/// A writer whose bytes the test can read afterwards.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<Vec<u8>>>);

impl Write for Shelf {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a log holds: the sum of its intervals by tag, read by the crate's own reader.
fn read_back(log: &[u8]) -> BTreeMap<String, Histogram<u64>> {
    let mut sums: BTreeMap<String, Histogram<u64>> = BTreeMap::new();
    for entry in IntervalLogIterator::new(log) {
        let LogEntry::Interval(interval) = entry.expect("a line of the log") else { continue };
        let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, interval.encoded_histogram())
            .expect("base64");
        let part: Histogram<u64> = Deserializer::new().deserialize(&mut Cursor::new(bytes)).expect("a histogram");
        let tag = interval.tag().expect("a tag").as_str().to_owned();
        match sums.get_mut(&tag) {
            Some(sum) => sum.add(&part).expect("one shape"),
            None => {
                sums.insert(tag, part);
            }
        }
    }
    sums
}

fn confirm(intended: u64, sent: u64, done: u64, outcome: Outcome) -> Sample {
    Sample { step: Purpose::Confirm, intended, held: 0, sent, done, outcome, why: None }
}

fn millis(times: &Times, percentile: f64) -> u128 {
    times.percentile(percentile).expect("a value").as_millis()
}

#[test]
fn response_counts_from_the_intended_start_and_service_from_the_send() {
    let meter = Meter::new();
    meter.sample(confirm(0, 900_000_000, 910_000_000, Outcome::View));
    let figures = meter.figures(SECOND);
    let step = &figures.steps[&Purpose::Confirm];
    assert_eq!((millis(&step.response, 50.0), millis(&step.service, 50.0), millis(&step.lag, 50.0)), (910, 10, 900));
}

#[test]
fn a_call_without_an_answer_is_counted_but_its_time_is_in_no_answer_figure() {
    let meter = Meter::new();
    meter.sample(confirm(0, 0, 800_000_000, Outcome::Unknown));
    meter.sample(confirm(0, 0, 1_000_000, Outcome::Unsent));
    meter.sample(confirm(0, 0, 5_000_000, Outcome::Refused));
    let figures = meter.figures(SECOND);
    let step = &figures.steps[&Purpose::Confirm];
    assert_eq!((step.response.count(), step.service.count(), step.unanswered.count(), step.lag.count()), (1, 1, 2, 2));
    assert_eq!(millis(&step.response, 100.0), 5);
    assert_eq!(figures.counts.outcome(Outcome::Unknown), 1);
    assert_eq!(figures.counts.steps[&Purpose::Confirm].calls(), 3);
}

#[test]
fn what_was_intended_outside_steady_load_is_in_no_time_figure() {
    let meter = Meter::new();
    meter.steady(SECOND, 3 * SECOND);
    for intended in [SECOND - 1, SECOND, 3 * SECOND - 1, 3 * SECOND] {
        meter.sample(confirm(intended, intended, intended + 1_000_000, Outcome::View));
    }
    let figures = meter.figures(5 * SECOND);
    assert_eq!(figures.steps[&Purpose::Confirm].response.count(), 2);
    let counts = &figures.counts.steps[&Purpose::Confirm];
    assert_eq!((counts.outcomes[&Outcome::View], counts.outcomes_steady[&Outcome::View]), (4, 2));
    assert_eq!(figures.steady_for, Duration::from_secs(2));
}

#[test]
fn steady_load_ends_with_load_when_a_run_is_cut_short() {
    let meter = Meter::new();
    meter.steady(SECOND, 30 * SECOND);
    meter.finished(State::Succeeded, true, SECOND / 2);
    meter.finished(State::Succeeded, true, 2 * SECOND);
    meter.finished(State::Failed, true, 3 * SECOND);
    meter.finished(State::Cancelled, false, 3 * SECOND);
    meter.load_ended(5 * SECOND);
    meter.finished(State::Succeeded, true, 6 * SECOND);
    let figures = meter.figures(9 * SECOND);
    assert_eq!(figures.steady_for, Duration::from_secs(4));
    assert_eq!(figures.counts.finals_confirmed_steady, 2, "neither the warm-up, nor the decline, nor the settling");
    assert_eq!(figures.throughput(), Some(0.5));
    assert_eq!(figures.counts.finals_all(), 5);
}

#[test]
fn everything_that_is_counted_is_found_again() {
    let meter = Meter::new();
    let other = meter.clone();
    other.arrival(0, 2_000_000);
    other.journey(0, SECOND, "done");
    other.dropped();
    other.fault("crash", Some("perform.after-effect"));
    other.fault("lose-answer", None);
    other.count(counter::CONFIRMS);
    other.recovered(3 * SECOND);
    let figures = meter.figures(SECOND);
    let counts = &figures.counts;
    assert_eq!((counts.arrivals, counts.dropped, counts.recoveries, counts.faults_all()), (1, 1, 1, 2));
    assert_eq!(counts.journeys["done"], 1);
    assert_eq!(counts.crash_points["perform.after-effect"], 1);
    assert_eq!((counts.counter(counter::CONFIRMS), counts.counter(counter::TERMS_CHANGED)), (1, 0));
    let seconds = |times: &Times| times.percentile(50.0).expect("a value").as_secs();
    assert_eq!((seconds(&figures.recovery), seconds(&figures.journeys)), (3, 1));
    assert_eq!(millis(&figures.arrival_lag, 50.0), 2);
}

#[test]
fn a_log_that_cannot_be_written_fails_once_and_costs_no_figure() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    assert!(Meter::with_log(Box::new(Full(0)), SystemTime::UNIX_EPOCH, "full").is_err());

    let meter = Meter::with_log(Box::new(Full(200)), SystemTime::UNIX_EPOCH, "nearly full").expect("the head fits");
    meter.sample(confirm(0, 0, 1_000_000, Outcome::View));
    let error = meter.tick(SECOND).expect_err("the interval does not fit");
    assert_eq!(error.0.kind(), io::ErrorKind::StorageFull);
    meter.sample(confirm(SECOND, SECOND, SECOND + 1_000_000, Outcome::View));
    assert!(meter.tick(2 * SECOND).is_ok());
    assert_eq!(meter.figures(2 * SECOND).steps[&Purpose::Confirm].response.count(), 2);
}

#[test]
fn intervals_follow_each_other_without_gap_and_quiet_seconds_take_no_line() {
    let shelf = Shelf::default();
    let meter = Meter::with_log(Box::new(shelf.clone()), SystemTime::UNIX_EPOCH, "run").expect("begins");
    for second in [0, 1, 3] {
        meter.sample(confirm(second * SECOND, second * SECOND, second * SECOND + 1000, Outcome::View));
        if second == 3 {
            meter.tick(3 * SECOND).expect("a quiet tick");
        }
        meter.tick((second + 1) * SECOND).expect("ticks");
    }
    let log = lock(&shelf.0).clone();
    let spans: Vec<(u64, u64)> = IntervalLogIterator::new(&log)
        .filter_map(|entry| match entry.expect("a line") {
            LogEntry::Interval(interval) if interval.tag().is_some_and(|tag| tag.as_str() == "confirm/response") => {
                Some((interval.start_timestamp().as_secs(), interval.duration().as_secs()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(spans, [(0, 1), (1, 1), (2, 1)]);
    assert!(String::from_utf8(log).expect("text").starts_with("#run\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn the_intervals_of_the_log_add_up_to_the_figures(
        samples in proptest::collection::vec((0..20 * SECOND, 0..SECOND, 0..4 * SECOND, 0..5usize, 0..3usize), 1..120),
    ) {
        const OUTCOMES: [Outcome; 5] =
            [Outcome::View, Outcome::Done, Outcome::Refused, Outcome::Unknown, Outcome::Unsent];
        const STEPS: [Purpose; 3] = [Purpose::Propose, Purpose::Confirm, Purpose::Read];
        let shelf = Shelf::default();
        let meter = Meter::with_log(Box::new(shelf.clone()), SystemTime::UNIX_EPOCH, "run").expect("begins");
        meter.steady(5 * SECOND, 15 * SECOND);
        for (index, (intended, lag, service, outcome, step)) in samples.iter().enumerate() {
            let sent = intended + lag;
            let (step, outcome) = (STEPS[*step], OUTCOMES[*outcome]);
            meter.sample(Sample { step, intended: *intended, held: 0, sent, done: sent + service, outcome, why: None });
            meter.recovered(*service);
            if index % 7 == 0 {
                meter.tick(index as u64 * SECOND).expect("ticks");
            }
        }
        meter.tick(200 * SECOND).expect("ticks");
        let figures = meter.figures(200 * SECOND);
        let sums = read_back(&lock(&shelf.0));
        for step in STEPS {
            let of_step = figures.steps.get(&step).cloned().unwrap_or_default();
            let word = crate::measure::step_word(step);
            for (measure, times) in [
                ("response", &of_step.response),
                ("service", &of_step.service),
                ("lag", &of_step.lag),
                ("unanswered", &of_step.unanswered),
            ] {
                prop_assert_eq!(sums.get(&format!("{word}/{measure}")), times.histogram(), "{}/{}", word, measure);
            }
        }
        prop_assert_eq!(sums.get("recovery/took"), figures.recovery.histogram());
        let lags: u64 = sums.iter().filter(|(tag, _)| tag.contains("/lag")).map(|(_, sum)| sum.len()).sum();
        let sent = samples.iter().filter(|sample| OUTCOMES[sample.3] != Outcome::Unsent).count();
        prop_assert_eq!(lags, sent as u64, "what lies outside steady load is in the log, too");
    }
}

#[test]
fn what_the_scenario_holds_back_is_response_time_and_no_lag() {
    let meter = Meter::new();
    let held = Sample { held: 400_000_000, ..confirm(0, 403_000_000, 410_000_000, Outcome::View) };
    meter.sample(held);
    meter.held();
    let figures = meter.figures(SECOND);
    let confirms = &figures.steps[&Purpose::Confirm];
    assert!(confirms.lag.max().is_some_and(|lag| lag < Duration::from_millis(4)), "{confirms:?}");
    assert!(confirms.response.max().is_some_and(|time| time >= Duration::from_millis(409)), "{confirms:?}");
    assert_eq!(figures.counts.held, 1);
}
