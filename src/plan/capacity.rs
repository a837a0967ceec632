//! How much a Company can do at once; without it, as much as it is asked for.

use std::{collections::BTreeMap, time::Duration};

use smol_str::SmolStr;

use super::Distribution;
use crate::history::record::Purpose;

/// How much a Company can do at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Capacity {
    /// Requests that are worked on at once.
    pub workers: u32,
    /// Requests that wait for a worker at once; one more is refused. `None`: no bound.
    pub queue: Option<u32>,
    /// `Retry-After` of a refusal; sent in whole seconds, rounded up.
    pub retry_after: Option<Duration>,
    /// The worker's own time for a request.
    pub service: Distribution,
    /// The same for kinds of requests that have a time of their own.
    pub service_of: BTreeMap<Purpose, Distribution>,
    /// Whether a request whose sender gave up leaves the queue, instead of holding its place and taking a worker.
    pub abandon: bool,
    /// The database that every request needs.
    pub database: Option<DatabaseShare>,
}

impl Capacity {
    /// The kinds of requests that take a worker; documents take none.
    pub const KINDS: [Purpose; 8] = [
        Purpose::Token,
        Purpose::Revoke,
        Purpose::SignIn,
        Purpose::Propose,
        Purpose::Change,
        Purpose::Read,
        Purpose::Confirm,
        Purpose::Cancel,
    ];

    /// The worker's own time for a request of that kind.
    #[must_use]
    pub fn service_of(&self, kind: Purpose) -> &Distribution {
        self.service_of.get(&kind).unwrap_or(&self.service)
    }
}

/// A Company's part in a database that it may share with others.
#[derive(Debug, Clone, PartialEq)]
pub struct DatabaseShare {
    /// The name by which Companies of several groups share it; `None`: it is the group's own.
    pub name: Option<SmolStr>,
    /// Connections of the database, of all Companies that share it together.
    pub connections: u32,
    /// How long a request holds a connection, the wait for a row not counted.
    pub time: Distribution,
    /// Which requests on one operation wait for each other.
    pub row_locks: RowLocks,
}

/// Which requests on one operation wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowLocks {
    /// Those that may change it: confirms, cancels, changes of terms.
    Writes,
    /// Reads as well.
    All,
    /// None do.
    None,
}

impl RowLocks {
    /// Whether a request of that kind waits for others on the same operation.
    #[must_use]
    pub fn take(self, kind: Purpose) -> bool {
        match self {
            Self::Writes => matches!(kind, Purpose::Confirm | Purpose::Cancel | Purpose::Change),
            Self::All => true,
            Self::None => false,
        }
    }
}
