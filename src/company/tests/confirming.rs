//! Confirms: what they set off, and how often.

use http::StatusCode;

use super::stand::{Stand, plan};

#[tokio::test(start_paused = true)]
async fn a_confirm_performs_every_step_once_and_tells_each_receipt() {
    let stand = Stand::new(plan(), Vec::new()).await;
    let agent = stand.agent("u1").await;
    let id = agent.proposed("ord_1").await;
    assert_eq!(stand.steps(), Vec::<String>::new(), "nothing happens before the confirm");
    let heard = agent.confirm(&id, 1).await.unwrap();
    assert_eq!((heard.status, heard.state()), (StatusCode::OK, "succeeded"), "{:?}", heard.body);
    assert_eq!(stand.steps(), ["take-back", "charge", "ship"]);
    for effect in stand.effects() {
        assert!(heard.result().contains(effect.receipt.as_str()), "{}", heard.result());
        assert_eq!(effect.action, format!("shop-1/operation/{id}"));
        assert_eq!((effect.revision, effect.key.as_str()), (1, format!("{id}/{}", effect.step).as_str()));
    }
}
