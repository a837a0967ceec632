//! Amounts of money in minor units, and how prices are spread.

use std::fmt;

use smol_str::SmolStr;

use crate::world::Draw;

/// An amount in minor units of a currency (cents for USD).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Money {
    /// The amount in minor units.
    pub minor: u64,
    /// ISO 4217 code.
    pub currency: SmolStr,
}

impl Money {
    /// The amount as the protocol's examples write it: `70.00`.
    #[must_use]
    pub fn amount(&self) -> String {
        format!("{}.{:02}", self.minor / 100, self.minor % 100)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.amount(), self.currency)
    }
}

/// How prices are spread: evenly between two amounts of one currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceRange {
    /// The lowest price, in minor units.
    pub from_minor: u64,
    /// The highest price, in minor units.
    pub to_minor: u64,
    /// ISO 4217 code.
    pub currency: SmolStr,
}

impl PriceRange {
    /// The price that `draw` stands for.
    #[must_use]
    pub fn sample(&self, draw: Draw) -> Money {
        let width = self.to_minor.saturating_sub(self.from_minor) + 1;
        Money { minor: self.from_minor + draw.below(width), currency: self.currency.clone() }
    }
}
