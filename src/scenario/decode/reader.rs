//! One node as a deserializer.

use std::fmt;

use serde::de::{self, Deserializer, Visitor};

use super::access::{Choice, List, Map, Placed, PlacedValue};
use super::{AT, Mistake, OR_TEXT};
use crate::scenario::node::{Entry, Form, Kind, Node};
use crate::scenario::problem::{nearest, one_of, shown};

/// Reads one node.
pub(super) struct Reader<'a> {
    pub(super) node: &'a Node,
}

impl Reader<'_> {
    fn expected(&self, what: impl fmt::Display) -> Mistake {
        Mistake::new(format!("expected {what}, found {}", self.node.described())).at(self.node)
    }

    /// Where a text is missing: a placeholder without quotes is a map to YAML.
    fn expected_text(&self, what: impl fmt::Display) -> Mistake {
        match &self.node.kind {
            Kind::Map(entries) if let [Entry { key, value: Node { kind: Kind::Nothing, .. }, .. }] = &entries[..] => {
                let quoted = shown(&format!("\"{{{key}}}\""));
                Mistake::new(format!("expected {what}, found a map; write {quoted} if that is meant")).at(self.node)
            }
            _ => self.expected(what),
        }
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
            Kind::List(items) => visitor.visit_seq(List::of(items)),
            Kind::Map(entries) => visitor.visit_map(Map::of(entries)),
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
            _ => Err(self.expected_text(Expecting(&visitor))),
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
        visitor.visit_seq(List::of(items)).map_err(|mistake: Mistake| mistake.at(self.node))
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
            return visitor.visit_seq(Placed::of(self.node.place, PlacedValue::Node(self.node)));
        }
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        let Kind::Map(entries) = &self.node.kind else { return Err(self.expected("a map")) };
        let map = Map::of(entries);
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
