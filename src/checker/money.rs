//! Finds the one amount of money in an operation's `terms`, to compare it with a standing permission's bound.

use serde_json::Value;

/// An amount in the minor units of its currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Money {
    pub(crate) minor: i64,
    /// Its ISO 4217 code.
    pub(crate) currency: [u8; 3],
}

/// The amount in `terms`: written as `"4.00 USD"` or as an object of `amount` and `currency`. Terms with several
/// amounts (a price and a deposit) have none here, since nobody says which of them a bound is for.
pub(crate) fn money_in(terms: &Value) -> Option<Money> {
    let mut found = Vec::new();
    collect(terms, &mut found);
    if found.len() == 1 { found.pop() } else { None }
}

/// Depth is bounded by the JSON parser that made the value.
fn collect(value: &Value, found: &mut Vec<Money>) {
    match value {
        Value::String(text) => {
            if let Some((amount, currency)) = text.split_once(' ') {
                found.extend(parse(amount, currency));
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
        Value::Object(members) => {
            let text = |name: &str| members.get(name).and_then(Value::as_str);
            match (text("amount"), text("currency")) {
                (Some(amount), Some(currency)) => found.extend(parse(amount, currency)),
                _ => members.values().for_each(|value| collect(value, found)),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn parse(amount: &str, currency: &str) -> Option<Money> {
    let code: [u8; 3] = currency.as_bytes().try_into().ok()?;
    if !code.iter().all(u8::is_ascii_uppercase) {
        return None;
    }
    let digits = match currency {
        "JPY" | "KRW" | "VND" | "CLP" | "ISK" | "PYG" | "UGX" | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        _ => 2,
    };
    let (sign, plain) = amount.strip_prefix('-').map_or((1, amount), |plain| (-1, plain));
    let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
    if whole.is_empty() || fraction.len() > digits {
        return None;
    }
    let zeros = std::iter::repeat_n(b'0', digits - fraction.len());
    let minor = whole.bytes().chain(fraction.bytes()).chain(zeros).try_fold(0_i64, |minor, digit| {
        let digit = digit.is_ascii_digit().then(|| i64::from(digit - b'0'))?;
        minor.checked_mul(10)?.checked_add(digit)
    })?;
    Some(Money { minor: sign * minor, currency: code })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_amount_is_found_and_several_are_none() {
        let usd = |minor| Some(Money { minor, currency: *b"USD" });
        assert_eq!(money_in(&json!({"price": "4.00 USD"})), usd(400));
        assert_eq!(money_in(&json!({"price_difference": {"amount": "-70.5", "currency": "USD"}})), usd(-7050));
        assert_eq!(money_in(&json!({"price": "1200 JPY"})), Some(Money { minor: 1200, currency: *b"JPY" }));
        for none in [
            json!({"a": "1 USD", "b": "2 USD"}),
            json!("99999999999999999999 USD"),
            json!("1.0x USD"),
            json!({"note": "4 pieces"}),
            json!({"price": "4.001 USD"}),
        ] {
            assert_eq!(money_in(&none), None, "{none}");
        }
    }
}
