//! A Company file, and what a scenario says about a group of Companies.

use super::capacity::CapacitySection;
use super::{leaf, section, words};
use crate::plan::CompanyDefect;
use crate::scenario::value::{At, Named, Price, Share, Spread, Time, Word};

/// A type with the settings of a Company among its fields.
macro_rules! with_settings {
    ($(#[$doc:meta])* $name:ident { $($(#[$own_doc:meta])* $own:ident: $own_type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(in crate::scenario) struct $name {
            $($(#[$own_doc])* pub(in crate::scenario) $own: $own_type,)*
            /// The name that it shows to Users; `{n}` is its number. Default: the profile's name and number.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub(in crate::scenario) title: Option<At<String>>,
            /// Its domain, under `.example`; `{n}` is its number, from 1. Default: `PROFILE-{n}.example`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub(in crate::scenario) domain: Option<At<String>>,
            /// The parts of the protocol that it speaks. Default: `[operations]`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub(in crate::scenario) speaks: Option<At<Vec<Wanted>>>,
            /// The version of the Operations extension that it lists. Default: "1".
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub(in crate::scenario) operations_version: Option<At<String>>,
            /// Which draft's Sessions it speaks, and their settings. Default: the Agents' draft.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub(in crate::scenario) sessions: Option<SessionsKey>,
            /// How it answers.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub(in crate::scenario) answers: Option<AnswerSettings>,
            /// How it proposes.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub(in crate::scenario) proposals: Option<ProposalSettings>,
            /// What it keeps.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub(in crate::scenario) store: Option<StoreSection>,
            /// The backend where its actions take effect.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub(in crate::scenario) backend: Option<BackendSection>,
            /// How much it can do at once. Left out, as much as it is asked for.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub(in crate::scenario) capacity: Option<CapacitySection>,
            /// What it can do, by name; at least one action.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub(in crate::scenario) actions: Option<Named<ActionSettings>>,
            /// Bugs switched on, from docs/defects.md. A scenario adds to those of the profile.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub(in crate::scenario) defects: Option<DefectList>,
        }

        impl $name {
            /// The settings alone.
            pub(in crate::scenario) fn settings(&self) -> Settings {
                Settings {
                    title: self.title.clone(),
                    domain: self.domain.clone(),
                    speaks: self.speaks.clone(),
                    operations_version: self.operations_version.clone(),
                    sessions: self.sessions.clone(),
                    answers: self.answers.clone(),
                    proposals: self.proposals.clone(),
                    store: self.store.clone(),
                    backend: self.backend.clone(),
                    capacity: self.capacity.clone(),
                    actions: self.actions.clone(),
                    defects: self.defects.clone(),
                }
            }
        }
    };
}

with_settings! {
    /// A simulated Company.
    CompanyFile {
        /// The profile's name. This key comes first: it says what kind of file this is.
        company: At<String>,
    }
}

with_settings! {
    /// Companies of one profile. Any key of a Company file may stand here too, and counts over the profile's.
    Group {
        /// The profile: a file of that name in `sim-companies/`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        profile: Option<At<String>>,
        /// A whole Company file in place of a profile.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        company: Option<CompanyFile>,
        /// How many Companies. Default: 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<At<u32>>,
        /// The numbers of the Companies, in place of `count`. Default: from 1, or going on from the group before of this
        /// profile.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        numbers: Option<At<Vec<u32>>>,
    }
}

section! {
    /// The settings of a Company, apart from what names it.
    Settings {
        /// See `CompanyFile`.
        title: At<String>,
        /// See `CompanyFile`.
        domain: At<String>,
        /// See `CompanyFile`.
        speaks: At<Vec<Wanted>>,
        /// See `CompanyFile`.
        operations_version: At<String>,
        /// See `CompanyFile`.
        sessions: SessionsKey,
        /// See `CompanyFile`.
        answers: AnswerSettings,
        /// See `CompanyFile`.
        proposals: ProposalSettings,
        /// See `CompanyFile`.
        store: StoreSection,
        /// See `CompanyFile`.
        backend: BackendSection,
        /// See `CompanyFile`.
        capacity: CapacitySection,
        /// See `CompanyFile`.
        actions: Named<ActionSettings>,
        /// See `CompanyFile`.
        defects: DefectList,
    }
}

words! {
    /// A part of the protocol.
    Wanted {
        /// The Operations extension.
        Operations,
    }
}

/// Which draft's Sessions a Company speaks.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
pub(in crate::scenario) enum SessionChoice {
    /// DPoP Session Tokens as in draft 0.1.
    #[serde(rename = "dpop-0.1")]
    Dpop01(SessionSettings),
    /// DPoP Session Tokens as in draft 0.2.
    #[serde(rename = "dpop-0.2")]
    Dpop02(SessionSettings),
}

/// The key `sessions`, whose settings are laid over each other although the draft may change.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub(in crate::scenario) struct SessionsKey(pub(in crate::scenario) At<SessionChoice>);

impl super::Overlay for SessionsKey {
    fn over(self, base: Self) -> Self {
        let (SessionChoice::Dpop01(below) | SessionChoice::Dpop02(below)) = base.0.value;
        let value = match self.0.value {
            SessionChoice::Dpop01(settings) => SessionChoice::Dpop01(settings.over(below)),
            SessionChoice::Dpop02(settings) => SessionChoice::Dpop02(settings.over(below)),
        };
        Self(At { value, place: self.0.place })
    }
}

section! {
    /// Sessions and tokens of a Company.
    SessionSettings {
        /// How often the DPoP nonce changes. Left out, no nonces are demanded.
        nonce_every: At<Time>,
        /// How far a proof's `iat` may lie from now. Default: 60s.
        proof_window: At<Time>,
        /// How long a Session Token lives. Default: 1h.
        token_lifetime: At<Time>,
        /// Whether the operations endpoint asks for tokens issued for a `resource` of its own. Default: false.
        operations_resource: bool,
    }
}

leaf!(bool);

section! {
    /// How a Company answers.
    AnswerSettings {
        /// Its own time for any answer, backend not included. Default: `{ log-normal: { median: 2ms, p99: 20ms } }`.
        latency: Spread,
        /// A confirm waits this long for a final state before it answers `in_progress`. Default: 3s.
        answer_within: Time,
        /// `Retry-After` of an operation in progress, sent in whole seconds, rounded up. Default: 1s.
        retry_after: Time,
    }
}

section! {
    /// How a Company proposes.
    ProposalSettings {
        /// How long a revision can be confirmed. Default: 15m.
        lifetime: At<Time>,
        /// How often the terms change.
        revise: ReviseChances,
    }
}

section! {
    /// How often the terms of a proposal change.
    ReviseChances {
        /// The chance that they change between proposal and approval. Default: 0%.
        before_approval: Share,
        /// How long after the proposal they then change. Default: `{ uniform: { from: 0s, to: 300ms } }`.
        after: Spread,
        /// The chance that they change while a confirm is being answered, before it is checked. Default: 0%.
        during_confirm: Share,
    }
}

section! {
    /// What a Company keeps.
    StoreSection {
        /// When what is stored survives a crash. Default: each-write.
        sync: StoreSync,
        /// How long final operations stay readable. Default: 10m.
        keep_final: Time,
    }
}

words! {
    /// When what is stored survives a crash.
    StoreSync {
        /// As soon as it is written.
        EachWrite,
    }
}

section! {
    /// How a Company deals with its backend.
    BackendSection {
        /// The backend's time for a step, unless the step has its own. Default: 20ms.
        latency: Spread,
        /// How long the Company waits for a step's answer. Default: 3s.
        timeout: At<Time>,
        /// How long after a lost answer it asks again, under the same key. Default: 1s.
        ask_again: Time,
    }
}

section! {
    /// One action of a Company.
    ActionSettings {
        /// Whether it needs confirming; one that does not is done at once. Default: yes.
        operation: YesNo,
        /// What an Agent gets that does not list the extension. Default: refuse.
        without_extension: Extension,
        /// Whose approval it accepts. Default: user.
        approval: Approvals,
        /// The scope that its token needs. Default: none.
        scope: At<String>,
        /// Whether it needs a Session that is signed in to an account; then it needs a scope, too. Default: no.
        signed_in: At<YesNo>,
        /// What it costs. Default: 0.00 USD.
        price: Price,
        /// `summary` of a revision, with placeholders. Default: a general sentence.
        summary: At<String>,
        /// `terms` of a revision, with placeholders in its texts. Default: general terms.
        terms: At<serde_json::Map<String, serde_json::Value>>,
        /// What `result.summary` says first when it succeeded, with placeholders.
        done: At<String>,
        /// The steps it takes at the backend, in order; at least one.
        steps: At<Vec<StepSettings>>,
        /// Until after which step a cancel in progress can still stop it. Left out, it cannot.
        can_stop_until: At<String>,
        /// What becomes of done steps when a later one fails or is stopped. Default: report.
        on_partial: Partial,
    }
}

words! {
    /// Yes or no.
    YesNo {
        /// Yes.
        Yes,
        /// No.
        No,
    }
}

words! {
    /// What an Agent gets that does not list the extension (Operations 2).
    Extension {
        /// The action is done at once.
        Act,
        /// 403 `extension_required`.
        Refuse,
    }
}

words! {
    /// Whose approval an action accepts (Operations 5.1).
    Approvals {
        /// Only the User's own, of this revision.
        User,
        /// A standing permission as well.
        StandingPermission,
    }
}

words! {
    /// What becomes of done steps when a later one fails or is stopped.
    Partial {
        /// They stand, and the result tells them.
        Report,
        /// They are undone where a step has an undo, and the result tells both.
        Undo,
    }
}

/// One step of an action at the backend.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct StepSettings {
    /// Its name.
    pub(in crate::scenario) name: At<String>,
    /// The step that undoes it. Left out, it cannot be undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) undo: Option<At<String>>,
    /// Its own time, instead of the backend's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) latency: Option<Spread>,
    /// The chance that the backend refuses it for good. Default: 0%.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) fail: Option<Share>,
    /// The phrase that tells its effect in `result.summary`. Default: its receipt alone tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) phrase: Option<At<String>>,
}

/// Bugs of a Company. Those of a scenario are added to the profile's.
#[derive(Debug, Clone, Default, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub(in crate::scenario) struct DefectList(pub(in crate::scenario) Vec<At<Word<CompanyDefect>>>);

impl super::Overlay for DefectList {
    fn over(self, base: Self) -> Self {
        Self(base.0.into_iter().chain(self.0).collect())
    }
}
