//! No file of a run holds a token, assertion, proof, signature or key.

use std::{fs, path::Path};

use poppyfield::{
    history::Recorder,
    identity::Signatures,
    measure::Meter,
    scenario::{self, Overrides},
    sim::{self, Setting},
};
use tempfile::TempDir;

/// What gives credentials away: the heads of compact JWS, Session and Account Tokens, codes of sign-ins, PEM blocks,
/// private JWK members.
const MARKS: &[&str] =
    &["eyJ", "sat_", "acct_", "dev_", "user_code", "device_code", "PRIVATE KEY", "\"d\":", "DPoP ", "client_assertion"];

/// All that a run writes, decompressed.
fn texts(folder: &Path) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder").flatten() {
        let path = entry.path();
        let bytes = fs::read(&path).expect("the file");
        let plain = if path.extension().is_some_and(|extension| extension == "zst") {
            zstd::decode_all(bytes.as_slice()).expect("it can be decompressed")
        } else {
            bytes
        };
        texts.push((path.display().to_string(), String::from_utf8_lossy(&plain).into_owned()));
    }
    texts
}

#[test]
fn no_file_of_a_run_holds_a_credential() {
    for scenario in ["timeout-recovery", "signed-in"] {
        look_through(scenario);
    }
}

fn look_through(scenario: &str) {
    let folder = TempDir::new().expect("a temporary folder");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("scenarios/{scenario}.yaml"));
    let mut plan = scenario::load(&path, &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"));
    for load in &mut plan.load {
        load.operations = Some(50);
    }
    let recorder = Recorder::to_folder(folder.path()).expect("the history can be written");
    let setting = Setting::to(recorder, Meter::new(), Signatures::Real);
    sim::simulate(&plan.into(), &setting).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(setting.recorder.failure(), None);
    let texts = texts(folder.path());
    assert!(texts.iter().any(|(_, text)| text.contains("\"confirm\"")), "the run confirmed something");
    for (file, text) in texts {
        for mark in MARKS {
            if let Some(at) = text.find(mark) {
                let from = at.saturating_sub(80);
                panic!("{file} holds `{mark}`: …{}…", text.get(from..(at + 40).min(text.len())).unwrap_or_default());
            }
        }
    }
}
