//! What the checker says: findings with their evidence, and how each anomaly of the catalogue was judged.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use smol_str::SmolStr;

use super::anomaly::{Anomaly, Level, Side};

/// One anomaly, found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// What it is.
    pub anomaly: Anomaly,
    /// The rules it breaks.
    pub rules: &'static [&'static str],
    /// How grave it is.
    pub level: Level,
    /// Whose it is.
    pub side: Side,
    /// The action, where it concerns one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<SmolStr>,
    /// The event that makes it one: its `seq`.
    pub seq: u64,
    /// When, in nanoseconds since the run began.
    pub at: u64,
    /// Who was harmed, and how, in one sentence.
    pub sentence: String,
    /// The few events that prove it, in order.
    pub evidence: Vec<Evidence>,
    /// Later findings on the same action and side, which may be consequences of this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also_follows: Vec<Finding>,
}

/// One event that helps to prove a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The record's `seq`.
    pub seq: u64,
    /// When, in nanoseconds since the run began.
    pub at: u64,
    /// What happened, in a few words.
    pub text: String,
}

impl fmt::Display for Evidence {
    /// `t=5.000 s  #31  confirm r1 sent by a3/1`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = self.at / 1_000_000;
        let time = format!("t={}.{:03} s", milliseconds / 1000, milliseconds % 1000);
        let number = format!("#{}", self.seq);
        write!(formatter, "{time:>11}  {number:<6} {}", self.text)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = if self.level == Level::Must { "MUST" } else { "SHOULD" };
        writeln!(formatter, "{}  {} {level}", self.anomaly, self.rules.join(", "))?;
        writeln!(formatter, "  {}", self.sentence)?;
        for evidence in &self.evidence {
            writeln!(formatter, "  {evidence}")?;
        }
        if !self.also_follows.is_empty() {
            let names: Vec<&str> = self.also_follows.iter().map(|finding| finding.anomaly.name()).collect();
            writeln!(formatter, "  also follows: {}", names.join(", "))?;
        }
        Ok(())
    }
}

/// How one anomaly was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nothing was found.
    Held {
        /// How many actions (or requests) could have shown it.
        over: u64,
    },
    /// It was found.
    Violated {
        /// How often.
        times: u64,
        /// How many actions (or requests) could have shown it.
        over: u64,
    },
    /// The history does not hold what the rule needs, or nothing that it could be judged on.
    NotJudged {
        /// What is missing.
        why: String,
    },
}

/// What the judged history held.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Records of the history.
    pub records: u64,
    /// Entries of the ledger.
    pub entries: u64,
    /// Operations.
    pub operations: u64,
    /// Actions that a Company did at once, without an operation.
    pub direct: u64,
    /// Requests about operations.
    pub calls: u64,
    /// Of these, ended without an answer.
    pub unknown: u64,
    /// Effects.
    pub effects: u64,
    /// What Companies counted themselves, where they did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub performed: Option<Performances>,
}

/// How often operations were performed, as their Companies count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Performances {
    /// Operations that a Company was asked about one by one; 0 where it gave totals alone.
    pub asked: u64,
    /// Operations that were performed, each counted once.
    pub operations: u64,
    /// Performances.
    pub times: u64,
}

/// The judgement of a history.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// What was found: MUST before SHOULD, then in order of time; consequences inside their roots.
    pub findings: Vec<Finding>,
    /// How each anomaly of the catalogue was judged.
    pub judged: BTreeMap<&'static str, Status>,
    /// What the history held.
    pub counts: Counts,
    /// Why history or ledger are incomplete, if they are; then the run is inconclusive at best.
    pub incomplete: Vec<String>,
}

impl Judgement {
    /// Whether a MUST was broken.
    #[must_use]
    pub fn violated(&self) -> bool {
        self.findings.iter().any(|finding| finding.level == Level::Must)
    }

    /// How often each anomaly was found, consequences included.
    #[must_use]
    pub fn counts_by_anomaly(&self) -> BTreeMap<Anomaly, u64> {
        let mut counts = BTreeMap::new();
        for finding in self.findings.iter().flat_map(|root| std::iter::once(root).chain(&root.also_follows)) {
            *counts.entry(finding.anomaly).or_default() += 1;
        }
        counts
    }

    /// How an anomaly was judged.
    #[must_use]
    pub fn status(&self, anomaly: Anomaly) -> Option<&Status> {
        self.judged.get(anomaly.name())
    }
}

/// Sets each action's findings of one side and level under the earliest of them.
pub(crate) fn fold_consequences(mut findings: Vec<Finding>) -> Vec<Finding> {
    // By action first, so that one pass sees each group together; then the root of a group is its first.
    findings.sort_by(|a, b| {
        (&a.action, a.side, a.level, a.seq, a.anomaly).cmp(&(&b.action, b.side, b.level, b.seq, b.anomaly))
    });
    let mut roots: Vec<Finding> = Vec::new();
    for finding in findings {
        match roots.last_mut() {
            Some(root)
                if root.action.is_some()
                    && (&root.action, root.side, root.level) == (&finding.action, finding.side, finding.level) =>
            {
                root.also_follows.push(finding);
            }
            _ => roots.push(finding),
        }
    }
    roots.sort_by_key(|finding| (finding.level, finding.seq, finding.anomaly));
    roots
}
