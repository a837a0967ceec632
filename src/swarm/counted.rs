//! What a target counted itself: it goes into the ledger, where a simulated backend writes what took effect.

use std::{collections::BTreeMap, time::Duration};

use smol_str::SmolStr;
use tokio_util::sync::CancellationToken;

use crate::{
    agent::{self, NoCount, Shared, Totals},
    history::record::{self, LedgerEntry},
    plan::Performed,
    world::Field,
};

/// How long a target's own count may take.
const COUNT_TIME: Duration = Duration::from_secs(300);

/// How much longer once the run is interrupted: whoever waits for it wants to be gone.
pub const COUNT_INTERRUPTED_TIME: Duration = Duration::from_secs(2);

/// The target's count before the run, to be taken from that after it; `None` where there is none in all.
#[derive(Debug, Clone)]
pub(super) struct Before(Option<Result<Totals, NoCount>>);

impl Before {
    /// Takes the count, unless the run is interrupted meanwhile.
    pub(super) async fn take(shared: &Shared, stop: &CancellationToken) -> Self {
        tokio::select! {
            biased;
            totals = agent::totals(shared) => Self(totals),
            () = stop.cancelled() => Self(Some(Err(NoCount::NotAsked))),
        }
    }
}

/// Takes the target's count of the run and writes it down, within its time; how many counts are missing, by why.
pub(super) async fn at_the_end(
    shared: &Shared,
    field: &Field,
    before: Before,
    stop: &CancellationToken,
) -> BTreeMap<NoCount, u64> {
    let mut missing = BTreeMap::new();
    let Some(target) = &shared.plan().target else { return missing };
    let mut left = match target.hooks.performed {
        None => return missing,
        Some(Performed::Totals { .. }) => 1,
        Some(Performed::EachOperation { .. }) => shared.operations_to_count(),
    };
    let counting = async {
        agent::each_operation(shared, |action, times| {
            left = u64::saturating_sub(left, 1);
            match times {
                Ok(times) => note_performed(field, action, times),
                Err(why) => *missing.entry(why).or_default() += 1,
            }
        })
        .await;
        if let Some(totals) = since(before, shared).await {
            left = 0;
            match totals {
                Ok(totals) => note_totals(field, &target.name, totals),
                Err(why) => *missing.entry(why).or_default() += 1,
            }
        }
    };
    tokio::select! {
        biased;
        () = counting => {}
        () = time_is_over(field, stop) => {}
    }
    if left > 0 {
        missing.insert(NoCount::NotAsked, left);
    }
    missing
}

/// What the target counted on top of what it had counted before the run; `None` where there is no count in all.
async fn since(before: Before, shared: &Shared) -> Option<Result<Totals, NoCount>> {
    match before.0? {
        Ok(before) => {
            Some(agent::totals(shared).await?.and_then(|after| after.since(before).ok_or(NoCount::BegunAnew)))
        }
        Err(why) => Some(Err(why)),
    }
}

async fn time_is_over(field: &Field, stop: &CancellationToken) {
    tokio::select! {
        biased;
        () = stop.cancelled() => field.sleep_until(field.now() + COUNT_INTERRUPTED_TIME).await,
        () = field.sleep_until(field.now() + COUNT_TIME) => {}
    }
}

fn note_performed(field: &Field, action: SmolStr, times: u64) {
    let entry = LedgerEntry::Performed(record::Performed { action, times });
    field.recorder().ledger().enter(|| field.now().as_nanos(), entry);
}

fn note_totals(field: &Field, company: &SmolStr, totals: Totals) {
    let Totals { performed, operations } = totals;
    let entry = LedgerEntry::Totals(record::Totals { company: company.clone(), performed, operations });
    field.recorder().ledger().enter(|| field.now().as_nanos(), entry);
}
