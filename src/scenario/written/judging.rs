//! Faults, invariants and expectations as a file has them.

use super::text;
use crate::plan::{Expectation, Fault, FaultKind, Invariants, Strike};
use crate::scenario::raw::{
    BackendTimeoutSettings, CrashSettings, DuplicateSettings, EffectWord, ExpectSettings, FaultChoice, FaultSettings,
    InvariantsSettings, RefuseSettings, RestartSettings, StrikeSettings,
};
use crate::scenario::value::{At, Share, Spread, Time, WindowText, Word};

pub(super) fn fault(plan: &Fault) -> FaultSettings {
    let strikes = plan.strikes.as_ref().map(|list| list.iter().map(|plan| At::nowhere(strike(plan))).collect());
    let listed = strikes.is_some();
    let on: Vec<_> = plan.on.iter().copied().map(Word).collect();
    FaultSettings {
        r#do: At::nowhere(kind(&plan.kind)),
        id: Some(text(&plan.id)),
        at: plan.at.as_ref().filter(|_| !listed).map(text),
        on: if on.is_empty() || listed { None } else { Some(At::nowhere(on)) },
        step: plan.step.as_ref().filter(|_| !listed).map(text),
        during: plan.during.filter(|_| !listed).map(|window| At::nowhere(WindowText(window))),
        chance: (!listed).then(|| At::nowhere(Share(plan.chance))),
        strikes: strikes.map(At::nowhere),
    }
}

fn strike(plan: &Strike) -> StrikeSettings {
    StrikeSettings {
        request: plan.request.map(|purpose| At::nowhere(Word(purpose))),
        key: text(&plan.key),
        attempt: Some(plan.attempt),
        time: plan.time.map(|time| At::nowhere(Time(time))),
        second_answers: plan.second_answers.map(At::nowhere),
    }
}

fn kind(plan: &FaultKind) -> FaultChoice {
    match plan {
        FaultKind::Delay(spread) => FaultChoice::Delay(Spread(spread.clone())),
        FaultKind::DelayAnswer(spread) => FaultChoice::DelayAnswer(Spread(spread.clone())),
        FaultKind::LoseRequest => FaultChoice::LoseRequest,
        FaultKind::LoseAnswer => FaultChoice::LoseAnswer,
        FaultKind::Reset => FaultChoice::Reset,
        FaultKind::HangUp => FaultChoice::HangUp,
        FaultKind::Duplicate { after } => {
            FaultChoice::Duplicate(DuplicateSettings { after: Some(Spread(after.clone())) })
        }
        FaultKind::Refuse { status, retry_after } => FaultChoice::Refuse(RefuseSettings {
            status: Some(At::nowhere(*status)),
            retry_after: retry_after.map(Time),
        }),
        FaultKind::Crash { point, down_for, only } => FaultChoice::Crash(CrashSettings {
            point: Word(*point),
            action: only.action.as_ref().map(text),
            how: only.how.map(Word),
            once: only.once.map(Word),
            down_for: Some(Time(*down_for)),
        }),
        FaultKind::Restart { every, down_for } => FaultChoice::Restart(RestartSettings {
            every: At::nowhere(Time(*every)),
            down_for: Some(At::nowhere(Time(*down_for))),
        }),
        FaultKind::BackendSlow(spread) => FaultChoice::BackendSlow(Spread(spread.clone())),
        FaultKind::BackendTimeout { effect } => FaultChoice::BackendTimeout(BackendTimeoutSettings {
            effect: Some(if *effect { EffectWord::Done } else { EffectWord::None }),
        }),
        FaultKind::BackendFail => FaultChoice::BackendFail,
    }
}

pub(super) fn invariants(plan: &Invariants) -> InvariantsSettings {
    match plan {
        Invariants::All => InvariantsSettings::All,
        Invariants::Only(names) => InvariantsSettings::Only(names.iter().map(text).collect()),
        Invariants::Except(names) => InvariantsSettings::Except(names.iter().map(text).collect()),
    }
}

pub(super) fn expect(plan: &Expectation) -> ExpectSettings {
    ExpectSettings { must: Some(plan.must.iter().map(text).collect()), may: Some(plan.may.iter().map(text).collect()) }
}
