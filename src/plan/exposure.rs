//! Where each defect shows: the shipped scenario that exposes it, the anomaly that it has to raise there, and those that
//! it may raise besides.
//!
//! Names only, since a plan knows no checker: tests hold them against its catalogue, and the page on defects against them.

use super::{AgentDefect, CompanyDefect, Defect};

/// Where a defect shows, and as what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exposure {
    /// The shipped scenario that exposes it.
    pub scenario: &'static str,
    /// The anomaly that it has to raise there.
    pub must: &'static str,
    /// Anomalies that it may raise besides, wherever it is switched on.
    pub may: &'static [&'static str],
}

impl Exposure {
    /// Every anomaly that it may raise, the one that it must first.
    pub fn anomalies(self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.must).chain(self.may.iter().copied())
    }
}

const fn shown(scenario: &'static str, must: &'static str, may: &'static [&'static str]) -> Exposure {
    Exposure { scenario, must, may }
}

impl Defect {
    /// Where it shows.
    #[must_use]
    pub fn exposure(self) -> Exposure {
        match self {
            Self::Company(defect) => defect.exposure(),
            Self::Agent(defect) => defect.exposure(),
        }
    }
}

impl CompanyDefect {
    /// Where it shows.
    #[must_use]
    pub fn exposure(self) -> Exposure {
        match self {
            Self::PerformAgainOnRetry => shown("timeout-recovery", "double-effect", &[]),
            Self::CheckThenAct => shown(
                "confirm-storm",
                "double-effect",
                &["stale-revision-effect", "repeat-confirm-refused", "revision-after-confirm"],
            ),
            Self::BackendRetryFreshKey => shown("timeout-recovery", "double-effect", &[]),
            Self::PerformLatestTerms => shown("revision-race", "effect-off-terms", &["stale-revision-effect"]),
            Self::FailOnBackendTimeout => shown("timeout-recovery", "failed-while-unknown", &["partial-effect-untold"]),
            Self::PerformAfterCancel => shown(
                "cancel-race",
                "effect-after-cancel",
                &["cancelled-while-unknown", "partial-effect-untold", "hidden-effect"],
            ),
            Self::ExpiryNotChecked => shown("expiry-edge", "confirm-accepted-after-expiry", &["effect-after-expiry"]),
            Self::StaleRevisionAccepted => {
                shown("revision-race", "stale-revision-accepted", &["stale-revision-effect", "revision-after-confirm"])
            }
            Self::EditTermsInPlace => shown("revision-race", "mutated-revision-terms", &["effect-off-terms"]),
            Self::ExpiryNotRenewed => shown("revision-race", "expiry-not-renewed", &[]),
            Self::SkipRevision => shown("revision-race", "revision-gap", &[]),
            Self::PerformOnPropose => shown(
                "timeout-recovery",
                "effect-before-confirm",
                &[
                    "unconfirmed-effect",
                    "stale-revision-effect",
                    "effect-after-cancel",
                    "partial-effect-untold",
                    "hidden-effect",
                    "cancelled-while-unknown",
                ],
            ),
            Self::AcknowledgeBeforePerform => shown("timeout-recovery", "early-success", &["phantom-success"]),
            Self::SucceedOnPartial => shown("partial-failure", "phantom-success", &[]),
            Self::SwallowPartial => shown("partial-failure", "partial-effect-untold", &[]),
            Self::DropInProgressOnRestart => shown("timeout-recovery", "unresolved-at-quiescence", &["lost-confirm"]),
            Self::ExpireConfirmed => shown(
                "expiry-edge",
                "expired-after-confirm",
                &["final-state-flip", "effect-after-expiry", "hidden-effect"],
            ),
            Self::RewriteConfirmation => shown("confirm-storm", "confirmation-rewritten", &[]),
            Self::ReviveFailed => shown(
                "partial-failure",
                "final-state-flip",
                &["double-effect", "hidden-effect", "partial-effect-untold"],
            ),
            Self::RefuseRepeatedConfirm => shown("confirm-storm", "repeat-confirm-refused", &[]),
            Self::AcceptStandingPermission => {
                shown("timeout-recovery", "standing-permission-accepted", &["standing-permission-abuse"])
            }
            Self::IgnoreExtensionListing => shown("timeout-recovery", "extension-leak", &[]),
        }
    }
}

impl AgentDefect {
    /// Where it shows.
    #[must_use]
    pub fn exposure(self) -> Exposure {
        match self {
            Self::ReproposeOnTimeout => shown("timeout-recovery", "duplicate-proposal", &["abandoned-operation"]),
            Self::ReuseApproval => shown("revision-race", "approval-reuse", &["unapproved-confirm"]),
            Self::ConfirmUnseen => shown("timeout-recovery", "unapproved-confirm", &[]),
            Self::IgnoreWithdrawal => shown("cancel-race", "confirm-after-withdrawal", &[]),
            Self::ConfirmOldRevision => shown("revision-race", "knowingly-stale-confirm", &[]),
            Self::StandingTooWide => shown("timeout-recovery", "standing-permission-abuse", &[]),
            Self::ShowOtherTerms => shown("timeout-recovery", "approval-of-other-terms", &[]),
            Self::ReuseProof => shown("timeout-recovery", "proof-reuse", &[]),
            Self::HotPoll => shown("timeout-recovery", "busy-poll", &[]),
        }
    }
}
