//! Proof keys that were seen before: the header segment is compared as text and nothing of it is parsed again.

use std::sync::Arc;

use super::claims::Header;
use super::error::ProofError;
use crate::identity::digest;
use crate::identity::keys::{Algorithm, KeyError, PublicKey};
use crate::identity::signatures::Signatures;

/// The `typ` of a proof.
pub(super) const TYPE: &str = "dpop+jwt";

/// The key of a proof whose header passed P2, with the header's encoding. A later proof with the same header segment,
/// character by character, has the same key and passes P2 as well. Cheap to clone.
#[derive(Clone, Debug)]
pub struct KnownKey(Arc<KnownInner>);

#[derive(Debug)]
struct KnownInner {
    header_segment: String,
    key: PublicKey,
}

impl KnownKey {
    /// Reads a header segment and makes check P2; the key takes signatures of that kind.
    ///
    /// # Errors
    /// [`ProofError`] of P1 when the segment is not base64url of a JSON object, of P2 for everything else.
    pub fn from_header_segment(segment: &str, signatures: Signatures) -> Result<Self, ProofError> {
        let bytes = digest::from_base64url(segment).ok_or(ProofError::NotCompact)?;
        if bytes.first() != Some(&b'{') {
            return Err(ProofError::Malformed); // serde would also fill the struct from an array
        }
        let header: Header = serde_json::from_slice(&bytes).map_err(|_| ProofError::Malformed)?;
        if header.typ.as_deref() != Some(TYPE) {
            return Err(ProofError::Type);
        }
        if header.alg.as_deref() != Some(Algorithm::Es256.as_str()) {
            return Err(ProofError::AlgorithmNotAllowed);
        }
        if header.crit.is_some() {
            return Err(ProofError::Critical);
        }
        let jwk = header.jwk.ok_or(ProofError::Key(KeyError::Shape))?;
        let key = PublicKey::from_jwk(&jwk, signatures).map_err(ProofError::Key)?;
        if key.algorithm() != Algorithm::Es256 {
            return Err(ProofError::AlgorithmNotAllowed);
        }
        Ok(Self(Arc::new(KnownInner { header_segment: segment.to_owned(), key })))
    }

    /// Whether a proof with this header segment is of this key.
    #[must_use]
    pub fn has_header(&self, segment: &str) -> bool {
        self.0.header_segment == segment
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &PublicKey {
        &self.0.key
    }

    /// The key's thumbprint.
    #[must_use]
    pub fn thumbprint(&self) -> &str {
        self.0.key.thumbprint()
    }
}
