//! Every request carries a fresh proof: no `jti` twice.

use std::hash::Hasher;

use rustc_hash::FxHashMap;
use siphasher::sip128::{Hasher128, SipHasher13};
use smol_str::SmolStr;

use super::anomaly::Anomaly;
use super::case::{Point, note};
use super::tally::Tally;
use crate::history::record::Call;

/// The proofs that were sent, by a 128-bit hash of their `jti`: a million of them stay small, and two different ones
/// never meet in practice.
#[derive(Debug, Default)]
pub(crate) struct Proofs {
    first: FxHashMap<u128, Point>,
    reused: Vec<Reuse>,
}

#[derive(Debug)]
struct Reuse {
    first: Point,
    again: Point,
    process: SmolStr,
    proof: SmolStr,
}

impl Proofs {
    /// Notes the proof of a request. Copies that the network made are no requests, and no records of their own.
    pub(crate) fn sent(&mut self, point: Point, call: &Call, proof: &SmolStr) {
        let mut hasher = SipHasher13::new();
        hasher.write(proof.as_bytes());
        let first = *self.first.entry(hasher.finish128().as_u128()).or_insert(point);
        if first != point {
            self.reused.push(Reuse { first, again: point, process: call.process.clone(), proof: proof.clone() });
        }
    }

    pub(crate) fn judge(&self, tally: &mut Tally) {
        for _ in 0..self.first.len() {
            tally.judges(Anomaly::ProofReuse);
        }
        if self.first.is_empty() || !tally.judges(Anomaly::ProofReuse) {
            return;
        }
        for reuse in &self.reused {
            let sentence = format!("{} sent the proof {} a second time.", reuse.process, reuse.proof);
            let evidence = vec![
                note(reuse.first, format!("proof {} sent", reuse.proof)),
                note(reuse.again, format!("proof {} sent again by {}", reuse.proof, reuse.process)),
            ];
            tally.found(Anomaly::ProofReuse, None, reuse.again, sentence, evidence);
        }
    }
}
