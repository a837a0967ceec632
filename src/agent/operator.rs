//! The operators of Personal Agents: their names, keys, and the metadata that Companies fetch (digest 1.4).

use std::sync::Arc;

use axum::{Json, Router, routing::get};
use http::Uri;
use smol_str::{SmolStr, format_smolstr};

use crate::{
    identity::{AssertionMaker, KeyError, SigningKey},
    plan::{KnownOperator, SwarmPlan},
    protocol::{ClientMetadata, JwkSet, discovery::OPERATIONS_EXTENSION},
    world::World,
};

/// The `kid` of an operator's only key.
const KEY_ID: &str = "k1";

/// One operator, as its Agents know it.
#[derive(Debug)]
pub(super) struct Operator {
    /// Its name in the history and the first label of its host (`agent-1`).
    pub(super) name: SmolStr,
    /// Makes the assertions of its Agents.
    pub(super) assertions: AssertionMaker,
    /// The extensions that its client metadata lists.
    pub(super) extensions: Vec<SmolStr>,
}

impl Operator {
    pub(super) fn new(swarm: &SwarmPlan, number: u32, world: &World) -> Result<Self, KeyError> {
        let name = name(number);
        let key = key(&name, world)?;
        let listed = lists_extension(swarm, number);
        let extensions = listed.then(|| SmolStr::new_static(OPERATIONS_EXTENSION)).into_iter().collect();
        Ok(Self { assertions: AssertionMaker::new(key, KEY_ID, client_id(&name)), name, extensions })
    }

    /// An operator that a target knows already; its host is its name.
    pub(super) fn known(known: &KnownOperator) -> Result<Self, KeyError> {
        let key = SigningKey::from_pkcs8_pem(&known.key_pem)?;
        let host = known.client_id.parse::<Uri>().ok().and_then(|uri| uri.host().map(SmolStr::from));
        let listed = known.lists_operations;
        Ok(Self {
            name: host.unwrap_or_else(|| known.client_id.as_str().into()),
            assertions: AssertionMaker::new(key, &known.key_id, known.client_id.as_str()),
            extensions: listed.then(|| SmolStr::new_static(OPERATIONS_EXTENSION)).into_iter().collect(),
        })
    }

    /// Whether its client metadata lists the Operations extension.
    pub(super) fn lists_operations(&self) -> bool {
        !self.extensions.is_empty()
    }
}

/// The name of an operator: `agent-1`, `agent-2`, ….
#[must_use]
pub fn name(number: u32) -> SmolStr {
    format_smolstr!("agent-{number}")
}

/// The host that serves an operator's documents.
#[must_use]
pub fn host(number: u32) -> String {
    format!("{}.example", name(number))
}

/// Whether an operator, numbered from 1, lists the Operations extension.
fn lists_extension(swarm: &SwarmPlan, number: u32) -> bool {
    number <= swarm.operators.saturating_sub(swarm.operators_without_extension)
}

fn client_id(name: &str) -> String {
    format!("https://{name}.example/agent.json")
}

/// An operator's key, from the seed: the same for its documents and for its Agents.
fn key(name: &str, world: &World) -> Result<SigningKey, KeyError> {
    let scalar = |attempt| world.draw("operator-key", name, u64::from(attempt)).bytes();
    SigningKey::derive(world.signatures(), scalar)
}

/// Serves an operator's client metadata (`/agent.json`) and keys (`/jwks.json`).
#[expect(clippy::needless_pass_by_value, reason = "the signature of everything that makes a router")]
pub fn router(world: World, plan: Arc<SwarmPlan>, number: u32) -> Router {
    let name = name(number);
    let origin = format!("https://{name}.example");
    let mut metadata = ClientMetadata::new(client_id(&name), format!("Agent {number}"), format!("{origin}/jwks.json"));
    metadata.redirect_uris.push(format!("{origin}/cb"));
    if lists_extension(&plan, number) {
        metadata = metadata.with_operations(plan.operations_version.as_str());
    }
    let keys = match key(&name, &world) {
        Ok(key) => vec![key.public().jwk_with_kid(KEY_ID)],
        Err(error) => {
            tracing::error!("{name} has no key: {error}");
            Vec::new()
        }
    };
    let keys = JwkSet { keys };
    Router::new()
        .route("/agent.json", get(move || std::future::ready(Json(metadata))))
        .route("/jwks.json", get(move || std::future::ready(Json(keys))))
}
