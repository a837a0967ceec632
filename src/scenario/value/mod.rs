//! The values of files that have a form of their own: durations, rates, shares, money, windows, distributions,
//! addresses, words.

mod address;
mod at;
mod duration;
mod named;
mod numbers;
mod percentiles;
mod service;
mod spread;
mod word;

pub(super) use address::{AddressText, ConnectText};
pub(super) use at::At;
pub use duration::parse_duration;
pub(super) use duration::{Time, WindowText, written_duration};
pub(super) use named::Named;
pub(super) use numbers::{AgentsText, MoneyText, RateText, Share, parse_rate, parse_share};
pub(super) use service::{MeasuredSettings, ServiceSpread};
pub(super) use spread::{Price, Spread};
pub(super) use word::{Catalogue, PURPOSES, Word, purpose_word};

/// A value with a text form: reads, writes and describes it.
macro_rules! text_value {
    ($name:ident, $parse:path, $write:path, $expecting:literal, $pattern:literal) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct TextVisitor;

                impl serde::de::Visitor<'_> for TextVisitor {
                    type Value = $name;

                    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        formatter.write_str($expecting)
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        $parse(text).map($name).map_err(E::custom)
                    }
                }

                deserializer.deserialize_str(TextVisitor)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&$write(&self.0))
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": $pattern })
            }
        }
    };
}
pub(super) use text_value;
