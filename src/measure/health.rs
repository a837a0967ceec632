//! Whether the generator kept its schedule. If it did not, figures say more about it than about the Companies, and
//! the run is inconclusive.

use std::time::Duration;

use super::{Counts, Figures, Times, step_word};
use crate::history::record::Purpose;

/// The highest 99th percentile of lag that an open model bears: its figures claim a rate.
const OPEN_LAG_P99_MAX: Duration = Duration::from_millis(100);

/// The highest 99th percentile of lag that a closed model bears. It claims no rate and gives way by itself when a
/// machine is slow, so only a lag that overshadows think times spoils it.
const CLOSED_LAG_P99_MAX: Duration = Duration::from_secs(1);

/// The least share of the journeys due that an open model has to have started.
const ACHIEVED_SHARE_MIN: f64 = 0.95;

/// The share of the machine from which on it is named as the cause.
const BUSY_SHARE: f64 = 0.9;

/// Ends of journeys that never had an offer to confirm, or none that the Company stood by. If all end so, nothing was tried.
const FRUITLESS_ENDS: [&str; 6] = ["gave-up", "lost", "not-discovered", "not-offered", "not-signed-in", "refused"];

/// What load was meant to be, and what it cost: handed in, since a meter knows neither the plan nor the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Offered {
    /// Journeys that the schedule of an open model had due in steady load; `None` in a closed model.
    pub journeys: Option<u64>,
    /// CPU time that the process used during load, where it is known.
    pub cpu: Option<Duration>,
    /// How long load lasted.
    pub wall: Duration,
    /// CPUs that the process may use, where it is known.
    pub cpus: Option<u32>,
    /// The most memory that the process held at once, in bytes, where it is known.
    pub memory_bytes_max: Option<u64>,
    /// Whether time was virtual: then nothing starts late because the machine is slow, and lag is no reason.
    pub virtual_time: bool,
}

/// How the generator did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Health {
    /// The 99th percentile of lag: of requests and of journeys' starts, whichever is greater.
    pub lag_p99: Option<Duration>,
    /// The greatest lag of requests and journeys' starts.
    pub lag_max: Option<Duration>,
    /// Journeys due a second, in an open model.
    pub offered_per_second: Option<f64>,
    /// Journeys started a second.
    pub achieved_per_second: Option<f64>,
    /// Journeys skipped because too many were in flight.
    pub dropped: u64,
    /// CPU seconds used during load.
    pub cpu_seconds: Option<f64>,
    /// CPU seconds per second and CPU: 1 is the whole machine.
    pub cpu_share: Option<f64>,
    /// The most memory held at once, in bytes.
    pub memory_bytes_max: Option<u64>,
    /// Why the run is inconclusive; empty if the generator kept its schedule.
    pub inconclusive: Vec<Inconclusive>,
}

/// One reason why a run is inconclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inconclusive {
    /// What was found, with the limit.
    pub reason: String,
    /// What to change.
    pub change: String,
}

/// Judges the generator.
#[must_use]
pub fn health(figures: &Figures, offered: &Offered) -> Health {
    let (requests, arrivals) = (figures.lag(), &figures.arrival_lag);
    let steady = figures.steady_for.as_secs_f64();
    let per_second = |count: u64| (steady > 0.0).then(|| count as f64 / steady);
    let cpu_seconds = offered.cpu.map(|cpu| cpu.as_secs_f64());
    let capacity = offered.cpus.map(|cpus| f64::from(cpus) * offered.wall.as_secs_f64());
    let cpu_share = cpu_seconds.zip(capacity).filter(|(_, capacity)| *capacity > 0.0).map(|(cpu, all)| cpu / all);
    Health {
        lag_p99: p99(&requests).max(p99(arrivals)),
        lag_max: requests.max().max(arrivals.max()),
        offered_per_second: offered.journeys.and_then(per_second),
        achieved_per_second: per_second(figures.counts.arrivals_steady),
        dropped: figures.counts.dropped,
        cpu_seconds,
        cpu_share,
        memory_bytes_max: offered.memory_bytes_max,
        inconclusive: reasons(figures, offered, &requests, cpu_share),
    }
}

fn p99(times: &Times) -> Option<Duration> {
    times.percentile(99.0)
}

fn reasons(figures: &Figures, offered: &Offered, requests: &Times, cpu_share: Option<f64>) -> Vec<Inconclusive> {
    if figures.counts.steps.is_empty() && figures.counts.arrivals == 0 {
        return vec![Inconclusive {
            reason: "nothing was sent".into(),
            change: "let load last longer than its first think time, and give journeys a weight".into(),
        }];
    }
    let (limit, model) = match offered.journeys {
        Some(_) => (OPEN_LAG_P99_MAX, "an open model"),
        None => (CLOSED_LAG_P99_MAX, "a closed model"),
    };
    let mut reasons: Vec<Inconclusive> = fruitless(&figures.counts).into_iter().collect();
    for (what, lag, cap) in [("requests", p99(requests), false), ("journeys", p99(&figures.arrival_lag), true)] {
        let Some(lag) = lag.filter(|lag| *lag > limit && !offered.virtual_time) else { continue };
        reasons.push(Inconclusive {
            reason: format!(
                "1 % of {what} started {} ms or more late ({model} may be {} ms late)",
                lag.as_millis(),
                limit.as_millis()
            ),
            change: advice(offered.journeys.is_some(), cap, cpu_share),
        });
    }
    let achieved = figures.counts.arrivals_steady;
    if let Some(due) = offered.journeys.filter(|due| (achieved as f64) < *due as f64 * ACHIEVED_SHARE_MIN) {
        reasons.push(Inconclusive {
            reason: format!(
                "{achieved} of {due} journeys due were started, {} of them not at all (at least {:.0} % have to start)",
                figures.counts.dropped,
                ACHIEVED_SHARE_MIN * 100.0
            ),
            change: advice(true, true, cpu_share),
        });
    }
    reasons
}

/// A run in which no journey came as far as a confirm, for all of them failed before: it proves nothing of confirms.
fn fruitless(counts: &Counts) -> Option<Inconclusive> {
    let all_failed = counts.journeys.keys().all(|end| FRUITLESS_ENDS.contains(&end.as_str()));
    if counts.journeys.is_empty() || !all_failed || counts.steps.contains_key(&Purpose::Confirm) {
        return None;
    }
    let ends: Vec<String> = counts.journeys.iter().map(|(end, count)| format!("{count} {end}")).collect();
    let reasons = counts.steps.iter().flat_map(|(step, calls)| calls.reasons.iter().map(move |reason| (step, reason)));
    let worst = reasons.max_by_key(|(_, (_, count))| **count);
    let worst =
        worst.map(|(step, (why, count))| format!("; most often {} ended with {why}: {count}", step_word(*step)));
    Some(Inconclusive {
        reason: format!("no journey came as far as a confirm: {}{}", ends.join(", "), worst.unwrap_or_default()),
        change: "see that the Agents' keys, addresses and requests are what the Company expects".into(),
    })
}

/// What to change, in the order of what helps most.
fn advice(open: bool, cap: bool, cpu_share: Option<f64>) -> String {
    let busy = cpu_share.is_some_and(|share| share >= BUSY_SHARE);
    let less = if open { "lower the arrival rate" } else { "use fewer agents or longer think times" };
    match (busy, open && cap) {
        (true, _) => format!("the machine was busy: {less}, or use a machine with more CPUs"),
        (false, true) => format!("raise in_flight, or {less}"),
        (false, false) => format!("{less}, or look for what held the process up"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        history::record::{Outcome, Purpose},
        measure::{Meter, Sample},
    };

    const MILLISECOND: u64 = 1_000_000;
    const SECOND: u64 = 1_000 * MILLISECOND;

    /// A hundred journeys in ten seconds, each started `late` after it was due and its request sent `lag` after that.
    fn figures(late: u64, lag: u64) -> Figures {
        let meter = Meter::new();
        for index in 0..100 {
            let due = index * 100 * MILLISECOND;
            meter.arrival(due, due + late);
            let (sent, outcome) = (due + lag, Outcome::View);
            meter.sample(Sample {
                step: Purpose::Propose,
                intended: due,
                held: 0,
                sent,
                done: sent + MILLISECOND,
                outcome,
                why: None,
            });
        }
        meter.figures(10 * SECOND)
    }

    fn offered(journeys: Option<u64>) -> Offered {
        Offered {
            journeys,
            cpu: Some(Duration::from_secs(5)),
            wall: Duration::from_secs(10),
            cpus: Some(2),
            memory_bytes_max: None,
            virtual_time: false,
        }
    }

    #[test]
    fn a_generator_on_schedule_is_healthy() {
        let health = health(&figures(2 * MILLISECOND, 3 * MILLISECOND), &offered(Some(100)));
        assert_eq!(health.inconclusive, []);
        assert_eq!((health.offered_per_second, health.achieved_per_second), (Some(10.0), Some(10.0)));
        assert_eq!(health.lag_p99.expect("lag").as_millis(), 3);
        assert_eq!((health.cpu_seconds, health.cpu_share), (Some(5.0), Some(0.25)));
    }

    #[test]
    fn lag_beyond_the_limit_of_its_model_makes_a_run_inconclusive() {
        let late = figures(0, 150 * MILLISECOND);
        let open = health(&late, &offered(Some(100)));
        assert_eq!(open.inconclusive.len(), 1);
        assert!(open.inconclusive[0].reason.contains("requests"), "{:?}", open.inconclusive);
        assert_eq!(health(&late, &offered(None)).inconclusive, []);
        let closed = health(&figures(0, 1_500 * MILLISECOND), &offered(None));
        assert!(closed.inconclusive[0].change.contains("fewer agents"), "{:?}", closed.inconclusive);
    }

    #[test]
    fn in_virtual_time_lag_is_no_reason_but_journeys_that_never_started_are() {
        let virtual_time = |journeys| Offered { virtual_time: true, ..offered(Some(journeys)) };
        let late = figures(0, 150 * MILLISECOND);
        assert_eq!(health(&late, &virtual_time(100)).inconclusive, []);
        assert_eq!(health(&late, &virtual_time(106)).inconclusive.len(), 1);
    }

    #[test]
    fn journeys_held_back_by_the_cap_point_to_the_cap() {
        let queued = health(&figures(500 * MILLISECOND, 0), &offered(Some(100)));
        assert!(queued.inconclusive[0].change.contains("in_flight"), "{:?}", queued.inconclusive);
    }

    #[test]
    fn too_few_journeys_started_make_a_run_inconclusive() {
        let on_time = figures(0, 0);
        assert_eq!(health(&on_time, &offered(Some(105))).inconclusive, []);
        let short = health(&on_time, &offered(Some(106)));
        assert!(short.inconclusive[0].reason.starts_with("100 of 106"), "{:?}", short.inconclusive);
    }

    #[test]
    fn a_busy_machine_is_named() {
        let busy = Offered { cpu: Some(Duration::from_secs(19)), ..offered(Some(200)) };
        let short = health(&figures(0, 0), &busy);
        assert!(short.inconclusive[0].change.contains("machine was busy"), "{:?}", short.inconclusive);
    }

    #[test]
    fn a_run_in_which_no_journey_came_as_far_as_a_confirm_is_no_pass() {
        let mut figures = figures(0, 0);
        figures.counts.journeys = [("not-signed-in".into(), 2), ("refused".into(), 98)].into();
        let mut token = super::super::StepCounts::default();
        token.reasons.insert("invalid_client".into(), 20);
        figures.counts.steps.insert(Purpose::Token, token);
        let found = health(&figures, &offered(Some(100))).inconclusive;
        assert_eq!(
            found[0].reason,
            "no journey came as far as a confirm: 2 not-signed-in, 98 refused; most often token ended with invalid_client: 20"
        );
        // One that went another way, or a confirm that was refused, tells something.
        figures.counts.journeys.insert("extension-required".into(), 1);
        assert_eq!(health(&figures, &offered(Some(100))).inconclusive, []);
        figures.counts.journeys.remove("extension-required");
        figures.counts.steps.insert(Purpose::Confirm, super::super::StepCounts::default());
        assert_eq!(health(&figures, &offered(Some(100))).inconclusive, []);
    }

    #[test]
    fn a_run_in_which_nothing_happened_is_no_pass() {
        let health = health(&Figures::default(), &Offered::default());
        assert_eq!(health.inconclusive.len(), 1);
        assert_eq!((health.lag_p99, health.achieved_per_second, health.cpu_share), (None, None, None));
    }
}
