//! What a User may set out to do.

use crate::scenario::value::{At, MoneyText, Share, Spread, Time};

use super::{section, words};

/// What a User may set out to do.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct JourneySettings {
    /// How often it is drawn, relative to the others. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) weight: Option<At<u32>>,
    /// The most of it that are under way at once; a start beyond that waits for one to end. Default: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) in_flight: Option<At<u32>>,
    /// Its steps, in order; the first is `propose`.
    pub(in crate::scenario) steps: At<Vec<At<JourneyStepChoice>>>,
}

/// One step of a journey.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::scenario) enum JourneyStepChoice {
    /// Ask a Company for an action.
    Propose(ProposeSettings),
    /// Show the terms to the User and take the answer.
    AskUser(AskUserSettings),
    /// Confirm the approved revision.
    Confirm(ConfirmSettings),
    /// Read the operation until it is final.
    Track(TrackSettings),
    /// Cancel the operation.
    Cancel(CancelSettings),
    /// Do nothing for a while.
    Wait(Spread),
    /// Move the wall clock of all parties on by so long, in one step.
    Later(At<Time>),
    /// Sign the User out. As the last step it is taken however the journey ends.
    SignOut,
    /// The User leaves; the proposal is left to expire. The last step.
    WalkAway,
}

/// Ask a Company for an action.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct ProposeSettings {
    /// The scenario's name for the Companies it may go to; one of them is drawn.
    pub(in crate::scenario) at: At<String>,
    /// The action.
    pub(in crate::scenario) action: At<String>,
}

section! {
    /// How the User answers. What the chances leave over is silence: the User never answers.
    AskUserSettings {
        /// The chance that the User approves. Default: what `decline` and `other_terms` leave over.
        approve: At<Share>,
        /// The chance that the User declines; the Agent then cancels. Default: 0%.
        decline: At<Share>,
        /// The chance that the User wants other terms; the Agent asks for them and shows the new revision. Default: 0%.
        other_terms: At<Share>,
        /// The chance that a User who approved takes it back. Default: 0%.
        withdraw: Share,
        /// How long after the approval it is taken back. Default: `{ uniform: { from: 0s, to: 200ms } }`.
        withdraw_after: Spread,
        /// How long the User thinks about each revision. Default: 0s.
        after: Spread,
    }
}

section! {
    /// How the Agent confirms.
    ConfirmSettings {
        /// How many confirms are sent side by side, each with a proof of its own. Default: 1.
        copies: At<u32>,
        /// On whose approval. Default: user.
        by: At<ByChoice>,
        /// Send the confirm this far around `expires_at`: evenly from so long before it to so long after it.
        around_expiry: Time,
    }
}

/// On whose approval an Agent confirms.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::scenario) enum ByChoice {
    /// The User's, given at the `ask-user` step before.
    User,
    /// A permission that the User gave earlier.
    StandingPermission(StandingPermissionSettings),
}

/// The bounds of a standing permission.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct StandingPermissionSettings {
    /// The highest price that it covers.
    pub(in crate::scenario) up_to: MoneyText,
}

section! {
    /// How the Agent tracks.
    TrackSettings {
        /// Until when. Default: final.
        until: UntilWord,
    }
}

words! {
    /// Until when an Agent tracks.
    UntilWord {
        /// Until the operation is final.
        Final,
    }
}

section! {
    /// How the Agent cancels.
    CancelSettings {
        /// How long after the step before. Default: 0s.
        after: Spread,
    }
}
