//! What a User wants of a Company, and the requests that ask for it.

use std::sync::Arc;

use bytes::Bytes;
use http::Method;
use serde_json::json;
use smol_str::SmolStr;

use super::{
    answer::Ended,
    discovery::Site,
    errand::{Attempts, Errand, NotSent, Url},
    person::{Home, Person},
    process::Process,
    target::{self, Phrasing, Spoken},
    words,
};
use crate::{history::record::Purpose, world::World};

/// A User's wish at one Company: an action on one thing of hers. Every proposal of it asks for the same.
#[derive(Debug)]
pub(super) struct Wish {
    pub(super) person: Arc<Person>,
    pub(super) home: Arc<Home>,
    pub(super) site: Arc<Site>,
    /// One wish, one intent, however often it is proposed.
    pub(super) intent: SmolStr,
    /// The action's name.
    pub(super) kind: SmolStr,
    order_id: String,
    item_id: String,
    way: Way,
    attempts: Attempts,
}

/// Where the words of a wish come from.
#[derive(Debug)]
enum Way {
    /// The Company's OpenAPI description: where the action is proposed.
    Described(Url),
    /// A target file.
    Phrased(Phrasing),
}

impl Wish {
    /// A wish; `None` if the Company's description, or the target file, knows no such action.
    pub(super) fn new(
        person: Arc<Person>,
        home: Arc<Home>,
        site: Arc<Site>,
        intent: SmolStr,
        kind: SmolStr,
    ) -> Option<Self> {
        let world = &person.shared.world;
        let order_id = name(world, "ord_", &intent, 0);
        let item_id = name(world, "itm_", &intent, 0);
        let way = if person.shared.plan.target.is_some() {
            let (target, _) = target::action(&person, &kind)?;
            let sku = name(world, "sku_", &intent, 0);
            let made_up = [("order_id", order_id.as_str()), ("item_id", &item_id), ("sku", &sku)];
            Way::Phrased(Phrasing::new(&person, target, &intent, &made_up))
        } else {
            let parameters = [("order_id", order_id.as_str()), ("item_id", &item_id)];
            Way::Described(Url::new(site.paths.propose(&kind)?.url(&parameters)?)?)
        };
        Some(Self { person, home, site, intent, kind, order_id, item_id, way, attempts: Attempts::default() })
    }

    /// What the User would rather have, with other terms.
    fn replacement(&self, round: u32) -> String {
        name(&self.person.shared.world, "sku_", &self.intent, u64::from(round))
    }

    /// What it asks for, by name; terms that say otherwise are not what the User wants.
    pub(super) fn asked(&self) -> Vec<(SmolStr, String)> {
        match &self.way {
            Way::Described(_) => {
                vec![("order_id".into(), self.order_id.clone()), ("item_id".into(), self.item_id.clone())]
            }
            Way::Phrased(phrasing) => phrasing.asked(self),
        }
    }

    /// Asks for the action, in the same words each time.
    pub(super) async fn propose(&self, process: &mut Process) -> Result<Ended, NotSent> {
        match &self.way {
            Way::Described(url) => {
                let resource = self.site.paths.propose(&self.kind).and_then(|endpoint| endpoint.resource.as_deref());
                let body = json!({ "item_id": self.item_id }).to_string().into();
                let errand = self.errand(Purpose::Propose, Method::POST, url, resource, body);
                errand.run(&self.person, &self.home, &self.site, process).await
            }
            Way::Phrased(phrasing) => {
                let spoken = match phrasing.proposal(self, process).await? {
                    Ok(spoken) => spoken,
                    Err(ended) => return Ok(ended),
                };
                let resource = self.target_resource();
                self.ask_target(Purpose::Propose, &spoken, resource, None, process).await
            }
        }
    }

    fn target_resource(&self) -> Option<&str> {
        target::action(&self.person, &self.kind).and_then(|(_, action)| action.resource.as_deref())
    }

    /// A request in the words of the target file; `operation` is the action ID and the operation's own, where it is about one.
    pub(super) async fn ask_target(
        &self,
        purpose: Purpose,
        spoken: &Spoken,
        resource: Option<&str>,
        operation: Option<(&SmolStr, &str)>,
        process: &mut Process,
    ) -> Result<Ended, NotSent> {
        let errand = self.errand(purpose, spoken.method.clone(), &spoken.url, resource, spoken.body.clone());
        let errand = match operation {
            Some((action, id)) => Errand { key: action, action: Some(action), id: Some(id), ..errand },
            None => errand,
        };
        errand.run(&self.person, &self.home, &self.site, process).await
    }

    fn errand<'a>(
        &'a self,
        purpose: Purpose,
        method: Method,
        url: &'a Url,
        resource: Option<&'a str>,
        body: Bytes,
    ) -> Errand<'a> {
        Errand {
            purpose,
            method,
            url,
            resource,
            body,
            key: &self.intent,
            attempts: &self.attempts,
            intent: Some(&self.intent),
            kind: Some(&self.kind),
            action: None,
            confirms: None,
            id: None,
            known: None,
            unless: None,
            kept_proof: None,
        }
    }

    /// Asks for other terms of an open operation, at the change endpoint; `None` if there is none.
    pub(super) async fn change(
        &self,
        process: &mut Process,
        action: &SmolStr,
        id: &str,
        round: u32,
    ) -> Option<Result<Ended, NotSent>> {
        let body = json!({ "item_id": self.item_id, "replacement_sku": self.replacement(round) });
        if let Way::Phrased(phrasing) = &self.way {
            let spoken = phrasing.change(self, id, round, &self.replacement(round))?;
            let operation = Some((action, id));
            return Some(self.ask_target(Purpose::Change, &spoken, self.target_resource(), operation, process).await);
        }
        let endpoint = self.site.paths.change(&self.kind)?;
        let parameters = [("order_id", &*self.order_id), ("item_id", &*self.item_id), ("operation_id", id)];
        let url = Url::new(endpoint.url(&parameters)?)?;
        let body = body.to_string().into();
        let errand = self.errand(Purpose::Change, Method::POST, &url, endpoint.resource.as_deref(), body);
        let errand = Errand { key: action, action: Some(action), id: Some(id), ..errand };
        Some(errand.run(&self.person, &self.home, &self.site, process).await)
    }
}

/// A made-up ID: a prefix and a name.
fn name(world: &World, prefix: &str, intent: &str, attempt: u64) -> String {
    prefix.to_owned() + &words::name(world.draw(prefix, intent, attempt))
}
