//! Defects: realistic bugs of a party, off unless a file switches them on.

use std::collections::BTreeSet;

use super::{Approval, Plan};

/// Defines a catalogue of words: an enum, its kebab-case names, and a sentence about each.
macro_rules! catalogue {
    ($(#[$doc:meta])* $name:ident { $($(#[doc = $text:literal])+ $variant:ident => $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[doc = $text])+ $variant,)+
        }

        impl $name {
            /// Every entry of the catalogue, in its order.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The word that files use for it.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// One sentence on what it does.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($text,)+).trim_ascii(),)+
                }
            }

            /// The entry that `word` names.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|entry| entry.word() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.word())
            }
        }
    };
}
pub(crate) use catalogue;

catalogue! {
    /// A bug of a simulated Company.
    CompanyDefect {
        /// A confirm that comes again while or after the action is performed performs it again, under a key of its own.
        PerformAgainOnRetry => "perform-again-on-retry",
        /// The check and the act of a confirm are two steps with a gap between, and every confirm that passed acts.
        CheckThenAct => "check-then-act",
        /// After a backend timeout the Company tries again under a fresh key.
        BackendRetryFreshKey => "backend-retry-fresh-key",
        /// The terms of the latest revision are performed instead of the confirmed one's.
        PerformLatestTerms => "perform-latest-terms",
        /// A backend timeout is reported as `failed`.
        FailOnBackendTimeout => "fail-on-backend-timeout",
        /// An operation cancelled in progress shows `cancelled` at once, and the work goes on.
        PerformAfterCancel => "perform-after-cancel",
        /// `expires_at` is stored and shown, and not looked at when a confirm comes.
        ExpiryNotChecked => "expiry-not-checked",
        /// A confirm of an older revision is taken as one of the latest.
        StaleRevisionAccepted => "stale-revision-accepted",
        /// New terms are written over the old ones under the same revision number.
        EditTermsInPlace => "edit-terms-in-place",
        /// A new revision keeps the expiry of the old one.
        ExpiryNotRenewed => "expiry-not-renewed",
        /// A new revision's number skips one.
        SkipRevision => "skip-revision",
        /// The action starts when it is proposed, before anybody confirmed it.
        PerformOnPropose => "perform-on-propose",
        /// `succeeded` is reported when the work is queued, before it is done.
        AcknowledgeBeforePerform => "acknowledge-before-perform",
        /// `succeeded` is reported although a step failed.
        SucceedOnPartial => "succeed-on-partial",
        /// A failed or cancelled result does not tell what was done before.
        SwallowPartial => "swallow-partial",
        /// Work in progress is forgotten when the Company restarts.
        DropInProgressOnRestart => "drop-in-progress-on-restart",
        /// A late timer expires operations by date alone, confirmed ones too.
        ExpireConfirmed => "expire-confirmed",
        /// A repeated confirm writes a new `confirmed_at`.
        RewriteConfirmation => "rewrite-confirmation",
        /// A confirm of a failed operation starts it again.
        ReviveFailed => "revive-failed",
        /// A repeated confirm is refused instead of answered with the operation.
        RefuseRepeatedConfirm => "refuse-repeated-confirm",
        /// A standing permission is taken where only the User's own approval is accepted.
        AcceptStandingPermission => "accept-standing-permission",
        /// Operations are given to Agents that do not list the extension.
        IgnoreExtensionListing => "ignore-extension-listing",
    }
}

catalogue! {
    /// A bug of a simulated Personal Agent.
    AgentDefect {
        /// After a confirm whose outcome is unknown the Agent asks for a new proposal.
        ReproposeOnTimeout => "repropose-on-timeout",
        /// An approval of one revision is used for the next.
        ReuseApproval => "reuse-approval",
        /// The Agent confirms without asking the User.
        ConfirmUnseen => "confirm-unseen",
        /// The Agent confirms although the User took the approval back.
        IgnoreWithdrawal => "ignore-withdrawal",
        /// The Agent goes on with the revision it first saw.
        ConfirmOldRevision => "confirm-old-revision",
        /// A standing permission is used beyond its bounds.
        StandingTooWide => "standing-too-wide",
        /// The User is shown other terms than the revision's.
        ShowOtherTerms => "show-other-terms",
        /// A retry carries the proof of the first attempt.
        ReuseProof => "reuse-proof",
        /// The Agent reads again without waiting for `Retry-After`.
        HotPoll => "hot-poll",
    }
}

/// A bug of either party.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Defect {
    /// A Company's.
    Company(CompanyDefect),
    /// A Personal Agent's.
    Agent(AgentDefect),
}

impl Defect {
    /// Every defect, those of Companies first.
    pub fn all() -> impl Iterator<Item = Self> {
        let company = CompanyDefect::ALL.iter().copied().map(Self::Company);
        company.chain(AgentDefect::ALL.iter().copied().map(Self::Agent))
    }

    /// The word that files use for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Company(defect) => defect.word(),
            Self::Agent(defect) => defect.word(),
        }
    }

    /// One sentence on what it does.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Company(defect) => defect.about(),
            Self::Agent(defect) => defect.about(),
        }
    }

    /// Switches it on in every party that may have it, and nothing else; but a leak of operations gets Agents to
    /// leak to, and a Company that takes every standing permission gets Agents that claim them where its actions want the User.
    pub fn switch_on(self, plan: &mut Plan) {
        match self {
            Self::Company(defect) => {
                plan.companies.iter_mut().for_each(|company| company.defects = [defect].into_iter().collect());
                match defect {
                    CompanyDefect::IgnoreExtensionListing => {
                        plan.swarm.operators_without_extension = plan.swarm.operators.div_ceil(2);
                    }
                    CompanyDefect::AcceptStandingPermission => {
                        plan.swarm.defects = [AgentDefect::StandingTooWide].into_iter().collect();
                        let actions = plan.companies.iter_mut().flat_map(|company| company.actions.values_mut());
                        actions.for_each(|action| action.approval = Approval::User);
                    }
                    _ => {}
                }
            }
            Self::Agent(defect) => plan.swarm.defects = [defect].into_iter().collect(),
        }
    }
}

/// The defects that are switched on in one party.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defects<T: Ord>(BTreeSet<T>);

impl<T: Ord> Default for Defects<T> {
    fn default() -> Self {
        Self(BTreeSet::new())
    }
}

impl<T: Ord + Copy> Defects<T> {
    /// Whether `defect` is switched on.
    #[must_use]
    pub fn has(&self, defect: T) -> bool {
        self.0.contains(&defect)
    }

    /// Those that are switched on, in the catalogue's order.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.0.iter().copied()
    }

    /// Whether none is switched on.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Ord> FromIterator<T> for Defects<T> {
    fn from_iter<I: IntoIterator<Item = T>>(defects: I) -> Self {
        Self(defects.into_iter().collect())
    }
}
