//! The parts of a node: the items of a list, the keys and values of a map, a choice with its settings.

use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use super::Mistake;
use super::reader::Reader;
use crate::scenario::node::{Entry, Kind, Node};
use crate::scenario::problem::Place;

/// The items of a list.
pub(super) struct List<'a> {
    items: std::slice::Iter<'a, Node>,
}

impl<'a> List<'a> {
    pub(super) fn of(items: &'a [Node]) -> Self {
        Self { items: items.iter() }
    }
}

impl<'de> SeqAccess<'de> for List<'_> {
    type Error = Mistake;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Mistake> {
        self.items.next().map(|node| seed.deserialize(Reader { node })).transpose()
    }
}

/// The keys and values of a map.
pub(super) struct Map<'a> {
    entries: std::slice::Iter<'a, Entry>,
    value: Option<&'a Node>,
}

impl<'a> Map<'a> {
    pub(super) fn of(entries: &'a [Entry]) -> Self {
        Self { entries: entries.iter(), value: None }
    }
}

impl<'de> MapAccess<'de> for Map<'_> {
    type Error = Mistake;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Mistake> {
        let Some(entry) = self.entries.next() else { return Ok(None) };
        self.value = Some(&entry.value);
        seed.deserialize(Key { entry }).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Mistake> {
        match self.value.take() {
            Some(node) => seed.deserialize(Reader { node }),
            None => Err(Mistake::new("a value was asked for before its key")),
        }
    }
}

/// A key of a map, which can be asked for its place like any value.
struct Key<'a> {
    entry: &'a Entry,
}

impl<'de> Deserializer<'de> for Key<'_> {
    type Error = Mistake;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_str(&self.entry.key).map_err(|mut mistake: Mistake| {
            mistake.place.get_or_insert(self.entry.place);
            mistake.at(&self.entry.value)
        })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        visitor.visit_seq(Placed::of(self.entry.place, PlacedValue::Key(self.entry)))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple map struct enum identifier ignored_any
    }
}

/// File, line, column and then the value itself, for [`super::value::At`].
pub(super) struct Placed<'a> {
    place: Place,
    given: u8,
    value: PlacedValue<'a>,
}

#[derive(Clone, Copy)]
pub(super) enum PlacedValue<'a> {
    Node(&'a Node),
    Key(&'a Entry),
}

impl<'a> Placed<'a> {
    pub(super) fn of(place: Place, value: PlacedValue<'a>) -> Self {
        Self { place, given: 0, value }
    }
}

impl<'de> SeqAccess<'de> for Placed<'_> {
    type Error = Mistake;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Mistake> {
        self.given += 1;
        match (self.given, self.value) {
            (1, _) => seed.deserialize(self.place.file.into_deserializer()).map(Some),
            (2, _) => seed.deserialize(self.place.line.into_deserializer()).map(Some),
            (3, _) => seed.deserialize(self.place.column.into_deserializer()).map(Some),
            (4, PlacedValue::Node(node)) => seed.deserialize(Reader { node }).map(Some),
            (4, PlacedValue::Key(entry)) => seed.deserialize(Key { entry }).map(Some),
            _ => Ok(None),
        }
    }
}

/// A word, or a map of one key.
pub(super) struct Choice<'a> {
    pub(super) node: &'a Node,
    pub(super) word: &'a str,
    pub(super) settings: Option<&'a Node>,
}

impl<'de> EnumAccess<'de> for Choice<'_> {
    type Error = Mistake;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Mistake> {
        let variant: de::value::StrDeserializer<'_, Mistake> = self.word.into_deserializer();
        Ok((seed.deserialize(variant)?, self))
    }
}

impl Choice<'_> {
    /// The settings; a bare word has none, which may do if all of them have defaults.
    fn with_settings<T>(&self, read: impl FnOnce(Reader<'_>) -> Result<T, Mistake>) -> Result<T, Mistake> {
        match self.settings {
            Some(node) => read(Reader { node }),
            None => {
                let empty = Node { kind: Kind::Map(Vec::new()), ..self.node.clone() };
                read(Reader { node: &empty }).map_err(|mistake| Mistake {
                    node: Some(self.node.id),
                    place: Some(self.node.place),
                    ..Mistake::new(format!("`{}` needs settings: {}", self.word, mistake.message))
                })
            }
        }
    }
}

impl<'de> VariantAccess<'de> for Choice<'_> {
    type Error = Mistake;

    fn unit_variant(self) -> Result<(), Mistake> {
        match self.settings {
            None => Ok(()),
            Some(Node { kind: Kind::Nothing, .. }) => Ok(()),
            Some(Node { kind: Kind::Map(entries), .. }) if entries.is_empty() => Ok(()),
            Some(node) => Err(Mistake::new(format!("`{}` takes no settings; write just the word", self.word)).at(node)),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Mistake> {
        self.with_settings(|reader| seed.deserialize(reader))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Mistake> {
        self.with_settings(|reader| reader.deserialize_seq(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, Mistake> {
        self.with_settings(|reader| reader.deserialize_struct("", fields, visitor))
    }
}
