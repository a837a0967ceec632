//! The replay guard: remembers which `jti` were accepted, for as long as each could be accepted again, in bounded
//! memory (check P9, and the single use of assertions, digest 3.1).
//!
//! **When it is full** the guard refuses new identifiers instead of forgetting ones that are still good: a Company under
//! more load than it has memory for answers errors, but never takes one proof twice. Full means that
//! [`limits::REPLAY_ENTRIES_MAX`] identifiers (or the capacity given) are remembered and none of them has expired.
//!
//! Callers on several threads may read their clocks in one order and arrive in another. A shard therefore keeps the
//! latest instant up to which it has forgotten, and refuses what would have been forgotten by then: it cannot tell
//! whether it saw it.

use std::collections::BTreeMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use siphasher::sip128::{Hasher128, SipHasher13};

use crate::limits;

const SHARDS: usize = 16;

/// What the guard says of an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayVerdict {
    /// Not seen before; remembered from now on.
    Fresh,
    /// Accepted before, or so old that the guard has forgotten whether it was.
    Replayed,
    /// The guard is full of identifiers that are still good.
    Full,
}

/// Remembers accepted identifiers. Shared by reference between threads; each call locks one of 16 shards for well under
/// a microsecond.
#[derive(Debug)]
pub struct ReplayGuard {
    shards: [Mutex<Shard>; SHARDS],
    remembered: AtomicUsize,
    capacity: usize,
    key: [u8; 16],
}

/// Its keys are fingerprints already, so that its hasher is the same on every run.
#[expect(clippy::disallowed_types, reason = "its hasher is the same on every run")]
type Fingerprints = std::collections::HashMap<u128, (), BuildHasherDefault<Fingerprinted>>;

#[derive(Debug, Default)]
struct Shard {
    /// Fingerprints of what was accepted. Only asked for membership, never iterated.
    seen: Fingerprints,
    /// The same fingerprints by the second after which each is forgotten.
    expiring: BTreeMap<i64, Vec<u128>>,
    /// Everything that expired before this second has been forgotten.
    horizon: i64,
}

impl ReplayGuard {
    /// A guard of [`limits::REPLAY_ENTRIES_MAX`] identifiers. `key` keys the fingerprints, so that a peer cannot
    /// choose colliding identifiers; it comes from the seed.
    #[must_use]
    pub fn new(key: [u8; 16]) -> Self {
        Self::with_capacity(key, limits::REPLAY_ENTRIES_MAX)
    }

    /// A guard of another size. Memory is taken as identifiers come, not in advance.
    #[must_use]
    pub fn with_capacity(key: [u8; 16], capacity: usize) -> Self {
        Self { shards: Default::default(), remembered: AtomicUsize::new(0), capacity, key }
    }

    /// Accepts an identifier, once. `scope` is whose identifier it is (a key's thumbprint, a `client_id`); `until` is
    /// the last Unix second at which the caller would accept it again.
    ///
    /// Call it last, when everything else about the token is good: what it accepts, it has used up.
    #[must_use]
    pub fn accept(&self, scope: &str, jti: &str, until: i64, now: i64) -> ReplayVerdict {
        let fingerprint = self.fingerprint(scope, jti);
        match self.accept_in_shard(fingerprint, until, now) {
            ReplayVerdict::Full => {
                // Other shards may hold what has expired: forget it, and try once more.
                for shard in &self.shards {
                    self.forget(&mut lock(shard), now);
                }
                self.accept_in_shard(fingerprint, until, now)
            }
            verdict => verdict,
        }
    }

    /// How many identifiers are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.remembered.load(Ordering::Relaxed)
    }

    /// Whether nothing is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn accept_in_shard(&self, fingerprint: u128, until: i64, now: i64) -> ReplayVerdict {
        let index = (fingerprint >> 124) as usize % SHARDS; // the top four bits; the map uses the low ones
        let mut shard = lock(&self.shards[index]);
        self.forget(&mut shard, now);
        if until < shard.horizon || shard.seen.contains_key(&fingerprint) {
            return ReplayVerdict::Replayed;
        }
        let claimed = self.remembered.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |remembered| {
            (remembered < self.capacity).then_some(remembered + 1)
        });
        if claimed.is_err() {
            return ReplayVerdict::Full;
        }
        shard.seen.insert(fingerprint, ());
        shard.expiring.entry(until).or_default().push(fingerprint);
        ReplayVerdict::Fresh
    }

    /// Forgets what expired before `now`.
    fn forget(&self, shard: &mut Shard, now: i64) {
        if now <= shard.horizon {
            return;
        }
        shard.horizon = now;
        while let Some(bucket) = shard.expiring.first_entry() {
            if *bucket.key() >= now {
                break;
            }
            let fingerprints = bucket.remove();
            for fingerprint in &fingerprints {
                shard.seen.remove(fingerprint);
            }
            self.remembered.fetch_sub(fingerprints.len(), Ordering::Relaxed);
        }
    }

    fn fingerprint(&self, scope: &str, jti: &str) -> u128 {
        let mut hasher = SipHasher13::new_with_key(&self.key);
        hasher.write(&scope.len().to_le_bytes()); // so that no part of a scope can pass for the head of a jti
        hasher.write(scope.as_bytes());
        hasher.write(jti.as_bytes());
        hasher.finish128().as_u128()
    }
}

/// A thread that panics inside holds no half-done change that matters, so poison is passed over.
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hashes a fingerprint to its own low bits: it is a keyed hash already.
#[derive(Debug, Default)]
struct Fingerprinted(u64);

impl Hasher for Fingerprinted {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, fingerprint: u128) {
        self.0 = fingerprint as u64; // the low half is meant
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use proptest::prelude::*;

    use super::*;
    use ReplayVerdict::{Fresh, Full, Replayed};

    fn of(capacity: usize) -> ReplayGuard {
        ReplayGuard::with_capacity([9; 16], capacity)
    }

    #[test]
    fn accepts_once_per_scope_until_it_expires() {
        let guard = of(100);
        assert_eq!(guard.accept("a", "j", 160, 100), Fresh);
        assert_eq!(guard.accept("a", "j", 160, 100), Replayed);
        assert_eq!(guard.accept("a", "j", 220, 160), Replayed, "also with another expiry, at the last second");
        assert_eq!(guard.accept("b", "j", 220, 160), Fresh);
        assert_eq!(guard.accept("aj", "", 220, 160), Fresh, "scope and jti do not run into each other");
        assert_eq!(guard.accept("", "aj", 220, 160), Fresh);
        assert_eq!(guard.accept("a", "j", 221, 161), Fresh, "forgotten one second after its expiry");
        assert_eq!(guard.accept("a", "j", 160, 100), Replayed, "a clock that is behind brings nothing back");
    }

    #[test]
    fn a_full_guard_refuses_new_ones_and_forgets_none() {
        let guard = of(40);
        for number in 0..40 {
            assert_eq!(guard.accept("a", &number.to_string(), 160, 100), Fresh);
        }
        assert_eq!(guard.len(), 40);
        assert_eq!(guard.accept("a", "new", 160, 100), Full);
        assert_eq!(guard.accept("a", "new", 160, 160), Full);
        for number in 0..40 {
            assert_eq!(guard.accept("a", &number.to_string(), 160, 160), Replayed);
        }
        for number in 0..40 {
            assert_eq!(guard.accept("b", &number.to_string(), 300, 161), Fresh, "all the others have expired");
        }
        assert_eq!(guard.accept("b", "new", 300, 161), Full);
    }

    #[test]
    fn remembers_no_more_than_its_capacity_however_long_it_runs() {
        let guard = of(1_000);
        for now in 0..2_000_i64 {
            for number in 0..10 {
                assert_eq!(guard.accept("a", &format!("{now}/{number}"), now + 60, now), Fresh);
            }
            assert!(guard.len() <= 1_000);
        }
    }

    /// Many threads offer the same identifiers at once, with clocks that disagree: each is accepted at most once, and
    /// once where no clock had passed its expiry.
    #[test]
    fn at_most_once_under_concurrent_threads() {
        const IDENTIFIERS: u64 = 2_000;
        let guard = of(1_000_000);
        let accepted: Vec<AtomicU64> = (0..IDENTIFIERS).map(|_| AtomicU64::new(0)).collect();
        std::thread::scope(|scope| {
            for thread in 0..8_u64 {
                let (guard, accepted) = (&guard, &accepted);
                scope.spawn(move || {
                    for step in 0..IDENTIFIERS {
                        let number = (step * (2 * thread + 1)) % IDENTIFIERS; // 8 orders, all of them complete or cyclic
                        let now = 1_000 + (step % 7) as i64 - thread as i64;
                        if guard.accept("key", &number.to_string(), 1_060, now) == Fresh {
                            accepted[number as usize].fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        // Thread 0 offers each of them, so none is left out.
        assert!(accepted.iter().all(|count| count.load(Ordering::Relaxed) == 1));
    }

    proptest! {
        /// Whatever the order of offers and clocks: never accepted again before its expiry has passed on the latest of
        /// the clocks, and with the same expiry (a replayed token) never again at all.
        #[test]
        fn never_twice_within_its_window(
            offers in proptest::collection::vec((0_u8..6, 0_i64..40, 0_i64..20), 1..80),
            capacity in 1_usize..8,
        ) {
            let guard = of(capacity);
            let mut latest = 0;
            let mut accepted: BTreeMap<u8, Vec<i64>> = BTreeMap::new();
            for (number, now, window) in offers {
                latest = latest.max(now);
                let until = now + window;
                if guard.accept("key", &number.to_string(), until, now) == Fresh {
                    let before = accepted.entry(number).or_default();
                    prop_assert!(before.iter().all(|before| *before < latest && *before != until), "{number} twice");
                    before.push(until);
                }
                prop_assert!(guard.len() <= capacity);
            }
        }
    }
}
