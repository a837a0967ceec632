//! A Company for tests: it follows the rules unless it is told what to say, and notes what it is asked.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{Router, body::to_bytes, extract::State, response::Response};
use http::{HeaderMap, Method, Request, StatusCode};
use serde_json::{Value, json};

use crate::{
    agent::person::lock,
    identity::{Bound, CompactJws, NoncePolicy, ProofCheck, ReplayGuard, Signatures, digest},
    protocol::TokenRequest,
    world::{Moment, World},
};

/// What the Company does instead of the usual.
#[derive(Debug, Clone)]
pub(super) enum Say {
    /// The usual.
    Usual,
    /// Nothing but this status, `Retry-After` and body.
    Only(u16, Option<u64>, &'static str),
    /// The usual is done, and this answered.
    Instead(u16, &'static str),
    /// The usual is done, and no answer comes.
    Lost,
    /// Nothing is done, and no answer comes.
    Ignored,
    /// The action takes longer: in progress, with this `Retry-After`.
    Progress(u64),
    /// The terms change first.
    Revised,
    /// The usual is done, and the answer comes so much later.
    Slow(Duration),
}

/// A request as the Company saw it.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) what: &'static str,
    pub(super) path: String,
    pub(super) body: String,
    pub(super) jti: String,
    pub(super) nonce: Option<String>,
    pub(super) at: Moment,
}

#[derive(Debug, Clone)]
struct Op {
    revision: u64,
    state: &'static str,
    confirmation: Value,
}

/// The Company. Settings are fixed before the run; what happens is behind locks.
pub(super) struct Fake {
    pub(super) domain: String,
    pub(super) token_seconds: u64,
    pub(super) nonce: Mutex<Option<&'static str>>,
    pub(super) resource: Option<&'static str>,
    /// Whether its actions need a sign-in.
    pub(super) sign_in: bool,
    /// Seconds between polls.
    pub(super) interval: u64,
    /// Where its sign-in page is.
    pub(super) page: String,
    pub(super) user_approval_required: bool,
    pub(super) price: &'static str,
    pub(super) lifetime: Duration,
    script: Mutex<BTreeMap<&'static str, VecDeque<Say>>>,
    asked: Mutex<Vec<Asked>>,
    ops: Mutex<BTreeMap<String, Op>>,
    tokens: Mutex<BTreeMap<String, (String, Option<String>)>>,
    accounts: Mutex<Accounts>,
    replay: ReplayGuard,
}

/// Sign-ins: codes and whether their User allowed them, the Account Token, the tokens that are signed in.
#[derive(Debug, Default)]
struct Accounts {
    codes: BTreeMap<String, bool>,
    account_token: Option<String>,
    signed_in: BTreeSet<String>,
    /// What Users typed in as their accounts.
    names: Vec<String>,
}

impl Fake {
    pub(super) fn new(domain: &str) -> Self {
        Self {
            domain: domain.to_owned(),
            token_seconds: 3_600,
            nonce: Mutex::new(None),
            resource: None,
            sign_in: false,
            interval: 1,
            page: format!("https://{domain}/sign-in"),
            user_approval_required: false,
            price: "4.00",
            lifetime: Duration::from_secs(900),
            script: Mutex::default(),
            asked: Mutex::default(),
            ops: Mutex::default(),
            tokens: Mutex::default(),
            accounts: Mutex::default(),
            replay: ReplayGuard::new([0; 16]),
        }
    }

    /// Says something at the next requests of a kind.
    pub(super) fn say(&self, what: &'static str, says: impl IntoIterator<Item = Say>) {
        lock(&self.script).entry(what).or_default().extend(says);
    }

    /// What it was asked, of one kind.
    pub(super) fn asked(&self, what: &str) -> Vec<Asked> {
        lock(&self.asked).iter().filter(|asked| asked.what == what).cloned().collect()
    }

    /// Forgets every token, as one may that restarted.
    pub(super) fn forget_tokens(&self) {
        lock(&self.tokens).clear();
    }

    /// Ends every sign-in, as a User may in her account's settings.
    pub(super) fn sign_out_everybody(&self) {
        let accounts = &mut *lock(&self.accounts);
        accounts.account_token = None;
        accounts.signed_in.clear();
    }

    /// What Users typed in as their accounts.
    pub(super) fn accounts(&self) -> Vec<String> {
        lock(&self.accounts).names.clone()
    }

    pub(super) fn router(self: &Arc<Self>, world: World) -> Router {
        Router::new().fallback(answer).with_state((Arc::clone(self), world))
    }

    fn describe(&self, id: &str, op: &Op, world: &World) -> Value {
        let expires = world.wall_at(Moment::START + self.lifetime);
        let proposed = op.state == "proposed";
        let is_final = !matches!(op.state, "proposed" | "in_progress");
        let mut operation = json!({
            "operation_id": id, "revision": op.revision, "state": op.state,
            "summary": format!("Wrap it, revision {}", op.revision),
            "terms": { "price": { "amount": self.price, "currency": "USD" }, "note": format!("r{}", op.revision) },
            "user_approval_required": self.user_approval_required,
            "confirmation": op.confirmation,
            "result": is_final.then(|| json!({ "summary": format!("It is {}. Receipt rtn_{id}.", op.state) })),
        });
        if proposed {
            operation["expires_at"] = json!(expires.to_string());
        }
        operation
    }

    fn document(&self, path: &str) -> Option<Value> {
        let origin = format!("https://{}", self.domain);
        let mut operations = json!({ "version": "1", "endpoint": format!("{origin}/ops") });
        if let Some(resource) = self.resource {
            operations["resource"] = json!(resource);
        }
        Some(match path {
            "/.well-known/poppy.json" => json!({
                "protocol_version": "0.2",
                "organization": { "name": "Shop", "domain": self.domain },
                "auth": { "issuer": origin, "custom_scopes": { "shop:write": "Change your orders" } },
                "apis": [{ "type": "mcp", "url": "ignored" }, { "type": "openapi", "url": format!("{origin}/api.json") }],
                "extensions": { "operations": operations, "acme.example/gift": { "version": "9" } },
                "unknown": [1]
            }),
            "/.well-known/oauth-authorization-server" => json!({
                "issuer": origin, "token_endpoint": format!("{origin}/token"), "poppy_domains": [self.domain],
                "device_authorization_endpoint": format!("{origin}/device"),
                "revocation_endpoint": format!("{origin}/revoke")
            }),
            "/api.json" => json!({
                "servers": [{ "url": origin }],
                "paths": {
                    "/orders/{order_id}/wraps": { "post": { "operationId": "wrap" } },
                    "/orders/{order_id}/wraps/{operation_id}": { "post": { "operationId": "change-wrap" } }
                }
            }),
            _ => return None,
        })
    }

    /// The device authorization endpoint, the User's page, the revocation endpoint.
    fn account(&self, what: &str, query: &str, body: &str) -> (u16, Value) {
        let accounts = &mut *lock(&self.accounts);
        let form = TokenRequest::parse(body.as_bytes()).unwrap();
        match what {
            "device" => {
                let number = accounts.codes.len() + 1;
                accounts.codes.insert(format!("dev-{number}"), false);
                let answer = json!({
                    "device_code": format!("dev-{number}"), "user_code": format!("USER-{number}"),
                    "verification_uri": self.page, "expires_in": 60, "interval": self.interval,
                    "verification_uri_complete": format!("{}?user_code=USER-{number}", self.page),
                });
                (if form.client_assertion.is_some() { 200 } else { 401 }, answer)
            }
            "page" => {
                let code = query.strip_prefix("user_code=USER-").unwrap();
                let fields: BTreeMap<_, _> = form_urlencoded::parse(body.as_bytes()).collect();
                assert_eq!(fields["decision"], "allow");
                assert!(!fields.contains_key("client_assertion"));
                accounts.names.push(fields["account"].to_string());
                accounts.codes.entry(format!("dev-{code}")).and_modify(|allowed| *allowed = true);
                (200, Value::Null)
            }
            _ => {
                assert_eq!(form.token, accounts.account_token, "it is the Account Token that is revoked");
                accounts.account_token = None;
                accounts.signed_in.clear();
                (200, json!({}))
            }
        }
    }

    /// Whether a token request signs in; the refusal if it does not.
    fn grant(&self, form: &TokenRequest, number: usize) -> Result<bool, &'static str> {
        let accounts = &mut *lock(&self.accounts);
        if let Some(code) = &form.device_code {
            let allowed = accounts.codes.get(code).copied().ok_or("invalid_grant")?;
            if form.session_id.is_none() {
                return Err("invalid_session");
            }
            if !allowed {
                return Err("authorization_pending");
            }
            accounts.codes.remove(code);
            accounts.codes.insert(format!("used {code}"), false); // numbers go on
        } else if form.refresh_token.is_none() {
            return Ok(false);
        } else if form.refresh_token != accounts.account_token {
            return Err("invalid_grant");
        }
        accounts.account_token = Some(format!("acct-{number}"));
        accounts.signed_in.insert(format!("tok-{number}"));
        Ok(true)
    }

    fn token(&self, body: &str, proof: &CompactJws<'_>) -> (u16, Value) {
        let form = TokenRequest::parse(body.as_bytes()).unwrap();
        let header: Value = serde_json::from_slice(&proof.header_bytes().unwrap()).unwrap();
        let key: crate::protocol::Jwk = serde_json::from_value(header["jwk"].clone()).unwrap();
        let thumbprint = crate::identity::jwk::thumbprint(&key).unwrap();
        let mut tokens = lock(&self.tokens);
        let number = lock(&self.asked).iter().filter(|asked| asked.what == "token").count();
        let token = format!("tok-{number}");
        let signed_in = match self.grant(&form, number) {
            Ok(signed_in) => signed_in,
            Err(error) => return (400, json!({ "error": error })),
        };
        tokens.insert(token.clone(), (thumbprint, form.resource));
        let session = form.session_id.unwrap_or_else(|| format!("ses_{number}"));
        let mut answer = json!({ "access_token": token, "token_type": "DPoP", "expires_in": self.token_seconds,
            "session_id": session, "signed_in": signed_in });
        if signed_in {
            answer["refresh_token"] = json!(format!("acct-{number}"));
        }
        (200, answer)
    }

    /// Checks token and proof as a Company does.
    fn refusal(&self, what: &str, method: &str, path: &str, headers: &HeaderMap, now: i64) -> Option<(u16, Value)> {
        let proof = headers.get("dpop").unwrap().to_str().unwrap();
        let url = format!("https://{}{path}", self.domain);
        let at_token = what == "token";
        let mut bound = None;
        let (ath, thumbprint);
        if !at_token {
            let token = headers.get("authorization").unwrap().to_str().unwrap().strip_prefix("DPoP ").unwrap();
            let Some((key, resource)) = lock(&self.tokens).get(token).cloned() else {
                return Some((401, json!({ "error": "invalid_token" })));
            };
            let needed = self.resource.filter(|_| !matches!(what, "propose" | "change"));
            assert_eq!(resource.as_deref(), needed, "a token for another resource");
            if self.sign_in && !lock(&self.accounts).signed_in.contains(token) {
                return Some((403, json!({ "error": "sign_in_required", "scope": "shop:write" })));
            }
            (ath, thumbprint) = (digest::ath(token), key);
            bound = Some(Bound { ath: &ath, thumbprint: &thumbprint });
        }
        let check = ProofCheck {
            method,
            url: &url,
            now,
            window_seconds: 60,
            bound,
            nonce: NoncePolicy::NotRequired,
            signatures: Signatures::Real,
            known: None,
            replay: Some(&self.replay),
        };
        let status = if at_token { 400 } else { 401 };
        if let Err(error) = check.verify(proof) {
            return Some((status, json!({ "error": error.code().as_str() })));
        }
        let wanted = *lock(&self.nonce);
        if wanted.is_some() && claim(proof, "nonce").as_deref() != wanted {
            return Some((status, json!({ "error": "use_dpop_nonce" })));
        }
        None
    }

    /// What the Company usually does.
    fn act(&self, what: &str, path: &str, body: &str, world: &World, say: &Say) -> (u16, Value) {
        let segments: Vec<&str> = path.split('/').collect();
        let mut ops = lock(&self.ops);
        let id = match what {
            "propose" => format!("op_{}", segments[2]),
            "change" => segments[4].to_owned(),
            _ => segments[2].to_owned(),
        };
        let new = Op { revision: 1, state: "proposed", confirmation: Value::Null };
        if what == "propose" {
            ops.entry(id.clone()).or_insert(new);
        }
        let Some(op) = ops.get_mut(&id) else { return (404, json!({ "error": "operation_not_found" })) };
        if matches!(say, Say::Revised) || what == "change" {
            op.revision += 1;
        }
        match what {
            "confirm" if op.state == "proposed" => {
                let body: Value = serde_json::from_str(body).unwrap();
                if body["revision"] != op.revision {
                    let operation = self.describe(&id, op, world);
                    return (409, json!({ "error": "terms_changed", "operation": operation }));
                }
                if self.user_approval_required && body["approved_by"] != "user" {
                    return (403, json!({ "error": "user_approval_required" }));
                }
                op.confirmation = json!({ "revision": op.revision, "approved_by": body["approved_by"],
                    "confirmed_at": world.wall().to_string() });
                op.state = if matches!(say, Say::Progress(_)) { "in_progress" } else { "succeeded" };
            }
            "cancel" if op.state == "proposed" => op.state = "cancelled",
            "read" if op.state == "in_progress" && !matches!(say, Say::Progress(_)) => op.state = "succeeded",
            _ => {}
        }
        let operation = self.describe(&id, op, world);
        if matches!(what, "propose" | "change") { (202, json!({ "operation": operation })) } else { (200, operation) }
    }
}

/// A claim of a proof, unchecked.
fn claim(proof: &str, name: &str) -> Option<String> {
    let claims: Value = serde_json::from_slice(&CompactJws::parse(proof).ok()?.payload_bytes()?).ok()?;
    claims[name].as_str().map(str::to_owned)
}

fn what(method: &Method, path: &str) -> &'static str {
    match (method.as_str(), path.split('/').skip(1).collect::<Vec<_>>().as_slice()) {
        ("POST", ["token"]) => "token",
        ("POST", ["device"]) => "device",
        ("POST", ["sign-in"]) => "page",
        ("POST", ["revoke"]) => "revoke",
        ("POST", ["orders", _, "wraps"]) => "propose",
        ("POST", ["orders", _, "wraps", _]) => "change",
        ("GET", ["ops", _]) => "read",
        ("POST", ["ops", _, "confirm"]) => "confirm",
        ("POST", ["ops", _, "cancel"]) => "cancel",
        _ => "document",
    }
}

async fn answer(State((fake, world)): State<(Arc<Fake>, World)>, request: Request<axum::body::Body>) -> Response {
    let (parts, body) = request.into_parts();
    let body = String::from_utf8(to_bytes(body, 1 << 20).await.unwrap().to_vec()).unwrap();
    let (method, path) = (parts.method.clone(), parts.uri.path().to_owned());
    let what = what(&method, &path);
    let proof = parts.headers.get("dpop").map(|proof| proof.to_str().unwrap().to_owned()).unwrap_or_default();
    let asked = Asked {
        what,
        path: path.clone(),
        body: body.clone(),
        jti: claim(&proof, "jti").unwrap_or_default(),
        nonce: claim(&proof, "nonce"),
        at: world.now(),
    };
    lock(&fake.asked).push(asked);
    let say = lock(&fake.script).get_mut(what).and_then(VecDeque::pop_front).unwrap_or(Say::Usual);
    if matches!(say, Say::Ignored) {
        std::future::pending::<()>().await;
    }
    if let Say::Only(status, retry_after, text) = &say {
        return respond(*status, text.to_string(), *retry_after, None);
    }
    if what == "document" {
        return match fake.document(&path) {
            Some(document) => respond(200, document.to_string(), None, None),
            None => respond(404, String::new(), None, None),
        };
    }
    if matches!(what, "device" | "page" | "revoke") {
        assert!(parts.headers.get("authorization").is_none() && parts.headers.get("dpop").is_none());
        let (status, answer) = fake.account(what, parts.uri.query().unwrap_or_default(), &body);
        if matches!(say, Say::Lost) {
            std::future::pending::<()>().await;
        }
        return respond(status, answer.to_string(), None, None);
    }
    let refusal = fake.refusal(what, method.as_str(), &path, &parts.headers, world.wall().as_second());
    let (status, answer) = match refusal {
        Some(refusal) => refusal,
        None if what == "token" => fake.token(&body, &CompactJws::parse(&proof).unwrap()),
        None => fake.act(what, &path, &body, &world, &say),
    };
    let nonce = *lock(&fake.nonce);
    match say {
        Say::Lost => std::future::pending().await,
        Say::Slow(time) => world.sleep(time).await,
        Say::Instead(status, text) => return respond(status, text.to_owned(), None, nonce),
        _ => {}
    }
    let retry_after = if let Say::Progress(seconds) = say { Some(seconds) } else { None };
    respond(status, answer.to_string(), retry_after, nonce)
}

fn respond(status: u16, body: String, retry_after: Option<u64>, nonce: Option<&str>) -> Response {
    let mut response = Response::builder().status(StatusCode::from_u16(status).unwrap());
    if let Some(seconds) = retry_after {
        response = response.header("retry-after", seconds);
    }
    if let Some(nonce) = nonce {
        response = response.header("dpop-nonce", nonce);
    }
    response.body(body.into()).unwrap()
}
