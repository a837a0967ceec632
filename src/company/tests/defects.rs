//! Every defect shows its damage: in the ledger, in the history, or in an answer.

use futures_util::future::join_all;

use super::stand::{Stand, fault, ms, plan, with_defects};
use crate::{
    history::{Event, record::AttemptIs},
    plan::{CompanyDefect, CompanyPlan, Distribution, FaultKind, Window},
};

/// A Company with this defect, whose steps take a while and whose confirms do not wait for them.
fn hasty(defect: CompanyDefect) -> CompanyPlan {
    let mut plan = with_defects([defect]);
    plan.answers.answer_within = ms(5);
    plan.backend.latency = Distribution::Constant(ms(200));
    plan
}

#[tokio::test(start_paused = true)]
async fn perform_again_on_retry() {
    for pause in [10, 5_000] {
        let stand = Stand::new(hasty(CompanyDefect::PerformAgainOnRetry), Vec::new()).await;
        let agent = stand.agent("u1").await;
        let id = agent.proposed("ord_1").await;
        agent.confirm(&id, 1).await;
        stand.pass(ms(pause)).await;
        agent.confirm(&id, 1).await;
        assert_eq!(agent.tracked(&id).await.state(), "succeeded");
        stand.pass(ms(5_000)).await;
        let mut steps = stand.steps();
        steps.sort();
        assert_eq!(steps, ["charge", "charge", "ship", "ship", "take-back", "take-back"], "after {pause} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn check_then_act() {
    let stand = Stand::new(with_defects([CompanyDefect::CheckThenAct]), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    join_all((0..3).map(|_| agent.confirm(&id, 1))).await;
    stand.pass(ms(5_000)).await;
    assert_eq!(stand.steps().len(), 9);
    let later = agent.confirm(&id, 1).await.unwrap();
    stand.pass(ms(5_000)).await;
    assert_eq!((later.state(), stand.steps().len()), ("succeeded", 9), "a later confirm does not pass the check");
}

#[tokio::test(start_paused = true)]
async fn backend_retry_fresh_key() {
    let once = crate::plan::Fault {
        during: Some(Window { from: ms(0), to: ms(1_000) }),
        ..fault(FaultKind::BackendTimeout { effect: true }, Some("charge"))
    };
    let stand = Stand::new(with_defects([CompanyDefect::BackendRetryFreshKey]), vec![once]).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    agent.confirm(&id, 1).await;
    assert_eq!(agent.tracked(&id).await.state(), "succeeded");
    assert_eq!(stand.steps(), ["take-back", "charge", "charge", "ship"]);
}

#[tokio::test(start_paused = true)]
async fn perform_latest_terms() {
    let stand = Stand::new(with_defects([CompanyDefect::PerformLatestTerms]), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    agent.confirm(&id, 1).await;
    let offered = stand.events().into_iter().find_map(|event| match event {
        Event::Offer(offer) => Some(offer.terms),
        _ => None,
    });
    let effects = stand.effects();
    assert!(effects.iter().all(|effect| effect.revision == 1 && Some(&effect.terms) != offered.as_ref()));
    assert_eq!(effects.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn fail_on_backend_timeout() {
    let always = fault(FaultKind::BackendTimeout { effect: true }, Some("charge"));
    let stand = Stand::new(with_defects([CompanyDefect::FailOnBackendTimeout]), vec![always]).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let heard = agent.confirm(&id, 1).await.unwrap();
    assert_eq!(heard.state(), "failed");
    assert_eq!(stand.attempts().last().map(|attempt| attempt.is), Some(AttemptIs::Unanswered));
    assert_eq!(stand.steps(), ["take-back", "charge"]);
    assert!(!heard.result().contains(stand.effects()[1].receipt.as_str()), "it cannot tell what it does not know");
}

#[tokio::test(start_paused = true)]
async fn perform_after_cancel() {
    let stand = Stand::new(hasty(CompanyDefect::PerformAfterCancel), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    agent.confirm(&id, 1).await;
    assert_eq!(agent.cancel(&id).await.state(), "cancelled");
    let before = stand.steps().len();
    stand.pass(ms(5_000)).await;
    assert_eq!((before, stand.steps().len()), (0, 3));
    assert_eq!(agent.read(&id).await.state(), "cancelled", "and the end of the work is not noted");
}

#[tokio::test(start_paused = true)]
async fn expiry_not_checked() {
    let stand = Stand::new(with_defects([CompanyDefect::ExpiryNotChecked]), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    stand.pass(ms(901_000)).await;
    assert_eq!(agent.confirm(&id, 1).await.unwrap().state(), "succeeded");
}

#[tokio::test(start_paused = true)]
async fn stale_revision_accepted() {
    let stand = Stand::new(with_defects([CompanyDefect::StaleRevisionAccepted]), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    agent.change("ord_1", &id).await;
    let heard = agent.confirm(&id, 1).await.unwrap();
    assert_eq!((heard.state(), heard.body["revision"].as_u64()), ("succeeded", Some(2)));
    assert_eq!(heard.body["confirmation"]["revision"], 1);
    assert!(stand.effects().iter().all(|effect| effect.revision == 2));
}

#[tokio::test(start_paused = true)]
async fn defects_of_new_revisions() {
    for (defect, revision, renewed) in [
        (CompanyDefect::EditTermsInPlace, 1, true),
        (CompanyDefect::SkipRevision, 3, true),
        (CompanyDefect::ExpiryNotRenewed, 2, false),
    ] {
        let stand = Stand::new(with_defects([defect]), Vec::new()).await;
        let agent = stand.agent("u1").await;
        let first = agent.propose("ord_1").await.body["operation"].clone();
        stand.pass(ms(1_000)).await;
        let second = agent.change("ord_1", first["operation_id"].as_str().unwrap()).await.body["operation"].clone();
        assert_eq!(second["revision"], revision, "{defect}");
        assert_ne!(second["summary"], first["summary"], "{defect}");
        assert_eq!(second["expires_at"] != first["expires_at"], renewed, "{defect}");
    }
}

#[tokio::test(start_paused = true)]
async fn perform_on_propose() {
    let stand = Stand::new(with_defects([CompanyDefect::PerformOnPropose]), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    stand.pass(ms(1_000)).await;
    assert_eq!((agent.read(&id).await.state(), stand.steps().len()), ("proposed", 3));
    assert_eq!(agent.confirm(&id, 1).await.unwrap().state(), "succeeded");
    assert_eq!(stand.steps().len(), 3, "under the same keys");
}

#[tokio::test(start_paused = true)]
async fn acknowledge_before_perform() {
    let stand = Stand::new(with_defects([CompanyDefect::AcknowledgeBeforePerform]), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    assert_eq!(agent.confirm(&id, 1).await.unwrap().state(), "succeeded");
    let before = stand.steps().len();
    stand.pass(ms(2_000)).await;
    assert_eq!((before, stand.steps().len()), (0, 3));
}

#[tokio::test(start_paused = true)]
async fn defects_of_partial_work() {
    for (defect, state, told) in
        [(CompanyDefect::SucceedOnPartial, "succeeded", true), (CompanyDefect::SwallowPartial, "failed", false)]
    {
        let stand = Stand::new(with_defects([defect]), vec![fault(FaultKind::BackendFail, Some("ship"))]).await;
        let agent = stand.agent("u1").await;
        let id = agent.proposed("ord_1").await;
        let heard = agent.confirm(&id, 1).await.unwrap();
        assert_eq!(heard.state(), state, "{defect}");
        assert_eq!(stand.steps(), ["take-back", "charge"], "{defect}");
        let text = heard.body["result"].to_string();
        assert!(stand.effects().iter().all(|effect| text.contains(effect.receipt.as_str()) == told), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn expire_confirmed() {
    let mut plan = hasty(CompanyDefect::ExpireConfirmed);
    plan.proposals.lifetime = ms(5_000);
    let stand = Stand::new(plan, Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    agent.confirm(&id, 1).await;
    assert_eq!(agent.tracked(&id).await.state(), "succeeded");
    stand.pass(ms(5_000)).await;
    assert_eq!(agent.read(&id).await.state(), "expired");
}

#[tokio::test(start_paused = true)]
async fn rewrite_confirmation() {
    let stand = Stand::new(with_defects([CompanyDefect::RewriteConfirmation]), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    let first = agent.confirm(&id, 1).await.unwrap();
    stand.pass(ms(1_000)).await;
    let second = agent.confirm(&id, 1).await.unwrap();
    assert_ne!(first.body["confirmation"], second.body["confirmation"]);
}

#[tokio::test(start_paused = true)]
async fn revive_failed() {
    let once = crate::plan::Fault {
        during: Some(Window { from: ms(0), to: ms(1_000) }),
        ..fault(FaultKind::BackendFail, Some("ship"))
    };
    let stand = Stand::new(with_defects([CompanyDefect::ReviveFailed]), vec![once]).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    assert_eq!(agent.confirm(&id, 1).await.unwrap().state(), "failed");
    stand.pass(ms(1_000)).await;
    assert_eq!(agent.confirm(&id, 1).await.unwrap().state(), "succeeded");
    assert_eq!(stand.steps(), ["take-back", "charge", "take-back", "charge", "ship"]);
}

#[tokio::test(start_paused = true)]
async fn refuse_repeated_confirm() {
    let stand = Stand::new(with_defects([CompanyDefect::RefuseRepeatedConfirm]), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    assert_eq!(agent.confirm(&id, 1).await.unwrap().state(), "succeeded");
    assert_eq!(agent.confirm(&id, 1).await.unwrap().status.as_u16(), 409);
}

#[tokio::test(start_paused = true)]
async fn ignore_extension_listing() {
    let plan = with_defects([CompanyDefect::IgnoreExtensionListing]);
    let stand = Stand::with(plan, Vec::new(), false).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    assert_eq!(agent.confirm(&id, 1).await.unwrap().state(), "succeeded");
}

/// `drop-in-progress-on-restart` is among the crashes.
#[tokio::test(start_paused = true)]
async fn a_company_without_defects_does_none_of_this() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    for _ in 0..3 {
        agent.confirm(&id, 1).await;
    }
    assert_eq!(stand.steps(), ["take-back", "charge", "ship"]);
}
