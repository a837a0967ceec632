//! Stricter reading than serde's derive gives: it takes `{"user": null}` for the word `user`, and an array for an object
//! whose members it holds in order. On this wire both are wrong types.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

/// Reads one of a closed set of words, a JSON string and nothing else.
pub(crate) fn word<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    expected: &'static str,
    from_word: fn(&str) -> Option<T>,
) -> Result<T, D::Error> {
    struct Word<T>(&'static str, fn(&str) -> Option<T>);

    impl<T> Visitor<'_> for Word<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            (self.1)(text).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
        }
    }

    deserializer.deserialize_str(Word(expected, from_word))
}

/// Reads an object into a struct, and refuses an array.
pub(crate) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Object<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(members))
        }
    }

    deserializer.deserialize_map(Object(PhantomData))
}

/// Reads an object or `null`. Used without `serde(default)`, it also makes serde ask for the member.
pub(crate) fn object_or_null<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Strict<T>(T);

    impl<'de, T: Deserialize<'de>> Deserialize<'de> for Strict<T> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            object(deserializer).map(Self)
        }
    }

    Ok(Option::<Strict<T>>::deserialize(deserializer)?.map(|Strict(value)| value))
}
