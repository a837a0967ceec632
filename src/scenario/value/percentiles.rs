//! Percentiles and their durations: `{ p50: 4ms, p99: 40ms }`.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::{Serialize, Serializer};

use super::Time;
use crate::plan::PercentileTable;
use crate::scenario::problem::shown;

/// Percentiles and their durations, as they stand in a file.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::scenario) struct PercentileMap(Vec<(f64, Time)>);

impl PercentileMap {
    /// A table as a file has it.
    pub(in crate::scenario) fn of(table: &PercentileTable) -> Self {
        Self(table.entries().iter().map(|(percentile, value)| (*percentile, Time(*value))).collect())
    }

    /// The table, if its entries make sense together.
    pub(in crate::scenario) fn table(&self) -> Result<PercentileTable, &'static str> {
        let entries = self.0.iter().map(|(percentile, value)| (*percentile, value.0)).collect();
        let wrong = if self.0.is_empty() {
            "`percentiles` has none; expected some like `{ p50: 4ms, p99: 40ms }`"
        } else {
            "durations have to grow from percentile to percentile, and each stand once"
        };
        PercentileTable::new(entries).ok_or(wrong)
    }
}

/// The percentile that a word like `p99.9` names.
fn percentile(word: &str) -> Option<f64> {
    let digits = word.strip_prefix('p')?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let percentile: f64 = digits.parse().ok().filter(|_| plain)?;
    (0.0..=100.0).contains(&percentile).then_some(percentile)
}

impl<'de> Deserialize<'de> for PercentileMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MapVisitor;

        impl<'de> Visitor<'de> for MapVisitor {
            type Value = PercentileMap;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("percentiles like `{ p50: 4ms, p99: 40ms }`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PercentileMap, A::Error> {
                let mut entries = Vec::new();
                while let Some((word, value)) = map.next_entry::<String, Time>()? {
                    let unknown = || {
                        A::Error::custom(format!(
                            "{} is no percentile; expected one like `p50` or `p99.9`",
                            shown(&word)
                        ))
                    };
                    entries.push((percentile(&word).ok_or_else(unknown)?, value));
                }
                Ok(PercentileMap(entries))
            }
        }

        deserializer.deserialize_map(MapVisitor)
    }
}

impl Serialize for PercentileMap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(percentile, value)| (format!("p{percentile}"), value)))
    }
}

impl JsonSchema for PercentileMap {
    fn schema_name() -> Cow<'static, str> {
        "Percentiles".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "type": "object",
            "propertyNames": { "pattern": r"^p(100(\.0+)?|[0-9]{1,2}(\.[0-9]+)?)$" },
            "additionalProperties": generator.subschema_for::<Time>(),
        })
    }
}
