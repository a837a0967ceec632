//! A Company that is not simulated: where it is, who the Agents are to it, how its actions are proposed, and what its
//! operator can be asked for beside the protocol.

use std::{collections::BTreeSet, fmt, net::SocketAddr, time::Duration};

use indexmap::IndexMap;
use serde_json::Value;
use smol_str::SmolStr;

use super::Distribution;
use crate::protocol::SessionMode;

/// A Company that is not simulated.
#[derive(Debug, Clone)]
pub struct Target {
    /// Its name in action IDs and in the history.
    pub name: SmolStr,
    /// The path of its file, for messages.
    pub file: String,
    /// Its domain: `https://{domain}/.well-known/poppy.json` is where the Agents begin.
    pub domain: SmolStr,
    /// Where its hosts are, instead of DNS. The URL's own host stays what is signed and asked for.
    pub connect_to: ConnectTo,
    /// The certificates (PEM) that it is trusted by; `None` takes the Web's.
    pub ca: Option<CaFile>,
    /// Which draft's Sessions it speaks; `None` takes the scenario's.
    pub session_mode: Option<SessionMode>,
    /// How far its clock may be from ours.
    pub clock_error: Duration,
    /// The operator of Personal Agents that it already knows. `None`: the run's own, whose documents it has to be able to
    /// fetch.
    pub operator: Option<KnownOperator>,
    /// The port at which the first of the run's own operators serves its documents, the next one's beside it; `None`
    /// takes any.
    pub operators_port: Option<u16>,
    /// How Users sign in, if its actions need that.
    pub sign_in: Option<SignIn>,
    /// How each action is proposed, by the name that journeys use.
    pub actions: IndexMap<SmolStr, TargetAction>,
    /// What its operator can be asked for.
    pub hooks: Hooks,
    /// Anomalies that are known of it and fail no run.
    pub known: BTreeSet<SmolStr>,
}

/// Where the hosts of a target are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConnectTo {
    /// For every host that is not named: one address for all, if there is one; else DNS.
    pub every: Option<SocketAddr>,
    /// By host.
    pub hosts: IndexMap<SmolStr, SocketAddr>,
}

/// A file of trusted certificates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaFile {
    /// The path as the target file gives it, for messages.
    pub path: String,
    /// PEM.
    pub pem: String,
}

/// An operator that a target knows already.
#[derive(Clone, PartialEq, Eq)]
pub struct KnownOperator {
    /// Its `client_id`.
    pub client_id: String,
    /// The `kid` of its key.
    pub key_id: SmolStr,
    /// The path of its key's file as the target file gives it, for messages.
    pub key: String,
    /// Its key: PKCS#8 in PEM, P-256.
    pub key_pem: String,
    /// Whether its client metadata lists the Operations extension.
    pub lists_operations: bool,
}

/// Without the key.
impl fmt::Debug for KnownOperator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("KnownOperator").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

/// How Users sign in, by the device grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignIn {
    /// The scopes asked for.
    pub scopes: Vec<SmolStr>,
    /// The account, a text with placeholders (`{user}` is the User's name in the history, `u3`; `{run}` names the run).
    pub account: String,
}

/// How an action is proposed.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetAction {
    /// Requests made before, with a Session Token, whose answers give values.
    pub before: Vec<Preparation>,
    /// The proposal.
    pub propose: RequestShape,
    /// The request for other terms of an open operation; `None` if there is nowhere to ask for them.
    pub change: Option<RequestShape>,
    /// The `resource` that its tokens have to name.
    pub resource: Option<String>,
    /// Whether only the User's own approval is accepted.
    pub user_approval_required: bool,
}

/// A request in the words of a target file. Its texts hold placeholders ([`pieces`]): `{order_id}`, `{item_id}`, `{sku}`,
/// `{user}`, `{account}`, `{intent}`, `{run}`, `{operation_id}` (changes and hooks), `{user_code}` (sign-in), `{fake.…}`,
/// and what earlier answers gave. A text of a body that is just one placeholder takes the value as it is, also a number
/// or list.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestShape {
    /// The method.
    pub method: SmolStr,
    /// A path at the target's domain, or an absolute HTTPS URL.
    pub url: String,
    /// The JSON body.
    pub body: Option<Value>,
}

/// A request whose answer gives values.
#[derive(Debug, Clone, PartialEq)]
pub struct Preparation {
    /// The request.
    pub request: RequestShape,
    /// The placeholders that it fills, each with the place of its value in the answer (JSON Pointer, RFC 6901).
    pub take: IndexMap<SmolStr, String>,
}

/// What a target's operator can be asked for, over HTTP beside the protocol.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hooks {
    /// The User allows a sign-in.
    pub approve_sign_in: Option<Hook>,
    /// The terms of an open operation change.
    pub revise: Option<Hook>,
    /// An operation in progress gets its outcome.
    pub settle: Option<Settle>,
    /// How often operations were performed.
    pub performed: Option<Performed>,
}

/// One request to a target's operator.
#[derive(Debug, Clone, PartialEq)]
pub struct Hook {
    /// An absolute URL, HTTP or HTTPS.
    pub url: String,
    /// The method.
    pub method: SmolStr,
    /// The JSON body, with placeholders.
    pub body: Option<Value>,
}

/// How operations in progress get their outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Settle {
    /// The request. `{succeeded}` is drawn.
    pub hook: Hook,
    /// The actions that need it.
    pub actions: BTreeSet<SmolStr>,
    /// How long after an answer first showed the operation in progress.
    pub after: Distribution,
    /// The chance that it succeeds.
    pub succeed: f64,
}

/// How often operations were performed, as the target counts.
#[derive(Debug, Clone, PartialEq)]
pub enum Performed {
    /// Asked for each operation, at the end.
    EachOperation {
        /// The request, with `{operation_id}`.
        hook: Hook,
        /// Where the count stands in the answer (JSON Pointer).
        count: String,
    },
    /// Asked before the run and after it.
    Totals {
        /// The request.
        hook: Hook,
        /// Where the number of performances stands in the answer (JSON Pointer).
        performed: String,
        /// Where the number of operations performed stands in the answer (JSON Pointer).
        operations: String,
    },
}

/// A piece of a text with placeholders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// What stands for itself.
    Text(&'a str),
    /// A placeholder, without its braces.
    Placeholder(&'a str),
}

/// The pieces of a text. A placeholder is a name in braces, of letters, digits, `_`, `.` and `-`; other braces stand for
/// themselves.
pub fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (before, name, after) = split(rest).unwrap_or((rest, "", ""));
        if before.is_empty() {
            rest = after;
            return Some(Piece::Placeholder(name));
        }
        rest = &rest[before.len()..];
        Some(Piece::Text(before))
    })
}

/// What stands before the first placeholder of a text, its name, and what comes after it.
fn split(text: &str) -> Option<(&str, &str, &str)> {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    text.match_indices('{').find_map(|(start, _)| {
        let (name, after) = text[start + 1..].split_once('}')?;
        let named = !name.is_empty() && name.bytes().all(is_of_name);
        named.then_some((&text[..start], name, after))
    })
}

/// A value made up by `fake`, as placeholders name it (`{fake.city}`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FakeValue {
    /// A first name.
    FirstName,
    /// A last name.
    LastName,
    /// First and last name.
    Name,
    /// An e-mail address at a reserved domain.
    Email,
    /// A telephone number.
    Phone,
    /// A street with a number.
    Street,
    /// A city.
    City,
    /// A post code.
    PostCode,
    /// A company's name.
    Company,
    /// A few words.
    Sentence,
    /// A whole number from 1 to 1000.
    Number,
}

impl FakeValue {
    /// Every value.
    pub const ALL: [Self; 11] = [
        Self::FirstName,
        Self::LastName,
        Self::Name,
        Self::Email,
        Self::Phone,
        Self::Street,
        Self::City,
        Self::PostCode,
        Self::Company,
        Self::Sentence,
        Self::Number,
    ];

    /// Its word: what follows `fake.` in a placeholder.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::FirstName => "first_name",
            Self::LastName => "last_name",
            Self::Name => "name",
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Street => "street",
            Self::City => "city",
            Self::PostCode => "post_code",
            Self::Company => "company",
            Self::Sentence => "sentence",
            Self::Number => "number",
        }
    }

    /// The value of that word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|value| value.word() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::{Piece::*, *};

    #[test]
    fn a_placeholder_is_a_name_in_braces() {
        let cut = |text| pieces(text).collect::<Vec<_>>();
        assert_eq!(cut("/a/{order_id}/b"), [Text("/a/"), Placeholder("order_id"), Text("/b")]);
        assert_eq!(cut("{fake.city}{user}"), [Placeholder("fake.city"), Placeholder("user")]);
        assert_eq!(cut("query { orders { id } } {user}"), [Text("query { orders { id } } "), Placeholder("user")]);
        assert_eq!(cut("{{user}}"), [Text("{"), Placeholder("user"), Text("}")]);
        for literal in ["{}", "{", "}{", "{a b}", "{a: 1}", "é{é}"] {
            assert_eq!(cut(literal), [Text(literal)]);
        }
        assert_eq!(cut(""), []);
    }
}
