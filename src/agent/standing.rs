//! Whether a standing permission covers a revision (Operations 5.1; rules OA-6, OA-7).

use serde_json::{Map, Value};

use crate::plan::Money;

/// Whether a permission for an action up to a price covers these terms of it.
///
/// Every term has to be one that the permission speaks of: prices within the bound and in its currency (at least one),
/// and words, which have to be those of the request where it named them. Anything else (a number, a condition, a list)
/// is a term that the User never permitted.
pub(super) fn covers(up_to: &Money, terms: Option<&Map<String, Value>>, asked: &[(&str, &str)]) -> bool {
    let Some(terms) = terms else { return false };
    let mut prices = 0;
    for (name, term) in terms {
        let covered = match term {
            Value::String(word) => asked.iter().all(|(known, value)| known != name || value == word),
            Value::Object(members) => {
                prices += 1;
                price(members).is_some_and(|(minor, currency)| currency == up_to.currency && minor <= up_to.minor)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => false,
        };
        if !covered {
            return false;
        }
    }
    prices > 0
}

/// An amount in minor units and its currency, if these members are a price and nothing else.
fn price(members: &Map<String, Value>) -> Option<(u64, &str)> {
    let amount = members.get("amount")?.as_str()?;
    let currency = members.get("currency")?.as_str()?;
    (members.len() == 2).then_some(())?;
    let (whole, part) = amount.split_once('.').unwrap_or((amount, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || part.len() > 2 || !digits(whole) || !digits(part) {
        return None;
    }
    let part: u64 = format!("{part:0<2}").parse().ok()?;
    let minor = whole.parse::<u64>().ok()?.checked_mul(100)?.checked_add(part)?;
    Some((minor, currency))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covered(terms: &str) -> bool {
        let up_to = Money { minor: 2_000, currency: "USD".into() };
        covers(&up_to, Some(&serde_json::from_str(terms).unwrap()), &[("item_id", "itm_1")])
    }

    #[test]
    fn every_term_has_to_be_within_the_permission() {
        for terms in [
            r#"{"price":{"amount":"20.00","currency":"USD"}}"#,
            r#"{"price":{"amount":"20","currency":"USD"},"item_id":"itm_1","city":"Oslo"}"#,
            r#"{"price":{"amount":"19.9","currency":"USD"},"fee":{"amount":"0.00","currency":"USD"}}"#,
        ] {
            assert!(covered(terms), "{terms}");
        }
        for terms in [
            "{}",
            r#"{"item_id":"itm_1"}"#,
            r#"{"price":{"amount":"20.01","currency":"USD"}}"#,
            r#"{"price":{"amount":"5.00","currency":"EUR"}}"#,
            r#"{"price":{"amount":"-5.00","currency":"USD"}}"#,
            r#"{"price":{"amount":"5.001","currency":"USD"}}"#,
            r#"{"price":{"amount":5,"currency":"USD"}}"#,
            r#"{"price":{"amount":"5.00","currency":"USD","per":"month"}}"#,
            r#"{"price":{"amount":"5.00","currency":"USD"},"item_id":"itm_2"}"#,
            r#"{"price":{"amount":"5.00","currency":"USD"},"quantity":2}"#,
            r#"{"price":{"amount":"5.00","currency":"USD"},"renews":true}"#,
            r#"{"price":{"amount":"99999999999999999999","currency":"USD"}}"#,
        ] {
            assert!(!covered(terms), "{terms}");
        }
        assert!(!covers(&Money { minor: 1, currency: "USD".into() }, None, &[]));
    }
}
