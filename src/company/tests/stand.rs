//! The stand: a field with one Company, its backend and one operator, and an Agent that keeps no rules of its own.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{Router, routing::get};
use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use indexmap::IndexMap;
use serde_json::{Value, json};
use smol_str::SmolStr;

use crate::{
    fault::{Faults, PlannedRestart},
    history::{
        Event, LedgerEntry, Recorder,
        record::{Attempt, Effect, Purpose},
    },
    identity::{AssertionMaker, ProofMaker, Signatures, SigningKey, digest},
    plan::{
        Action, Answers, Approval, BackendSettings, CompanyDefect, CompanyPlan, Defects, Distribution, Fault,
        FaultKind, OnPartial, PriceRange, Proposals, Sessions, Step, StoreSettings, WithoutExtension,
    },
    protocol::{ClientMetadata, JwkSet, SessionMode, token},
    world::{About, Answer, Clock, Field, FieldOptions, Host, Lane, Party, PartyKind, World},
};

pub(super) const COMPANY: &str = "shop-1";
pub(super) const ORIGIN: &str = "https://shop-1.example";
const CLIENT_ID: &str = "https://agent-1.example/agent.json";

pub(super) fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A Company with an exchange of three steps and a gift wrap that needs no confirming.
pub(super) fn plan() -> CompanyPlan {
    let step = |name: &str, undo: Option<&str>| Step {
        name: name.into(),
        undo: undo.map(SmolStr::from),
        latency: None,
        fail: 0.0,
        phrase: None,
    };
    let exchange = Action {
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
        steps: vec![step("take-back", Some("give-back")), step("charge", Some("refund")), step("ship", None)],
        can_stop_until: Some(0),
        on_partial: OnPartial::Report,
    };
    let wrap = Action {
        name: "gift-wrap".into(),
        operation: false,
        approval: Approval::StandingPermission,
        steps: vec![step("wrap", None)],
        ..exchange.clone()
    };
    CompanyPlan {
        name: COMPANY.into(),
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
            token_lifetime: Duration::from_secs(3_600),
            operations_resource: false,
        },
        answers: Answers {
            latency: Distribution::ZERO,
            answer_within: Duration::from_secs(3),
            retry_after: Duration::from_secs(1),
        },
        proposals: Proposals {
            lifetime: Duration::from_secs(900),
            revise_before_approval: 0.0,
            revise_after: Distribution::Constant(ms(50)),
            revise_during_confirm: 0.0,
        },
        store: StoreSettings { keep_final: Duration::from_secs(600) },
        backend: BackendSettings {
            latency: Distribution::Constant(ms(20)),
            timeout: Duration::from_secs(2),
            ask_again: Duration::from_secs(1),
        },
        capacity: None,
        actions: IndexMap::from([("exchange".into(), exchange), ("gift-wrap".into(), wrap)]),
        defects: Defects::default(),
    }
}

/// The same Company with defects.
pub(super) fn with_defects(defects: impl IntoIterator<Item = CompanyDefect>) -> CompanyPlan {
    CompanyPlan { defects: defects.into_iter().collect(), ..plan() }
}

/// A fault that always strikes the Company.
pub(super) fn fault(kind: FaultKind, step: Option<&str>) -> Fault {
    Fault {
        id: "F1".into(),
        kind,
        at: None,
        on: Vec::new(),
        step: step.map(SmolStr::from),
        during: None,
        chance: 1.0,
        strikes: None,
    }
}

/// What came back of a request.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

impl Heard {
    pub(super) fn state(&self) -> &str {
        self.body["state"].as_str().unwrap_or_default()
    }

    pub(super) fn error(&self) -> &str {
        self.body["error"].as_str().unwrap_or_default()
    }

    pub(super) fn result(&self) -> &str {
        self.body["result"]["summary"].as_str().unwrap_or_default()
    }
}

/// A field with a Company on it.
#[derive(Debug)]
pub(super) struct Stand {
    pub(super) field: Arc<Field>,
    pub(super) recorder: Recorder,
    pub(super) operator: Arc<Operator>,
}

impl Stand {
    /// Puts the Company, its backend and an operator that lists the extension (or not) on a field.
    pub(super) async fn with(plan: CompanyPlan, faults: Vec<Fault>, lists_operations: bool) -> Self {
        let recorder = Recorder::in_memory();
        let field = Field::new(FieldOptions {
            seed: 7,
            clock: Clock::real(),
            epoch: "2026-01-01T00:00:00Z".parse().unwrap(),
            recorder: recorder.clone(),
            faults: Faults::new(7, faults, [(plan.name.clone(), plan.group.clone())]),
            lane: Lane::Direct(Signatures::Real),
        })
        .unwrap();
        let plan = Arc::new(plan);
        let (name, domain) = (plan.name.clone(), plan.domain.clone());
        let backend = Arc::clone(&plan);
        let host = |kind, name: SmolStr, domain: String, make| Host {
            party: Party::new(kind, name),
            names: vec![domain],
            direct: true,
            port: 0,
            make,
        };
        let backend_name = format!("backend.{name}").into();
        let make: Make = Box::new(move |world| crate::backend::router(world, Arc::clone(&backend)));
        field.open(host(PartyKind::Backend, backend_name, format!("backend.{domain}"), make)).await.unwrap();
        let premises = crate::company::Premises::of(plan);
        let make: Make =
            Box::new(move |world| crate::company::router(world, &premises, &crate::company::Databases::default()));
        field.open(host(PartyKind::Company, name, domain.to_string(), make)).await.unwrap();
        let operator = Arc::new(Operator { key: AtomicU8::new(1), ..Operator::default() });
        let serving = Arc::clone(&operator);
        let make: Make = Box::new(move |_| serve(&serving, lists_operations));
        field.open(host(PartyKind::Operator, "agent-1".into(), "agent-1.example".to_owned(), make)).await.unwrap();
        field.faults().begin(field.now());
        Self { field, recorder, operator }
    }

    pub(super) async fn new(plan: CompanyPlan, faults: Vec<Fault>) -> Self {
        Self::with(plan, faults, true).await
    }

    /// An Agent with a fresh Session of this User.
    pub(super) async fn agent(&self, user: &str) -> Agent {
        let mut agent = self.unsigned(user);
        let heard = agent.ask_token(&[("scope", "orders:write")]).await;
        assert_eq!(heard.status, StatusCode::OK, "{:?}", heard.body);
        agent.token = heard.body["access_token"].as_str().unwrap().to_owned();
        agent.session = heard.body["session_id"].as_str().unwrap().to_owned();
        agent
    }

    /// An Agent without a Session.
    pub(super) fn unsigned(&self, user: &str) -> Agent {
        Agent::new(self, user)
    }

    /// Puts another operator on the field.
    pub(super) async fn open_operator(&self, name: &str, router: Router) {
        let host = Host {
            party: Party::new(PartyKind::Operator, name),
            names: vec![format!("{name}.example")],
            direct: true,
            port: 0,
            make: Box::new(move |_| router.clone()),
        };
        self.field.open(host).await.unwrap();
    }

    /// Stops the Company and starts it again.
    pub(super) async fn restart(&self) {
        let restart = PlannedRestart {
            fault: "F1".into(),
            company: COMPANY.into(),
            at: Duration::ZERO,
            down_for: ms(100),
            number: 0,
        };
        self.field.restart(&restart);
        self.pass(ms(1_000)).await;
    }

    /// How often the operator's metadata and keys were fetched.
    pub(super) fn fetches(&self) -> (u64, u64) {
        (self.operator.metadata.load(Ordering::Relaxed), self.operator.keys.load(Ordering::Relaxed))
    }

    /// Waits that long.
    pub(super) async fn pass(&self, duration: Duration) {
        self.field.sleep_until(self.field.now() + duration).await;
    }

    /// Every effect, in order.
    pub(super) fn effects(&self) -> Vec<Effect> {
        let entries = self.recorder.snapshot().1.into_iter();
        entries
            .filter_map(|record| if let LedgerEntry::Effect(effect) = record.entry { Some(effect) } else { None })
            .collect()
    }

    /// The steps that took effect, in order.
    pub(super) fn steps(&self) -> Vec<String> {
        self.effects().into_iter().map(|effect| effect.step.to_string()).collect()
    }

    /// The history's events.
    pub(super) fn events(&self) -> Vec<Event> {
        self.recorder.snapshot().0.into_iter().map(|record| record.event).collect()
    }

    /// The Company's requests to its backend.
    pub(super) fn attempts(&self) -> Vec<Attempt> {
        let events = self.events().into_iter();
        events.filter_map(|event| if let Event::Attempt(attempt) = event { Some(attempt) } else { None }).collect()
    }
}

type Make = Box<dyn Fn(World) -> Router + Send + Sync>;

/// The operator: which key it signs with, and how often its documents were fetched.
#[derive(Debug, Default)]
pub(super) struct Operator {
    pub(super) key: AtomicU8,
    metadata: AtomicU64,
    keys: AtomicU64,
    /// Tells apart the proofs, assertions and requests of all its Agents.
    numbers: AtomicU64,
}

fn operator_key(number: u8) -> SigningKey {
    SigningKey::from_scalar(&[number; 32]).unwrap()
}

/// The public half of an operator's key, as its JWKS has it.
pub(super) fn operator_jwk(number: u8) -> Value {
    serde_json::to_value(operator_key(number).public().jwk_with_kid(&format!("k{number}"))).unwrap()
}

/// The documents of another operator with the same key.
pub(super) fn other_operator(name: &str) -> Router {
    let origin = format!("https://{name}.example");
    let metadata = ClientMetadata::new(format!("{origin}/agent.json"), "Agent", format!("{origin}/jwks.json"));
    let keys = JwkSet { keys: vec![operator_key(1).public().jwk_with_kid("k1")] };
    Router::new()
        .route("/agent.json", get(|| async { axum::Json(metadata) }))
        .route("/jwks.json", get(|| async { axum::Json(keys) }))
}

fn serve(operator: &Arc<Operator>, lists_operations: bool) -> Router {
    let mut metadata = ClientMetadata::new(CLIENT_ID, "Agent", "https://agent-1.example/jwks.json");
    if lists_operations {
        metadata = metadata.with_operations("1");
    }
    let (one, other) = (Arc::clone(operator), Arc::clone(operator));
    let document = move || async move {
        one.metadata.fetch_add(1, Ordering::Relaxed);
        axum::Json(metadata)
    };
    let keys = move || async move {
        other.keys.fetch_add(1, Ordering::Relaxed);
        let number = other.key.load(Ordering::Relaxed);
        axum::Json(JwkSet { keys: vec![operator_key(number).public().jwk_with_kid(&format!("k{number}"))] })
    };
    Router::new().route("/agent.json", get(document)).route("/jwks.json", get(keys))
}

/// An Agent that sends what a test says.
#[derive(Debug, Clone)]
pub(super) struct Agent {
    world: World,
    user: String,
    client_id: String,
    assertions: AssertionMaker,
    proofs: ProofMaker,
    pub(super) token: String,
    pub(super) session: String,
    operator: Arc<Operator>,
}

impl Agent {
    fn new(stand: &Stand, user: &str) -> Self {
        let scalar = digest::sha256(user.as_bytes());
        Self {
            world: stand.field.world(Party::new(PartyKind::Agent, user)),
            user: user.to_owned(),
            client_id: CLIENT_ID.to_owned(),
            assertions: AssertionMaker::new(operator_key(1), "k1", CLIENT_ID),
            proofs: ProofMaker::new(SigningKey::from_scalar(&scalar).unwrap()),
            token: String::new(),
            session: String::new(),
            operator: Arc::clone(&stand.operator),
        }
    }

    /// The same Agent, whose assertions are signed with another key of its operator.
    pub(super) fn with_key(self, number: u8) -> Self {
        Self { assertions: AssertionMaker::new(operator_key(number), &format!("k{number}"), CLIENT_ID), ..self }
    }

    /// An Agent of another operator, with the same key.
    pub(super) fn of_client(self, client_id: &str) -> Self {
        let assertions = AssertionMaker::new(operator_key(1), "k1", client_id);
        Self { assertions, client_id: client_id.to_owned(), ..self }
    }

    /// The same Agent with another token.
    pub(super) fn with_token(self, token: &str) -> Self {
        Self { token: token.to_owned(), ..self }
    }

    fn number(&self) -> u64 {
        self.operator.numbers.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn jti(&self) -> String {
        format!("{}-{}-{:024}", self.user, self.world.now().as_nanos(), self.number())
    }

    pub(super) fn now(&self) -> i64 {
        self.world.wall().as_second()
    }

    /// A proof for a request with the Session Token.
    pub(super) fn proof(&self, method: &str, url: &str, nonce: Option<&str>) -> String {
        let ath = digest::ath(&self.token);
        self.proofs.make(method, url, self.now(), &self.jti(), Some(&ath), nonce).unwrap()
    }

    /// The form of a token request with fresh assertions, and more fields.
    pub(super) fn token_form(&self, more: &[(&str, &str)]) -> String {
        let client = self.assertions.client(ORIGIN, self.now(), 60, &self.jti()).unwrap();
        let session = self.assertions.session(&self.user, ORIGIN, self.now(), 60, &self.jti()).unwrap();
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs([
            ("grant_type", token::GRANT_JWT_BEARER),
            ("assertion", &session),
            ("client_id", &self.client_id),
            ("client_assertion_type", token::CLIENT_ASSERTION_TYPE),
            ("client_assertion", &client),
        ]);
        form.extend_pairs(more);
        form.finish()
    }

    /// The form of a request with a fresh client assertion alone, and more fields.
    pub(super) fn client_form(&self, more: &[(&str, &str)]) -> String {
        let client = self.assertions.client(ORIGIN, self.now(), 60, &self.jti()).unwrap();
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs([
            ("client_id", self.client_id.as_str()),
            ("client_assertion_type", token::CLIENT_ASSERTION_TYPE),
            ("client_assertion", &client),
        ]);
        form.extend_pairs(more);
        form.finish()
    }

    /// A form, without a proof.
    pub(super) async fn post_plain(&self, path: &str, form: String) -> Heard {
        let request = Request::builder().method("POST").uri(format!("{ORIGIN}{path}"));
        let request = request.header("content-type", token::FORM_CONTENT_TYPE).body(form.into());
        self.send(request.unwrap(), Purpose::SignIn).await.unwrap()
    }

    /// A token request.
    pub(super) async fn ask_token(&self, more: &[(&str, &str)]) -> Heard {
        self.ask_token_with(more, None).await
    }

    pub(super) async fn ask_token_with(&self, more: &[(&str, &str)], nonce: Option<&str>) -> Heard {
        self.post_form(self.token_form(more), nonce).await
    }

    /// A token request with this form.
    pub(super) async fn send_token(&self, form: String) -> Heard {
        self.post_form(form, None).await
    }

    async fn post_form(&self, form: String, nonce: Option<&str>) -> Heard {
        let url = format!("{ORIGIN}/oauth/token");
        let proof = self.proofs.make("POST", &url, self.now(), &self.jti(), None, nonce).unwrap();
        let request = Request::builder().method("POST").uri(url).header("dpop", proof);
        let request = request.header("content-type", token::FORM_CONTENT_TYPE).body(form.into());
        self.send(request.unwrap(), Purpose::Token).await.unwrap()
    }

    /// Sends a request as it is; `None` when no answer came within ten seconds.
    pub(super) async fn send(&self, request: Request<Bytes>, purpose: Purpose) -> Option<Heard> {
        let about = About {
            purpose,
            call: None,
            key: format!("{}/{}", self.user, self.number()).into(),
            attempt: 0,
            action: None,
            step: None,
            deadline: self.world.now() + Duration::from_secs(10),
        };
        match self.world.call(request, about).await.answer {
            Answer::Response(response) => {
                let (parts, body) = response.into_parts();
                let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
                Some(Heard { status: parts.status, headers: parts.headers, body })
            }
            Answer::Unknown(_) | Answer::Unsent(_) => None,
        }
    }

    /// A request with token and proof.
    pub(super) fn signed(&self, method: Method, path: &str, body: impl Into<Bytes>) -> Request<Bytes> {
        let url = format!("{ORIGIN}{path}");
        let proof = self.proof(method.as_str(), &url, None);
        Request::builder()
            .method(method)
            .uri(url)
            .header("authorization", format!("DPoP {}", self.token))
            .header("dpop", proof)
            .body(body.into())
            .unwrap()
    }

    async fn post(&self, path: &str, body: impl Into<Bytes>, purpose: Purpose) -> Option<Heard> {
        self.send(self.signed(Method::POST, path, body), purpose).await
    }

    pub(super) async fn propose(&self, order: &str) -> Heard {
        let body = json!({ "item_id": "itm_1" }).to_string();
        self.post(&format!("/orders/{order}/exchanges"), body, Purpose::Propose).await.unwrap()
    }

    /// A new operation; its ID.
    pub(super) async fn proposed(&self, order: &str) -> String {
        let heard = self.propose(order).await;
        assert_eq!(heard.status, StatusCode::ACCEPTED, "{:?}", heard.body);
        heard.body["operation"]["operation_id"].as_str().unwrap().to_owned()
    }

    pub(super) async fn wrap(&self, order: &str) -> Option<Heard> {
        self.post(&format!("/orders/{order}/gift-wraps"), "{}", Purpose::Propose).await
    }

    pub(super) async fn change(&self, order: &str, id: &str) -> Heard {
        self.post(&format!("/orders/{order}/exchanges/{id}"), "{}", Purpose::Change).await.unwrap()
    }

    pub(super) async fn confirm(&self, id: &str, revision: u64) -> Option<Heard> {
        self.confirm_by(id, revision, "user").await
    }

    pub(super) async fn confirm_by(&self, id: &str, revision: u64, approved_by: &str) -> Option<Heard> {
        let body = json!({ "revision": revision, "approved_by": approved_by }).to_string();
        self.post(&format!("/poppy/operations/{id}/confirm"), body, Purpose::Confirm).await
    }

    pub(super) async fn cancel(&self, id: &str) -> Heard {
        self.post(&format!("/poppy/operations/{id}/cancel"), "", Purpose::Cancel).await.unwrap()
    }

    pub(super) async fn read(&self, id: &str) -> Heard {
        self.send(self.signed(Method::GET, &format!("/poppy/operations/{id}"), ""), Purpose::Read).await.unwrap()
    }

    pub(super) async fn get(&self, path: &str) -> Heard {
        let request = Request::builder().uri(format!("{ORIGIN}{path}")).body(Bytes::new()).unwrap();
        self.send(request, Purpose::Discover).await.unwrap()
    }

    /// The operation once it is final.
    pub(super) async fn tracked(&self, id: &str) -> Heard {
        for _ in 0..100 {
            let heard = self.read(id).await;
            if !matches!(heard.state(), "proposed" | "in_progress") {
                return heard;
            }
            self.world.sleep(Duration::from_secs(1)).await;
        }
        self.read(id).await
    }
}
