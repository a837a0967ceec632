//! A listed load: each journey starts when the list says, as who the list says.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::crew::{Crew, Start};
use crate::{plan::ListedJourney, world::Moment};

/// One listed load entry at work.
pub(super) struct Listed<'a> {
    pub(super) crew: &'a Arc<Crew>,
    pub(super) journeys: &'a [ListedJourney],
    pub(super) began: Moment,
}

impl Listed<'_> {
    /// Starts journeys until all or `operations` of them were started, or this is dropped.
    pub(super) async fn run(self, operations: u64) {
        let field = Arc::clone(self.crew.field());
        let mut journeys: Vec<&ListedJourney> = self.journeys.iter().collect();
        journeys.sort_by_key(|journey| journey.at);
        // Nobody waits for them to end.
        let (ended, _) = mpsc::unbounded_channel::<()>();
        for (started, journey) in (0..).zip(journeys) {
            if started >= operations {
                return;
            }
            let due = self.began + journey.at;
            field.sleep_until(due).await;
            let (user, intent) = (u64::from(journey.user.saturating_sub(1)), journey.intent.to_string());
            let start = Start { user, intent, due, listed: Some(journey.clone()) };
            self.crew.start(start, (), ended.clone());
        }
    }
}
