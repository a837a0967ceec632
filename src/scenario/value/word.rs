//! Words from catalogues of the plan: defects, crash points, kinds of requests.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};

use crate::history::record::Purpose;
use crate::plan::{AgentDefect, CompanyDefect, CrashPoint, Direction, Manner, Once};
use crate::scenario::decode::with_nearest;
use crate::scenario::problem::{nearest, one_of, shown};

/// A set of named things, each with a sentence about it.
pub(in crate::scenario) trait Catalogue: Copy + PartialEq + 'static {
    /// What one of them is called in messages and schemas.
    const WHAT: &'static str;
    /// All of them.
    fn all() -> &'static [Self];
    /// The word that files use.
    fn name(self) -> &'static str;
    /// What it is.
    fn sentence(self) -> &'static str;
}

macro_rules! plan_catalogue {
    ($type:ident, $what:literal) => {
        impl Catalogue for $type {
            const WHAT: &'static str = $what;

            fn all() -> &'static [Self] {
                Self::ALL
            }

            fn name(self) -> &'static str {
                self.word()
            }

            fn sentence(self) -> &'static str {
                self.about()
            }
        }
    };
}

plan_catalogue!(CompanyDefect, "Company defect");
plan_catalogue!(AgentDefect, "Agent defect");
plan_catalogue!(CrashPoint, "crash point");
plan_catalogue!(Direction, "direction");
plan_catalogue!(Manner, "manner of an operation");
plan_catalogue!(Once, "span");

/// Every kind of request, with its word and what it is.
pub(in crate::scenario) const PURPOSES: &[(Purpose, &str, &str)] = &[
    (Purpose::Discover, "discover", "A discovery document."),
    (Purpose::Keys, "keys", "A Company reads an operator's client metadata or keys."),
    (Purpose::Token, "token", "The token endpoint."),
    (Purpose::Revoke, "revoke", "The revocation endpoint."),
    (Purpose::SignIn, "sign-in", "The device authorization endpoint, and the User on the Company's sign-in page."),
    (Purpose::Prepare, "prepare", "A request before a proposal, whose answer gives values for it."),
    (Purpose::Propose, "propose", "A request that would perform the action, answered by an operation."),
    (Purpose::Change, "change", "A request for other terms of an open operation."),
    (Purpose::Read, "read", "Reading an operation."),
    (Purpose::Confirm, "confirm", "Confirming an operation."),
    (Purpose::Cancel, "cancel", "Cancelling an operation."),
    (Purpose::Backend, "backend", "A Company's request to its backend."),
];

/// The word of a kind of request.
pub(in crate::scenario) fn purpose_word(purpose: Purpose) -> &'static str {
    PURPOSES.iter().find(|entry| entry.0 == purpose).map_or("", |entry| entry.1)
}

impl Catalogue for Purpose {
    const WHAT: &'static str = "kind of request";

    fn all() -> &'static [Self] {
        const ALL: [Purpose; PURPOSES.len()] = {
            let mut all = [Purpose::Discover; PURPOSES.len()];
            let mut index = 0;
            while index < all.len() {
                all[index] = PURPOSES[index].0;
                index += 1;
            }
            all
        };
        &ALL
    }

    fn name(self) -> &'static str {
        purpose_word(self)
    }

    fn sentence(self) -> &'static str {
        PURPOSES.iter().find(|entry| entry.0 == self).map_or("", |entry| entry.2)
    }
}

/// A word from the catalogue `T`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scenario) struct Word<T>(pub(in crate::scenario) T);

impl<'de, T: Catalogue> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WordVisitor<T>(PhantomData<T>);

        impl<T: Catalogue> Visitor<'_> for WordVisitor<T> {
            type Value = Word<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "the name of a {}", T::WHAT)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Word<T>, E> {
                let found = T::all().iter().copied().find(|entry| entry.name() == text);
                found.map(Word).ok_or_else(|| {
                    let message = format!("unknown {} {}; expected {}", T::WHAT, shown(text), one_of(names::<T>()));
                    E::custom(with_nearest(message, nearest(text, names::<T>())))
                })
            }
        }

        deserializer.deserialize_str(WordVisitor(PhantomData))
    }
}

fn names<T: Catalogue>() -> Vec<&'static str> {
    T::all().iter().map(|entry| entry.name()).collect()
}

impl<T: Catalogue> Serialize for Word<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<T: Catalogue> JsonSchema for Word<T> {
    fn schema_name() -> Cow<'static, str> {
        T::WHAT.split(' ').map(capital).collect::<String>().into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<serde_json::Value> = T::all()
            .iter()
            .map(|entry| serde_json::json!({ "const": entry.name(), "description": entry.sentence() }))
            .collect();
        schemars::json_schema!({ "type": "string", "oneOf": words })
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
