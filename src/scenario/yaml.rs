//! YAML text to a tree and back. The only file that knows the YAML crate.

use std::fmt;

use serde::{
    Serialize,
    de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor},
};
use serde_yaml::{
    DuplicateKeyPolicy, Error, Location, MessageFormatter as _, Spanned, UserMessageFormatter, budget::BudgetBreach,
    options::NonFiniteFloatPolicy,
};

use super::node::{Entry, Form, Kind, Node};
use super::problem::{Findings, Place, shown};
use crate::limits;

/// Reads the file that `findings` knows as `file`; mistakes go there.
///
/// Duplicate keys are reported, all of them, and the first of each is kept.
pub(super) fn parse(file: u32, findings: &mut Findings) -> Option<Node> {
    let options = serde_yaml::options! {
        budget: serde_yaml::budget! {
            max_depth: limits::FILE_DEPTH_MAX,
            max_nodes: limits::FILE_NODES_MAX,
            max_documents: 1,
        },
        alias_limits: serde_yaml::alias_limits! {
            max_total_replayed_events: limits::FILE_NODES_MAX,
            max_replay_stack_depth: limits::FILE_DEPTH_MAX,
        },
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        with_snippet: false,
    };
    let text = findings.text(file).to_owned();
    let start = Place { file, line: 1, column: 1 };
    match serde_yaml::from_str_with_options::<Spanned<Tree>>(&text, options) {
        Ok(tree) => {
            let root = Builder { file, text: &text, next_id: 0, findings: &mut *findings }.node(tree);
            if matches!(root.kind, Kind::Nothing) {
                findings.report(start, "the file is empty; expected a key `scenario:`, `company:` or `target:`");
                return None;
            }
            Some(root)
        }
        Err(error) => {
            let place = error.location().map_or(start, |location| place(file, location));
            findings.report(place, reworded(&error));
            None
        }
    }
}

/// Writes `value` as YAML.
///
/// # Errors
/// If the YAML crate cannot write it: a map with keys that are no scalars.
pub(super) fn write(value: &impl Serialize) -> Result<String, String> {
    serde_yaml::to_string(value).map_err(|error| error.to_string())
}

/// A YAML error in this project's words.
fn reworded(error: &Error) -> String {
    match error.without_snippet() {
        Error::Eof { .. } => "the file ends too early".to_owned(),
        Error::MultipleDocuments { .. } => "a second document begins here; expected one document a file".to_owned(),
        Error::UnknownAnchor { .. } => "an alias without an anchor of that name before it".to_owned(),
        Error::Budget { breach: BudgetBreach::Documents { .. }, .. } => {
            "a second document begins here; expected one document a file".to_owned()
        }
        Error::Budget { .. } | Error::AliasReplayLimitExceeded { .. } | Error::AliasReplayStackDepthExceeded { .. } => {
            format!(
                "too large or too deep: expected at most {} values, aliases counted each time, and {} levels",
                limits::FILE_NODES_MAX,
                limits::FILE_DEPTH_MAX
            )
        }
        Error::NullIntoString { .. } => "a key is missing here".to_owned(),
        Error::AliasError { error, .. } => reworded(error),
        other => format!("this is not valid YAML: {}", UserMessageFormatter.format_message(other)),
    }
}

fn place(file: u32, location: Location) -> Place {
    let number = |value: u64| u32::try_from(value.max(1)).unwrap_or(u32::MAX);
    Place { file, line: number(location.line()), column: number(location.column()) }
}

/// A value as the YAML crate hands it over.
enum Tree {
    Nothing,
    Text(String),
    Other(Form),
    List(Vec<Spanned<Tree>>),
    Map(Vec<(Spanned<String>, Spanned<Tree>)>),
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TreeVisitor;

        impl<'de> Visitor<'de> for TreeVisitor {
            type Value = Tree;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a value")
            }

            fn visit_unit<E>(self) -> Result<Tree, E> {
                Ok(Tree::Nothing)
            }

            fn visit_none<E>(self) -> Result<Tree, E> {
                Ok(Tree::Nothing)
            }

            fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
                Ok(Tree::Text(text.to_owned()))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Tree, E> {
                Ok(Tree::Other(Form::Boolean))
            }

            fn visit_u64<E>(self, _: u64) -> Result<Tree, E> {
                Ok(Tree::Other(Form::Integer))
            }

            fn visit_i64<E>(self, _: i64) -> Result<Tree, E> {
                Ok(Tree::Other(Form::Integer))
            }

            fn visit_u128<E>(self, _: u128) -> Result<Tree, E> {
                Ok(Tree::Other(Form::Integer))
            }

            fn visit_i128<E>(self, _: i128) -> Result<Tree, E> {
                Ok(Tree::Other(Form::Integer))
            }

            fn visit_f64<E>(self, _: f64) -> Result<Tree, E> {
                Ok(Tree::Other(Form::Decimal))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element()? {
                    items.push(item);
                }
                Ok(Tree::List(items))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Tree::Map(entries))
            }
        }

        deserializer.deserialize_any(TreeVisitor)
    }
}

/// Turns what the YAML crate gave into nodes.
struct Builder<'a> {
    file: u32,
    text: &'a str,
    next_id: u32,
    findings: &'a mut Findings,
}

impl Builder<'_> {
    fn node(&mut self, tree: Spanned<Tree>) -> Node {
        let id = self.next_id;
        self.next_id += 1;
        let kind = match tree.value {
            Tree::Nothing => Kind::Nothing,
            Tree::Text(text) => Kind::Scalar { text, form: Form::Text },
            Tree::Other(form) => Kind::Scalar { text: self.written(tree.defined), form },
            Tree::List(items) => Kind::List(items.into_iter().map(|item| self.node(item)).collect()),
            Tree::Map(entries) => Kind::Map(self.entries(entries)),
        };
        Node { id, place: place(self.file, tree.referenced), kind }
    }

    fn entries(&mut self, pairs: Vec<(Spanned<String>, Spanned<Tree>)>) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::with_capacity(pairs.len());
        let mut seen = std::collections::BTreeMap::new();
        for (key, value) in pairs {
            let place = place(self.file, key.referenced);
            let value = self.node(value);
            if let Some(line) = seen.get(&key.value) {
                let message =
                    format!("key {} stands here a second time; the first is in line {line}", shown(&key.value));
                self.findings.report(place, message);
                continue;
            }
            seen.insert(key.value.clone(), place.line);
            entries.push(Entry { key: key.value, place, value });
        }
        entries
    }

    /// A number or a boolean as it is written, which the YAML crate does not keep.
    fn written(&self, location: Location) -> String {
        let span = location.span();
        let range = span.byte_offset().zip(span.byte_len()).and_then(|(start, length)| {
            let start = usize::try_from(start).ok()?;
            self.text.get(start..start.checked_add(usize::try_from(length).ok()?)?)
        });
        range.unwrap_or_default().trim().to_owned()
    }
}
