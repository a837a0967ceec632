//! Shipped files load, and every mistake is told with its place.

use std::path::{Path, PathBuf};

use super::*;

/// The project's own folder.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files of a folder of the project, sorted.
fn files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn shipped_files_are_valid() {
    for path in files("scenarios").into_iter().chain(files("sim-companies")) {
        if let Err(problems) = validate(&path, &Overrides::default()) {
            panic!("{problems}");
        }
    }
}

#[test]
fn a_resolved_scenario_gives_the_same_plan_again() {
    let folder = tempfile::tempdir().unwrap();
    for path in files("scenarios") {
        let plan = load(&path, &Overrides::default()).unwrap();
        let written = folder.path().join("scenario.yaml");
        std::fs::write(&written, resolved_yaml(&plan)).unwrap();
        let again = load(&written, &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(format!("{again:#?}"), format!("{plan:#?}"), "{}", path.display());
        assert_eq!(resolved_yaml(&again), resolved_yaml(&plan));
    }
}

/// The schema that lies in the repository. `UPDATE_SCHEMAS=1 cargo test scenario` writes it anew.
fn stored_schema(kind: FileKind) -> serde_json::Value {
    let path = root().join(format!("schemas/{}.schema.json", kind.key()));
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        let text = serde_json::to_string_pretty(&schema(kind).unwrap()).unwrap();
        std::fs::write(&path, text + "\n").unwrap();
    }
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn schemas_are_fresh_and_accept_every_shipped_file() {
    for (kind, folder) in [(FileKind::Scenario, "scenarios"), (FileKind::Company, "sim-companies")] {
        let stored = stored_schema(kind);
        assert_eq!(Some(&stored), schema(kind).as_ref(), "UPDATE_SCHEMAS=1 cargo test scenario:: writes it anew");
        let validator = jsonschema::draft7::new(&stored).unwrap();
        for path in files(folder) {
            let mut findings = Findings::default();
            let tree = files::read(&path, &mut findings).unwrap();
            let errors: Vec<String> = validator
                .iter_errors(&json(&tree))
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect();
            assert!(errors.is_empty(), "{}: {errors:#?}", path.display());
        }
    }
    assert_eq!(schema(FileKind::Target), None);
}

/// A file as an editor's validator sees it.
fn json(node: &Node) -> serde_json::Value {
    use node::{Form, Kind};
    match &node.kind {
        Kind::Nothing => serde_json::Value::Null,
        // An editor reads YAML 1.2, where on, off, yes and no are texts.
        Kind::Scalar { text, form: Form::Boolean } if matches!(text.as_str(), "true" | "false") => {
            (text == "true").into()
        }
        Kind::Scalar { text, form: Form::Integer | Form::Decimal } => serde_json::from_str(text).unwrap(),
        Kind::Scalar { text, .. } => text.as_str().into(),
        Kind::List(items) => items.iter().map(json).collect(),
        Kind::Map(entries) => entries.iter().map(|entry| (entry.key.clone(), json(&entry.value))).collect(),
    }
}
