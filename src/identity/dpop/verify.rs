//! A Company's checks of a proof, in the order P1 to P9 (digest 3.3; RFC 9449 section 4.3).

use super::claims::Claims;
use super::error::ProofError;
use super::known::KnownKey;
use super::target::same_target;
use crate::identity::jws::{CompactJws, JTI_BYTES_MAX};
use crate::identity::nonce::NoncePolicy;
use crate::identity::replay::{ReplayGuard, ReplayVerdict};
use crate::identity::signatures::Signatures;

/// The one `DPoP` header of a request (the head of P1). Takes the values of all headers of that name.
///
/// # Errors
/// [`ProofError::Missing`], [`ProofError::Several`], or [`ProofError::NotCompact`] for bytes that are not ASCII.
pub fn only_proof<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Result<&'a str, ProofError> {
    let mut values = values.into_iter();
    let value = values.next().ok_or(ProofError::Missing)?;
    if values.next().is_some() {
        return Err(ProofError::Several);
    }
    // Several headers may have been joined with commas on the way; a compact JWT holds no comma, so the parser sees it.
    match std::str::from_utf8(value) {
        Ok(text) if text.is_ascii() => Ok(text.trim_ascii()),
        Ok(_) | Err(_) => Err(ProofError::NotCompact),
    }
}

/// The token that a proof goes with.
#[derive(Clone, Copy, Debug)]
pub struct Bound<'a> {
    /// base64url of the token's SHA-256: [`crate::identity::digest::ath`].
    pub ath: &'a str,
    /// Thumbprint of the key that the token is bound to.
    pub thumbprint: &'a str,
}

/// What a proof has to be good for.
#[derive(Clone, Copy, Debug)]
pub struct ProofCheck<'a> {
    /// The request's method.
    pub method: &'a str,
    /// The request's URL with the origin as published. Query and fragment are ignored.
    pub url: &'a str,
    /// The instant, in Unix seconds.
    pub now: i64,
    /// How far `iat` may lie before or after `now`, in seconds.
    pub window_seconds: i64,
    /// The token that is presented; `None` at the token endpoint, where `ath` is refused.
    pub bound: Option<Bound<'a>>,
    /// Whether a nonce is required.
    pub nonce: NoncePolicy<'a>,
    /// The kind of signature that is due.
    pub signatures: Signatures,
    /// The key that the proof probably has, of that kind: a repeated header then costs no parsing.
    pub known: Option<&'a KnownKey>,
    /// Where accepted `jti` are remembered. A must at the token endpoint; `None` leaves P9 out, as RFC 9449 lets a
    /// resource do.
    pub replay: Option<&'a ReplayGuard>,
}

/// What a good proof said.
#[derive(Clone, Debug)]
pub struct VerifiedProof {
    /// Its key, worth keeping for the next proof.
    pub key: KnownKey,
    /// Its identifier.
    pub jti: String,
    /// When it was made, in Unix seconds.
    pub iat: i64,
}

impl ProofCheck<'_> {
    /// Makes all checks, the cheapest of equal rank first, and uses up the `jti` last of all: a proof that fails any
    /// check leaves the replay guard as it was.
    ///
    /// # Errors
    /// The first check that failed.
    pub fn verify(&self, proof: &str) -> Result<VerifiedProof, ProofError> {
        let jws = CompactJws::parse(proof).map_err(|_| ProofError::NotCompact)?;
        let key = match self.known {
            Some(known) if known.has_header(jws.header_segment()) => known.clone(),
            _ => KnownKey::from_header_segment(jws.header_segment(), self.signatures)?,
        };
        let payload = jws.payload_bytes().ok_or(ProofError::NotCompact)?;
        if payload.first() != Some(&b'{') {
            return Err(ProofError::Malformed); // serde would also fill the claims from an array
        }
        let claims: Claims<'_> = serde_json::from_slice(&payload).map_err(|_| ProofError::Malformed)?;
        if claims.jti.is_empty() || claims.jti.len() > JTI_BYTES_MAX {
            return Err(ProofError::Malformed);
        }
        jws.verify(key.key()).map_err(|_| ProofError::Signature)?;
        self.check_request(&claims)?;
        self.check_binding(&claims, &key)?;
        self.check_nonce(&claims)?;
        self.check_replay(&claims, &key)?;
        Ok(VerifiedProof { key, jti: claims.jti.into_owned(), iat: claims.iat })
    }

    /// P4 and P5.
    fn check_request(&self, claims: &Claims<'_>) -> Result<(), ProofError> {
        if claims.htm != self.method {
            return Err(ProofError::Method);
        }
        if !same_target(&claims.htu, self.url) {
            return Err(ProofError::Target);
        }
        if claims.iat < self.now.saturating_sub(self.window_seconds) {
            return Err(ProofError::TooOld);
        }
        if claims.iat > self.now.saturating_add(self.window_seconds) {
            return Err(ProofError::TooNew);
        }
        Ok(())
    }

    /// P6 and P7.
    fn check_binding(&self, claims: &Claims<'_>, key: &KnownKey) -> Result<(), ProofError> {
        match (self.bound, claims.ath.as_deref()) {
            (None, None) => Ok(()),
            (None, Some(_)) => Err(ProofError::AthUnexpected),
            (Some(_), None) => Err(ProofError::AthMissing),
            (Some(bound), Some(ath)) if bound.ath != ath => Err(ProofError::Ath),
            (Some(bound), Some(_)) if bound.thumbprint != key.thumbprint() => Err(ProofError::Thumbprint),
            (Some(_), Some(_)) => Ok(()),
        }
    }

    /// P8.
    fn check_nonce(&self, claims: &Claims<'_>) -> Result<(), ProofError> {
        match (self.nonce, claims.nonce.as_deref()) {
            (NoncePolicy::NotRequired, _) => Ok(()),
            (NoncePolicy::Required(_), None) => Err(ProofError::NonceMissing),
            (NoncePolicy::Required(issuer), Some(nonce)) if issuer.accepts(nonce, self.now) => Ok(()),
            (NoncePolicy::Required(_), Some(_)) => Err(ProofError::Nonce),
        }
    }

    /// P9.
    fn check_replay(&self, claims: &Claims<'_>, key: &KnownKey) -> Result<(), ProofError> {
        let Some(guard) = self.replay else { return Ok(()) };
        // From this second on P5 refuses the proof by itself.
        let until = claims.iat.saturating_add(self.window_seconds);
        match guard.accept(key.thumbprint(), &claims.jti, until, self.now) {
            ReplayVerdict::Fresh => Ok(()),
            ReplayVerdict::Replayed => Err(ProofError::Replayed),
            ReplayVerdict::Full => Err(ProofError::ReplayGuardFull),
        }
    }
}
