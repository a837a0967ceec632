//! The rules of the Operations extension, version 1, that a harness can see, and which anomaly reports which.
//!
//! `docs/rules.md` and `poppyfield rules` are made from this table. What reports a rule is not said here: the anomalies
//! name the rules that they break, and a rule that none of them names says why.

use super::anomaly::{Anomaly, Entry, Side};
use crate::history::record::Observation;

/// How binding a rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bond {
    /// A MUST or MUST NOT: a run that breaks it fails.
    Must,
    /// A SHOULD: a run that breaks it is warned of it.
    Should,
    /// The text leaves it open: told, and never a failure.
    Open,
}

impl Bond {
    /// As the catalogue writes it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::Open => "open",
        }
    }
}

/// One rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// `OC-…` binds a Company, `OA-…` a Personal Agent; `OP-…` is a point that the text leaves open.
    pub id: &'static str,
    /// How binding it is.
    pub bond: Bond,
    /// The section of the Operations extension, unless another document is named.
    pub source: &'static str,
    /// What it says.
    pub text: &'static str,
    /// Why no anomaly reports it; empty where one does.
    pub unchecked: &'static str,
}

/// Where a breach shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seen {
    /// In what Personal Agents sent and were answered.
    Agent,
    /// In what Users approved and took back.
    User,
    /// In what the Company itself records: its Sessions, offers, and requests to its backend.
    Company,
    /// In what took effect.
    Ledger,
}

impl Seen {
    /// As the catalogue writes it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Agent => "Agent's side",
            Self::User => "User's side",
            Self::Company => "Company's side",
            Self::Ledger => "ledger",
        }
    }
}

impl Rule {
    /// The rule of an ID.
    #[must_use]
    pub fn named(id: &str) -> Option<&'static Self> {
        RULES.iter().find(|rule| rule.id.eq_ignore_ascii_case(id))
    }

    /// Whom it binds; `None` for an open point.
    #[must_use]
    pub fn side(&self) -> Option<Side> {
        match self.id.get(..3) {
            Some("OC-") => Some(Side::Company),
            Some("OA-") => Some(Side::Agent),
            _ => None,
        }
    }

    /// The anomalies that report it, in the catalogue's order.
    pub fn anomalies(&self) -> impl Iterator<Item = Entry> + '_ {
        Anomaly::ALL.iter().map(|anomaly| anomaly.entry()).filter(|entry| entry.rules.contains(&self.id))
    }

    /// Where a breach shows: all that an anomaly has to observe for it.
    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        let observed = self.anomalies().flat_map(|entry| entry.needs.observes.iter().copied());
        let mut seen: Vec<Seen> = observed.map(seen).collect();
        seen.sort_unstable();
        seen.dedup();
        seen
    }
}

fn seen(observed: Observation) -> Seen {
    match observed {
        Observation::Calls | Observation::Wire => Seen::Agent,
        Observation::Approvals => Seen::User,
        Observation::Ledger => Seen::Ledger,
        Observation::Attempts | Observation::Offers | Observation::Performed | Observation::Sessions => Seen::Company,
    }
}

const fn must(id: &'static str, source: &'static str, text: &'static str) -> Rule {
    Rule { id, bond: Bond::Must, source, text, unchecked: "" }
}

const fn should(id: &'static str, source: &'static str, text: &'static str) -> Rule {
    Rule { id, bond: Bond::Should, source, text, unchecked: "" }
}

const fn open(id: &'static str, text: &'static str, unchecked: &'static str) -> Rule {
    Rule { id, bond: Bond::Open, source: "not said", text, unchecked }
}

impl Rule {
    /// The same, which no anomaly reports.
    const fn unchecked(mut self, why: &'static str) -> Self {
        self.unchecked = why;
        self
    }
}

/// Why what needs another way to a Company than its endpoint is not checked.
const ONE_CHANNEL: &str = "not yet: parties deal with operations at the endpoint alone";

/// Why what needs a second look from elsewhere is not checked.
const ONE_SESSION: &str = "not yet: Agents ask for their own operations alone";

/// Every rule, those of Companies first.
pub const RULES: &[Rule] = &[
    must("OC-1", "2", "It lists `operations` with `version` and `endpoint` in `poppy.json` to use the extension.")
        .unchecked("a Company without the entry is left alone, which the ends of the journeys show"),
    must("OC-2", "2", "No operation reaches an Agent that does not list the extension."),
    must(
        "OC-3",
        "2, 9",
        "To such an Agent it acts as without the extension, or refuses with 403 `extension_required` that names it.",
    )
    .unchecked("not yet: the refusal ends the journey as `extension-required`, other answers are not compared with it"),
    must("OC-4", "2", "The endpoint accepts the Session's credential; where `resource` is listed, tokens for it.")
        .unchecked("an Agent that is refused gives up, which the ends of the journeys show"),
    must("OC-5", "3, 3.1", "Revisions start at 1 and grow by one."),
    must("OC-6", "3", "What affects the action stands in `summary` and, where there are `terms`, in them.")
        .unchecked("not yet: no ledger entry holds a value that the offer could lack"),
    must("OC-7", "3", "It performs only what the confirmed revision says."),
    must("OC-8", "3", "It does not start before the confirmation."),
    must("OC-9", "3.1", "`summary` and `terms` of a revision never change."),
    must("OC-10", "3.1", "A new revision has a new `expires_at`."),
    must("OC-11", "3.1", "Only the latest revision can be confirmed."),
    must("OC-12", "3.1", "After the confirmation revision, terms and `confirmation` are frozen."),
    must("OC-13", "3", "Final states never change."),
    must("OC-14", "3", "A new attempt after a final state has a new ID."),
    must(
        "OC-15",
        "3.2",
        "The proposing Session owns an operation; if it is signed in, so does every Session of the same Agent and User \
         in the same account, after the first one's end too.",
    )
    .unchecked(ONE_SESSION),
    must("OC-16", "3.2", "Anybody else gets `operation_not_found`, the same as for an ID that never was.")
        .unchecked(ONE_SESSION),
    must("OC-17", "3.2", "An operation proposed signed out works in that Session alone.").unchecked(ONE_SESSION),
    must("OC-18", "3.2", "It can be read at least until it is final.")
        .unchecked("not yet: a read of an open operation that is refused as unknown leaves the run inconclusive"),
    must("OC-19", "4.1 to 4.3", "Every channel carries the same operation object.").unchecked(ONE_CHANNEL),
    must("OC-20", "4.3", "A message never confirms."),
    must("OC-21", "4.3", "New terms in a conversation come as a later message with the new revision.")
        .unchecked(ONE_CHANNEL),
    must("OC-22", "4.4", "The web page and the endpoint show one operation, and both together perform it once.")
        .unchecked(ONE_CHANNEL),
    must("OC-23", "5.2", "A confirm is checked in full before anything is performed.")
        .unchecked("its parts are judged one by one: OC-8, OC-11, OC-36"),
    must("OC-24", "5.1, 5.2", "A standing permission is refused where `user_approval_required` is true."),
    must("OC-25", "5.2", "A repeated confirm returns the operation and does nothing."),
    must("OC-26", "5.2", "An accepted confirm sets `confirmation` and leaves `proposed`."),
    must("OC-27", "5.2", "Quick actions answer with a final state, slow ones with `in_progress` and `Retry-After`.")
        .unchecked("what is quick is the Company's to say; response times of confirms are measured"),
    must("OC-28", "5.2", "Confirmed work goes on after token expiry and sign-out.")
        .unchecked("work that does not go on shows as `unresolved-at-quiescence` (OC-31, OC-34)"),
    must("OC-29", "6", "An operation is performed at most once, whatever the number and channels of confirms."),
    must("OC-30", "6", "The operation's ID is the retry key: a confirm needs no `Idempotency-Key`.")
        .unchecked("Agents send none, so that a Company that needs one confirms nothing"),
    must("OC-31", "6", "Never `failed` while the outcome is unknown."),
    must("OC-32", "6", "`result.summary` of a final state tells every change, for `failed` and `cancelled` too."),
    must("OC-33", "7", "A cancel of a `proposed` operation makes it `cancelled`, and then nothing confirms it."),
    must(
        "OC-34",
        "7",
        "A cancel of one `in_progress` stops what can be stopped; it stays so until the outcome is known.",
    ),
    must("OC-35", "7", "A cancel of a final one returns it unchanged.")
        .unchecked("a cancel that changes it shows as `final-state-flip` (OC-13)"),
    must("OC-36", "3", "What is not confirmed by `expires_at` is `expired`, and nothing was done."),
    must("OC-37", "9", "Errors are JSON with `error`; `terms_changed` includes the current operation.")
        .unchecked("not yet: an answer of another form counts as no answer, and is counted with its reason"),
    should("OC-S1", "4", "The same action through another channel gives the operation that exists.")
        .unchecked(ONE_CHANNEL),
    should("OC-S2", "4.1", "An OpenAPI description says which endpoints return operations.")
        .unchecked("descriptions are not read"),
    should("OC-S3", "6", "Reads of an operation `in_progress` carry `Retry-After`.")
        .unchecked("not yet: an Agent that is told nothing waits by its own back-off"),
    should("OC-S4", "guide for Companies", "The key of a request to a backend is derived from the operation's ID.")
        .unchecked("what comes of another key shows as `double-effect` (OC-29)"),
    must("OA-1", "2", "Its client metadata list the extension to use it.")
        .unchecked("an Agent that lists nothing is given no operation"),
    must("OA-2", "5.1", "It has its User's approval for exactly the revision that it confirms."),
    must("OA-3", "5.1", "It shows the User the Company's name and the `summary`."),
    must("OA-4", "5.1", "It takes the answer through its own interface.")
        .unchecked("the simulated User has no other; a Personal Agent that is not simulated shows none"),
    must("OA-5", "5.1", "Text of the Company is never an approval.")
        .unchecked("a confirm for which a text is all there was shows as `unapproved-confirm` (OA-2)"),
    must(
        "OA-6",
        "5.1",
        "A standing permission covers Company, account, action and every term, and is in effect, where it is used.",
    ),
    must("OA-7", "5.1", "No standing permission is used where `user_approval_required` is true."),
    must("OA-8", "5.1", "A new revision needs a new approval, or a permission that covers it."),
    must("OA-9", "5.2", "A confirm names the approved `revision` and a truthful `approved_by`.")
        .unchecked("an untruthful one shows as `unapproved-confirm` (OA-2) or `standing-permission-abuse` (OA-6)"),
    must("OA-10", "6", "After a confirm whose outcome is unknown it confirms again or reads, under the same ID."),
    must("OA-11", "6", "It does not propose the same action again until the operation is final."),
    should("OA-12", "6", "It waits for `Retry-After` between reads."),
    must("OA-13", "6", "It presents `result.summary` to its User as the Company's account.")
        .unchecked("not yet: what the User is shown after the end is in no history"),
    must("OA-14", "7", "When its User withdraws before the confirm, it does not confirm; after it, it cancels."),
    must("OA-15", "4.3, 4.4", "It takes no message for a confirmation: it confirms at the endpoint, or on the page.")
        .unchecked(ONE_CHANNEL),
    must("OA-16", "guide on retries", "Each attempt carries a fresh proof."),
    must("OA-17", "drafts 0.1, 0.2", "It ignores members and extensions that it does not know.")
        .unchecked("not yet: no simulated Company sends any"),
    must("OA-18", "3.1", "It never knowingly confirms an old revision, or one that is not `proposed`."),
    should(
        "OA-S1",
        "draft 0.2",
        "It shows the values that matter from `terms`, or checks that they agree with `summary`.",
    )
    .unchecked("what the User is shown is compared with the terms as a whole (OA-3)"),
    should("OA-S2", "5.1", "It says what changed in a new revision.")
        .unchecked("what is said to Users is in no history"),
    should("OA-S3", "5.1", "It asks its User where a term that it needs is missing.")
        .unchecked("simulated Users wish for what Companies offer"),
    should("OA-S4", "guide for Personal Agents", "It reserves a use of a limited permission before it confirms.")
        .unchecked("not yet: permissions are limited by amount, not by number"),
    open("OP-1", "In which order a confirm is checked.", "several refusals may be right at once; none is compared"),
    open("OP-2", "What a malformed confirm is answered.", "Agents send none"),
    open(
        "OP-3",
        "Whether a cancel needs the scopes of the action.",
        "Agents cancel with the scopes that they proposed with",
    ),
    open(
        "OP-4",
        "What a confirm at the very instant of `expires_at` is answered.",
        "neither answer is accused within the span of the written time and the clocks' error",
    ),
    open(
        "OP-5",
        "Whether the checks of a confirm and its recording are one step when a revision lands between.",
        "judged by what is performed (OC-7, OC-11)",
    ),
    open(
        "OP-6",
        "Whether an Agent that lists the extension no more may still read its operations.",
        "none stops to list it",
    ),
    open("OP-7", "Whether a second confirm of one `in_progress` has to carry `Retry-After`.", "neither is accused"),
    open("OP-8", "Whether `expires_at` is kept after the confirm.", "both are accepted"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_that_an_anomaly_names_is_in_the_catalogue_and_bound_as_it_says() {
        for anomaly in Anomaly::ALL {
            for id in anomaly.entry().rules {
                let rule = Rule::named(id).unwrap_or_else(|| panic!("{anomaly}: no rule {id}"));
                assert_eq!(rule.side(), Some(anomaly.entry().side), "{anomaly}: {id}");
            }
        }
    }

    #[test]
    fn a_rule_is_reported_by_an_anomaly_or_says_why_not() {
        for rule in RULES {
            assert_eq!(rule.anomalies().next().is_none(), !rule.unchecked.is_empty(), "{}", rule.id);
            assert_eq!(RULES.iter().filter(|other| other.id == rule.id).count(), 1, "{}", rule.id);
            assert_eq!(rule.side().is_none(), rule.bond == Bond::Open, "{}", rule.id);
        }
    }

    #[test]
    fn where_a_breach_shows_follows_from_what_its_anomalies_observe() {
        let of = |id| Rule::named(id).expect("it is listed").seen();
        assert_eq!(of("OC-13"), [Seen::Agent]);
        assert_eq!(of("OC-31"), [Seen::Agent, Seen::Company]);
        assert_eq!(of("OC-29"), [Seen::Company, Seen::Ledger]);
        assert_eq!(of("OA-8"), [Seen::Agent, Seen::User]);
        assert_eq!(of("OC-1"), []);
    }
}
