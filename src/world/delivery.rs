//! Goes along with an answer and tells its sender whether it reached the one who asked.

use std::{fmt, sync::Arc};

/// Put among an answer's extensions by a party that wants to know. The Wire calls it when the answer is in the hands of
/// the one who asked; an answer that is lost on the way takes it along unheard.
#[derive(Clone)]
pub struct Delivery(Arc<dyn Fn() + Send + Sync>);

impl fmt::Debug for Delivery {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Delivery").finish_non_exhaustive()
    }
}

impl Delivery {
    /// Calls `arrived` when the answer arrives. What it holds is dropped with the answer, at the latest.
    pub fn new(arrived: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(arrived))
    }

    /// The answer is there.
    pub(super) fn arrived(&self) {
        (self.0)();
    }
}
