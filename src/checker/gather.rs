//! Takes records one by one and sorts them into one case per action; judges all cases at the end.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::anomaly::Anomaly;
use super::case::{Approved, Ask, Case, Confirmed, Counted, Did, Look, Offered, Point, Standing, Tried, add};
use super::cases::Cases;
use super::finding::{Counts, Judgement};
use super::ground::Ground;
use super::intents::Intents;
use super::proofs::Proofs;
use super::tally::Tally;
use super::time::Wall;
use super::{approval, conduct, confirmations, effects, expiry, finality, performed, results, revisions};
use crate::history::record::{
    Approval, ApprovalIs, Call, Event, LedgerEntry, LedgerRecord, Observation, Outcome, PhaseIs, Purpose, Record,
    Return, Session, State, Totals, View, Wire, WireIs,
};

/// The name of the extension that an operator must list to be given operations (Operations 2).
const EXTENSION: &str = "operations";

/// The kind of a fault that delivers a request twice.
const DUPLICATE: &str = "duplicate";

/// What to judge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Only these anomalies; all of them if absent.
    pub only: Option<BTreeSet<Anomaly>>,
}

/// Judges one history. Give it every record of history and ledger, each file in its order, then ask for the judgement.
#[derive(Debug, Default)]
pub struct Checker {
    options: Options,
    ground: Ground,
    cases: Cases,
    /// By Company, then by ID.
    sessions: FxHashMap<SmolStr, FxHashMap<SmolStr, SessionFacts>>,
    pending: FxHashMap<SmolStr, Pending>,
    intents: Intents,
    proofs: Proofs,
    /// What Companies counted in all.
    totals: Vec<(Point, Totals)>,
    counts: Counts,
}

#[derive(Debug)]
struct SessionFacts {
    user: SmolStr,
    listed: bool,
}

/// A request whose end is still to come, or whose copies may still arrive.
#[derive(Debug)]
enum Pending {
    /// It names an action: where it stands.
    Placed { case: usize, ask: usize, ended: bool },
    /// A proposal: its action is not known yet.
    Proposal { ask: Box<Ask>, kind: Option<SmolStr>, intent: Option<u32> },
    /// About no action.
    Other,
}

impl Checker {
    /// A checker for one history.
    #[must_use]
    pub fn new(options: Options) -> Checker {
        Checker { options, ..Checker::default() }
    }

    /// A checker that keeps at most so many cases open.
    #[cfg(test)]
    pub(super) fn with_open(open_max: usize) -> Checker {
        Checker { cases: Cases::with_open(open_max), ..Checker::default() }
    }

    /// Takes the next record of the history.
    pub fn event(&mut self, record: &Record) {
        let point = Point { seq: record.seq, at: record.at };
        match &record.event {
            Event::End(end) => {
                self.ground.history.end = Some(end.clone());
                return;
            }
            Event::Run(run) => self.ground.open(run),
            Event::Company(company) => self.ground.add_company(company),
            Event::Session(session) => self.session(session),
            Event::Call(call) => self.call(point, call),
            Event::Return(end) => self.ended(point, end),
            Event::Terms(terms) => self.ground.add_terms(terms),
            Event::Offer(offer) => {
                let offered = Offered {
                    point,
                    revision: offer.revision,
                    terms: offer.terms.clone(),
                    expires: Wall::parse(&offer.expires_at),
                };
                add(&mut self.cases.of(&offer.action).offers, offered);
            }
            Event::Approval(approval) => self.approval(point, approval),
            Event::Wire(wire) => self.wire(point, wire),
            Event::Attempt(attempt) => {
                let tried = Tried {
                    point,
                    step: attempt.step.clone(),
                    key: attempt.key.clone(),
                    is: attempt.is,
                    learnt: attempt.learnt,
                };
                add(&mut self.cases.of(&attempt.action).tries, tried);
            }
            Event::Clock(moved) => self.ground.clock_moved(point, moved),
            Event::Phase(phase) => match phase.is {
                PhaseIs::Settled => {
                    self.ground.settled = Some(point);
                    self.ground.cut_off = phase.open > 0;
                }
                PhaseIs::Interrupted => self.ground.interrupted = true,
                PhaseIs::Settling => self.ground.settling = Some(point),
                PhaseIs::Load => {}
            },
            Event::Fault(fault) if fault.kind == DUPLICATE => {
                if let Some((ask, _)) = fault.call.as_ref().and_then(|call| self.pending_ask(call)) {
                    ask.is_doubled = true;
                }
            }
            // For explanation, not for judging.
            Event::Fault(_) | Event::Lifecycle(_) => {}
        }
        self.ground.history.add(point);
    }

    /// Takes the next record of the ledger.
    pub fn ledger(&mut self, record: &LedgerRecord) {
        let point = Point { seq: record.seq, at: record.at };
        match &record.entry {
            LedgerEntry::End(end) => {
                self.ground.ledger.end = Some(end.clone());
                return;
            }
            LedgerEntry::Effect(effect) => {
                let did = Did {
                    point,
                    revision: effect.revision,
                    terms: effect.terms.clone(),
                    step: effect.step.clone(),
                    receipt: effect.receipt.clone(),
                    undo_of: effect.undo_of.clone(),
                };
                self.counts.effects += u64::from(did.undo_of.is_none());
                add(&mut self.cases.of(&effect.action).deeds, did);
            }
            LedgerEntry::Performed(performed) => {
                let times = performed.times;
                self.cases.of(&performed.action).counted = Some(Counted { point, times });
            }
            LedgerEntry::Totals(totals) => self.totals.push((point, totals.clone())),
            LedgerEntry::Request(_) => {}
        }
        self.ground.ledger.add(point);
    }

    /// Judges what was given.
    #[must_use]
    pub fn judge(mut self) -> Judgement {
        let mut tally = Tally::new(&self.ground, self.options.only.as_ref());
        let mut asked = performed::Asked::default();
        for case in self.cases.iter() {
            asked.add(&case);
            match case.action.split('/').nth(1) {
                Some("operation") => {
                    self.counts.operations += 1;
                    judge_operation(&case, &self.ground, &mut tally);
                }
                Some("direct") => {
                    self.counts.direct += 1;
                    effects::judge_once_per_step(&case, &mut tally);
                }
                _ => {}
            }
        }
        self.intents.judge(&self.cases, &self.ground, &mut tally);
        self.proofs.judge(&mut tally);
        performed::judge_totals(&self.cases, &self.totals, &self.ground, &mut tally);
        let (findings, judged) = tally.finish();
        self.counts.performed = asked.with(&self.totals);
        self.counts.records = self.ground.history.records;
        self.counts.entries = self.ground.ledger.records;
        Judgement { findings, judged, counts: self.counts, incomplete: self.ground.incomplete() }
    }

    fn session(&mut self, session: &Session) {
        let listed = session.extensions.iter().any(|extension| extension == EXTENSION);
        let facts = SessionFacts { user: session.user.clone(), listed };
        self.sessions.entry(session.company.clone()).or_default().insert(session.id.clone(), facts);
    }

    /// The Session of a request: its ID is the Company's, which the request or its action names.
    fn session_of(&self, call: &Call) -> Option<&SessionFacts> {
        let company = match (&call.company, &call.action) {
            (Some(company), _) => company.as_str(),
            (None, Some(action)) => action.split('/').next()?,
            (None, None) => return None,
        };
        self.sessions.get(company)?.get(call.session.as_ref()?)
    }

    fn call(&mut self, point: Point, call: &Call) {
        if let Some(proof) = &call.proof {
            self.proofs.sent(point, call, proof);
        }
        let concerns_operations = matches!(
            call.purpose,
            Purpose::Propose | Purpose::Change | Purpose::Read | Purpose::Confirm | Purpose::Cancel
        );
        if !concerns_operations {
            self.pending.insert(call.id.clone(), Pending::Other);
            return;
        }
        self.counts.calls += 1;
        let session = self.session_of(call);
        let ask = Ask {
            sent: point,
            ended: None,
            purpose: call.purpose,
            process: call.process.clone(),
            user: session.map(|session| session.user.clone()),
            revision: call.revision,
            approved_by: call.approved_by,
            why: None,
            retry_after_ms: None,
            is_doubled: false,
            arrived: false,
            answered: None,
            listed: session.map(|session| session.listed),
        };
        let pending = match &call.action {
            Some(action) => {
                let case = self.cases.number(action);
                let asks = &mut self.cases.open(case).asks;
                add(asks, ask);
                Pending::Placed { case, ask: asks.len() - 1, ended: false }
            }
            None => {
                let intent = call.intent.as_ref().map(|intent| self.intents.proposed(point, call, intent));
                Pending::Proposal { ask: Box::new(ask), kind: call.kind.clone(), intent }
            }
        };
        self.pending.insert(call.id.clone(), pending);
    }

    fn ended(&mut self, point: Point, end: &Return) {
        self.counts.unknown += u64::from(end.outcome == Outcome::Unknown);
        let view = end.view.as_ref().filter(|_| matches!(end.outcome, Outcome::View | Outcome::Refused));
        let Some(pending) = self.pending.remove(&end.call) else {
            self.ground.returns_without_call += 1;
            return;
        };
        match pending {
            Pending::Placed { case, ask, ended: false } => {
                close(&mut self.cases.open(case).asks[ask], point, end);
                if let Some(view) = view {
                    // An answer about another action than the one asked for is still a fact about that one.
                    let shown = self.cases.number(&view.action);
                    look(&mut self.cases, &self.ground, (case, ask), shown, view);
                }
                // Copies of an unanswered confirm may arrive later.
                if end.outcome == Outcome::Unknown && self.ground.observes.contains(&Observation::Wire) {
                    self.pending.insert(end.call.clone(), Pending::Placed { case, ask, ended: true });
                }
            }
            Pending::Proposal { mut ask, kind, intent } => {
                close(&mut ask, point, end);
                let Some(view) = view else { return };
                let case = self.cases.number(&view.action);
                let target = self.cases.open(case);
                add(&mut target.asks, *ask);
                target.kind = target.kind.take().or(kind);
                let ask = target.asks.len() - 1;
                look(&mut self.cases, &self.ground, (case, ask), case, view);
                if let Some(intent) = intent {
                    // No memory holds so many cases that the number were cut.
                    self.intents.answered(intent, point, case as u32);
                }
            }
            Pending::Other => {}
            Pending::Placed { .. } => self.ground.returns_without_call += 1,
        }
    }

    fn wire(&mut self, point: Point, wire: &Wire) {
        let Some((ask, ended)) = self.pending_ask(&wire.call) else { return };
        match wire.is {
            WireIs::Arrived => ask.arrived = true,
            WireIs::Answered if !ended => ask.answered = Some(point),
            WireIs::Answered => {}
        }
    }

    /// A request about an action whose end is still to come, or whose copies may still arrive; and whether it has ended.
    fn pending_ask(&mut self, call: &SmolStr) -> Option<(&mut Ask, bool)> {
        match self.pending.get_mut(call)? {
            Pending::Placed { case, ask, ended } => Some((&mut self.cases.open(*case).asks[*ask], *ended)),
            Pending::Proposal { ask, .. } => Some((ask, false)),
            Pending::Other => None,
        }
    }

    fn approval(&mut self, point: Point, approval: &Approval) {
        match &approval.action {
            Some(action) => {
                let approved = Approved {
                    point,
                    is: approval.is,
                    user: approval.user.clone(),
                    revision: approval.revision,
                    terms: approval.terms.clone(),
                };
                add(&mut self.cases.of(action).approvals, approved);
            }
            None if matches!(approval.is, ApprovalIs::Standing | ApprovalIs::Withdrawn) => {
                let bounds = approval.bounds.clone().filter(|_| approval.is == ApprovalIs::Standing);
                let given = self.ground.standing.entry(approval.user.clone()).or_default();
                given.push(Standing { point, bounds });
            }
            None => {}
        }
    }
}

/// All rules that are about one operation.
fn judge_operation(case: &Case, ground: &Ground, tally: &mut Tally) {
    effects::judge(case, ground, tally);
    performed::judge(case, ground, tally);
    results::judge(case, ground, tally);
    finality::judge(case, ground, tally);
    revisions::judge(case, ground, tally);
    confirmations::judge(case, ground, tally);
    expiry::judge(case, ground, tally);
    approval::judge(case, ground, tally);
    conduct::judge(case, ground, tally);
}

fn close(ask: &mut Ask, point: Point, end: &Return) {
    ask.ended = Some((point, end.outcome));
    ask.why = end.why.clone();
    ask.retry_after_ms = end.retry_after_ms;
}

/// Adds what the answer to a request of one case showed of another (or, nearly always, the same) case.
fn look(cases: &mut Cases, ground: &Ground, (asked, ask): (usize, usize), shown: usize, view: &View) {
    let source = &cases.open(asked).asks[ask];
    let Some((heard, _)) = source.ended else { return };
    let fact = Look {
        sent: source.sent,
        // Two clocks give no narrower bound.
        left: source.answered.filter(|_| ground.is_total()).unwrap_or(heard),
        heard,
        process: source.process.clone(),
        purpose: source.purpose,
        listed: source.listed,
        state: view.state,
        revision: view.revision,
        terms: view.terms.clone(),
        expires: view.expires_at.as_ref().and_then(|text| Wall::parse(text)),
        approval_required: view.user_approval_required,
        confirmation: view.confirmation.as_ref().map(|confirmation| Confirmed {
            revision: confirmation.revision,
            approved_by: confirmation.approved_by,
            at: confirmation.confirmed_at.clone(),
        }),
        // What a success says is not judged, only that it says something.
        result: view.result.as_deref().map(|text| if view.state == State::Succeeded { "" } else { text }.into()),
    };
    add(&mut cases.open(shown).looks, fact);
}
