//! The documents that the two sides find each other by: `poppy.json`, authorization server metadata and client
//! metadata (digest section 1). JWKS is in `jwk`.
//!
//! Each serves both ways: a Company or an Agent builds and serves it, the other side reads it. Unknown members are
//! ignored; a document is read through [`super::json::parse_document`], which refuses a member that stands twice.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Where `poppy.json` lies on a Company's domain.
pub const POPPY_JSON_PATH: &str = "/.well-known/poppy.json";
/// Where authorization server metadata lies on the issuer's host (RFC 8414); a path of the issuer follows it.
pub const AUTHORIZATION_SERVER_PATH: &str = "/.well-known/oauth-authorization-server";
/// The name of the Operations extension in `extensions`.
pub const OPERATIONS_EXTENSION: &str = "operations";

/// A Company's `poppy.json` (digest 1.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoppyDocument {
    /// The draft spoken, `major.minor`.
    pub protocol_version: String,
    /// Who speaks.
    pub organization: Organization,
    /// How Sessions are had; there when anything below needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    /// Descriptions of the Company's APIs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apis: Vec<ApiEntry>,
    /// Extensions by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extensions: BTreeMap<String, ExtensionEntry>,
}

impl PoppyDocument {
    /// The Company's entry for the Operations extension.
    #[must_use]
    pub fn operations(&self) -> Option<&ExtensionEntry> {
        self.extensions.get(OPERATIONS_EXTENSION)
    }
}

/// Who a `poppy.json` speaks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Organization {
    /// The Company's name, as Users know it.
    pub name: String,
    /// The host that serves the document (D2).
    pub domain: String,
}

/// How Sessions are had at a Company.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Auth {
    /// The authorization server's issuer, compared byte for byte (D3).
    pub issuer: String,
    /// Sign-in on another device, if it is offered (RFC 8628).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<SignInEntry>,
    /// Scopes and what they allow, for people.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub custom_scopes: BTreeMap<String, String>,
}

/// A way to sign in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInEntry {
    /// The scopes that can be granted by it.
    #[serde(default)]
    pub scopes: Vec<String>,
}

/// One API of a Company.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiEntry {
    /// `openapi` or `mcp`; entries of other types are skipped.
    #[serde(rename = "type")]
    pub type_: String,
    /// The description (OpenAPI) or endpoint (MCP).
    pub url: String,
    /// What it is, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The resource that tokens must be issued for (RFC 8707).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
}

/// An extension in `poppy.json` or in client metadata (Operations section 2): an Agent gives only `version`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtensionEntry {
    /// The extension's version.
    pub version: String,
    /// The endpoint, where a Company lists the extension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The resource that tokens must be issued for (RFC 8707).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
}

impl ExtensionEntry {
    /// An entry with only a version, as Agents list it.
    #[must_use]
    pub fn version(version: impl Into<String>) -> Self {
        Self { version: version.into(), endpoint: None, resource: None }
    }

    /// An entry with an endpoint, as Companies list it.
    #[must_use]
    pub fn at(version: impl Into<String>, endpoint: impl Into<String>) -> Self {
        Self { version: version.into(), endpoint: Some(endpoint.into()), resource: None }
    }
}

/// Metadata of an authorization server (RFC 8414; digest 1.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthorizationServerMetadata {
    /// The issuer (D3).
    pub issuer: String,
    /// Where tokens are asked for.
    pub token_endpoint: String,
    /// Where tokens are revoked (RFC 7009).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revocation_endpoint: Option<String>,
    /// Where a sign-in on another device begins (RFC 8628).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_authorization_endpoint: Option<String>,
    /// Grants served.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grant_types_supported: Vec<String>,
    /// How clients authenticate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub token_endpoint_auth_methods_supported: Vec<String>,
    /// Algorithms of DPoP proofs; with `ES256` in it if present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dpop_signing_alg_values_supported: Option<Vec<String>>,
    /// Every domain whose `poppy.json` names this issuer (D4).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub poppy_domains: Vec<String>,
}

impl AuthorizationServerMetadata {
    /// Metadata of an issuer that serves the JWT bearer grant over DPoP with ES256 for these domains.
    #[must_use]
    pub fn new(issuer: impl Into<String>, token_endpoint: impl Into<String>, poppy_domains: Vec<String>) -> Self {
        Self {
            issuer: issuer.into(),
            token_endpoint: token_endpoint.into(),
            revocation_endpoint: None,
            device_authorization_endpoint: None,
            grant_types_supported: vec![super::token::GRANT_JWT_BEARER.to_owned()],
            token_endpoint_auth_methods_supported: vec!["private_key_jwt".to_owned()],
            dpop_signing_alg_values_supported: Some(vec!["ES256".to_owned()]),
            poppy_domains,
        }
    }

    /// The same metadata of an issuer that also signs Users in, by the device grant and with Account Tokens.
    #[must_use]
    pub fn with_device_sign_in(mut self, endpoint: impl Into<String>) -> Self {
        self.device_authorization_endpoint = Some(endpoint.into());
        let grants = [super::token::GRANT_DEVICE_CODE, super::token::GRANT_REFRESH_TOKEN];
        self.grant_types_supported.extend(grants.map(str::to_owned));
        self
    }
}

/// A Personal Agent's client metadata document, at its `client_id` (digest 1.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientMetadata {
    /// The URL that serves this document.
    pub client_id: String,
    /// The Agent's name, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_name: Option<String>,
    /// Where its public keys are, on the same host.
    pub jwks_uri: String,
    /// Where sign-ins return to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redirect_uris: Vec<String>,
    /// `private_key_jwt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_endpoint_auth_method: Option<String>,
    /// Extensions by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extensions: BTreeMap<String, ExtensionEntry>,
}

impl ClientMetadata {
    /// Metadata of an Agent that authenticates with `private_key_jwt` and lists no extension.
    #[must_use]
    pub fn new(client_id: impl Into<String>, client_name: impl Into<String>, jwks_uri: impl Into<String>) -> Self {
        Self {
            client_id: client_id.into(),
            client_name: Some(client_name.into()),
            jwks_uri: jwks_uri.into(),
            redirect_uris: Vec::new(),
            token_endpoint_auth_method: Some("private_key_jwt".to_owned()),
            extensions: BTreeMap::new(),
        }
    }

    /// The same metadata with the Operations extension listed.
    #[must_use]
    pub fn with_operations(mut self, version: impl Into<String>) -> Self {
        self.extensions.insert(OPERATIONS_EXTENSION.to_owned(), ExtensionEntry::version(version));
        self
    }

    /// Whether the Agent lists the Operations extension in this version.
    #[must_use]
    pub fn lists_operations(&self, version: &str) -> bool {
        self.extensions.get(OPERATIONS_EXTENSION).is_some_and(|entry| entry.version == version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::json::parse_document;

    #[test]
    fn a_full_poppy_json_is_read_with_its_unknown_members() {
        let document: PoppyDocument = parse_document(
            br#"{"protocol_version":"0.2","organization":{"name":"Teashop Ltd","domain":"teashop.example"},
                 "auth":{"issuer":"https://id.teashop.example","direct":{"scopes":["shop:read"]},
                         "custom_scopes":{"shop:read":"See your orders"}},
                 "agent":{"protocols":[]},
                 "apis":[{"type":"openapi","url":"https://api.teashop.example/openapi.json"},
                         {"type":"carrier-pigeon","url":"coop","birds":2}],
                 "extensions":{"acme.example/gift":{"version":"3","wrap":true},
                               "operations":{"version":"1","endpoint":"https://api.teashop.example/poppy/operations",
                                             "resource":"https://api.teashop.example/poppy"}}}"#,
        )
        .unwrap();
        assert_eq!(document.auth.as_ref().unwrap().custom_scopes["shop:read"], "See your orders");
        assert_eq!(document.operations().unwrap().resource.as_deref(), Some("https://api.teashop.example/poppy"));
        assert_eq!(document.apis.len(), 2);
        let again: PoppyDocument = parse_document(&serde_json::to_vec(&document).unwrap()).unwrap();
        assert_eq!(again, document);
    }

    #[test]
    fn authorization_server_metadata_reads_back_and_lists_es256() {
        let metadata = AuthorizationServerMetadata::new(
            "https://id.teashop.example",
            "https://id.teashop.example/oauth/token",
            vec!["teashop.example".to_owned()],
        );
        let written = serde_json::to_value(&metadata).unwrap();
        assert_eq!(written["poppy_domains"], serde_json::json!(["teashop.example"]));
        assert_eq!(written["dpop_signing_alg_values_supported"], serde_json::json!(["ES256"]));
        assert_eq!(parse_document::<AuthorizationServerMetadata>(written.to_string().as_bytes()).unwrap(), metadata);
    }

    #[test]
    fn required_members_are_required() {
        assert!(parse_document::<PoppyDocument>(br#"{"protocol_version":"0.2"}"#).is_err());
        assert!(parse_document::<ClientMetadata>(br#"{"client_id":"https://a.example/a.json"}"#).is_err());
        assert!(parse_document::<AuthorizationServerMetadata>(br#"{"issuer":"https://a.example"}"#).is_err());
    }
}
