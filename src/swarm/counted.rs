//! What a target counted itself: it goes into the ledger, where a simulated backend writes what took effect.

use smol_str::SmolStr;

use crate::{
    agent::{self, Shared, Totals},
    history::record::{self, LedgerEntry},
    plan::Performed,
    world::Field,
};

/// The target's count before the run, to be taken from that after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Before(Option<Totals>);

impl Before {
    /// Takes the count, where there is one in all.
    pub(super) async fn take(shared: &Shared) -> Self {
        Self(agent::totals(shared).await)
    }
}

/// Takes the target's count of the run and writes it down, until `over` at the most; how many counts were not to be had.
pub(super) async fn at_the_end(shared: &Shared, field: &Field, before: Before, over: impl Future<Output = ()>) -> u64 {
    let Some(target) = &shared.plan().target else { return 0 };
    let mut missing = match target.hooks.performed {
        None => return 0,
        Some(Performed::Totals { .. }) => 1,
        Some(Performed::EachOperation { .. }) => shared.operations_to_count(),
    };
    let counting = async {
        agent::each_operation(shared, |action, times| {
            note_performed(field, action, times);
            missing -= 1;
        })
        .await;
        if let (Some(before), Some(after)) = (before.0, agent::totals(shared).await)
            && let Some(totals) = after.since(before)
        {
            note_totals(field, &target.name, totals);
            missing -= 1;
        }
    };
    tokio::select! {
        biased;
        () = counting => {}
        () = over => {}
    }
    missing
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
