//! The backend by itself: one effect for each key, whatever its callers do.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, StatusCode};
use serde_json::{Value, json};

use crate::{
    fault::Faults,
    history::{
        LedgerEntry, Recorder,
        record::{BackendRequest, Effect, Purpose},
    },
    identity::{Signatures, digest::terms_digest},
    plan::{
        Action, Answers, Approval, BackendSettings, CompanyPlan, Defects, Distribution, OnPartial, PriceRange,
        Proposals, Sessions, Step, StoreSettings, WithoutExtension,
    },
    protocol::SessionMode,
    world::{About, Answer, Clock, Field, FieldOptions, Host, Lane, Party, PartyKind, World},
};

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn plan(fail: f64) -> CompanyPlan {
    let step = Step { name: "charge".into(), undo: Some("refund".into()), latency: None, fail, phrase: None };
    let action = Action {
        name: "exchange".into(),
        operation: true,
        without_extension: WithoutExtension::Refuse,
        approval: Approval::User,
        scope: None,
        signed_in: false,
        price: PriceRange { from_minor: 1, to_minor: 1, currency: "USD".into() },
        summary: None,
        terms: None,
        done: None,
        steps: vec![step],
        can_stop_until: None,
        on_partial: OnPartial::Report,
    };
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
            proof_window: ms(60_000),
            token_lifetime: ms(60_000),
            operations_resource: false,
        },
        answers: Answers { latency: Distribution::ZERO, answer_within: ms(100), retry_after: ms(1_000) },
        proposals: Proposals {
            lifetime: ms(60_000),
            revise_before_approval: 0.0,
            revise_after: Distribution::ZERO,
            revise_during_confirm: 0.0,
        },
        store: StoreSettings { keep_final: ms(60_000) },
        backend: BackendSettings { latency: Distribution::Constant(ms(100)), timeout: ms(1_000), ask_again: ms(1_000) },
        capacity: None,
        actions: [("exchange".into(), action)].into_iter().collect(),
        defects: Defects::default(),
    }
}

/// A backend and somebody who asks it.
struct Stand {
    recorder: Recorder,
    caller: World,
}

impl Stand {
    async fn new(fail: f64) -> Self {
        let recorder = Recorder::in_memory();
        let options = FieldOptions {
            seed: 3,
            clock: Clock::real(),
            epoch: "2026-01-01T00:00:00Z".parse().unwrap(),
            recorder: recorder.clone(),
            faults: Faults::new(3, Vec::new(), []),
            lane: Lane::Direct(Signatures::Real),
        };
        let field = Field::new(options).unwrap();
        let plan = Arc::new(plan(fail));
        let host = Host {
            party: Party::new(PartyKind::Backend, "backend.shop-1"),
            names: vec!["backend.shop-1.example".to_owned()],
            direct: true,
            port: 0,
            make: Box::new(move |world| super::router(world, Arc::clone(&plan))),
        };
        field.open(host).await.unwrap();
        Self { recorder, caller: field.world(Party::new(PartyKind::Company, "shop-1")) }
    }

    /// Asks for a step and waits that long for the answer.
    async fn ask(&self, path: &str, body: String, patience: Duration) -> Option<(StatusCode, Value)> {
        let uri = format!("https://backend.shop-1.example/steps/{path}");
        let request = Request::builder().method("POST").uri(uri).body(Bytes::from(body)).unwrap();
        let about = About {
            purpose: Purpose::Backend,
            call: None,
            key: "k".into(),
            attempt: 0,
            action: None,
            step: None,
            deadline: self.caller.now() + patience,
        };
        match self.caller.call(request, about).await.answer {
            Answer::Response(response) => {
                Some((response.status(), serde_json::from_slice(response.body()).unwrap_or_default()))
            }
            Answer::Unknown(_) | Answer::Unsent(_) => None,
        }
    }

    async fn charge(&self, key: &str, patience: Duration) -> Option<Value> {
        let (status, answer) = self.ask("charge", order("charge", key, None), patience).await?;
        assert_eq!(status, StatusCode::OK);
        Some(answer)
    }

    fn effects(&self) -> Vec<Effect> {
        let entries = self.recorder.snapshot().1.into_iter();
        entries
            .filter_map(|one| if let LedgerEntry::Effect(effect) = one.entry { Some(effect) } else { None })
            .collect()
    }

    fn requests(&self) -> Vec<BackendRequest> {
        let entries = self.recorder.snapshot().1.into_iter();
        entries.filter_map(|one| if let LedgerEntry::Request(seen) = one.entry { Some(seen) } else { None }).collect()
    }
}

fn order(step: &str, key: &str, undo_of: Option<&str>) -> String {
    json!({
        "action": "shop-1/operation/op_1", "kind": "exchange", "revision": 2, "key": key, "summary": "Pay",
        "terms": {"amount": "1.00"}, "step": step, "undo_of": undo_of, "terms_digest": "not looked at",
    })
    .to_string()
}

#[tokio::test(start_paused = true)]
async fn one_key_has_one_effect_and_one_answer() {
    let stand = Stand::new(0.0).await;
    let (one, other) = tokio::join!(stand.charge("op_1/charge", ms(500)), stand.charge("op_1/charge", ms(500)));
    let later = stand.charge("op_1/charge", ms(500)).await;
    assert!(one.is_some() && one == other && one == later);
    assert_eq!(stand.effects().len(), 1);
    let acted: Vec<_> = stand.requests().iter().map(|request| request.acted).collect();
    assert_eq!(acted.iter().filter(|acted| **acted).count(), 1);
    assert_eq!(acted.len(), 3);
    assert!(stand.requests().iter().all(|request| request.answered && request.delivered));
    let fresh = stand.charge("op_1/charge/2", ms(500)).await;
    assert!(fresh.is_some() && fresh != one, "another key is other work, with a receipt of its own");
    assert_eq!(stand.effects().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_does_not_stop_the_work() {
    let stand = Stand::new(0.0).await;
    assert!(stand.charge("op_1/charge", ms(10)).await.is_none());
    stand.caller.sleep(ms(500)).await;
    assert_eq!(stand.effects().len(), 1);
    let requests = stand.requests();
    assert_eq!(requests.len(), 1);
    assert!(requests[0].acted && !requests[0].answered && !requests[0].delivered);
    let again = stand.charge("op_1/charge", ms(500)).await.unwrap();
    assert_eq!(again["receipt"], stand.effects()[0].receipt.as_str());
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_for_good() {
    let stand = Stand::new(1.0).await;
    for _ in 0..2 {
        assert_eq!(stand.charge("op_1/charge", ms(500)).await.unwrap(), json!({"outcome": "refused"}));
    }
    assert_eq!(stand.effects().len(), 0);
    assert!(stand.requests().iter().all(|request| request.answered && !request.acted));
}

#[tokio::test(start_paused = true)]
async fn an_effect_tells_what_the_backend_was_told_to_perform() {
    let stand = Stand::new(0.0).await;
    let undo = order("refund", "op_1/charge/undo", Some("charge"));
    stand.ask("refund", undo, ms(500)).await.unwrap();
    let effect = &stand.effects()[0];
    let terms = json!({"amount": "1.00"});
    assert_eq!(effect.terms, terms_digest("Pay", terms.as_object()));
    assert_eq!((effect.revision, effect.step.as_str(), effect.undo_of.as_deref()), (2, "refund", Some("charge")));
    assert!(effect.receipt.starts_with("rtn_") && effect.receipt.len() >= 16);
}

#[tokio::test(start_paused = true)]
async fn garbage_has_no_effect() {
    let stand = Stand::new(0.0).await;
    for body in [String::new(), "[]".to_owned(), "{}".to_owned(), order("refund", "k", None)] {
        assert_eq!(stand.ask("charge", body, ms(500)).await.unwrap().0, StatusCode::BAD_REQUEST);
    }
    assert!(stand.effects().is_empty() && stand.requests().is_empty());
}
