//! Latencies of a simulated run follow from the configured distributions, and the waits of a Company with a capacity from
//! nothing but its requests: both are held to the analytic percentiles.
//!
//! The seed is fixed, so that a test gives the same figures each time. How far they may lie off is what chance allows: the
//! share of samples up to an analytic percentile is binomial, and four of its standard deviations are granted; waits in a
//! queue depend on each other, so that only as many samples count as are independent of each other.

use std::{fs, time::Duration};

use poppyfield::{
    history::record::Purpose,
    identity::Signatures,
    measure::Times,
    scenario::{self, Overrides},
    sim::Outcome,
};

/// Standard deviations that chance may take.
const DEVIATIONS: f64 = 4.0;

/// How far two values of a histogram with three digits may lie apart that are the same.
const RESOLUTION: f64 = 0.002;

/// The times of proposals, which are all that takes time: so many seconds of them, at random, so many a second.
fn proposals(company: &str, rate: u32, seconds: u32) -> Times {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("latency.yaml");
    let text = format!(
        "scenario: latency\nseed: 11\ncompanies: {{ shop: {{ company: {{ company: shop, {company}, actions: {{ a: {{ steps: [{{ \
         name: s }}] }} }} }} }} }}\nagents: {{ users: 50, request_timeout: 5m }}\njourneys: {{ j: {{ steps: [propose: {{ at: \
         shop, action: a }}, walk-away] }} }}\nload: [open: {{ rate: {rate}/s, warm_up: 10s, for: {}s }}]\n",
        seconds + 10
    );
    fs::write(&path, text).expect("the scenario can be written");
    let plan = scenario::load(&path, &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"));
    let outcome = Outcome::of(&plan.into(), Signatures::Fast).unwrap_or_else(|error| panic!("{error}"));
    let figures = outcome.meter.figures(outcome.simulated.ran.ended.as_nanos());
    let times = figures.response(Some(Purpose::Propose));
    let expected = f64::from(rate * seconds);
    assert!((times.count() as f64 - expected).abs() < DEVIATIONS * expected.sqrt(), "{} proposals", times.count());
    times
}

/// Holds the 50th, 90th and 99th percentile to those of a distribution function, which is given by its inverse.
fn assert_percentiles(what: &str, times: &Times, independent: f64, inverse: impl Fn(f64) -> f64) {
    for share in [0.5f64, 0.9, 0.99] {
        let off = DEVIATIONS * (share * (1.0 - share) / independent).sqrt();
        let least = inverse((share - off).max(0.0)) * (1.0 - RESOLUTION);
        let most = inverse((share + off).min(1.0 - 1e-9)) * (1.0 + RESOLUTION);
        let seen = times.percentile(share * 100.0).unwrap_or_default().as_secs_f64();
        assert!((least..=most).contains(&seen), "{what}, {share}: {seen} s is not from {least} to {most}");
        // A tolerance that lets everything pass would show nothing.
        assert!(most < 2.0 * least, "{what}, {share}: from {least} to {most}");
    }
}

/// The mean, in seconds.
fn mean(times: &Times) -> f64 {
    times.histogram().map_or(0.0, |histogram| histogram.mean() / 1e9)
}

/// The inverse of a growing function, from 0 to a minute.
fn inverted(function: impl Fn(f64) -> f64) -> impl Fn(f64) -> f64 {
    move |share| {
        let (mut low, mut high) = (0.0, 60.0);
        for _ in 0..80 {
            let middle = (low + high) / 2.0;
            if function(middle) < share { low = middle } else { high = middle }
        }
        high
    }
}

/// The standard normal distribution function (Abramowitz and Stegun 26.2.17; off by less than 1e-7).
fn normal(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let series = [1.330_274_429, -1.821_255_978, 1.781_477_937, -0.356_563_782, 0.319_381_530];
    let tail = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt() * series.iter().fold(0.0, |sum, c| (sum + c) * t);
    if z < 0.0 { tail } else { 1.0 - tail }
}

#[test]
fn latencies_follow_the_distributions_that_a_company_is_given() {
    let uniform = |share: f64| 0.010 + 0.020 * share;
    let exponential = |share: f64| -0.020 * (1.0 - share).ln();
    let sigma = 10f64.ln() / 2.326_347_874_040_841; // the 99th percentile is ten times the median
    let log_normal = inverted(move |time: f64| normal((time / 0.004).ln() / sigma));
    let inverses: [(&str, &dyn Fn(f64) -> f64); 4] = [
        ("20ms", &|_| 0.020),
        ("{ uniform: { from: 10ms, to: 30ms } }", &uniform),
        ("{ exponential: { mean: 20ms } }", &exponential),
        ("{ log-normal: { median: 4ms, p99: 40ms } }", &log_normal),
    ];
    for (distribution, inverse) in inverses {
        let times = proposals(&format!("answers: {{ latency: {distribution} }}"), 40, 75);
        assert_percentiles(distribution, &times, times.count() as f64, inverse);
    }
}

/// A quarter of what one worker can do: 12 a second, of 50. So a queue forgets quickly, and few samples show much.
const ARRIVING: f64 = 12.0;
const SERVED: f64 = 50.0;

fn one_worker(service: &str) -> String {
    format!("answers: {{ latency: 0ms }}, capacity: {{ workers: 1, service: {service} }}")
}

/// How many of the waits of a queue in so many seconds are independent: it forgets within its relaxation time.
fn independent(arriving: f64, served: f64, seconds: f64) -> f64 {
    let relaxation = (served.sqrt() - arriving.sqrt()).powi(-2);
    seconds / (2.0 * relaxation)
}

/// M/M/1: the time at the Company is exponential, of the rate that is left.
#[test]
fn waits_for_one_worker_with_exponential_times_are_those_of_the_formula() {
    let times = proposals(&one_worker("{ exponential: { mean: 20ms } }"), 12, 400);
    let independent = independent(ARRIVING, SERVED, 400.0);
    assert_percentiles("M/M/1", &times, independent, |share| -(1.0 - share).ln() / (SERVED - ARRIVING));
    let expected = 1.0 / (SERVED - ARRIVING);
    let off = DEVIATIONS * expected / independent.sqrt(); // an exponential's deviation is its mean
    assert!((mean(&times) - expected).abs() < off, "{} s is not {expected} ± {off}", mean(&times));
}

/// M/D/1: Erlang's distribution of the wait, and Pollaczek and Khinchine's mean.
#[test]
fn waits_for_one_worker_with_constant_times_are_those_of_the_formula() {
    let times = proposals(&one_worker("20ms"), 12, 400);
    let (load, service) = (ARRIVING / SERVED, 1.0 / SERVED);
    let wait = move |time: f64| {
        let mut factorial = 1.0;
        let terms = (0..=(time / service).floor() as i32).map(|k| {
            factorial *= f64::from(k.max(1));
            let x = ARRIVING * (f64::from(k) * service - time);
            x.powi(k) / factorial * (-x).exp()
        });
        (1.0 - load) * terms.sum::<f64>()
    };
    let independent = independent(ARRIVING, SERVED, 400.0);
    // Up to half a second, where the sum of growing terms still keeps its digits.
    let response = inverted(move |time| if time < service { 0.0 } else { wait((time - service).min(0.2)) });
    assert_percentiles("M/D/1", &times, independent, response);
    let expected = service + load * service / (2.0 * (1.0 - load));
    let square = 2.0 * (expected - service).powi(2) + ARRIVING * service.powi(3) / (3.0 * (1.0 - load));
    let off = DEVIATIONS * ((square - (expected - service).powi(2)) / independent).sqrt();
    assert!((mean(&times) - expected).abs() < off, "{} s is not {expected} ± {off}", mean(&times));
}

/// M/M/2, with the two connections of a database for servers: Erlang's C.
#[test]
fn waits_for_a_connection_are_those_of_the_formula() {
    let database = "database: { connections: 2, time: { exponential: { mean: 20ms } } }";
    let company = format!("answers: {{ latency: 0ms }}, capacity: {{ workers: 1000, service: 0ms, {database} }}");
    let times = proposals(&company, 40, 75);
    let (arriving, left) = (40.0, 2.0 * SERVED - 40.0);
    let offered: f64 = arriving / SERVED;
    let queueing = offered.powi(2) / 2.0 / (1.0 - offered / 2.0);
    let waits = queueing / (1.0 + offered + queueing);
    let expected = 1.0 / SERVED + waits / left;
    let variance = 1.0 / SERVED.powi(2) + waits * (2.0 - waits) / left.powi(2);
    let off = DEVIATIONS * (variance / independent(arriving, 2.0 * SERVED, 75.0)).sqrt();
    assert!((mean(&times) - expected).abs() < off, "{} s is not {expected} ± {off}", mean(&times));
    assert!(times.percentile(50.0) > Some(Duration::ZERO));
}
