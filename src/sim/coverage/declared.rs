//! The faults that a plan declares, those of its network included, under the IDs by which histories know them.

use smol_str::SmolStr;

use crate::plan::{CrashPoint, Fault, FaultKind, Network, Plan};

/// A fault that a plan declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// Its ID.
    pub id: SmolStr,
    /// What it does, in a word.
    pub kind: &'static str,
    /// The point of a crash.
    pub point: Option<CrashPoint>,
}

/// The faults that a plan declares and that have a chance to strike, in its order; then those of its network.
#[must_use]
pub fn declared(plan: &Plan) -> Vec<Declared> {
    let faults = plan.faults.iter().filter(|fault| has_a_chance(fault)).map(|fault| Declared {
        id: fault.id.clone(),
        kind: fault.kind.word(),
        point: match fault.kind {
            FaultKind::Crash { point, .. } => Some(point),
            _ => None,
        },
    });
    faults.chain(of_network(&plan.network)).collect()
}

fn has_a_chance(fault: &Fault) -> bool {
    fault.strikes.as_ref().map_or(fault.chance > 0.0, |strikes| !strikes.is_empty())
}

fn of_network(network: &Network) -> Vec<Declared> {
    let of = |id: SmolStr, kind: &'static str| Declared { id, kind, point: None };
    let mut declared = Vec::new();
    if network.loss > 0.0 {
        declared.push(of(Network::LOSS, "loss"));
    }
    if network.duplicate > 0.0 {
        declared.push(of(Network::DUPLICATE, "duplicate"));
    }
    declared.extend(network.partitions.iter().map(|partition| of(partition.id.clone(), Network::PARTITION)));
    declared
}
