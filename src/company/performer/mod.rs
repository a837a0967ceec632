//! The performer: it alone performs what the desk decided. It runs an action's steps at the backend under keys made of
//! the action's ID and the step, finds out what happened, notes the end, and takes work up again after a restart.
//! Every crash point of an action but those of its acceptance and its reply is here.

mod account;
mod backend;
mod run;

use std::{sync::Arc, time::Duration};

use super::{
    Shop,
    desk::operations::{self as desk, Run},
    record::Record,
    terms::{self, Heading},
};
use crate::{plan::CompanyDefect, protocol::State, world::Moment};

/// Sets off a run of an action's steps, in a task of its own: nobody who goes away stops it. `confirm` is the number of
/// the confirm that asked for it.
pub(super) fn start(shop: &Arc<Shop>, record: Arc<Record>, run: Run, confirm: Option<u64>) {
    let performing = run::perform(Arc::clone(shop), record, run, confirm);
    shop.world.spawn(performing);
}

/// Takes up what an earlier incarnation left: work in progress, and terms that were to change.
pub(super) fn resume(shop: &Arc<Shop>) {
    for (_, record) in shop.records.rows() {
        match record.state {
            State::InProgress if !shop.has(CompanyDefect::DropInProgressOnRestart) => {
                let run = Run { again: record.again, noted: true };
                start(shop, record, run, None);
            }
            State::Proposed => watch_revision(shop, &record),
            State::InProgress | State::Succeeded | State::Failed | State::Cancelled | State::Expired => {}
        }
    }
}

/// The record once it is final, or as it is at `deadline`.
pub(super) async fn settled(shop: &Shop, record: Arc<Record>, deadline: Moment) -> Arc<Record> {
    if record.state != State::InProgress {
        return record;
    }
    let shared = Arc::clone(&record.shared);
    let current = || shop.records.get(&record.id).unwrap_or_else(|| Arc::clone(&record));
    loop {
        let finished = shared.finished.notified();
        tokio::pin!(finished);
        // Listening before looking: an end in between is not missed.
        finished.as_mut().enable();
        let seen = current();
        if seen.state != State::InProgress {
            return seen;
        }
        if shop.world.within(deadline, finished).await.is_none() {
            return current();
        }
    }
}

/// The record once it is final, however long that takes.
pub(super) async fn ended(shop: &Shop, mut record: Arc<Record>) -> Arc<Record> {
    while record.state == State::InProgress {
        let later = shop.world.now() + Duration::from_secs(60);
        record = settled(shop, record, later).await;
    }
    record
}

/// Issues the next revision of a proposal (Operations 3.1). Gives the record as it then is, and whether it was revised.
pub(super) fn revise(shop: &Shop, record: &Record) -> (Arc<Record>, bool) {
    let rules = shop.rules(record.kind);
    shop.records.transact(&record.id, |row| {
        let current = row.clone().unwrap_or_else(|| Arc::new(record.clone()));
        let now = shop.world.wall();
        if let Some(expired) = desk::expire(&current, now, rules) {
            let expired = Arc::new(expired);
            *row = Some(Arc::clone(&expired));
            return (expired, false);
        }
        if current.state != State::Proposed {
            return (current, false);
        }
        let (revision, expires_at) = desk::next_revision(&current, now, shop.plan.proposals.lifetime, rules);
        let heading = Heading { revision, edition: current.offer.edition + 1, expires_at };
        let offer = terms::offer(&shop.world, rules.action, &current.action_id, &current.subject, heading);
        shop.tell_offer(&current.action_id, current.kind, &offer);
        let revised = Arc::new(Record { offer, revise_at: None, ..Record::clone(&current) });
        *row = Some(Arc::clone(&revised));
        (revised, true)
    })
}

/// Changes the terms of a proposal by the Company's own doing, when its time comes.
pub(super) fn watch_revision(shop: &Arc<Shop>, record: &Arc<Record>) {
    let Some(moment) = record.revise_at else { return };
    let (watching, record) = (Arc::clone(shop), Arc::clone(record));
    shop.world.spawn(async move {
        watching.world.sleep_until(moment).await;
        // Unless somebody asked for other terms already.
        let due = watching.records.get(&record.id).is_some_and(|current| current.revise_at.is_some());
        if due {
            revise(&watching, &record);
        }
    });
}
