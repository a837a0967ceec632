//! The scenarios, profiles and schemas of the repository.

use super::*;
use crate::scenario::{decode, node, problem::Place};

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

/// The schema that lies in the repository. `UPDATE_GENERATED=1 cargo test scenario` writes it anew.
fn stored_schema(kind: FileKind) -> serde_json::Value {
    let path = root().join(format!("schemas/{}.schema.json", kind.key()));
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        let text = serde_json::to_string_pretty(&schema(kind)).unwrap();
        std::fs::write(&path, text + "\n").unwrap();
    }
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn schemas_are_fresh_and_accept_every_shipped_file() {
    let example = tempfile::tempdir().unwrap();
    let mut targets = super::docs::written_example(&example);
    targets.extend(files("interop").into_iter().filter(|path| path.extension().is_some_and(|kind| kind == "yaml")));
    let kinds = [
        (FileKind::Scenario, files("scenarios")),
        (FileKind::Company, files("sim-companies")),
        (FileKind::Target, targets),
    ];
    for (kind, paths) in kinds {
        let stored = stored_schema(kind);
        assert_eq!(stored, schema(kind), "UPDATE_GENERATED=1 cargo test scenario:: writes it anew");
        let validator = jsonschema::draft7::new(&stored).unwrap();
        for path in paths {
            let mut findings = Findings::default();
            let tree = files::read(&path, &mut findings).unwrap();
            let errors: Vec<String> = validator
                .iter_errors(&json(&tree))
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect();
            assert!(errors.is_empty(), "{}: {errors:#?}", path.display());
        }
    }
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

/// Keys of a file with their places, those left out that the file chooses itself.
fn keys(node: &Node, chosen_below: bool, found: &mut Vec<(String, Place)>) {
    use node::Kind;
    match &node.kind {
        Kind::Nothing | Kind::Scalar { .. } => {}
        Kind::List(items) => items.iter().for_each(|item| keys(item, false, found)),
        Kind::Map(entries) => {
            for entry in entries {
                if !chosen_below {
                    found.push((entry.key.clone(), entry.place));
                }
                let chooses = !chosen_below && matches!(entry.key.as_str(), "companies" | "journeys" | "actions");
                if entry.key != "terms" {
                    keys(&entry.value, chooses, found);
                }
            }
        }
    }
}

#[test]
fn each_key_misspelt_is_told_with_its_place_and_what_was_meant() {
    let mut misspelt = 0;
    let shipped = [("scenarios", "timeout-recovery"), ("scenarios", "cancel-race"), ("sim-companies", "travel")];
    for (folder, name) in shipped {
        let path = root().join(folder).join(format!("{name}.yaml"));
        let text = std::fs::read_to_string(&path).unwrap();
        let tree = crate::scenario::files::read(&path, &mut Findings::default()).unwrap();
        let mut found = Vec::new();
        keys(&tree, false, &mut found);
        for (key, place) in found {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let line = &mut lines[place.line as usize - 1];
            let start = line.char_indices().nth(place.column as usize - 1).unwrap().0;
            assert!(line[start..].starts_with(&key), "{key} at {place:?}");
            line.insert(start + key.len(), key.chars().last().unwrap()); // `chancee`

            let folder_with_mistake = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder_with_mistake.path().join("scenarios")).unwrap();
            let profiles = folder_with_mistake.path().join("sim-companies");
            std::fs::create_dir(&profiles).unwrap();
            for profile in files("sim-companies") {
                std::fs::copy(&profile, profiles.join(profile.file_name().unwrap())).unwrap();
            }
            let wrong = folder_with_mistake.path().join("scenarios").join("wrong.yaml");
            std::fs::write(&wrong, lines.join("\n")).unwrap();
            let problems = validate(&wrong, &Overrides::default()).unwrap_err();
            let place = (place.line as usize, place.column as usize);
            let told = problems.list().iter().find(|problem| (problem.line, problem.column) == place);
            let told = told.unwrap_or_else(|| panic!("{key} at {place:?}: {problems}"));
            assert_eq!(told.nearest.as_deref(), Some(key.as_str()), "{problems}");
            misspelt += 1;
        }
    }
    assert!(misspelt > 100, "{misspelt}");
}

#[test]
fn every_scenario_tells_how_to_break_it_with_one_line() {
    for path in files("scenarios") {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.lines().nth(1).unwrap().starts_with("# "), "{}: no opening comment", path.display());
        assert!(text.contains("# Expect exit 0"), "{}", path.display());
        let whole = load(&path, &Overrides::default()).unwrap();
        assert!(whole.companies.iter().all(|company| company.defects.is_empty()), "{}", path.display());

        let folder = tempfile::tempdir().unwrap();
        let broken = folder.path().join("broken.yaml");
        let mut findings = Findings::default();
        let switch = if text.contains("# defects: [") { "defects: [" } else { "retry: {" };
        std::fs::write(&broken, text.replacen(&format!("# {switch}"), switch, 1)).unwrap();
        let tree = crate::scenario::files::read(&broken, &mut findings).unwrap();
        let file: ScenarioFile = decode::decode(&tree, &mut findings).unwrap();
        let plan =
            crate::scenario::resolve::resolve(&file, &root().join("scenarios"), &Overrides::default(), &mut findings);
        let plan = findings.finish(plan).unwrap_or_else(|problems| panic!("{problems}"));
        let defective = plan.companies.iter().any(|company| !company.defects.is_empty());
        let hasty = plan.swarm.retry.factor == 1.0 && whole.swarm.retry.factor > 1.0;
        assert!(if switch == "retry: {" { hasty } else { defective }, "{}", path.display());
    }
}

#[test]
fn every_scenario_ends_within_a_minute() {
    for path in files("scenarios") {
        let plan = load(&path, &Overrides::default()).unwrap();
        let most = if plan.name == "quickstart" { 14 } else { 50 };
        let whole = plan.load_duration() + plan.settle;
        assert!(whole.as_secs() <= most, "{}: {whole:?}", plan.name);
        assert!(!plan.companies.is_empty() && plan.load_duration().as_secs() >= 5);
    }
}

#[test]
fn the_command_line_counts_over_the_file() {
    let path = root().join("scenarios/quickstart.yaml");
    let overrides = Overrides { seed: Some(77), tls: Some(true), ..Overrides::default() };
    let plan = load(&path, &overrides).unwrap();
    assert_eq!((plan.seed, plan.tls), (77, true));
    let plan = load(&path, &Overrides::default()).unwrap();
    assert_eq!((plan.seed, plan.tls), (1, false));
}

#[test]
fn a_company_file_alone_makes_companies() {
    let companies = load_companies(&root().join("sim-companies/jackets.yaml"), 2).unwrap();
    let domains: Vec<&str> = companies.iter().map(|company| company.domain.as_str()).collect();
    assert_eq!(domains, ["jackets-1.example", "jackets-2.example"]);
    assert_eq!(companies[1].title, "Example Outfitters 2");
    assert_eq!(companies[0].actions["exchange"].steps.len(), 4);
}
