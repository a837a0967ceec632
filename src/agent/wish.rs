//! What a User wants of a Company, and the requests that ask for it.

use std::sync::Arc;

use serde_json::json;
use smol_str::SmolStr;

use super::{
    answer::Ended,
    discovery::Site,
    errand::{Attempts, Errand, NotSent, Url},
    person::{Home, Person},
    process::Process,
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
    pub(super) order_id: String,
    pub(super) item_id: String,
    url: Url,
    attempts: Attempts,
}

impl Wish {
    /// A wish; `None` if the Company's description knows no such action.
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
        let url = Url::new(site.paths.propose(&kind)?.url(&[("order_id", &order_id), ("item_id", &item_id)])?)?;
        Some(Self { person, home, site, intent, kind, order_id, item_id, url, attempts: Attempts::default() })
    }

    /// What the User would rather have, with other terms.
    fn replacement(&self, round: u32) -> String {
        name(&self.person.shared.world, "sku_", &self.intent, u64::from(round))
    }

    /// Asks for the action, in the same words each time.
    pub(super) async fn propose(&self, process: &mut Process) -> Result<Ended, NotSent> {
        let resource = self.site.paths.propose(&self.kind).and_then(|endpoint| endpoint.resource.as_deref());
        let errand = Errand {
            purpose: Purpose::Propose,
            url: &self.url,
            resource,
            body: json!({ "item_id": self.item_id }).to_string().into(),
            key: &self.intent,
            attempts: &self.attempts,
            intent: Some(&self.intent),
            kind: Some(&self.kind),
            action: None,
            confirms: None,
            id: None,
            unless: None,
            kept_proof: None,
        };
        errand.run(&self.person, &self.home, &self.site, process).await
    }

    /// Asks for other terms of an open operation, at the change endpoint; `None` if there is none.
    pub(super) async fn change(
        &self,
        process: &mut Process,
        action: &SmolStr,
        id: &str,
        round: u32,
    ) -> Option<Result<Ended, NotSent>> {
        let endpoint = self.site.paths.change(&self.kind)?;
        let parameters = [("order_id", &*self.order_id), ("item_id", &*self.item_id), ("operation_id", id)];
        let url = Url::new(endpoint.url(&parameters)?)?;
        let errand = Errand {
            purpose: Purpose::Change,
            url: &url,
            resource: endpoint.resource.as_deref(),
            body: json!({ "item_id": self.item_id, "replacement_sku": self.replacement(round) }).to_string().into(),
            key: action,
            attempts: &self.attempts,
            intent: Some(&self.intent),
            kind: Some(&self.kind),
            action: Some(action),
            confirms: None,
            id: Some(id),
            unless: None,
            kept_proof: None,
        };
        Some(errand.run(&self.person, &self.home, &self.site, process).await)
    }
}

/// A made-up ID: a prefix and ten letters and digits.
fn name(world: &World, prefix: &str, intent: &str, attempt: u64) -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut bits = world.draw(prefix, intent, attempt).bits();
    let mut name = String::with_capacity(prefix.len() + 10);
    name.push_str(prefix);
    for _ in 0..10 {
        name.push(char::from(LETTERS[(bits & 31) as usize]));
        bits >>= 5;
    }
    name
}
