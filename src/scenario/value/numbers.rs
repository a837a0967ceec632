//! Numbers with units: shares (`5%`), rates (`200/s`), money (`5.00 USD`), stages (`0/s..40/s`, `0..200`).

use smol_str::SmolStr;

use super::text_value;
use crate::limits;
use crate::plan::Money;
use crate::scenario::problem::shown;

/// A chance or another share, 0 to 1 inside, a percentage in files.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::scenario) struct Share(pub(in crate::scenario) f64);

text_value!(Share, parse_share, written_share, "a percentage like `5%`", r"^[0-9]+(\.[0-9]+)?%$");

/// An arrival rate, or its way from one to another, in journeys a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::scenario) struct RateText(pub(in crate::scenario) (f64, f64));

text_value!(
    RateText,
    parse_rates,
    written_rates,
    "a rate like `200/s`, `30/m` or `0/s..40/s`",
    r"^[0-9]+(\.[0-9]+)?/(s|m|h)(\.\.[0-9]+(\.[0-9]+)?/(s|m|h))?$"
);

/// A number of Agents, or its way from one to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scenario) struct AgentsText(pub(in crate::scenario) (u32, u32));

/// An amount of money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::scenario) struct MoneyText(pub(in crate::scenario) Money);

text_value!(
    MoneyText,
    parse_money,
    ToString::to_string,
    "an amount like `5.00 USD`",
    r"^[0-9]+(\.[0-9]{2})? [A-Z]{3}$"
);

impl<'de> serde::Deserialize<'de> for AgentsText {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'_, str> as serde::Deserialize>::deserialize(deserializer)?;
        parse_agents(&text).map(Self).map_err(serde::de::Error::custom)
    }
}

impl serde::Serialize for AgentsText {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            (from, to) if from == to => serializer.serialize_u32(from),
            (from, to) => serializer.collect_str(&format_args!("{from}..{to}")),
        }
    }
}

impl schemars::JsonSchema for AgentsText {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AgentsText".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["integer", "string"], "minimum": 0, "pattern": r"^[0-9]+(\.\.[0-9]+)?$" })
    }
}

/// Reads a percentage.
pub(in crate::scenario) fn parse_share(text: &str) -> Result<f64, String> {
    let plain = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let Some(number) = text.strip_suffix('%') else {
        return Err(match plain(text) {
            Some(number) if (0.0..=1.0).contains(&number) => {
                format!("expected a percentage, found {}; write `{}`", shown(text), written_share(&number))
            }
            _ => format!("expected a percentage like `5%`, found {}", shown(text)),
        });
    };
    match plain(number) {
        Some(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        Some(_) => Err(format!("{} is not between 0% and 100%", shown(text))),
        None => Err(format!("expected a percentage like `5%`, found {}", shown(text))),
    }
}

/// Writes a share so that reading it gives the same.
fn written_share(share: &f64) -> String {
    // Multiplying by 100 may be off by one in the last place, so try how few digits will do.
    (0..=18)
        .map(|digits| format!("{:.digits$}%", share * 100.0))
        .find(|text| parse_share(text) == Ok(*share))
        .unwrap_or_else(|| format!("{}%", share * 100.0))
}

/// Reads a rate, per second.
pub(in crate::scenario) fn parse_rate(text: &str) -> Result<f64, String> {
    let form = "a rate like `200/s` or `30/m`";
    let Some((number, unit)) = text.trim().split_once('/') else {
        let lacking = text.trim().parse::<f64>().is_ok();
        let reason = if lacking { " lacks a unit" } else { " is no rate" };
        return Err(format!("{}{reason}; expected {form}", shown(text)));
    };
    let seconds = match unit.trim() {
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        other => return Err(format!("unknown unit {} of a rate; expected one of /s, /m, /h", shown(other))),
    };
    let number: f64 = number
        .trim()
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite() && *number >= 0.0)
        .ok_or_else(|| format!("expected {form}, found {}", shown(text)))?;
    let rate = number / seconds;
    if rate > limits::RATE_PER_SECOND_MAX {
        return Err(format!("{} is too much; expected at most {}/s", shown(text), limits::RATE_PER_SECOND_MAX));
    }
    Ok(rate)
}

fn parse_rates(text: &str) -> Result<(f64, f64), String> {
    match text.split_once("..") {
        Some((from, to)) => Ok((parse_rate(from)?, parse_rate(to)?)),
        None => parse_rate(text).map(|rate| (rate, rate)),
    }
}

fn written_rates(rates: &(f64, f64)) -> String {
    if rates.0 == rates.1 { format!("{}/s", rates.0) } else { format!("{}/s..{}/s", rates.0, rates.1) }
}

fn parse_agents(text: &str) -> Result<(u32, u32), String> {
    let number = |text: &str| {
        text.trim().replace('_', "").parse::<u32>().ok().filter(|number| *number <= limits::USERS_MAX).ok_or_else(
            || format!("expected a number of Agents from 0 to {}, found {}", limits::USERS_MAX, shown(text)),
        )
    };
    match text.split_once("..") {
        Some((from, to)) => Ok((number(from)?, number(to)?)),
        None => number(text).map(|agents| (agents, agents)),
    }
}

pub(super) fn parse_money(text: &str) -> Result<Money, String> {
    let wrong = || format!("expected an amount and a currency like `5.00 USD`, found {}", shown(text));
    let (amount, currency) = text.trim().split_once(' ').ok_or_else(wrong)?;
    let (units, cents) = amount.split_once('.').unwrap_or((amount, "00"));
    let digits = |text: &str| !text.is_empty() && text.len() <= 12 && text.bytes().all(|b| b.is_ascii_digit());
    let code = currency.len() == 3 && currency.bytes().all(|byte| byte.is_ascii_uppercase());
    if !digits(units) || !digits(cents) || cents.len() != 2 || !code {
        return Err(wrong());
    }
    let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
    Ok(Money { minor: number(units)? * 100 + number(cents)?, currency: SmolStr::new(currency) })
}
