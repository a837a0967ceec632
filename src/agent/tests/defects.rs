//! Each defect shows in the history.

use super::*;

#[tokio::test(start_paused = true)]
async fn repropose_on_timeout() {
    let run = run_defective(AgentDefect::ReproposeOnTimeout).await;
    run.fake.say("confirm", [Say::Ignored]);
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::CompletedSucceeded);
    let proposals = run.calls(Purpose::Propose);
    assert_eq!(proposals.len(), 2);
    assert_eq!(proposals[0].0.intent, proposals[1].0.intent);
}

#[tokio::test(start_paused = true)]
async fn reuse_approval() {
    let run = run_defective(AgentDefect::ReuseApproval).await;
    run.fake.say("confirm", [Say::Revised]);
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::CompletedSucceeded);
    let revisions: Vec<_> = run.calls(Purpose::Confirm).into_iter().map(|(call, _)| call.revision).collect();
    assert_eq!(revisions, [Some(1), Some(2)]);
    assert_eq!(run.surface().iter().filter(|(is, _)| *is == ApprovalIs::Approved).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn confirm_unseen() {
    let run = run_defective(AgentDefect::ConfirmUnseen).await;
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::CompletedSucceeded);
    assert_eq!(run.surface(), [(ApprovalIs::Told, None)]);
}

#[tokio::test(start_paused = true)]
async fn ignore_withdrawal() {
    let run = run_defective(AgentDefect::IgnoreWithdrawal).await;
    let ask = AskUser { withdraw: 1.0, ..approves() };
    let end = run.journey(1, &[propose(), JourneyStep::AskUser(ask), confirm(), JourneyStep::Track]).await;
    assert_eq!(end, JourneyEnd::CompletedSucceeded);
    let events = run.events();
    let withdrawn =
        events.iter().position(|event| matches!(event, Event::Approval(a) if a.is == ApprovalIs::Withdrawn));
    let confirmed = events.iter().position(|event| matches!(event, Event::Call(c) if c.purpose == Purpose::Confirm));
    assert!(withdrawn.unwrap() < confirmed.unwrap());
}

#[tokio::test(start_paused = true)]
async fn confirm_old_revision() {
    let run = run_defective(AgentDefect::ConfirmOldRevision).await;
    run.fake.say("confirm", [Say::Revised]);
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::GaveUp);
    let revisions: Vec<_> = run.calls(Purpose::Confirm).into_iter().map(|(call, _)| call.revision).collect();
    assert_eq!(revisions, [Some(1); 3]);
}

#[tokio::test(start_paused = true)]
async fn standing_too_wide() {
    let run = run_defective(AgentDefect::StandingTooWide).await;
    assert_eq!(run.journey(1, &[propose(), confirm_by_standing(1)]).await, JourneyEnd::CompletedSucceeded);
    assert_eq!(run.approvals()[0].bounds.as_ref().unwrap().up_to_minor, 1);
}

#[tokio::test(start_paused = true)]
async fn show_other_terms() {
    let run = run_defective(AgentDefect::ShowOtherTerms).await;
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::CompletedSucceeded);
    let view = run.calls(Purpose::Propose).remove(0).1.view.unwrap();
    assert_ne!(run.approvals()[0].terms, Some(view.terms));
}

#[tokio::test(start_paused = true)]
async fn reuse_proof() {
    let run = run_defective(AgentDefect::ReuseProof).await;
    run.fake.say("confirm", [Say::Only(500, None, "")]);
    run.fake.say("read", vec![Say::Only(500, None, ""); 12]);
    run.journey(1, &ordinary()).await;
    let confirms = run.fake.asked("confirm");
    assert!(confirms.len() >= 2);
    assert!(confirms.iter().all(|confirm| confirm.jti == confirms[0].jti));
}

#[tokio::test(start_paused = true)]
async fn hot_poll() {
    let run = run_defective(AgentDefect::HotPoll).await;
    run.fake.say("confirm", [Say::Progress(5)]);
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::CompletedSucceeded);
    let read = run.fake.asked("read").pop().unwrap();
    assert!(read.at.since(run.fake.asked("confirm")[0].at) < Duration::from_secs(1));
}
