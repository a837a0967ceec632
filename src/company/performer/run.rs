//! One run of an action's steps, from the first that is not done to the noted end.

use std::sync::Arc;

use super::{
    account::{self, End},
    backend::{Learnt, Order, ask},
};
use crate::{
    company::{
        Shop,
        desk::operations::{self as desk, Run},
        record::{Offer, Record, StepDone, Undo},
        terms::{self, Heading},
    },
    plan::{CompanyDefect, CrashPoint, OnPartial},
    protocol::State,
};

/// How long work that was reported as done waits in its queue at least and at most, in microseconds; a defect.
const QUEUED_MICROSECONDS: (u64, u64) = (100_000, 400_000);

/// Performs an action and notes how it ended.
pub(super) async fn perform(shop: Arc<Shop>, record: Arc<Record>, run: Run, confirm: Option<u64>) {
    if let Some(number) = confirm {
        shop.point(CrashPoint::AcceptRecorded, &record, false, number).await;
    }
    if shop.has(CompanyDefect::AcknowledgeBeforePerform) {
        let (least, most) = QUEUED_MICROSECONDS;
        let queued = least + shop.world.draw("company.queued", &record.action_id, 0).below(most - least);
        shop.world.sleep(std::time::Duration::from_micros(queued)).await;
    }
    let terms = terms_to_perform(&shop, &record);
    let done = if run.noted { record.done.clone() } else { Vec::new() };
    let mut work = Work { shop: &shop, record: &record, terms, run, done };
    let end = work.forward().await;
    if work.shop.action(record.kind).on_partial == OnPartial::Undo && matches!(end, End::Refused(_) | End::Stopped) {
        work.back().await;
    }
    work.conclude(end).await;
}

/// The terms that are performed: those of the confirmed revision, which is the record's latest (Operations 3).
fn terms_to_perform(shop: &Shop, record: &Record) -> Arc<Offer> {
    if !shop.has(CompanyDefect::PerformLatestTerms) {
        return Arc::clone(&record.offer);
    }
    // A defect: what would be offered by now, whatever was confirmed.
    let Offer { revision, edition, expires_at, .. } = &*record.offer;
    let heading = Heading { revision: *revision, edition: edition + 1, expires_at: expires_at.clone() };
    terms::offer(&shop.world, shop.action(record.kind), &record.action_id, &record.subject, heading)
}

/// A run under way.
struct Work<'a> {
    shop: &'a Arc<Shop>,
    record: &'a Arc<Record>,
    terms: Arc<Offer>,
    run: Run,
    /// The steps that took effect, in order.
    done: Vec<StepDone>,
}

impl Work<'_> {
    /// Takes the steps that are not done yet.
    async fn forward(&mut self) -> End {
        let steps = &self.shop.action(self.record.kind).steps;
        for (index, step) in steps.iter().enumerate().skip(self.done.len()) {
            if !self.begin(index) {
                return End::Stopped;
            }
            match self.ask(&step.name, None).await {
                Learnt::Done(receipt) => self.done.push(StepDone { receipt, undo: Undo::None }),
                Learnt::Refused => return End::Refused(index),
                Learnt::Nothing => return End::Unanswered(index),
            }
        }
        End::Done
    }

    /// Undoes what was done, the last step first. Nothing of it is noted before the end: the backend remembers each key.
    async fn back(&mut self) {
        let steps = &self.shop.action(self.record.kind).steps;
        for index in (0..self.done.len()).rev() {
            let step = &steps[index]; // `done` never has more entries than there are steps
            let Some(undo) = &step.undo else { continue };
            self.done[index].undo = match self.ask(undo, Some(&step.name)).await {
                Learnt::Done(receipt) => Undo::Done(receipt),
                Learnt::Refused | Learnt::Nothing => Undo::Refused,
            };
        }
    }

    async fn ask(&self, step: &str, undo_of: Option<&str>) -> Learnt {
        let order = Order { record: self.record, terms: &self.terms, step, undo_of, again: self.run.again };
        ask(self.shop, order).await
    }

    /// Notes what is done so far and that this step begins, or learns that the action is to stop before it. One
    /// transaction, so that a cancel comes either before the step or after it began.
    fn begin(&self, step: usize) -> bool {
        if !self.run.noted {
            return true;
        }
        let action = self.shop.action(self.record.kind);
        self.shop.records.transact(&self.record.id, |row| {
            let Some(record) = row.as_ref().filter(|record| record.state == State::InProgress) else {
                return true; // only a defect ends a record while work on it goes on, and then it does
            };
            if desk::stops_before(record, step, action) {
                return false;
            }
            if record.begun <= step || record.done.len() != self.done.len() {
                let begun = record.begun.max(step + 1);
                *row = Some(Arc::new(Record { begun, done: self.done.clone(), ..Record::clone(record) }));
            }
            true
        })
    }

    /// Notes the end.
    async fn conclude(self, end: End) {
        if !self.run.noted {
            return;
        }
        let (shop, record) = (self.shop, self.record);
        let passage = record.shared.next_backend_call();
        shop.point(CrashPoint::PerformBeforeRecord, record, false, passage).await;
        shop.records.transact(&record.id, |row| {
            let Some(current) = row.as_ref().filter(|current| current.state == State::InProgress) else { return };
            let (state, result) = account::close(shop, current, &self.terms, &self.done, end);
            let ended = Record { done: self.done.clone(), ..current.ended(state, result, shop.world.wall()) };
            *row = Some(Arc::new(ended));
        });
        // Before anybody is told.
        shop.point(CrashPoint::PerformRecorded, record, false, passage).await;
        record.shared.finished.notify_waiters();
    }
}
