//! Keyed randomness: every choice is a hash of the seed, its purpose, a logical key and an attempt.
//!
//! There is no shared stream, so taking one operation or one fault out of a run leaves every other choice as it was.

use std::hash::Hasher as _;

use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use siphasher::sip::SipHasher13;

/// One random choice; the same arguments always give the same one, on any machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw(u64);

impl Draw {
    /// The choice for `purpose` that `key` and `attempt` name under `seed`.
    #[must_use]
    pub fn new(seed: u64, purpose: &str, key: &str, attempt: u64) -> Self {
        Self::of_parts(seed, [purpose], [key], attempt)
    }

    /// The same choice where purpose and key come in parts, so that nobody has to put those together first.
    #[must_use]
    pub fn of_parts<const P: usize, const K: usize>(
        seed: u64,
        purpose: [&str; P],
        key: [&str; K],
        attempt: u64,
    ) -> Self {
        let mut hasher = SipHasher13::new_with_keys(seed, attempt);
        purpose.iter().for_each(|part| hasher.write(part.as_bytes()));
        hasher.write_u8(0xff); // no UTF-8 text holds this byte, so purpose and key cannot run into each other
        key.iter().for_each(|part| hasher.write(part.as_bytes()));
        Self(hasher.finish())
    }

    /// The choice as 64 even bits.
    #[must_use]
    pub fn bits(self) -> u64 {
        self.0
    }

    /// A number from 0 up to, not including, 1.
    #[must_use]
    pub fn unit(self) -> f64 {
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Whether something of that probability happens.
    #[must_use]
    pub fn chance(self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A number from 0 up to, not including, `bound`; 0 if `bound` is 0.
    #[must_use]
    pub fn below(self, bound: u64) -> u64 {
        // The high half of the product: even but for a bias of bound / 2^64.
        ((u128::from(self.0) * u128::from(bound)) >> 64) as u64
    }

    /// A generator of further numbers for this one choice.
    #[must_use]
    pub fn rng(self) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(self.0)
    }

    /// Bytes for this one choice: key material, unguessable IDs.
    #[must_use]
    pub fn bytes<const N: usize>(self) -> [u8; N] {
        let mut bytes = [0; N];
        self.rng().fill(&mut bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_the_name_of_a_choice_matters() {
        let choices = [
            Draw::new(1, "latency", "op_1", 0),
            Draw::new(2, "latency", "op_1", 0),
            Draw::new(1, "revise", "op_1", 0),
            Draw::new(1, "latency", "op_2", 0),
            Draw::new(1, "latency", "op_1", 1),
            Draw::new(1, "latencyo", "p_1", 0),
        ];
        for (index, one) in choices.iter().enumerate() {
            assert!(choices.iter().skip(index + 1).all(|other| other != one));
        }
    }

    /// Another value here means that recorded seeds no longer replay.
    #[test]
    fn a_choice_is_the_same_on_every_machine() {
        assert_eq!(Draw::new(7, "latency", "op_17", 3).bits(), PINNED_BITS);
        assert_eq!(Draw::new(7, "latency", "op_17", 3).bytes::<4>(), PINNED_BYTES);
        assert_eq!(Draw::of_parts(7, ["lat", "", "ency"], ["op", "_17"], 3).bits(), PINNED_BITS);
    }

    const PINNED_BITS: u64 = 16_284_378_829_953_871_017;
    const PINNED_BYTES: [u8; 4] = [178, 66, 49, 28];

    #[test]
    fn numbers_below_a_bound_cover_it_evenly() {
        let mut counts = [0u32; 7];
        for attempt in 0..70_000 {
            counts[Draw::new(3, "below", "k", attempt).below(7) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
    }
}
