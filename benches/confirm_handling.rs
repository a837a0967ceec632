//! What a Company's handling of a confirm costs: the desk alone, the whole route in process with the full check of token
//! and proof, and one hot operation that 64 confirms hit at once. Beside them, in the same run, the parts that a signed
//! confirm cannot do without: one ES256 signature, one verification, one bare exchange of the same size between a hyper
//! client and an axum server on loopback.
//!
//! Everything runs on one thread, so that times are CPU times but for the bare exchange, where client and server share
//! the thread as well. The history is on, into a folder of its own. Proofs are made before the clock starts.

#![expect(clippy::disallowed_methods, reason = "a bench measures from outside the world")]
#![allow(missing_docs)] // criterion's macros write functions without docs

use std::{
    hint::black_box,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{Router, routing::get, routing::post};
use bytes::Bytes;
use criterion::{Criterion, criterion_group, criterion_main};
use futures_util::future::join_all;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use poppyfield::{
    company::{self, Premises, trial::Trial},
    fault::Faults,
    history::{Recorder, record::Purpose},
    identity::{AssertionMaker, ProofMaker, Signatures, SigningKey, digest},
    plan::{
        Action, Answers, Approval, BackendSettings, CompanyPlan, Defects, Distribution, OnPartial, PriceRange,
        Proposals, Sessions, Step, StoreSettings, WithoutExtension,
    },
    protocol::{ClientMetadata, JwkSet, SessionMode, token},
    world::{About, Answer, Clock, Field, FieldOptions, Host, Lane, Party, PartyKind, World},
};
use tokio::runtime::Runtime;

#[global_allocator] // as the program has it
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ORIGIN: &str = "https://shop-1.example";
const CLIENT_ID: &str = "https://agent-1.example/agent.json";
const BODY: &str = r#"{"revision":1,"approved_by":"user"}"#;
/// Confirms that hit one operation at once.
const STORM: usize = 64;

fn action() -> Action {
    Action {
        name: "exchange".into(),
        operation: true,
        without_extension: WithoutExtension::Refuse,
        approval: Approval::User,
        scope: Some("orders:write".into()),
        signed_in: false,
        price: PriceRange { from_minor: 500, to_minor: 12_000, currency: "USD".into() },
        summary: None,
        terms: None,
        done: None,
        steps: vec![Step { name: "ship".into(), undo: None, latency: None, fail: 0.0, phrase: None }],
        can_stop_until: None,
        on_partial: OnPartial::Report,
    }
}

/// A Company that takes no time of its own, and an action of one step.
fn plan() -> CompanyPlan {
    let hour = Duration::from_secs(3_600);
    CompanyPlan {
        name: "shop-1".into(),
        group: "shop".into(),
        profile: "shop".into(),
        number: 1,
        domain: "shop-1.example".into(),
        title: "Shop".to_owned(),
        operations_version: "1".into(),
        sessions: Sessions {
            mode: SessionMode::Dpop02,
            nonce_every: None,
            proof_window: Duration::from_secs(60),
            token_lifetime: hour,
            operations_resource: false,
        },
        answers: Answers { latency: Distribution::ZERO, answer_within: hour, retry_after: Duration::from_secs(1) },
        proposals: Proposals {
            lifetime: hour,
            revise_before_approval: 0.0,
            revise_after: Distribution::ZERO,
            revise_during_confirm: 0.0,
        },
        store: StoreSettings { keep_final: hour },
        backend: BackendSettings { latency: Distribution::ZERO, timeout: hour, ask_again: Duration::from_secs(1) },
        capacity: None,
        actions: [("exchange".into(), action())].into_iter().collect(),
        defects: Defects::default(),
    }
}

/// A field with a Company, and an Agent with a Session there.
struct Stand {
    _field: Arc<Field>,
    world: World,
    proofs: ProofMaker,
    token: String,
    ath: String,
    numbers: AtomicU64,
}

impl Stand {
    async fn new(recorder: Recorder) -> Self {
        let field = Field::new(FieldOptions {
            seed: 7,
            clock: Clock::real(),
            epoch: jiff_now(),
            recorder,
            faults: Faults::new(7, Vec::new(), []),
            lane: Lane::Direct(Signatures::Real),
        })
        .expect("a field");
        let plan = Arc::new(plan());
        let key = SigningKey::from_scalar(&[9; 32]).expect("a small number is a scalar");
        let (premises, backend, operator) = (Premises::of(Arc::clone(&plan)), plan, key.clone());
        open(&field, PartyKind::Backend, "backend.shop-1", move |world| {
            poppyfield::backend::router(world, Arc::clone(&backend))
        })
        .await;
        open(&field, PartyKind::Company, "shop-1", move |world| {
            company::router(world, &premises, &company::Databases::default())
        })
        .await;
        open(&field, PartyKind::Operator, "agent-1", move |_| documents(&operator)).await;
        let world = field.world(Party::new(PartyKind::Agent, "u1"));
        let mut stand = Self {
            _field: field,
            world,
            proofs: ProofMaker::new(SigningKey::from_scalar(&[7; 32]).expect("a small number is a scalar")),
            token: String::new(),
            ath: String::new(),
            numbers: AtomicU64::new(0),
        };
        stand.token = stand.new_token(key).await;
        stand.ath = digest::ath(&stand.token);
        stand
    }

    async fn new_token(&self, key: SigningKey) -> String {
        let maker = AssertionMaker::new(key, "k1", CLIENT_ID);
        let now = self.world.wall().as_second();
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs([
            ("grant_type", token::GRANT_JWT_BEARER),
            ("assertion", &maker.session("u1", ORIGIN, now, 60, &self.jti()).expect("signing works")),
            ("client_id", CLIENT_ID),
            ("client_assertion_type", token::CLIENT_ASSERTION_TYPE),
            ("client_assertion", &maker.client(ORIGIN, now, 60, &self.jti()).expect("signing works")),
            ("scope", "orders:write"),
        ]);
        let url = format!("{ORIGIN}/oauth/token");
        let proof = self.proofs.make("POST", &url, now, &self.jti(), None, None).expect("signing works");
        let request = Request::builder().method("POST").uri(url).header("dpop", proof);
        let answer = self.send(request.body(form.finish().into()).expect("a request"), Purpose::Token).await;
        let answer: token::TokenResponse = serde_json::from_slice(&answer.1).expect("a token");
        answer.access_token
    }

    fn jti(&self) -> String {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        digest::base64url(&digest::sha256(&number.to_le_bytes())[..16])
    }

    fn signed(&self, path: &str, body: &'static str) -> Request<Bytes> {
        let url = format!("{ORIGIN}{path}");
        let now = self.world.wall().as_second();
        let proof = self.proofs.make("POST", &url, now, &self.jti(), Some(&self.ath), None).expect("signing works");
        Request::builder()
            .method("POST")
            .uri(url)
            .header("authorization", format!("DPoP {}", self.token))
            .header("dpop", proof)
            .body(Bytes::from_static(body.as_bytes()))
            .expect("a request")
    }

    async fn send(&self, request: Request<Bytes>, purpose: Purpose) -> (StatusCode, Bytes) {
        let about = About {
            purpose,
            call: None,
            key: "k".into(),
            attempt: 0,
            action: None,
            step: None,
            deadline: self.world.now() + Duration::from_secs(60),
        };
        match self.world.call(request, about).await.answer {
            Answer::Response(response) => (response.status(), response.into_body()),
            Answer::Unknown(why) | Answer::Unsent(why) => panic!("no answer: {why:?}"),
        }
    }

    /// A fresh operation; the path that confirms it.
    async fn proposed(&self) -> String {
        let order = self.numbers.fetch_add(1, Ordering::Relaxed);
        let request = self.signed(&format!("/orders/ord_{order}/exchanges"), "{}");
        let (status, body) = self.send(request, Purpose::Propose).await;
        assert_eq!(status, StatusCode::ACCEPTED);
        let answer: serde_json::Value = serde_json::from_slice(&body).expect("an operation");
        let id = answer["operation"]["operation_id"].as_str().expect("an ID");
        format!("/poppy/operations/{id}/confirm")
    }

    async fn confirm(&self, request: Request<Bytes>) {
        let (status, body) = self.send(request, Purpose::Confirm).await;
        assert_eq!(status, StatusCode::OK);
        black_box(body);
    }
}

fn jiff_now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

async fn open(
    field: &Arc<Field>,
    kind: PartyKind,
    name: &'static str,
    make: impl Fn(World) -> Router + Send + Sync + 'static,
) {
    let names = vec![format!("{name}.example")];
    let host = Host { party: Party::new(kind, name), names, direct: true, port: 0, make: Box::new(make) };
    field.open(host).await.expect("a host");
}

fn documents(key: &SigningKey) -> Router {
    let metadata = ClientMetadata::new(CLIENT_ID, "Agent", "https://agent-1.example/jwks.json").with_operations("1");
    let keys = JwkSet { keys: vec![key.public().jwk_with_kid("k1")] };
    Router::new()
        .route("/agent.json", get(move || async move { axum::Json(metadata) }))
        .route("/jwks.json", get(move || async move { axum::Json(keys) }))
}

fn one_thread() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// Proofs are good for a minute: batches are prepared anew, and no larger than takes a few seconds.
fn in_batches(iterations: u64, mut batch: impl FnMut(usize) -> Duration) -> Duration {
    let mut left = iterations;
    let mut total = Duration::ZERO;
    while left > 0 {
        let size = left.min(2_000);
        total += batch(usize::try_from(size).expect("a small number"));
        left -= size;
    }
    total
}

fn handling(criterion: &mut Criterion) {
    let runtime = one_thread();
    let folder = tempfile::tempdir().expect("a folder");
    let recorder = Recorder::to_folder(folder.path()).expect("a recorder");
    let stand = runtime.block_on(Stand::new(recorder.clone()));
    let mut group = criterion.benchmark_group("confirm_handling");
    let trial = Trial::new(action());
    group.bench_function("desk alone", |bencher| {
        bencher.iter(|| assert!(trial.confirm(black_box(BODY.as_bytes()))));
    });
    group.bench_function("whole route, operation already final", |bencher| {
        let path = runtime.block_on(stand.proposed());
        runtime.block_on(stand.confirm(stand.signed(&path, BODY)));
        bencher.iter_custom(|iterations| {
            in_batches(iterations, |size| {
                let requests: Vec<_> = (0..size).map(|_| stand.signed(&path, BODY)).collect();
                runtime.block_on(async {
                    let began = Instant::now();
                    for request in requests {
                        stand.confirm(request).await;
                    }
                    began.elapsed()
                })
            })
        });
    });
    group.bench_function("whole route, one step performed", |bencher| {
        bencher.iter_custom(|iterations| {
            in_batches(iterations, |size| {
                runtime.block_on(async {
                    let mut requests = Vec::with_capacity(size);
                    for _ in 0..size {
                        let path = stand.proposed().await;
                        requests.push(stand.signed(&path, BODY));
                    }
                    let began = Instant::now();
                    for request in requests {
                        stand.confirm(request).await;
                    }
                    began.elapsed()
                })
            })
        });
    });
    group.bench_function("hot operation, 64 confirms at once", |bencher| {
        bencher.iter_custom(|iterations| {
            let mut total = Duration::ZERO;
            for _ in 0..iterations {
                total += runtime.block_on(async {
                    let path = stand.proposed().await;
                    let requests: Vec<_> = (0..STORM).map(|_| stand.signed(&path, BODY)).collect();
                    let began = Instant::now();
                    join_all(requests.into_iter().map(|request| stand.confirm(request))).await;
                    began.elapsed()
                });
            }
            total
        });
    });
    group.finish();
    drop(runtime);
    recorder.finish().expect("the history is written");
}

fn parts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("confirm_parts");
    let key = SigningKey::from_scalar(&[7; 32]).expect("a small number is a scalar");
    let message = vec![b'x'; 430]; // about what a proof's header and claims are
    let signature = key.sign(&message).expect("signing works");
    group.bench_function("one ES256 signature", |bencher| bencher.iter(|| key.sign(black_box(&message))));
    group.bench_function("one ES256 verification", |bencher| {
        bencher.iter(|| assert!(key.public().verifies(black_box(&message), black_box(&signature))));
    });
    let runtime = one_thread();
    let address = runtime.block_on(bare_server());
    let mut sender = runtime.block_on(connect(address));
    let (proof, token) = ("p".repeat(560), format!("DPoP {}", "t".repeat(47)));
    group.bench_function("one bare exchange on loopback", |bencher| {
        bencher.iter(|| {
            runtime.block_on(async {
                let request = Request::builder()
                    .method("POST")
                    .uri("/poppy/operations/op_0123456789/confirm")
                    .header("host", "shop-1.example")
                    .header("authorization", &token)
                    .header("dpop", &proof)
                    .body(Full::new(Bytes::from_static(BODY.as_bytes())))
                    .expect("a request");
                sender.ready().await.expect("an open connection");
                let response = sender.send_request(request).await.expect("an answer");
                black_box(response.into_body().collect().await.expect("a body").to_bytes());
            });
        });
    });
    group.finish();
}

/// An axum server that answers as many bytes as an operation has.
async fn bare_server() -> SocketAddr {
    let answer = Bytes::from(vec![b'o'; 620]);
    let handler = move |body: Bytes| {
        let answer = answer.clone();
        async move {
            black_box(body);
            answer
        }
    };
    let router = Router::new().route("/poppy/operations/{operation_id}/confirm", post(handler));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = hyper_util::service::TowerToHyperService::new(router.clone());
            tokio::spawn(async move {
                // The connection ends with the bench.
                let _ =
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    address
}

async fn connect(address: SocketAddr) -> hyper::client::conn::http1::SendRequest<Full<Bytes>> {
    let stream = tokio::net::TcpStream::connect(address).await.expect("a connection");
    stream.set_nodelay(true).expect("an option");
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("HTTP");
    tokio::spawn(async move {
        let _ = connection.await; // it ends with the bench
    });
    sender
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(4));
    targets = handling, parts
}
criterion_main!(benches);
