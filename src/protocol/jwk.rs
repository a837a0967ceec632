//! The shape of a JSON Web Key and of a set of them (RFC 7517). What a key can do is `identity`'s subject.

use serde::{Deserialize, Deserializer, Serialize, de::IgnoredAny};

/// One key as JSON. All members are optional here; `identity` says which make a usable key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jwk {
    /// Key type: `EC` or `RSA`.
    pub kty: String,
    /// Curve, with `kty` `EC`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crv: Option<String>,
    /// X coordinate, base64url.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    /// Y coordinate, base64url.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
    /// RSA modulus, base64url.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<String>,
    /// RSA exponent, base64url.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e: Option<String>,
    /// Key ID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kid: Option<String>,
    /// Intended use: `sig` for keys that sign.
    #[serde(default, rename = "use", skip_serializing_if = "Option::is_none")]
    pub use_: Option<String>,
    /// Algorithm that the key is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alg: Option<String>,
    /// Whether `d` (a private or symmetric member, like the six below) stood in the JSON. Values are never kept.
    #[serde(default, skip_serializing, deserialize_with = "stands")]
    pub d: bool,
    /// Whether `k` stood in the JSON.
    #[serde(default, skip_serializing, deserialize_with = "stands")]
    pub k: bool,
    /// Whether `p` stood in the JSON.
    #[serde(default, skip_serializing, deserialize_with = "stands")]
    pub p: bool,
    /// Whether `q` stood in the JSON.
    #[serde(default, skip_serializing, deserialize_with = "stands")]
    pub q: bool,
    /// Whether `dp` stood in the JSON.
    #[serde(default, skip_serializing, deserialize_with = "stands")]
    pub dp: bool,
    /// Whether `dq` stood in the JSON.
    #[serde(default, skip_serializing, deserialize_with = "stands")]
    pub dq: bool,
    /// Whether `qi` stood in the JSON.
    #[serde(default, skip_serializing, deserialize_with = "stands")]
    pub qi: bool,
}

impl Jwk {
    /// Whether the JSON held a private or symmetric member: such a key is refused wherever a public key is due.
    #[must_use]
    pub fn has_private_members(&self) -> bool {
        self.d || self.k || self.p || self.q || self.dp || self.dq || self.qi
    }
}

/// What a `jwks_uri` serves (RFC 7517 section 5).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JwkSet {
    /// The keys, in order.
    pub keys: Vec<Jwk>,
}

impl JwkSet {
    /// The first key with this `kid`.
    #[must_use]
    pub fn find(&self, kid: &str) -> Option<&Jwk> {
        self.keys.iter().find(|key| key.kid.as_deref() == Some(kid))
    }
}

fn stands<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer)?;
    Ok(true)
}
