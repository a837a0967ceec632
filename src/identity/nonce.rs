//! DPoP nonces without state: a time bucket and its keyed hash (RFC 9449 section 8; check P8).
//!
//! Any Company process with the same key knows the nonces of every other, also after a restart. A nonce is good in its
//! own bucket and in the next, so it lives for at least `every` seconds and less than twice that.

use aws_lc_rs::hmac;

use super::digest;

/// Bytes of the hash that go into a nonce.
const TAG_BYTES: usize = 16;

/// Issues and checks nonces.
#[derive(Clone, Debug)]
pub struct NonceIssuer {
    key: hmac::Key,
    every_seconds: i64,
}

/// Whether proofs need a nonce of the Company's.
#[derive(Clone, Copy, Debug, Default)]
pub enum NoncePolicy<'a> {
    /// No: a nonce in a proof is not looked at.
    #[default]
    NotRequired,
    /// Yes: one of this issuer's, still good.
    Required(&'a NonceIssuer),
}

impl NonceIssuer {
    /// An issuer with a key from the seed that changes its nonce every so many seconds (at least 1).
    #[must_use]
    pub fn new(key: &[u8; 32], every_seconds: i64) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, key), every_seconds: every_seconds.max(1) }
    }

    /// The nonce of this instant.
    #[must_use]
    pub fn issue(&self, now: i64) -> String {
        let bucket = self.bucket(now).to_be_bytes();
        let mut nonce = [0; 8 + TAG_BYTES];
        nonce[..8].copy_from_slice(&bucket);
        nonce[8..].copy_from_slice(&self.tag(&bucket));
        digest::base64url(nonce)
    }

    /// Whether this issuer made the nonce, in this bucket of time or the one before.
    #[must_use]
    pub fn accepts(&self, nonce: &str, now: i64) -> bool {
        let Some(bytes) = digest::from_base64url_exact::<{ 8 + TAG_BYTES }>(nonce) else { return false };
        let mut bucket = [0; 8];
        bucket.copy_from_slice(&bytes[..8]);
        let age = self.bucket(now).checked_sub(i64::from_be_bytes(bucket));
        let tag = self.tag(&bucket);
        matches!(age, Some(0 | 1)) && aws_lc_rs::constant_time::verify_slices_are_equal(&tag, &bytes[8..]).is_ok()
    }

    fn bucket(&self, now: i64) -> i64 {
        now.div_euclid(self.every_seconds)
    }

    fn tag(&self, bucket: &[u8; 8]) -> [u8; TAG_BYTES] {
        let mut tag = [0; TAG_BYTES];
        tag.copy_from_slice(&hmac::sign(&self.key, bucket).as_ref()[..TAG_BYTES]); // HMAC-SHA256 gives 32 bytes
        tag
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_in_its_bucket_and_the_next() {
        let issuer = NonceIssuer::new(&[7; 32], 300);
        let nonce = issuer.issue(1_200);
        assert_eq!(nonce, issuer.issue(1_499));
        assert_ne!(nonce, issuer.issue(1_500));
        for now in [1_200, 1_499, 1_500, 1_799] {
            assert!(issuer.accepts(&nonce, now), "{now}");
        }
        for now in [1_199, 1_800, i64::MIN, i64::MAX] {
            assert!(!issuer.accepts(&nonce, now), "{now}");
        }
    }

    #[test]
    fn refuses_what_it_did_not_make() {
        let issuer = NonceIssuer::new(&[7; 32], 300);
        let foreign = NonceIssuer::new(&[8; 32], 300).issue(1_200);
        let nonce = issuer.issue(1_200);
        assert!(NonceIssuer::new(&[7; 32], 300).accepts(&nonce, 1_200), "another process with the same key");
        for nonce in [foreign.as_str(), "", "x", &nonce[1..], &format!("{nonce}A"), &nonce.to_uppercase()] {
            assert!(!issuer.accepts(nonce, 1_200), "{nonce}");
        }
    }
}
