//! The people at a target's side, as far as its hooks reach them: terms change, operations in progress get their outcome,
//! and somebody counts what was performed. A simulated Company does all that by itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, header};
use serde_json::Value;
use smol_str::{SmolStr, format_smolstr};
use tokio_util::sync::CancellationToken;

use super::{person::lock, words::Words};
use crate::{
    history::{
        Event,
        record::{FaultStruck, SETTLE_FAILED},
    },
    plan::{Hook, Hooks, Performed, Plan, Proposals},
    world::{Answer, World},
};

/// How often an outcome is asked for that nobody hears about.
const SETTLE_TRIES_MAX: u32 = 3;

/// The wait before the next try.
const SETTLE_AGAIN: Duration = Duration::from_secs(1);

/// What came of the requests to one hook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookTally {
    /// How often it was asked.
    pub asked: u64,
    /// How often it did what it was asked for.
    pub done: u64,
    /// How often it said no (4xx): an operation whose terms were to change may be confirmed by then.
    pub refused: u64,
    /// How often there was no answer, or one that is none.
    pub failed: u64,
    /// The first answer that was not as it should be.
    pub why: Option<SmolStr>,
}

/// The people at a target's side. Without a target nobody is there.
#[derive(Debug)]
pub(super) struct Staff {
    world: World,
    hooks: Hooks,
    proposals: Option<Proposals>,
    tallies: Mutex<BTreeMap<&'static str, HookTally>>,
    /// The operations that Agents were shown, by action ID, where each one's performances are asked for.
    shown: Mutex<BTreeMap<SmolStr, String>>,
    /// The operations whose outcome is seen to.
    settling: Mutex<BTreeSet<SmolStr>>,
    /// Nothing new is begun any more.
    over: CancellationToken,
}

/// Why a hook gave nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoHook {
    /// It said no.
    Refused,
    /// There was no answer, or one that is none.
    Failed,
}

impl Staff {
    pub(super) fn new(plan: &Plan, world: &World, over: CancellationToken) -> Arc<Self> {
        let hooks = plan.target.as_ref().map(|target| target.hooks.clone()).unwrap_or_default();
        let proposals = plan.companies.first().map(|company| company.proposals.clone());
        Arc::new(Self {
            world: world.clone(),
            hooks,
            proposals,
            tallies: Mutex::default(),
            shown: Mutex::default(),
            settling: Mutex::default(),
            over,
        })
    }

    /// What came of the hooks, by name; only those that were asked.
    pub(super) fn tallies(&self) -> BTreeMap<&'static str, HookTally> {
        lock(&self.tallies).clone()
    }

    /// An operation was proposed: its terms may change before anybody approves them.
    pub(super) fn proposed(self: &Arc<Self>, action: &SmolStr, id: &str) {
        if let Some(Performed::EachOperation { .. }) = self.hooks.performed {
            lock(&self.shown).insert(action.clone(), id.to_owned());
        }
        let (Some(hook), Some(proposals)) = (&self.hooks.revise, &self.proposals) else { return };
        let drawn = self.world.draw("hook.revise-before-approval", action, 0);
        if drawn.chance(proposals.revise_before_approval) {
            let after = proposals.revise_after.sample(self.world.draw("hook.revise-after", action, 0));
            let words = Words::of_operation(&self.world, action, id);
            self.spawn(after, "revise", hook.clone(), words, None);
        }
    }

    /// A confirm leaves: the terms may change beside it.
    pub(super) fn confirming(self: &Arc<Self>, action: &SmolStr, id: &str, attempt: u64) {
        let (Some(hook), Some(proposals)) = (&self.hooks.revise, &self.proposals) else { return };
        let drawn = self.world.draw("hook.revise-during-confirm", action, attempt);
        if drawn.chance(proposals.revise_during_confirm) {
            let words = Words::of_operation(&self.world, action, id).in_round(attempt + 1);
            self.spawn(Duration::ZERO, "revise", hook.clone(), words, None);
        }
    }

    /// An operation was seen in progress: where nothing else ends it, somebody does.
    pub(super) fn in_progress(self: &Arc<Self>, kind: &str, action: &SmolStr, id: &str) {
        let Some(settle) = &self.hooks.settle else { return };
        if !settle.actions.contains(kind) || !lock(&self.settling).insert(action.clone()) {
            return;
        }
        let succeeded = self.world.draw("hook.settle", action, 0).chance(settle.succeed);
        let words = Words::of_operation(&self.world, action, id).with("succeeded", succeeded);
        let after = settle.after.sample(self.world.draw("hook.settle-after", action, 0));
        self.spawn(after, "settle", settle.hook.clone(), words, Some(action.clone()));
    }

    fn spawn(
        self: &Arc<Self>,
        after: Duration,
        name: &'static str,
        hook: Hook,
        words: Words,
        settled: Option<SmolStr>,
    ) {
        let staff = Arc::clone(self);
        self.world.spawn(async move {
            let asking = async {
                staff.world.sleep(after).await;
                let tries = if name == "settle" { SETTLE_TRIES_MAX } else { 1 };
                for _ in 0..tries {
                    match staff.ask(name, &hook, &words).await {
                        Ok(_) => return,
                        Err(NoHook::Refused) => break,
                        Err(NoHook::Failed) => staff.world.sleep(SETTLE_AGAIN).await,
                    }
                }
                if let Some(action) = settled {
                    // Nobody at the Company can be blamed for what was never seen to.
                    staff.world.record(Event::Fault(FaultStruck::of_action("settle", SETTLE_FAILED, action)));
                }
            };
            tokio::select! {
                biased;
                () = staff.over.cancelled() => {}
                () = asking => {}
            }
        });
    }

    /// Asks a hook for something; what it answered, `null` where that is no JSON.
    pub(super) async fn ask(&self, name: &'static str, hook: &Hook, words: &Words) -> Result<Value, NoHook> {
        let answered = match request(hook, words) {
            Some(request) => self.world.hook(request).await,
            None => return self.failed(name, NoHook::Failed, "its request cannot be made".into()),
        };
        let response = match answered {
            Answer::Response(response) => response,
            Answer::Unknown(why) | Answer::Unsent(why) => return self.failed(name, NoHook::Failed, why.word().into()),
        };
        let status = response.status();
        if status.is_success() {
            self.count(name, |tally| tally.done += 1);
            return Ok(serde_json::from_slice(response.body()).unwrap_or_default());
        }
        let why = if status.is_client_error() { NoHook::Refused } else { NoHook::Failed };
        self.failed(name, why, format_smolstr!("status {}", status.as_u16()))
    }

    fn failed<T>(&self, name: &'static str, how: NoHook, why: SmolStr) -> Result<T, NoHook> {
        tracing::debug!("hook {name}: {why}");
        self.count(name, |tally| {
            match how {
                NoHook::Refused => tally.refused += 1,
                NoHook::Failed => tally.failed += 1,
            }
            tally.why.get_or_insert(why);
        });
        Err(how)
    }

    fn count(&self, name: &'static str, how: impl FnOnce(&mut HookTally)) {
        let mut tallies = lock(&self.tallies);
        let tally = tallies.entry(name).or_default();
        tally.asked += 1;
        how(tally);
    }

    /// How performances are asked for.
    pub(super) fn performed(&self) -> Option<&Performed> {
        self.hooks.performed.as_ref()
    }

    /// The operations that Agents were shown, by action ID.
    pub(super) fn shown(&self) -> BTreeMap<SmolStr, String> {
        lock(&self.shown).clone()
    }
}

fn request(hook: &Hook, words: &Words) -> Option<Request<Bytes>> {
    let body = match &hook.body {
        Some(body) => Bytes::from(words.json(body)?.to_string()),
        None => Bytes::new(),
    };
    let mut request = Request::new(body);
    *request.method_mut() = Method::from_bytes(hook.method.as_bytes()).ok()?;
    *request.uri_mut() = words.url(&hook.url)?.parse().ok()?;
    if hook.body.is_some() {
        request.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    Some(request)
}

/// The whole number at a place of an answer.
pub(super) fn number_at(answer: &Value, pointer: &str) -> Option<u64> {
    answer.pointer(pointer)?.as_u64()
}
