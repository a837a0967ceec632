//! The faults of a plan, asked at every place where one can strike.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use smol_str::{SmolStr, format_smolstr};

use super::strike::{Disturbance, SecondCopy, Struck};
use crate::{
    history::record::Purpose,
    plan::{CrashPoint, Distribution, Fault, FaultKind, Manner, Network, Once, Passings, Strike, Strikes, Window},
    world::{About, Draw, Moment, Passing},
};

/// No load yet, or none any more.
const NEVER: u64 = u64::MAX;

/// How long after the send a hang-up comes at the latest, in milliseconds.
const HANG_UP_MILLISECONDS_MAX: f64 = 20.0;

/// The faults of a run. They strike only while there is load, and within their windows.
#[derive(Debug)]
pub struct Faults {
    pub(super) seed: u64,
    faults: Vec<Fault>,
    pub(super) network: Network,
    /// Company name to the scenario's name for it.
    groups: BTreeMap<SmolStr, SmolStr>,
    load_began: AtomicU64,
    load_ended: AtomicU64,
    /// What passed under load: point, action, manner.
    passed: Mutex<BTreeSet<(CrashPoint, SmolStr, Manner)>>,
    /// What has struck as often as it may: a fault's ID, and the action ID if it may strike each.
    spent: Mutex<BTreeSet<(SmolStr, SmolStr)>>,
    /// Every strike, by fault, once it is asked for.
    struck: OnceLock<Mutex<Vec<(SmolStr, Strike)>>>,
}

/// A stop and start of a Company that the plan sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRestart {
    /// The fault's ID.
    pub fault: SmolStr,
    /// The Company.
    pub company: SmolStr,
    /// When, counted from the start of load.
    pub at: Duration,
    /// How long it is down.
    pub down_for: Duration,
    /// Its number among those of its fault and Company, from 0.
    pub number: u64,
}

impl PlannedRestart {
    /// The restart as a list of strikes says it.
    #[must_use]
    pub fn into_strike(self) -> Strike {
        Strike { time: Some(self.at), ..Strike::on(None, self.company, self.number) }
    }
}

impl Faults {
    /// The faults of a plan; `companies` are pairs of a Company's name and the scenario's name for it.
    #[must_use]
    pub fn new(seed: u64, faults: Vec<Fault>, companies: impl IntoIterator<Item = (SmolStr, SmolStr)>) -> Self {
        Self {
            seed,
            faults,
            network: Network::calm(),
            groups: companies.into_iter().collect(),
            load_began: AtomicU64::new(NEVER),
            load_ended: AtomicU64::new(NEVER),
            passed: Mutex::default(),
            spent: Mutex::default(),
            struck: OnceLock::new(),
        }
    }

    /// From now on keeps every strike for [`Faults::struck`].
    pub fn keep_strikes(&self) {
        self.struck.get_or_init(Mutex::default);
    }

    /// The strikes until now, each with its fault's ID, named so that a plan can list them; none unless they are kept.
    /// Restarts are not among them: [`Faults::restarts`] knows those before they come.
    #[must_use]
    pub fn struck(&self) -> Vec<(SmolStr, Strike)> {
        self.struck.get().map(|struck| lock(struck).clone()).unwrap_or_default()
    }

    /// Load begins: windows count from here.
    pub fn begin(&self, now: Moment) {
        self.load_began.store(now.as_nanos(), Ordering::Release);
    }

    /// Load is over: nothing strikes any more.
    pub fn end(&self, now: Moment) {
        self.load_ended.store(now.as_nanos(), Ordering::Release);
    }

    /// The faults that can strike `company` now. Where strikes are listed, the list alone says what is struck.
    fn active<'a>(&'a self, now: Moment, company: &'a str) -> impl Iterator<Item = &'a Fault> {
        let elapsed = self.elapsed(now);
        self.faults.iter().filter(move |fault| {
            elapsed.is_some_and(|elapsed| {
                fault.strikes.is_some()
                    || fault.during.is_none_or(|Window { from, to }| (from..to).contains(&elapsed))
                        && self.is_at(fault, company)
            })
        })
    }

    /// How long there has been load; `None` where there is none yet, or none any more.
    pub(super) fn elapsed(&self, now: Moment) -> Option<Duration> {
        let began = self.load_began.load(Ordering::Acquire);
        let over = self.load_ended.load(Ordering::Acquire) <= now.as_nanos();
        let running = began != NEVER && now.as_nanos() >= began && !over;
        running.then(|| now.since(Moment::from_nanos(began)))
    }

    /// The strike of `fault` on what is named so, if it strikes there: as listed, or as drawn under `drawn_key`.
    fn strike(&self, fault: &Fault, named: Strike, drawn_key: &str) -> Option<Strike> {
        let strike = self.drawn(fault, named, drawn_key)?;
        self.keep(fault, &strike);
        Some(strike)
    }

    /// The same, for who may yet find that the fault has struck as often as it may.
    fn drawn(&self, fault: &Fault, named: Strike, drawn_key: &str) -> Option<Strike> {
        match &fault.strikes {
            Some(listed) => {
                listed.iter().find(|strike| strike.names(named.request, &named.key, named.attempt)).cloned()
            }
            None => self.draw(fault, "strikes", drawn_key, named.attempt).chance(fault.chance).then_some(named),
        }
    }

    /// Puts a strike among those for [`Faults::struck`], if they are kept.
    fn keep(&self, fault: &Fault, strike: &Strike) {
        if let Some(struck) = self.struck.get() {
            lock(struck).push((fault.id.clone(), strike.clone()));
        }
    }

    fn is_at(&self, fault: &Fault, company: &str) -> bool {
        self.is_named(fault.at.as_ref(), company)
    }

    /// Whether `company` is meant by a name of its own or of its group; no name means all.
    pub(super) fn is_named(&self, at: Option<&SmolStr>, company: &str) -> bool {
        at.is_none_or(|at| at == company || self.groups.get(company).is_some_and(|group| group == at))
    }

    fn draw(&self, fault: &Fault, aspect: &str, key: &str, attempt: u64) -> Draw {
        Draw::of_parts(self.seed, ["fault/", &fault.id, "/", aspect], [key], attempt)
    }

    /// What strikes a request to `company`, or to its backend.
    #[must_use]
    pub fn on_request(&self, now: Moment, company: &str, about: &About) -> Disturbance {
        let mut disturbance = Disturbance::default();
        let request = Some(about.purpose).filter(|purpose| *purpose != Purpose::Backend);
        let mut drawn_key = None;
        for fault in self.active(now, company).filter(|fault| strikes_requests(fault, about)) {
            let drawn_key = drawn_key.get_or_insert_with(|| match request {
                Some(purpose) => format_smolstr!("{purpose:?}/{}", about.key),
                None => about.key.clone(),
            });
            let named = Strike::on(request, about.key.clone(), about.attempt);
            if let Some(strike) = self.strike(fault, named, drawn_key) {
                let how = self.draw(fault, "how", drawn_key, about.attempt);
                disturb(&mut disturbance, fault, &strike, how);
            }
        }
        disturbance
    }

    /// Whether a crash strikes `company` at this passing of a point, and how long it is then down.
    #[must_use]
    pub fn at_point(
        &self,
        now: Moment,
        company: &str,
        point: CrashPoint,
        passing: Passing<'_>,
    ) -> Option<Struck<Duration>> {
        let Passing { key, attempt, action, how } = passing;
        if self.elapsed(now).is_some() {
            lock(&self.passed).insert((point, action.into(), how));
        }
        self.active(now, company).find_map(|fault| match &fault.kind {
            FaultKind::Crash { point: at, down_for, only }
                if *at == point && (fault.strikes.is_some() || chooses(only, passing)) =>
            {
                let strike = self.drawn(fault, Strike::on(None, key, attempt), key)?;
                // Looked up and noted in one go: of two passings on two threads one is struck.
                let spends = spent_key(fault, only, key).filter(|_| fault.strikes.is_none());
                if spends.is_some_and(|spends| !lock(&self.spent).insert(spends)) {
                    return None;
                }
                self.keep(fault, &strike);
                Some(Struck { fault: fault.id.clone(), effect: strike.time.unwrap_or(*down_for) })
            }
            _ => None,
        })
    }

    /// The points that were passed under load, by operations of which action, in which manner.
    #[must_use]
    pub fn passed(&self) -> BTreeSet<(CrashPoint, SmolStr, Manner)> {
        lock(&self.passed).clone()
    }

    /// Whether the backend of `company` refuses this step for good.
    #[must_use]
    pub fn backend_fails(&self, now: Moment, company: &str, step: &str, key: &str) -> Option<Struck<()>> {
        self.active(now, company).find_map(|fault| {
            let listed = fault.strikes.is_some();
            let here = listed || fault.step.as_ref().is_none_or(|at| at == step);
            if fault.kind != FaultKind::BackendFail || !here {
                return None;
            }
            self.strike(fault, Strike::on(None, key, 0), key)?;
            Some(Struck { fault: fault.id.clone(), effect: () })
        })
    }

    /// When the restart of that number comes. Companies of one group do not all stop at the same instant.
    fn restart_at(&self, fault: &Fault, every: Duration, company: &str, count: u64) -> Duration {
        let from = fault.during.map_or(Duration::ZERO, |window| window.from);
        let spread = every.mul_f64(self.draw(fault, "when", company, count).unit() * 0.5);
        let begin = every.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
        from.saturating_add(begin).saturating_add(spread)
    }

    /// The restarts that the plan sets within `load`, in order of time.
    #[must_use]
    pub fn restarts(&self, load: Duration) -> Vec<PlannedRestart> {
        let mut restarts = Vec::new();
        for fault in &self.faults {
            let FaultKind::Restart { every, down_for } = fault.kind else { continue };
            if let Some(listed) = &fault.strikes {
                let known = listed.iter().filter(|strike| self.groups.contains_key(&strike.key));
                restarts.extend(known.map(|strike| PlannedRestart {
                    fault: fault.id.clone(),
                    company: strike.key.clone(),
                    at: strike.time.unwrap_or_else(|| self.restart_at(fault, every, &strike.key, strike.attempt)),
                    down_for,
                    number: strike.attempt,
                }));
                continue;
            }
            let window = fault.during.unwrap_or(Window { from: Duration::ZERO, to: load });
            for company in self.groups.keys().filter(|company| self.is_at(fault, company)) {
                let mut begin = window.from;
                let mut count = 0;
                while begin < window.to.min(load) && !every.is_zero() {
                    if self.draw(fault, "strikes", company, count).chance(fault.chance) {
                        let at = self.restart_at(fault, every, company, count);
                        let (fault, company) = (fault.id.clone(), company.clone());
                        restarts.push(PlannedRestart { fault, company, at, down_for, number: count });
                    }
                    begin += every;
                    count += 1;
                }
            }
        }
        restarts.sort_by(|one, other| (one.at, &one.company).cmp(&(other.at, &other.company)));
        restarts
    }
}

/// Whether a crash strikes passings like this one.
fn chooses(only: &Passings, passing: Passing<'_>) -> bool {
    only.action.as_ref().is_none_or(|action| action == passing.action) && only.how.is_none_or(|how| how == passing.how)
}

/// What a strike on `key` uses up, where a fault strikes only so often.
fn spent_key(fault: &Fault, only: &Passings, key: &str) -> Option<(SmolStr, SmolStr)> {
    let key = match only.once? {
        Once::Run => SmolStr::default(),
        Once::Operation => key.into(),
    };
    Some((fault.id.clone(), key))
}

/// A lock whose holder panicked is still whole: every change under it is one push or insertion.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a fault is of a kind that strikes requests, and of this kind of request. A list names what it strikes itself.
fn strikes_requests(fault: &Fault, about: &About) -> bool {
    let backend = about.purpose == Purpose::Backend;
    if fault.strikes.is_some() {
        return match fault.kind.strikes() {
            Strikes::Steps => backend && fault.kind != FaultKind::BackendFail,
            Strikes::Requests => !backend,
            Strikes::Company => false,
        };
    }
    match fault.kind.strikes() {
        // A step that the backend refuses is asked for all the same.
        Strikes::Steps => {
            backend
                && fault.kind != FaultKind::BackendFail
                && fault.step.as_ref().is_none_or(|step| about.step.as_ref() == Some(step))
        }
        Strikes::Requests => {
            // Documents and keys are struck only where a fault names them.
            let background = matches!(about.purpose, Purpose::Discover | Purpose::Keys);
            !backend && (fault.on.contains(&about.purpose) || (fault.on.is_empty() && !background))
        }
        Strikes::Company => false,
    }
}

/// Adds what `fault` does; the first fault of a kind wins.
fn disturb(disturbance: &mut Disturbance, fault: &Fault, strike: &Strike, how: Draw) {
    let drawn = |time: &Distribution| strike.time.unwrap_or_else(|| time.sample(how));
    fn add<T>(slot: &mut Option<Struck<T>>, fault: &Fault, effect: T) {
        slot.get_or_insert(Struck { fault: fault.id.clone(), effect });
    }
    match &fault.kind {
        FaultKind::Delay(time) | FaultKind::BackendSlow(time) => add(&mut disturbance.delay, fault, drawn(time)),
        FaultKind::DelayAnswer(time) => add(&mut disturbance.delay_answer, fault, drawn(time)),
        FaultKind::LoseRequest | FaultKind::BackendTimeout { effect: false } => {
            add(&mut disturbance.lose_request, fault, ());
        }
        FaultKind::LoseAnswer | FaultKind::BackendTimeout { effect: true } => {
            add(&mut disturbance.lose_answer, fault, ());
        }
        FaultKind::Reset => add(&mut disturbance.reset, fault, ()),
        FaultKind::HangUp => {
            let after = || Duration::from_secs_f64(how.unit() * HANG_UP_MILLISECONDS_MAX / 1_000.0);
            add(&mut disturbance.hang_up, fault, strike.time.unwrap_or_else(after));
        }
        FaultKind::Duplicate { after } => {
            let second = SecondCopy {
                after: drawn(after),
                second_answers: strike.second_answers.unwrap_or(how.bits() & 1 == 1),
            };
            add(&mut disturbance.duplicate, fault, second);
        }
        FaultKind::Refuse { status, retry_after } => add(&mut disturbance.refuse, fault, (*status, *retry_after)),
        FaultKind::BackendFail | FaultKind::Crash { .. } | FaultKind::Restart { .. } => {}
    }
}
