//! Troubles of the machine itself, told apart from what parties and faults do.

use std::{io, sync::OnceLock};

/// `EMFILE` and `ENFILE`: the process, or the system, has no more open files to give (Linux's numbers).
const NO_MORE_FILES: [i32; 2] = [24, 23];

/// `EADDRNOTAVAIL`: no local port is free for another connection.
const NO_MORE_PORTS: i32 = 99;

/// Notes an error if it is the machine's; the first one stays.
pub(super) fn note(trouble: &OnceLock<String>, error: &io::Error) {
    let text = match error.raw_os_error() {
        Some(code) if NO_MORE_FILES.contains(&code) => {
            "the machine gives no more connections (open files); raise the limit with `ulimit -n`, or ask for less load"
        }
        Some(NO_MORE_PORTS) => "the machine has no free port for another connection; ask for less load",
        _ => return,
    };
    trouble.get_or_init(|| text.to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_the_machine_is_told_apart_from_a_party_that_is_down() {
        for (code, is_trouble) in [(24, true), (23, true), (99, true), (111, false), (104, false)] {
            let trouble = OnceLock::new();
            note(&trouble, &io::Error::from_raw_os_error(code));
            assert_eq!(trouble.get().is_some(), is_trouble, "{code}");
        }
    }
}
