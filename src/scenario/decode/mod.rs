//! From a tree to the raw types of files, through serde, with the place of every mistake.
//!
//! serde stops at the first mistake. [`decode`] notes it, takes the offending part out of the tree and tries again, so
//! that one pass over a file tells as many mistakes as there are.

mod access;
mod reader;

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{self, DeserializeOwned};

use super::node::Node;
use super::problem::{Findings, Place, nearest, one_of, shown};
use crate::limits;
use reader::Reader;

/// The name of the struct that [`super::value::At`] asks for: a value together with its place.
pub(super) const AT: &str = "$At";

/// What the name of an enum begins with that may also be given as a bare text (`latency: 4ms`).
pub(super) const OR_TEXT: &str = "$OrText";

/// Stands between a message and the nearest valid name, since `custom` of serde takes one text. No message holds it:
/// control characters of files are blanked.
const NEAREST: char = '\u{1}';

/// A message for `custom` of serde that carries the nearest valid name along.
pub(super) fn with_nearest(message: String, nearest: Option<String>) -> String {
    match nearest {
        Some(nearest) => format!("{message}{NEAREST}{nearest}"),
        None => message,
    }
}

/// Reads `tree` as a `T`; mistakes go to `findings`, `None` if there was any.
pub(super) fn decode<T: DeserializeOwned>(tree: &Node, findings: &mut Findings) -> Option<T> {
    let mut rest = tree.clone();
    let mut removed = BTreeSet::new();
    for _ in 0..limits::FILE_MISTAKES_MAX {
        let mistake = match T::deserialize(Reader { node: &rest }) {
            Ok(value) if removed.is_empty() => return Some(value),
            Ok(_) => return None,
            Err(mistake) => mistake,
        };
        // What lacks a part only because that part was wrong is no mistake of its own.
        let node = mistake.node?;
        if !(mistake.missing && removed.contains(&node)) {
            findings.report_near(mistake.place.unwrap_or(rest.place), mistake.message, mistake.nearest);
        }
        let parent = rest.parent_of(node);
        if !rest.remove(node) {
            return None;
        }
        removed.extend(parent);
    }
    None
}

/// A mistake on its way up to [`decode`].
#[derive(Debug, Default)]
pub(super) struct Mistake {
    /// The part of the tree that is wrong.
    node: Option<u32>,
    place: Option<Place>,
    message: String,
    nearest: Option<String>,
    /// Whether the node lacks something.
    missing: bool,
}

impl Mistake {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// Says where, unless that is known better already.
    fn at(mut self, node: &Node) -> Self {
        self.node.get_or_insert(node.id);
        self.place.get_or_insert(node.place);
        self
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Mistake {}

impl de::Error for Mistake {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let text = message.to_string();
        match text.split_once(NEAREST) {
            Some((message, nearest)) => Self { nearest: Some(nearest.to_owned()), ..Self::new(message) },
            None => Self::new(text),
        }
    }

    fn invalid_type(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(format!("expected {expected}, found {unexpected}"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self {
            nearest: nearest(variant, expected.iter().copied()),
            ..Self::new(format!("unknown word {}; expected {}", shown(variant), one_of(expected.iter().copied())))
        }
    }

    fn missing_field(field: &'static str) -> Self {
        Self { missing: true, ..Self::new(format!("key `{field}` is missing")) }
    }
}
