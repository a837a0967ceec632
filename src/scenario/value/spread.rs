//! Distributions of durations and spreads of prices; a bare value is a constant.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, EnumAccess, Error, Visitor, value::EnumAccessDeserializer};
use serde::{Serialize, Serializer};

use super::{MoneyText, Time, duration::parse_duration, numbers::parse_money, percentiles::PercentileMap};
use crate::plan::{Distribution, PriceRange};
use crate::scenario::decode::OR_TEXT;

/// How durations are spread: `20ms`, or a map of one key.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::scenario) struct Spread(pub(in crate::scenario) Distribution);

/// How prices are spread: `4.00 USD`, or a map of one key.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::scenario) struct Price(pub(in crate::scenario) PriceRange);

/// A named distribution of durations.
#[derive(serde::Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Shape {
    /// Always the same.
    Constant(Time),
    /// Evenly between two durations.
    Uniform {
        /// The least.
        from: Time,
        /// The most.
        to: Time,
    },
    /// Log-normal, given by its median and its 99th percentile.
    LogNormal {
        /// The 50th percentile.
        median: Time,
        /// The 99th percentile.
        p99: Time,
    },
    /// A Pareto tail: `P(x > t) = (min/t)^shape`, cut at `max`.
    Pareto {
        /// The least.
        min: Time,
        /// The tail's exponent; smaller is heavier.
        shape: f64,
        /// What is drawn above counts as this.
        max: Time,
    },
    /// Exponential, as the times between events that know nothing of each other.
    Exponential {
        /// The mean.
        mean: Time,
    },
    /// Given by percentiles, and even between two of them; beyond the outermost it stays there.
    Percentiles(PercentileMap),
}

/// The names of the distributions.
const SHAPES: &[&str] = &["constant", "uniform", "log-normal", "pareto", "exponential", "percentiles"];

/// The same, and service times that were measured.
pub(super) const SHAPES_OR_MEASURED: &[&str] =
    &["constant", "uniform", "log-normal", "pareto", "exponential", "percentiles", "measured"];

/// A named spread of prices.
#[derive(serde::Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum PriceShape {
    /// Always the same.
    Constant(MoneyText),
    /// Evenly between two prices of one currency.
    Uniform {
        /// The lowest.
        from: MoneyText,
        /// The highest.
        to: MoneyText,
    },
}

impl Shape {
    /// The distribution, if its numbers make sense.
    pub(super) fn checked(self) -> Result<Distribution, &'static str> {
        match self {
            Self::Constant(Time(value)) => Ok(Distribution::Constant(value)),
            Self::Uniform { from, to } if from.0 > to.0 => Err("`from` is more than `to`"),
            Self::Uniform { from, to } => Ok(Distribution::Uniform { from: from.0, to: to.0 }),
            Self::LogNormal { median, .. } if median.0.is_zero() => Err("`median` has to be more than 0"),
            Self::LogNormal { median, p99 } if median.0 > p99.0 => Err("`median` is more than `p99`"),
            Self::LogNormal { median, p99 } => Ok(Distribution::LogNormal { median: median.0, p99: p99.0 }),
            Self::Pareto { min, .. } if min.0.is_zero() => Err("`min` has to be more than 0"),
            Self::Pareto { min, max, .. } if min.0 > max.0 => Err("`min` is more than `max`"),
            Self::Pareto { shape, .. } if shape <= 0.0 => Err("`shape` has to be more than 0"),
            Self::Pareto { min, shape, max } => Ok(Distribution::Pareto { min: min.0, shape, max: max.0 }),
            Self::Exponential { mean: Time(mean) } => Ok(Distribution::Exponential { mean }),
            Self::Percentiles(map) => map.table().map(Distribution::Percentiles),
        }
    }
}

impl PriceShape {
    /// The prices, if they make sense.
    fn checked(self) -> Result<PriceRange, &'static str> {
        match self {
            Self::Constant(MoneyText(price)) => {
                Ok(PriceRange { from_minor: price.minor, to_minor: price.minor, currency: price.currency })
            }
            Self::Uniform { from, to } if from.0.currency != to.0.currency => {
                Err("`from` and `to` have different currencies; expected the same")
            }
            Self::Uniform { from, to } if from.0.minor > to.0.minor => Err("`from` is more than `to`"),
            Self::Uniform { from, to } => {
                Ok(PriceRange { from_minor: from.0.minor, to_minor: to.0.minor, currency: from.0.currency })
            }
        }
    }
}

/// Makes a type readable as a bare text or as a map of one key.
macro_rules! text_or_shape {
    ($name:ident, $shape:ident, $variants:expr, $text:expr, $expecting:literal) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct EitherVisitor;

                impl<'de> Visitor<'de> for EitherVisitor {
                    type Value = $name;

                    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                        formatter.write_str($expecting)
                    }

                    fn visit_str<E: Error>(self, text: &str) -> Result<$name, E> {
                        $text(text).map($name).map_err(E::custom)
                    }

                    fn visit_enum<A: EnumAccess<'de>>(self, choice: A) -> Result<$name, A::Error> {
                        let shape = $shape::deserialize(EnumAccessDeserializer::new(choice))?;
                        shape.checked().map($name).map_err(A::Error::custom)
                    }
                }

                deserializer.deserialize_enum(OR_TEXT, $variants, EitherVisitor)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let shape = $shape::json_schema(generator);
                schemars::json_schema!({ "anyOf": [{ "type": "string", "description": $expecting }, shape] })
            }
        }
    };
}

text_or_shape!(
    Spread,
    Shape,
    SHAPES,
    |text| parse_duration(text).map(Distribution::Constant),
    "a duration like `20ms`, or a distribution like `{ uniform: { from: 5ms, to: 20ms } }`"
);

text_or_shape!(
    Price,
    PriceShape,
    &["constant", "uniform"],
    |text| parse_money(text).map(|price| PriceRange {
        from_minor: price.minor,
        to_minor: price.minor,
        currency: price.currency,
    }),
    "an amount like `4.00 USD`, or a range like `{ uniform: { from: 5.00 USD, to: 120.00 USD } }`"
);

impl Serialize for Spread {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shape = match self.0 {
            Distribution::Constant(value) => return Time(value).serialize(serializer),
            Distribution::Uniform { from, to } => Shape::Uniform { from: Time(from), to: Time(to) },
            Distribution::LogNormal { median, p99 } => Shape::LogNormal { median: Time(median), p99: Time(p99) },
            Distribution::Pareto { min, shape, max } => Shape::Pareto { min: Time(min), shape, max: Time(max) },
            Distribution::Exponential { mean } => Shape::Exponential { mean: Time(mean) },
            Distribution::Percentiles(ref table) => Shape::Percentiles(PercentileMap::of(table)),
        };
        shape.serialize(serializer)
    }
}

impl Serialize for Price {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let money = |minor: u64| {
            let currency = self.0.currency.clone();
            MoneyText(crate::plan::Money { minor, currency })
        };
        if self.0.from_minor == self.0.to_minor {
            return money(self.0.from_minor).serialize(serializer);
        }
        PriceShape::Uniform { from: money(self.0.from_minor), to: money(self.0.to_minor) }.serialize(serializer)
    }
}
