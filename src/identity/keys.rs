//! Key pairs that sign and public keys that verify, each parsed once.
//!
//! A signing key comes from a 32-byte scalar, so that every key of a run comes from the seed; only that of an operator which
//! a target knows already comes from a file. ES256 signs; ES256 and RS256 verify (digest 3.1 wants both for assertions).
//! In the simulated world keys may be of the fast kind instead, see [`Signatures`].

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, ParsedPublicKey,
    RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
};
use rustls::pki_types::{PrivatePkcs8KeyDer, pem::PemObject as _};

use super::digest;
use super::jwk;
use super::signatures::{self, Signatures};
use crate::protocol::Jwk;

/// An ES256 signature: `r` and `s`, 32 bytes each (RFC 7518 section 3.4).
pub type Signature = [u8; 64];

/// A signature algorithm of JOSE that we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
}

impl Algorithm {
    /// The word in `alg`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Rs256 => "RS256",
        }
    }
}

/// Why a key cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The 32 bytes are no private scalar of P-256 (zero, or not below the group's order).
    #[error("not a private scalar of P-256")]
    Scalar,
    /// The file holds no PEM block `PRIVATE KEY`, or one that is no P-256 key in PKCS#8.
    #[error("not a P-256 private key in PKCS#8 and PEM")]
    Pem,
    /// The JWK's type, curve or members are not those of a P-256 or RSA key.
    #[error("not a P-256 or RSA public key")]
    Shape,
    /// The JWK holds private members where a public key is due.
    #[error("key holds private members")]
    Private,
    /// The coordinates name no point on the curve, or the modulus is out of bounds.
    #[error("key is not valid")]
    Invalid,
    /// The cryptographic library refused to sign (it ran out of memory).
    #[error("signing failed")]
    Signing,
}

/// A P-256 key pair. Cheap to clone. `Debug` shows the thumbprint only.
#[derive(Clone)]
pub struct SigningKey(Arc<SigningInner>);

struct SigningInner {
    /// What signs; `None` for a fast key, whose public half is all it takes.
    pair: Option<EcdsaKeyPair>,
    public: PublicKey,
}

impl SigningKey {
    /// The key pair of a private scalar, big-endian.
    ///
    /// # Errors
    /// [`KeyError::Scalar`] for zero and for anything not below the order of the group; see [`SigningKey::derive`].
    pub fn from_scalar(scalar: &[u8; 32]) -> Result<Self, KeyError> {
        // RFC 5915 ECPrivateKey without the public key, which the library then works out.
        const HEAD: [u8; 7] = [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20];
        const TAIL: [u8; 12] = [0xa0, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
        let mut der = [0; 51];
        der[..7].copy_from_slice(&HEAD);
        der[7..39].copy_from_slice(scalar);
        der[39..].copy_from_slice(&TAIL);
        let pair =
            EcdsaKeyPair::from_private_key_der(&ECDSA_P256_SHA256_FIXED_SIGNING, &der).map_err(|_| KeyError::Scalar)?;
        Self::from_pair(pair)
    }

    /// The key pair of the first private key in a PEM file: PKCS#8 (RFC 5958), P-256.
    ///
    /// # Errors
    /// [`KeyError::Pem`] for anything else.
    pub fn from_pkcs8_pem(pem: &str) -> Result<Self, KeyError> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| KeyError::Pem)?;
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der.secret_pkcs8_der())
            .map_err(|_| KeyError::Pem)?;
        Self::from_pair(pair)
    }

    fn from_pair(pair: EcdsaKeyPair) -> Result<Self, KeyError> {
        let public = PublicKey::from_point(pair.public_key().as_ref())?;
        Ok(Self(Arc::new(SigningInner { pair: Some(pair), public })))
    }

    /// The key pair of that kind of the first good scalar that `scalar(attempt)` draws, attempts counted from 0. A 256-bit
    /// hash is bad with a chance of 2⁻³², so the second attempt is already a rarity; for a fast key none is bad.
    ///
    /// # Errors
    /// [`KeyError::Scalar`] when eight draws in a row are bad: the draw is broken.
    pub fn derive(signatures: Signatures, mut scalar: impl FnMut(u32) -> [u8; 32]) -> Result<Self, KeyError> {
        match signatures {
            Signatures::Real => {
                (0..8).find_map(|attempt| Self::from_scalar(&scalar(attempt)).ok()).ok_or(KeyError::Scalar)
            }
            Signatures::Fast => {
                let public = PublicKey::fast(&signatures::fast_point(&scalar(0)));
                Ok(Self(Arc::new(SigningInner { pair: None, public })))
            }
        }
    }

    /// Signs with ES256. Two signatures of one message differ, since ECDSA takes a fresh nonce; those of a fast key do not.
    ///
    /// # Errors
    /// [`KeyError::Signing`] when the library cannot sign.
    pub fn sign(&self, message: &[u8]) -> Result<Signature, KeyError> {
        let Some(pair) = &self.0.pair else {
            return Ok(signatures::fast_signature(self.0.public.thumbprint(), message));
        };
        // The library ignores this argument, which stands for compatibility with *ring*.
        let signature = pair.sign(&SystemRandom::new(), message).map_err(|_| KeyError::Signing)?;
        signature.as_ref().try_into().map_err(|_| KeyError::Signing)
    }

    /// The public half.
    #[must_use]
    pub fn public(&self) -> &PublicKey {
        &self.0.public
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SigningKey").field(&self.0.public.thumbprint()).finish()
    }
}

/// A public key, parsed once. Cheap to clone.
#[derive(Clone)]
pub struct PublicKey(Arc<PublicInner>);

struct PublicInner {
    algorithm: Algorithm,
    /// What verifies; `None` for a fast key, whose thumbprint is all it takes.
    parsed: Option<ParsedPublicKey>,
    jwk: Jwk,
    thumbprint: String,
}

impl PublicKey {
    /// The key of a JWK, which takes signatures of that kind.
    ///
    /// # Errors
    /// [`KeyError`] for private members, an unknown type or curve, members missing or malformed, a point off the curve,
    /// or an RSA modulus outside 2048-8192 bits. A fast key may be off the curve, and is no RSA key.
    pub fn from_jwk(key: &Jwk, signatures: Signatures) -> Result<Self, KeyError> {
        if key.has_private_members() {
            return Err(KeyError::Private);
        }
        match key.kty.as_str() {
            "EC" => {
                if key.crv.as_deref() != Some("P-256") {
                    return Err(KeyError::Shape);
                }
                let mut point = [4; 65]; // 4: an uncompressed point
                let coordinate = |text: &Option<String>| digest::from_base64url_exact::<32>(text.as_deref()?);
                point[1..33].copy_from_slice(&coordinate(&key.x).ok_or(KeyError::Shape)?);
                point[33..].copy_from_slice(&coordinate(&key.y).ok_or(KeyError::Shape)?);
                match signatures {
                    Signatures::Real => Self::from_point(&point),
                    Signatures::Fast => Ok(Self::fast(&point)),
                }
            }
            "RSA" if signatures == Signatures::Real => {
                let number = |text: &Option<String>| digest::from_base64url(text.as_deref()?);
                let (n, e) = number(&key.n).zip(number(&key.e)).ok_or(KeyError::Shape)?;
                Self::from_rsa(&n, &e)
            }
            _ => Err(KeyError::Shape),
        }
    }

    /// The ES256 key of an uncompressed point: `04`, x, y.
    fn from_point(point: &[u8]) -> Result<Self, KeyError> {
        let parsed = ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).map_err(|_| KeyError::Invalid)?;
        let point = point.try_into().map_err(|_| KeyError::Shape)?;
        Ok(Self::new(Algorithm::Es256, Some(parsed), jwk_of(point)))
    }

    /// The fast key of what need not be a point.
    fn fast(point: &[u8; 65]) -> Self {
        Self::new(Algorithm::Es256, None, jwk_of(point))
    }

    fn from_rsa(n: &[u8], e: &[u8]) -> Result<Self, KeyError> {
        if !(256..=1024).contains(&n.len()) {
            return Err(KeyError::Invalid);
        }
        let parsed = RsaPublicKeyComponents { n, e }
            .to_parsed_public_key(&RSA_PKCS1_2048_8192_SHA256)
            .map_err(|_| KeyError::Invalid)?;
        Ok(Self::new(Algorithm::Rs256, Some(parsed), jwk::rsa(&digest::base64url(n), &digest::base64url(e))))
    }

    fn new(algorithm: Algorithm, parsed: Option<ParsedPublicKey>, jwk: Jwk) -> Self {
        let thumbprint = jwk::thumbprint(&jwk).unwrap_or_default(); // both constructors give every member it needs
        Self(Arc::new(PublicInner { algorithm, parsed, jwk, thumbprint }))
    }

    /// Whether the signature is this key's over the message.
    #[must_use]
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        match &self.0.parsed {
            Some(parsed) => parsed.verify_sig(message, signature).is_ok(),
            None => signatures::fast_signature(&self.0.thumbprint, message) == signature,
        }
    }

    /// The algorithm that this key is for.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.0.algorithm
    }

    /// The key as a JWK with no more members than its type needs.
    #[must_use]
    pub fn jwk(&self) -> &Jwk {
        &self.0.jwk
    }

    /// The key as a JWKS entry: with `kid`, `use` and `alg`.
    #[must_use]
    pub fn jwk_with_kid(&self, kid: &str) -> Jwk {
        Jwk {
            kid: Some(kid.to_owned()),
            use_: Some("sig".to_owned()),
            alg: Some(self.algorithm().as_str().to_owned()),
            ..self.0.jwk.clone()
        }
    }

    /// The RFC 7638 thumbprint, base64url.
    #[must_use]
    pub fn thumbprint(&self) -> &str {
        &self.0.thumbprint
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PublicKey").field(&self.algorithm()).field(&self.thumbprint()).finish()
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.parsed.is_some() == other.0.parsed.is_some() && self.0.jwk == other.0.jwk
    }
}

impl Eq for PublicKey {}

/// The JWK of an uncompressed point.
fn jwk_of(point: &[u8; 65]) -> Jwk {
    jwk::p256(&digest::base64url(&point[1..33]), &digest::base64url(&point[33..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of P-256 (FIPS 186-4, D.1.2.3).
    const ORDER: [u8; 32] = [
        0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad,
        0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
    ];

    #[test]
    fn scalars_lie_between_zero_and_the_order() {
        let (mut one, mut last) = ([0; 32], ORDER);
        one[31] = 1;
        last[31] -= 1;
        assert!(SigningKey::from_scalar(&one).is_ok());
        assert!(SigningKey::from_scalar(&last).is_ok());
        for scalar in [[0; 32], ORDER, [0xff; 32]] {
            assert_eq!(SigningKey::from_scalar(&scalar).unwrap_err(), KeyError::Scalar);
        }
    }

    #[test]
    fn a_key_file_gives_its_key_and_nothing_else_does() {
        let pem = |label: &str, der: &[u8]| {
            let text = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, der);
            format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
        };
        let key = SigningKey::from_scalar(&[7; 32]).unwrap();
        let der = key.0.pair.as_ref().unwrap().to_pkcs8v1().unwrap();
        let read = SigningKey::from_pkcs8_pem(&pem("PRIVATE KEY", der.as_ref())).unwrap();
        assert_eq!(read.public(), key.public());
        let other = EcdsaKeyPair::generate(&aws_lc_rs::signature::ECDSA_P384_SHA384_FIXED_SIGNING).unwrap();
        let other = pem("PRIVATE KEY", other.to_pkcs8v1().unwrap().as_ref());
        for wrong in [String::new(), pem("EC PRIVATE KEY", der.as_ref()), pem("PRIVATE KEY", b"x"), other] {
            assert_eq!(SigningKey::from_pkcs8_pem(&wrong).unwrap_err(), KeyError::Pem);
        }
    }

    #[test]
    fn deriving_passes_over_bad_scalars_and_gives_up_on_a_broken_draw() {
        let scalar = |attempt| if attempt < 2 { ORDER } else { [attempt as u8; 32] };
        let derived = SigningKey::derive(Signatures::Real, scalar).unwrap();
        assert_eq!(derived.public(), SigningKey::from_scalar(&[2; 32]).unwrap().public());
        assert_eq!(SigningKey::derive(Signatures::Real, |_| [0; 32]).unwrap_err(), KeyError::Scalar);
    }

    #[test]
    fn the_same_scalar_is_the_same_key_and_signs_for_it() {
        let (one, same) = (SigningKey::from_scalar(&[7; 32]).unwrap(), SigningKey::from_scalar(&[7; 32]).unwrap());
        let other = SigningKey::from_scalar(&[8; 32]).unwrap();
        let signature = one.sign(b"message").unwrap();
        assert!(same.public().verifies(b"message", &signature));
        assert!(!same.public().verifies(b"massage", &signature));
        assert!(!other.public().verifies(b"message", &signature));
        assert_ne!(one.public(), other.public());
    }

    #[test]
    fn a_public_key_reads_back_from_its_jwk() {
        let key = SigningKey::from_scalar(&[7; 32]).unwrap();
        let listed = key.public().jwk_with_kid("k1");
        assert_eq!(
            (listed.kid.as_deref(), listed.use_.as_deref(), listed.alg.as_deref()),
            (Some("k1"), Some("sig"), Some("ES256"))
        );
        let read: Jwk = serde_json::from_str(&serde_json::to_string(&listed).unwrap()).unwrap();
        assert_eq!(&PublicKey::from_jwk(&read, Signatures::Real).unwrap(), key.public());
    }

    #[test]
    fn debug_shows_no_private_part() {
        let key = SigningKey::from_scalar(&[7; 32]).unwrap();
        assert_eq!(format!("{key:?}"), format!("SigningKey(\"{}\")", key.public().thumbprint()));
    }
}
