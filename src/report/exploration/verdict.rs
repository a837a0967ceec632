//! The verdict on many seeds, which follows from all else that is said about them.

use super::Exploration;
use crate::report::{
    exit::{Ending, ExitStatus, exit_status},
    format::{count, counted},
    summary::Verdict,
    verdict::{UNTIL_NOTHING_IS_OPEN, claim, judged, word},
};

impl Exploration {
    /// The same with its verdict.
    #[must_use]
    pub fn concluded(mut self) -> Self {
        let status = exit_status(Ending {
            violated: self.failing > 0,
            stopped: false,
            interrupted: self.partial,
            inconclusive: !self.inconclusive_reasons().is_empty(),
            missed: false,
        });
        self.verdict = Verdict {
            exit_status: status.code(),
            word: word(status).to_owned(),
            sentence: self.sentence(status),
            reasons: self.reasons(),
        };
        self
    }

    fn sentence(&self, status: ExitStatus) -> String {
        let tried = self.tried();
        match status {
            ExitStatus::Violated => format!("{} of {tried} {}.", count(self.failing), fail(self.failing)),
            ExitStatus::Inconclusive => {
                format!("nothing was found that fails a run in {tried}, but they do not show enough to pass.")
            }
            ExitStatus::Interrupted if self.trials() == 0 => "interrupted before anything was tried.".to_owned(),
            ExitStatus::Interrupted => format!("interrupted; in {tried} until then, {}.", self.claim()),
            _ => format!("in {tried}, {}.", self.claim()),
        }
    }

    /// `200 seeds`, `12 single crashes and 200 seeds`.
    pub(super) fn tried(&self) -> String {
        let seeds = counted(self.seeds, "seed", "seeds");
        match self.crashes {
            0 => seeds,
            crashes => format!("{} and {seeds}", counted(crashes, "single crash", "single crashes")),
        }
    }

    fn claim(&self) -> String {
        let expected = self.findings.iter().filter(|found| found.expected).map(|found| found.anomaly.as_str());
        claim(&self.anomalies, &expected.collect::<Vec<_>>())
    }

    fn reasons(&self) -> Vec<String> {
        let mut reasons: Vec<String> = Vec::new();
        for found in self.findings.iter().filter(|found| found.fails()) {
            reasons.push(format!("{} was found in {} of them", found.anomaly, count(found.trials)));
        }
        if self.troubles.count > 0 {
            reasons.push(format!("{} of them came to no proper end", count(self.troubles.count)));
        }
        if self.partial {
            reasons.push("it was interrupted, and the rest was not tried".to_owned());
        }
        reasons.extend(self.inconclusive_reasons());
        reasons
    }

    fn inconclusive_reasons(&self) -> Vec<String> {
        if self.trials() == 0 {
            return vec!["nothing was tried to its end; give it more time".to_owned()];
        }
        let mut reasons = Vec::new();
        // A crash that fails may have ended it before any seed, as it was told to.
        if self.seeds == 0 && self.failing == 0 {
            reasons.push("no seed was tried to its end; give it more time".to_owned());
        }
        if judged(&self.anomalies) == 0 {
            reasons.push("no anomaly could be judged".to_owned());
        }
        if self.cost.operations == 0 {
            reasons.push(
                "no proposal came to an operation; see that the Companies answer and offer what the journeys ask for"
                    .to_owned(),
            );
        }
        reasons.extend(self.expected_but_absent.iter().map(|name| format!("{name} was expected and never showed")));
        for reach in self.reach.iter().filter(|reach| !reach.enough) {
            reasons.push(format!("{} was not reached: there were {} in all", reach.text, count(reach.count)));
        }
        if let Some(left) = &self.left_open {
            reasons.push(format!(
                "operations that may be confirmed were open at the end of {}, {} the first: {UNTIL_NOTHING_IS_OPEN}",
                counted(left.trials, "trial", "trials"),
                left.first
            ));
        }
        reasons
    }
}

fn fail(number: u64) -> &'static str {
    if number == 1 { "fails" } else { "fail" }
}
