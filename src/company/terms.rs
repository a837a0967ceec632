//! Terms: what a Company offers, made up by `fake` and by draws that the action's ID names, so that they are the same
//! in every run of a seed.

use std::sync::Arc;

use fake::{
    Fake as _,
    faker::{
        address::en::CityName,
        name::en::{LastName, Name},
    },
};
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

use super::record::{Offer, Subject};
use crate::{
    identity::digest::terms_digest,
    plan::{Action, Money},
    protocol::{Revision, Rfc3339},
    world::World,
};

/// What shops sell; a family name goes before it (`Stormline Jacket`).
const GOODS: [&str; 12] = [
    "Jacket",
    "Backpack",
    "Kettle",
    "Desk Lamp",
    "Tent",
    "Running Shoes",
    "Rain Coat",
    "Water Bottle",
    "Scarf",
    "Wool Hat",
    "Headphones",
    "Notebook",
];

/// Makes up what an action is about.
pub(super) fn subject(world: &World, id: &str, order: SmolStr, item_id: Option<SmolStr>) -> Subject {
    let mut rng = world.draw("company.subject", id, 0).rng();
    Subject {
        order,
        item_id,
        item: goods(world, "company.item", id, 0),
        customer: Name().fake_with_rng(&mut rng),
        city: CityName().fake_with_rng(&mut rng),
    }
}

fn goods(world: &World, purpose: &str, id: &str, attempt: u64) -> String {
    let draw = world.draw(purpose, id, attempt);
    let maker: String = LastName().fake_with_rng(&mut draw.rng());
    let index = usize::try_from(draw.below(GOODS.len() as u64)).unwrap_or_default();
    format!("{maker} {}", GOODS[index.min(GOODS.len() - 1)])
}

/// Number, edition and last instant of an offer that is to be made.
#[derive(Debug)]
pub(super) struct Heading {
    pub(super) revision: Revision,
    pub(super) edition: u64,
    pub(super) expires_at: Rfc3339,
}

/// Makes the terms of an edition. What they say depends on the action's ID and the edition alone.
pub(super) fn offer(world: &World, action: &Action, id: &str, subject: &Subject, heading: Heading) -> Arc<Offer> {
    let Heading { revision, edition, expires_at } = heading;
    let words = Words::of(world, action, id, subject, revision, edition);
    let summary = match &action.summary {
        Some(template) => words.fill(template),
        None => format!(
            "{} of {} on order {}, for {}, charged to the card used for the order.",
            capitalised(&action.name),
            words.item,
            words.order,
            words.price
        ),
    };
    let terms = match &action.terms {
        Some(template) => words.fill_object(template),
        None => words.general(),
    };
    let digest = terms_digest(&summary, Some(&terms));
    Arc::new(Offer { revision, edition, summary, terms, digest, expires_at })
}

/// The text of a template that speaks of an offer already made (`done`).
pub(super) fn fill(
    world: &World,
    action: &Action,
    id: &str,
    subject: &Subject,
    offer: &Offer,
    template: &str,
) -> String {
    Words::of(world, action, id, subject, offer.revision, offer.edition).fill(template)
}

/// A name in kebab-case as the beginning of a sentence.
pub(super) fn capitalised(name: &str) -> String {
    let words = name.replace('-', " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str()).unwrap_or_default()
}

/// What the placeholders stand for in one edition.
struct Words<'a> {
    order: &'a str,
    item: &'a str,
    item_id: &'a str,
    customer: &'a str,
    city: &'a str,
    replacement: String,
    sku: String,
    price: Money,
    revision: Revision,
}

impl<'a> Words<'a> {
    fn of(world: &World, action: &Action, id: &str, subject: &'a Subject, revision: Revision, edition: u64) -> Self {
        let replacement = goods(world, "company.replacement", id, edition);
        Self {
            order: &subject.order,
            item: &subject.item,
            item_id: subject.item_id.as_deref().unwrap_or_default(),
            customer: &subject.customer,
            city: &subject.city,
            sku: replacement.to_lowercase().replace(|letter: char| !letter.is_ascii_alphanumeric(), "-"),
            replacement,
            price: action.price.sample(world.draw("company.price", id, edition)),
            revision,
        }
    }

    fn word(&self, name: &str) -> Option<String> {
        Some(match name {
            "order" => self.order.to_owned(),
            "item" => self.item.to_owned(),
            "item_id" => self.item_id.to_owned(),
            "replacement" => self.replacement.clone(),
            "sku" => self.sku.clone(),
            "price" => self.price.to_string(),
            "customer" => self.customer.to_owned(),
            "city" => self.city.to_owned(),
            "revision" => self.revision.to_string(),
            _ => return None,
        })
    }

    /// The template with its placeholders filled; braces around anything else stay as they are.
    fn fill(&self, template: &str) -> String {
        let mut text = String::with_capacity(template.len() + 64);
        let mut rest = template;
        while let Some(open) = rest.find('{') {
            let (before, from) = rest.split_at(open);
            text.push_str(before);
            let filled = from.find('}').and_then(|close| Some((self.word(&from[1..close])?, close)));
            match filled {
                Some((word, close)) => {
                    text.push_str(&word);
                    rest = &from[close + 1..];
                }
                None => {
                    text.push('{');
                    rest = &from[1..];
                }
            }
        }
        text.push_str(rest);
        text
    }

    fn fill_object(&self, template: &Map<String, Value>) -> Map<String, Value> {
        template.iter().map(|(name, value)| (name.clone(), self.fill_value(value))).collect()
    }

    fn fill_value(&self, template: &Value) -> Value {
        match template {
            Value::String(text) if text == "{price}" => self.price_value(),
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => items.iter().map(|item| self.fill_value(item)).collect(),
            Value::Object(members) => Value::Object(self.fill_object(members)),
            Value::Null | Value::Bool(_) | Value::Number(_) => template.clone(),
        }
    }

    fn price_value(&self) -> Value {
        json!({ "amount": self.price.amount(), "currency": self.price.currency.as_str() })
    }

    fn general(&self) -> Map<String, Value> {
        let mut terms = Map::new();
        terms.insert("order_id".to_owned(), Value::from(self.order));
        if !self.item_id.is_empty() {
            terms.insert("item_id".to_owned(), Value::from(self.item_id));
        }
        terms.insert("item".to_owned(), Value::from(self.item));
        terms.insert("price".to_owned(), self.price_value());
        terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Words<'static> {
        Words {
            order: "ord_1",
            item: "Storm Jacket",
            item_id: "itm_1",
            customer: "Ann",
            city: "Rome",
            replacement: "Gale Tent".to_owned(),
            sku: "gale-tent".to_owned(),
            price: Money { minor: 7_000, currency: "USD".into() },
            revision: Revision::FIRST,
        }
    }

    #[test]
    fn placeholders_are_filled_and_other_braces_stay() {
        let filled = words()
            .fill("{item} ({item_id}) of {order} for {replacement}, {sku}, {price}, {city}, {customer}, {revision}");
        assert_eq!(filled, "Storm Jacket (itm_1) of ord_1 for Gale Tent, gale-tent, 70.00 USD, Rome, Ann, 1");
        for text in ["", "{", "}", "{}", "{unknown}", "{order", "a {{b}", "é{é}é"] {
            assert_eq!(words().fill(text), text);
        }
        assert_eq!(words().fill("{{order}}"), "{ord_1}");
    }

    #[test]
    fn a_lone_price_in_terms_is_an_object_and_other_values_stay() {
        let template =
            json!({ "price": "{price}", "text": "for {price}", "list": ["{order}", 1, null], "in": { "x": "{sku}" } });
        let expected = json!({
            "price": { "amount": "70.00", "currency": "USD" }, "text": "for 70.00 USD",
            "list": ["ord_1", 1, null], "in": { "x": "gale-tent" },
        });
        assert_eq!(words().fill_value(&template), expected);
    }

    #[test]
    fn names_become_beginnings_of_sentences() {
        assert_eq!((capitalised("take-back").as_str(), capitalised("").as_str()), ("Take back", ""));
    }
}
