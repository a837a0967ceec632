//! The network, and whether each partition of it can cut anybody off.

use smol_str::format_smolstr;

use super::faults::{Scene, check_window, victims};
use crate::plan::{Direction, Network, Partition};
use crate::scenario::problem::Findings;
use crate::scenario::raw::{NetworkSettings, PartitionSettings};
use crate::scenario::value::At;

/// Fills in and checks `network`.
pub(super) fn resolve(settings: Option<&NetworkSettings>, scene: &Scene<'_>, findings: &mut Findings) -> Network {
    let Some(settings) = settings else { return Network::calm() };
    let share =
        |share: &Option<At<_>>| share.as_ref().map_or(0.0, |share: &At<crate::scenario::value::Share>| share.value.0);
    if let Some(loss) = settings.loss.as_ref().filter(|loss| loss.value.0 >= 1.0) {
        findings.report(loss.place, "a loss of 100% lets nothing through; expected less, or a partition");
    }
    let partitions = settings.partitions.iter().flatten();
    let partitions = partitions.zip(1..).map(|(entry, number)| partition(entry, number, scene, findings)).collect();
    Network {
        latency: settings.latency.clone().map_or(Network::calm().latency, |spread| spread.0),
        loss: share(&settings.loss),
        duplicate: share(&settings.duplicate),
        partitions,
    }
}

fn partition(entry: &At<PartitionSettings>, number: u32, scene: &Scene<'_>, findings: &mut Findings) -> Partition {
    let settings = &entry.value;
    check_window(&settings.during, scene, findings);
    victims(settings.at.as_ref(), "partition", scene, findings);
    Partition {
        id: format_smolstr!("network-partition-{number}"),
        at: settings.at.as_ref().map(|at| at.value.as_str().into()),
        direction: settings.direction.as_ref().map_or(Direction::Both, |direction| direction.0),
        during: settings.during.value.0,
    }
}
