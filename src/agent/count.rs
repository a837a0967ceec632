//! Asking a target how often operations were performed: its own count, and no other party's.

use futures_util::{StreamExt as _, stream};
use smol_str::{SmolStr, ToSmolStr as _};

use super::{
    Shared,
    hooks::{NoHook, number_at},
    words::Words,
};
use crate::{limits, plan::Performed};

/// What a target counted in all, up to an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Performances.
    pub performed: u64,
    /// Operations that were performed, each counted once.
    pub operations: u64,
}

impl Totals {
    /// What came on top of what was counted before; `None` if the count was begun anew in between, and so says nothing.
    #[must_use]
    pub fn since(self, before: Self) -> Option<Self> {
        Some(Self {
            performed: self.performed.checked_sub(before.performed)?,
            operations: self.operations.checked_sub(before.operations)?,
        })
    }
}

/// The target's count in all; `None` if it does not offer one, or gives none.
pub async fn totals(shared: &Shared) -> Option<Totals> {
    let Some(Performed::Totals { hook, performed, operations }) = shared.staff.performed() else { return None };
    let answer = shared.staff.ask("performed", hook, &Words::new(&shared.world, "performed")).await.ok()?;
    Some(Totals { performed: number_at(&answer, performed)?, operations: number_at(&answer, operations)? })
}

/// Asks for the target's count of every operation that an Agent was shown, a few at a time, and gives each to `note` as it
/// comes. Once some in a row get no answer, the rest is not asked for.
pub async fn each_operation(shared: &Shared, mut note: impl FnMut(SmolStr, u64)) {
    let Some(Performed::EachOperation { hook, count }) = shared.staff.performed() else { return };
    let shown = shared.staff.shown();
    let mut answers = stream::iter(shown)
        .map(|(action, id)| async move {
            let words = Words::of_operation(&shared.world, &action, &id);
            let times = match shared.staff.ask("performed", hook, &words).await {
                Ok(answer) => number_at(&answer, count).ok_or(NoHook::Refused),
                Err(why) => Err(why),
            };
            (action, times)
        })
        .buffer_unordered(limits::HOOKS_AT_ONCE_MAX);
    let mut in_a_row = 0;
    while let Some((action, times)) = answers.next().await {
        match times {
            Ok(times) => note(action.to_smolstr(), times),
            Err(NoHook::Refused) => {}
            Err(NoHook::Failed) => {
                in_a_row += 1;
                if in_a_row == limits::HOOKS_AT_ONCE_MAX {
                    break;
                }
                continue;
            }
        }
        in_a_row = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_was_begun_anew_says_nothing() {
        let totals = |performed, operations| Totals { performed, operations };
        assert_eq!(totals(7, 6).since(totals(3, 3)), Some(totals(4, 3)));
        assert_eq!(totals(5, 5).since(totals(9, 3)), None);
        assert_eq!(totals(9, 2).since(totals(9, 3)), None);
    }
}
