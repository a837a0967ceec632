//! The Wire: carries every request to the party that its host names, and decides what happens to it on the way.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use smol_str::SmolStr;
use tokio::sync::oneshot;

use super::{
    About, Answer, Delivery, Field, Moment, Party, PartyKind, Reply, Why, fault_struck,
    pipe::Receiver,
    pool::Cut,
    remote::{Place, RemoteSite, dress},
    server::{self, Errand},
    station::{At, Station},
    tag::{Tag, put_turn},
};
use crate::{
    fault::{Disturbance, Struck, Transit},
    history::{
        Event,
        record::{FaultStruck, Purpose},
    },
    limits,
    plan::{Message, Network},
};

/// How long a request that its sender no longer waits for may still be under way.
const STRAY_TIME: Duration = Duration::from_secs(60);

impl Field {
    /// Sends a request and brings the answer, or says that none came by `about.deadline`.
    pub(super) async fn call(field: &Arc<Self>, caller: &Party, request: Request<Bytes>, about: About) -> Reply {
        let started = field.now();
        let host = request.uri().host().map(str::to_ascii_lowercase).unwrap_or_default();
        let Some(station) = field.station(&host) else {
            let answer = if field.is_outsider(&host) {
                field.ordinary().exchange(request, true).await
            } else {
                Answer::Unsent(Why::NoSuchHost)
            };
            return Reply { answer, sent: started };
        };
        let mut disturbance = field.disturbance(&station, &about);
        let link = field.link(caller, &station, &about, &mut disturbance);
        let disturbance = disturbance.as_far_as_refused();
        if !disturbance.is_none() {
            field.note(&disturbance, &station, &about);
        }
        let parcel = Arc::new(Parcel::new(Arc::clone(field), station, host, &about, (disturbance, link), started));
        let carried = async {
            if parcel.is_plain() {
                parcel.exchange(request, 1, Cut::None).await
            } else {
                // On its own, since a request on its way arrives even if its sender stops waiting.
                Arc::clone(&parcel).send_off(request).await
            }
        };
        let mut answer = tokio::select! {
            biased;
            answer = carried => answer,
            () = field.sleep_until(about.deadline) => parcel.given_up(),
        };
        if let Answer::Response(response) = &mut answer
            && let Some(delivery) = response.extensions_mut().remove::<Delivery>()
        {
            delivery.arrived();
        }
        Reply { answer, sent: parcel.sent() }
    }

    /// What strikes a request.
    fn disturbance(&self, station: &Station, about: &About) -> Disturbance {
        if !matches!(station.party.kind, PartyKind::Company | PartyKind::Backend) {
            return Disturbance::default();
        }
        self.faults().on_request(self.now(), Self::fault_name(station), about)
    }

    /// The link that a request takes, with what it adds to what strikes the request; `None` where there is no network
    /// between the two, or one that does nothing.
    fn link(&self, caller: &Party, station: &Station, about: &About, disturbance: &mut Disturbance) -> Option<Link> {
        if !self.faults().has_network() {
            return None;
        }
        let company = match (caller.kind, station.party.kind) {
            (_, PartyKind::Company) => &station.party.name,
            (PartyKind::Company, PartyKind::Operator) => &caller.name,
            (_, PartyKind::Backend | PartyKind::Operator | PartyKind::Agent) => return None,
        };
        let transit = self.faults().on_link(self.now(), about, disturbance);
        Some(Link { company: company.clone(), transit })
    }

    fn note(&self, disturbance: &Disturbance, station: &Station, about: &About) {
        let millis = |duration: Duration| Some(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX));
        let backend = about.purpose == Purpose::Backend;
        let note = |fault: &SmolStr, kind: &str, for_ms: Option<u64>| {
            self.record(Event::Fault(FaultStruck {
                call: about.call.clone(),
                copy: about.call.is_some().then_some(1),
                party: Some(station.party.name.clone()),
                action: about.action.clone(),
                step: about.step.clone(),
                for_ms,
                ..fault_struck(fault.clone(), kind)
            }));
        };
        if let Some(Struck { fault, effect }) = &disturbance.delay {
            note(fault, if backend { "backend-slow" } else { "delay" }, millis(*effect));
        }
        if let Some(Struck { fault, effect }) = &disturbance.delay_answer {
            note(fault, "delay-answer", millis(*effect));
        }
        if let Some(struck) = &disturbance.lose_request {
            note(&struck.fault, if backend { "backend-timeout" } else { "lose-request" }, None);
        }
        if let Some(struck) = &disturbance.lose_answer {
            note(&struck.fault, if backend { "backend-timeout" } else { "lose-answer" }, None);
        }
        if let Some(struck) = &disturbance.reset {
            note(&struck.fault, "reset", None);
        }
        if let Some(struck) = &disturbance.hang_up {
            note(&struck.fault, "hang-up", millis(struck.effect));
        }
        if let Some(struck) = &disturbance.duplicate {
            note(&struck.fault, "duplicate", millis(struck.effect.after));
        }
        if let Some(struck) = &disturbance.refuse {
            note(&struck.fault, "refuse", None);
        }
    }
}

/// The network between a Company and who asks it, or whom it asks.
struct Link {
    /// The Company at its one end.
    company: SmolStr,
    /// How long messages take on it.
    transit: Transit,
}

/// One request on its way.
struct Parcel {
    field: Arc<Field>,
    station: Arc<Station>,
    host: String,
    call: Option<SmolStr>,
    purpose: Purpose,
    deadline: Moment,
    disturbance: Disturbance,
    link: Option<Link>,
    /// When it left its sender, in nanoseconds: the first byte, or the time of the call where a fault is at work.
    sent: AtomicU64,
    /// Whether its first byte left.
    left: AtomicBool,
}

impl Parcel {
    fn new(
        field: Arc<Field>,
        station: Arc<Station>,
        host: String,
        about: &About,
        (disturbance, link): (Disturbance, Option<Link>),
        started: Moment,
    ) -> Self {
        let sent = AtomicU64::new(started.as_nanos());
        let (call, purpose, deadline) = (about.call.clone(), about.purpose, about.deadline);
        Self { field, station, host, call, purpose, deadline, disturbance, link, sent, left: AtomicBool::new(false) }
    }

    /// Whether nothing lies between its sender and the receiving party.
    fn is_plain(&self) -> bool {
        self.disturbance.is_none() && self.link.is_none()
    }

    fn sent(&self) -> Moment {
        Moment::from_nanos(self.sent.load(Ordering::Acquire))
    }

    /// What its sender knows who stops waiting. Where neither a fault nor a network is at work, a request that has not left never will.
    fn given_up(&self) -> Answer {
        if self.is_plain() && !self.left.load(Ordering::Acquire) {
            Answer::Unsent(Why::Timeout)
        } else {
            Answer::Unknown(Why::Timeout)
        }
    }

    /// Carries the request through its faults in a task of its own.
    async fn send_off(self: Arc<Self>, request: Request<Bytes>) -> Answer {
        let (bring, brought) = oneshot::channel();
        let end = self.deadline + STRAY_TIME;
        let parcel = Arc::clone(&self);
        let courier = async move {
            let field = Arc::clone(&parcel.field);
            tokio::select! {
                biased;
                answer = parcel.carry(request) => {
                    // The sender may have stopped waiting: then nobody wants the answer.
                    let _ = bring.send(answer);
                }
                () = field.sleep_until(end) => {}
                () = field.closed() => {}
            }
        };
        // Not in the sender's incarnation: even one that stops cannot call back what is on its way.
        tokio::spawn(courier);
        match brought.await {
            Ok(answer) => answer,
            Err(_) => std::future::pending().await,
        }
    }

    /// The way there and back, with all that strikes it on the way. Never ends where the sender is to hear nothing.
    async fn carry(self: Arc<Self>, request: Request<Bytes>) -> Answer {
        let faults = &self.disturbance;
        if let Some(delay) = &faults.delay {
            self.wait(delay.effect).await;
        }
        if let Some(Struck { effect: (status, retry_after), .. }) = &faults.refuse {
            self.cross(Message::Request, 1).await;
            self.cross(Message::Answer, 1).await;
            return refusal(*status, *retry_after);
        }
        let second = faults.duplicate.as_ref().map(|duplicate| {
            let (bring, brought) = oneshot::channel();
            let (parcel, copy, after) = (Arc::clone(&self), request.clone(), duplicate.effect.after);
            tokio::spawn(async move {
                let second = async {
                    parcel.wait(after).await;
                    parcel.cross(Message::Request, 2).await;
                    parcel.exchange(copy, 2, Cut::None).await
                };
                tokio::select! {
                    biased;
                    // Nobody may be waiting for the second copy's answer.
                    answer = second => drop(bring.send(answer)),
                    () = parcel.field.sleep_until(parcel.deadline + after + STRAY_TIME) => {}
                    () = parcel.field.closed() => {}
                }
            });
            (brought, duplicate.effect.second_answers)
        });
        if faults.lose_request.is_some() {
            return std::future::pending().await;
        }
        self.cross(Message::Request, 1).await;
        let cut = match (&faults.hang_up, &faults.reset) {
            (Some(hang_up), _) => Cut::AfterSend(hang_up.effect),
            (None, Some(_)) => Cut::AfterHead,
            (None, None) => Cut::None,
        };
        let (mut answer, mut copy) = (self.exchange(request, 1, cut).await, 1);
        if let Some((brought, second_answers)) = second {
            if second_answers && let Ok(other) = brought.await {
                (answer, copy) = (other, 2);
            }
            // Whichever copy found nobody there, the other one may have acted.
            if let Answer::Unsent(why) = answer {
                answer = Answer::Unknown(why);
            }
        }
        if let Some(delay) = &faults.delay_answer {
            self.wait(delay.effect).await;
        }
        if faults.lose_answer.is_some() {
            drop(answer); // it is lost here and now, whatever its sender hopes for
            return std::future::pending().await;
        }
        self.cross(Message::Answer, copy).await;
        answer
    }

    /// The way over the network, one way, of a message of that copy. Never ends where a partition stops it.
    async fn cross(&self, message: Message, copy: u32) {
        let Some(Link { company, transit }) = &self.link else { return };
        if let Some(partition) = self.field.faults().partition(self.field.now(), company, message) {
            self.field.record(Event::Fault(FaultStruck {
                call: self.call.clone(),
                copy: self.call.is_some().then_some(copy),
                party: Some(company.clone()),
                ..fault_struck(partition.clone(), Network::PARTITION)
            }));
            return std::future::pending().await;
        }
        self.wait(match (message, copy) {
            (Message::Request, 1) => transit.there,
            (Message::Answer, 1) => transit.back,
            (Message::Request, _) => transit.second_there,
            (Message::Answer, _) => transit.second_back,
        })
        .await;
    }

    async fn wait(&self, duration: Duration) {
        self.field.sleep_until(self.field.now() + duration).await;
    }

    /// One copy's exchange with the receiving party.
    async fn exchange(&self, mut request: Request<Bytes>, copy: u32, cut: Cut) -> Answer {
        self.field.count_request();
        let tag = self.call.clone().map(|call| {
            let cut = if copy == 1 { self.disturbance.cut().cloned() } else { None };
            Tag { call, copy, cut }
        });
        // Somebody else's server has no use for it, and a router here gets it beside the request.
        if let (Some(tag), At::Socket(_)) = (&tag, &self.station.at) {
            tag.put(request.headers_mut());
        }
        // What a fault holds back left its sender all the same: that time is the wire's, not the generator's.
        let sent = || {
            if self.is_plain() {
                self.sent.store(self.field.now().as_nanos(), Ordering::Release);
            }
            self.left.store(true, Ordering::Release);
        };
        match &self.station.at {
            At::Router | At::Pipe => {
                sent();
                self.hand_over(request, tag, cut).await
            }
            At::Socket(_) if matches!(self.purpose, Purpose::Discover | Purpose::Keys) => {
                sent();
                self.field.ordinary().exchange(request, false).await
            }
            At::Socket(address) => {
                let to = self.field.pool().party(&self.host, *address);
                Box::pin(self.field.pool().exchange(to, request, cut, sent)).await
            }
            // Boxed, as for sockets: every request of a simulated run would carry its room.
            At::Remote(site) => Box::pin(self.go_abroad(site, request, cut, sent)).await,
        }
    }

    /// To somebody else's server, which is always asked over TLS.
    async fn go_abroad(&self, site: &RemoteSite, mut request: Request<Bytes>, cut: Cut, sent: impl FnMut()) -> Answer {
        let Some(place) = Place::of(request.uri()).filter(|place| place.tls) else {
            return Answer::Unsent(Why::NoSuchHost);
        };
        let address = match site.address(&place).await {
            Ok(address) => address,
            Err(why) => return Answer::Unsent(why),
        };
        let is_empty = request.body().is_empty();
        dress(&mut request, is_empty);
        self.field.pool().exchange(site.destination(&place, address), request, cut, sent).await
    }

    /// To the receiving party's router, in a task of its incarnation: straight, or as bytes through a pipe.
    ///
    /// Request and answer each take a turn when they arrive, and both turns are set aside here and now. So it makes no
    /// difference in how many steps of which tasks they come: a run is the same on either lane.
    async fn hand_over(&self, mut request: Request<Bytes>, tag: Option<Tag>, cut: Cut) -> Answer {
        let Some((router, incarnation)) = self.station.current() else { return Answer::Unsent(Why::Refused) };
        if let Ok(host) = HeaderValue::from_str(&self.host) {
            request.headers_mut().insert(header::HOST, host);
        }
        let (turn, turn_back) = (self.field.set_aside(), self.field.set_aside());
        let (bring, brought) = oneshot::channel();
        let field = Arc::clone(&self.field);
        if let At::Pipe = self.station.at {
            if let Some(tag) = &tag {
                tag.put(request.headers_mut());
            }
            if let Some(turn) = turn {
                put_turn(turn, request.headers_mut());
            }
            tokio::spawn(through_pipe(
                field,
                Receiver { host: self.host.clone(), router, incarnation },
                request,
                cut,
                bring,
            ));
        } else {
            let request = request.map(Body::from);
            let errand = Errand { router, incarnation: incarnation.number(), tag, turn, request };
            incarnation.spawn(server::attend(field, errand, bring));
        }
        let response = match cut {
            Cut::AfterSend(after) => tokio::select! {
                biased;
                response = brought => response,
                () = self.wait(after) => return Answer::Unknown(Why::Reset),
            },
            Cut::None | Cut::AfterHead => brought.await,
        };
        self.field.turn(turn_back).await;
        match response {
            Ok(response) if cut == Cut::None => whole(response).await,
            Ok(_) | Err(_) => Answer::Unknown(Why::Reset),
        }
    }
}

/// One exchange over a pipe; given up, and its connection closed, when nobody waits for it any more.
async fn through_pipe(
    field: Arc<Field>,
    to: Receiver,
    request: Request<Bytes>,
    cut: Cut,
    mut bring: oneshot::Sender<Response<Body>>,
) {
    tokio::select! {
        biased;
        () = bring.closed() => {}
        response = field.pipes().exchange(&field, &to, request, cut) => {
            if let Ok(response) = response {
                // The sender may have stopped waiting just now.
                let _ = bring.send(response);
            }
        }
    }
}

/// Reads an answer's body, up to the bound.
async fn whole(response: Response<Body>) -> Answer {
    let (parts, body) = response.into_parts();
    match Limited::new(body, limits::BODY_BYTES_MAX).collect().await {
        Ok(body) => Answer::Response(Response::from_parts(parts, body.to_bytes())),
        Err(error) if error.is::<LengthLimitError>() => Answer::Unknown(Why::TooLarge),
        Err(_) => Answer::Unknown(Why::Reset),
    }
}

/// What something in front of the receiver answers.
fn refusal(status: u16, retry_after: Option<Duration>) -> Answer {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    if let Some(after) = retry_after {
        let seconds = after.as_secs() + u64::from(after.subsec_nanos() > 0);
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    Answer::Response(response)
}
