//! A value together with its place, for values that can be well-formed and still wrong.

use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::{Serialize, Serializer};

use crate::scenario::decode::AT;
use crate::scenario::problem::Place;

/// A value and where it stands.
#[derive(Debug, Clone, Default)]
pub(in crate::scenario) struct At<T> {
    pub(in crate::scenario) value: T,
    pub(in crate::scenario) place: Place,
}

impl<T> At<T> {
    /// A value that stands in no file.
    pub(in crate::scenario) fn nowhere(value: T) -> Self {
        Self { value, place: Place::default() }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AtVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for AtVisitor<T> {
            type Value = At<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a value")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<At<T>, A::Error> {
                let lacking = || A::Error::custom("a value without a place");
                let place = Place {
                    file: parts.next_element()?.ok_or_else(lacking)?,
                    line: parts.next_element()?.ok_or_else(lacking)?,
                    column: parts.next_element()?.ok_or_else(lacking)?,
                };
                Ok(At { value: parts.next_element()?.ok_or_else(lacking)?, place })
            }
        }

        deserializer.deserialize_tuple_struct(AT, 4, AtVisitor(PhantomData))
    }
}

impl<T: Serialize> Serialize for At<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<T: JsonSchema> JsonSchema for At<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
