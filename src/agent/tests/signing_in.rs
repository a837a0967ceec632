//! Signing in and out: when, how, and what becomes of it when answers are lost.

use super::*;
use crate::protocol::{
    TokenRequest,
    token::{GRANT_DEVICE_CODE, GRANT_JWT_BEARER, GRANT_REFRESH_TOKEN},
};

/// A run at a Company whose actions need a sign-in.
async fn run_signing(set: impl FnOnce(&mut Fake)) -> Run {
    let mut fake = Fake::new("shop-1.example");
    fake.sign_in = true;
    set(&mut fake);
    run_with(fake, swarm()).await
}

async fn signing() -> Run {
    run_signing(|_| {}).await
}

/// The grants that were asked for, in order; polls in vain left out.
fn grants(run: &Run) -> Vec<&'static str> {
    let forms = run.fake.asked("token").into_iter().map(|asked| TokenRequest::parse(asked.body.as_bytes()).unwrap());
    let words = forms.map(|form| match form.grant_type.as_deref() {
        Some(GRANT_JWT_BEARER) => "session",
        Some(GRANT_DEVICE_CODE) => "device",
        Some(GRANT_REFRESH_TOKEN) => "account",
        _ => "another",
    });
    words.collect()
}

fn whys(run: &Run, purpose: Purpose) -> Vec<String> {
    run.calls(purpose).into_iter().map(|(_, end)| end.why.unwrap_or_default().to_string()).collect()
}

#[tokio::test(start_paused = true)]
async fn an_agent_signs_in_when_it_has_to_and_sends_the_request_again() {
    let run = signing().await;
    let person = Person::new(&run.shared, 1);
    assert_eq!(run.journey_of(&person, &ordinary(), 1).await, JourneyEnd::CompletedSucceeded);
    assert_eq!(whys(&run, Purpose::Propose), ["sign_in_required", ""]);
    assert_eq!(run.outcomes(Purpose::Confirm), [Outcome::View]);
    assert_eq!(run.outcomes(Purpose::SignIn), [Outcome::Done; 2], "the endpoint and the page");
    assert_eq!(run.fake.accounts(), ["u1"]);
    let proposals: Vec<_> = run.fake.asked("propose").into_iter().map(|asked| asked.jti).collect();
    assert_ne!(proposals[0], proposals[1], "with a proof of its own");
    let device = &run.fake.asked("device")[0].body;
    assert!(device.contains("scope=shop%3Awrite") && device.contains("client_assertion="));
    let form = TokenRequest::parse(run.fake.asked("token")[1].body.as_bytes()).unwrap();
    assert_eq!((form.session_id.as_deref(), form.assertion, form.scope), (Some("ses_1"), None, None));

    // From now on it is known that this action needs it, by all Agents.
    assert_eq!(run.journey_of(&Person::new(&run.shared, 3), &ordinary(), 1).await, JourneyEnd::CompletedSucceeded);
    assert_eq!(run.outcomes(Purpose::Propose), [Outcome::Refused, Outcome::View, Outcome::View]);
    assert_eq!(run.journey_of(&person, &ordinary(), 2).await, JourneyEnd::CompletedSucceeded);
    assert_eq!(run.fake.asked("device").len(), 2, "each User once");
    assert_eq!(run.fake.accounts(), ["u1", "u3"]);
}

#[tokio::test(start_paused = true)]
async fn journeys_side_by_side_sign_in_once() {
    let run = signing().await;
    let person = Person::new(&run.shared, 1);
    let steps = ordinary();
    let (a, b) = tokio::join!(run.journey_of(&person, &steps, 1), run.journey_of(&person, &steps, 2));
    assert_eq!([a, b], [JourneyEnd::CompletedSucceeded; 2]);
    assert_eq!(run.fake.asked("device").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn polls_keep_to_the_interval_and_slow_down() {
    let run = run_signing(|fake| fake.interval = 3).await;
    let pending = Say::Only(400, None, r#"{"error":"authorization_pending"}"#);
    let slow = Say::Only(400, None, r#"{"error":"slow_down"}"#);
    run.fake.say("token", [Say::Usual, pending.clone(), slow, pending]);
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::CompletedSucceeded);
    let polls: Vec<Moment> = run.fake.asked("token")[1..].iter().map(|asked| asked.at).collect();
    let gaps: Vec<u64> = polls.windows(2).map(|pair| pair[1].since(pair[0]).as_secs()).collect();
    assert_eq!(gaps, [3, 8, 8]);
}

#[tokio::test(start_paused = true)]
async fn a_sign_in_that_is_denied_or_late_ends_the_journey() {
    for error in [r#"{"error":"access_denied"}"#, r#"{"error":"expired_token"}"#] {
        let run = signing().await;
        run.fake.say("token", [Say::Usual, Say::Only(400, None, error)]);
        let person = Person::new(&run.shared, 1);
        assert_eq!(run.journey_of(&person, &ordinary(), 1).await, JourneyEnd::NotSignedIn);
        assert_eq!(run.fake.asked("device").len(), 1);
        assert_eq!(run.journey_of(&person, &ordinary(), 2).await, JourneyEnd::CompletedSucceeded, "another day");
    }
    let run = signing().await;
    run.fake.say("token", std::iter::once(Say::Usual).chain(vec![Say::Only(503, None, ""); 100]));
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::NotSignedIn, "the codes end after a minute");
    let run = signing().await;
    run.fake.say("device", vec![Say::Only(400, None, r#"{"error":"invalid_scope"}"#); 5]);
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::NotSignedIn);
    let run = signing().await;
    run.fake.say("page", [Say::Only(404, None, "")]);
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::NotSignedIn);
    assert_eq!(run.fake.asked("propose").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn only_a_page_of_the_company_is_shown() {
    for (page, end) in [
        ("https://shop-1.example.evil.example/sign-in", JourneyEnd::NotSignedIn),
        ("https://evilshop-1.example/sign-in", JourneyEnd::NotSignedIn),
        ("http://shop-1.example/sign-in", JourneyEnd::NotSignedIn),
        ("https://shop-1.example@evil.example/sign-in", JourneyEnd::NotSignedIn),
        ("https://SHOP-1.example/sign-in", JourneyEnd::CompletedSucceeded),
    ] {
        let run = run_signing(|fake| fake.page = page.to_owned()).await;
        assert_eq!(run.journey(1, &ordinary()).await, end, "{page}");
    }
}

#[tokio::test(start_paused = true)]
async fn lost_answers_are_asked_for_again_and_a_code_that_they_used_up_is_followed_by_another() {
    let run = signing().await;
    run.fake.say("device", [Say::Only(503, Some(2), ""), Say::Ignored]);
    run.fake.say("page", [Say::Lost, Say::Ignored]);
    run.fake.say("token", [Say::Usual, Say::Ignored, Say::Lost]);
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::CompletedSucceeded);
    assert_eq!(run.fake.asked("device").len(), 4, "three for the first codes, one for the next");
    let polls = whys(&run, Purpose::Token);
    assert_eq!(polls[1..], ["timeout", "timeout", "invalid_grant", ""]);
}

#[tokio::test(start_paused = true)]
async fn the_account_token_renews_and_takes_turns() {
    let run = run_signing(|fake| fake.token_seconds = 20).await;
    let wait = || JourneyStep::Wait { time: Distribution::Constant(Duration::from_secs(19)) };
    let steps = [propose(), JourneyStep::AskUser(approves()), wait(), confirm(), wait(), JourneyStep::Track];
    let person = Person::new(&run.shared, 1);
    assert_eq!(run.journey_of(&person, &steps, 1).await, JourneyEnd::CompletedSucceeded);
    assert_eq!(run.journey_of(&person, &ordinary(), 2).await, JourneyEnd::CompletedSucceeded);
    assert_eq!(grants(&run), ["session", "device", "account", "account"]);
    assert_eq!(run.outcomes(Purpose::Confirm), [Outcome::View; 2], "renewed before it is refused");
    assert!(
        run.fake.asked("token")[3].body.contains("refresh_token=acct-3&")
            || run.fake.asked("token")[3].body.ends_with("refresh_token=acct-3")
    );
    assert!(run.fake.asked("token")[3].body.contains("session_id=ses_1"));
}

#[tokio::test(start_paused = true)]
async fn an_account_token_that_is_no_longer_good_is_followed_by_another_sign_in() {
    let run = signing().await;
    let person = Person::new(&run.shared, 1);
    run.journey_of(&person, &ordinary(), 1).await;
    run.fake.sign_out_everybody();
    assert_eq!(run.journey_of(&person, &ordinary(), 2).await, JourneyEnd::CompletedSucceeded);
    assert_eq!(grants(&run), ["session", "device", "account", "device"]);
    assert_eq!(run.fake.asked("device").len(), 2);
    // A renewal whose answer was lost used the Account Token up.
    run.fake.forget_tokens();
    run.fake.say("token", [Say::Lost]);
    assert_eq!(run.journey_of(&person, &ordinary(), 3).await, JourneyEnd::CompletedSucceeded);
    assert_eq!(grants(&run)[4..], ["account", "account", "device"]);
    assert_eq!(run.fake.asked("device").len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_gone_or_another_account_s_is_followed_by_a_new_one_that_is_signed_in() {
    for error in [r#"{"error":"invalid_session"}"#, r#"{"error":"account_mismatch"}"#] {
        let run = signing().await;
        let person = Person::new(&run.shared, 1);
        run.journey_of(&person, &ordinary(), 1).await;
        run.fake.forget_tokens();
        run.fake.say("token", [Say::Only(400, None, error)]);
        assert_eq!(run.journey_of(&person, &ordinary(), 2).await, JourneyEnd::CompletedSucceeded);
        assert_eq!(grants(&run), ["session", "device", "account", "session", "account"]);
        let run = signing().await;
        run.fake.say("token", [Say::Usual, Say::Only(400, None, error)]);
        assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::CompletedSucceeded);
        assert_eq!(grants(&run), ["session", "device", "session", "device"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_for_a_resource_follows_the_sign_in() {
    let run = run_signing(|fake| fake.resource = Some("https://shop-1.example/ops")).await;
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::CompletedSucceeded);
    assert_eq!(grants(&run), ["session", "device", "account"]);
    assert!(run.fake.asked("token")[2].body.contains("resource="));
}

#[tokio::test(start_paused = true)]
async fn a_nonce_is_answered_at_once_in_a_sign_in_too() {
    let run = run_signing(|fake| fake.interval = 5).await;
    let person = Person::new(&run.shared, 1);
    *super::super::person::lock(&run.fake.nonce) = Some("n1");
    assert_eq!(run.journey_of(&person, &ordinary(), 1).await, JourneyEnd::CompletedSucceeded);
    assert_eq!(grants(&run), ["session", "session", "device"]);
}

#[tokio::test(start_paused = true)]
async fn a_sign_out_revokes_the_account_token_and_later_journeys_sign_in_anew() {
    let run = signing().await;
    let person = Person::new(&run.shared, 1);
    let mut steps = ordinary().to_vec();
    steps.push(JourneyStep::SignOut);
    run.fake.say("revoke", [Say::Ignored, Say::Only(503, None, "")]);
    assert_eq!(run.journey_of(&person, &steps, 1).await, JourneyEnd::CompletedSucceeded);
    assert_eq!(run.outcomes(Purpose::Revoke), [Outcome::Unknown, Outcome::Unknown, Outcome::Done]);
    assert!(run.fake.asked("revoke")[2].body.contains("token=acct-2"));
    assert_eq!(run.journey_of(&person, &ordinary(), 2).await, JourneyEnd::CompletedSucceeded);
    assert_eq!(run.fake.asked("device").len(), 2);
    assert_eq!(run.outcomes(Purpose::Propose), [Outcome::Refused, Outcome::View, Outcome::View]);
    let sessions = run.events().into_iter().filter(|event| matches!(event, Event::Session(_))).count();
    assert_eq!(sessions, 1, "the Session goes on");
}

#[tokio::test(start_paused = true)]
async fn a_sign_out_within_a_journey_is_made_good_for_what_follows() {
    let run = signing().await;
    let steps = [propose(), JourneyStep::AskUser(approves()), JourneyStep::SignOut, confirm(), JourneyStep::Track];
    assert_eq!(run.journey(1, &steps).await, JourneyEnd::CompletedSucceeded);
    assert_eq!(whys(&run, Purpose::Confirm), ["sign_in_required", ""]);
    assert_eq!(run.outcomes(Purpose::Confirm), [Outcome::Refused, Outcome::View]);
    assert_eq!(grants(&run), ["session", "device", "session", "device"]);
}

#[tokio::test(start_paused = true)]
async fn a_sign_out_at_the_end_is_taken_however_the_journey_ends_and_is_nothing_without_a_sign_in() {
    let run = signing().await;
    let declines = JourneyStep::AskUser(AskUser { approve: 0.0, decline: 1.0, ..approves() });
    let steps = [propose(), declines, confirm(), JourneyStep::SignOut];
    assert_eq!(run.journey(1, &steps).await, JourneyEnd::Declined);
    assert_eq!(run.fake.asked("revoke").len(), 1);
    let plain = super::run().await;
    assert_eq!(plain.journey(1, &[propose(), JourneyStep::SignOut]).await, JourneyEnd::LeftOpen);
    assert!(plain.fake.asked("revoke").is_empty() && plain.fake.asked("device").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_confirm_that_may_have_acted_is_followed_up_even_if_there_is_no_token_for_a_while() {
    let run = super::run().await;
    let person = Person::new(&run.shared, 1);
    let wait = JourneyStep::Wait { time: Distribution::Constant(Duration::from_secs(10)) };
    let steps = [propose(), JourneyStep::AskUser(approves()), wait, confirm(), JourneyStep::Track];
    run.fake.say("confirm", [Say::Instead(401, r#"{"error":"invalid_token"}"#)]);
    let refused = Say::Only(400, None, r#"{"error":"invalid_client"}"#);
    run.fake.say("token", std::iter::once(Say::Usual).chain(vec![refused; 5]));
    // Another journey's token request may have ended the token by then.
    let doubt = async {
        run.shared.world.sleep(Duration::from_secs(5)).await;
        person.home(0).unwrap().sessions.doubt();
    };
    let (end, ()) = tokio::join!(run.journey_of(&person, &steps, 1), doubt);
    assert_eq!(run.calls(Purpose::Confirm)[0].1.outcome, Outcome::Unknown);
    assert_eq!(end, JourneyEnd::CompletedSucceeded);
    assert_eq!(run.meter.counts().counter("left_open"), 0);
}
