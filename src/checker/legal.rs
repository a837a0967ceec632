//! Random legal histories (tests only): a correct Company, a correct backend and correct Agents under lost requests,
//! lost answers, duplicates, crashes, changing terms and expiry. None of them may be accused of anything.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use crate::history::record::*;

const STEPS: [&str; 2] = ["wrap", "ship"];
const SECOND: u64 = 1_000_000_000;

/// Plays one run, drawing every decision from `choices` until none is left; then everything comes to its end.
pub(crate) fn play(choices: &[u16]) -> (Vec<Record>, Vec<LedgerRecord>) {
    let mut run = Play { choices, ..Play::default() };
    run.open();
    while run.next < run.choices.len() {
        run.at += u64::from(run.draw(3)) * 100_000_000;
        match run.draw(16) {
            0..=10 => run.agent(),
            11..=13 => run.company(),
            14 => run.revise(),
            _ => run.crash(),
        }
    }
    run.settle();
    run.close()
}

#[derive(Default)]
struct Play<'a> {
    choices: &'a [u16],
    next: usize,
    seq: u64,
    at: u64,
    history: Vec<Record>,
    ledger: Vec<LedgerRecord>,
    calls: u32,
    operations: Vec<Operation>,
    processes: [Process; 2],
    /// What the User last said of an operation's revision.
    approved: BTreeMap<(usize, u64), bool>,
}

/// The Company's durable record, and its backend's.
#[derive(Clone)]
struct Operation {
    action: SmolStr,
    intent: usize,
    state: State,
    revision: u64,
    expires: u64,
    confirmation: Option<Confirmation>,
    result: Option<String>,
    stop_asked: bool,
    receipts: Vec<String>,
    /// The step being asked for, and whether the backend has decided about it: done or never.
    step: usize,
    decided: Option<bool>,
}

#[derive(Default)]
struct Process {
    /// The request that is out: call, purpose, action, revision, and the answer once the Company has given one.
    out: Option<Out>,
    /// Its operation, and the latest that it was told of it.
    told: Option<(usize, View)>,
}

struct Out {
    call: SmolStr,
    purpose: Purpose,
    operation: Option<usize>,
    revision: u64,
    answer: Option<(Outcome, Option<usize>, Option<View>)>,
}

fn wall(at: u64) -> SmolStr {
    let start: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
    format!("{:.3}", start + jiff::SignedDuration::from_millis((at / 1_000_000) as i64)).into()
}

fn is_final(state: State) -> bool {
    !matches!(state, State::Proposed | State::InProgress)
}

impl Operation {
    fn digest(&self, revision: u64) -> SmolStr {
        format!("{}-{revision}", self.intent).into()
    }

    fn view(&self) -> View {
        View {
            action: self.action.clone(),
            state: self.state,
            revision: self.revision,
            terms: self.digest(self.revision),
            expires_at: Some(wall(self.expires)),
            user_approval_required: false,
            confirmation: self.confirmation.clone(),
            result: self.result.clone(),
        }
    }

    fn end(&mut self, state: State) {
        self.state = state;
        self.result = Some(format!("Changes made: {}.", self.receipts.join(", ")));
    }

    fn expire(&mut self, at: u64) {
        if self.state == State::Proposed && at / 1_000_000 > self.expires / 1_000_000 {
            self.end(State::Expired);
        }
    }
}

impl Play<'_> {
    fn draw(&mut self, bound: u16) -> u16 {
        let choice = self.choices.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        choice % bound
    }

    fn stamp(&mut self) -> (u64, u64) {
        self.seq += 1;
        (self.seq, self.at)
    }

    fn record(&mut self, event: Event) {
        let (seq, at) = self.stamp();
        self.history.push(Record { seq, at, event });
    }

    fn enter(&mut self, entry: LedgerEntry) {
        let (seq, at) = self.stamp();
        self.ledger.push(LedgerRecord { seq, at, entry });
    }

    fn open(&mut self) {
        use Observation::*;
        self.record(Event::Run(Run {
            format: FORMAT,
            seed: 1,
            world: WorldKind::Simulated,
            epoch: "2026-01-01T00:00:00Z".to_owned(),
            order: Order::Total,
            observes: vec![Calls, Attempts, Approvals, Offers, Ledger, Performed],
            clock_error_ms: 0,
        }));
        let shape = ActionShape { steps: STEPS.map(SmolStr::from).to_vec(), phrases: BTreeMap::new() };
        self.record(Event::Company(Company { name: "shop".into(), actions: [("gift".into(), shape)].into() }));
    }

    /// One process takes its next step: sends, or its request arrives, is lost, or its answer arrives or is lost.
    fn agent(&mut self) {
        let who = usize::from(self.draw(2));
        let Some(out) = self.processes[who].out.take() else { return self.send(who) };
        if out.answer.is_none() {
            match self.draw(8) {
                0 => self.hear(who, out, false),
                copies => {
                    let answer = self.serve(&out);
                    if copies == 1 {
                        // A duplicate on the wire: it acts like any repeat, and nobody hears its answer.
                        self.serve(&Out { answer: None, call: out.call.clone(), ..out });
                    }
                    self.processes[who].out = Some(Out { answer: Some(answer), ..out });
                }
            }
        } else {
            let heard = self.draw(5) > 0;
            self.hear(who, out, heard);
        }
    }

    fn send(&mut self, who: usize) {
        let told = self.processes[who].told.clone();
        let Some((operation, view)) = told.filter(|(_, view)| !is_final(view.state)) else {
            // Nothing of its own is open: a look at the other's operation, or a new wish.
            let other = self.processes[1 - who].told.as_ref().map(|(operation, _)| *operation);
            return match other {
                Some(operation) if self.draw(3) == 0 => self.call(who, Purpose::Read, Some(operation), 0),
                _ => self.call(who, Purpose::Propose, None, 0),
            };
        };
        let approved = self.approved.get(&(operation, view.revision)) == Some(&true);
        match self.draw(10) {
            0 => self.call(who, Purpose::Cancel, Some(operation), 0),
            1 => self.call(who, Purpose::Read, Some(operation), 0),
            2 if approved && view.state == State::Proposed => self.approve(operation, &view, false),
            _ if approved => self.call(who, Purpose::Confirm, Some(operation), view.revision),
            _ => self.approve(operation, &view, true),
        }
    }

    fn approve(&mut self, operation: usize, view: &View, yes: bool) {
        self.approved.insert((operation, view.revision), yes);
        self.record(Event::Approval(Approval {
            is: if yes { ApprovalIs::Approved } else { ApprovalIs::Withdrawn },
            user: "u1".into(),
            action: Some(view.action.clone()),
            revision: Some(view.revision),
            terms: Some(view.terms.clone()),
            text: None,
            bounds: None,
        }));
    }

    fn call(&mut self, who: usize, purpose: Purpose, operation: Option<usize>, revision: u64) {
        self.calls += 1;
        let call = SmolStr::from(format!("c{}", self.calls));
        let is_confirm = purpose == Purpose::Confirm;
        self.record(Event::Call(Call {
            id: call.clone(),
            process: format!("a{who}").into(),
            session: None,
            purpose,
            company: Some("shop".into()),
            // A wish belongs to one process: each process has one at a time, and names it after itself.
            intent: (purpose == Purpose::Propose).then(|| format!("i{who}").into()),
            kind: (purpose == Purpose::Propose).then(|| "gift".into()),
            action: operation.map(|index| self.operations[index].action.clone()),
            revision: is_confirm.then_some(revision),
            approved_by: is_confirm.then_some(ApprovedBy::User),
            proof: Some(format!("p{}", self.calls).into()),
            due: None,
        }));
        self.processes[who].out = Some(Out { call, purpose, operation, revision, answer: None });
    }

    /// The Company's desk, at one instant.
    fn serve(&mut self, out: &Out) -> (Outcome, Option<usize>, Option<View>) {
        let at = self.at;
        let Some(index) = out.operation else { return self.propose() };
        let operation = &mut self.operations[index];
        operation.expire(at);
        let mut outcome = Outcome::View;
        match (out.purpose, operation.state) {
            (Purpose::Confirm, _) if out.revision != operation.revision => outcome = Outcome::Refused,
            (Purpose::Confirm, State::Proposed) => {
                operation.state = State::InProgress;
                operation.confirmation = Some(Confirmation {
                    revision: out.revision,
                    approved_by: ApprovedBy::User,
                    confirmed_at: wall(at),
                });
            }
            (Purpose::Cancel, State::Proposed) => operation.end(State::Cancelled),
            (Purpose::Cancel, State::InProgress) => operation.stop_asked = true,
            _ => {}
        }
        (outcome, Some(index), Some(operation.view()))
    }

    fn propose(&mut self) -> (Outcome, Option<usize>, Option<View>) {
        let index = self.operations.len();
        let life = (1 + u64::from(self.draw(4)).pow(3)) * SECOND;
        self.operations.push(Operation {
            action: format!("shop/operation/op_{index}").into(),
            intent: index,
            state: State::Proposed,
            revision: 1,
            expires: self.at + life,
            confirmation: None,
            result: None,
            stop_asked: false,
            receipts: Vec::new(),
            step: 0,
            decided: None,
        });
        self.offer(index);
        (Outcome::View, Some(index), Some(self.operations[index].view()))
    }

    fn offer(&mut self, index: usize) {
        let operation = self.operations[index].clone();
        let digest = operation.digest(operation.revision);
        self.record(Event::Terms(Terms {
            digest: digest.clone(),
            summary: "Gift wrap".to_owned(),
            terms: None,
            kind: Some("gift".into()),
            steps: Vec::new(),
        }));
        self.record(Event::Offer(Offer {
            action: operation.action,
            revision: operation.revision,
            terms: digest,
            expires_at: wall(operation.expires),
        }));
    }

    fn hear(&mut self, who: usize, out: Out, heard: bool) {
        let answer = out.answer.filter(|_| heard);
        let (outcome, operation, view) = answer.unwrap_or((Outcome::Unknown, None, None));
        let why = match outcome {
            Outcome::Unknown => Some("timeout".into()),
            Outcome::Refused => Some("terms_changed".into()),
            _ => None,
        };
        self.record(Event::Return(Return {
            call: out.call,
            outcome,
            status: None,
            why,
            view: view.clone(),
            session: None,
            retry_after_ms: None,
        }));
        if let (Some(operation), Some(view)) = (operation, view) {
            self.processes[who].told = Some((operation, view));
        }
    }

    /// The Company works on one confirmed operation: asks its backend, hears, or stops hearing; and decides.
    fn company(&mut self) {
        let busy: Vec<usize> =
            (0..self.operations.len()).filter(|index| self.operations[*index].state == State::InProgress).collect();
        let chosen = usize::from(self.draw(busy.len().max(1) as u16));
        let Some(index) = busy.get(chosen).copied() else { return };
        let luck = self.draw(8);
        self.perform(index, luck);
    }

    fn perform(&mut self, index: usize, luck: u16) {
        let Some(operation) = self.operations.get(index).cloned().filter(|it| it.state == State::InProgress) else {
            return;
        };
        if operation.decided.is_none() && operation.stop_asked {
            self.operations[index].end(State::Cancelled);
            return;
        }
        let step = STEPS[operation.step];
        let key = SmolStr::from(format!("{}/{step}", operation.action));
        let attempt = |is, learnt| {
            let (action, step, key) = (operation.action.clone(), step.into(), key.clone());
            Event::Attempt(Attempt { action, step, key, is, learnt })
        };
        self.record(attempt(AttemptIs::Sent, None));
        let done = match operation.decided {
            Some(done) => done,
            None => {
                let done = luck != 0;
                self.operations[index].decided = Some(done);
                if done {
                    self.take_effect(index, step, &key);
                }
                done
            }
        };
        if luck == 1 {
            self.record(attempt(AttemptIs::Unanswered, None));
            return;
        }
        if luck == 2 {
            // The Company stopped before the answer came; it asks again later.
            return;
        }
        let learnt = if done { Learnt::Done } else { Learnt::NotDone };
        self.record(attempt(AttemptIs::Answered, Some(learnt)));
        let operation = &mut self.operations[index];
        operation.decided = None;
        operation.step += 1;
        if !done {
            operation.end(State::Failed);
        } else if operation.step == STEPS.len() {
            operation.end(State::Succeeded);
        }
    }

    fn take_effect(&mut self, index: usize, step: &str, key: &SmolStr) {
        let receipt = format!("rtn_{index}_{step}");
        let operation = &mut self.operations[index];
        operation.receipts.push(receipt.clone());
        let effect = Effect {
            id: receipt.as_str().into(),
            action: operation.action.clone(),
            revision: operation.revision,
            terms: operation.digest(operation.revision),
            step: step.into(),
            key: key.clone(),
            receipt: receipt.into(),
            undo_of: None,
        };
        self.enter(LedgerEntry::Effect(effect));
    }

    fn revise(&mut self) {
        // Mostly the latest: the older ones are over.
        let back = usize::from(self.draw(3));
        let index = self.operations.len().wrapping_sub(1 + back);
        let at = self.at;
        let Some(operation) = self.operations.get_mut(index) else { return };
        operation.expire(at);
        if operation.state == State::Proposed {
            operation.revision += 1;
            operation.expires = operation.expires.max(at) + SECOND;
            self.offer(index);
        }
    }

    /// The Company stops and starts: what was in flight is cut, what was recorded stays.
    fn crash(&mut self) {
        for who in 0..self.processes.len() {
            if let Some(out) = self.processes[who].out.take() {
                self.hear(who, out, false);
            }
        }
    }

    /// Faults are off: requests end, operations end, and everybody looks once more.
    fn settle(&mut self) {
        self.crash();
        self.at += SECOND;
        for index in 0..self.operations.len() {
            while self.operations[index].state == State::InProgress {
                self.perform(index, 7);
            }
        }
        for who in 0..self.processes.len() {
            if let Some((operation, _)) = self.processes[who].told {
                self.call(who, Purpose::Read, Some(operation), 0);
                let out = self.processes[who].out.take().expect("just sent");
                let answer = Some(self.serve(&out));
                self.hear(who, Out { answer, ..out }, true);
            }
        }
        self.record(Event::Phase(Phase { is: PhaseIs::Settled, open: 0 }));
        self.count();
    }

    /// The Company is asked how often it performed each operation, and answers for most of them; and in all.
    fn count(&mut self) {
        self.at += SECOND;
        let times: Vec<u64> = self.operations.iter().map(|it| u64::from(!it.receipts.is_empty())).collect();
        for (index, times) in times.iter().enumerate().filter(|(index, _)| index % 5 != 4) {
            let action = self.operations[index].action.clone();
            self.enter(LedgerEntry::Performed(Performed { action, times: *times }));
        }
        let performed = times.iter().sum();
        self.enter(LedgerEntry::Totals(Totals { company: "shop".into(), performed, operations: performed }));
    }

    fn close(mut self) -> (Vec<Record>, Vec<LedgerRecord>) {
        let records = self.history.len() as u64;
        self.record(Event::End(End { records, lost: 0 }));
        let records = self.ledger.len() as u64;
        self.enter(LedgerEntry::End(End { records, lost: 0 }));
        (self.history, self.ledger)
    }
}
