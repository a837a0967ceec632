//! Collects what the families of rules find, and over how much each rule was judged.

use std::collections::{BTreeMap, BTreeSet};

use super::anomaly::Anomaly;
use super::case::{Case, Point};
use super::finding::{Evidence, Finding, Status, fold_consequences};
use super::ground::Ground;

/// Findings and counts in the making.
#[derive(Debug)]
pub(crate) struct Tally {
    /// Per anomaly, in the catalogue's order: why it is not judged, if so.
    lacks: Vec<Option<String>>,
    over: Vec<u64>,
    times: Vec<u64>,
    findings: Vec<Finding>,
}

impl Tally {
    pub(crate) fn new(ground: &Ground, only: Option<&BTreeSet<Anomaly>>) -> Tally {
        let lacks = Anomaly::ALL.iter().map(|anomaly| {
            if only.is_some_and(|only| !only.contains(anomaly)) {
                return Some("not asked for".to_owned());
            }
            ground.lacks(&anomaly.entry().needs)
        });
        let zeros = vec![0; Anomaly::ALL.len()];
        Tally { lacks: lacks.collect(), over: zeros.clone(), times: zeros, findings: Vec::new() }
    }

    /// Notes that a case could show the anomaly; false where the anomaly is not judged, so that the rule is skipped.
    pub(crate) fn judges(&mut self, anomaly: Anomaly) -> bool {
        let judged = self.lacks[anomaly as usize].is_none();
        self.over[anomaly as usize] += u64::from(judged);
        judged
    }

    pub(crate) fn found(
        &mut self,
        anomaly: Anomaly,
        case: Option<&Case>,
        point: Point,
        sentence: String,
        mut evidence: Vec<Evidence>,
    ) {
        evidence.sort_by_key(|evidence| evidence.seq);
        evidence.dedup();
        self.times[anomaly as usize] += 1;
        let entry = anomaly.entry();
        self.findings.push(Finding {
            anomaly,
            rules: entry.rules,
            level: entry.level,
            side: entry.side,
            action: case.map(|case| case.action.clone()),
            seq: point.seq,
            at: point.at,
            sentence,
            evidence,
            also_follows: Vec::new(),
        });
    }

    /// The findings with their consequences folded in, and how each anomaly was judged.
    pub(crate) fn finish(self) -> (Vec<Finding>, BTreeMap<&'static str, Status>) {
        let mut judged = BTreeMap::new();
        for (index, anomaly) in Anomaly::ALL.iter().enumerate() {
            let (over, times) = (self.over[index], self.times[index]);
            let status = match &self.lacks[index] {
                Some(why) => Status::NotJudged { why: why.clone() },
                None if times > 0 => Status::Violated { times, over },
                None if over > 0 => Status::Held { over },
                None => Status::NotJudged { why: "nothing in the history could show it".to_owned() },
            };
            judged.insert(anomaly.name(), status);
        }
        (fold_consequences(self.findings), judged)
    }
}
