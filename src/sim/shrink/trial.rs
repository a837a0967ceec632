//! One candidate simulated and judged: does it fail the same way?

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use smol_str::SmolStr;

use super::{Options, Progress, Size};
use crate::{
    checker::{Anomaly, Finding, Judgement, Level},
    history::{Event, Record},
    plan::{ListedJourney, Plan, Strike},
    scenario::{self, Overrides},
    sim::{Outcome, Setting, SimulationError, judged},
    swarm::{Control, Diary},
};

/// Of how many findings the journeys are tried alone.
const FINDINGS_TRIED_MAX: usize = 8;

/// What a run showed.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) judgement: Judgement,
    pub(super) journeys: Vec<ListedJourney>,
    pub(super) strikes: Vec<(SmolStr, Strike)>,
    /// From the start of load to the end of all.
    pub(super) time: Duration,
    /// Which wish each action came from.
    wishes: Vec<(SmolStr, SmolStr)>,
}

impl Seen {
    /// The wishes that each of the first findings of that anomaly is about.
    pub(super) fn wishes_of(&self, anomaly: Anomaly) -> Vec<BTreeSet<SmolStr>> {
        let findings = self.judgement.findings.iter().flat_map(|root| std::iter::once(root).chain(&root.also_follows));
        let mut actions: Vec<&SmolStr> = Vec::new();
        for action in
            findings.filter(|finding| finding.anomaly == anomaly).filter_map(|finding| finding.action.as_ref())
        {
            if !actions.contains(&action) && actions.len() < FINDINGS_TRIED_MAX {
                actions.push(action);
            }
        }
        let wishes_of = |action: &SmolStr| {
            let wishes = self.wishes.iter().filter(|(known, _)| known == action);
            // A wish that is proposed again has a number behind its name.
            wishes.map(|(_, intent)| intent.split('.').next().unwrap_or_default().into()).collect()
        };
        actions.into_iter().map(wishes_of).collect()
    }
}

/// Why no further candidate is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// As many as may be were.
    Bound,
    /// Somebody asked for it.
    Interrupted,
}

/// Simulates a plan and notes what it chose. `None` if it was interrupted.
pub(super) fn run(plan: &Arc<Plan>, options: &Options<'_>) -> Result<Option<Seen>, SimulationError> {
    let diary = Diary::default();
    let mut setting = Setting::in_memory(options.signatures);
    setting.control = Control { stop: options.stop.clone(), diary: Some(diary.clone()), ..Control::default() };
    let outcome = Outcome::in_setting(plan, setting)?;
    let ran = &outcome.simulated.ran;
    if ran.interrupted {
        return Ok(None);
    }
    Ok(Some(Seen {
        judgement: outcome.judge(judged(&plan.invariants)),
        journeys: diary.journeys(),
        strikes: diary.strikes(),
        time: ran.ended.since(ran.load_began),
        wishes: wishes(&outcome.history),
    }))
}

/// Pairs of an action ID and the intent behind it.
fn wishes(history: &[Record]) -> Vec<(SmolStr, SmolStr)> {
    let mut intents = std::collections::BTreeMap::new();
    let mut wishes = Vec::new();
    for record in history {
        match &record.event {
            Event::Call(call) => {
                if let Some(intent) = &call.intent {
                    intents.insert(call.id.clone(), intent.clone());
                }
            }
            Event::Return(ended) => {
                if let (Some(intent), Some(view)) = (intents.get(&ended.call), &ended.view) {
                    wishes.push((view.action.clone(), intent.clone()));
                }
            }
            _ => {}
        }
    }
    wishes
}

/// The finding that fails a run: the gravest that the scenario neither expects nor allows.
pub(super) fn gravest<'a>(plan: &Plan, judgement: &'a Judgement) -> Option<&'a Finding> {
    let known = |name: &str| plan.expect.must.iter().chain(&plan.expect.may).any(|expected| expected == name);
    judgement.findings.iter().find(|finding| finding.level == Level::Must && !known(finding.anomaly.name()))
}

/// Tries candidates, and keeps the last one that failed the same way.
pub(super) struct Trial<'a> {
    options: &'a Options<'a>,
    anomaly: Anomaly,
    /// Whether it has to be a finding of its own, and no mere consequence of another.
    root: bool,
    pub(super) best: Plan,
    pub(super) seen: Seen,
    pub(super) candidates: u64,
}

impl<'a> Trial<'a> {
    /// Begins with a plan that fails so.
    pub(super) fn new(options: &'a Options<'a>, anomaly: Anomaly, best: Plan, seen: Seen) -> Self {
        let root = seen.judgement.findings.iter().any(|finding| finding.anomaly == anomaly);
        Self { options, anomaly, root, best, seen, candidates: 0 }
    }

    pub(super) fn anomaly(&self) -> Anomaly {
        self.anomaly
    }

    fn shows(&self, judgement: &Judgement) -> bool {
        if self.root {
            judgement.findings.iter().any(|finding| finding.anomaly == self.anomaly)
        } else {
            judgement.counts_by_anomaly().contains_key(&self.anomaly)
        }
    }

    /// Simulates a candidate; it becomes the best one if it fails the same way.
    pub(super) fn attempt(&mut self, candidate: Plan) -> Result<bool, Stop> {
        if self.options.stop.is_cancelled() {
            return Err(Stop::Interrupted);
        }
        if self.candidates >= self.options.candidates_max {
            return Err(Stop::Bound);
        }
        self.candidates += 1;
        let candidate = Arc::new(candidate);
        let seen = match run(&candidate, self.options) {
            Ok(Some(seen)) => seen,
            Ok(None) => return Err(Stop::Interrupted),
            // What cannot be simulated does not fail the same way.
            Err(_) => return Ok(false),
        };
        let fails = self.shows(&seen.judgement);
        if fails {
            (self.best, self.seen) = (Arc::unwrap_or_clone(candidate), seen);
        }
        (self.options.progress)(&Progress { candidates: self.candidates, size: Size::of(&self.best) });
        Ok(fails)
    }

    /// The same for a candidate that may not be a scenario that anybody could write.
    pub(super) fn attempt_if_valid(&mut self, candidate: Plan) -> Result<bool, Stop> {
        if read_back(&candidate).is_some() { self.attempt(candidate) } else { Ok(false) }
    }
}

/// The plan as its scenario file gives it again; `None` if that file has a mistake or says something else.
pub(super) fn read_back(plan: &Plan) -> Option<Plan> {
    let text = scenario::resolved_yaml(plan);
    let again = scenario::load_text("shrunk.yaml", &text, &Overrides::default()).ok()?;
    (scenario::resolved_yaml(&again) == text).then_some(again)
}
