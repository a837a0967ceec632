//! `poppyfield sim --seeds` as a user runs it.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{program::poppyfield, simulated::said};

fn sim(scenario: &Path, out: &Path, more: &[&str]) -> Output {
    let fast = ["--signatures", "fast", "--crashes", "off"];
    let output = poppyfield().arg("sim").arg(scenario).arg("--out").arg(out).args(fast).args(more).output();
    output.expect("the program runs")
}

/// A scenario of a few operations a seed, changed a little.
fn scenario(folder: &Path, from: &str, to: &str) -> PathBuf {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/exploration.yaml"));
    let text = text.expect("the scenario");
    assert!(text.contains(from), "{from}");
    let path = folder.join("small.yaml");
    fs::write(&path, text.replacen(from, to, 1)).expect("the scenario can be written");
    path
}

fn broken(folder: &Path) -> PathBuf {
    scenario(folder, "      company: shop\n", "      company: shop\n      defects: [check-then-act]\n")
}

/// What `exploration.json` of the one exploration in `out` says.
fn written(out: &Path) -> Value {
    let folder = fs::read_dir(out).expect("results").flatten().next().expect("a folder");
    let text = fs::read_to_string(folder.path().join("exploration.json")).expect("exploration.json");
    serde_json::from_str(&text).expect("exploration.json is JSON")
}

#[test]
fn seeds_that_hold_are_summed_up() {
    let folder = TempDir::new().expect("a temporary folder");
    let out = folder.path().join("out");
    let output = sim(Path::new("benches/exploration.yaml"), &out, &["--seeds", "12", "--seed", "5", "--twice"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for line in text.lines().filter(|line| !line.starts_with("Files")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for piece in ["PASS  In 12 seeds, every confirmed", "12 seeds from 5 to 16, each run twice", "cancel|perform"] {
        assert!(text.contains(piece), "{piece}\n{text}");
    }
    let written = written(&out);
    assert_eq!((&written["seeds"], &written["failing"]), (&12.into(), &0.into()));
    assert!(written["digest"].as_str().is_some_and(|digest| text.contains(digest)), "{text}");
    assert!(written["coverage"]["crash_points"][0]["passed"].as_u64().is_some_and(|passed| passed > 12), "{written}");
}

#[test]
fn a_seed_that_fails_is_printed_with_a_command_that_shows_it_again() {
    let folder = TempDir::new().expect("a temporary folder");
    let (file, out) = (broken(folder.path()), folder.path().join("out"));
    let output = sim(&file, &out, &["--seeds", "1000", "--fail-fast", "--operations", "4"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let line = text.lines().next().expect("a line for the seed");
    let (why, command) = line.split_once("; replay: poppyfield ").expect("the command");
    assert!(why.starts_with("seed ") && why.contains("double-effect"), "{line}");
    let replayed = poppyfield().args(command.split(' ')).arg("--out").arg(folder.path().join("again")).output();
    let replayed = replayed.expect("the program runs");
    assert_eq!(replayed.status.code(), Some(1), "{}", said(&replayed));
    assert!(said(&replayed).contains("double-effect"), "{}", said(&replayed));
    let written = written(&out);
    assert_eq!((&written["failing"], &written["verdict"]["exit_status"]), (&1.into(), &1.into()));
    assert_eq!(written["failures"][0]["replay"], format!("poppyfield {command}"));
}

#[test]
fn an_anomaly_that_only_follows_from_another_is_counted_and_can_be_shrunk() {
    let folder = TempDir::new().expect("a temporary folder");
    let defect = "      company: shop\n      defects: [acknowledge-before-perform]\n";
    let file = scenario(folder.path(), "      company: shop\n", defect);
    let mut command = poppyfield();
    command.arg("sim").arg(&file).arg("--out").arg(folder.path().join("single"));
    let output = command.args(["--signatures", "fast", "--seed", "1", "--format", "json"]).output();
    let output = output.expect("the program runs");
    let single: Value = serde_json::from_slice(&output.stdout).expect("the summary as JSON");
    let found = |said: &Value| {
        said["findings"].as_array().is_some_and(|all| all.iter().any(|found| found["anomaly"] == "early-success"))
    };
    assert!(!found(&single) && single["anomalies"]["early-success"]["violated"].is_object(), "{single}");
    let out = folder.path().join("out");
    let output = sim(&file, &out, &["--seed", "1", "--seeds", "1", "--shrink=early-success"]);
    let explored = written(&out);
    assert!(!found(&explored), "{explored}");
    assert_eq!(explored["anomalies"]["early-success"], single["anomalies"]["early-success"]);
    assert!(said(&output).contains("\nShrunk       early-success is left with\n"), "{}", said(&output));
}

#[test]
fn a_minimum_is_one_of_all_seeds_together() {
    let folder = TempDir::new().expect("a temporary folder");
    let reach = |reach: &str| scenario(folder.path(), "settle: 60s\n", &format!("settle: 60s\nreach: [{reach}]\n"));
    let arguments = ["--seeds", "4", "--format", "json"];
    let output = sim(&reach("finals >= 15"), folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "one seed alone has six\n{}", said(&output));
    let output = sim(&reach("finals >= 25"), folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    let printed: Value = serde_json::from_slice(&output.stdout).expect("the exploration as JSON");
    assert_eq!(printed["reach"][0]["count"], 24);
}

#[test]
fn what_a_scenario_names_and_never_exercises_is_told_by_name() {
    let folder = TempDir::new().expect("a temporary folder");
    let file = scenario(
        folder.path(),
        "settle: 60s\n",
        "  - { do: { crash: { point: reply.before, down_for: 1s } }, during: 50m..55m, chance: 50% }\nsettle: 60s\n",
    );
    let output = sim(&file, folder.path(), &["--seeds", "3"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("F6 (crash at reply.before) never struck in 3 seeds"), "{}", said(&output));
}

#[test]
fn a_budget_ends_by_itself_and_quiet_says_nothing() {
    let folder = TempDir::new().expect("a temporary folder");
    let file = Path::new("benches/exploration.yaml");
    let output = sim(file, folder.path(), &["--budget", "1s", "--quiet", "--jobs", "2"]);
    let written = written(folder.path());
    // A machine that is busy elsewhere may begin no seed within the budget, which is no pass.
    let status = if written["seeds"] == 0 { 4 } else { 0 };
    assert_eq!((output.status.code(), said(&output).as_str()), (Some(status), ""), "{written}");
    assert_eq!(written["search"]["budget_ns"], 1_000_000_000);
}

#[test]
fn seeds_that_are_done_end_before_a_long_budget() {
    let folder = TempDir::new().expect("a temporary folder");
    let file = Path::new("benches/exploration.yaml");
    let output = sim(file, folder.path(), &["--budget", "100h", "--seeds", "2", "--quiet"]);
    assert_eq!((output.status.code(), said(&output).as_str()), (Some(0), ""));
    assert_eq!(written(folder.path())["seeds"], 2);
}

#[test]
fn an_interrupt_tells_what_was_found_until_then() {
    let folder = TempDir::new().expect("a temporary folder");
    let (file, out) = (broken(folder.path()), folder.path().join("out"));
    let mut child = poppyfield()
        .args(["sim", "--budget", "100h", "--crashes", "off", "--signatures", "fast", "--out"])
        .args([&out, &file])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines().map_while(Result::ok);
    let first = lines.next().expect("a seed that fails");
    assert!(first.starts_with("seed "), "{first}");
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    assert!(lines.any(|line| line.starts_with("FAIL  ")), "the summary comes all the same");
    // A violation goes before the interrupt.
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    assert_eq!(written(&out)["partial"], true);
}

#[test]
fn where_shrinking_fails_what_was_found_stays() {
    let folder = TempDir::new().expect("a temporary folder");
    let (file, out) = (broken(folder.path()), folder.path().join("out"));
    let mut child = poppyfield()
        .args(["sim", "--budget", "100h", "--crashes", "off", "--signatures", "fast", "--shrink", "--out"])
        .args([&out, &file])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines().map_while(Result::ok);
    let first = lines.next().expect("a seed that fails");
    // No file of that name can be written any more.
    let run = fs::read_dir(&out).expect("results").flatten().next().expect("a folder").path();
    fs::create_dir_all(run.join("shrunk.yaml/in-the-way")).expect("a folder in the way");
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    assert!(lines.any(|line| line.starts_with("FAIL  ")), "{first}: the summary comes all the same");
    let rest: Vec<String> = lines.collect();
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(1), "{rest:?} {}", said(&ended));
    assert!(said(&ended).contains("nothing was shrunk: cannot write "), "{}", said(&ended));
    assert_eq!(written(&out)["verdict"]["exit_status"], 1);
}

#[test]
fn each_single_crash_comes_before_the_seeds_and_has_a_command_too() {
    let folder = TempDir::new().expect("a temporary folder");
    let defect = "      company: shop\n      defects: [drop-in-progress-on-restart]\n";
    let file = scenario(folder.path(), "      company: shop\n", defect);
    let text = fs::read_to_string(&file).expect("the scenario");
    let calm: String = text.lines().filter(|line| !line.contains("crash:")).map(|line| format!("{line}\n")).collect();
    fs::write(&file, calm).expect("the scenario can be written");
    let output = poppyfield()
        .args(["sim", "--seeds", "1", "--operations", "20", "--fail-fast", "--signatures", "fast", "--out"])
        .args([folder.path(), &file])
        .output()
        .expect("the program runs");
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let (why, command) = text.lines().next().and_then(|line| line.split_once("; replay: poppyfield ")).expect("a line");
    assert!(why.starts_with("crash ") && why.ends_with(": unresolved-at-quiescence"), "{why}");
    assert!(command.contains(" --crash-at "), "{command}");
    let replayed = poppyfield().args(command.split(' ')).arg("--out").arg(folder.path()).output();
    let replayed = replayed.expect("the program runs");
    assert_eq!(replayed.status.code(), Some(1), "{}", said(&replayed));
    assert!(said(&replayed).contains("unresolved-at-quiescence"), "{}", said(&replayed));
}

#[test]
fn what_belongs_to_many_seeds_is_refused_without_them() {
    for more in [&["--fail-fast"][..], &["--twice"], &["--jobs", "2"], &["--seeds", "0"], &["--budget", "soon"]] {
        let output =
            poppyfield().args(["sim", "benches/exploration.yaml"]).args(more).output().expect("the program runs");
        assert_eq!(output.status.code(), Some(2), "{more:?}\n{}", said(&output));
    }
}

#[test]
fn a_crash_that_the_search_adds_reaches_nothing() {
    let folder = TempDir::new().expect("a temporary folder");
    let crash = "point: perform.after-effect, down_for: 300ms } }, chance: ";
    let path = scenario(folder.path(), &format!("{crash}5%"), &format!("{crash}0.0001%"));
    let text = fs::read_to_string(&path).expect("the scenario") + "reach: [crashes.perform.after-effect >= 1]\n";
    fs::write(&path, text).expect("the scenario can be written");
    let mut command = poppyfield();
    command.arg("sim").arg(&path).arg("--out").arg(folder.path().join("out"));
    let output = command.args(["--signatures", "fast", "--seeds", "2"]).output().expect("the program runs");
    let text = said(&output);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("perform.after-effect") && words.contains("(crashed at 1)"), "{text}");
    assert_eq!(output.status.code(), Some(4), "{text}");
}
