//! The documents that an Agent finds a Company by (Operations 2; digest 1.1, 1.2). They are made once and served as
//! they are.

use std::collections::BTreeMap;

use axum::{
    response::{IntoResponse, Response},
    routing::{MethodRouter, get},
};
use bytes::Bytes;
use http::{HeaderValue, header};
use serde::Serialize;

use super::{Addresses, OPENAPI_PATH};
use crate::{
    plan::CompanyPlan,
    protocol::{
        AuthorizationServerMetadata, PoppyDocument,
        discovery::{ApiEntry, Auth, ExtensionEntry, OPERATIONS_EXTENSION, Organization, SignInEntry},
    },
};

/// An endpoint that serves a document.
pub(super) fn serve<S: Clone + Send + Sync + 'static>(document: Bytes) -> MethodRouter<S> {
    get(move || {
        let document = document.clone();
        async move { whole(document) }
    })
}

fn whole(document: Bytes) -> Response {
    let json = HeaderValue::from_static("application/json");
    let minute = HeaderValue::from_static("public, max-age=60");
    ([(header::CONTENT_TYPE, json), (header::CACHE_CONTROL, minute)], document).into_response()
}

/// A document as the bytes that are served.
pub(super) fn written(document: &impl Serialize) -> Bytes {
    // Maps with string keys and plain values have no way to fail; an empty document would show at once.
    serde_json::to_vec(document).unwrap_or_default().into()
}

/// `poppy.json`.
pub(super) fn poppy(plan: &CompanyPlan, addresses: &Addresses) -> Bytes {
    let mut operations = ExtensionEntry::at(plan.operations_version.as_str(), addresses.operations_endpoint.as_str());
    operations.resource = plan.sessions.operations_resource.then(|| addresses.operations_endpoint.clone());
    written(&PoppyDocument {
        protocol_version: plan.sessions.mode.protocol_version().to_owned(),
        organization: Organization { name: plan.title.clone(), domain: plan.domain.to_string() },
        auth: Some(auth(plan, addresses)),
        apis: vec![ApiEntry {
            type_: "openapi".to_owned(),
            url: format!("{}{OPENAPI_PATH}", addresses.origin),
            description: Some("Orders".to_owned()),
            resource: None,
        }],
        extensions: BTreeMap::from([(OPERATIONS_EXTENSION.to_owned(), operations)]),
    })
}

/// How Sessions are had and signed in.
fn auth(plan: &CompanyPlan, addresses: &Addresses) -> Auth {
    let custom_scopes = scopes(plan);
    let device = plan.offers_sign_in().then(|| SignInEntry { scopes: custom_scopes.keys().cloned().collect() });
    Auth { issuer: addresses.origin.clone(), device, custom_scopes }
}

/// Each scope that some action needs, and what it allows.
fn scopes(plan: &CompanyPlan) -> BTreeMap<String, String> {
    let mut scopes: BTreeMap<String, String> = BTreeMap::new();
    for action in plan.actions.values() {
        if let Some(scope) = &action.scope {
            let text = scopes.entry(scope.to_string()).or_insert_with(|| "Actions on your orders:".to_owned());
            text.push(' ');
            text.push_str(&action.name.replace('-', " "));
        }
    }
    scopes
}

/// Authorization server metadata.
pub(super) fn authorization_server(plan: &CompanyPlan, addresses: &Addresses) -> Bytes {
    let domains = vec![plan.domain.to_string()];
    let mut metadata =
        AuthorizationServerMetadata::new(addresses.origin.as_str(), addresses.token_endpoint.as_str(), domains);
    metadata.revocation_endpoint = Some(format!("{}/oauth/revoke", addresses.origin));
    if plan.offers_sign_in() {
        metadata = metadata.with_device_sign_in(format!("{}/oauth/device", addresses.origin));
    }
    written(&metadata)
}
