//! Takes the judged half of a summary from what the checker found and what the scenario expects.

use std::collections::BTreeMap;

use super::summary::{AnomalyStatus, EvidenceLine, FindingGroup, FindingLine, Level, PerformedRow, SHOWN_FINDINGS_MAX};
use crate::{
    checker::{self, Anomaly, Finding, Judgement, Status},
    plan::Expectation,
};

/// What a checker found, in the summary's terms.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judged {
    /// How each anomaly was judged.
    pub anomalies: BTreeMap<String, AnomalyStatus>,
    /// What was found, the gravest first.
    pub findings: Vec<FindingGroup>,
    /// Anomalies that had to show, and did not.
    pub expected_but_absent: Vec<String>,
    /// What history or ledger lack.
    pub incomplete: Vec<String>,
    /// What Companies counted themselves, where they did.
    pub performed: Option<PerformedRow>,
}

impl Judged {
    /// Sets what was found against what was expected.
    ///
    /// An expected anomaly has shown even if it follows from another one. What follows from an expected one is taken
    /// for its consequence and fails no run.
    #[must_use]
    pub fn of(judgement: &Judgement, expect: &Expectation) -> Self {
        let shown = judgement.counts_by_anomaly();
        let absent = |name: &&str| Anomaly::named(name).is_none_or(|anomaly| !shown.contains_key(&anomaly));
        Self {
            anomalies: judgement.judged.iter().map(|(name, status)| ((*name).to_owned(), of_status(status))).collect(),
            findings: groups(&judgement.findings, expect),
            expected_but_absent: expect.must.iter().map(|name| &**name).filter(absent).map(str::to_owned).collect(),
            incomplete: judgement.incomplete.clone(),
            performed: judgement.counts.performed.map(|counted| PerformedRow {
                asked: counted.asked,
                operations: counted.operations,
                times: counted.times,
            }),
        }
    }
}

/// The file of a finding in the run's folder; `index` is its place among [`Judgement::findings`].
#[must_use]
pub fn anomaly_file(index: usize) -> String {
    format!("anomalies/{:04}.json", index + 1)
}

/// Groups findings by anomaly; the groups stand in the order of their first findings.
fn groups(findings: &[Finding], expect: &Expectation) -> Vec<FindingGroup> {
    let mut groups: Vec<FindingGroup> = Vec::new();
    let mut places: BTreeMap<Anomaly, usize> = BTreeMap::new();
    for (index, finding) in findings.iter().enumerate() {
        let place = *places.entry(finding.anomaly).or_insert_with(|| {
            groups.push(empty_group(finding, expect));
            groups.len() - 1
        });
        let group = &mut groups[place];
        group.count += 1;
        if group.first.len() < SHOWN_FINDINGS_MAX {
            group.first.push(line(finding, index));
        }
    }
    groups
}

fn empty_group(finding: &Finding, expect: &Expectation) -> FindingGroup {
    let name = finding.anomaly.name();
    FindingGroup {
        anomaly: name.to_owned(),
        level: match finding.level {
            checker::Level::Must => Level::Must,
            checker::Level::Should => Level::Should,
        },
        side: match finding.side {
            checker::Side::Company => "company".to_owned(),
            checker::Side::Agent => "agent".to_owned(),
        },
        rules: finding.rules.iter().map(|rule| (*rule).to_owned()).collect(),
        count: 0,
        expected: expect.must.iter().chain(&expect.may).any(|expected| expected == name),
        first: Vec::new(),
    }
}

fn line(finding: &Finding, index: usize) -> FindingLine {
    let event = |event: &checker::Evidence| EvidenceLine { seq: event.seq, at: event.at, text: event.text.clone() };
    let mut also_follows: Vec<String> = Vec::new();
    for name in finding.also_follows.iter().map(|finding| finding.anomaly.name()) {
        if !also_follows.iter().any(|known| known == name) {
            also_follows.push(name.to_owned());
        }
    }
    FindingLine {
        action: finding.action.as_ref().map(ToString::to_string),
        sentence: finding.sentence.clone(),
        evidence: finding.evidence.iter().map(event).collect(),
        also_follows,
        file: Some(anomaly_file(index)),
    }
}

fn of_status(status: &Status) -> AnomalyStatus {
    match status {
        Status::Held { over } => AnomalyStatus::Held { over: *over },
        Status::Violated { times, over } => AnomalyStatus::Violated { times: *times, over: *over },
        Status::NotJudged { why } => AnomalyStatus::NotJudged { why: why.clone() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(anomaly: Anomaly, seq: u64) -> Finding {
        let entry = anomaly.entry();
        Finding {
            anomaly,
            rules: entry.rules,
            level: entry.level,
            side: entry.side,
            action: Some(format!("shop/operation/op_{seq}").into()),
            seq,
            at: seq * 1000,
            sentence: "it happened.".into(),
            evidence: vec![checker::Evidence { seq, at: seq * 1000, text: "effect".into() }],
            also_follows: vec![],
        }
    }

    fn judgement() -> Judgement {
        let mut findings: Vec<Finding> = (1..=5).map(|seq| finding(Anomaly::DoubleEffect, seq)).collect();
        findings.insert(1, finding(Anomaly::PhantomSuccess, 9));
        findings[0].also_follows = vec![finding(Anomaly::FinalStateFlip, 10), finding(Anomaly::FinalStateFlip, 11)];
        findings.push(finding(Anomaly::BusyPoll, 20));
        Judgement {
            findings,
            judged: BTreeMap::from([("double-effect", Status::Violated { times: 5, over: 90 })]),
            counts: checker::Counts::default(),
            incomplete: vec!["the ledger has no end".into()],
        }
    }

    #[test]
    fn findings_are_grouped_and_numbered_as_their_files_are() {
        let judged = Judged::of(&judgement(), &Expectation::default());
        let heads: Vec<(&str, u64, Level, usize)> = judged
            .findings
            .iter()
            .map(|group| (group.anomaly.as_str(), group.count, group.level, group.first.len()))
            .collect();
        assert_eq!(
            heads,
            [
                ("double-effect", 5, Level::Must, SHOWN_FINDINGS_MAX),
                ("phantom-success", 1, Level::Must, 1),
                ("busy-poll", 1, Level::Should, 1)
            ]
        );
        let files: Vec<_> = judged.findings[0].first.iter().map(|line| line.file.as_deref()).collect();
        assert_eq!(files, [Some("anomalies/0001.json"), Some("anomalies/0003.json"), Some("anomalies/0004.json")]);
        assert_eq!(judged.findings[0].first[0].also_follows, ["final-state-flip"]);
        assert_eq!(judged.anomalies["double-effect"], AnomalyStatus::Violated { times: 5, over: 90 });
        assert_eq!(judged.incomplete.len(), 1);
    }

    #[test]
    fn what_is_expected_fails_no_run_and_what_stays_away_is_named() {
        let expect = Expectation {
            must: vec!["double-effect".into(), "final-state-flip".into(), "lost-confirm".into()],
            may: vec!["phantom-success".into()],
        };
        let judged = Judged::of(&judgement(), &expect);
        let expected: Vec<bool> = judged.findings.iter().map(|group| group.expected).collect();
        assert_eq!(expected, [true, true, false]);
        assert_eq!(judged.expected_but_absent, ["lost-confirm"]);
    }
}
