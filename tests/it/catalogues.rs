//! `poppyfield rules`, `schema history` and `mutants` as a user runs them.

use std::process::Output;

use poppyfield::{identity::Signatures, sim::Outcome};
use serde_json::Value;

use crate::{defects::shipped, program::poppyfield};

fn answered(arguments: &[&str]) -> Output {
    poppyfield().args(arguments).output().expect("the program runs")
}

#[test]
fn a_rule_is_printed_and_one_that_is_not_known_is_a_usage_error() {
    let known = answered(&["rules", "OC-29"]);
    assert_eq!(known.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&known.stdout).contains("double-effect"), "{known:?}");
    let unknown = answered(&["rules", "double-efect"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("did you mean `double-effect`?"), "{unknown:?}");
}

/// Whoever writes a history with another program has the schema alone to go by.
#[test]
fn every_line_of_a_run_is_what_the_schema_says() {
    let outcome = Outcome::of(&shipped("timeout-recovery", 1, 60).into(), Signatures::Fast).expect("it runs");
    for (kind, lines) in [
        ("history", outcome.history.iter().map(serde_json::to_value).collect::<Vec<_>>()),
        ("ledger", outcome.ledger.iter().map(serde_json::to_value).collect()),
    ] {
        let printed = answered(&["schema", kind]);
        let schema: Value = serde_json::from_slice(&printed.stdout).expect("JSON");
        let validator = jsonschema::draft7::new(&schema).expect("a schema");
        assert!(lines.len() > 100, "{} lines", lines.len());
        for line in lines {
            let line = line.expect("JSON");
            let errors: Vec<String> = validator.iter_errors(&line).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{line}: {errors:?}");
        }
    }
}

#[test]
fn a_defect_is_tried_beside_correct_parties() {
    let tried =
        answered(&["mutants", "check-then-act", "hot-poll", "--seeds", "6", "--correct", "3", "--format", "json"]);
    assert_eq!(tried.status.code(), Some(0), "{tried:?}");
    let json: Value = serde_json::from_slice(&tried.stdout).expect("JSON");
    assert_eq!(json["accused"], 0);
    assert_eq!(json["operations"], 2 * 3 * 12, "two scenarios, three seeds, twelve journeys");
    let names: Vec<_> = json["defects"].as_array().expect("a list").iter().map(|row| row["name"].clone()).collect();
    assert_eq!(names, ["check-then-act", "hot-poll"]);
    let first = &json["defects"][0];
    assert_eq!((&first["must"], &first["caught"], &first["seeds"]), (&"double-effect".into(), &true.into(), &6.into()));
}

/// One seed of a defect that shows in some seeds only, and not in this one.
#[test]
fn a_defect_that_does_not_show_is_not_caught() {
    let tried = answered(&["mutants", "revive-failed", "--seeds", "1", "--correct", "1", "--operations", "1"]);
    assert_eq!(tried.status.code(), Some(1), "{tried:?}");
    assert!(String::from_utf8_lossy(&tried.stdout).contains("not caught in partial-failure"), "{tried:?}");
}

#[test]
fn a_defect_or_folder_that_is_not_there_is_a_usage_error() {
    let unknown = answered(&["mutants", "hot-pol"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("did you mean `hot-poll`?"), "{unknown:?}");
    assert_eq!(answered(&["mutants", "--scenarios", "no-such-folder"]).status.code(), Some(2));
}
