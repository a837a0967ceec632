//! Where a party stands: in this process, with or without a socket of its own, or somewhere else.

use std::{
    fmt,
    net::SocketAddr,
    sync::{Arc, PoisonError, RwLock},
};

use axum::Router;

use super::{Party, World, incarnation::Incarnation, remote::RemoteSite};

/// Makes the router of a new incarnation.
pub(super) type Make = Box<dyn Fn(World) -> Router + Send + Sync>;

/// A party that answers requests: its names, and how an incarnation of it is made.
pub struct Host {
    /// The party.
    pub party: Party,
    /// The hosts that it answers for (`clothes-1.example`).
    pub names: Vec<String>,
    /// Whether requests to it always go straight into its router; for parties without a network of their own.
    pub direct: bool,
    /// The port to listen at; 0 takes any.
    pub port: u16,
    /// Makes the router of a new incarnation.
    pub make: Box<dyn Fn(World) -> Router + Send + Sync>,
}

impl fmt::Debug for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Host").field("party", &self.party).field("names", &self.names).finish_non_exhaustive()
    }
}

/// Where one party stands: its router while it is up.
pub(super) struct Station {
    pub(super) party: Party,
    pub(super) at: At,
    make: Option<Make>,
    up: RwLock<Up>,
}

/// How requests get to a party.
pub(super) enum At {
    /// Straight into its router.
    Router,
    /// As bytes through a pipe in memory.
    Pipe,
    /// Through its socket.
    Socket(SocketAddr),
    /// To somebody else's servers.
    Remote(Box<RemoteSite>),
}

#[derive(Default)]
struct Up {
    incarnations: u32,
    current: Option<(Router, Arc<Incarnation>)>,
}

impl Station {
    /// A party of this process, down as yet.
    pub(super) fn new(party: Party, at: At, make: Make) -> Self {
        Self { party, at, make: Some(make), up: RwLock::default() }
    }

    /// A party that is not of this process: it neither starts nor stops here.
    pub(super) fn remote(party: Party, site: RemoteSite) -> Self {
        Self { party, at: At::Remote(Box::new(site)), make: None, up: RwLock::default() }
    }

    /// Where it listens in this process, if it does.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        if let At::Socket(address) = self.at { Some(address) } else { None }
    }

    /// The router and incarnation that answer now; `None` while the party is down.
    pub(super) fn current(&self) -> Option<(Router, Arc<Incarnation>)> {
        self.up.read().unwrap_or_else(PoisonError::into_inner).current.clone()
    }

    /// The number of the next incarnation.
    pub(super) fn next_incarnation(&self) -> u32 {
        self.up.read().unwrap_or_else(PoisonError::into_inner).incarnations + 1
    }

    /// The router of a new incarnation, not in use yet; `None` for a party that is not of this process.
    pub(super) fn make(&self, world: World) -> Option<Router> {
        self.make.as_ref().map(|make| make(world))
    }

    /// From now on this incarnation answers.
    pub(super) fn start(&self, router: Router, incarnation: Arc<Incarnation>) {
        let incarnations = incarnation.number();
        *self.up.write().unwrap_or_else(PoisonError::into_inner) =
            Up { incarnations, current: Some((router, incarnation)) };
    }

    /// Nobody answers any more; gives the incarnation that did.
    pub(super) fn take_down(&self) -> Option<Arc<Incarnation>> {
        let taken = self.up.write().unwrap_or_else(PoisonError::into_inner).current.take();
        taken.map(|(_, incarnation)| incarnation)
    }
}
