//! The network between Companies and the Personal Agents with their operators: how long a message takes, and what
//! becomes of it. A Company and its backend have no network between them: a backend's `latency` and its faults are theirs.

use smol_str::SmolStr;

use super::{Distribution, Window, defect::catalogue};

/// The network of a scenario. Its chances and partitions hold as long as there is load; its latency always.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// How long a message takes one way, drawn for each message; a random one lets messages overtake each other.
    pub latency: Distribution,
    /// The chance that a message is lost, 0 to 1; drawn for a request and for its answer apart.
    pub loss: f64,
    /// The chance that a request is delivered twice, 0 to 1.
    pub duplicate: f64,
    /// When nothing gets through.
    pub partitions: Vec<Partition>,
}

/// A stretch of time in which Companies cannot be reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Partition {
    /// Its ID: `network-partition-1`, … in the scenario's order.
    pub id: SmolStr,
    /// The Companies that are cut off, by the scenario's name or by their own; `None` is all.
    pub at: Option<SmolStr>,
    /// Which messages do not get through.
    pub direction: Direction,
    /// When, counted from the start of load.
    pub during: Window,
}

catalogue! {
    /// Which messages a partition keeps from getting through.
    Direction {
        /// Requests and answers.
        Both => "both",
        /// Requests: nobody acts.
        Requests => "requests",
        /// Answers: the work is done, and nobody hears of it.
        Answers => "answers",
    }
}

/// One of the two messages of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// The request.
    Request,
    /// Its answer.
    Answer,
}

impl Direction {
    /// Whether such a message is stopped.
    #[must_use]
    pub fn stops(self, message: Message) -> bool {
        matches!(
            (self, message),
            (Self::Both, _) | (Self::Requests, Message::Request) | (Self::Answers, Message::Answer)
        )
    }
}

impl Network {
    /// How all IDs begin under which the network's doings stand in the history.
    pub const IDS: &'static str = "network-";

    /// The ID under which messages that it loses stand in the history.
    pub const LOSS: SmolStr = SmolStr::new_static("network-loss");

    /// The ID under which requests that it delivers twice stand in the history.
    pub const DUPLICATE: SmolStr = SmolStr::new_static("network-duplicate");

    /// What the history calls a message that a partition stopped.
    pub const PARTITION: &'static str = "partition";

    /// A network without any trouble: messages take no time, and each arrives once.
    #[must_use]
    pub fn calm() -> Self {
        Self { latency: Distribution::ZERO, loss: 0.0, duplicate: 0.0, partitions: Vec::new() }
    }

    /// Whether it does nothing at all.
    #[must_use]
    pub fn is_calm(&self) -> bool {
        *self == Self::calm()
    }

    /// Whether it can do what the history calls by this word.
    #[must_use]
    pub fn can(&self, kind: &str) -> bool {
        match kind {
            "lose-request" | "lose-answer" => self.loss > 0.0,
            "duplicate" => self.duplicate > 0.0,
            Self::PARTITION => !self.partitions.is_empty(),
            _ => false,
        }
    }
}

impl Default for Network {
    fn default() -> Self {
        Self::calm()
    }
}
