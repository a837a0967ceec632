//! What a Company file says about how much the Company can do at once.

use super::company::YesNo;
use super::{section, words};
use crate::scenario::value::{At, Named, ServiceSpread, Time};

section! {
    /// How much a Company can do at once.
    CapacitySection {
        /// Requests that are worked on at once. Default: 8.
        workers: At<u32>,
        /// Requests that wait for a worker at once; one more is refused with 503. Left out, there is no bound.
        queue: At<u32>,
        /// `Retry-After` of a refusal, sent in whole seconds, rounded up. Left out, there is none.
        retry_after: Time,
        /// The worker's own time for a request. Default: 5ms.
        service: At<ServiceSpread>,
        /// The same for some kinds of requests, by their names.
        service_of: Named<At<ServiceSpread>>,
        /// Whether a request whose sender gave up leaves the queue. Default: no; it takes a worker like any other.
        abandon: YesNo,
        /// A database that every request needs. Left out, there is none.
        database: DatabaseSection,
    }
}

section! {
    /// A database with a limited number of connections.
    DatabaseSection {
        /// A name, by which Companies of other groups share it. Left out, it is shared by those of the group.
        name: At<String>,
        /// Its connections, for all that share it together. Default: 10.
        connections: At<u32>,
        /// How long a request holds a connection. Default: 2ms.
        time: At<ServiceSpread>,
        /// Which requests on one operation wait for each other. Default: writes.
        row_locks: RowLocksWord,
    }
}

words! {
    /// Which requests on one operation wait for each other.
    RowLocksWord {
        /// Those that may change it: confirms, cancels and changes.
        Writes,
        /// Reads as well.
        All,
        /// None do.
        None,
    }
}
