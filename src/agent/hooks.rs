//! The people at a target's side, as far as its hooks reach them: terms change, operations in progress get their outcome,
//! and somebody counts what was performed. A simulated Company does all that by itself.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use futures_lite::future;
use http::{HeaderValue, Method, Request, header};
use serde_json::Value;
use smol_str::{SmolStr, format_smolstr};
use tokio_util::sync::CancellationToken;

use super::{person::lock, words::Words};
use crate::{
    plan::{Hook, Hooks, Performed, Plan, Proposals, Target},
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
    /// `{run}`: names the run among all of the target.
    run: SmolStr,
    tallies: Mutex<BTreeMap<&'static str, HookTally>>,
    /// The operations that Agents were shown, by action ID, where each one's performances are asked for.
    shown: Mutex<BTreeMap<SmolStr, String>>,
    /// The operations whose outcome is seen to, and whether they have been given it.
    settling: Mutex<BTreeMap<SmolStr, bool>>,
    /// Nothing new is begun any more.
    over: CancellationToken,
}

/// Why a hook did nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoHook {
    /// It said no, with that status.
    Refused(u16),
    /// There was no answer, or one that is none: why.
    Failed(SmolStr),
}

/// What a hook said that did as it was asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HookAnswer {
    /// The status.
    pub(super) status: u16,
    /// The answer; `None` if it is no JSON.
    pub(super) body: Option<Value>,
}

impl Staff {
    pub(super) fn new(plan: &Plan, world: &World, run: SmolStr, over: CancellationToken) -> Arc<Self> {
        let hooks = plan.target.as_ref().map(|target| target.hooks.clone()).unwrap_or_default();
        let proposals = plan.companies.first().map(|company| company.proposals.clone());
        Arc::new(Self {
            world: world.clone(),
            hooks,
            proposals,
            run,
            tallies: Mutex::default(),
            shown: Mutex::default(),
            settling: Mutex::default(),
            over,
        })
    }

    /// What placeholders stand for in every text about what `key` names.
    pub(super) fn words(&self, key: &str) -> Words {
        Words::new(&self.world, key).with("run", self.run.as_str())
    }

    /// The same for an operation: `{operation_id}`.
    pub(super) fn words_of(&self, action: &str, id: &str) -> Words {
        self.words(action).with("operation_id", id)
    }

    /// The account of a User at a target whose Users sign in.
    pub(super) fn account(&self, target: &Target, user: &str) -> Option<String> {
        let sign_in = target.sign_in.as_ref()?;
        self.words(user).with("user", user).text(&sign_in.account)
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
            let words = self.words_of(action, id);
            self.revise(after, hook, words);
        }
    }

    /// A confirm leaves: the terms may change beside it.
    pub(super) fn confirming(self: &Arc<Self>, action: &SmolStr, id: &str, attempt: u64) {
        let (Some(hook), Some(proposals)) = (&self.hooks.revise, &self.proposals) else { return };
        let drawn = self.world.draw("hook.revise-during-confirm", action, attempt);
        if drawn.chance(proposals.revise_during_confirm) {
            let words = self.words_of(action, id).in_round(attempt + 1);
            self.revise(Duration::ZERO, hook, words);
        }
    }

    /// Whether an operation waits for somebody here who has not given it its outcome: it cannot come to its end by itself.
    pub(super) fn owes_outcome(&self, kind: &str, action: &str) -> bool {
        let waits = self.hooks.settle.as_ref().is_some_and(|settle| settle.actions.contains(kind));
        waits && lock(&self.settling).get(action) != Some(&true)
    }

    /// An operation was seen in progress: where nothing else ends it, somebody does.
    pub(super) fn in_progress(self: &Arc<Self>, kind: &str, action: &SmolStr, id: &str) {
        let Some(settle) = &self.hooks.settle else { return };
        if !settle.actions.contains(kind) {
            return;
        }
        match lock(&self.settling).entry(action.clone()) {
            Entry::Occupied(_) => return,
            Entry::Vacant(new) => drop(new.insert(false)),
        }
        let succeeded = self.world.draw("hook.settle", action, 0).chance(settle.succeed);
        let words = self.words_of(action, id).with("succeeded", succeeded);
        let after = settle.after.sample(self.world.draw("hook.settle-after", action, 0));
        let (staff, action, hook) = (Arc::clone(self), action.clone(), settle.hook.clone());
        self.spawn(async move {
            staff.world.sleep(after).await;
            for _ in 0..SETTLE_TRIES_MAX {
                match staff.ask("settle", &hook, &words).await {
                    Ok(_) => drop(lock(&staff.settling).insert(action, true)),
                    Err(NoHook::Refused(_)) => {}
                    Err(NoHook::Failed(_)) => {
                        staff.world.sleep(SETTLE_AGAIN).await;
                        continue;
                    }
                }
                return;
            }
        });
    }

    /// Asks for other terms of an operation so much later.
    fn revise(self: &Arc<Self>, after: Duration, hook: &Hook, words: Words) {
        let (staff, hook) = (Arc::clone(self), hook.clone());
        self.spawn(async move {
            staff.world.sleep(after).await;
            // Whether it could is in the tally.
            let _ = staff.ask("revise", &hook, &words).await;
        });
    }

    /// Does something beside the Agents, until the run is over.
    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.world.spawn(future::or(self.over.clone().cancelled_owned(), work));
    }

    /// Asks a hook for something.
    pub(super) async fn ask(&self, name: &'static str, hook: &Hook, words: &Words) -> Result<HookAnswer, NoHook> {
        let answered = match request(hook, words) {
            // Boxed: hooks are rare, and who may ask one would carry its room.
            Some(request) => Box::pin(self.world.hook(request)).await,
            None => return self.failed(name, NoHook::Failed("its request cannot be made".into())),
        };
        let response = match answered {
            Answer::Response(response) => response,
            Answer::Unknown(why) | Answer::Unsent(why) => return self.failed(name, NoHook::Failed(why.word().into())),
        };
        let status = response.status();
        if status.is_success() {
            self.count(name, |tally| tally.done += 1);
            return Ok(HookAnswer { status: status.as_u16(), body: serde_json::from_slice(response.body()).ok() });
        }
        let refused = status.is_client_error();
        let status = status.as_u16();
        self.failed(name, if refused { NoHook::Refused(status) } else { NoHook::Failed(of_status(status)) })
    }

    fn failed<T>(&self, name: &'static str, how: NoHook) -> Result<T, NoHook> {
        tracing::debug!("hook {name}: {how:?}");
        self.count(name, |tally| {
            let why = match &how {
                NoHook::Refused(status) => {
                    tally.refused += 1;
                    of_status(*status)
                }
                NoHook::Failed(why) => {
                    tally.failed += 1;
                    why.clone()
                }
            };
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

/// Why a hook did nothing that answered with that status.
pub(super) fn of_status(status: u16) -> SmolStr {
    format_smolstr!("status {status}")
}
