//! Service times: any distribution, or what was measured in a run.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, VariantAccess, Visitor,
    value::{EnumAccessDeserializer, StrDeserializer},
};
use serde::{Serialize, Serializer};

use super::spread::{SHAPES_OR_MEASURED, Shape};
use super::{At, Spread, Word, duration::parse_duration};
use crate::history::record::Purpose;
use crate::plan::Distribution;
use crate::scenario::decode::OR_TEXT;

/// How service times are spread.
#[derive(Debug, Clone)]
pub(in crate::scenario) enum ServiceSpread {
    /// As a distribution says.
    Given(Distribution),
    /// As they were measured in a run.
    Measured(MeasuredSettings),
}

/// What was measured in a run.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct MeasuredSettings {
    /// The `latency.hlog` of a run; a path is taken from the folder of the scenario.
    pub(in crate::scenario) from: At<String>,
    /// The kind of request whose service times count.
    pub(in crate::scenario) step: At<Word<Purpose>>,
}

/// The rest of a choice whose word was read already.
struct Rest<V>(String, V);

impl<'de, V: VariantAccess<'de>> EnumAccess<'de> for Rest<V> {
    type Error = V::Error;
    type Variant = V;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, V), V::Error> {
        let word: StrDeserializer<'_, V::Error> = self.0.as_str().into_deserializer();
        Ok((seed.deserialize(word)?, self.1))
    }
}

impl<'de> Deserialize<'de> for ServiceSpread {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ServiceVisitor;

        impl<'de> Visitor<'de> for ServiceVisitor {
            type Value = ServiceSpread;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(EXPECTING)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<ServiceSpread, E> {
                let given = parse_duration(text).map(Distribution::Constant);
                given.map(ServiceSpread::Given).map_err(E::custom)
            }

            fn visit_enum<A: EnumAccess<'de>>(self, choice: A) -> Result<ServiceSpread, A::Error> {
                let (word, variant) = choice.variant_seed(PhantomData::<String>)?;
                if word == "measured" {
                    return variant.newtype_variant().map(ServiceSpread::Measured);
                }
                let shape = Shape::deserialize(EnumAccessDeserializer::new(Rest(word, variant)))?;
                shape.checked().map(ServiceSpread::Given).map_err(A::Error::custom)
            }
        }

        deserializer.deserialize_enum(OR_TEXT, SHAPES_OR_MEASURED, ServiceVisitor)
    }
}

const EXPECTING: &str = "a duration like `20ms`, a distribution like `{ exponential: { mean: 20ms } }`, \
                         or `{ measured: { from: latency.hlog, step: confirm } }`";

impl Serialize for ServiceSpread {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        #[serde(rename_all = "kebab-case")]
        enum Choice<'a> {
            Measured(&'a MeasuredSettings),
        }
        match self {
            Self::Given(distribution) => Spread(distribution.clone()).serialize(serializer),
            Self::Measured(settings) => Choice::Measured(settings).serialize(serializer),
        }
    }
}

impl JsonSchema for ServiceSpread {
    fn schema_name() -> Cow<'static, str> {
        "ServiceSpread".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (shape, measured) = (generator.subschema_for::<Spread>(), generator.subschema_for::<MeasuredSettings>());
        schemars::json_schema!({
            "anyOf": [
                shape,
                {
                    "type": "object",
                    "properties": { "measured": measured },
                    "required": ["measured"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}
