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
