//! From a tree to the raw types of files, through serde, with the place of every mistake.
//!
//! serde stops at the first mistake. [`decode`] notes it, takes the offending part out of the tree and tries again, so
//! that one pass over a file tells as many mistakes as there are.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

use super::node::{Entry, Form, Kind, Node};
use super::problem::{Findings, Place, nearest, one_of, shown};
use crate::limits;

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

/// Reads one node.
struct Reader<'a> {
    node: &'a Node,
}

impl Reader<'_> {
    fn expected(&self, what: impl fmt::Display) -> Mistake {
        Mistake::new(format!("expected {what}, found {}", self.node.described())).at(self.node)
    }

    fn whole_number<T: std::str::FromStr>(&self, most: impl fmt::Display) -> Result<T, Mistake> {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
        match &self.node.kind {
            // The YAML crate takes a number that is too large for a decimal.
            Kind::Scalar { text, form } if *form == Form::Integer || digits(text) => {
                let number = text.replace('_', "").parse();
                number.map_err(|_| self.expected(format_args!("a whole number from 0 to {most}")))
            }
            _ => Err(self.expected("a whole number")),
        }
    }
}

macro_rules! whole_numbers {
    ($($method:ident $visit:ident $type:ty),+ $(,)?) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
            let number: $type = self.whole_number(<$type>::MAX)?;
            visitor.$visit(number).map_err(|mistake: Mistake| mistake.at(self.node))
        })+
    };
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Mistake;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        let result = match &self.node.kind {
            Kind::Nothing => visitor.visit_unit(),
            Kind::Scalar { text, form: Form::Text } => visitor.visit_str(text),
            Kind::Scalar { form: Form::Boolean, .. } => return self.deserialize_bool(visitor),
            Kind::Scalar { text, form: Form::Integer } => match text.replace('_', "").parse::<i64>() {
                Ok(number) if number < 0 => visitor.visit_i64(number),
                _ => return self.deserialize_u64(visitor),
            },
            Kind::Scalar { form: Form::Decimal, .. } => return self.deserialize_f64(visitor),
            Kind::List(items) => visitor.visit_seq(List { items: items.iter() }),
            Kind::Map(entries) => visitor.visit_map(Map { entries: entries.iter(), value: None }),
        };
        result.map_err(|mistake: Mistake| mistake.at(self.node))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        let Kind::Scalar { text, form: Form::Boolean } = &self.node.kind else {
            return Err(self.expected("`true` or `false`"));
        };
        let truth = matches!(text.to_lowercase().as_str(), "true" | "yes" | "on" | "y");
        visitor.visit_bool(truth).map_err(|mistake: Mistake| mistake.at(self.node))
    }

    whole_numbers! {
        deserialize_u8 visit_u8 u8,
        deserialize_u16 visit_u16 u16,
        deserialize_u32 visit_u32 u32,
        deserialize_u64 visit_u64 u64,
        deserialize_i8 visit_i8 i8,
        deserialize_i16 visit_i16 i16,
        deserialize_i32 visit_i32 i32,
        deserialize_i64 visit_i64 i64,
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        let Kind::Scalar { text, form: Form::Integer | Form::Decimal } = &self.node.kind else {
            return Err(self.expected("a number"));
        };
        let number: Option<f64> = text.replace('_', "").parse().ok().filter(|number: &f64| number.is_finite());
        let number = number.ok_or_else(|| self.expected("a number"))?;
        visitor.visit_f64(number).map_err(|mistake: Mistake| mistake.at(self.node))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match &self.node.kind {
            Kind::Scalar { text, .. } => visitor.visit_str(text).map_err(|mistake: Mistake| mistake.at(self.node)),
            _ => Err(self.expected(Expecting(&visitor))),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.deserialize_str(visitor)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.deserialize_str(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        if matches!(self.node.kind, Kind::Nothing) {
            return Err(Mistake::new("the key has no value; give it one or take it out").at(self.node));
        }
        visitor.visit_some(self)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match &self.node.kind {
            Kind::Nothing => visitor.visit_unit(),
            Kind::Map(entries) if entries.is_empty() => visitor.visit_unit(),
            _ => Err(self.expected("nothing")),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Mistake> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        let Kind::List(items) = &self.node.kind else { return Err(self.expected("a list")) };
        visitor.visit_seq(List { items: items.iter() }).map_err(|mistake: Mistake| mistake.at(self.node))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Mistake> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        if name == AT {
            return visitor.visit_seq(Placed { place: self.node.place, given: 0, value: PlacedValue::Node(self.node) });
        }
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        let Kind::Map(entries) = &self.node.kind else { return Err(self.expected("a map")) };
        let map = Map { entries: entries.iter(), value: None };
        visitor.visit_map(map).map_err(|mistake: Mistake| mistake.at(self.node))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let names = one_of(fields.iter().copied());
        let Kind::Map(entries) = &self.node.kind else {
            return Err(self.expected(format_args!("a map with {names}")));
        };
        if let Some(entry) = entries.iter().find(|entry| !fields.contains(&entry.key.as_str())) {
            return Err(unknown("key", entry, fields));
        }
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let (word, settings) = match &self.node.kind {
            Kind::Scalar { text, .. } if name.starts_with(OR_TEXT) => {
                return visitor.visit_str(text).map_err(|mistake: Mistake| mistake.at(self.node));
            }
            Kind::Scalar { text, .. } => {
                if !variants.contains(&text.as_str()) {
                    return Err(<Mistake as de::Error>::unknown_variant(text, variants).at(self.node));
                }
                (text, None)
            }
            Kind::Map(entries) => {
                if let Some(entry) = entries.iter().find(|entry| !variants.contains(&entry.key.as_str())) {
                    return Err(unknown("key", entry, variants));
                }
                let [entry] = entries.as_slice() else {
                    let names = one_of(variants.iter().copied());
                    let found = if entries.is_empty() { "none".to_owned() } else { entries.len().to_string() };
                    let mistake = Mistake::new(format!("expected exactly one key, {names}, found {found}"));
                    return Err(Mistake { missing: entries.is_empty(), ..mistake }.at(self.node));
                };
                (&entry.key, Some(&entry.value))
            }
            _ => return Err(self.expected(one_of(variants.iter().copied()))),
        };
        let choice = Choice { node: self.node, word, settings };
        visitor.visit_enum(choice).map_err(|mistake: Mistake| mistake.at(self.node))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_unit()
    }
}

/// The mistake of a key that is not among those that can stand there.
fn unknown(what: &str, entry: &Entry, known: &'static [&'static str]) -> Mistake {
    Mistake {
        node: Some(entry.value.id),
        place: Some(entry.place),
        nearest: nearest(&entry.key, known.iter().copied()),
        ..Mistake::new(format!("unknown {what} {}; expected {}", shown(&entry.key), one_of(known.iter().copied())))
    }
}

/// What a visitor expects, in its own words.
struct Expecting<'a, V>(&'a V);

impl<'de, V: Visitor<'de>> fmt::Display for Expecting<'_, V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match format!("{}", self.0 as &dyn de::Expected).as_str() {
            "a string" => formatter.write_str("a text"),
            words => formatter.write_str(words),
        }
    }
}

/// The items of a list.
struct List<'a> {
    items: std::slice::Iter<'a, Node>,
}

impl<'de> SeqAccess<'de> for List<'_> {
    type Error = Mistake;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Mistake> {
        self.items.next().map(|node| seed.deserialize(Reader { node })).transpose()
    }
}

/// The keys and values of a map.
struct Map<'a> {
    entries: std::slice::Iter<'a, Entry>,
    value: Option<&'a Node>,
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
        visitor.visit_seq(Placed { place: self.entry.place, given: 0, value: PlacedValue::Key(self.entry) })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple map struct enum identifier ignored_any
    }
}

/// File, line, column and then the value itself, for [`super::value::At`].
struct Placed<'a> {
    place: Place,
    given: u8,
    value: PlacedValue<'a>,
}

#[derive(Clone, Copy)]
enum PlacedValue<'a> {
    Node(&'a Node),
    Key(&'a Entry),
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
struct Choice<'a> {
    node: &'a Node,
    word: &'a str,
    settings: Option<&'a Node>,
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
