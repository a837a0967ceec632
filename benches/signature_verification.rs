//! What verifying a DPoP proof costs, layer by layer: the bare ES256 verification, the JWS around it, the full check
//! with the replay guard; beside them signing and making a proof.
//!
//! The bar: the full check with a known key costs at most 1.25 times the bare verification. Both are measured over the
//! same proofs, so the hash under the signature is over the same bytes. The last lines say the ratio: Criterion measures
//! one after the other, so on a machine with other work its two figures may not be compared; the ratio is taken from
//! short batches of both in turn, and from the fast quarter of them, which other work did not disturb.

#![expect(clippy::disallowed_methods, reason = "a bench measures from outside the world")]
#![allow(missing_docs)] // criterion's macros write functions without docs
#![allow(clippy::print_stdout)] // the ratio is for whoever runs the bench

use std::hint::black_box;
use std::time::{Duration, Instant};

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ParsedPublicKey};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use poppyfield::identity::dpop::without_query;
use poppyfield::identity::jws::CompactJws;
use poppyfield::identity::{
    Bound, KnownKey, NonceIssuer, NoncePolicy, ProofCheck, ProofMaker, ReplayGuard, Signatures, SigningKey, digest,
};

const URL: &str = "https://api.teashop.example/poppy/operations/op_000017/confirm";
const NOW: i64 = 1_796_040_000;
/// Proofs made in advance. Each pass over them gets a new guard, so that every `jti` is fresh when it is checked.
const POOL: usize = 2_000;

struct Fixture {
    maker: ProofMaker,
    ath: String,
    proofs: Vec<String>,
    known: KnownKey,
}

fn fixture() -> Fixture {
    let key = SigningKey::from_scalar(&[7; 32]).expect("a small number is a scalar");
    let maker = ProofMaker::new(key);
    let ath = digest::ath("sat_u3n2Vj8qWbYpZk5xLr0tGdHsAeMcTfQi");
    let proofs = (0..POOL)
        .map(|number| maker.make("POST", URL, NOW, &jti(number), Some(&ath), None).expect("signing works"))
        .collect();
    let known =
        KnownKey::from_header_segment(maker.header().as_str(), Signatures::Real).expect("our own header is good");
    Fixture { maker, ath, proofs, known }
}

/// An identifier as Agents make them: 128 bits in base64url.
fn jti(number: usize) -> String {
    digest::base64url(&digest::sha256(&number.to_le_bytes())[..16])
}

impl Fixture {
    fn check<'a>(&'a self, replay: &'a ReplayGuard) -> ProofCheck<'a> {
        ProofCheck {
            method: "POST",
            url: URL,
            now: NOW,
            window_seconds: 60,
            bound: Some(Bound { ath: &self.ath, thumbprint: self.known.thumbprint() }),
            nonce: NoncePolicy::NotRequired,
            signatures: Signatures::Real,
            known: Some(&self.known),
            replay: Some(replay),
        }
    }
}

/// Hands out the pool's proofs one by one, with a new guard whenever it begins again.
struct Pool<'a> {
    proofs: &'a [String],
    next: usize,
    guard: ReplayGuard,
}

impl<'a> Pool<'a> {
    fn new(proofs: &'a [String]) -> Self {
        Self { proofs, next: 0, guard: ReplayGuard::new([1; 16]) }
    }

    fn advance(&mut self) -> &'a str {
        if self.next == self.proofs.len() {
            self.next = 0;
            self.guard = ReplayGuard::new([1; 16]);
        }
        self.next += 1;
        &self.proofs[self.next - 1]
    }
}

/// The bare key and, for each proof, what is signed and its signature.
fn bare_parts(fixture: &Fixture) -> (ParsedPublicKey, Vec<(&str, Vec<u8>)>) {
    let jwk = fixture.maker.key().public().jwk();
    let half = |text: &Option<String>| digest::from_base64url(text.as_deref().unwrap_or_default()).expect("base64url");
    let point = [vec![4], half(&jwk.x), half(&jwk.y)].concat();
    let key = ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).expect("our own key is good");
    let parts = |proof: &'_ String| -> Option<(usize, Vec<u8>)> {
        let (input, signature) = proof.rsplit_once('.')?;
        Some((input.len(), digest::from_base64url(signature)?))
    };
    let pairs = fixture.proofs.iter().filter_map(|proof| parts(proof).map(|(end, bytes)| (&proof[..end], bytes)));
    (key, pairs.collect())
}

fn verifying(criterion: &mut Criterion) {
    let fixture = fixture();
    let mut group = criterion.benchmark_group("verify");

    let (bare, pairs) = bare_parts(&fixture);
    let mut pair = pairs.iter().cycle();
    group.bench_function("bare_es256", |bencher| {
        bencher.iter(|| {
            let (input, signature) = pair.next().expect("endless");
            bare.verify_sig(black_box(input.as_bytes()), signature).expect("good");
        });
    });

    let mut proofs = fixture.proofs.iter().cycle();
    group.bench_function("jws", |bencher| {
        bencher.iter(|| {
            let jws = CompactJws::parse(black_box(proofs.next().expect("endless"))).expect("compact");
            jws.verify(fixture.known.key()).expect("good");
        });
    });

    let mut pool = Pool::new(&fixture.proofs);
    group.bench_function("dpop_known_key", |bencher| {
        bencher.iter(|| {
            let proof = pool.advance();
            fixture.check(&pool.guard).verify(black_box(proof)).expect("good")
        });
    });

    let mut pool = Pool::new(&fixture.proofs);
    group.bench_function("dpop_unknown_key", |bencher| {
        bencher.iter(|| {
            let proof = pool.advance();
            ProofCheck { known: None, ..fixture.check(&pool.guard) }.verify(black_box(proof)).expect("good")
        });
    });

    let nonces = NonceIssuer::new(&[2; 32], 300);
    let nonce = nonces.issue(NOW);
    let with_nonces: Vec<String> = (0..POOL)
        .map(|number| {
            let made = fixture.maker.make("POST", URL, NOW, &jti(number), Some(&fixture.ath), Some(&nonce));
            made.expect("signing works")
        })
        .collect();
    let mut pool = Pool::new(&with_nonces);
    group.bench_function("dpop_known_key_and_nonce", |bencher| {
        bencher.iter(|| {
            let proof = pool.advance();
            let check = ProofCheck { nonce: NoncePolicy::Required(&nonces), ..fixture.check(&pool.guard) };
            check.verify(black_box(proof)).expect("good")
        });
    });
    group.finish();
}

fn signing(criterion: &mut Criterion) {
    let fixture = fixture();
    let mut group = criterion.benchmark_group("sign");
    let message = fixture.proofs[0].rsplit_once('.').expect("compact").0.as_bytes();
    group.bench_function("bare_es256", |bencher| {
        bencher.iter(|| fixture.maker.key().sign(black_box(message)).expect("signing works"));
    });
    let identifiers: Vec<String> = (0..POOL).map(jti).collect();
    let mut identifier = identifiers.iter().cycle();
    group.bench_function("dpop_proof", |bencher| {
        bencher.iter(|| {
            let jti = identifier.next().expect("endless");
            fixture.maker.make("POST", black_box(without_query(URL)), NOW, jti, Some(&fixture.ath), None)
        });
    });
    group.bench_function("key_from_scalar", |bencher| {
        let mut number = 0_u64;
        bencher.iter_batched(
            || {
                number += 1;
                digest::sha256(&number.to_le_bytes())
            },
            |scalar| SigningKey::from_scalar(black_box(&scalar)),
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

fn replay_guard(criterion: &mut Criterion) {
    let guard = ReplayGuard::new([1; 16]);
    let identifiers: Vec<String> = (0..POOL).map(jti).collect();
    let mut number = 0_usize;
    criterion.bench_function("replay_guard/accept", |bencher| {
        bencher.iter(|| {
            number += 1;
            // 10,000 a second, remembered for 60 s; the scope makes the pool's identifiers fresh in every pass.
            let (now, scope) = (NOW + (number / 10_000) as i64, number / POOL);
            let mut text = [b'0'; 20];
            for (digit, place) in text.iter_mut().zip(0..20) {
                *digit = b'a' + (scope >> (3 * place) & 7) as u8;
            }
            let scope = std::str::from_utf8(&text).expect("letters");
            guard.accept(black_box(scope), &identifiers[number % POOL], now + 60, now)
        });
    });
}

/// Batches of bare verifications and of full checks in turn; prints the ratio of their times.
fn ratio(_: &mut Criterion) {
    const BATCHES: usize = 400;
    const BATCH: usize = 20;
    let fixture = fixture();
    let (bare, pairs) = bare_parts(&fixture);
    let (mut pair, mut known, mut unknown) =
        (pairs.iter().cycle(), Pool::new(&fixture.proofs), Pool::new(&fixture.proofs));
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..BATCHES {
        times[0].push(timed(BATCH, || {
            let (input, signature) = pair.next().expect("endless");
            bare.verify_sig(black_box(input.as_bytes()), signature).expect("good");
        }));
        times[1].push(timed(BATCH, || {
            let proof = known.advance();
            black_box(fixture.check(&known.guard).verify(black_box(proof)).expect("good"));
        }));
        times[2].push(timed(BATCH, || {
            let proof = unknown.advance();
            let check = ProofCheck { known: None, ..fixture.check(&unknown.guard) };
            black_box(check.verify(black_box(proof)).expect("good"));
        }));
    }
    let [bare, known, unknown] = times.map(|mut batches| {
        batches.sort_unstable();
        batches[BATCHES / 4].as_secs_f64() * 1e6 / BATCH as f64
    });
    println!(
        "verify/ratio: bare ES256 {bare:.1} µs, full check with a known key {known:.1} µs, ratio {:.3}",
        known / bare
    );
    println!("verify/ratio: full check with an unknown key {unknown:.1} µs, ratio {:.3}", unknown / bare);
}

fn timed(times: usize, mut work: impl FnMut()) -> Duration {
    let begun = Instant::now();
    for _ in 0..times {
        work();
    }
    begun.elapsed()
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
    targets = verifying, signing, replay_guard, ratio
}
criterion_main!(benches);
