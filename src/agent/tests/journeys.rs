//! What an Agent does in its journeys.

use super::*;

#[tokio::test(start_paused = true)]
async fn proposes_asks_confirms_tracks_and_tells() {
    let run = run().await;
    run.fake.say("confirm", [Say::Progress(1)]);
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::CompletedSucceeded);
    assert_eq!(run.outcomes(Purpose::Discover), [Outcome::Done; 3]);
    assert_eq!(run.outcomes(Purpose::Token), [Outcome::Done]);
    assert_eq!(run.outcomes(Purpose::Propose), [Outcome::View]);
    assert_eq!(run.outcomes(Purpose::Confirm), [Outcome::View]);
    let surface = run.surface();
    assert_eq!(surface, [(ApprovalIs::Shown, Some(1)), (ApprovalIs::Approved, Some(1)), (ApprovalIs::Told, None)]);
    let told = run.approvals().pop().unwrap();
    assert!(told.text.unwrap().starts_with("It is succeeded. Receipt rtn_"));
    let (call, end) = run.calls(Purpose::Confirm).remove(0);
    let view = end.view.unwrap();
    assert_eq!(call.process, "a1/1");
    assert_eq!(call.action, Some(view.action.clone()));
    assert_eq!(end.retry_after_ms, Some(1_000));
    assert_eq!(run.approvals()[0].terms, Some(view.terms));
    let counts = run.meter.counts();
    assert_eq!((counts.finals_all(), counts.counter("confirms"), counts.recoveries), (1, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn waits_for_retry_after_between_reads() {
    let run = run().await;
    run.fake.say("confirm", [Say::Progress(3)]);
    run.fake.say("read", [Say::Progress(4)]);
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::CompletedSucceeded);
    let (confirm, reads) = (run.fake.asked("confirm"), run.fake.asked("read"));
    let last = reads.len() - 1; // there may be a look before the confirm
    assert!(reads[last - 1].at.since(confirm[0].at) >= Duration::from_secs(3));
    assert!(reads[last].at.since(reads[last - 1].at) >= Duration::from_secs(4));
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_recovered_by_the_same_operation_with_fresh_proofs() {
    for user in 1..=12 {
        let run = run().await;
        run.fake.say("confirm", [Say::Lost, Say::Only(503, Some(2), "")]);
        run.fake.say("read", [Say::Only(500, None, "{}"), Say::Lost]);
        // Users of the operator that lists the extension are the odd ones.
        assert_eq!(run.journey(2 * user - 1, &ordinary()).await, JourneyEnd::CompletedSucceeded);
        assert_eq!(run.fake.asked("propose").len(), 1, "never a new proposal");
        let tries: Vec<_> = [run.fake.asked("confirm"), run.fake.asked("read")].concat();
        let mut proofs: Vec<&str> = tries.iter().map(|asked| asked.jti.as_str()).collect();
        proofs.sort_unstable();
        proofs.dedup();
        assert_eq!(proofs.len(), tries.len());
        assert!(tries.iter().all(|asked| asked.path.starts_with(&tries[0].path[..14])));
        assert_eq!(run.calls(Purpose::Confirm)[0].1.outcome, Outcome::Unknown);
        let counts = run.meter.counts();
        assert_eq!((counts.recoveries, counts.counter("left_open")), (1, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_unknown_and_a_replayed_proof_too() {
    let run = run().await;
    let replayed = r#"{"error":"invalid_dpop_proof"}"#;
    run.fake.say("confirm", [Say::Instead(200, "{\"operation_id\":1}"), Say::Only(401, None, replayed)]);
    run.fake.say("read", [Say::Only(200, None, "<html>"), Say::Only(200, None, "[]")]);
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::CompletedSucceeded);
    let confirms = run.calls(Purpose::Confirm);
    assert_eq!(confirms[0].1.why.as_deref(), Some("unreadable"));
    assert!(confirms.iter().take(2).all(|(_, end)| end.outcome == Outcome::Unknown));
    assert_eq!(run.fake.asked("propose").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_proposal_is_asked_for_again_as_the_same_wish() {
    let run = run().await;
    run.fake.say("propose", [Say::Lost, Say::Only(503, Some(7), ""), Say::Only(429, Some(3), "")]);
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::CompletedSucceeded);
    let asked = run.fake.asked("propose");
    assert_eq!(asked.len(), 4);
    assert!(asked.iter().all(|again| again.path == asked[0].path && again.body == asked[0].body));
    assert!(asked[2].at.since(asked[1].at) >= Duration::from_secs(7));
    assert!(asked[3].at.since(asked[2].at) >= Duration::from_secs(3));
    let calls = run.calls(Purpose::Propose);
    assert!(
        calls.iter().all(|(call, _)| call.intent.as_deref() == Some("i1-1") && call.kind.as_deref() == Some("wrap"))
    );
    let outcomes: Vec<Outcome> = calls.into_iter().map(|(_, end)| end.outcome).collect();
    assert_eq!(outcomes, [Outcome::Unknown, Outcome::Unknown, Outcome::Refused, Outcome::View]);
}

#[tokio::test(start_paused = true)]
async fn a_journey_is_given_up_after_so_many_tries_but_never_a_confirm_that_may_have_acted() {
    let mut swarm = super::swarm();
    swarm.retry.tries = Some(3);
    let run = super::run_with(Fake::new("shop-1.example"), swarm).await;
    run.fake.say("token", vec![Say::Ignored; 3]);
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::GaveUp);
    assert_eq!((run.fake.asked("token").len(), run.fake.asked("propose").len()), (3, 0));
    run.fake.say("propose", vec![Say::Ignored; 3]);
    assert_eq!(run.journey(2, &ordinary()).await, JourneyEnd::GaveUp);
    assert_eq!(run.fake.asked("propose").len(), 3);
    run.fake.say("confirm", vec![Say::Ignored; 9]);
    run.fake.say("read", vec![Say::Ignored; 9]);
    assert_eq!(run.journey(3, &ordinary()).await, JourneyEnd::CompletedSucceeded);
    assert!(run.fake.asked("confirm").len() > 3);
}

#[tokio::test(start_paused = true)]
async fn a_new_revision_is_confirmed_only_after_a_new_approval() {
    let run = run().await;
    run.fake.say("confirm", [Say::Revised, Say::Revised]);
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::CompletedSucceeded);
    let mut approved = Vec::new();
    for event in run.events() {
        match event {
            Event::Approval(Approval { is: ApprovalIs::Approved, revision, .. }) => approved.push(revision),
            Event::Call(call) if call.purpose == Purpose::Confirm => {
                assert_eq!(approved.last(), Some(&call.revision), "confirms what was approved last");
            }
            _ => {}
        }
    }
    assert_eq!(approved, [Some(1), Some(2), Some(3)]);
    assert_eq!(run.meter.counts().counter("terms_changed"), 2);
    let (_, refused) = run.calls(Purpose::Confirm).remove(0);
    assert_eq!((refused.outcome, refused.why.as_deref()), (Outcome::Refused, Some("terms_changed")));
    assert_eq!(refused.view.unwrap().revision, 2);
}

#[tokio::test(start_paused = true)]
async fn terms_that_never_stop_changing_are_given_up_and_cancelled() {
    let run = run().await;
    run.fake.say("confirm", vec![Say::Revised; 50]);
    assert_eq!(run.journey(1, &ordinary()).await, JourneyEnd::GaveUp);
    assert_eq!(run.fake.asked("cancel").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn who_declines_cancels() {
    let run = run().await;
    let ask = AskUser { approve: 0.0, decline: 1.0, ..approves() };
    run.fake.say("cancel", [Say::Ignored]);
    let end = run.journey(1, &[propose(), JourneyStep::AskUser(ask), confirm(), JourneyStep::Track]).await;
    assert_eq!(end, JourneyEnd::Declined);
    assert_eq!((run.fake.asked("confirm").len(), run.fake.asked("cancel").len()), (0, 2));
}

#[tokio::test(start_paused = true)]
async fn other_terms_are_asked_for_at_the_change_endpoint() {
    let run = run().await;
    let ask = AskUser { approve: 0.0, other_terms: 1.0, ..approves() };
    run.fake.say("change", [Say::Lost]);
    let end = run.journey(1, &[propose(), JourneyStep::AskUser(ask), confirm()]).await;
    assert_eq!(end, JourneyEnd::GaveUp);
    assert_eq!(run.fake.asked("propose").len(), 1);
    let shown: Vec<_> = run.surface().into_iter().filter(|(is, _)| *is == ApprovalIs::Shown).collect();
    let revisions: Vec<_> = (1..=8).map(|revision| (ApprovalIs::Shown, Some(revision))).collect();
    assert_eq!(shown, revisions, "the lost change was found by a read, and not asked for twice");
    let change = run.calls(Purpose::Change).remove(0).0;
    assert!(change.action.is_some() && change.intent.is_some());
}

#[tokio::test(start_paused = true)]
async fn silence_and_leaving_let_the_proposal_be() {
    let run = run().await;
    let ask = AskUser { approve: 0.0, ..approves() };
    assert_eq!(run.journey(1, &[propose(), JourneyStep::AskUser(ask), confirm()]).await, JourneyEnd::Unanswered);
    let person = Person::new(&run.shared, 3);
    assert_eq!(run.journey_of(&person, &[propose(), JourneyStep::WalkAway], 1).await, JourneyEnd::WalkedAway);
    assert_eq!(run.journey_of(&person, &[propose()], 2).await, JourneyEnd::LeftOpen);
    assert!(run.fake.asked("confirm").is_empty() && run.fake.asked("cancel").is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_approval_taken_back_before_the_confirm_means_no_confirm() {
    let run = run().await;
    let ask = AskUser { withdraw: 1.0, ..approves() };
    let wait = JourneyStep::Wait { time: Distribution::Constant(Duration::from_secs(1)) };
    for (user, steps) in [
        (1, vec![propose(), JourneyStep::AskUser(ask.clone()), confirm(), JourneyStep::Track]),
        (3, vec![propose(), JourneyStep::AskUser(ask), wait, confirm(), JourneyStep::Track]),
    ] {
        assert_eq!(run.journey(user, &steps).await, JourneyEnd::Withdrawn);
    }
    assert!(run.fake.asked("confirm").is_empty());
    assert_eq!(run.surface()[2], (ApprovalIs::Withdrawn, Some(1)));
}

#[tokio::test(start_paused = true)]
async fn an_approval_taken_back_while_the_confirm_is_out_cancels_and_confirms_no_more() {
    let run = run().await;
    let ask =
        AskUser { withdraw: 1.0, withdraw_after: Distribution::Constant(Duration::from_millis(100)), ..approves() };
    run.fake.say("confirm", [Say::Ignored]);
    let end = run.journey(1, &[propose(), JourneyStep::AskUser(ask), confirm(), JourneyStep::Track]).await;
    assert_eq!(end, JourneyEnd::Withdrawn);
    assert_eq!(run.fake.asked("confirm").len(), 1);
    let cancel = run.calls(Purpose::Cancel).remove(0).0;
    assert_eq!(cancel.process, "a1/1.2", "beside the confirm, in a process of its own");
    assert!(run.fake.asked("cancel")[0].at.since(run.fake.asked("confirm")[0].at) <= Duration::from_millis(100));
}

#[tokio::test(start_paused = true)]
async fn a_cancel_step_races_the_confirm_before_it() {
    let run = run().await;
    run.fake.say("confirm", [Say::Slow(Duration::from_millis(600))]);
    let cancel = JourneyStep::Cancel { after: Distribution::Constant(Duration::from_millis(200)) };
    let end = run.journey(1, &[propose(), JourneyStep::AskUser(approves()), confirm(), cancel]).await;
    assert_eq!(end, JourneyEnd::CompletedSucceeded, "the confirm came first");
    let between = run.fake.asked("cancel")[0].at.since(run.fake.asked("confirm")[0].at);
    assert_eq!(between.as_millis(), 200);
}

#[tokio::test(start_paused = true)]
async fn copies_of_a_confirm_are_processes_with_proofs_of_their_own() {
    let run = run().await;
    let confirm = JourneyStep::Confirm(Confirm { copies: 4, by: By::User, around_expiry: None });
    let end = run.journey(1, &[propose(), JourneyStep::AskUser(approves()), confirm, JourneyStep::Track]).await;
    assert_eq!(end, JourneyEnd::CompletedSucceeded);
    let calls = run.calls(Purpose::Confirm);
    let processes: Vec<_> = calls.iter().map(|(call, _)| call.process.as_str()).collect();
    assert_eq!(processes, ["a1/1", "a1/1.2", "a1/1.3", "a1/1.4"]);
    let mut proofs: Vec<_> = calls.iter().map(|(call, _)| call.proof.clone()).collect();
    proofs.sort();
    proofs.dedup();
    assert_eq!(proofs.len(), 4);
    assert_eq!(run.meter.counts().counter("confirms"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_confirm_around_the_expiry_is_sent_within_its_window() {
    let mut offsets = Vec::new();
    for user in [1, 3, 5, 7] {
        let mut fake = Fake::new("shop-1.example");
        fake.lifetime = Duration::from_secs(60);
        let run = run_with(fake, swarm()).await;
        let around_expiry = Some(Duration::from_millis(500));
        let confirm = JourneyStep::Confirm(Confirm { copies: 1, by: By::User, around_expiry });
        run.journey(user, &[propose(), JourneyStep::AskUser(approves()), confirm]).await;
        offsets.push(run.fake.asked("confirm")[0].at.as_nanos() as f64 / 1e9 - 60.0);
    }
    assert!(offsets.iter().all(|offset| offset.abs() <= 0.501), "{offsets:?}");
    assert!(offsets.iter().any(|offset| (offset - offsets[0]).abs() > 0.01), "{offsets:?}");
}

#[tokio::test(start_paused = true)]
async fn a_standing_permission_covers_up_to_its_price_and_else_the_user_is_asked() {
    let run = run().await;
    assert_eq!(run.journey(1, &[propose(), confirm_by_standing(400)]).await, JourneyEnd::CompletedSucceeded);
    let bounds = run.approvals().remove(0).bounds.unwrap();
    assert_eq!((bounds.company.as_str(), bounds.kind.as_str(), bounds.up_to_minor), ("shop-1", "wrap", 400));
    assert_eq!(run.journey(3, &[propose(), confirm_by_standing(399)]).await, JourneyEnd::NotCovered);
    let asks = [propose(), JourneyStep::AskUser(approves()), confirm_by_standing(399)];
    assert_eq!(run.journey(5, &asks).await, JourneyEnd::CompletedSucceeded);
    let asks = [propose(), JourneyStep::AskUser(approves()), confirm_by_standing(400)];
    assert_eq!(run.journey(7, &asks).await, JourneyEnd::CompletedSucceeded);
    let by: Vec<_> = run.calls(Purpose::Confirm).into_iter().map(|(call, _)| call.approved_by.unwrap()).collect();
    use crate::history::record::ApprovedBy::{StandingPermission, User};
    assert_eq!(by, [StandingPermission, User, StandingPermission]);
    assert_eq!(run.surface().into_iter().filter(|(is, _)| *is == ApprovalIs::Shown).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_standing_permission_is_not_used_where_only_the_user_may_approve() {
    let mut fake = Fake::new("shop-1.example");
    fake.user_approval_required = true;
    let run = run_with(fake, swarm()).await;
    let steps = [propose(), JourneyStep::AskUser(approves()), confirm_by_standing(10_000)];
    assert_eq!(run.journey(1, &steps).await, JourneyEnd::CompletedSucceeded);
    assert_eq!(run.fake.asked("confirm").len(), 1);
    assert!(run.fake.asked("confirm")[0].body.contains("\"user\""));
}

/// Without a pause between, it would claim another one for ever.
#[tokio::test(start_paused = true)]
async fn an_agent_that_claims_any_standing_permission_gives_way_once_the_company_refuses() {
    let mut fake = Fake::new("shop-1.example");
    fake.user_approval_required = true;
    let defects = [AgentDefect::StandingTooWide].into_iter().collect();
    let run = run_with(fake, SwarmPlan { defects, ..swarm() }).await;
    let steps = [propose(), JourneyStep::AskUser(approves()), confirm_by_standing(10_000)];
    assert_eq!(run.journey(1, &steps).await, JourneyEnd::CompletedSucceeded);
    let approved = |by: &str| run.fake.asked("confirm").iter().filter(|confirm| confirm.body.contains(by)).count();
    assert_eq!((approved("\"standing_permission\""), approved("\"user\"")), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn an_agent_without_the_extension_takes_what_it_gets_and_never_confirms() {
    let run = run().await;
    run.fake.say(
        "propose",
        [
            Say::Only(200, None, r#"{"result":{"summary":"Wrapped."}}"#),
            Say::Only(403, None, r#"{"error":"extension_required","extension":"operations"}"#),
        ],
    );
    let person = Person::new(&run.shared, 2);
    assert_eq!(run.journey_of(&person, &ordinary(), 1).await, JourneyEnd::DoneAtOnce);
    assert_eq!(run.journey_of(&person, &ordinary(), 2).await, JourneyEnd::ExtensionRequired);
    assert_eq!(run.journey_of(&person, &ordinary(), 3).await, JourneyEnd::Unlisted);
    assert_eq!(run.outcomes(Purpose::Propose), [Outcome::Done, Outcome::Refused, Outcome::View]);
    assert!(run.fake.asked("confirm").is_empty());
}

#[tokio::test(start_paused = true)]
async fn definite_refusals_end_a_journey() {
    let run = run().await;
    let person = Person::new(&run.shared, 1);
    run.fake.say(
        "confirm",
        [
            Say::Only(403, None, r#"{"error":"insufficient_scope","scope":"shop:write"}"#),
            Say::Only(404, None, r#"{"error":"operation_not_found"}"#),
        ],
    );
    assert_eq!(run.journey_of(&person, &ordinary(), 1).await, JourneyEnd::Refused);
    assert_eq!(run.fake.asked("cancel").len(), 1);
    assert_eq!(run.journey_of(&person, &ordinary(), 2).await, JourneyEnd::Lost);
    run.fake.say("propose", [Say::Only(400, None, r#"{"error":"Not a Word"}"#)]);
    assert_eq!(run.journey_of(&person, &ordinary(), 3).await, JourneyEnd::Refused);
    assert_eq!(run.calls(Purpose::Propose).pop().unwrap().1.why.as_deref(), Some("status-400"));
}

#[tokio::test(start_paused = true)]
async fn the_first_request_counts_from_when_the_journey_was_due() {
    let run = run().await;
    let person = Person::new(&run.shared, 1);
    run.journey_of(&person, &ordinary(), 1).await;
    let before = run.calls(Purpose::Propose).len();
    let journey = Journey { name: "late".into(), weight: 1, in_flight: None, steps: ordinary().to_vec() };
    let due = run.at() - Duration::from_millis(250);
    run_journey(
        &person,
        &journey,
        JourneyRun { intent: "late".into(), number: 9, company: None, due, held: Duration::ZERO },
    )
    .await;
    let (call, _) = run.calls(Purpose::Propose).remove(before);
    assert_eq!(call.due, Some(due.as_nanos()));
    let lag = &run.meter.figures(run.at().as_nanos()).steps[&Purpose::Propose].lag;
    assert!(lag.percentiles().unwrap().max_ns >= 249_000_000);
}

/// What a User on a journey costs while she thinks: ten thousand of them have to fit.
#[tokio::test(start_paused = true)]
async fn a_journey_is_small() {
    let run = run().await;
    let person = Person::new(&run.shared, 1);
    let journey = Journey { name: "test".into(), weight: 1, in_flight: None, steps: ordinary().to_vec() };
    let journey_run = JourneyRun { intent: "i".into(), number: 1, company: None, due: run.at(), held: Duration::ZERO };
    let size = std::mem::size_of_val(&run_journey(&person, &journey, journey_run));
    assert!(size < 16 * 1024, "{size} bytes");
    assert!(size_of::<Person>() < 256);
}
