//! A file as a tree in which every key and value knows its place.

use super::problem::Place;

/// A value of a file.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// Unique within the file.
    pub(super) id: u32,
    /// Where it stands.
    pub(super) place: Place,
    /// What it is.
    pub(super) kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// Nothing at all (`key:`), or `null`.
    Nothing,
    /// A word, a number, a text.
    Scalar {
        /// As it is written, quotes resolved.
        text: String,
        /// What YAML takes it for.
        form: Form,
    },
    /// A list.
    List(Vec<Node>),
    /// A map, in the file's order.
    Map(Vec<Entry>),
}

/// What YAML takes a scalar for. Where a text is wanted, any form will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Text.
    Text,
    /// `true`, `no`, `on`, …
    Boolean,
    /// A whole number.
    Integer,
    /// Another number.
    Decimal,
}

/// A key and its value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// The key.
    pub(super) key: String,
    /// Where the key stands.
    pub(super) place: Place,
    /// The value.
    pub(super) value: Node,
}

impl Node {
    /// What it is, in words for a message.
    pub(super) fn described(&self) -> String {
        match &self.kind {
            Kind::Nothing => "nothing".to_owned(),
            Kind::Scalar { text, .. } => super::problem::shown(text),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(_) => "a map".to_owned(),
        }
    }

    /// The first key of a map.
    pub(super) fn first_key(&self) -> Option<&Entry> {
        match &self.kind {
            Kind::Map(entries) => entries.first(),
            _ => None,
        }
    }

    /// Takes the part with that id out of the tree; `false` if it is not below this node.
    pub(super) fn remove(&mut self, id: u32) -> bool {
        match &mut self.kind {
            Kind::Nothing | Kind::Scalar { .. } => false,
            Kind::List(items) => match items.iter().position(|item| item.id == id) {
                Some(index) => {
                    items.remove(index);
                    true
                }
                None => items.iter_mut().any(|item| item.remove(id)),
            },
            Kind::Map(entries) => match entries.iter().position(|entry| entry.value.id == id) {
                Some(index) => {
                    entries.remove(index);
                    true
                }
                None => entries.iter_mut().any(|entry| entry.value.remove(id)),
            },
        }
    }

    /// The id of the node that holds the part with that id.
    pub(super) fn parent_of(&self, id: u32) -> Option<u32> {
        let below = |child: &Self| if child.id == id { Some(self.id) } else { child.parent_of(id) };
        match &self.kind {
            Kind::Nothing | Kind::Scalar { .. } => None,
            Kind::List(items) => items.iter().find_map(below),
            Kind::Map(entries) => entries.iter().find_map(|entry| below(&entry.value)),
        }
    }
}
