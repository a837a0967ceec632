//! The numbered invariants of `docs/architecture.md` that the compiler does not check: who may import whom.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Each module, and the modules of this crate that it may import. `limits` is open to all.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("agent", &["history", "identity", "measure", "plan", "protocol", "world"]),
    ("backend", &["history", "identity", "plan", "protocol", "world"]),
    ("checker", &["history", "protocol"]),
    ("cli", &["checker", "history", "identity", "measure", "plan", "report", "scenario", "sim", "swarm", "world"]),
    ("company", &["history", "identity", "plan", "protocol", "world"]),
    ("fault", &["history", "plan", "world"]),
    ("history", &["protocol"]),
    ("identity", &["protocol"]),
    ("measure", &["history", "plan"]),
    ("plan", &["history", "protocol", "world"]),
    ("protocol", &[]),
    ("report", &["checker", "history", "measure", "plan"]),
    // `identity`: the key of an operator that a target knows is checked where the target file names it.
    // `measure`: service times are read from the log of a run where a Company file names it.
    ("scenario", &["history", "identity", "measure", "plan", "protocol"]),
    // `scenario`: a run is shrunk to what a scenario file can say.
    ("sim", &["checker", "history", "identity", "measure", "plan", "scenario", "swarm", "world"]),
    ("swarm", &["agent", "backend", "company", "fault", "history", "identity", "measure", "plan", "world"]),
    ("world", &["fault", "history", "identity", "plan"]),
];

/// Words that may not stand in the code of a party: they reach time, tasks, sockets or randomness past the `World`.
const BANNED_IN_PARTIES: &[&str] = &[
    "tokio::net",
    "tokio::spawn",
    "tokio::time::",
    "HashMap::new",
    "HashSet::new",
    "std::net::Tcp",
    "std::thread",
    "std::time::Instant",
    "SystemTime",
    "Timestamp::now",
    "rand::rng",
    "reqwest",
    "hyper::client",
    "println!",
];

fn source_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the entry can be read").path();
        if path.is_dir() {
            files.extend(source_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The text of a file up to its tests: tests may reach for more than the code that they test.
fn code_of(path: &Path) -> String {
    let is_test =
        path.file_stem().is_some_and(|stem| stem == "tests") || path.components().any(|c| c.as_os_str() == "tests");
    if is_test {
        return String::new();
    }
    let text = fs::read_to_string(path).expect("the file can be read");
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The modules that a text imports from its own crate: `crate::world::…` and `use crate::{world::…, plan::…}`.
fn imports(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for part in code.split("crate::").skip(1) {
        if let Some(group) = part.strip_prefix('{') {
            let mut depth = 0;
            let mut word = String::new();
            for character in group.chars() {
                match character {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        found.insert(std::mem::take(&mut word));
                        continue;
                    }
                    _ => {}
                }
                if depth == 0 {
                    word.push(character);
                }
            }
            found.insert(word);
        } else {
            found.insert(part.to_owned());
        }
    }
    found
        .into_iter()
        .map(|word| word.trim().chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect::<String>())
        .filter(|word| !word.is_empty())
        .collect()
}

fn crate_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn a_module_imports_only_what_lies_below_it() {
    let known: BTreeSet<_> = MAY_IMPORT.iter().map(|(module, _)| *module).collect();
    let mut seen = 0;
    for (module, allowed) in MAY_IMPORT {
        for file in source_files(&crate_folder().join(module)) {
            for import in imports(&code_of(&file)) {
                seen += 1;
                let fine = import == *module || import == "limits" || allowed.contains(&import.as_str());
                assert!(fine || !known.contains(import.as_str()), "{} imports crate::{import}", file.display());
            }
        }
    }
    assert!(seen > 50, "the test sees the imports: {seen}");
}

#[test]
fn every_module_has_its_place_in_the_table() {
    for entry in fs::read_dir(crate_folder()).expect("src can be read") {
        let entry = entry.expect("the entry can be read");
        if entry.path().is_dir() {
            let name = entry.file_name().to_string_lossy().into_owned();
            assert!(MAY_IMPORT.iter().any(|(module, _)| *module == name), "{name} is not in the table");
        }
    }
}

#[test]
fn parties_reach_the_world_only_through_their_handle() {
    for party in ["agent", "backend", "company"] {
        for file in source_files(&crate_folder().join(party)) {
            let code = code_of(&file);
            for word in BANNED_IN_PARTIES {
                assert!(!code.contains(word), "{} uses {word}", file.display());
            }
        }
    }
}

#[test]
fn nothing_that_makes_a_world_of_sockets_asks_for_fast_signatures() {
    for (module, _) in MAY_IMPORT.iter().filter(|(module, _)| *module != "identity") {
        for file in source_files(&crate_folder().join(module)) {
            let code = code_of(&file);
            // To ask whether they are fast is to refuse them; what makes them has no business with sockets.
            let makes = code.replace("== Signatures::Fast", "").contains("Signatures::Fast");
            let sockets = code.contains("Lane::Sockets {") || ["agent", "backend", "company"].contains(module);
            assert!(!(makes && sockets), "{} makes fast signatures", file.display());
        }
    }
}

#[test]
fn only_the_backend_and_the_count_of_a_target_open_the_ledger() {
    let mut opens = BTreeSet::new();
    for (module, _) in MAY_IMPORT.iter().filter(|(module, _)| *module != "history") {
        for file in source_files(&crate_folder().join(module)) {
            if code_of(&file).contains(".recorder().ledger()") {
                opens.insert(format!("{module}/{}", file.file_name().unwrap_or_default().to_string_lossy()));
            }
        }
    }
    assert_eq!(opens, ["backend/desk.rs", "swarm/counted.rs"].map(str::to_owned).into());
}

#[test]
fn shapes_and_judges_do_no_input_or_output_and_know_no_clock() {
    for module in ["protocol", "checker"] {
        for file in source_files(&crate_folder().join(module)) {
            let code = code_of(&file);
            for word in ["std::fs", "std::net", "tokio", "std::io", "SystemTime", "Instant", "Timestamp::now"] {
                assert!(!code.contains(word), "{} uses {word}", file.display());
            }
        }
    }
}
