//! The exit statuses, and which of them a run ends with.

/// An exit status; the same for every command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExitStatus {
    /// Everything held.
    Held,
    /// An invariant was violated.
    Violated,
    /// Usage error or invalid input file. Only given before a run starts.
    Usage,
    /// A threshold was missed, or a regression found.
    Missed,
    /// The generator could not keep its schedule, history or ledger is incomplete, or what the scenario set out to
    /// exercise was never reached.
    Inconclusive,
    /// The run could not start or could not go on.
    Stopped,
    /// The run was interrupted.
    Interrupted,
}

impl ExitStatus {
    /// The number that the process ends with.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Held => 0,
            Self::Violated => 1,
            Self::Usage => 2,
            Self::Missed => 3,
            Self::Inconclusive => 4,
            Self::Stopped => 5,
            Self::Interrupted => 130,
        }
    }

    /// The status of that number.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        use ExitStatus::{Held, Inconclusive, Interrupted, Missed, Stopped, Usage, Violated};
        [Held, Violated, Usage, Missed, Inconclusive, Stopped, Interrupted].into_iter().find(|it| it.code() == code)
    }
}

/// What is true of a run that started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ending {
    /// An invariant was violated.
    pub violated: bool,
    /// The run could not go on.
    pub stopped: bool,
    /// The run was interrupted.
    pub interrupted: bool,
    /// The run proves nothing either way.
    pub inconclusive: bool,
    /// A threshold was missed.
    pub missed: bool,
}

/// The first of 1, 5, 130, 4, 3, 0 that applies.
#[must_use]
pub fn exit_status(ending: Ending) -> ExitStatus {
    let Ending { violated, stopped, interrupted, inconclusive, missed } = ending;
    [
        (violated, ExitStatus::Violated),
        (stopped, ExitStatus::Stopped),
        (interrupted, ExitStatus::Interrupted),
        (inconclusive, ExitStatus::Inconclusive),
        (missed, ExitStatus::Missed),
    ]
    .into_iter()
    .find_map(|(applies, status)| applies.then_some(status))
    .unwrap_or(ExitStatus::Held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_thing_that_is_true_decides() {
        // violated, stopped, interrupted, inconclusive, missed -> code
        let table = [
            ([0, 0, 0, 0, 0], 0),
            ([0, 0, 0, 0, 1], 3),
            ([0, 0, 0, 1, 0], 4),
            ([0, 0, 0, 1, 1], 4),
            ([0, 0, 1, 0, 0], 130),
            ([0, 0, 1, 1, 1], 130),
            ([0, 1, 0, 0, 0], 5),
            ([0, 1, 1, 1, 1], 5),
            ([1, 0, 0, 0, 0], 1),
            ([1, 0, 1, 0, 0], 1),
            ([1, 1, 1, 1, 1], 1),
        ];
        for (flags, code) in table {
            let [violated, stopped, interrupted, inconclusive, missed] = flags.map(|flag| flag == 1);
            let ending = Ending { violated, stopped, interrupted, inconclusive, missed };
            assert_eq!(exit_status(ending).code(), code, "{ending:?}");
        }
    }
}
