//! What the run is held to: invariants, expectations, minimums, thresholds.

use smol_str::SmolStr;

use super::lines::{self, ReachLine};
use crate::plan::{Expectation, Fault, FaultKind, Invariants, Network, Reach, ReachCounter, Threshold};
use crate::scenario::problem::{Findings, nearest, shown};
use crate::scenario::raw::{ExpectSettings, InvariantsSettings};
use crate::scenario::value::At;

/// What names in these sections can refer to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged<'a> {
    pub(super) anomalies: &'a [&'a str],
    pub(super) faults: &'a [Fault],
    pub(super) network: &'a Network,
}

impl Judged<'_> {
    /// Fills in and checks `invariants`.
    pub(super) fn invariants(&self, settings: Option<&InvariantsSettings>, findings: &mut Findings) -> Invariants {
        match settings {
            None | Some(InvariantsSettings::All) => Invariants::All,
            Some(InvariantsSettings::Only(names)) => Invariants::Only(self.names(names, findings)),
            Some(InvariantsSettings::Except(names)) => Invariants::Except(self.names(names, findings)),
        }
    }

    /// Fills in and checks `expect`.
    pub(super) fn expectation(
        &self,
        settings: Option<&ExpectSettings>,
        invariants: &Invariants,
        findings: &mut Findings,
    ) -> Expectation {
        let must = settings.and_then(|settings| settings.must.as_deref()).unwrap_or_default();
        let may = settings.and_then(|settings| settings.may.as_deref()).unwrap_or_default();
        for name in must.iter().filter(|name| !invariants.includes(&name.value)) {
            let message = format!("{} has to show, but `invariants` leaves it out", shown(&name.value));
            findings.report(name.place, message);
        }
        Expectation { must: self.names(must, findings), may: self.names(may, findings) }
    }

    fn names(&self, list: &[At<String>], findings: &mut Findings) -> Vec<SmolStr> {
        names(self.anomalies, list, findings)
    }

    /// Reads and checks `reach`.
    pub(super) fn reach(&self, reach: &[At<String>], findings: &mut Findings) -> Vec<Reach> {
        reach
            .iter()
            .filter_map(|line| {
                let ReachLine { counter, at_least } = lines::reach(line, findings)?;
                self.check_reachable(&counter, line, findings);
                Some(Reach { counter, at_least, text: line.value.clone() })
            })
            .collect()
    }

    /// Reports a minimum that neither a fault nor the network of the scenario can bring about.
    fn check_reachable(&self, counter: &ReachCounter, line: &At<String>, findings: &mut Findings) {
        let reachable = match counter {
            ReachCounter::Faults(kind) => {
                self.faults.iter().any(|fault| fault.kind.word() == kind) || self.network.can(kind)
            }
            ReachCounter::Crashes(wanted) => self
                .faults
                .iter()
                .any(|fault| matches!(fault.kind, FaultKind::Crash { point, .. } if point.word() == wanted)),
            ReachCounter::Confirms
            | ReachCounter::Finals
            | ReachCounter::FinalsOf(_)
            | ReachCounter::TermsChanged
            | ReachCounter::Recoveries => true,
        };
        if !reachable {
            let message = format!("{} cannot be reached: no fault of this scenario does that", shown(&line.value));
            findings.report(line.place, message);
        }
    }
}

/// Checks names of anomalies.
pub(super) fn names(anomalies: &[&str], list: &[At<String>], findings: &mut Findings) -> Vec<SmolStr> {
    list.iter()
        .map(|name| {
            if !anomalies.contains(&name.value.as_str()) {
                let message =
                    format!("unknown anomaly {}; expected a name of the anomaly catalogue", shown(&name.value));
                findings.report_near(name.place, message, nearest(&name.value, anomalies.iter().copied()));
            }
            name.value.as_str().into()
        })
        .collect()
}

/// Reads and checks `thresholds`.
pub(super) fn thresholds(thresholds: &[At<String>], findings: &mut Findings) -> Vec<Threshold> {
    thresholds.iter().filter_map(|line| lines::threshold(line, findings)).collect()
}
