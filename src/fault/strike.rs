//! What the faults that struck one request do to it.

use std::time::Duration;

use smol_str::SmolStr;

/// A fault that struck: its ID and, in [`Disturbance`], what it brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Struck<T> {
    /// The fault's ID (`F1`).
    pub fault: SmolStr,
    /// What it brings.
    pub effect: T,
}

/// A second copy of a request, byte for byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecondCopy {
    /// How long after the first it is sent.
    pub after: Duration,
    /// Whether its answer, and not the first copy's, is the one that the caller hears.
    pub second_answers: bool,
}

/// All that happens to one request on its way and back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Disturbance {
    /// It is held on its way.
    pub delay: Option<Struck<Duration>>,
    /// Its answer is held on its way.
    pub delay_answer: Option<Struck<Duration>>,
    /// It never arrives.
    pub lose_request: Option<Struck<()>>,
    /// Its answer never comes.
    pub lose_answer: Option<Struck<()>>,
    /// The connection is reset in the middle of the answer.
    pub reset: Option<Struck<()>>,
    /// The connection is reset this long after the request was sent.
    pub hang_up: Option<Struck<Duration>>,
    /// It is delivered once more.
    pub duplicate: Option<Struck<SecondCopy>>,
    /// It is answered by something in front of the receiver: status and `Retry-After`.
    pub refuse: Option<Struck<(u16, Option<Duration>)>>,
}

impl Disturbance {
    /// Whether nothing struck.
    #[must_use]
    pub fn is_none(&self) -> bool {
        let Self { delay, delay_answer, lose_request, lose_answer, reset, hang_up, duplicate, refuse } = self;
        let answers = delay_answer.is_none() && lose_answer.is_none() && reset.is_none() && hang_up.is_none();
        answers && delay.is_none() && lose_request.is_none() && duplicate.is_none() && refuse.is_none()
    }

    /// What is left of it on a request that is refused in front of its receiver: only that, and how long it was held until
    /// there. No copy of it goes on, so nothing else can strike one.
    #[must_use]
    pub fn as_far_as_refused(self) -> Self {
        if self.refuse.is_none() {
            return self;
        }
        Self { delay: self.delay, refuse: self.refuse, ..Self::default() }
    }

    /// The fault that keeps the answer of the first copy from its caller, if one does.
    #[must_use]
    pub fn cut(&self) -> Option<&SmolStr> {
        self.lose_answer
            .as_ref()
            .or(self.reset.as_ref())
            .map(|struck| &struck.fault)
            .or(self.hang_up.as_ref().map(|struck| &struck.fault))
    }
}
