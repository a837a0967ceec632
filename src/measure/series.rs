//! What a histogram is of: a step (or journey, arrival, recovery), a measure of it, and the window of the run.
//!
//! A series names an interval of `latency.hlog` by its tag: `confirm/response`, or `confirm/response/warm-up` for what
//! is kept out of the figures.

use std::fmt;

use crate::history::record::{Purpose, State};

/// What one histogram is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Series {
    /// The thing measured.
    pub what: What,
    /// The measure of it.
    pub measure: Measure,
    /// The window that its intended start lies in.
    pub window: Window,
}

/// The thing measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// One request of a kind.
    Step(Purpose),
    /// The start of a journey.
    Arrival,
    /// A whole journey.
    Journey,
    /// The recovery of a confirm.
    Recovery,
}

/// A measure of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// From the intended start to the answer.
    Response,
    /// From the send to the answer.
    Service,
    /// From the intended start to the send.
    Lag,
    /// From the intended start until the caller stopped waiting without an answer.
    Unanswered,
    /// From beginning to end.
    Took,
}

/// A window of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Window {
    /// Steady load: the figures are of this.
    Steady,
    /// Before steady load.
    WarmUp,
    /// After load ended, while what is open comes to its end.
    Settling,
}

impl fmt::Display for Series {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            What::Step(purpose) => step_word(purpose),
            What::Arrival => "arrival",
            What::Journey => "journey",
            What::Recovery => "recovery",
        };
        let measure = match self.measure {
            Measure::Response => "response",
            Measure::Service => "service",
            Measure::Lag => "lag",
            Measure::Unanswered => "unanswered",
            Measure::Took => "took",
        };
        write!(formatter, "{what}/{measure}")?;
        match self.window {
            Window::Steady => Ok(()),
            Window::WarmUp => formatter.write_str("/warm-up"),
            Window::Settling => formatter.write_str("/settling"),
        }
    }
}

/// The word that files use for a step.
#[must_use]
pub fn step_word(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Discover => "discover",
        Purpose::Keys => "keys",
        Purpose::Token => "token",
        Purpose::Revoke => "revoke",
        Purpose::SignIn => "sign-in",
        Purpose::Prepare => "prepare",
        Purpose::Propose => "propose",
        Purpose::Change => "change",
        Purpose::Read => "read",
        Purpose::Confirm => "confirm",
        Purpose::Cancel => "cancel",
        Purpose::Backend => "backend",
    }
}

/// The word that files use for a state.
#[must_use]
pub fn state_word(state: State) -> &'static str {
    match state {
        State::Proposed => "proposed",
        State::InProgress => "in_progress",
        State::Succeeded => "succeeded",
        State::Failed => "failed",
        State::Cancelled => "cancelled",
        State::Expired => "expired",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_words_that_an_interval_log_can_hold() {
        let steady = Series { what: What::Step(Purpose::Confirm), measure: Measure::Response, window: Window::Steady };
        assert_eq!(steady.to_string(), "confirm/response");
        assert_eq!(Series { window: Window::WarmUp, ..steady }.to_string(), "confirm/response/warm-up");
        assert_eq!(Series { window: Window::Settling, ..steady }.to_string(), "confirm/response/settling");
    }

    #[test]
    fn a_step_has_the_word_that_the_history_uses() {
        for purpose in [
            Purpose::Discover,
            Purpose::Keys,
            Purpose::Token,
            Purpose::Revoke,
            Purpose::SignIn,
            Purpose::Prepare,
            Purpose::Propose,
            Purpose::Change,
            Purpose::Read,
            Purpose::Confirm,
            Purpose::Cancel,
            Purpose::Backend,
        ] {
            assert_eq!(serde_json::json!(purpose), step_word(purpose));
        }
    }

    #[test]
    fn a_state_has_the_word_that_the_wire_uses() {
        for state in
            [State::Proposed, State::InProgress, State::Succeeded, State::Failed, State::Cancelled, State::Expired]
        {
            assert_eq!(serde_json::json!(state), state_word(state));
        }
    }
}
