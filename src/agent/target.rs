//! How the actions of a Company that is not simulated are asked for: in the words of its target file.

use std::sync::Mutex;

use bytes::Bytes;
use http::Method;
use serde_json::Value;
use smol_str::SmolStr;

use super::{
    answer::{Content, Ended},
    errand::{NotSent, Url},
    person::{Person, lock},
    process::Process,
    wish::Wish,
    words::Words,
};
use crate::{
    history::record::Purpose,
    plan::{RequestShape, Target, TargetAction},
};

/// A User's wish in the words of a target file.
#[derive(Debug)]
pub(super) struct Phrasing {
    said: Mutex<Said>,
}

/// How far the requests before a proposal have come.
#[derive(Debug, Clone)]
struct Said {
    /// How many of them were answered.
    before: usize,
    /// What placeholders stand for by now.
    words: Words,
}

/// A place of an answer that was to give a value, and gave none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Absent {
    /// The request, as the target file has it: `GET /api/orders`.
    pub request: String,
    /// The place (JSON Pointer).
    pub place: String,
}

impl Absent {
    fn new(request: &RequestShape, place: &str) -> Self {
        Self { request: format!("{} {}", request.method, request.url), place: place.to_owned() }
    }
}

/// A request with every placeholder filled.
#[derive(Debug)]
pub(super) struct Spoken {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) body: Bytes,
}

/// The target of a run and how it is asked for an action; `None` without a target, or if it has no such action.
pub(super) fn action<'a>(person: &'a Person, kind: &str) -> Option<(&'a Target, &'a TargetAction)> {
    let target = person.shared.plan.target.as_ref()?;
    Some((target, target.actions.get(kind)?))
}

impl Phrasing {
    /// The wish that `intent` names.
    pub(super) fn new(person: &Person, target: &Target, intent: &str, made_up: &[(&str, &str)]) -> Self {
        let (staff, user) = (&person.shared.staff, person.user());
        let mut words = staff.words(intent).with("intent", intent).with("user", user.as_str());
        if let Some(account) = staff.account(target, &user) {
            words = words.with("account", account);
        }
        for (name, value) in made_up {
            words = words.with(name, *value);
        }
        Self { said: Mutex::new(Said { before: 0, words }) }
    }

    /// The proposal, after the requests that give it values; how one of these ended, if it gave none.
    pub(super) async fn proposal(&self, wish: &Wish, process: &mut Process) -> Result<Result<Spoken, Ended>, NotSent> {
        let Some((target, action)) = action(&wish.person, &wish.kind) else {
            return Ok(Err(Ended::refused("no-such-action")));
        };
        let resource = action.resource.as_deref();
        loop {
            let Said { before, mut words } = lock(&self.said).clone();
            let Some(preparation) = action.before.get(before) else {
                return Ok(Spoken::of(&action.propose, target, &words).ok_or_else(|| Ended::refused("no-value")));
            };
            let Some(spoken) = Spoken::of(&preparation.request, target, &words) else {
                return Ok(Err(Ended::refused("no-value")));
            };
            let ended = wish.ask_target(Purpose::Prepare, &spoken, resource, None, process).await?;
            let Content::Document(body) = &ended.content else { return Ok(Err(ended)) };
            let answer: Value = serde_json::from_slice(body).unwrap_or_default();
            for (name, place) in &preparation.take {
                let Some(value) = answer.pointer(place) else {
                    wish.person.shared.note_absent(Absent::new(&preparation.request, place));
                    return Ok(Err(Ended::refused("no-value")));
                };
                words = words.with(name, value.clone());
            }
            *lock(&self.said) = Said { before: before + 1, words };
        }
    }

    /// The request for other terms of an operation; `None` if the target takes none. Each round asks for others.
    pub(super) fn change(&self, wish: &Wish, id: &str, round: u32, sku: &str) -> Option<Spoken> {
        let (target, action) = action(&wish.person, &wish.kind)?;
        let words = lock(&self.said).words.clone().with("operation_id", id).with("sku", sku).in_round(round.into());
        Spoken::of(action.change.as_ref()?, target, &words)
    }

    /// What the proposal asks for, by name: what its URL was filled with, and the texts of its body.
    pub(super) fn asked(&self, wish: &Wish) -> Vec<(SmolStr, String)> {
        let Some((_, action)) = action(&wish.person, &wish.kind) else { return Vec::new() };
        let words = lock(&self.said).words.clone();
        let mut asked: Vec<_> =
            words.used(&action.propose.url).map(|(name, value)| (SmolStr::from(name), value)).collect();
        if let Some(body) = action.propose.body.as_ref().and_then(|body| words.json(body)) {
            add_texts(&body, &mut asked);
        }
        asked
    }
}

/// The members of a body that are texts, at any depth.
fn add_texts(value: &Value, texts: &mut Vec<(SmolStr, String)>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) => texts.push((name.into(), text.clone())),
                    other => add_texts(other, texts),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| add_texts(item, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

impl Spoken {
    /// `None` if a placeholder stands for nothing, or what comes of it is no request.
    fn of(shape: &RequestShape, target: &Target, words: &Words) -> Option<Self> {
        let origin = if shape.url.starts_with('/') { format!("https://{}", target.domain) } else { String::new() };
        let body = match &shape.body {
            Some(body) => words.json(body)?.to_string().into(),
            None => Bytes::new(),
        };
        Some(Self {
            method: Method::from_bytes(shape.method.as_bytes()).ok()?,
            url: Url::new(origin + &words.url(&shape.url)?)?,
            body,
        })
    }
}
