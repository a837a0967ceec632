//! Draws the verdict from the rest of a summary, in words that a newcomer understands.
//!
//! A claim is only made where the anomalies that would refute it were judged and held: "not judged" never becomes
//! "held".

use std::collections::BTreeMap;

use super::{
    exit::{Ending, ExitStatus, exit_status},
    format::{count, counted, times},
    summary::{AnomalyStatus, FindingGroup, Level, Summary, Verdict},
};
use crate::checker::Anomaly;

/// What a run without findings shows, and what has to have been judged (and held) for it to be said.
type Claim = (&'static str, &'static [Anomaly]);

/// Each claim in the ways that it can be shown: the first one that was judged counts.
const CLAIMS: [&[Claim]; 3] = [
    &[
        ("every confirmed action ran at most once", &[Anomaly::DoubleEffect]),
        ("every confirmed action ran at most once by the Company's own count", &[Anomaly::PerformedTwice]),
    ],
    &[(
        "on the terms its User approved",
        &[
            Anomaly::UnconfirmedEffect,
            Anomaly::StaleRevisionEffect,
            Anomaly::EffectOffTerms,
            Anomaly::UnapprovedConfirm,
        ],
    )],
    &[
        ("none was lost", &[Anomaly::PhantomSuccess, Anomaly::UnresolvedAtQuiescence]),
        ("none was lost", &[Anomaly::SuccessNotPerformed, Anomaly::UnresolvedAtQuiescence]),
    ],
];

/// What to change so that a run leaves nothing open: what may be confirmed shows what became of it only once it is final.
pub const UNTIL_NOTHING_IS_OPEN: &str = "let `settle` last longer than back-off, Retry-After and what the faults hold \
                                         back, Users answer before it ends, and `keep_final` and terms outlast `later`";

impl Summary {
    /// The summary with its verdict, which follows from everything else in it.
    #[must_use]
    pub fn concluded(mut self) -> Self {
        let status = exit_status(self.ending());
        self.verdict = Verdict {
            exit_status: status.code(),
            word: word(status).to_owned(),
            sentence: self.sentence(status),
            reasons: self.reasons(),
        };
        self
    }

    fn ending(&self) -> Ending {
        Ending {
            violated: self.failures().next().is_some() || self.absent(),
            stopped: self.stopped.is_some(),
            interrupted: self.partial,
            inconclusive: self.inconclusive_reasons().next().is_some(),
            missed: self.thresholds.iter().any(|threshold| !threshold.held),
        }
    }

    /// The groups of findings that fail the run.
    fn failures(&self) -> impl Iterator<Item = &FindingGroup> {
        self.findings.iter().filter(|group| group.level == Level::Must && !group.expected)
    }

    /// Whether an anomaly stayed away that had to show. A run that was cut short may just not have come to it, and a
    /// history with gaps may not hold it.
    fn absent(&self) -> bool {
        let whole = !self.partial && self.stopped.is_none() && self.incomplete.is_empty();
        whole && !self.expected_but_absent.is_empty()
    }

    fn inconclusive_reasons(&self) -> impl Iterator<Item = String> {
        let generator = self.health.inconclusive.iter().map(|reason| format!("{}: {}", reason.reason, reason.change));
        let reach = self.reach.iter().filter(|reach| !reach.enough);
        let short = reach.map(|reach| format!("{} was not reached: there were {}", reach.text, count(reach.count)));
        let unjudged = (judged(&self.anomalies) == 0).then(|| "no anomaly could be judged".to_owned());
        self.incomplete.iter().cloned().chain(unjudged).chain(generator).chain(short)
    }

    fn reasons(&self) -> Vec<String> {
        let found = |group: &FindingGroup| format!("{} was found {}", group.anomaly, times(group.count));
        let mut reasons: Vec<String> = self.failures().map(found).collect();
        if self.absent() {
            let absent = |name: &String| format!("{name} was expected and did not show");
            reasons.extend(self.expected_but_absent.iter().map(absent));
        }
        reasons.extend(self.stopped.clone());
        if self.partial {
            reasons.push("everything here is about the first part of the run only".to_owned());
        }
        reasons.extend(self.inconclusive_reasons());
        let missed = self.thresholds.iter().filter(|threshold| !threshold.held);
        reasons.extend(missed.map(|threshold| format!("{} was missed", threshold.text)));
        reasons
    }

    fn sentence(&self, status: ExitStatus) -> String {
        match status {
            ExitStatus::Held => format!("{}.", self.claim()),
            ExitStatus::Violated => self.failure(),
            ExitStatus::Missed => {
                let missed = self.thresholds.iter().filter(|threshold| !threshold.held).count() as u64;
                format!("{}, but {}.", self.claim(), counted(missed, "threshold was missed", "thresholds were missed"))
            }
            ExitStatus::Inconclusive => {
                "nothing was found that fails a run, but the run does not show enough to pass.".to_owned()
            }
            ExitStatus::Interrupted => format!("the run was interrupted; until then, {}.", self.claim()),
            ExitStatus::Stopped | ExitStatus::Usage => "the run could not go on.".to_owned(),
        }
    }

    fn failure(&self) -> String {
        match self.failures().map(|group| group.count).sum() {
            0 => "an anomaly that the scenario expects did not show.".to_owned(),
            broken => format!("the protocol's rules were broken {}.", times(broken)),
        }
    }

    /// What held, as far as it was judged.
    fn claim(&self) -> String {
        let expected: Vec<&str> =
            self.findings.iter().filter(|group| group.expected).map(|group| group.anomaly.as_str()).collect();
        claim(&self.anomalies, &expected)
    }
}

/// What held, as far as it was judged; `expected` are the anomalies that were found and fail nothing.
pub(super) fn claim(anomalies: &BTreeMap<String, AnomalyStatus>, expected: &[&str]) -> String {
    if !expected.is_empty() {
        return format!("only anomalies showed that the scenario expects or allows: {}", expected.join(", "));
    }
    let [once, terms, lost] = CLAIMS.map(|ways| shown(anomalies, ways));
    match (once, terms, lost) {
        (Some(once), Some(terms), Some(lost)) => format!("{once}, {terms}, and {lost}"),
        (Some(once), Some(terms), None) => format!("{once}, {terms}"),
        (Some(once), None, Some(lost)) => format!("{once}, and {lost}"),
        (Some(once), None, None) => once.to_owned(),
        (None, _, _) => {
            let (judged, all) = (judged(anomalies), anomalies.len());
            format!("nothing was found that fails a run ({judged} of {all} anomalies were judged)")
        }
    }
}

/// The words of a claim, if the first way to show it that was judged held.
fn shown(anomalies: &BTreeMap<String, AnomalyStatus>, ways: &[Claim]) -> Option<&'static str> {
    let status = |anomaly: &Anomaly| anomalies.get(anomaly.name());
    let judged = |anomaly: &Anomaly| !matches!(status(anomaly), None | Some(AnomalyStatus::NotJudged { .. }));
    let (words, needs) = ways.iter().find(|(_, needs)| needs.iter().all(judged))?;
    needs.iter().all(|anomaly| matches!(status(anomaly), Some(AnomalyStatus::Held { .. }))).then_some(*words)
}

/// How many anomalies were judged.
pub(super) fn judged(anomalies: &BTreeMap<String, AnomalyStatus>) -> usize {
    anomalies.values().filter(|status| !matches!(status, AnomalyStatus::NotJudged { .. })).count()
}

pub(super) fn word(status: ExitStatus) -> &'static str {
    match status {
        ExitStatus::Held => "pass",
        ExitStatus::Violated => "fail",
        ExitStatus::Missed => "missed",
        ExitStatus::Inconclusive => "inconclusive",
        ExitStatus::Stopped | ExitStatus::Usage => "stopped",
        ExitStatus::Interrupted => "interrupted",
    }
}
