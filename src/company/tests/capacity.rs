//! A Company with bounds: who waits for what, in turn; who is refused; and what is left when a sender gives up.

use std::time::Duration;

use futures_util::future::{join, join_all, join3};
use http::StatusCode;

use super::stand::{Agent, Stand, ms, plan};
use crate::{
    history::record::Purpose,
    plan::{Capacity, CompanyPlan, DatabaseShare, Distribution, RowLocks},
};

/// One worker who takes 100 ms for a read and no time for anything else.
fn one_worker() -> Capacity {
    Capacity {
        workers: 1,
        queue: None,
        retry_after: None,
        service: Distribution::ZERO,
        service_of: [(Purpose::Read, Distribution::Constant(ms(100)))].into(),
        abandon: false,
        database: None,
    }
}

/// As many workers as anybody needs, and a database in which a request takes 100 ms.
fn database(connections: u32, row_locks: RowLocks) -> Capacity {
    let time = Distribution::Constant(ms(100));
    let database = Some(DatabaseShare { name: None, connections, time, row_locks });
    Capacity { workers: 100, service_of: Default::default(), database, ..one_worker() }
}

async fn stand(capacity: Capacity) -> Stand {
    Stand::new(CompanyPlan { capacity: Some(capacity), ..plan() }, Vec::new()).await
}

/// How long something takes.
async fn time<T>(stand: &Stand, work: impl Future<Output = T>) -> Duration {
    let began = stand.field.now();
    work.await;
    stand.field.now().since(began)
}

/// Begins to read and gives up after so long.
async fn read_in_vain(stand: &Stand, agent: &Agent, id: &str, patience: Duration) {
    tokio::select! {
        biased;
        _ = agent.read(id) => panic!("an answer came in time"),
        () = stand.pass(patience) => {}
    }
}

#[tokio::test(start_paused = true)]
async fn requests_wait_in_turn_for_a_worker_and_documents_for_nobody() {
    let stand = stand(one_worker()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let reads = join_all((0..3).map(|_| time(&stand, agent.read(&id))));
    let (reads, document) = join(reads, time(&stand, agent.get("/openapi.json"))).await;
    assert_eq!(reads, [ms(100), ms(200), ms(300)]);
    assert_eq!(document, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn what_the_queue_has_no_place_for_is_refused_before_it_is_looked_at() {
    let capacity = Capacity { queue: Some(1), retry_after: Some(ms(1_500)), ..one_worker() };
    let stand = stand(capacity).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let (_, queued, (refused, after)) = join3(agent.read(&id), agent.read(&id), async {
        let began = stand.field.now();
        let refused = agent.confirm(&id, 1).await.expect("an answer");
        (refused, stand.field.now().since(began))
    })
    .await;
    assert_eq!(queued.state(), "proposed");
    assert_eq!((refused.status, refused.error()), (StatusCode::SERVICE_UNAVAILABLE, "temporarily_unavailable"));
    assert_eq!((refused.headers["retry-after"].as_bytes(), after), (&b"2"[..], Duration::ZERO));
    // Whoever waited has left a place.
    assert_eq!(agent.confirm(&id, 1).await.expect("an answer").state(), "succeeded");
}

#[tokio::test(start_paused = true)]
async fn who_gave_up_takes_a_worker_all_the_same() {
    let stand = stand(one_worker()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let (_, next) =
        join(join(read_in_vain(&stand, &agent, &id, ms(10)), read_in_vain(&stand, &agent, &id, ms(20))), async {
            stand.pass(ms(50)).await;
            time(&stand, agent.read(&id)).await
        })
        .await;
    assert_eq!(next, ms(250), "two reads that nobody waits for come first");
}

#[tokio::test(start_paused = true)]
async fn what_was_asked_for_is_done_although_nobody_waits_for_the_answer() {
    let capacity = Capacity { service: Distribution::Constant(ms(100)), ..one_worker() };
    let stand = stand(capacity).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    tokio::select! {
        biased;
        _ = agent.confirm(&id, 1) => panic!("an answer came in time"),
        () = stand.pass(ms(30)) => {}
    }
    stand.pass(ms(500)).await;
    assert_eq!(stand.steps(), ["take-back", "charge", "ship"]);
}

#[tokio::test(start_paused = true)]
async fn who_gave_up_leaves_the_queue_where_the_company_notices() {
    let stand = stand(Capacity { abandon: true, queue: Some(1), ..one_worker() }).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let (_, next) =
        join(join(read_in_vain(&stand, &agent, &id, ms(10)), read_in_vain(&stand, &agent, &id, ms(20))), async {
            stand.pass(ms(50)).await;
            let began = stand.field.now();
            let heard = agent.read(&id).await;
            (heard.status, stand.field.now().since(began))
        })
        .await;
    // The worker finishes what it began; the other one's place is free again.
    assert_eq!(next, (StatusCode::OK, ms(150)));
}

#[tokio::test(start_paused = true)]
async fn a_stop_empties_the_queue() {
    let stand = stand(one_worker()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let waiting =
        join_all((0..50).map(|_| {
            agent.send(agent.signed(http::Method::GET, &format!("/poppy/operations/{id}"), ""), Purpose::Read)
        }));
    let (heard, ()) = join(waiting, async {
        stand.pass(ms(250)).await;
        stand.restart().await;
    })
    .await;
    assert_eq!(heard.iter().flatten().count(), 2, "answered before the stop");
    assert_eq!(time(&stand, agent.read(&id)).await, ms(100));
}

#[tokio::test(start_paused = true)]
async fn requests_wait_in_turn_for_a_connection() {
    let stand = stand(database(2, RowLocks::Writes)).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let reads = join_all((0..5).map(|_| time(&stand, agent.read(&id)))).await;
    assert_eq!(reads, [ms(100), ms(100), ms(200), ms(200), ms(300)]);
}

#[tokio::test(start_paused = true)]
async fn requests_on_one_operation_wait_for_its_row() {
    for (locks, writes, reads) in [
        (RowLocks::Writes, [ms(100), ms(200), ms(300)], [ms(100), ms(100)]),
        (RowLocks::All, [ms(100), ms(200), ms(300)], [ms(400), ms(500)]),
        (RowLocks::None, [ms(100); 3], [ms(100); 2]),
    ] {
        let stand = stand(database(100, locks)).await;
        let agent = stand.agent("u1").await;
        let (id, other) = (agent.proposed("ord_1").await, agent.proposed("ord_2").await);
        let cancels = join_all((0..3).map(|_| time(&stand, agent.cancel(&id))));
        let looks = join_all((0..2).map(|_| time(&stand, agent.read(&id))));
        let (seen, seen_reads, elsewhere) = join3(cancels, looks, time(&stand, agent.cancel(&other))).await;
        assert_eq!((&seen[..], &seen_reads[..]), (&writes[..], &reads[..]), "{locks:?}");
        assert_eq!(elsewhere, ms(100), "{locks:?}");
    }
}

/// Whoever waits for a row holds a connection meanwhile: one popular operation starves all others.
#[tokio::test(start_paused = true)]
async fn a_row_that_many_wait_for_takes_the_connections() {
    let stand = stand(database(2, RowLocks::Writes)).await;
    let agent = stand.agent("u1").await;
    let (id, other) = (agent.proposed("ord_1").await, agent.proposed("ord_2").await);
    let popular = join_all((0..4).map(|_| time(&stand, agent.cancel(&id))));
    let (popular, elsewhere) = join(popular, time(&stand, agent.cancel(&other))).await;
    assert_eq!(popular, [ms(100), ms(200), ms(300), ms(400)]);
    assert_eq!(elsewhere, ms(400), "it had its turn when three of the others were done");
}
