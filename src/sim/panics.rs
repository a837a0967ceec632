//! Panics in a simulated run.
//!
//! A runtime catches the panic of a task, and the run goes on without it: what it shows then proves nothing. So a hook
//! notes every panic of a thread that is in a run, or judges one, for the run to fail of; those of all other threads go
//! where they went before.

use std::{
    cell::RefCell,
    panic::{self, AssertUnwindSafe, PanicHookInfo},
    sync::Once,
};

thread_local! {
    /// Whether this thread is in a run, and its first panic.
    static RUN: RefCell<Option<Option<String>>> = const { RefCell::new(None) };
}

/// What `body` gives, or what the first panic on this thread meanwhile said: also that of a task of its own runtime.
/// What a `noted` within this one tells of, that one alone tells of.
pub(super) fn noted<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let note = |run: &RefCell<Option<Option<String>>>| match &mut *run.borrow_mut() {
                Some(first) => {
                    first.get_or_insert_with(|| said(info));
                    true
                }
                None => false,
            };
            if !RUN.try_with(note).unwrap_or(false) {
                before(info);
            }
        }));
    });
    let around = RUN.replace(Some(None));
    // Whatever the panic left behind is dropped with the run.
    let given = panic::catch_unwind(AssertUnwindSafe(body));
    let noted = RUN.replace(around).flatten();
    match (given, noted) {
        (Ok(given), None) => Ok(given),
        (_, noted) => Err(noted.unwrap_or_else(|| "a panic".to_owned())),
    }
}

/// What a panic says, in one line.
fn said(info: &PanicHookInfo<'_>) -> String {
    let text = info.payload_as_str().unwrap_or("(no text)").split_whitespace().collect::<Vec<_>>().join(" ");
    match info.location() {
        Some(at) => format!("panicked at {}:{}: {text}", at.file(), at.line()),
        None => format!("panicked: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_wherever_it_was_caught() {
        assert_eq!(noted(|| 7), Ok(7));
        let direct = noted(|| -> () { panic!("of all\nthings") }).expect_err("a panic");
        assert!(direct.ends_with("of all things") && direct.contains("panics.rs:"), "{direct}");
        let caught = noted(|| panic::catch_unwind(|| panic!("unheard")).is_err()).expect_err("a panic");
        assert!(caught.ends_with("unheard"), "{caught}");
        assert_eq!(noted(|| 8), Ok(8), "nothing of it stays");
        let around = noted(|| -> () {
            let within = noted(|| -> () { panic!("within") });
            assert!(within.is_err_and(|why| why.ends_with("within")));
            panic!("around")
        });
        assert!(around.is_err_and(|why| why.ends_with("around")), "the first that nothing within it told");
    }
}
