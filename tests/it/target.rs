//! A run against a Company that somebody else serves: here `poppyfield serve`'s, over real sockets, with an operator of
//! Agents that it knows already and a control port for its people.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Json, Router,
    extract::State,
    routing::{get, post},
};
use jiff::Timestamp;
use poppyfield::{
    agent::{Absent, NoCount},
    checker::{self, Judgement, Options},
    fault::Faults,
    history::{
        Event, Recorder,
        record::{LedgerEntry, Purpose},
    },
    identity::SigningKey,
    measure::Meter,
    plan::{
        AgentStage, CaFile, CompanyDefect, CompanyPlan, ConnectTo, Distribution, Hook, Hooks, KnownOperator, LoadModel,
        Performed, Plan, RequestShape, Settle, Target, TargetAction,
    },
    protocol::{ClientMetadata, JwkSet},
    scenario::{self, Overrides},
    swarm::{self, Control, Ground, NotLoaded, Ran},
    world::{Authority, Clock, Field, FieldOptions, Host, Lane, Party, PartyKind},
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

const OPERATOR: &str = "atlas.example";

fn in_crate(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn loopback() -> IpAddr {
    IpAddr::V4(Ipv4Addr::LOCALHOST)
}

/// The clock of this machine: the Company and the Agents both go by it.
#[expect(clippy::disallowed_methods, reason = "both sides of this test are in the real world")]
fn now() -> Timestamp {
    Timestamp::now()
}

#[expect(clippy::disallowed_methods, reason = "the tests' own servers are outside the world")]
async fn serve(router: Router) -> SocketAddr {
    let listener = TcpListener::bind((loopback(), 0)).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

/// Somebody else's Company: `clothes-1.example`, trusted by an authority of its own.
struct Theirs {
    field: Arc<Field>,
    recorder: Recorder,
    address: SocketAddr,
    ca: String,
    control: SocketAddr,
    asked: Asked,
    operator: KnownOperator,
}

/// What the people at the control port were asked for, with the path.
type Asked = Arc<Mutex<Vec<(String, Value)>>>;

impl Theirs {
    async fn open(change: impl FnOnce(&mut CompanyPlan)) -> Self {
        let mut companies = scenario::load_companies(&in_crate("sim-companies/clothes.yaml"), 1).expect("a profile");
        change(&mut companies[0]);
        let authority = Arc::new(Authority::new().expect("an authority"));
        let ca = authority.pem();
        let recorder = Recorder::in_memory();
        let ground = Ground {
            recorder: recorder.clone(),
            lane: Lane::Sockets { bind: loopback(), authority: Some(authority) },
            clock: Clock::real(),
            epoch: now(),
            first_port: None,
            may_load: Default::default(),
        };
        let field = swarm::serve(11, &companies, ground).await.expect("a Company can be served");
        let address = field.addresses()[0].1;
        let (operator, documents) = operator();
        field.outsider(OPERATOR, serve(documents).await);
        let asked = Asked::default();
        let people = Router::new()
            .route("/revise", post(note))
            .route("/settle", post(note))
            .route("/totals", post(totals))
            .with_state(asked.clone());
        let count = Router::new().route("/performed", post(performed)).with_state(recorder.clone());
        let control = serve(people.merge(count)).await;
        Self { field, recorder, address, ca, control, asked, operator }
    }

    fn hook(&self, path: &str, body: Value) -> Hook {
        Hook { url: format!("http://{}{path}", self.control), method: "POST".into(), body: Some(body) }
    }

    fn target(&self) -> Target {
        let action = |name: &str, user_approval_required| TargetAction {
            before: Vec::new(),
            propose: shape(&format!("/orders/{{order_id}}/{name}s"), json!({ "item_id": "{item_id}" })),
            change: Some(shape(
                &format!("/orders/{{order_id}}/{name}s/{{operation_id}}"),
                json!({ "item_id": "{item_id}", "replacement_sku": "{sku}" }),
            )),
            resource: None,
            user_approval_required,
        };
        let hook = self.hook("/performed", json!({ "operation_id": "{operation_id}" }));
        Target {
            name: "theirs".into(),
            file: "theirs.yaml".to_owned(),
            domain: "clothes-1.example".into(),
            connect_to: ConnectTo { every: Some(self.address), ..ConnectTo::default() },
            ca: Some(CaFile { path: "ca.pem".to_owned(), pem: self.ca.clone() }),
            session_mode: None,
            clock_error: Duration::from_millis(200),
            operator: Some(self.operator.clone()),
            operators_port: None,
            sign_in: None,
            actions: [("exchange".into(), action("exchange", true)), ("gift-wrap".into(), action("gift-wrap", false))]
                .into_iter()
                .collect(),
            hooks: Hooks {
                performed: Some(Performed::EachOperation { hook, count: "/times".to_owned() }),
                ..Hooks::default()
            },
            known: Default::default(),
        }
    }
}

fn shape(url: &str, body: Value) -> RequestShape {
    RequestShape { method: "POST".into(), url: url.to_owned(), body: Some(body) }
}

/// An operator of Agents with documents of its own.
fn operator() -> (KnownOperator, Router) {
    let key_pem = rcgen::KeyPair::generate().expect("a key").serialize_pem();
    let key = SigningKey::from_pkcs8_pem(&key_pem).expect("a P-256 key");
    let client_id = format!("https://{OPERATOR}/agent.json");
    let mut metadata = ClientMetadata::new(client_id.clone(), "Atlas", format!("https://{OPERATOR}/jwks.json"));
    metadata.redirect_uris.push(format!("https://{OPERATOR}/cb"));
    let metadata = metadata.with_operations("1");
    let keys = JwkSet { keys: vec![key.public().jwk_with_kid("key-1")] };
    let documents = Router::new()
        .route("/agent.json", get(move || std::future::ready(Json(metadata))))
        .route("/jwks.json", get(move || std::future::ready(Json(keys))));
    let known = KnownOperator {
        client_id,
        key_id: "key-1".into(),
        key: "atlas.pem".to_owned(),
        key_pem,
        lists_operations: true,
    };
    (known, documents)
}

/// The Company's own count: how often the step that was done most often was done for this operation.
async fn performed(State(recorder): State<Recorder>, Json(asked): Json<Value>) -> Json<Value> {
    let action = format!("clothes-1/operation/{}", asked["operation_id"].as_str().unwrap_or_default());
    let mut steps: BTreeMap<String, u64> = BTreeMap::new();
    for record in recorder.snapshot().1 {
        if let LedgerEntry::Effect(effect) = record.entry
            && effect.action == action
            && effect.undo_of.is_none()
        {
            *steps.entry(effect.step.to_string()).or_default() += 1;
        }
    }
    Json(json!({ "times": steps.into_values().max().unwrap_or(0) }))
}

/// Somebody does as asked, and remembers it.
async fn note(State(asked): State<Asked>, uri: axum::http::Uri, Json(body): Json<Value>) {
    asked.lock().expect("the list").push((uri.path().to_owned(), body));
}

/// A count in all: 7 before the first time that it is asked for, and three more of two operations each time.
async fn totals(State(asked): State<Asked>) -> Json<Value> {
    let mut asked = asked.lock().expect("the list");
    let before = asked.iter().filter(|(path, _)| path == "/totals").count();
    asked.push(("/totals".to_owned(), Value::Null));
    Json(json!({ "performed": 7 + 3 * before, "operations": 7 + 2 * before }))
}

/// A shipped scenario, small, pointed at the target.
fn aimed(scenario: &str, target: Target) -> Plan {
    let overrides = Overrides { target: Some(target), ..Overrides::default() };
    let path = in_crate("scenarios").join(format!("{scenario}.yaml"));
    let mut plan = scenario::load(&path, &overrides).unwrap_or_else(|problems| panic!("{problems}"));
    plan.swarm.users = 12;
    plan.settle = Duration::from_secs(20);
    for load in &mut plan.load {
        load.operations = Some(20);
        // Few at once, so that there is load as long as there are confirms: faults strike no longer than that.
        if let LoadModel::Closed { stages, think } = &mut load.model {
            *stages = vec![AgentStage { from: 5, to: 5, time: Duration::from_secs(60) }];
            *think = Distribution::Constant(Duration::from_millis(20));
        }
    }
    for fault in &mut plan.faults {
        fault.during = None;
        // So few operations would now and then meet none of the rare ones.
        fault.chance = fault.chance.max(0.5);
    }
    plan
}

struct Done {
    judgement: Judgement,
    ran: Ran,
    events: Vec<Event>,
    ledger: Vec<LedgerEntry>,
}

async fn run(plan: Plan) -> Done {
    run_known_to(plan, None).await
}

/// A run whose own operators, if it has any, `theirs` can find.
async fn run_known_to(plan: Plan, theirs: Option<&Theirs>) -> Done {
    run_under(plan, theirs, &Control::default()).await
}

/// The same, ended by whoever holds the control.
async fn run_under(plan: Plan, theirs: Option<&Theirs>, control: &Control) -> Done {
    let recorder = Recorder::in_memory();
    let ground = Ground {
        recorder: recorder.clone(),
        lane: Lane::Sockets { bind: loopback(), authority: None },
        clock: Clock::real(),
        epoch: now(),
        first_port: None,
        may_load: Default::default(),
    };
    let field = swarm::set_up(&plan, ground).await.expect("the Agents' side can be set up");
    if let Some(theirs) = theirs {
        field.addresses().iter().for_each(|(host, address)| theirs.field.outsider(host, *address));
    }
    let ran = swarm::run(&plan.into(), &field, &Meter::new(), control).await.expect("keys");
    recorder.finish().expect("memory can be written");
    let (history, ledger) = recorder.snapshot();
    let events = history.iter().map(|record| record.event.clone()).collect();
    let entries = ledger.iter().map(|record| record.entry.clone()).collect();
    let judgement = checker::judge(history, ledger, Options::default());
    Done { judgement, ran, events, ledger: entries }
}

impl Done {
    fn anomalies(&self) -> Vec<&'static str> {
        self.judgement.counts_by_anomaly().into_keys().map(|anomaly| anomaly.name()).collect()
    }

    fn explained(&self) -> String {
        self.judgement.findings.iter().take(3).map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    fn faults(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, Event::Fault(_))).count()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_company_that_follows_the_rules_is_judged_and_not_accused() {
    for scenario in ["timeout-recovery", "confirm-storm"] {
        let theirs = Theirs::open(|_| {}).await;
        let done = run(aimed(scenario, theirs.target())).await;
        assert!(done.judgement.findings.is_empty(), "{scenario}:\n{}", done.explained());
        assert!(done.judgement.incomplete.is_empty(), "{:?}", done.judgement.incomplete);
        assert!(done.judgement.counts.operations >= 15, "{scenario}: {:?}", done.judgement.counts);
        assert!(done.faults() > 0, "{scenario}: faults are made by the Agents' side");
        assert!(done.ran.uncounted.is_empty() && !done.ran.interrupted, "{:?}", done.ran.uncounted);
        let counted = &done.ran.hooks["performed"];
        assert!(counted.done > 0 && counted.failed + counted.refused == 0, "{counted:?}");
        let effects = theirs.recorder.snapshot().1.len();
        assert!(effects > 0, "something took effect there");
        theirs.field.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_takes_the_same_run_twice() {
    let theirs = Theirs::open(|_| {}).await;
    let mut proofs: BTreeSet<String> = BTreeSet::new();
    for _ in 0..2 {
        let mut plan = aimed("confirm-storm", theirs.target());
        plan.faults.clear();
        let done = run(plan).await;
        for event in done.events {
            match event {
                // It remembers the identifiers of the run before, and would refuse them as replayed.
                Event::Return(end) => {
                    let why = end.why.unwrap_or_default();
                    assert!(
                        !matches!(why.as_str(), "invalid_client" | "invalid_grant" | "invalid_dpop_proof"),
                        "{why}"
                    );
                }
                Event::Call(call) => {
                    let is_new = call.proof.is_none_or(|proof| proofs.insert(proof.to_string()));
                    assert!(is_new, "a proof of the run before");
                }
                _ => {}
            }
        }
    }
    assert!(proofs.len() > 50, "{}", proofs.len());
    theirs.field.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_defect_that_agents_can_see_is_found_for_its_own_anomaly() {
    for (defect, anomaly) in [
        (CompanyDefect::RewriteConfirmation, "confirmation-rewritten"),
        (CompanyDefect::CheckThenAct, "performed-twice"),
    ] {
        let theirs = Theirs::open(|company| {
            company.defects = [defect].into_iter().collect();
            company.answers.answer_within = Duration::from_millis(100);
        })
        .await;
        let done = run(aimed("confirm-storm", theirs.target())).await;
        assert!(done.anomalies().contains(&anomaly), "{defect}: {:?}", done.anomalies());
        theirs.field.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_before_a_proposal_give_it_their_values() {
    let theirs = Theirs::open(|_| {}).await;
    let mut target = theirs.target();
    let action = target.actions.get_mut("exchange").expect("an action");
    // The simulated Company has no list of orders; its poppy.json will do as an answer with values.
    action.before.push(poppyfield::plan::Preparation {
        request: RequestShape { method: "GET".into(), url: "/.well-known/poppy.json".to_owned(), body: None },
        take: [("order_id".into(), "/organization/domain".to_owned())].into_iter().collect(),
    });
    let done = run(aimed("confirm-storm", target)).await;
    assert!(done.judgement.findings.is_empty(), "{}", done.explained());
    let calls = |purpose| {
        done.events.iter().filter(|event| matches!(event, Event::Call(call) if call.purpose == purpose)).count()
    };
    assert!(calls(Purpose::Prepare) >= 20 && calls(Purpose::Confirm) > 0);
    let terms = done.events.iter().find_map(|event| match event {
        Event::Return(end) => end.view.as_ref().and_then(|view| view.result.clone()),
        _ => None,
    });
    assert!(terms.is_some(), "an operation came to an end");
    theirs.field.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_without_the_value_that_a_proposal_needs_is_told() {
    let theirs = Theirs::open(|_| {}).await;
    let mut target = theirs.target();
    let place = "/organization/0/nope".to_owned();
    target.actions.get_mut("exchange").expect("an action").before.push(poppyfield::plan::Preparation {
        request: RequestShape { method: "GET".into(), url: "/.well-known/poppy.json".to_owned(), body: None },
        take: [("order_id".into(), place.clone())].into_iter().collect(),
    });
    let done = run(aimed("confirm-storm", target)).await;
    let prepared =
        done.events.iter().filter(|event| matches!(event, Event::Call(call) if call.purpose == Purpose::Prepare));
    let absent = Absent { request: "GET /.well-known/poppy.json".to_owned(), place };
    let times = done.ran.absent[&absent];
    assert!(times > 0 && times <= prepared.count() as u64 && done.ran.absent.len() == 1, "{:?}", done.ran.absent);
    theirs.field.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_at_one_target_have_names_of_their_own() {
    let theirs = Theirs::open(|company| company.answers.answer_within = Duration::ZERO).await;
    let mut names = Vec::new();
    for _ in 0..2 {
        let mut target = theirs.target();
        target.hooks.revise = Some(theirs.hook("/revise", json!({ "run": "{run}", "id": "{operation_id}" })));
        let mut plan = aimed("confirm-storm", target);
        plan.faults.clear();
        plan.companies[0].proposals.revise_before_approval = 0.5;
        run(plan).await;
        let asked = std::mem::take(&mut *theirs.asked.lock().expect("the list"));
        let of_run = |(_, body): &(String, Value)| body["run"].as_str().expect("a name").to_owned();
        let of_run: BTreeSet<String> = asked.iter().map(of_run).collect();
        assert_eq!(of_run.len(), 1, "one run, one name");
        names.extend(of_run);
    }
    assert_ne!(names[0], names[1], "the same seed, another run");
    let plain = |name: &String| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    assert!(names.iter().all(|name| name.len() == 10 && plain(name)), "{names:?}");
    theirs.field.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_runs_own_operators_serve_their_documents_where_a_target_knows_none() {
    let theirs = Theirs::open(|_| {}).await;
    let target = Target { operator: None, ..theirs.target() };
    let done = run_known_to(aimed("confirm-storm", target), Some(&theirs)).await;
    assert!(done.judgement.findings.is_empty(), "{}", done.explained());
    assert!(done.judgement.counts.operations >= 15, "{:?}", done.judgement.counts);
    theirs.field.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_people_at_the_target_are_asked_to_change_terms_and_to_end_what_is_in_progress() {
    let theirs = Theirs::open(|company| company.answers.answer_within = Duration::ZERO).await;
    let mut target = theirs.target();
    target.hooks.revise = Some(theirs.hook("/revise", json!({ "operation_id": "{operation_id}" })));
    target.hooks.settle = Some(Settle {
        hook: theirs.hook("/settle", json!({ "operation_id": "{operation_id}", "succeeded": "{succeeded}" })),
        actions: ["exchange".into()].into(),
        after: Distribution::ZERO,
        succeed: 0.5,
    });
    let mut plan = aimed("confirm-storm", target);
    plan.companies[0].proposals.revise_before_approval = 0.5;
    plan.companies[0].proposals.revise_during_confirm = 0.0;
    let done = run(plan).await;
    assert!(done.judgement.findings.is_empty(), "{}", done.explained());
    let asked = theirs.asked.lock().expect("the list").clone();
    let of = |path: &str| asked.iter().filter(|(asked, _)| asked == path).map(|(_, body)| body).collect::<Vec<_>>();
    let ids = |bodies: &[&Value]| {
        bodies.iter().map(|body| body["operation_id"].as_str().expect("an ID").to_owned()).collect::<BTreeSet<_>>()
    };
    let (revised, settled) = (of("/revise"), of("/settle"));
    assert!((4..=16).contains(&revised.len()), "{revised:?}");
    assert_eq!(ids(&settled).len(), settled.len(), "each is ended once");
    assert!(settled.len() > 5 && settled.iter().any(|body| body["succeeded"] == true), "{settled:?}");
    assert!(settled.iter().any(|body| body["succeeded"] == false), "{settled:?}");
    theirs.field.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_hook_left_in_progress_accuses_nobody() {
    let stuck_run = |hooked: bool| async move {
        let theirs = Theirs::open(|company| {
            company.answers.answer_within = Duration::ZERO;
            company.backend.latency = Distribution::Constant(Duration::from_secs(120));
            company.backend.timeout = Duration::from_secs(120);
        })
        .await;
        let mut target = theirs.target();
        target.hooks.settle = hooked.then(|| Settle {
            hook: theirs.hook("/no-such-hook", json!({ "operation_id": "{operation_id}" })),
            actions: target.actions.keys().cloned().collect(),
            after: Distribution::ZERO,
            succeed: 1.0,
        });
        let mut plan = aimed("confirm-storm", target);
        plan.settle = Duration::from_secs(1);
        plan.faults.clear();
        for load in &mut plan.load {
            if let LoadModel::Closed { stages, .. } = &mut load.model {
                stages[0].time = Duration::from_secs(2);
            }
        }
        let done = run(plan).await;
        theirs.field.close().await;
        done
    };
    let (hooked, own) = tokio::join!(stuck_run(true), stuck_run(false));
    assert!(hooked.ran.cut_off > 0 && hooked.ran.hooks["settle"].refused > 0, "{:?}", hooked.ran);
    assert!(hooked.judgement.findings.is_empty(), "{}", hooked.explained());
    // Without such a hook it is the Company that ends them, or does not.
    assert_eq!(own.anomalies(), ["unresolved-at-quiescence"], "{}", own.explained());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_count_in_all_is_taken_before_the_run_and_after_it() {
    let theirs = Theirs::open(|_| {}).await;
    let mut target = theirs.target();
    let (performed, operations) = ("/performed".to_owned(), "/operations".to_owned());
    target.hooks.performed = Some(Performed::Totals { hook: theirs.hook("/totals", json!({})), performed, operations });
    let done = run(aimed("confirm-storm", target)).await;
    let totals = done.ledger.iter().find_map(|entry| match entry {
        LedgerEntry::Totals(totals) => Some((totals.company.as_str(), totals.performed, totals.operations)),
        _ => None,
    });
    assert_eq!(totals, Some(("theirs", 3, 2)), "what came on top");
    assert!(done.anomalies().contains(&"performed-twice"), "{:?}", done.anomalies());
    theirs.field.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_count_that_is_not_to_be_had_is_told() {
    let theirs = Theirs::open(|_| {}).await;
    let mut target = theirs.target();
    let hook = theirs.hook("/no-such-hook", json!({ "operation_id": "{operation_id}" }));
    target.hooks.performed = Some(Performed::EachOperation { hook, count: "/times".to_owned() });
    let done = run(aimed("confirm-storm", target)).await;
    let tally = &done.ran.hooks["performed"];
    assert_eq!(done.ran.uncounted, [(NoCount::UnknownOperation(404), tally.refused)].into());
    assert_eq!(tally.done, 0);
    assert!(tally.refused > 0 && tally.why.as_deref() == Some("status 404"), "{tally:?}");
    theirs.field.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_count_at_another_place_than_was_said_is_told() {
    let theirs = Theirs::open(|_| {}).await;
    let mut target = theirs.target();
    let hook = theirs.hook("/performed", json!({ "operation_id": "{operation_id}" }));
    target.hooks.performed = Some(Performed::EachOperation { hook, count: "/performd".to_owned() });
    let done = run(aimed("confirm-storm", target)).await;
    let place = "/performd".to_owned();
    let why = NoCount::NoNumber { status: 200, place, found: "nothing stands there" };
    assert_eq!(done.ran.uncounted, [(why, done.ran.hooks["performed"].asked)].into());
    theirs.field.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_run_does_not_wait_long_for_a_count_that_never_comes() {
    let theirs = Theirs::open(|_| {}).await;
    let mut target = theirs.target();
    let silent = TcpListener::bind((loopback(), 0)).await.expect("a port");
    let address = silent.local_addr().expect("an address");
    let url = format!("http://{address}/performed");
    let hook = Hook { url, method: "POST".into(), body: Some(json!({ "operation_id": "{operation_id}" })) };
    target.hooks.performed = Some(Performed::EachOperation { hook, count: "/times".to_owned() });
    let control = Control::default();
    let stop = control.stop.clone();
    let first_question = async {
        let connection = silent.accept().await.expect("a connection"); // and never an answer
        stop.cancel();
        connection
    };
    let (done, _connection) = tokio::join!(run_under(aimed("confirm-storm", target), None, &control), first_question);
    assert!(done.ran.interrupted);
    assert!(done.ran.uncounted.contains_key(&NoCount::NotAsked), "{:?}", done.ran.uncounted);
    theirs.field.close().await;
}

async fn look(target: Target) -> Result<SocketAddr, NotLoaded> {
    let plan = aimed("confirm-storm", target);
    let reached = swarm::probe(&plan, &Default::default(), now()).await?;
    Ok(reached.expect("a target").address)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_look_says_what_is_wrong_and_what_to_do() {
    let theirs = Theirs::open(|_| {}).await;
    let right = theirs.target();
    assert_eq!(look(right.clone()).await, Ok(theirs.address));

    let told = |change: &dyn Fn(&mut Target)| {
        let mut target = right.clone();
        change(&mut target);
        async move { look(target).await.expect_err("something is wrong").to_string() }
    };
    let closed = TcpListener::bind((loopback(), 0)).await.expect("a port").local_addr().expect("an address");
    let text = told(&|target| target.connect_to.every = Some(closed)).await;
    assert!(
        text.contains(&format!("no connection can be made at {closed}")) && text.contains("start that Company"),
        "{text}"
    );

    let stranger = Authority::new().expect("an authority").pem();
    let text = told(&|target| target.ca = Some(CaFile { path: "other.pem".to_owned(), pem: stranger.clone() })).await;
    for part in ["clothes-1.example presented a certificate of", "Poppyfield run CA", "Trusted is other.pem alone"] {
        assert!(text.contains(part), "{text}");
    }

    let text = told(&|target| target.domain = "other.example".into()).await;
    assert!(text.contains("is not trusted") && text.contains("for clothes-1.example"), "{text}");

    let text = told(&|target| {
        target.hooks.performed = Some(Performed::Totals {
            hook: Hook { url: format!("http://{closed}/performed"), method: "POST".into(), body: None },
            performed: "/a".to_owned(),
            operations: "/b".to_owned(),
        });
    })
    .await;
    assert!(text.contains("hook `performed` cannot be reached"), "{text}");

    let mut far = right.clone();
    far.connect_to.every = Some("192.0.2.1:443".parse().expect("an address"));
    let refused = look(far).await.expect_err("not on loopback");
    assert!(
        matches!(&refused, NotLoaded::NotPermitted(text) if text.contains("--i-may-load-this-target clothes-1.example"))
    );
    theirs.field.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_look_tells_of_the_host_that_documents_lead_to() {
    let theirs = Theirs::open(|_| {}).await;
    let authority = Arc::new(Authority::new().expect("an authority"));
    let ca = CaFile { path: "front.pem".to_owned(), pem: authority.pem() };
    let options = FieldOptions {
        clock: Clock::real(),
        seed: 1,
        epoch: now(),
        recorder: Recorder::in_memory(),
        faults: Faults::new(1, Vec::new(), []),
        lane: Lane::Sockets { bind: loopback(), authority: Some(authority) },
    };
    let front = Field::new(options).expect("a field");
    let document = json!({
        "protocol_version": "0.2",
        "organization": { "name": "Front", "domain": "front.example" },
        "auth": { "issuer": "https://id.example" },
    });
    let router = Router::new().route("/.well-known/poppy.json", get(move || std::future::ready(Json(document))));
    let host = Host {
        party: Party::new(PartyKind::Company, "front"),
        names: vec!["front.example".to_owned()],
        direct: false,
        port: 0,
        make: Box::new(move |_| router.clone()),
    };
    front.open(host).await.expect("a socket");
    let address = front.addresses()[0].1;
    let told = async |elsewhere: SocketAddr| {
        let connect_to = ConnectTo { every: Some(elsewhere), hosts: [("front.example".into(), address)].into() };
        let target = Target { domain: "front.example".into(), connect_to, ca: Some(ca.clone()), ..theirs.target() };
        look(target).await.expect_err("there is no authorization server")
    };
    let far = told("192.0.2.1:443".parse().expect("an address")).await;
    assert!(
        matches!(&far, NotLoaded::NotPermitted(text) if text.contains("--i-may-load-this-target id.example")),
        "{far:?}"
    );
    let closed = TcpListener::bind((loopback(), 0)).await.expect("a port").local_addr().expect("an address");
    let text = told(closed).await.to_string();
    assert!(text.contains(&format!("no connection can be made at {closed}, where https://id.example/")), "{text}");
    front.close().await;
    theirs.field.close().await;
}
