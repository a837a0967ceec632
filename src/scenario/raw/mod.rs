//! The files as people write them: raw types for serde and the JSON Schemas. `resolve/` turns them into a plan;
//! nothing else sees them.
//!
//! The comments on fields are what editors show, and what `docs/scenarios.md` and `docs/targets.md`
//! explain at length.

mod capacity;
mod company;
mod fault;
mod journey;
mod load;
mod network;
mod scenario;
mod target;

pub(super) use capacity::{CapacitySection, DatabaseSection, RowLocksWord};
pub(super) use company::{
    ActionSettings, AnswerSettings, Approvals, BackendSection, CompanyFile, DefectList, Extension, Group, Partial,
    ProposalSettings, ReviseChances, SessionChoice, SessionSettings, SessionsKey, Settings, StepSettings, StoreSection,
    StoreSync, Wanted, YesNo,
};
pub(super) use fault::{
    BackendTimeoutSettings, CrashSettings, DuplicateSettings, EffectWord, FaultChoice, FaultSettings, RefuseSettings,
    RestartSettings, StrikeSettings, fault_words,
};
pub(super) use journey::{
    AskUserSettings, ByChoice, CancelSettings, ConfirmSettings, JourneySettings, JourneyStepChoice, ProposeSettings,
    StandingPermissionSettings, TrackSettings, UntilWord,
};
pub(super) use load::{
    AgentStageSettings, ArrivalsWord, ClosedSettings, ListedJourneySettings, ListedSettings, LoadChoice, OpenSettings,
    RateStageSettings, WhenFullWord,
};
pub(super) use network::{NetworkSettings, PartitionSettings};
pub(super) use scenario::{
    AgentSettings, ExpectSettings, InvariantsSettings, RetrySettings, ScenarioFile, SessionModeWord, Switch,
};
pub(super) use target::{
    HookRequestSettings, HookSettings, OperatorSettings, PerformedSettings, PreparationSettings, RequestFields,
    RequestSettings, SettleSettings, SignInSettings, TargetActionSettings, TargetFile,
};

use super::value::Named;

/// Settings laid over others: what is said here counts, what is not is taken from below.
pub(super) trait Overlay: Sized {
    /// `self` over `base`.
    fn over(self, base: Self) -> Self;
}

impl<T: Overlay> Overlay for Option<T> {
    fn over(self, base: Self) -> Self {
        match (self, base) {
            (Some(this), Some(base)) => Some(this.over(base)),
            (this, base) => this.or(base),
        }
    }
}

impl<T: Overlay> Overlay for Named<T> {
    fn over(self, base: Self) -> Self {
        let mut entries = base.0;
        for (name, value) in self.0 {
            match entries.iter().position(|entry| entry.0.value == name.value) {
                Some(index) => {
                    let (_, below) = entries.remove(index);
                    entries.insert(index, (name, value.over(below)));
                }
                None => entries.push((name, value)),
            }
        }
        Self(entries)
    }
}

/// Types that are replaced as a whole.
macro_rules! leaf {
    ($($type:ty),+ $(,)?) => {
        $(impl $crate::scenario::raw::Overlay for $type {
            fn over(self, _: Self) -> Self {
                self
            }
        })+
    };
}
use leaf;

impl<T> Overlay for super::value::At<T> {
    fn over(self, _: Self) -> Self {
        self
    }
}

impl<T> Overlay for Vec<T> {
    fn over(self, _: Self) -> Self {
        self
    }
}

leaf!(String, u32, u64, f64, super::value::Time, super::value::Share, super::value::Spread, super::value::Price,);

/// A group of settings, each of which has a default and may be left out.
macro_rules! section {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(in crate::scenario) struct $name {
            $(
                $(#[$field_doc])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub(in crate::scenario) $field: Option<$type>,
            )*
        }

        impl $crate::scenario::raw::Overlay for $name {
            fn over(self, base: Self) -> Self {
                Self { $($field: $crate::scenario::raw::Overlay::over(self.$field, base.$field),)* }
            }
        }
    };
}
use section;

/// A choice between words, written kebab-case.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub(in crate::scenario) enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        $crate::scenario::raw::leaf!($name);
    };
}
use words;
