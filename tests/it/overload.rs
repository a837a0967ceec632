//! Overload comes of the model: a field of Companies that a short disturbance tips over stays down while Agents try again
//! without back-off, and only then.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use poppyfield::{
    history::Event,
    identity::Signatures,
    plan::Plan,
    scenario::{self, Overrides},
    sim::Outcome,
};
use serde_json::Value;
use tempfile::TempDir;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The shipped scenario with lines of it replaced, in a folder beside the profiles.
struct Storm {
    folder: TempDir,
    path: PathBuf,
}

impl Storm {
    fn new(changes: &[(&str, &str)]) -> Self {
        let mut text = fs::read_to_string(root().join("scenarios/retry-storm.yaml")).expect("the scenario");
        for (old, new) in changes {
            assert!(text.contains(old), "{old}");
            text = text.replacen(old, new, 1);
        }
        let folder = TempDir::new().expect("a temporary folder");
        fs::create_dir(folder.path().join("scenarios")).expect("a folder");
        let path = folder.path().join("scenarios/retry-storm.yaml");
        fs::write(&path, text).expect("the scenario can be written");
        Self { folder, path }
    }

    /// Runs it as a user does, from the repository's own folder, where the profiles are.
    fn sim(&self) -> (Output, Value) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_poppyfield"));
        command.current_dir(root()).env_remove("RUST_LOG").arg("sim").arg(&self.path);
        command.args(["--signatures", "fast", "--format", "json", "--out"]).arg(self.folder.path().join("out"));
        let output = command.output().expect("the program runs");
        let summary = serde_json::from_slice(&output.stdout).expect("the summary as JSON");
        (output, summary)
    }

    fn plan(&self) -> Plan {
        scenario::load(&self.path, &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"))
    }
}

const SWITCH: (&str, &str) = ("  # retry: {", "  retry: {");

#[test]
fn without_back_off_a_field_stays_down_and_with_it_recovers() {
    let (calm, summary) = Storm::new(&[]).sim();
    assert_eq!(calm.status.code(), Some(0), "{summary}");
    assert!(summary["thresholds"].to_string().contains("throughput"), "{summary}");

    let (storm, summary) = Storm::new(&[SWITCH]).sim();
    // A rule that was broken, or a run that shows too little, would count before a threshold.
    assert_eq!(storm.status.code(), Some(3), "{summary}");
}

/// How many operations were confirmed in each second of a run.
fn confirmed_by_second(plan: Plan) -> Vec<u32> {
    let outcome = Outcome::of(&plan.into(), Signatures::Fast).unwrap_or_else(|error| panic!("{error}"));
    let mut seconds = vec![0; 35];
    for record in &outcome.history {
        if let Event::Return(returned) = &record.event
            && returned.view.as_ref().is_some_and(|view| view.confirmation.is_some())
            && let Some(count) =
                usize::try_from(record.at / 1_000_000_000).ok().and_then(|second| seconds.get_mut(second))
        {
            *count += 1;
        }
    }
    seconds
}

/// Healthy before the stall and dead long after it, with nothing wrong any more: the same Agents without the stall do well.
#[test]
fn what_keeps_the_field_down_is_not_the_stall_but_what_it_set_off() {
    let sum = |seconds: &[u32]| seconds.iter().sum::<u32>();
    let struck = confirmed_by_second(Storm::new(&[SWITCH]).plan());
    assert!(sum(&struck[8..11]) > 40, "before the stall: {struck:?}");
    assert_eq!(sum(&struck[21..]), 0, "from seven seconds after it: {struck:?}");

    let mut spared = Storm::new(&[SWITCH]).plan();
    spared.faults.clear();
    let spared = confirmed_by_second(spared);
    assert!(sum(&spared[21..]) > 14 * 20, "without a stall: {spared:?}");
}
