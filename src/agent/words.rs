//! What the placeholders of a target file stand for, and texts with them filled in.

use std::collections::BTreeMap;

use fake::{
    Fake as _,
    faker::{
        address::en::{BuildingNumber, CityName, PostCode, StreetName},
        company::en::CompanyName,
        internet::en::SafeEmail,
        lorem::en::Sentence,
        name::en::{FirstName, LastName, Name},
        phone_number::en::PhoneNumber,
    },
};
use serde_json::{Map, Value};
use smol_str::SmolStr;

use super::openapi::push_segment;
use crate::{
    plan::{FakeValue, Piece, pieces},
    world::{Draw, World},
};

/// What stands before the word of a value that is made up.
const FAKE: &str = "fake.";

/// What placeholders stand for. What `fake` makes up depends on the seed, the key and the round alone.
#[derive(Debug, Clone)]
pub(super) struct Words {
    world: World,
    key: SmolStr,
    round: u64,
    values: BTreeMap<SmolStr, Value>,
}

impl Words {
    /// No words but those that are made up, for what `key` names.
    pub(super) fn new(world: &World, key: &str) -> Self {
        Self { world: world.clone(), key: key.into(), round: 0, values: BTreeMap::new() }
    }

    /// With one more word.
    #[must_use]
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.values.insert(name.into(), value.into());
        self
    }

    /// With other values made up, as often as there are rounds.
    #[must_use]
    pub(super) fn in_round(self, round: u64) -> Self {
        Self { round, ..self }
    }

    fn value(&self, name: &str) -> Option<Value> {
        if let Some(value) = self.values.get(name) {
            return Some(value.clone());
        }
        let word = FakeValue::from_word(name.strip_prefix(FAKE)?)?;
        Some(make_up(word, self.world.draw(name, &self.key, self.round)))
    }

    /// A text with its placeholders filled; `None` if one stands for nothing.
    pub(super) fn text(&self, template: &str) -> Option<String> {
        self.filled(template, |text, value| text.push_str(value))
    }

    /// A URL with its placeholders filled, each percent-encoded; `None` if one stands for nothing.
    pub(super) fn url(&self, template: &str) -> Option<String> {
        self.filled(template, push_segment)
    }

    fn filled(&self, template: &str, push: impl Fn(&mut String, &str)) -> Option<String> {
        let mut text = String::with_capacity(template.len() + 64);
        for piece in pieces(template) {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Placeholder(name) => push(&mut text, &spoken(&self.value(name)?)),
            }
        }
        Some(text)
    }

    /// A body with its texts filled; a text that is just one placeholder takes the value as it is. `None` if one stands for
    /// nothing.
    pub(super) fn json(&self, template: &Value) -> Option<Value> {
        Some(match template {
            Value::String(text) => {
                let mut pieces = pieces(text);
                match (pieces.next(), pieces.next()) {
                    (Some(Piece::Placeholder(name)), None) => self.value(name)?,
                    _ => Value::String(self.text(text)?),
                }
            }
            Value::Array(items) => Value::Array(items.iter().map(|item| self.json(item)).collect::<Option<_>>()?),
            Value::Object(members) => {
                let filled = members.iter().map(|(name, value)| Some((name.clone(), self.json(value)?)));
                Value::Object(filled.collect::<Option<Map<_, _>>>()?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => template.clone(),
        })
    }

    /// What the placeholders of a text stand for, by name.
    pub(super) fn used<'a>(&'a self, template: &'a str) -> impl Iterator<Item = (&'a str, String)> {
        pieces(template).filter_map(|piece| match piece {
            Piece::Placeholder(name) => Some((name, spoken(&self.value(name)?))),
            Piece::Text(_) => None,
        })
    }
}

/// A made-up name: ten small letters and digits.
pub(super) fn name(draw: Draw) -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let bits = draw.bits();
    (0..10).map(|place| char::from(LETTERS[(bits >> (5 * place) & 31) as usize])).collect()
}

/// A value as it stands in the midst of a text.
fn spoken(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn make_up(word: FakeValue, draw: Draw) -> Value {
    let rng = &mut draw.rng();
    let text: String = match word {
        FakeValue::FirstName => FirstName().fake_with_rng(rng),
        FakeValue::LastName => LastName().fake_with_rng(rng),
        FakeValue::Name => Name().fake_with_rng(rng),
        FakeValue::Email => SafeEmail().fake_with_rng(rng),
        FakeValue::Phone => PhoneNumber().fake_with_rng(rng),
        FakeValue::Street => {
            let number: String = BuildingNumber().fake_with_rng(rng);
            let street: String = StreetName().fake_with_rng(rng);
            format!("{number} {street}")
        }
        FakeValue::City => CityName().fake_with_rng(rng),
        FakeValue::PostCode => PostCode().fake_with_rng(rng),
        FakeValue::Company => CompanyName().fake_with_rng(rng),
        FakeValue::Sentence => Sentence(3..8).fake_with_rng(rng),
        FakeValue::Number => return Value::from(1 + draw.below(1_000)),
    };
    Value::String(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        fault::Faults,
        history::Recorder,
        identity::Signatures,
        world::{Clock, Field, FieldOptions, Lane, Party, PartyKind},
    };

    fn words(key: &str) -> Words {
        let field = Field::new(FieldOptions {
            seed: 7,
            clock: Clock::real(),
            epoch: jiff::Timestamp::UNIX_EPOCH,
            recorder: Recorder::in_memory(),
            faults: Faults::new(7, Vec::new(), []),
            lane: Lane::Direct(Signatures::Real),
        })
        .unwrap();
        Words::new(&field.world(Party::new(PartyKind::Agent, "test")), key)
    }

    #[test]
    fn placeholders_are_filled_and_other_braces_stay() {
        let words = words("i1").with("user", "u 3/4").with("lines", json!([1, 2])).with("count", 4);
        assert_eq!(words.text("{user} { user } {count} {lines}").unwrap(), "u 3/4 { user } 4 [1,2]");
        assert_eq!(words.url("/a/{user}?b={user}").unwrap(), "/a/u%203%2F4?b=u%203%2F4");
        let template =
            json!({ "all": "{lines}", "some": ["{count}", "x{count}"], "in": { "of": "{user}" }, "no": null });
        let filled = json!({ "all": [1, 2], "some": [4, "x4"], "in": { "of": "u 3/4" }, "no": null });
        assert_eq!(words.json(&template).unwrap(), filled);
        for unknown in ["{nobody}", "{fake.nothing}", "{fake.}"] {
            assert_eq!((words.text(unknown), words.json(&json!([unknown]))), (None, None));
        }
    }

    #[test]
    fn what_is_made_up_is_the_same_for_one_key_and_round() {
        for value in FakeValue::ALL {
            let template = json!(format!("{{fake.{}}}", value.word()));
            let made = |key: &str, round| words(key).in_round(round).json(&template).unwrap();
            assert_eq!(made("i1", 0), made("i1", 0));
            let others: Vec<_> = (0..8).map(|key| made(&format!("i{key}"), 0)).collect();
            assert!(others.iter().any(|other| *other != others[0]), "{template}");
            assert!((1..8).any(|round| made("i1", round) != made("i1", 0)), "{template}");
        }
        let number = words("i1").json(&json!("{fake.number}")).unwrap();
        assert!((1..=1_000).contains(&number.as_u64().unwrap()));
    }

    #[test]
    fn the_words_of_a_text_are_told() {
        let words = words("i1").with("order_id", "ord_1");
        assert_eq!(words.used("/o/{order_id}/x").collect::<Vec<_>>(), [("order_id", "ord_1".to_owned())]);
    }
}
