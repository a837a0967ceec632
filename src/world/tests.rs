//! The same cases on every lane: what a party may rely on, however its requests travel.

mod remote;

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use axum::{Router, extract::State, routing::post};
use bytes::Bytes;
use http::Request;
use jiff::Timestamp;
use smol_str::SmolStr;

use super::{
    About, Answer, Authority, Clock, Delivery, Field, FieldOptions, Host, Lane, Moment, Party, PartyKind, Passing,
    Reply, Why, World,
};
use crate::{
    fault::Faults,
    history::{
        Event, Recorder,
        record::{LifecycleIs, Purpose, WireIs},
    },
    identity::Signatures,
    plan::{CrashPoint, Direction, Distribution, Fault, FaultKind, Manner, Network, Partition, Window},
};

/// How long a caller waits where nothing will come.
const PATIENCE: Duration = Duration::from_millis(150);

fn lanes() -> Vec<Lane> {
    let bind = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let authority = Some(Arc::new(Authority::new().expect("an authority can be made")));
    let [direct, pipe] = [Lane::Direct(Signatures::Real), Lane::Pipe(Signatures::Real)];
    vec![direct, pipe, Lane::Sockets { bind, authority: None }, Lane::Sockets { bind, authority }]
}

/// Faults of these kinds that strike the shop every time.
fn certain(kinds: Vec<FaultKind>) -> Vec<Fault> {
    let faults = kinds.into_iter().zip(1..).map(|(kind, number)| Fault {
        id: format!("F{number}").into(),
        kind,
        at: Some("shop".into()),
        on: vec![],
        step: None,
        during: None,
        chance: 1.0,
        strikes: None,
    });
    faults.collect()
}

/// A crash where the Company counts.
fn crash() -> FaultKind {
    FaultKind::Crash { point: CrashPoint::AcceptRecorded, down_for: Duration::ZERO, only: Default::default() }
}

/// A field with one Company that counts what it was asked, on its disk.
async fn field(lane: Lane, faults: Vec<FaultKind>) -> Arc<Field> {
    field_on(lane, faults, Network::calm()).await
}

/// The same on a network.
async fn field_on(lane: Lane, faults: Vec<FaultKind>, network: Network) -> Arc<Field> {
    let companies = [(SmolStr::from("clothes-1"), SmolStr::from("shop"))];
    let field = Field::new(FieldOptions {
        seed: 7,
        clock: Clock::real(),
        epoch: Timestamp::UNIX_EPOCH,
        recorder: Recorder::in_memory(),
        faults: Faults::new(7, certain(faults), companies).with_network(network),
        lane,
    })
    .expect("a field can be made");
    let host = Host {
        party: Party::new(PartyKind::Company, "clothes-1"),
        names: vec!["clothes-1.example".into()],
        direct: false,
        port: 0,
        make: Box::new(|world| Router::new().route("/count", post(count)).with_state(world)),
    };
    field.open(host).await.expect("a party can be put on the field");
    field.faults().begin(field.now());
    field
}

async fn count(State(world): State<World>, body: Bytes) -> String {
    let count = world.disk().table::<u32>("counts").transact("all", |row| {
        let count = row.as_deref().copied().unwrap_or(0) + 1;
        *row = Some(Arc::new(count));
        count
    });
    if body == "crash" {
        let passing = Passing { key: "op", attempt: 0, action: "count", how: Manner::Plain };
        world.point(CrashPoint::AcceptRecorded, passing).await;
    }
    count.to_string()
}

fn counted(field: &Arc<Field>) -> Option<u32> {
    let company = field.world(Party::new(PartyKind::Company, "clothes-1"));
    company.disk().table::<u32>("counts").get("all").as_deref().copied()
}

async fn ask(field: &Arc<Field>, host: &str, body: &'static str) -> Reply {
    let agent = field.world(Party::new(PartyKind::Agent, "a1"));
    let request = Request::post(format!("https://{host}/count")).body(Bytes::from_static(body.as_bytes()));
    let about = About {
        purpose: Purpose::Confirm,
        call: Some("c1".into()),
        key: "op".into(),
        attempt: 0,
        action: None,
        step: None,
        deadline: agent.now() + PATIENCE,
    };
    agent.call(request.expect("a request"), about).await
}

/// The answer in short: its body, or why there is none.
fn short(reply: &Reply) -> String {
    match &reply.answer {
        Answer::Response(response) => {
            format!("{} {}", response.status().as_u16(), String::from_utf8_lossy(response.body()))
        }
        Answer::Unknown(why) => format!("unknown {}", why.word()),
        Answer::Unsent(why) => format!("unsent {}", why.word()),
    }
}

fn wire_seen(field: &Field) -> Vec<(WireIs, u32)> {
    let (records, _) = field.recorder().snapshot();
    records
        .into_iter()
        .filter_map(|record| match record.event {
            Event::Wire(wire) => Some((wire.is, wire.copy)),
            _ => None,
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_moved_wall_clock_is_moved_for_everybody_and_from_then_on() {
    let field = field(Lane::Direct(Signatures::Real), Vec::new()).await;
    let (one, other) =
        (field.world(Party::new(PartyKind::Agent, "one")), field.world(Party::new(PartyKind::Agent, "other")));
    let epoch = one.wall_at(Moment::START);
    let seconds = Duration::from_secs;
    one.sleep(seconds(10)).await;
    one.move_wall(seconds(3_600));
    assert_eq!(other.wall(), epoch + seconds(3_610));
    assert_eq!(other.now(), Moment::START + seconds(10));
    assert_eq!(other.wall_at(Moment::START + seconds(9)), epoch + seconds(9));
    one.sleep(seconds(5)).await;
    other.move_wall(seconds(100));
    assert_eq!(one.wall(), epoch + seconds(3_715));
    // The way back: times before, within and after the hour that was left out.
    for (wall, moment) in
        [(9, 9), (10, 10), (1_000, 10), (3_610, 10), (3_612, 12), (3_700, 15), (3_715, 15), (3_725, 25)]
    {
        assert_eq!(one.moment_at(epoch + seconds(wall)), Moment::START + seconds(moment), "{wall}");
    }
    let told = field.recorder().snapshot().0.into_iter().filter_map(|record| match record.event {
        Event::Clock(moved) => Some((record.at, moved.since, moved.by_ms)),
        _ => None,
    });
    let told: Vec<_> = told.collect();
    assert_eq!(told, [(10_000_000_000, 10_000_000_000, 3_600_000), (15_000_000_000, 15_000_000_000, 100_000)]);
}

#[tokio::test]
async fn the_wall_clock_moves_a_hundred_years_and_no_further() {
    let field = field(Lane::Direct(Signatures::Real), Vec::new()).await;
    let agent = field.world(Party::new(PartyKind::Agent, "a1"));
    let year = Duration::from_secs(365 * 24 * 3_600);
    for by in [60 * year, 41 * year, 40 * year, Duration::from_millis(1), Duration::MAX] {
        agent.move_wall(by);
    }
    let moved = agent.wall_at(agent.now()).duration_since(agent.wall_at(Moment::START));
    assert!((100 * year..101 * year).contains(&moved.unsigned_abs()), "{moved}");
    let told = field.recorder().snapshot().0.into_iter().filter_map(|record| match record.event {
        Event::Clock(moved) => Some(moved.by_ms),
        _ => None,
    });
    assert_eq!(told.map(u128::from).collect::<Vec<_>>(), [(60 * year).as_millis(), (40 * year).as_millis()]);
}

#[tokio::test]
async fn a_request_reaches_the_party_that_its_host_names() {
    for lane in lanes() {
        let field = field(lane, vec![]).await;
        for expected in ["200 1", "200 2"] {
            let reply = ask(&field, "Clothes-1.Example", "").await;
            assert_eq!(short(&reply), expected);
        }
        assert_eq!(short(&ask(&field, "nobody.example", "").await), "unsent no-such-host");
        let seen = wire_seen(&field);
        assert_eq!(seen, [(WireIs::Arrived, 1), (WireIs::Answered, 1), (WireIs::Arrived, 1), (WireIs::Answered, 1)]);
        field.close().await;
    }
}

#[tokio::test]
async fn a_lost_request_does_nothing_and_a_lost_answer_leaves_its_work_done() {
    for (fault, done) in [(FaultKind::LoseRequest, None), (FaultKind::LoseAnswer, Some(1)), (FaultKind::Reset, Some(1))]
    {
        for lane in lanes() {
            let reset = fault == FaultKind::Reset;
            let field = field(lane, vec![fault.clone()]).await;
            let reply = ask(&field, "clothes-1.example", "").await;
            assert_eq!(short(&reply), if reset { "unknown reset" } else { "unknown timeout" });
            assert_eq!(counted(&field), done, "{fault:?}");
            field.close().await;
        }
    }
}

#[tokio::test]
async fn a_request_on_its_way_arrives_though_its_sender_gave_up() {
    for lane in lanes() {
        let field = field(lane, vec![FaultKind::Delay(Distribution::Constant(PATIENCE * 2))]).await;
        assert_eq!(short(&ask(&field, "clothes-1.example", "").await), "unknown timeout");
        while counted(&field) != Some(1) {
            tokio::task::yield_now().await;
        }
        field.close().await;
    }
}

#[tokio::test]
async fn a_duplicate_arrives_twice_and_one_answer_comes_back() {
    for lane in lanes() {
        let field = field(lane, vec![FaultKind::Duplicate { after: Distribution::ZERO }]).await;
        let reply = ask(&field, "clothes-1.example", "").await;
        assert!(matches!(&reply.answer, Answer::Response(_)), "{}", short(&reply));
        // Wait for the copy whose answer nobody hears.
        while counted(&field) != Some(2) {
            tokio::task::yield_now().await;
        }
        field.close().await;
        let mut arrived: Vec<_> =
            wire_seen(&field).into_iter().filter(|seen| seen.0 == WireIs::Arrived).map(|seen| seen.1).collect();
        arrived.sort_unstable();
        assert_eq!(arrived, [1, 2]);
    }
}

#[tokio::test]
async fn a_partition_stops_messages_of_its_direction_and_an_end_of_load_ends_it() {
    let during = Window { from: Duration::ZERO, to: Duration::from_secs(3_600) };
    for (direction, done) in [(Direction::Requests, None), (Direction::Answers, Some(1)), (Direction::Both, None)] {
        for lane in lanes() {
            let cut = Partition { id: "network-partition-1".into(), at: Some("shop".into()), direction, during };
            let field = field_on(lane, vec![], Network { partitions: vec![cut], ..Network::calm() }).await;
            assert_eq!(short(&ask(&field, "clothes-1.example", "").await), "unknown timeout");
            assert_eq!((counted(&field), field.faults_struck()), (done, 1), "{direction}");
            field.faults().end(field.now());
            let reply = ask(&field, "clothes-1.example", "").await;
            assert_eq!(short(&reply), format!("200 {}", done.unwrap_or(0) + 1));
            field.close().await;
        }
    }
}

#[tokio::test]
async fn a_message_takes_the_networks_time_each_way() {
    let one_way = Duration::from_millis(20);
    for lane in lanes() {
        let network = Network { latency: Distribution::Constant(one_way), ..Network::calm() };
        let field = field_on(lane, vec![], network).await;
        let began = field.now();
        assert_eq!(short(&ask(&field, "clothes-1.example", "").await), "200 1");
        assert!(field.now().since(began) >= 2 * one_way);
        assert_eq!(field.faults_struck(), 0, "time on the way is no fault");
        field.close().await;
    }
}

#[tokio::test]
async fn a_refusal_comes_from_in_front_of_the_party() {
    for lane in lanes() {
        let refuse = FaultKind::Refuse { status: 503, retry_after: Some(Duration::from_millis(1_500)) };
        let field = field(lane, vec![refuse]).await;
        let reply = ask(&field, "clothes-1.example", "").await;
        let Answer::Response(response) = &reply.answer else { panic!("{}", short(&reply)) };
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()["retry-after"], "2", "whole seconds, rounded up");
        assert_eq!(counted(&field), None);
        field.close().await;
    }
}

#[tokio::test]
async fn a_refused_request_is_neither_lost_nor_doubled() {
    let harm = [FaultKind::Duplicate { after: Distribution::ZERO }, FaultKind::LoseAnswer];
    let bad = Network { loss: 1.0, duplicate: 1.0, ..Network::calm() };
    for (faults, network) in [(vec![], bad), (harm.into(), Network::calm())] {
        let refuse = FaultKind::Refuse { status: 503, retry_after: None };
        let faults = std::iter::once(refuse).chain(faults).collect();
        let field = field_on(Lane::Direct(Signatures::Real), faults, network).await;
        assert!(short(&ask(&field, "clothes-1.example", "").await).starts_with("503"));
        field.close().await;
        let told = field.recorder().snapshot().0.into_iter().filter_map(|record| match record.event {
            Event::Fault(fault) => Some(fault.kind),
            _ => None,
        });
        assert_eq!(told.collect::<Vec<_>>(), ["refuse"]);
    }
}

#[tokio::test]
async fn a_crash_ends_the_work_at_its_point_and_keeps_the_disk() {
    for lane in lanes() {
        let field = field(lane, vec![crash()]).await;
        assert_eq!(short(&ask(&field, "clothes-1.example", "crash").await), "unknown reset");
        // While it is down, what is sent to it fails; afterwards it answers from its disk.
        let mut reply = ask(&field, "clothes-1.example", "").await;
        while !matches!(reply.answer, Answer::Response(_)) {
            tokio::task::yield_now().await;
            reply = ask(&field, "clothes-1.example", "").await;
        }
        assert_eq!(short(&reply), "200 2");
        field.close().await;
        let (records, _) = field.recorder().snapshot();
        let lives: Vec<_> = records
            .into_iter()
            .filter_map(|record| match record.event {
                Event::Lifecycle(lifecycle) => Some((lifecycle.is, lifecycle.incarnation)),
                _ => None,
            })
            .collect();
        assert_eq!(lives, [(LifecycleIs::Started, 1), (LifecycleIs::Stopped, 1), (LifecycleIs::Started, 2)]);
    }
}

#[tokio::test]
async fn a_hang_up_cancels_the_handler_and_leaves_what_it_did() {
    for lane in lanes() {
        let field = field(lane, vec![FaultKind::HangUp, crash()]).await;
        let reply = ask(&field, "clothes-1.example", "").await;
        assert_eq!(short(&reply), "unknown reset");
        field.close().await;
    }
}

#[tokio::test]
async fn a_stranger_to_the_runs_authority_is_not_trusted() {
    let bind = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let [one, other] = [(), ()].map(|()| Some(Arc::new(Authority::new().expect("an authority can be made"))));
    let here = field(Lane::Sockets { bind, authority: one }, vec![]).await;
    let there = field(Lane::Sockets { bind, authority: other }, vec![]).await;
    let address = here.addresses()[0].1;
    let request = Request::post("/count").body(Bytes::new()).expect("a request");
    let answer = {
        let to = there.pool().party("clothes-1.example", address);
        there.pool().exchange(to, request, super::pool::Cut::None, || ()).await
    };
    assert!(matches!(answer, Answer::Unsent(Why::Untrusted)), "{answer:?}");
    here.close().await;
    there.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_party_is_told_of_the_answers_that_arrive_and_of_no_other() {
    for (faults, arrives) in [(vec![], 1), (vec![FaultKind::LoseAnswer], 0)] {
        let field = field(Lane::Direct(Signatures::Real), faults).await;
        let arrived = Arc::new(AtomicU32::new(0));
        let told = Arc::clone(&arrived);
        let teller = Host {
            party: Party::new(PartyKind::Company, "clothes-1"),
            names: vec!["teller.example".into()],
            direct: true,
            port: 0,
            make: Box::new(move |_| {
                let told = Arc::clone(&told);
                let tell = move || {
                    let told = Arc::clone(&told);
                    let delivery = Delivery::new(move || {
                        told.fetch_add(1, Ordering::Relaxed);
                    });
                    std::future::ready((axum::Extension(delivery), "done"))
                };
                Router::new().route("/count", post(tell))
            }),
        };
        field.open(teller).await.expect("a party can be put on the field");
        let reply = ask(&field, "teller.example", "").await;
        assert_eq!(matches!(reply.answer, Answer::Response(_)), arrives == 1, "{}", short(&reply));
        assert_eq!(arrived.load(Ordering::Relaxed), arrives);
    }
}
