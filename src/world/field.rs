//! The field that the parties of one run stand on: their clock, hosts, incarnations, faults and history.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, io,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use smol_str::SmolStr;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{
    BACKEND_PREFIX, Clock, Disk, Host, Moment, Party, PartyKind, World, fault_struck,
    incarnation::Incarnation,
    ordinary::Ordinary,
    pipe::Pipes,
    pool::Pool,
    server,
    station::{At, Station},
    tls::Authority,
    trouble,
};
use crate::{
    fault::{Faults, PlannedRestart},
    history::{
        Event, Recorder,
        record::{ClockMoved, FaultStruck, Lifecycle, LifecycleIs},
    },
    identity::Signatures,
    limits,
    plan::CrashPoint,
};

/// Which way requests take.
#[derive(Debug, Clone)]
pub enum Lane {
    /// Straight into the receiving party's router.
    Direct(Signatures),
    /// HTTP/1.1 through pipes in memory.
    Pipe(Signatures),
    /// HTTP/1.1 over sockets at this address, with TLS where there is an authority.
    Sockets {
        /// The address that parties listen at, a loopback one.
        bind: IpAddr,
        /// Makes the certificates, if parties talk TLS.
        authority: Option<Arc<Authority>>,
    },
}

impl Lane {
    /// The kind of signatures that the keys of all parties make and take. Fast ones exist in-process only.
    #[must_use]
    pub fn signatures(&self) -> Signatures {
        match self {
            Self::Direct(signatures) | Self::Pipe(signatures) => *signatures,
            Self::Sockets { .. } => Signatures::Real,
        }
    }
}

/// What a field is made of.
#[derive(Debug)]
pub struct FieldOptions {
    /// The seed of every choice.
    pub seed: u64,
    /// What its time is.
    pub clock: Clock,
    /// The wall-clock time at the run's beginning.
    pub epoch: Timestamp,
    /// Takes the history and the ledger.
    pub recorder: Recorder,
    /// The faults of the plan.
    pub faults: Faults,
    /// Which way requests take.
    pub lane: Lane,
}

/// Why a party cannot be reached by the others.
#[derive(Debug, thiserror::Error)]
pub enum FieldError {
    /// Its socket cannot be opened.
    #[error("cannot listen at {address} for {party}: {source}; choose another port, or none to take a free one")]
    Listen {
        /// The party.
        party: SmolStr,
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// Its certificate cannot be made.
    #[error("cannot make a certificate for {party}: {why}")]
    Certificate {
        /// The party.
        party: SmolStr,
        /// What is wrong.
        why: String,
    },
    /// Nothing says whom its certificates are trusted by.
    #[error("cannot tell whom {party} is trusted by: {why}")]
    Trust {
        /// The party.
        party: SmolStr,
        /// What is wrong.
        why: String,
    },
    /// Somebody else serves it, and would have to take signatures that anybody can make.
    #[error("{0} is not simulated: fast signatures are for simulated Companies only")]
    FastSignatures(SmolStr),
    /// The HTTP client cannot be made.
    #[error("cannot make the HTTP client: {0}")]
    Client(String),
}

/// What the handles of all parties share.
pub struct Field {
    seed: u64,
    clock: Clock,
    epoch: Timestamp,
    wall_steps: RwLock<Vec<WallStep>>,
    recorder: Recorder,
    faults: Faults,
    lane: Lane,
    hosts: RwLock<BTreeMap<String, Arc<Station>>>,
    remote: RwLock<Option<Arc<Station>>>,
    outsiders: RwLock<BTreeSet<String>>,
    disks: Mutex<BTreeMap<Party, Disk>>,
    pool: Pool,
    pipes: Pipes,
    ordinary: Ordinary,
    closed: CancellationToken,
    faults_struck: AtomicU64,
    requests: AtomicU64,
    /// How often each crash point was come to, in the order of the catalogue.
    points: [AtomicU64; CrashPoint::ALL.len()],
    trouble: Arc<OnceLock<String>>,
}

/// A move of the wall clock.
#[derive(Debug, Clone, Copy)]
struct WallStep {
    at: Moment,
    by: Duration,
}

impl fmt::Debug for Field {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Field").field("seed", &self.seed).field("lane", &self.lane).finish_non_exhaustive()
    }
}

impl Field {
    /// An empty field.
    ///
    /// # Errors
    ///
    /// If the HTTP client of the ordinary lane cannot be made.
    pub fn new(options: FieldOptions) -> Result<Arc<Self>, FieldError> {
        let authority = match &options.lane {
            Lane::Direct(_) | Lane::Pipe(_) => None,
            Lane::Sockets { authority, .. } => authority.clone(),
        };
        let trouble = Arc::new(OnceLock::new());
        Ok(Arc::new(Self {
            seed: options.seed,
            clock: options.clock,
            epoch: options.epoch,
            wall_steps: RwLock::default(),
            recorder: options.recorder,
            faults: options.faults,
            lane: options.lane,
            hosts: RwLock::default(),
            remote: RwLock::default(),
            outsiders: RwLock::default(),
            disks: Mutex::default(),
            pool: Pool::new(authority.as_deref().map(Authority::client_config), Arc::clone(&trouble)),
            pipes: Pipes::default(),
            ordinary: Ordinary::new(authority),
            closed: CancellationToken::new(),
            faults_struck: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            points: Default::default(),
            trouble,
        }))
    }

    /// The seed of every choice.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The kind of signatures that the keys of all parties make and take.
    #[must_use]
    pub fn signatures(&self) -> Signatures {
        self.lane.signatures()
    }

    /// How long the run has lasted.
    #[must_use]
    pub fn now(&self) -> Moment {
        self.clock.now()
    }

    /// The wall clock.
    #[must_use]
    pub fn wall(&self) -> Timestamp {
        self.wall_at(self.now())
    }

    /// The wall-clock time at some moment.
    #[must_use]
    pub fn wall_at(&self, moment: Moment) -> Timestamp {
        let since = SignedDuration::from_nanos(i64::try_from(moment.as_nanos()).unwrap_or(i64::MAX));
        let steps = read(&self.wall_steps);
        let moved: Duration = steps.iter().take_while(|step| step.at <= moment).map(|step| step.by).sum();
        let moved = SignedDuration::try_from(moved).unwrap_or(SignedDuration::MAX);
        self.epoch.checked_add(since.saturating_add(moved)).unwrap_or(Timestamp::MAX)
    }

    /// Moves the wall clock of all parties on by so long, at once, and tells the history. Nothing else moves: waits and
    /// latencies are of the other clock.
    ///
    /// A move that would bring all moves together beyond [`limits::WALL_MOVED_SECONDS_MAX`] is not made, nor told.
    pub(super) fn move_wall(&self, by: Duration) {
        // Told before anybody can look: whoever reads the clock at or after `at` sees it moved.
        let mut steps = write(&self.wall_steps);
        let moved = steps.iter().fold(by, |sum, step| sum.saturating_add(step.by));
        if moved > Duration::from_secs(limits::WALL_MOVED_SECONDS_MAX) {
            return;
        }
        let at = self.now();
        steps.push(WallStep { at, by });
        let by_ms = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.record(Event::Clock(ClockMoved { since: at.as_nanos(), by_ms }));
    }

    /// The moment at some wall-clock time, as far as the clock was moved until now; the beginning for times before it, and
    /// the moment of the move for times that were left out.
    #[must_use]
    pub fn moment_at(&self, wall: Timestamp) -> Moment {
        let since = Duration::try_from(wall.duration_since(self.epoch)).unwrap_or_default();
        let (mut moved, mut earliest) = (Duration::ZERO, Moment::START);
        for step in read(&self.wall_steps).iter() {
            if Moment::START + since.saturating_sub(moved) < step.at {
                break;
            }
            moved += step.by;
            earliest = step.at;
        }
        earliest.max(Moment::START + since.saturating_sub(moved))
    }

    /// Waits until that moment.
    pub async fn sleep_until(&self, moment: Moment) {
        self.clock.sleep_until(moment).await;
    }

    /// The faults of the plan.
    #[must_use]
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Takes the history and the ledger.
    #[must_use]
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Puts an event into the history.
    pub fn record(&self, event: Event) {
        if matches!(event, Event::Fault(_)) {
            self.faults_struck.fetch_add(1, Ordering::Relaxed);
        }
        self.recorder.record(|| self.now().as_nanos(), event);
    }

    /// What keeps the machine, and not a party or a fault, from carrying requests; and what to do about it.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.trouble.get().cloned()
    }

    /// Notes an error of the system that no party is to blame for.
    pub(super) fn note_trouble(&self, error: &io::Error) {
        trouble::note(&self.trouble, error);
    }

    /// How many faults struck until now.
    #[must_use]
    pub fn faults_struck(&self) -> u64 {
        self.faults_struck.load(Ordering::Relaxed)
    }

    /// Counts a request that sets out.
    pub(super) fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// How many requests were carried to a party until now, each copy of one counted.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Ends when the field closes.
    pub(super) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// Counts that a party's code came to a point.
    pub(super) fn count_point(&self, point: CrashPoint) {
        self.points[point as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// How often parties' code came to each crash point until now; those that were never come to are left out.
    #[must_use]
    pub fn points_passed(&self) -> BTreeMap<CrashPoint, u64> {
        let times = |point: &CrashPoint| (*point, self.points[*point as usize].load(Ordering::Relaxed));
        CrashPoint::ALL.iter().map(times).filter(|(_, times)| *times > 0).collect()
    }

    pub(super) fn pool(&self) -> &Pool {
        &self.pool
    }

    pub(super) fn pipes(&self) -> &Pipes {
        &self.pipes
    }

    /// Sets aside a turn, where time is virtual.
    pub(super) fn set_aside(&self) -> Option<u64> {
        self.clock.set_aside()
    }

    /// Waits for a turn that was set aside, if there is one.
    pub(super) async fn turn(&self, turn: Option<u64>) {
        self.clock.turn(turn).await;
    }

    pub(super) fn ordinary(&self) -> &Ordinary {
        &self.ordinary
    }

    /// The party that answers for a host: somebody else's servers for every host that is nobody's of the run.
    pub(super) fn station(&self, host: &str) -> Option<Arc<Station>> {
        let own = read(&self.hosts).get(host).cloned();
        own.or_else(|| read(&self.remote).clone().filter(|_| !self.is_outsider(host)))
    }

    /// The party that somebody else serves, if there is one.
    pub(super) fn remote(&self) -> Option<Arc<Station>> {
        read(&self.remote).clone()
    }

    /// From now on that party is the one that somebody else serves.
    pub(super) fn set_remote(&self, station: Station) {
        *write(&self.remote) = Some(Arc::new(station));
    }

    /// Says where a host is that belongs to no party of the run: documents are fetched from it over plain HTTP.
    ///
    /// For the operator of somebody else's Personal Agent; the caller sees to it that the address is a loopback one.
    pub fn outsider(&self, host: &str, address: SocketAddr) {
        self.ordinary.resolve(host, address);
        write(&self.outsiders).insert(host.to_owned());
    }

    pub(super) fn is_outsider(&self, host: &str) -> bool {
        read(&self.outsiders).contains(host)
    }

    /// Where the hosts listen, by name.
    #[must_use]
    pub fn addresses(&self) -> Vec<(String, SocketAddr)> {
        let hosts = read(&self.hosts);
        hosts.iter().filter_map(|(name, station)| Some((name.clone(), station.address()?))).collect()
    }

    /// A handle for a party that answers no requests.
    #[must_use]
    pub fn world(self: &Arc<Self>, party: Party) -> World {
        self.handle(party, Arc::new(Incarnation::new(1)))
    }

    fn handle(self: &Arc<Self>, party: Party, incarnation: Arc<Incarnation>) -> World {
        let disk = lock(&self.disks).entry(party.clone()).or_default().clone();
        World { field: Arc::clone(self), party, incarnation, disk }
    }

    /// Puts a party on the field: opens its socket where it has one, and starts its first incarnation.
    ///
    /// # Errors
    ///
    /// If its socket cannot be opened or its certificate cannot be made.
    pub async fn open(self: &Arc<Self>, host: Host) -> Result<(), FieldError> {
        let mut listening = None;
        if let (Lane::Sockets { bind, authority }, false) = (&self.lane, host.direct) {
            let address = SocketAddr::new(*bind, host.port);
            let party = host.party.name.clone();
            let listener = TcpListener::bind(address).await;
            let listener = listener.map_err(|source| FieldError::Listen { party: party.clone(), address, source })?;
            let acceptor = authority.as_ref().map(|authority| authority.acceptor(&host.names)).transpose();
            let acceptor = acceptor.map_err(|why| FieldError::Certificate { party, why })?;
            listening = Some((listener, acceptor));
        }
        let address = listening.as_ref().and_then(|(listener, _)| listener.local_addr().ok());
        let at = match (&self.lane, address) {
            (_, Some(address)) => At::Socket(address),
            (Lane::Pipe(_), None) if !host.direct => At::Pipe,
            (_, None) => At::Router,
        };
        let station = Arc::new(Station::new(host.party, at, host.make));
        for name in &host.names {
            write(&self.hosts).insert(name.clone(), Arc::clone(&station));
            if let Some(address) = address {
                self.ordinary.resolve(name, address);
            }
        }
        self.start(&station);
        if let Some((listener, acceptor)) = listening {
            let field = Arc::clone(self);
            tokio::spawn(server::listen(field, station, listener, acceptor, self.closed.clone()));
        }
        Ok(())
    }

    /// Starts the next incarnation of a party that is down.
    fn start(self: &Arc<Self>, station: &Station) {
        let number = station.next_incarnation();
        let incarnation = Arc::new(Incarnation::new(number));
        let party = station.party.clone();
        self.record(Event::Lifecycle(Lifecycle {
            party: party.name.clone(),
            is: LifecycleIs::Started,
            incarnation: number,
        }));
        // The router is made outside the lock: making it may already spawn work that calls others.
        if let Some(router) = station.make(self.handle(party, Arc::clone(&incarnation))) {
            station.start(router, incarnation);
        }
    }

    /// Stops a party at once and starts it again after `down_for`; nothing if it is down already.
    pub(super) fn crash(self: &Arc<Self>, party: Party, down_for: Duration) {
        let station = read(&self.hosts).values().find(|station| station.party == party).cloned();
        let Some(station) = station else { return };
        let Some(incarnation) = station.take_down() else { return };
        let field = Arc::clone(self);
        tokio::spawn(async move {
            incarnation.stop().await;
            let number = incarnation.number();
            field.record(Event::Lifecycle(Lifecycle {
                party: party.name,
                is: LifecycleIs::Stopped,
                incarnation: number,
            }));
            tokio::select! {
                biased;
                () = field.closed.cancelled() => {}
                () = field.sleep_until(field.now() + down_for) => field.start(&station),
            }
        });
    }

    /// Carries out a restart that the plan sets.
    pub fn restart(self: &Arc<Self>, restart: &PlannedRestart) {
        self.record(Event::Fault(FaultStruck {
            party: Some(restart.company.clone()),
            for_ms: Some(u64::try_from(restart.down_for.as_millis()).unwrap_or(u64::MAX)),
            ..fault_struck(restart.fault.clone(), "restart")
        }));
        self.crash(Party::new(PartyKind::Company, restart.company.clone()), restart.down_for);
    }

    /// Stops every party and closes every socket; returns when none of them acts any more.
    pub async fn close(&self) {
        self.closed.cancel();
        let stations: Vec<_> = read(&self.hosts).values().cloned().collect();
        for station in stations {
            if let Some(incarnation) = station.take_down() {
                incarnation.stop().await;
            }
        }
        self.pipes.close();
    }

    /// The name by which faults know the party at a station: a backend's is its Company's.
    pub(super) fn fault_name(station: &Station) -> &str {
        let name = &station.party.name;
        name.strip_prefix(BACKEND_PREFIX).unwrap_or(name)
    }
}

/// A lock whose holder panicked is still whole: every change under it is one assignment or insertion.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
