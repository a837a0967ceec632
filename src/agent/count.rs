//! Asking a target how often operations were performed: its own count, and no other party's.

use futures_util::{StreamExt as _, stream};
use serde_json::Value;
use smol_str::{SmolStr, ToSmolStr as _};

use super::{
    Shared,
    hooks::{HookAnswer, NoHook, of_status},
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

/// Why a target's count is missing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoCount {
    /// It does not know the operation, or not any more: the status that says so (404, 410).
    UnknownOperation(u16),
    /// It answered, but not with a whole number.
    NoNumber {
        /// The status of its answer.
        status: u16,
        /// Where the number was to stand (JSON Pointer).
        place: String,
        /// What stands there instead.
        found: &'static str,
    },
    /// It refused, or gave no answer: why.
    NoAnswer(SmolStr),
    /// It went down since the run began, as one that is kept in memory does at a restart.
    BegunAnew,
    /// It was not asked (any more): there was no time left, or it had stopped answering.
    NotAsked,
}

/// The target's count in all; `None` if it does not offer one.
pub async fn totals(shared: &Shared) -> Option<Result<Totals, NoCount>> {
    let Some(Performed::Totals { hook, performed, operations }) = shared.staff.performed() else { return None };
    let counted = match shared.staff.ask("performed", hook, &shared.staff.words("performed")).await {
        Ok(answer) => number_at(&answer, performed)
            .and_then(|performed| number_at(&answer, operations).map(|operations| Totals { performed, operations })),
        Err(NoHook::Refused(status)) => Err(NoCount::NoAnswer(of_status(status))),
        Err(NoHook::Failed(why)) => Err(NoCount::NoAnswer(why)),
    };
    Some(counted)
}

/// Asks for the target's count of every operation that an Agent was shown, a few at a time, and gives each to `note` as it
/// comes. Once some in a row get no answer, the rest is not asked for.
pub async fn each_operation(shared: &Shared, mut note: impl FnMut(SmolStr, Result<u64, NoCount>)) {
    let Some(Performed::EachOperation { hook, count }) = shared.staff.performed() else { return };
    let shown = shared.staff.shown();
    let mut answers = stream::iter(shown)
        .map(|(action, id)| async move {
            let answer = shared.staff.ask("performed", hook, &shared.staff.words_of(&action, &id)).await;
            (action, answer)
        })
        .buffer_unordered(limits::HOOKS_AT_ONCE_MAX);
    let mut in_a_row = 0;
    while let Some((action, answer)) = answers.next().await {
        in_a_row = if matches!(answer, Err(NoHook::Failed(_))) { in_a_row + 1 } else { 0 };
        let times = match answer {
            Ok(answer) => number_at(&answer, count),
            Err(NoHook::Refused(status @ (404 | 410))) => Err(NoCount::UnknownOperation(status)),
            Err(NoHook::Refused(status)) => Err(NoCount::NoAnswer(of_status(status))),
            Err(NoHook::Failed(why)) => Err(NoCount::NoAnswer(why)),
        };
        note(action.to_smolstr(), times);
        if in_a_row == limits::HOOKS_AT_ONCE_MAX {
            break;
        }
    }
}

/// The whole number at a place of an answer.
fn number_at(answer: &HookAnswer, place: &str) -> Result<u64, NoCount> {
    let found = match answer.body.as_ref().map(|body| body.pointer(place)) {
        Some(Some(Value::Number(number))) => match number.as_u64() {
            Some(number) => return Ok(number),
            None if number.is_i64() => "a negative number stands there",
            None => "a number that is not whole, or too large, stands there",
        },
        Some(Some(Value::String(_))) => "a text stands there",
        Some(Some(Value::Bool(_))) => "a truth value stands there",
        Some(Some(Value::Array(_))) => "a list stands there",
        Some(Some(Value::Object(_))) => "an object stands there",
        Some(Some(Value::Null)) => "null stands there",
        Some(None) => "nothing stands there",
        None => "the answer is no JSON",
    };
    Err(NoCount::NoNumber { status: answer.status, place: place.to_owned(), found })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_count_is_a_whole_number_and_what_else_stands_there_is_told() {
        let answer = |body: Option<Value>| HookAnswer { status: 200, body };
        let of = |value: Value| number_at(&answer(Some(json!({ "performed": value }))), "/performed");
        assert_eq!((of(json!(0)), of(json!(3))), (Ok(0), Ok(3)));
        let found = |counted: Result<u64, NoCount>| match counted {
            Err(NoCount::NoNumber { status: 200, place, found }) => {
                assert_eq!(place, "/performed");
                found
            }
            other => panic!("{other:?}"),
        };
        let cases = [
            (json!(-1), "a negative number"),
            (json!(1.5), "not whole"),
            (json!("3"), "a text"),
            (json!(true), "a truth value"),
            (json!([3]), "a list"),
            (json!({ "times": 3 }), "an object"),
            (json!(null), "null"),
        ];
        for (value, expected) in cases {
            let told = found(of(value.clone()));
            assert!(told.contains(expected), "{value}: {told}");
        }
        assert_eq!(found(number_at(&answer(Some(json!({ "performd": 3 }))), "/performed")), "nothing stands there");
        assert_eq!(found(number_at(&answer(None), "/performed")), "the answer is no JSON");
    }

    #[test]
    fn a_count_that_was_begun_anew_says_nothing() {
        let totals = |performed, operations| Totals { performed, operations };
        assert_eq!(totals(7, 6).since(totals(3, 3)), Some(totals(4, 3)));
        assert_eq!(totals(5, 5).since(totals(9, 3)), None);
        assert_eq!(totals(9, 2).since(totals(9, 3)), None);
    }
}
