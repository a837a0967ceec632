//! The User's part of a sign-in: she allows it on the Company's page, in her own browser. Nothing of the Agent's goes
//! there with her (digest 3.5).
//!
//! How she does it is decided here alone: on the page of a simulated Company, or by whatever else stands for her.

use std::time::Duration;

use super::{
    answer::Reading,
    held::Asking,
    hooks::NoHook,
    person::Person,
    process::{Named, Process},
    session::{NoToken, TokenDesk, Tries, form_request},
};
use crate::{
    history::record::{Outcome, Purpose},
    plan::{Distribution, Target},
    protocol::DeviceAuthorization,
};

/// How long a User takes to sign in on a page.
const TAKES: Distribution =
    Distribution::Uniform { from: Duration::from_millis(200), to: Duration::from_millis(1_000) };

/// How often a target's hook is asked that gives no answer.
const HOOK_TRIES_MAX: u32 = 3;

/// Lets the User allow a sign-in; whether she could.
pub(super) async fn allow(
    desk: &TokenDesk<'_>,
    process: &mut Process,
    asking: &mut Asking,
    begun: &DeviceAuthorization,
) -> Result<bool, NoToken> {
    let world = &desk.person.shared.world;
    let takes = TAKES.sample(world.draw("sign-in-takes", &desk.home.sessions.who, asking.requests()));
    let due = world.now() + takes;
    world.sleep_until(due).await;
    process.next_due(due);
    match &desk.person.shared.plan.target {
        Some(target) => Ok(at_the_target(desk, target, begun).await),
        None => on_the_page(desk, process, asking, begun).await,
    }
}

/// Whoever stands for her at a target says that she allows it; without such a hook the target knows by itself.
async fn at_the_target(desk: &TokenDesk<'_>, target: &Target, begun: &DeviceAuthorization) -> bool {
    let Some(hook) = &target.hooks.approve_sign_in else { return true };
    let (shared, user) = (&desk.person.shared, desk.person.user());
    let words = shared
        .staff
        .words(&user)
        .with("user", user.as_str())
        .with("account", account(desk.person))
        .with("user_code", begun.user_code.as_str());
    for _ in 0..HOOK_TRIES_MAX {
        match shared.staff.ask("approve_sign_in", hook, &words).await {
            Ok(_) => return true,
            Err(NoHook::Refused(_)) => return false,
            Err(NoHook::Failed(_)) => {}
        }
    }
    false
}

/// Her account at a Company, as she types it in there.
pub(super) fn account(person: &Person) -> String {
    let user = person.user();
    let target = person.shared.plan.target.as_ref();
    let written = target.and_then(|target| person.shared.staff.account(target, &user));
    written.unwrap_or_else(|| user.to_string())
}

/// She fills in the page of a simulated Company.
async fn on_the_page(
    desk: &TokenDesk<'_>,
    process: &mut Process,
    asking: &mut Asking,
    begun: &DeviceAuthorization,
) -> Result<bool, NoToken> {
    let form = filled_in(begun, &account(desk.person));
    let page = begun.verification_uri_complete.as_deref().unwrap_or(&begun.verification_uri);
    let mut tries = Tries::default();
    while tries.given_up().is_none() {
        let mut call = process.call(Purpose::SignIn);
        call.company = Some(desk.site.company.clone());
        let request = form_request(page, form.clone())?;
        let named = Named { key: desk.home.sessions.who.clone(), attempt: asking.next_request() };
        let ended = process.send(&desk.person.shared, call, named, request, Reading::Nothing).await;
        if ended.outcome == Outcome::Done {
            return Ok(true);
        }
        if ended.outcome == Outcome::Refused && !ended.may_pass() {
            return Ok(false);
        }
        if !tries.count(&ended) {
            desk.wait(process, asking, &tries, &ended).await;
        }
    }
    Ok(false)
}

/// What her browser sends.
fn filled_in(begun: &DeviceAuthorization, account: &str) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.extend_pairs([("user_code", begun.user_code.as_str()), ("decision", "allow"), ("account", account)]);
    form.finish()
}
