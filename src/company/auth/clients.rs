//! Operators of Agents: their client metadata and keys, fetched once, kept on the disk, and fetched again when a key is
//! unknown or the metadata has grown old (digest 1.4). Requests that need the same fetch wait for one.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use smol_str::SmolStr;

use super::fetch::{FetchError, deadline, document, https};
use crate::{
    identity::PublicKey,
    limits,
    protocol::{ClientMetadata, JwkSet},
    world::{Moment, Table, World},
};

/// An operator, as its documents say.
#[derive(Debug)]
pub(in crate::company) struct Client {
    /// Whether its metadata lists the Operations extension in the Company's version.
    pub(in crate::company) lists_operations: bool,
    jwks_uri: String,
    keys: Vec<(SmolStr, PublicKey)>,
    metadata_at: Moment,
    keys_at: Moment,
}

impl Client {
    /// The key of that `kid`; without one, the only key there is.
    pub(super) fn key(&self, kid: Option<&str>) -> Option<PublicKey> {
        let found = match kid {
            Some(kid) => self.keys.iter().find(|(known, _)| known == kid),
            None if self.keys.len() == 1 => self.keys.first(),
            None => None,
        };
        found.map(|(_, key)| key.clone())
    }
}

/// The operators that a Company knows.
#[derive(Debug)]
pub(in crate::company) struct Clients {
    table: Table<Client>,
    operations_version: SmolStr,
    slots: Mutex<BTreeMap<SmolStr, Arc<Slot>>>,
}

/// Keeps the fetches of one operator apart.
#[derive(Debug, Default)]
struct Slot {
    fetching: tokio::sync::Mutex<()>,
    fetches: AtomicU64,
}

impl Clients {
    /// Those that this table holds.
    pub(in crate::company) fn new(table: Table<Client>, operations_version: SmolStr) -> Self {
        Self { table, operations_version, slots: Mutex::default() }
    }

    /// Whether an operator that was seen before lists the extension.
    pub(in crate::company) fn lists_operations(&self, client_id: &str) -> bool {
        self.table.get(client_id).is_some_and(|client| client.lists_operations)
    }

    /// The operator of that `client_id`, fetched if need be.
    pub(super) async fn get(&self, world: &World, client_id: &str) -> Result<Arc<Client>, FetchError> {
        let fresh = |client: &Arc<Client>| {
            world.now().since(client.metadata_at) < Duration::from_secs(limits::CLIENT_METADATA_SECONDS_MAX)
        };
        if let Some(client) = self.table.get(client_id).filter(fresh) {
            return Ok(client);
        }
        if client_id.len() > limits::CLIENT_ID_BYTES_MAX {
            return Err(FetchError::Url);
        }
        let slot = self.slot(client_id);
        let _alone = slot.fetching.lock().await;
        let known = self.table.get(client_id);
        if let Some(client) = known.clone().filter(fresh) {
            return Ok(client); // another request fetched it meanwhile
        }
        match (self.fetch(world, client_id, attempt(world, &slot)).await, known) {
            (Ok(client), _) => Ok(self.keep(client_id, client)),
            (Err(error), Some(client)) => {
                tracing::debug!("metadata of {client_id} stays as it was: {error}");
                Ok(client)
            }
            (Err(error), None) => Err(error),
        }
    }

    /// The operator after its keys were fetched again because one was unknown in `stale`; at most once in a while.
    pub(super) async fn refresh_keys(&self, world: &World, client_id: &str, stale: &Client) -> Option<Arc<Client>> {
        let slot = self.slot(client_id);
        let _alone = slot.fetching.lock().await;
        let current = self.table.get(client_id)?;
        if current.keys_at != stale.keys_at {
            return Some(current); // another request fetched them meanwhile
        }
        if world.now().since(current.keys_at) < Duration::from_secs(limits::KEYS_REFETCH_SECONDS_MIN) {
            return None;
        }
        let keys = fetch_keys(world, &current.jwks_uri, attempt(world, &slot), deadline(world)).await;
        let keys = keys.inspect_err(|error| tracing::debug!("keys of {client_id}: {error}")).ok()?;
        let client = Client {
            lists_operations: current.lists_operations,
            jwks_uri: current.jwks_uri.clone(),
            keys,
            metadata_at: current.metadata_at,
            keys_at: world.now(),
        };
        Some(self.keep(client_id, client))
    }

    fn slot(&self, client_id: &str) -> Arc<Slot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner); // every change is one insertion
        if slots.len() >= limits::CLIENT_FETCHES_MAX {
            slots.retain(|_, slot| Arc::strong_count(slot) > 1);
        }
        Arc::clone(slots.entry(client_id.into()).or_default())
    }

    fn keep(&self, client_id: &str, client: Client) -> Arc<Client> {
        let client = Arc::new(client);
        self.table.transact(client_id, |row| *row = Some(Arc::clone(&client)));
        client
    }

    async fn fetch(&self, world: &World, client_id: &str, attempt: u64) -> Result<Client, FetchError> {
        let deadline = deadline(world);
        let host = https(client_id)?;
        let metadata: ClientMetadata = document(world, client_id, attempt, deadline).await?;
        if metadata.client_id != client_id {
            return Err(FetchError::Rule("client_id is another one than the URL"));
        }
        for url in std::iter::once(&metadata.jwks_uri).chain(&metadata.redirect_uris) {
            if https(url)?.authority() != host.authority() {
                return Err(FetchError::Rule("jwks_uri and redirect_uris have to be on the client_id's host"));
            }
        }
        let keys = fetch_keys(world, &metadata.jwks_uri, attempt, deadline).await?;
        Ok(Client {
            lists_operations: metadata.lists_operations(&self.operations_version),
            jwks_uri: metadata.jwks_uri,
            keys,
            metadata_at: world.now(),
            keys_at: world.now(),
        })
    }
}

/// The number of a fetch that begins now; another one in every incarnation.
fn attempt(world: &World, slot: &Slot) -> u64 {
    (u64::from(world.incarnation()) << 32) + slot.fetches.fetch_add(1, Ordering::Relaxed)
}

/// The usable keys of a JWKS. One private key among them spoils the whole set; one of an unknown type is passed over.
async fn fetch_keys(
    world: &World,
    url: &str,
    attempt: u64,
    deadline: Moment,
) -> Result<Vec<(SmolStr, PublicKey)>, FetchError> {
    let set: JwkSet = document(world, url, attempt, deadline).await?;
    if set.keys.iter().any(crate::protocol::Jwk::has_private_members) {
        return Err(FetchError::Rule("the key set holds a private key"));
    }
    let usable = |jwk: &crate::protocol::Jwk| {
        Some((SmolStr::from(jwk.kid.as_deref()?), PublicKey::from_jwk(jwk, world.signatures()).ok()?))
    };
    Ok(set.keys.iter().filter_map(usable).collect())
}
