//! The program as a user runs it: arguments in, files and exit status out.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

/// A second of load: a few Agents exchange clothes, and some answers get lost.
const SCENARIO: &str = "\
scenario: little
seed: 3
companies:
  shop: { profile: clothes, count: 2, DEFECTS backend: { timeout: 500ms, ask_again: 100ms } }
agents: { operators: 2, users: 10, request_timeout: 400ms, retry: { first: 50ms, longest: 500ms } }
journeys:
  exchange:
    steps:
      - propose: { at: shop, action: exchange }
      - ask-user: { approve: 90%, decline: 5%, other_terms: 5%, after: 20ms }
      - confirm
      - track
load:
  - closed: { agents: 10, think: 50ms, for: LENGTH }
faults:
  - { do: lose-answer, on: [confirm], chance: 20% }
settle: 10s
";

pub(crate) fn poppyfield() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_poppyfield"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("RUST_LOG");
    command
}

/// A scenario file in a folder of its own, and the folder that runs go to.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new(defects: &str, length: &str) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let defects = if defects.is_empty() { String::new() } else { format!("defects: [{defects}],") };
        let text = SCENARIO.replace("DEFECTS", &defects).replace("LENGTH", length);
        fs::write(folder.path().join("little.yaml"), text).expect("the scenario can be written");
        Self { folder }
    }

    fn scenario(&self) -> PathBuf {
        self.folder.path().join("little.yaml")
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn run(&self) -> Output {
        let output = poppyfield().arg("run").arg(self.scenario()).arg("--out").arg(self.out()).output();
        output.expect("the program runs")
    }

    /// The folder of the one run.
    fn results(&self) -> PathBuf {
        let mut folders: Vec<_> = fs::read_dir(self.out()).expect("results").flatten().collect();
        assert_eq!(folders.len(), 1);
        folders.remove(0).path()
    }
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn summary(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("summary.json")).expect("summary.json");
    serde_json::from_str(&text).expect("summary.json is JSON")
}

fn check(folder: &Path) -> Output {
    poppyfield().arg("check").arg(folder).output().expect("the program runs")
}

#[test]
fn a_run_leaves_its_files_and_they_give_the_same_verdict_again() {
    let bench = Bench::new("", "1s");
    let run = bench.run();
    assert_eq!(code(&run), 0, "{}{}", stdout(&run), stderr(&run));
    assert!(stdout(&run).starts_with("PASS"), "{}", stdout(&run));
    let results = bench.results();
    for file in ["scenario.yaml", "summary.json", "history.jsonl.zst", "ledger.jsonl.zst", "latency.hlog"] {
        assert!(results.join(file).is_file(), "{file}");
    }
    let first = summary(&results);
    assert_eq!(first["partial"], false);
    let again = check(&results);
    assert_eq!(code(&again), 0, "{}{}", stdout(&again), stderr(&again));
    let json = poppyfield().args(["check", "--format", "json"]).arg(&results).output().expect("the program runs");
    let second: Value = serde_json::from_slice(&json.stdout).expect("the summary as JSON");
    for part in ["verdict", "anomalies", "findings", "steps"] {
        assert_eq!(first[part], second[part], "{part}");
    }
}

#[test]
fn the_resolved_scenario_of_a_run_can_be_run_again() {
    let bench = Bench::new("", "300ms");
    assert_eq!(code(&bench.run()), 0);
    let resolved = bench.results().join("scenario.yaml");
    let elsewhere = TempDir::new().expect("a temporary folder");
    let mut again = Command::new(env!("CARGO_BIN_EXE_poppyfield"));
    // From a folder without profiles: the resolved scenario holds all that it needs.
    let again = again.current_dir(elsewhere.path()).arg("run").arg(&resolved).output().expect("the program runs");
    assert_eq!(code(&again), 0, "{}{}", stdout(&again), stderr(&again));
}

#[test]
fn one_line_of_yaml_makes_a_bug_that_is_named() {
    let bench = Bench::new("perform-again-on-retry", "1s");
    let run = bench.run();
    assert_eq!(code(&run), 1, "{}{}", stdout(&run), stderr(&run));
    assert!(stdout(&run).contains("double-effect"), "{}", stdout(&run));
    let results = bench.results();
    assert!(results.join("anomalies/0001.json").is_file());
    assert_eq!(code(&check(&results)), 1);
}

/// Starts a long run and waits until its load began.
fn begun(bench: &Bench) -> Child {
    let mut child = poppyfield()
        .args(["run", "-vv", "--out"])
        .arg(bench.out())
        .arg(bench.scenario())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let stderr = child.stderr.take().expect("stderr is piped");
    let mut lines = BufReader::new(stderr).lines();
    let began = lines.by_ref().map_while(Result::ok).any(|line| line.contains("load begins"));
    assert!(began, "the run says that load begins");
    // Whatever else it says must not block it.
    #[expect(clippy::disallowed_methods, reason = "the program under test is outside the world")]
    std::thread::spawn(move || lines.for_each(drop));
    child
}

#[test]
fn an_interrupt_leaves_a_complete_folder_marked_partial() {
    for signal in ["-INT", "-TERM"] {
        let bench = Bench::new("", "300s");
        let child = begun(&bench);
        let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
        assert!(killed.success());
        let output = child.wait_with_output().expect("the run ends");
        assert_eq!(output.status.code(), Some(130), "{}", stdout(&output));
        let results = bench.results();
        assert_eq!(summary(&results)["partial"], true);
        assert_eq!(code(&check(&results)), 130);
    }
}

#[test]
fn a_mistake_in_a_file_is_shown_with_its_place_and_nothing_starts() {
    let bench = Bench::new("", "1s");
    let text = fs::read_to_string(bench.scenario()).expect("the scenario").replace("settle:", "setle:");
    fs::write(bench.scenario(), text).expect("the scenario can be written");
    for command in ["run", "validate"] {
        let mut command_line = poppyfield();
        command_line.arg(command).arg(bench.scenario());
        if command == "run" {
            command_line.arg("--out").arg(bench.out());
        }
        let output = command_line.output().expect("the program runs");
        assert_eq!(code(&output), 2);
        let said = stderr(&output);
        assert!(said.contains("little.yaml:17:1") && said.contains("`settle`"), "{said}");
        assert!(!bench.out().exists());
    }
}

#[test]
fn results_that_cannot_be_written_end_in_exit_5() {
    let bench = Bench::new("", "1s");
    let output = poppyfield().arg("run").arg(bench.scenario()).args(["--out", "/proc/nowhere"]).output();
    let output = output.expect("the program runs");
    assert_eq!(code(&output), 5);
    assert!(stderr(&output).contains("--out"), "{}", stderr(&output));
}

#[test]
fn a_taken_port_ends_in_exit_5_and_leaves_nothing() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("its address").port().to_string();
    let out = TempDir::new().expect("a temporary folder");
    let output = poppyfield()
        .args(["serve", "clothes", "--port", &port, "--out"])
        .arg(out.path())
        .output()
        .expect("the program runs");
    assert_eq!(code(&output), 5);
    assert!(stderr(&output).contains(&port), "{}", stderr(&output));
    assert_eq!(fs::read_dir(out.path()).expect("the folder").count(), 0);
}

#[test]
fn what_is_no_run_is_a_usage_error() {
    let folder = TempDir::new().expect("a temporary folder");
    for path in [folder.path().to_owned(), folder.path().join("nothing")] {
        let output = check(&path);
        assert_eq!(code(&output), 2, "{}", stderr(&output));
    }
}

#[test]
fn a_folder_that_lost_its_summary_proves_less() {
    let bench = Bench::new("", "300ms");
    assert_eq!(code(&bench.run()), 0);
    fs::remove_file(bench.results().join("summary.json")).expect("the summary can be removed");
    let output = check(&bench.results());
    assert_eq!(code(&output), 4, "{}", stdout(&output));
    assert!(stdout(&output).contains("summary.json"), "{}", stdout(&output));
}

#[test]
fn a_machine_without_open_files_is_no_broken_rule() {
    let bench = Bench::new("", "2s");
    let line = "ulimit -n 28 && exec \"$0\" run \"$1\" --out \"$2\"";
    let output = Command::new("sh")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["-c", line, env!("CARGO_BIN_EXE_poppyfield")])
        .args([bench.scenario(), bench.out()])
        .output()
        .expect("sh runs");
    assert_eq!(code(&output), 5, "{}{}", stdout(&output), stderr(&output));
    let said = stdout(&output) + &stderr(&output);
    assert!(said.contains("open files"), "{said}");
}

#[test]
fn results_that_nobody_can_read_are_no_pass() {
    let bench = Bench::new("", "300ms");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full is there");
    let mut command = poppyfield();
    let command = command.arg("run").arg(bench.scenario()).arg("--out").arg(bench.out()).stdout(full);
    let output = command.output().expect("the program runs");
    assert_eq!(code(&output), 5, "{}", stderr(&output));
}

/// A target file at that address, with a CA of its own.
fn target(bench: &Bench, address: &str) -> PathBuf {
    let folder = bench.folder.path();
    let ca = poppyfield::world::Authority::new().expect("an authority").pem();
    fs::write(folder.join("theirs.pem"), ca).expect("the CA can be written");
    let text = format!(
        "target: theirs\ndomain: theirs.example\nconnect_to: {address}\nca: theirs.pem\nactions:\n  exchange:\n    \
         propose: {{ post: /exchanges }}\n"
    );
    fs::write(folder.join("theirs.yaml"), text).expect("the target can be written");
    folder.join("theirs.yaml")
}

fn run_at(bench: &Bench, target: &Path, more: &[&str]) -> Output {
    let mut command = poppyfield();
    command.arg("run").arg(bench.scenario()).arg("--target").arg(target).arg("--out").arg(bench.out()).args(more);
    command.output().expect("the program runs")
}

#[test]
fn a_target_that_is_not_started_is_told_with_what_to_start() {
    let bench = Bench::new("", "1s");
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").to_string();
    let run = run_at(&bench, &target(&bench, &nobody), &[]);
    let said = stderr(&run);
    assert_eq!(code(&run), 5, "{said}");
    for part in ["cannot reach `theirs`", &nobody, "start that Company there", "theirs.yaml"] {
        assert!(said.contains(part), "{said}");
    }
    assert!(!bench.out().exists(), "nothing was begun");
}

#[test]
fn a_target_off_this_machine_is_refused_unless_it_is_named() {
    let bench = Bench::new("", "1s");
    // Addresses for documentation (RFC 5737): nobody has them.
    let target = target(&bench, "192.0.2.1:443");
    let run = run_at(&bench, &target, &[]);
    assert_eq!(code(&run), 2, "{}", stderr(&run));
    assert!(stderr(&run).contains("--i-may-load-this-target theirs.example"), "{}", stderr(&run));
    let run = run_at(&bench, &target, &["--i-may-load-this-target", "other.example"]);
    assert_eq!(code(&run), 2, "another host was named: {}", stderr(&run));
    let run = poppyfield().arg("run").arg(bench.scenario()).args(["--i-may-load-this-target", "a.example"]).output();
    let run = run.expect("the program runs");
    assert_eq!(code(&run), 2, "{}", stderr(&run));
    assert!(stderr(&run).contains("--target"), "{}", stderr(&run));
}

/// A port that was free just now.
fn free_port() -> String {
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
    free.local_addr().expect("its address").port().to_string()
}

/// Ends a process when a test ends, however it does.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Everything over the command line: one process serves a Company, another one runs against it, with an operator of its
/// own whose documents the Company fetches.
#[test]
fn one_poppyfield_runs_against_another_that_serves() {
    let bench = Bench::new("", "1s");
    let text = fs::read_to_string(bench.scenario()).expect("the scenario");
    let text = text.replace("seed: 3", "seed: 3\ntls: off").replace("operators: 2", "operators: 1");
    fs::write(bench.scenario(), text).expect("the scenario can be written");
    let (served, port) = (bench.folder.path().join("served"), free_port());
    let client = format!("agent-1.example=127.0.0.1:{port}");
    let mut company = poppyfield();
    let company = company.args(["serve", "clothes", "--client", &client, "--out"]).arg(&served);
    let mut company = Ended(company.stdout(Stdio::piped()).spawn().expect("the program runs"));
    let mut said = BufReader::new(company.0.stdout.take().expect("its stdout")).lines();
    let line = said.next().expect("a line").expect("text");
    let address = line.split(" is at ").nth(1).expect("an address").to_owned();
    let ca = fs::read_dir(&served).expect("its folder").flatten().next().expect("a run").path().join("ca.pem");
    let ca = ca.display();
    let text = format!(
        "target: theirs\ndomain: clothes-1.example\nconnect_to: {address}\nca: {ca}\noperators_port: {port}\nactions:\n  \
         exchange:\n    propose: {{ post: \"/orders/{{order_id}}/exchanges\", body: {{ item_id: \"{{item_id}}\" }} }}\n"
    );
    let file = bench.folder.path().join("theirs.yaml");
    fs::write(&file, text).expect("the target can be written");
    let run = run_at(&bench, &file, &[]);
    let told = stderr(&run);
    assert_eq!(code(&run), 0, "{}{told}", stdout(&run));
    assert!(told.contains("this run loads `theirs`") && told.contains("at most 10 Agents at once"), "{told}");
    assert!(told.contains(&format!("https://agent-1.example is served at 127.0.0.1:{port}")), "{told}");
    let results = bench.results();
    let summary = summary(&results);
    assert_eq!(summary["run"]["target"], "theirs (https://clothes-1.example)");
    assert!(summary["operations"]["confirmed"].as_u64().is_some_and(|confirmed| confirmed > 0), "{}", stdout(&run));
    assert!(summary["faults"]["by_kind"]["lose-answer"].as_u64().is_some_and(|lost| lost > 0), "{}", stdout(&run));
    let repeat = summary["run"]["repeat"].as_str().expect("a command");
    assert!(repeat.contains("--target") && repeat.contains("theirs.yaml"), "{repeat}");
    assert!(results.join("target.yaml").is_file() && results.join("scenario.yaml").is_file());
    assert_eq!(code(&check(&results)), 0);
}
