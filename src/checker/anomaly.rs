//! The catalogue of anomalies: names, definitions, rules, and what a history must hold for each to be judged.
//!
//! `docs/anomalies.md` is made from this table, and every smallest example here is a test.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::history::record::Observation;
use Observation::{Approvals, Attempts, Calls, Ledger, Offers, Performed, Sessions};

/// How grave an anomaly is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// A MUST or MUST NOT of the protocol was broken: the run fails.
    Must,
    /// A SHOULD was not followed: a warning.
    Should,
}

/// Whose anomaly it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The Company's.
    Company,
    /// The Personal Agent's.
    Agent,
}

/// What a history must hold for an anomaly to be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// What must have been observed in full.
    pub observes: &'static [Observation],
    /// Whether a record that was lost could have been the innocent explanation.
    pub without_gaps: bool,
    /// Whether history and ledger must both have ended properly.
    pub complete: bool,
    /// Whether the run must have settled, and not been interrupted.
    pub settled: bool,
}

/// One entry of the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The kebab-case name.
    pub name: &'static str,
    /// Whose it is.
    pub side: Side,
    /// How grave it is.
    pub level: Level,
    /// The rules it breaks.
    pub rules: &'static [&'static str],
    /// What it is.
    pub definition: &'static str,
    /// What it needs.
    pub needs: Needs,
    /// The smallest history that shows it, in the notation of `docs/anomalies.md`.
    pub example: &'static str,
}

/// Any part of the history will do.
const fn seen(observes: &'static [Observation]) -> Needs {
    Needs { observes, without_gaps: false, complete: false, settled: false }
}

/// Something must be absent, so no record may be lost.
const fn absent(observes: &'static [Observation]) -> Needs {
    Needs { observes, without_gaps: true, complete: false, settled: false }
}

/// Something must be absent to the end.
const fn absent_at_end(observes: &'static [Observation], settled: bool) -> Needs {
    Needs { observes, without_gaps: true, complete: true, settled }
}

macro_rules! catalogue {
    ($($variant:ident = $name:literal, $side:ident, $level:ident, [$($rule:literal),*], $needs:expr, $definition:literal, $example:literal;)+) => {
        /// Something that the protocol rules out, found in a history.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Anomaly {
            $(#[doc = $definition] $variant,)+
        }

        impl Anomaly {
            /// Every anomaly, in the catalogue's order.
            pub const ALL: &'static [Anomaly] = &[$(Anomaly::$variant,)+];

            /// Its entry in the catalogue.
            #[must_use]
            pub const fn entry(self) -> Entry {
                match self {
                    $(Anomaly::$variant => Entry {
                        name: $name,
                        side: Side::$side,
                        level: Level::$level,
                        rules: &[$($rule),*],
                        definition: $definition,
                        needs: $needs,
                        example: $example,
                    },)+
                }
            }
        }
    };
}

catalogue! {
    DoubleEffect = "double-effect", Company, Must, ["OC-29"], seen(&[Ledger]),
        "A step took effect more than once for one action. Undo entries do not count, and do not make room for a second effect.",
        "propose 1..2 proposed r1; confirm r1 5..9 succeeded r1; effect wrap r1 @6; effect wrap r1 @7";
    UnconfirmedEffect = "unconfirmed-effect", Company, Must, ["OC-8"], absent(&[Calls, Ledger]),
        "An effect of an operation that no confirm can have set off: nobody sent one, or every one was refused or never left.",
        "propose 1..2 proposed r1; effect wrap r1 @6";
    EffectBeforeConfirm = "effect-before-confirm", Company, Must, ["OC-8"], absent(&[Calls, Ledger]),
        "An effect earlier than the sending of every confirm that can have been accepted.",
        "propose 1..2 proposed r1; effect wrap r1 @3; confirm r1 5..9 succeeded r1";
    OrphanEffect = "orphan-effect", Company, Must, ["OC-8"], absent(&[Calls, Ledger]),
        "An effect of an operation that no Agent ever named or was shown.",
        "effect wrap r1 @3";
    StaleRevisionEffect = "stale-revision-effect", Company, Must, ["OC-7"], absent(&[Calls, Ledger]),
        "An effect of a revision that is not the confirmed one, or that nobody confirmed.",
        "propose 1..2 proposed r1; read 3..4 proposed r2; confirm r2 5..9 succeeded r2; effect wrap r1 @6";
    EffectOffTerms = "effect-off-terms", Company, Must, ["OC-7"], absent(&[Calls, Ledger]),
        "An effect of the confirmed revision, performed on other terms than that revision's.",
        "propose 1..2 proposed r1; confirm r1 5..9 succeeded r1; effect wrap r1 terms=other @6";
    EffectAfterCancel = "effect-after-cancel", Company, Must, ["OC-33", "OC-34"], seen(&[Calls, Ledger]),
        "An effect after an answer had said `cancelled`.",
        "propose 1..2 proposed r1; confirm r1 4..8 unknown; cancel 5..6 cancelled r1; effect wrap r1 @9";
    EffectAfterExpiry = "effect-after-expiry", Company, Must, ["OC-36"], seen(&[Calls, Ledger]),
        "An effect after an answer had said `expired`.",
        "propose 1..2 proposed r1 exp=5; confirm r1 4..20 unknown; read 30..31 expired r1 exp=5; effect wrap r1 @40";
    PartialEffectUntold = "partial-effect-untold", Company, Must, ["OC-32"], seen(&[Calls, Ledger]),
        "Some but not all steps of an operation took effect and stand, and its `failed` or `cancelled` result does not tell one of them.",
        "steps wrap ship; propose 1..2 proposed r1; confirm r1 5..9 failed r1 result=Nothing_happened; effect wrap r1 @6";
    HiddenEffect = "hidden-effect", Company, Must, ["OC-32"], seen(&[Calls, Ledger]),
        "An operation ended as `failed`, `cancelled` or `expired`, its effect stands, and the result does not tell it.",
        "propose 1..2 proposed r1; confirm r1 5..9 failed r1 result=Nothing_happened; effect wrap r1 @6";
    CompensationGap = "compensation-gap", Company, Must, ["OC-32"], absent(&[Ledger]),
        "The ledger holds an undo of a step that had not taken effect, or more undos of a step than effects.",
        "propose 1..2 proposed r1; confirm r1 5..9 failed r1; undo wrap r1 @6";
    PhantomSuccess = "phantom-success", Company, Must, ["OC-7", "OC-32"], absent_at_end(&[Calls, Ledger], false),
        "An answer said `succeeded`, and to the end the ledger lacks the effect of a step (or holds it undone).",
        "propose 1..2 proposed r1; confirm r1 5..9 succeeded r1";
    EarlySuccess = "early-success", Company, Must, ["OC-7", "OC-32"], absent(&[Calls, Ledger]),
        "An answer said `succeeded` before a step took effect.",
        "propose 1..2 proposed r1; confirm r1 5..9 succeeded r1; effect wrap r1 @15";
    PerformedTwice = "performed-twice", Company, Must, ["OC-29"], seen(&[Performed]),
        "The Company's own count says that an operation was performed more than once.",
        "propose 1..2 proposed r1; confirm r1 5..9 succeeded r1; performed 2 @20";
    PerformedUnconfirmed = "performed-unconfirmed", Company, Must, ["OC-8"], absent(&[Calls, Performed]),
        "The Company's own count says that an operation was performed which no confirm can have set off: nobody sent one, or every one was refused or never left.",
        "propose 1..2 proposed r1; performed 1 @20";
    PerformedThoughCancelled = "performed-though-cancelled", Company, Must, ["OC-33"], seen(&[Calls, Performed]),
        "An answer said `cancelled` and showed no confirmation, so that it was declined in time, and by the Company's own count it was performed.",
        "propose 1..2 proposed r1; confirm r1 4..8 unknown; cancel 5..6 cancelled r1; performed 1 @20";
    PerformedThoughExpired = "performed-though-expired", Company, Must, ["OC-36"], seen(&[Calls, Performed]),
        "An answer said `expired`, and by the Company's own count the operation was performed.",
        "propose 1..2 proposed r1 exp=5; confirm r1 4..20 unknown; read 30..31 expired r1 exp=5; performed 1 @40";
    SuccessNotPerformed = "success-not-performed", Company, Must, ["OC-7", "OC-32"], seen(&[Calls, Performed]),
        "An answer said `succeeded`, and by the Company's own count, taken afterwards, the operation was never performed; or its totals count fewer operations than were reported succeeded.",
        "propose 1..2 proposed r1; confirm r1 5..9 succeeded r1; performed 0 @20";
    FailedWhileUnknown = "failed-while-unknown", Company, Must, ["OC-31"], absent(&[Calls, Attempts]),
        "An answer said `failed` while the Company did not know what became of a request to its backend.",
        "propose 1..2 proposed r1; confirm r1 5..9 failed r1; attempt wrap @6; unanswered wrap @8";
    CancelledWhileUnknown = "cancelled-while-unknown", Company, Must, ["OC-34"], absent(&[Calls, Attempts]),
        "An answer said `cancelled` while the Company did not know what became of a request to its backend.",
        "propose 1..2 proposed r1; confirm r1 5..11 unknown; attempt wrap @6; cancel 8..9 cancelled r1 conf=1";
    FinalStateFlip = "final-state-flip", Company, Must, ["OC-13"], seen(&[Calls]),
        "Two answers gave different final states, or one that was sent for after a final state gave a state that is not final.",
        "propose 1..2 proposed r1; confirm r1 5..9 failed r1; read 10..11 succeeded r1; effect wrap r1 @6";
    LostConfirm = "lost-confirm", Company, Must, ["OC-26"], seen(&[Calls]),
        "An answer showed the operation confirmed, and a later one showed it `proposed` again.",
        "propose 1..2 proposed r1; confirm r1 5..6 in_progress r1; read 7..8 proposed r1; confirm r1 9..10 in_progress r1; read 12..13 failed r1";
    ExpiredAfterConfirm = "expired-after-confirm", Company, Must, ["OC-36"], seen(&[Calls]),
        "An operation that an answer had shown confirmed ended as `expired`.",
        "propose 1..2 proposed r1 exp=8; confirm r1 5..6 in_progress r1 exp=8; read 20..21 expired r1 exp=8";
    UnresolvedAtQuiescence = "unresolved-at-quiescence", Company, Must, ["OC-31", "OC-34"], absent_at_end(&[Calls], true),
        "Faults are off and the settle time is over, and an operation that was confirmed, or may have been, is asked for and still shows no final state.",
        "propose 1..2 proposed r1; confirm r1 5..6 in_progress r1; settled @60; read 61..62 in_progress r1";
    RepeatConfirmRefused = "repeat-confirm-refused", Company, Must, ["OC-25"], seen(&[Calls]),
        "Of two confirms of one revision one was accepted, and the other one was refused instead of being answered with the operation.",
        "propose 1..2 proposed r1; confirm r1 5..6 in_progress r1; confirm r1 7..8 refused:terms_changed; read 20..21 failed r1";
    ResultMissing = "result-missing", Company, Must, ["OC-32"], seen(&[Calls]),
        "An answer showed a final state without a result.",
        "propose 1..2 proposed r1; confirm r1 5..9 failed r1 result=none";
    IdReuse = "id-reuse", Company, Must, ["OC-14"], seen(&[Calls]),
        "A proposal made after an operation was final was given that operation's ID.",
        "propose 1..2 proposed r1; confirm r1 5..6 failed r1; propose intent=again 8..9 proposed r1";
    NonMonotonicRevision = "non-monotonic-revision", Company, Must, ["OC-5"], seen(&[Calls]),
        "An answer to a later request showed a smaller revision, or the Company issued revisions out of order.",
        "propose 1..2 proposed r1; read 3..4 proposed r2; read 5..6 proposed r1";
    RevisionGap = "revision-gap", Company, Must, ["OC-5"], absent(&[Offers]),
        "The revisions that the Company issued do not start at 1 or skip a number.",
        "observe offers; offer r1 @1; offer r3 @3; propose 0..2 proposed r1";
    MutatedRevisionTerms = "mutated-revision-terms", Company, Must, ["OC-9"], seen(&[Calls]),
        "One revision was shown or issued with two different summaries or terms.",
        "propose 1..2 proposed r1; read 3..4 proposed r1 terms=other";
    StaleRevisionAccepted = "stale-revision-accepted", Company, Must, ["OC-11"], absent(&[Calls]),
        "A revision stands confirmed although an answer had shown a newer one before any confirm of the old one was sent.",
        "propose 1..2 proposed r1; read process=a2 2..3 proposed r2; confirm r1 5..9 failed r2 conf=1";
    RevisionAfterConfirm = "revision-after-confirm", Company, Must, ["OC-12"], seen(&[Calls]),
        "The terms changed after an accepted confirm: an answer shows another revision than its own confirmation names.",
        "propose 1..2 proposed r1; confirm r1 5..6 in_progress r1; read 20..21 failed r2 conf=1";
    StandingPermissionAccepted = "standing-permission-accepted", Company, Must, ["OC-24"], seen(&[Calls]),
        "A confirmation claims a standing permission, and every answer that showed its revision had said that only the User's own approval is accepted.",
        "propose 1..2 proposed r1 only_user=; confirm r1 by=standing 5..6 failed r1 by=standing only_user=";
    ConfirmationRewritten = "confirmation-rewritten", Company, Must, ["OC-12"], seen(&[Calls]),
        "Two answers showed different confirmations of one operation.",
        "propose 1..2 proposed r1; confirm r1 5..6 in_progress r1 at=5; read 8..9 failed r1 at=6";
    PhantomConfirmation = "phantom-confirmation", Company, Must, ["OC-8", "OC-20"], absent(&[Calls]),
        "An answer showed a confirmed operation, and no confirm that can have caused it had been sent.",
        "propose 1..2 proposed r1; read 5..6 in_progress r1; read 10..11 failed r1";
    ConfirmAcceptedAfterExpiry = "confirm-accepted-after-expiry", Company, Must, ["OC-36"], seen(&[Calls]),
        "A confirmation is dated after its revision's expiry, or every confirm that can have caused it was sent after the expiry.",
        "propose 1..2 proposed r1 exp=4; confirm r1 9..10 failed r1 exp=4 at=4";
    PrematureExpiry = "premature-expiry", Company, Must, ["OC-36"], seen(&[Calls]),
        "An answer said `expired` before the revision's expiry had come.",
        "propose 1..2 proposed r1 exp=900; read 5..6 expired r1 exp=900";
    ExpiryNotRenewed = "expiry-not-renewed", Company, Must, ["OC-10"], seen(&[Calls]),
        "A new revision kept the expiry of the one before.",
        "propose 1..2 proposed r1 exp=900; read 4..5 proposed r1 exp=900; read 6..7 proposed r2 exp=900";
    ExtensionLeak = "extension-leak", Company, Must, ["OC-2"], seen(&[Calls, Sessions]),
        "An operation was given to an Agent whose operator does not list the extension.",
        "session plain; propose session=plain 1..2 proposed r1";
    DuplicateProposal = "duplicate-proposal", Agent, Must, ["OA-11"], seen(&[Calls]),
        "An Agent proposed a wish again although it had been given an operation for it and not yet heard a final state.",
        "propose intent=i1 1..2 proposed r1; propose intent=i1 op=op2 3..4 proposed r1";
    UnapprovedConfirm = "unapproved-confirm", Agent, Must, ["OA-2"], absent(&[Calls, Approvals]),
        "A confirm claimed the User's approval, and the User had approved no revision of that operation.",
        "observe approvals; propose 1..2 proposed r1; confirm r1 5..6 failed r1";
    ApprovalReuse = "approval-reuse", Agent, Must, ["OA-8"], absent(&[Calls, Approvals]),
        "A confirm claimed the User's approval, and the User had approved only another revision.",
        "propose 1..2 proposed r1; approve r1 @3; read 4..5 proposed r2; confirm r2 6..7 failed r2";
    ApprovalOfOtherTerms = "approval-of-other-terms", Agent, Must, ["OA-2", "OA-3"], absent(&[Calls, Approvals]),
        "What the User approved under the confirmed revision's number was not that revision's terms.",
        "propose 1..2 proposed r1; approve r1 terms=other @3; confirm r1 5..6 failed r1";
    ConfirmAfterWithdrawal = "confirm-after-withdrawal", Agent, Must, ["OA-14"], absent(&[Calls, Approvals]),
        "A confirm was sent after the User had taken the approval back, and not given it again.",
        "propose 1..2 proposed r1; approve r1 @3; withdraw @4; confirm r1 5..6 failed r1";
    KnowinglyStaleConfirm = "knowingly-stale-confirm", Agent, Must, ["OA-18"], seen(&[Calls]),
        "A process that had been told of a newer revision confirmed an older one.",
        "propose 1..2 proposed r1; read 3..4 proposed r2; confirm r1 5..6 refused:terms_changed";
    StandingPermissionAbuse = "standing-permission-abuse", Agent, Must, ["OA-6", "OA-7"], absent(&[Calls, Approvals]),
        "A confirm claimed a standing permission that the User had not given, that does not cover the terms, or where only the User's own approval is accepted.",
        "observe approvals; propose 1..2 proposed r1; confirm r1 by=standing 5..6 failed r1 by=standing";
    ProofReuse = "proof-reuse", Agent, Must, ["OA-16"], seen(&[Calls]),
        "Two requests carried the same proof.",
        "propose proof=p1 1..2 proposed r1; read proof=p1 3..4 proposed r1";
    AbandonedOperation = "abandoned-operation", Agent, Must, ["OA-10"], absent_at_end(&[Calls], true),
        "A confirm ended without an answer, and nobody confirmed again, read or cancelled.",
        "propose 1..2 proposed r1; confirm r1 5..9 unknown";
    BusyPoll = "busy-poll", Agent, Should, ["OA-12"], seen(&[Calls]),
        "A process read an operation again before the time in the last answer's `Retry-After`.",
        "propose 1..2 proposed r1; read retry=2000 3..4 proposed r1; read 5..6 proposed r1";
}

impl Anomaly {
    /// The kebab-case name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.entry().name
    }

    /// The anomaly of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Anomaly> {
        Anomaly::ALL.iter().copied().find(|anomaly| anomaly.name() == name)
    }
}

impl fmt::Display for Anomaly {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl Serialize for Anomaly {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
