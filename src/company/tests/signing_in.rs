//! Sign-in by the device grant, Account Tokens, sign-out, and what an account's operations need (digest 3.5, 9.5).

use http::StatusCode;
use serde_json::Value;

use super::stand::{Agent, Heard, ORIGIN, Stand, ms, plan};
use crate::{plan::CompanyPlan, protocol::token};

const DEVICE: &str = token::GRANT_DEVICE_CODE;
const REFRESH: &str = token::GRANT_REFRESH_TOKEN;

/// The Company, whose exchanges need a sign-in and whose gift wraps do not.
fn signing() -> CompanyPlan {
    let mut plan = plan();
    plan.actions["exchange"].signed_in = true;
    plan
}

fn text(heard: &Heard, member: &str) -> String {
    heard.body[member].as_str().unwrap_or_else(|| panic!("no {member}: {:?}", heard.body)).to_owned()
}

/// A sign-in that has begun: device code and user code.
struct Begun {
    code: String,
    user_code: String,
}

impl Agent {
    async fn begin(&self, scope: &str) -> Heard {
        let fields = [("scope", scope)];
        self.post_plain("/oauth/device", self.client_form(if scope.is_empty() { &[] } else { &fields })).await
    }

    async fn begun(&self) -> Begun {
        let heard = self.begin("orders:write").await;
        assert_eq!(heard.status, StatusCode::OK, "{:?}", heard.body);
        Begun { code: text(&heard, "device_code"), user_code: text(&heard, "user_code") }
    }

    async fn decide(&self, user_code: &str, form: &str) -> StatusCode {
        self.post_plain(&format!("/device?user_code={user_code}"), form.to_owned()).await.status
    }

    async fn poll(&self, code: &str) -> Heard {
        let more = [("grant_type", DEVICE), ("device_code", code), ("session_id", self.session.as_str())];
        self.send_token(self.client_form(&more)).await
    }

    async fn refresh(&self, account_token: &str, more: &[(&str, &str)]) -> Heard {
        let first = [("grant_type", REFRESH), ("refresh_token", account_token)];
        self.send_token(self.client_form(&[&first, more].concat())).await
    }

    async fn revoke(&self, token: &str) -> StatusCode {
        self.post_plain("/oauth/revoke", self.client_form(&[("token", token)])).await.status
    }

    /// Signs the Session in to an account; gives the Account Token.
    async fn sign_in(&mut self, account: &str) -> String {
        let begun = self.begun().await;
        assert_eq!(self.decide(&begun.user_code, &format!("decision=allow&account={account}")).await, StatusCode::OK);
        let heard = self.poll(&begun.code).await;
        assert_eq!((heard.status, &heard.body["signed_in"]), (StatusCode::OK, &Value::Bool(true)), "{:?}", heard.body);
        assert_eq!(
            (text(&heard, "session_id"), text(&heard, "scope")),
            (self.session.clone(), "orders:write".to_owned())
        );
        self.token = text(&heard, "access_token");
        text(&heard, "refresh_token")
    }
}

fn refused(heard: &Heard) -> (u16, &str) {
    (heard.status.as_u16(), heard.error())
}

#[tokio::test(start_paused = true)]
async fn a_company_lists_how_to_sign_in_only_where_an_action_needs_it() {
    let stand = Stand::new(signing(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let metadata = agent.get("/.well-known/oauth-authorization-server").await.body;
    assert_eq!(metadata["device_authorization_endpoint"], format!("{ORIGIN}/oauth/device"));
    let grants: Vec<&str> =
        metadata["grant_types_supported"].as_array().unwrap().iter().flat_map(Value::as_str).collect();
    assert_eq!(grants, [token::GRANT_JWT_BEARER, DEVICE, REFRESH]);
    assert_eq!(agent.get("/.well-known/poppy.json").await.body["auth"]["device"]["scopes"][0], "orders:write");

    let stand = Stand::new(plan(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let metadata = agent.get("/.well-known/oauth-authorization-server").await.body;
    assert_eq!(metadata["device_authorization_endpoint"], Value::Null);
    assert_eq!(agent.begin("orders:write").await.status, StatusCode::NOT_FOUND);
    assert_eq!(refused(&agent.poll("dev_1").await), (400, "unsupported_grant_type"));
    assert_eq!(refused(&agent.refresh("acct_1", &[]).await), (400, "unsupported_grant_type"));
}

#[tokio::test(start_paused = true)]
async fn a_user_allows_and_the_agent_learns_of_it() {
    let stand = Stand::new(signing(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let heard = agent.begin("orders:write").await;
    assert_eq!(heard.headers["cache-control"], "no-store");
    let (code, user_code) = (text(&heard, "device_code"), text(&heard, "user_code"));
    assert_eq!(text(&heard, "verification_uri"), format!("{ORIGIN}/device"));
    assert_eq!(text(&heard, "verification_uri_complete"), format!("{ORIGIN}/device?user_code={user_code}"));
    assert_eq!((&heard.body["expires_in"], &heard.body["interval"]), (&600.into(), &1.into()));

    assert_eq!(refused(&agent.poll(&code).await), (400, "authorization_pending"));
    let page = agent.get(&format!("/device?user_code={user_code}")).await;
    assert_eq!(page.status, StatusCode::OK, "opening the page decides nothing");
    stand.pass(ms(1_000)).await;
    assert_eq!(refused(&agent.poll(&code).await), (400, "authorization_pending"));
    assert_eq!(refused(&agent.poll(&code).await), (400, "slow_down"));
    for _ in 0..2 {
        assert_eq!(agent.decide(&user_code, "decision=allow&account=a1").await, StatusCode::OK, "twice is once");
    }
    assert_eq!(agent.decide(&user_code, "decision=allow&account=a2").await, StatusCode::CONFLICT);
    assert_eq!(agent.decide(&user_code, "decision=deny").await, StatusCode::CONFLICT);
    stand.pass(ms(5_000)).await;
    assert_eq!(refused(&agent.poll(&code).await), (400, "slow_down"), "five seconds more than one");
    stand.pass(ms(11_000)).await;
    let heard = agent.poll(&code).await;
    assert_eq!((heard.status, &heard.body["signed_in"]), (StatusCode::OK, &Value::Bool(true)));
    stand.pass(ms(11_000)).await;
    assert_eq!(refused(&agent.poll(&code).await), (400, "invalid_grant"), "it is used up");
    assert_eq!(agent.decide(&user_code, "decision=deny").await, StatusCode::NOT_FOUND);
}

#[tokio::test(start_paused = true)]
async fn bad_sign_ins_are_refused() {
    let stand = Stand::new(signing(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    assert_eq!(refused(&agent.begin("").await), (400, "invalid_scope"));
    assert_eq!(refused(&agent.begin("orders:write unknown").await), (400, "invalid_scope"));
    let unauthenticated = agent.post_plain("/oauth/device", "scope=orders%3Awrite".to_owned()).await;
    assert_eq!(refused(&unauthenticated), (401, "invalid_client"));

    let begun = agent.begun().await;
    for form in ["", "decision=allow", "decision=perhaps&account=a", "decision=allow&account=a%00b"] {
        assert_eq!(agent.decide(&begun.user_code, form).await, StatusCode::BAD_REQUEST, "{form}");
    }
    assert_eq!(agent.decide("XXXX-XXXX", "decision=deny").await, StatusCode::NOT_FOUND);
    assert_eq!(refused(&agent.poll("dev_unknown").await), (400, "invalid_grant"));
    let mut stranger = agent.clone();
    stranger.session = "ses_unknown".to_owned();
    assert_eq!(refused(&stranger.poll(&begun.code).await), (400, "invalid_session"));
    let nameless = agent.client_form(&[("grant_type", DEVICE), ("device_code", &begun.code)]);
    assert_eq!(refused(&agent.send_token(nameless).await), (400, "invalid_session"));
    let without_code = agent.client_form(&[("grant_type", DEVICE), ("session_id", &agent.session)]);
    assert_eq!(refused(&agent.send_token(without_code).await), (400, "invalid_request"));

    assert_eq!(agent.decide(&begun.user_code, "decision=deny").await, StatusCode::OK);
    assert_eq!(refused(&agent.poll(&begun.code).await), (400, "access_denied"));
    assert_eq!(refused(&agent.poll(&begun.code).await), (400, "invalid_grant"));

    let late = agent.begun().await;
    agent.decide(&late.user_code, "decision=allow&account=a1").await;
    stand.pass(ms(600_000)).await;
    assert_eq!(agent.decide(&late.user_code, "decision=deny").await, StatusCode::NOT_FOUND);
    assert_eq!(refused(&agent.poll(&late.code).await), (400, "expired_token"));
}

#[tokio::test(start_paused = true)]
async fn a_user_may_allow_a_part_of_what_is_asked_for() {
    let mut plan = signing();
    plan.actions["gift-wrap"].scope = Some("gifts:write".into());
    let stand = Stand::new(plan, Vec::new()).await;
    let mut agent = stand.agent("u1").await;
    let heard = agent.begin("orders:write gifts:write").await;
    let form = "decision=allow&account=a1&scope=gifts:write+others";
    assert_eq!(agent.decide(&text(&heard, "user_code"), form).await, StatusCode::OK);
    let heard = agent.poll(&text(&heard, "device_code")).await;
    assert_eq!(text(&heard, "scope"), "gifts:write");
    agent.token = text(&heard, "access_token");
    assert_eq!(refused(&agent.propose("ord_1").await), (403, "insufficient_scope"));
}

#[tokio::test(start_paused = true)]
async fn account_tokens_renew_the_session_and_take_turns() {
    let stand = Stand::new(signing(), Vec::new()).await;
    let mut agent = stand.agent("u1").await;
    let first = agent.sign_in("a1").await;
    let session = [("session_id", agent.session.as_str())];
    assert_eq!(refused(&agent.refresh(&first, &[]).await), (400, "invalid_session"));
    assert_eq!(refused(&agent.refresh(&first, &[("session_id", "ses_9")]).await), (400, "invalid_session"));
    let wider = [session[0], ("scope", "orders:write gifts:write")];
    assert_eq!(refused(&agent.refresh(&first, &wider).await), (400, "invalid_scope"));
    let stranger = stand.agent("u2").await;
    let foreign = [("session_id", stranger.session.as_str())];
    assert_eq!(refused(&agent.refresh(&first, &foreign).await), (400, "invalid_session"), "another User's Session");

    let heard = agent.refresh(&first, &session).await;
    assert_eq!((heard.status, &heard.body["signed_in"]), (StatusCode::OK, &Value::Bool(true)), "{:?}", heard.body);
    assert_eq!((text(&heard, "session_id"), text(&heard, "scope")), (agent.session.clone(), "orders:write".to_owned()));
    let second = text(&heard, "refresh_token");
    assert_ne!(first, second);
    assert_eq!(refused(&agent.refresh(&first, &session).await), (400, "invalid_grant"), "another one took its place");
    assert_eq!(refused(&agent.refresh("acct_unknown", &session).await), (400, "invalid_grant"));
    let renewed = agent.clone().with_token(&text(&heard, "access_token"));
    assert_eq!(renewed.propose("ord_1").await.status, StatusCode::ACCEPTED);

    // It signs a later Session of the same User in, too.
    let mut later = stand.agent("u1").await;
    let heard = later.refresh(&second, &[("session_id", &later.session)]).await;
    later.token = text(&heard, "access_token");
    assert_eq!(later.propose("ord_1").await.status, StatusCode::ACCEPTED);
    let bearer = later.clone().with_token(&text(&heard, "refresh_token"));
    assert_eq!(refused(&bearer.propose("ord_1").await), (401, "invalid_token"), "it is no Session Token");
}

#[tokio::test(start_paused = true)]
async fn an_account_token_is_good_for_its_own_agent_alone() {
    let stand = Stand::new(signing(), Vec::new()).await;
    let mut agent = stand.agent("u1").await;
    let account_token = agent.sign_in("a1").await;
    let begun = agent.begun().await;
    stand.open_operator("agent-2", super::stand::other_operator("agent-2")).await;
    let other = agent.clone().of_client("https://agent-2.example/agent.json");
    let session = [("session_id", agent.session.as_str())];
    assert_eq!(refused(&other.refresh(&account_token, &session).await), (400, "invalid_grant"));
    assert_eq!(refused(&other.poll(&begun.code).await), (400, "invalid_session"), "nor is the Session its own");
    assert_eq!(other.revoke(&account_token).await, StatusCode::OK, "nobody learns which exist");
    assert_eq!(agent.refresh(&account_token, &session).await.status, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_session_is_signed_in_to_one_account_for_ever() {
    let stand = Stand::new(signing(), Vec::new()).await;
    let mut agent = stand.agent("u1").await;
    let first = agent.sign_in("a1").await;
    let mut later = stand.agent("u1").await;
    let other = later.sign_in("a2").await;
    let session = [("session_id", agent.session.as_str())];
    assert_eq!(refused(&agent.refresh(&other, &session).await), (400, "account_mismatch"));
    assert_eq!(agent.revoke(&first).await, StatusCode::OK);
    assert_eq!(refused(&agent.refresh(&other, &session).await), (400, "account_mismatch"), "signed out, too");
    let begun = agent.begun().await;
    agent.decide(&begun.user_code, "decision=allow&account=a2").await;
    assert_eq!(refused(&agent.poll(&begun.code).await), (400, "account_mismatch"));
    let session = later.session.clone();
    assert_eq!(later.refresh(&other, &[("session_id", &session)]).await.status, StatusCode::OK, "it was not used up");
    agent.sign_in("a1").await;
}

#[tokio::test(start_paused = true)]
async fn an_account_s_action_needs_a_sign_in_at_that_moment() {
    let mut plan = signing();
    plan.actions["gift-wrap"].scope = Some("gifts:write".into());
    let stand = Stand::new(plan, Vec::new()).await;
    let mut agent = stand.agent("u1").await;
    let heard = agent.propose("ord_1").await;
    assert_eq!((refused(&heard), &heard.body["scope"]), ((403, "sign_in_required"), &"orders:write".into()));
    assert!(heard.headers["www-authenticate"].to_str().unwrap().contains("sign_in_required"));
    let scopes = agent.ask_token(&[("scope", "orders:write gifts:write")]).await;
    assert_eq!(text(&scopes, "scope"), "gifts:write", "a sign-in is the only way to the account's scopes");

    let account_token = agent.sign_in("a1").await;
    let id = agent.proposed("ord_1").await;
    assert_eq!(agent.revoke(&account_token).await, StatusCode::OK);
    let session = [("session_id", agent.session.as_str())];
    assert_eq!(refused(&agent.refresh(&account_token, &session).await), (400, "invalid_grant"));
    for heard in [agent.read(&id).await, agent.confirm(&id, 1).await.unwrap(), agent.cancel(&id).await] {
        assert_eq!((refused(&heard), &heard.body["scope"]), ((403, "sign_in_required"), &"orders:write".into()));
    }
    assert_eq!(refused(&agent.change("ord_1", &id).await), (403, "sign_in_required"));
    assert_eq!(refused(&agent.propose("ord_2").await), (403, "sign_in_required"));
    assert_eq!(refused(&agent.read("op_unknown").await), (404, "operation_not_found"));
    assert_eq!(stand.steps().len(), 0);

    agent.sign_in("a1").await;
    assert_eq!(agent.proposed("ord_1").await, id, "the same open operation");
    assert_eq!(agent.confirm(&id, 1).await.unwrap().state(), "succeeded");
}

#[tokio::test(start_paused = true)]
async fn a_sign_out_ends_every_token_of_the_sign_in_and_no_other() {
    let stand = Stand::new(signing(), Vec::new()).await;
    let mut agent = stand.agent("u1").await;
    let first = agent.sign_in("a1").await;
    let id = agent.proposed("ord_1").await;
    let session = agent.session.clone();
    let second = text(&agent.refresh(&first, &[("session_id", &session)]).await, "refresh_token");
    let mut later = stand.agent("u1").await;
    later.sign_in("a1").await;
    assert_eq!(agent.revoke(&first).await, StatusCode::OK, "also by one that another one took the place of");
    assert_eq!(refused(&agent.read(&id).await), (403, "sign_in_required"));
    assert_eq!(refused(&agent.refresh(&second, &[("session_id", &session)]).await), (400, "invalid_grant"));
    assert_eq!(later.read(&id).await.state(), "proposed", "another sign-in goes on");
}

#[tokio::test(start_paused = true)]
async fn an_account_s_operation_belongs_to_all_its_sessions() {
    let stand = Stand::new(signing(), Vec::new()).await;
    let (mut agent, mut later, mut elsewhere) =
        (stand.agent("u1").await, stand.agent("u1").await, stand.agent("u1").await);
    agent.sign_in("a1").await;
    let id = agent.proposed("ord_1").await;
    assert_eq!(refused(&later.read(&id).await), (403, "sign_in_required"), "the same User's signed-out Session");
    assert_eq!(refused(&stand.agent("u2").await.read(&id).await), (404, "operation_not_found"));
    later.sign_in("a1").await;
    elsewhere.sign_in("a2").await;
    assert_eq!(refused(&elsewhere.read(&id).await), (404, "operation_not_found"), "another account");
    assert_ne!(elsewhere.proposed("ord_1").await, id);
    let mut namesake = stand.agent("u2").await;
    namesake.sign_in("a1").await;
    assert_eq!(refused(&namesake.read(&id).await), (404, "operation_not_found"), "another User");
    assert_eq!(later.proposed("ord_1").await, id);
    assert_eq!(later.confirm(&id, 1).await.unwrap().state(), "succeeded");
    assert_eq!(agent.read(&id).await.state(), "succeeded");
}

#[tokio::test(start_paused = true)]
async fn a_session_assertion_gives_a_signed_in_session_a_signed_out_token() {
    let stand = Stand::new(signing(), Vec::new()).await;
    let mut agent = stand.agent("u1").await;
    agent.sign_in("a1").await;
    let heard = agent.ask_token(&[("session_id", &agent.session), ("scope", "orders:write")]).await;
    assert_eq!((&heard.body["signed_in"], text(&heard, "session_id")), (&Value::Bool(false), agent.session.clone()));
    let signed_out = agent.clone().with_token(&text(&heard, "access_token"));
    assert_eq!(refused(&signed_out.propose("ord_1").await), (403, "sign_in_required"));
}

#[tokio::test(start_paused = true)]
async fn a_token_of_its_own_comes_by_account_token() {
    let mut plan = signing();
    plan.sessions.operations_resource = true;
    let stand = Stand::new(plan, Vec::new()).await;
    let mut agent = stand.agent("u1").await;
    let account_token = agent.sign_in("a1").await;
    let id = agent.proposed("ord_1").await;
    let endpoint = format!("{ORIGIN}/poppy/operations");
    let wrong = [("session_id", agent.session.as_str()), ("resource", "https://elsewhere.example/")];
    assert_eq!(refused(&agent.refresh(&account_token, &wrong).await), (400, "invalid_target"));
    let more = [("session_id", agent.session.as_str()), ("resource", endpoint.as_str())];
    let heard = agent.refresh(&account_token, &more).await;
    let special = agent.clone().with_token(&text(&heard, "access_token"));
    assert_eq!(special.confirm(&id, 1).await.unwrap().state(), "succeeded");
}

#[tokio::test(start_paused = true)]
async fn sign_ins_outlive_a_restart_of_the_company() {
    let stand = Stand::new(signing(), Vec::new()).await;
    let mut agent = stand.agent("u1").await;
    let account_token = agent.sign_in("a1").await;
    let id = agent.proposed("ord_1").await;
    let begun = agent.begun().await;
    agent.decide(&begun.user_code, "decision=allow&account=a1").await;
    stand.restart().await;
    assert_eq!(agent.read(&id).await.state(), "proposed");
    assert_eq!(agent.poll(&begun.code).await.status, StatusCode::OK);
    let heard = agent.refresh(&account_token, &[("session_id", &agent.session)]).await;
    assert_eq!(heard.status, StatusCode::OK);
    stand.restart().await;
    assert_eq!(
        refused(&agent.refresh(&account_token, &[("session_id", &agent.session)]).await),
        (400, "invalid_grant")
    );
}

#[tokio::test(start_paused = true)]
async fn of_polls_at_once_one_signs_in() {
    let stand = Stand::new(signing(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let begun = agent.begun().await;
    agent.decide(&begun.user_code, "decision=allow&account=a1").await;
    let (one, other) = tokio::join!(agent.poll(&begun.code), agent.poll(&begun.code));
    let mut answers = [refused(&one), refused(&other)];
    answers.sort_unstable();
    assert_eq!(answers, [(200, ""), (400, "invalid_grant")]);
}
