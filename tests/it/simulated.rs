//! `poppyfield sim` as a user runs it.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::program::poppyfield;

fn sim(scenario: &Path, out: &Path, more: &[&str]) -> Output {
    let output = poppyfield().arg("sim").arg(scenario).arg("--out").arg(out).args(more).output();
    output.expect("the program runs")
}

fn shipped(scenario: &str) -> PathBuf {
    Path::new("scenarios").join(format!("{scenario}.yaml"))
}

/// The folder of the one run in `out`.
fn only_run(out: &Path) -> PathBuf {
    let mut folders: Vec<_> = fs::read_dir(out).expect("results").flatten().collect();
    assert_eq!(folders.len(), 1);
    folders.remove(0).path()
}

fn summary(run: &Path) -> Value {
    let text = fs::read_to_string(run.join("summary.json")).expect("summary.json");
    serde_json::from_str(&text).expect("summary.json is JSON")
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn scenarios_hold_with_their_own_seed_and_with_others() {
    for scenario in ["quickstart", "signed-in", "jacket-exchange"] {
        for seed in [&[][..], &["--seed", "11"]] {
            let out = TempDir::new().expect("a temporary folder");
            let output = sim(&shipped(scenario), out.path(), seed);
            assert_eq!(output.status.code(), Some(0), "{scenario} {seed:?}\n{}", said(&output));
        }
    }
}

#[test]
fn a_history_is_judged_without_its_folder_and_without_a_ledger() {
    let out = TempDir::new().expect("a temporary folder");
    sim(&shipped("jacket-exchange"), out.path(), &["--seed", "5"]);
    let run = only_run(out.path());
    let history = out.path().join("theirs.jsonl.zst");
    fs::copy(run.join("history.jsonl.zst"), &history).expect("a copy");
    let check = |more: &[&Path]| {
        let output = poppyfield().arg("check").arg(&history).args(more).output().expect("the program runs");
        (output.status.code(), said(&output))
    };
    let (status, text) = check(&[Path::new("--ledger"), &run.join("ledger.jsonl.zst")]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("Every confirmed action ran at most once"), "{text}");
    assert!(text.contains("Ledger") && !text.contains("Journeys"), "{text}");
    // It promises a ledger, and without one shows too little to pass.
    let (status, text) = check(&[]);
    assert_eq!(status, Some(4), "{text}");
    assert!(text.contains("there is no ledger, though the history promises one"), "{text}");
    assert!(text.contains("there is no ledger: "), "{text}");
    let output = poppyfield().args(["check", "--ledger", "x"]).arg(&run).output().expect("the program runs");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

#[test]
fn two_runs_of_one_seed_leave_the_same_files_and_check_agrees() {
    let outs = [(); 2].map(|()| TempDir::new().expect("a temporary folder"));
    for out in &outs {
        let output = sim(&shipped("jacket-exchange"), out.path(), &["--seed", "5"]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let text = said(&output);
        assert!(text.contains("simulated world") && text.contains("of virtual time"), "{text}");
        assert!(text.contains("sim scenarios/jacket-exchange.yaml --seed 5"), "{text}");
    }
    let [one, other] = outs.each_ref().map(|out| only_run(out.path()));
    let plain = |run: &Path, name: &str| {
        let bytes = fs::read(run.join(name)).expect(name);
        if name.ends_with(".zst") { zstd::decode_all(&bytes[..]).expect("whole frames") } else { bytes }
    };
    for name in ["history.jsonl.zst", "ledger.jsonl.zst", "latency.hlog", "scenario.yaml"] {
        assert!(plain(&one, name) == plain(&other, name), "{name} differs");
    }
    let [first, second] = [summary(&one), summary(&other)];
    for part in ["history_digest", "verdict", "steps", "anomalies"] {
        assert!(!first[part].is_null() && first[part] == second[part], "{part}");
    }
    assert_eq!(first["run"]["world"], "simulated");
    assert!(first["simulation"]["requests"].as_u64().is_some_and(|requests| requests > 100), "{first}");
    let check = poppyfield().args(["check", "--format", "json"]).arg(&one).output().expect("the program runs");
    assert_eq!(check.status.code(), Some(0), "{}", said(&check));
    let checked: Value = serde_json::from_slice(&check.stdout).expect("the summary as JSON");
    assert_eq!(checked["verdict"], first["verdict"]);
    // What was run can be run again from its own folder.
    let again = TempDir::new().expect("a temporary folder");
    let output = sim(&one.join("scenario.yaml"), again.path(), &["--quiet"]);
    assert_eq!((output.status.code(), said(&output).as_str()), (Some(0), ""));
    assert_eq!(summary(&only_run(again.path()))["history_digest"], first["history_digest"]);
}

#[test]
fn a_crash_at_a_named_point_strikes_once_and_is_part_of_the_command_that_repeats_the_run() {
    let out = TempDir::new().expect("a temporary folder");
    let crash = ["--crash-at", "perform.after-effect@exchange/plain"];
    let output = sim(&shipped("jacket-exchange"), out.path(), &[&["--seed", "3"], &crash[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("--crash-at perform.after-effect@exchange/plain"), "{}", said(&output));
    let run = only_run(out.path());
    assert_eq!(summary(&run)["faults"]["crash_points"]["perform.after-effect"], 1);
    // The scenario in the folder has the crash as a fault of its own.
    let again = TempDir::new().expect("a temporary folder");
    let output = sim(&run.join("scenario.yaml"), again.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(summary(&only_run(again.path()))["history_digest"], summary(&run)["history_digest"]);
}

#[test]
fn bytes_through_pipes_leave_the_same_files() {
    let digests = ["direct", "pipe"].map(|lane| {
        let out = TempDir::new().expect("a temporary folder");
        let output = sim(&shipped("jacket-exchange"), out.path(), &["--seed", "6", "--lane", lane]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert_eq!(said(&output).contains("--lane pipe"), lane == "pipe", "{}", said(&output));
        summary(&only_run(out.path()))["history_digest"].clone()
    });
    assert!(digests[0].is_string() && digests[0] == digests[1], "{digests:?}");
}

#[test]
fn a_crash_where_there_can_be_none_is_a_mistake_in_the_command() {
    let out = TempDir::new().expect("a temporary folder");
    for (spot, hint) in [
        ("perform.after-efect@exchange", "did you mean `perform.after-effect`?"),
        ("perform.after-effect@exchang", "did you mean `exchange`?"),
        ("exchange", "expected POINT@ACTION"),
    ] {
        let output = sim(&shipped("jacket-exchange"), out.path(), &["--crash-at", spot]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(hint), "{}", said(&output));
    }
    assert!(fs::read_dir(out.path()).expect("results").next().is_none(), "nothing was started");
}

#[test]
fn a_bug_that_is_switched_on_is_found() {
    let folder = TempDir::new().expect("a temporary folder");
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/quickstart.yaml"));
    let broken = text.expect("the scenario").replacen("# defects:", "defects:", 1);
    fs::write(folder.path().join("broken.yaml"), broken).expect("the scenario can be written");
    let output = sim(&folder.path().join("broken.yaml"), &folder.path().join("out"), &[]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("double-effect"), "{}", said(&output));
}

#[test]
fn a_run_that_fails_is_shrunk_to_a_file_that_fails_the_same_way() {
    let folder = TempDir::new().expect("a temporary folder");
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/quickstart.yaml"));
    let broken = text.expect("the scenario").replacen("# defects:", "defects:", 1);
    fs::write(folder.path().join("broken.yaml"), broken).expect("the scenario can be written");
    let (file, out) = (folder.path().join("broken.yaml"), folder.path().join("out"));
    let output = sim(&file, &out, &["--signatures", "fast", "--shrink"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let text = said(&output);
    let told = text.split_once("\nShrunk       double-effect is left with\n").map(|(_, told)| told);
    assert!(told.is_some_and(|told| told.contains("             1 Agent, 1 Company, 1 journey, ")), "{text}");
    let shrunk = only_run(&out).join("shrunk.yaml");
    assert!(text.contains(&format!("poppyfield sim {}", shrunk.display())), "{text}");
    assert!(
        summary(&only_run(&out))["files"]["names"]
            .as_array()
            .is_some_and(|names| names.contains(&"shrunk.yaml".into()))
    );
    let valid = poppyfield().arg("validate").arg(&shrunk).output().expect("the program runs");
    assert_eq!(valid.status.code(), Some(0), "{}", said(&valid));
    let again = sim(&shrunk, &folder.path().join("again"), &["--format", "json"]);
    assert_eq!(again.status.code(), Some(1), "{}", said(&again));
    let printed: Value = serde_json::from_slice(&again.stdout).expect("the summary as JSON");
    assert_eq!(printed["findings"][0]["anomaly"], "double-effect", "{printed}");
    assert_eq!(printed["journeys"]["started"], 1, "{printed}");
}

#[test]
fn of_many_seeds_the_lowest_that_fails_is_shrunk() {
    let folder = TempDir::new().expect("a temporary folder");
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/quickstart.yaml"));
    let broken = text.expect("the scenario").replacen("# defects:", "defects:", 1);
    fs::write(folder.path().join("broken.yaml"), broken).expect("the scenario can be written");
    let (file, out) = (folder.path().join("broken.yaml"), folder.path().join("out"));
    let more = ["--signatures", "fast", "--seed", "3", "--seeds", "2", "--fail-fast", "--shrink"];
    let output = sim(&file, &out, &more);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("\nShrunk       double-effect is left with\n"), "{}", said(&output));
    let shrunk = fs::read_to_string(only_run(&out).join("shrunk.yaml")).expect("the shrunk scenario");
    assert!(
        shrunk.starts_with("# What was left of quickstart with seed 3 and still shows double-effect.\n"),
        "{shrunk}"
    );
}

#[test]
fn a_run_that_passes_is_not_shrunk() {
    let out = TempDir::new().expect("a temporary folder");
    let output = sim(&shipped("quickstart"), out.path(), &["--signatures", "fast", "--shrink", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok(), "{}", said(&output));
    assert!(said(&output).contains("Nothing to shrink"), "{}", said(&output));
    assert!(!only_run(out.path()).join("shrunk.yaml").exists());
    let output = sim(&shipped("quickstart"), out.path(), &["--shrink=double-efect"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("did you mean `double-effect`?"), "{}", said(&output));
}

#[test]
fn so_few_journeys_that_a_minimum_is_missed_are_no_pass() {
    let out = TempDir::new().expect("a temporary folder");
    let output = sim(&shipped("jacket-exchange"), out.path(), &["--operations", "2", "--format", "json"]);
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    let printed: Value = serde_json::from_slice(&output.stdout).expect("the summary as JSON");
    assert_eq!(printed["journeys"]["started"], 2);
    assert!(printed["run"]["repeat"].as_str().is_some_and(|repeat| repeat.ends_with("--operations 2")), "{printed}");
}

#[test]
fn an_interrupt_leaves_a_complete_folder_marked_partial() {
    let folder = TempDir::new().expect("a temporary folder");
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/memory-200.yaml"));
    let text = text.expect("the scenario");
    fs::write(folder.path().join("long.yaml"), lengthened(&text)).expect("the scenario can be written");
    let mut child = poppyfield()
        .args(["sim", "-vv", "--out"])
        .arg(folder.path().join("out"))
        .arg(folder.path().join("long.yaml"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut lines = BufReader::new(child.stderr.take().expect("stderr is piped")).lines();
    assert!(lines.by_ref().map_while(Result::ok).any(|line| line.contains("load begins")));
    #[expect(clippy::disallowed_methods, reason = "the program under test is outside the world")]
    std::thread::spawn(move || lines.for_each(drop));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    let output = child.wait_with_output().expect("the run ends");
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    let summary = summary(&only_run(&folder.path().join("out")));
    assert_eq!(summary["partial"], true);
    // Where it stopped is chance: no digest promises that it comes again.
    assert!(summary["history_digest"].is_null());
}

/// A load that lasts a hundred hours.
fn lengthened(scenario: &str) -> String {
    let Some((before, after)) = scenario.split_once("for: ") else { panic!("the scenario has a load") };
    let rest = after.trim_start_matches(|character: char| character.is_ascii_alphanumeric());
    format!("{before}for: 100h{rest}")
}

#[test]
fn a_target_has_no_place_in_the_simulated_world() {
    let out = TempDir::new().expect("a temporary folder");
    let output = sim(&shipped("quickstart"), out.path(), &["--target", "shop.yaml"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

/// Sooner, and the same to the byte; what proves nothing says so.
#[test]
fn fast_signatures_leave_the_same_history() {
    let out = TempDir::new().expect("a temporary folder");
    let [real, fast] = [&[][..], &["--signatures", "fast"]].map(|more| {
        let arguments = [&["--seed", "5", "--operations", "40", "--format", "json"], more].concat();
        let output = sim(&shipped("signed-in"), out.path(), &arguments);
        let summary: Value = serde_json::from_slice(&output.stdout).expect("the summary as JSON");
        summary
    });
    assert_eq!(real["history_digest"], fast["history_digest"]);
    assert!(real["history_digest"].is_string());
    assert_eq!(real["simulation"]["fast_signatures"], false);
    assert_eq!(fast["simulation"]["fast_signatures"], true);
    assert!(fast["run"]["repeat"].as_str().is_some_and(|repeat| repeat.contains("--signatures fast")), "{fast}");
}
