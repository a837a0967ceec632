//! Which passings of its point a crash strikes.

use std::{sync::Barrier, thread, time::Duration};

use super::Faults;
use crate::{
    plan::{CrashPoint, Fault, FaultKind, Manner, Once, Passings},
    world::{Moment, Passing},
};

const POINT: CrashPoint = CrashPoint::AcceptRecorded;

/// Faults of a run under load: a crash with this restriction.
fn crash(only: Passings) -> Faults {
    let kind = FaultKind::Crash { point: POINT, down_for: Duration::from_secs(1), only };
    let fault =
        Fault { id: "F1".into(), kind, at: None, on: Vec::new(), step: None, during: None, chance: 1.0, strikes: None };
    let faults = Faults::new(7, vec![fault], [("clothes-1".into(), "shop".into())]);
    faults.begin(Moment::START);
    faults
}

/// The numbers of the passings, of those listed, that a crash with this restriction strikes.
fn struck(only: Passings, passings: &[(&str, &str, Manner)]) -> Vec<usize> {
    let faults = crash(only);
    let strikes = |key, action, how| {
        let passing = Passing { key, attempt: 0, action, how };
        faults.at_point(Moment::START, "clothes-1", POINT, passing).is_some()
    };
    let all = passings.iter().enumerate();
    all.filter(|(_, (key, action, how))| strikes(key, action, *how)).map(|(index, _)| index).collect()
}

#[test]
fn a_crash_strikes_the_passings_that_it_says() {
    let passings = [
        ("op_1", "exchange", Manner::Plain),
        ("op_1", "exchange", Manner::Plain),
        ("op_2", "exchange", Manner::Revised),
        ("op_3", "gift-wrap", Manner::Plain),
        ("op_3", "gift-wrap", Manner::Plain),
    ];
    let gift_wrap = || Some("gift-wrap".into());
    let cases = [
        (Passings::default(), vec![0, 1, 2, 3, 4]),
        (Passings { action: gift_wrap(), ..Passings::default() }, vec![3, 4]),
        (Passings { how: Some(Manner::Revised), ..Passings::default() }, vec![2]),
        (Passings { once: Some(Once::Operation), ..Passings::default() }, vec![0, 2, 3]),
        (Passings { once: Some(Once::Run), ..Passings::default() }, vec![0]),
        (Passings { action: gift_wrap(), how: None, once: Some(Once::Run) }, vec![3]),
        (Passings { action: gift_wrap(), how: Some(Manner::Revised), once: None }, vec![]),
    ];
    for (only, expected) in cases {
        assert_eq!(struck(only.clone(), &passings), expected, "{only:?}");
    }
}

#[test]
fn of_passings_side_by_side_a_crash_that_strikes_once_strikes_one() {
    let passings = 8;
    for _ in 0..200 {
        let faults = crash(Passings { once: Some(Once::Run), ..Passings::default() });
        let together = Barrier::new(passings);
        let passes = || {
            together.wait();
            let passing = Passing { key: "op_1", attempt: 0, action: "exchange", how: Manner::Plain };
            faults.at_point(Moment::START, "clothes-1", POINT, passing).is_some()
        };
        let struck = thread::scope(|scope| {
            let threads: Vec<_> = (0..passings).map(|_| scope.spawn(passes)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).filter(|is| *is).count()
        });
        assert_eq!(struck, 1);
    }
}
