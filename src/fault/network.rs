//! The network of a plan, asked about every message between Personal Agents, their operators and Companies.

use std::time::Duration;

use smol_str::{SmolStr, format_smolstr};

use super::{
    Disturbance,
    schedule::Faults,
    strike::{SecondCopy, Struck},
};
use crate::{
    plan::{Message, Network},
    world::{About, Draw, Moment},
};

/// How long a second copy that the network made lies behind the first at the most, in milliseconds.
const SECOND_COPY_MILLISECONDS_MAX: f64 = 20.0;

/// How long the messages of one request are under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Transit {
    /// The request.
    pub there: Duration,
    /// The answer.
    pub back: Duration,
    /// The second copy of the request, if there is one.
    pub second_there: Duration,
    /// The answer to it.
    pub second_back: Duration,
}

impl Faults {
    /// The same faults on a network.
    #[must_use]
    pub fn with_network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Whether messages on the network take time or can come to harm. Where they cannot, nothing needs to be asked.
    #[must_use]
    pub fn has_network(&self) -> bool {
        !self.network.is_calm()
    }

    /// What the network does to a request: how long its messages take, and in `disturbance` what becomes of them. What
    /// a fault does to it already, the network does not do again.
    #[must_use]
    pub fn on_link(&self, now: Moment, about: &About, disturbance: &mut Disturbance) -> Transit {
        let key = format_smolstr!("{:?}/{}", about.purpose, about.key);
        let draw = |aspect: &str| Draw::new(self.seed, aspect, &key, about.attempt);
        let network = &self.network;
        if self.elapsed(now).is_some() {
            let lost =
                |aspect| draw(aspect).chance(network.loss).then_some(Struck { fault: Network::LOSS, effect: () });
            disturbance.lose_request = disturbance.lose_request.take().or_else(|| lost("network/loss/request"));
            disturbance.lose_answer = disturbance.lose_answer.take().or_else(|| lost("network/loss/answer"));
            if disturbance.duplicate.is_none() && draw("network/duplicate").chance(network.duplicate) {
                let how = draw("network/duplicate/how");
                let after = Duration::from_secs_f64(how.unit() * SECOND_COPY_MILLISECONDS_MAX / 1_000.0);
                let effect = SecondCopy { after, second_answers: how.bits() & 1 == 1 };
                disturbance.duplicate = Some(Struck { fault: Network::DUPLICATE, effect });
            }
        }
        let time = |aspect: &str| network.latency.sample(draw(aspect));
        let (there, back) = (time("network/latency/request"), time("network/latency/answer"));
        if disturbance.duplicate.is_none() {
            return Transit { there, back, ..Transit::default() };
        }
        let second_there = time("network/latency/request/second");
        Transit { there, back, second_there, second_back: time("network/latency/answer/second") }
    }

    /// The partition that stops a message to or from `company` which sets out now, if one does.
    #[must_use]
    pub fn partition(&self, now: Moment, company: &str, message: Message) -> Option<&SmolStr> {
        let partitions = &self.network.partitions;
        let elapsed = if partitions.is_empty() { None } else { self.elapsed(now) }?;
        let stops = partitions.iter().find(|partition| {
            (partition.during.from..partition.during.to).contains(&elapsed)
                && partition.direction.stops(message)
                && self.is_named(partition.at.as_ref(), company)
        });
        stops.map(|partition| &partition.id)
    }
}
