//! The pages in docs/ say what the code says.

use std::collections::BTreeSet;

use super::*;
use crate::plan::{CrashPoint, Defect};

/// The rows of all tables of a page whose first cell is a word in backticks.
fn rows(page: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(root().join("docs").join(page)).unwrap();
    let cells = |line: &str| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
    text.lines().filter(|line| line.starts_with("| `")).map(cells).collect()
}

/// The rows of a page, first and second cell, that name something of the list.
fn named(page: &str, names: &[&str]) -> Vec<(String, String)> {
    let word = |cell: &String| cell.trim_matches('`').to_owned();
    let pairs = rows(page).into_iter().map(|row| (word(&row[0]), row[1].clone()));
    pairs.filter(|(word, _)| names.contains(&word.as_str())).collect()
}

fn catalogue(entries: impl Iterator<Item = (&'static str, &'static str)>) -> Vec<(String, String)> {
    entries.map(|(word, about)| (word.to_owned(), about.to_owned())).collect()
}

#[test]
fn anomalies_that_files_may_name_are_those_of_the_checker() {
    let mut names: Vec<&str> = ANOMALIES.to_vec();
    let mut catalogue: Vec<&str> = crate::checker::Anomaly::ALL.iter().map(|anomaly| anomaly.name()).collect();
    names.sort_unstable();
    catalogue.sort_unstable();
    assert_eq!(names, catalogue);
}

#[test]
fn defects_page_is_the_catalogue() {
    let all = catalogue(Defect::all().map(|defect| (defect.word(), defect.about())));
    let names: Vec<&str> = all.iter().map(|entry| entry.0.as_str()).collect();
    assert_eq!(named("defects.md", &names), all);
    assert_eq!(rows("defects.md").len(), all.len());
    for (row, exposure) in rows("defects.md").iter().zip(Defect::all().map(Defect::exposure)) {
        let raised: Vec<String> = exposure.anomalies().map(|anomaly| format!("`{anomaly}`")).collect();
        assert_eq!(row[2], raised.join(", "), "{row:?}");
    }
}

#[test]
fn faults_page_is_the_catalogue() {
    let points = catalogue(CrashPoint::ALL.iter().map(|point| (point.word(), point.about())));
    let names: Vec<&str> = points.iter().map(|entry| entry.0.as_str()).collect();
    assert_eq!(named("faults.md", &names), points);

    // What the schema says of each fault, as a map or as a bare word.
    let schema = schema(FileKind::Scenario);
    let choices = schema["definitions"]["FaultChoice"]["oneOf"].as_array().unwrap();
    let mut described = std::collections::BTreeMap::new();
    for choice in choices {
        let about = choice["description"].as_str().unwrap_or_default();
        let of_map = choice["properties"].as_object().and_then(|keys| keys.keys().next().cloned());
        let words = choice["enum"].as_array().map(|words| words.iter().filter_map(|word| word.as_str()).collect());
        let words: Vec<&str> = words.unwrap_or_else(|| choice["const"].as_str().into_iter().collect());
        for word in words.into_iter().map(str::to_owned).chain(of_map) {
            described.insert(word, about.to_owned());
        }
    }
    let words: BTreeSet<&str> = raw::fault_words().iter().copied().collect();
    assert_eq!(described.keys().map(String::as_str).collect::<BTreeSet<_>>(), words);
    let page: std::collections::BTreeMap<String, String> = named("faults.md", raw::fault_words()).into_iter().collect();
    assert_eq!(page, described);
}

/// The names of all keys that a schema knows.
fn keys(schema: &serde_json::Value, found: &mut BTreeSet<String>) {
    if let Some(properties) = schema["properties"].as_object() {
        found.extend(properties.keys().cloned());
    }
    match schema {
        serde_json::Value::Object(members) => members.values().for_each(|member| keys(member, found)),
        serde_json::Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[test]
fn every_key_is_in_the_reference() {
    let pages: String = ["scenarios.md", "faults.md"]
        .iter()
        .map(|page| std::fs::read_to_string(root().join("docs").join(page)).unwrap())
        .collect();
    let mut found = BTreeSet::new();
    keys(&schema(FileKind::Scenario), &mut found);
    assert!(found.len() > 80, "{found:?}");
    let told =
        |key: &str| [format!("`{key}`"), format!("{key}:"), format!("{key} ")].iter().any(|text| pages.contains(text));
    let missing: Vec<&String> = found.iter().filter(|key| !told(key)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The example of the page about targets.
fn example() -> String {
    let page = std::fs::read_to_string(root().join("docs/targets.md")).unwrap();
    page.split("```yaml\n")
        .skip(1)
        .find(|block| block.starts_with("target:"))
        .unwrap()
        .split("```")
        .next()
        .unwrap()
        .to_owned()
}

/// The example of the page about targets, written into a folder.
pub(super) fn written_example(folder: &tempfile::TempDir) -> Vec<PathBuf> {
    let path = folder.path().join("target.yaml");
    std::fs::write(&path, example()).unwrap();
    vec![path]
}

#[test]
fn every_key_of_a_target_is_in_its_reference_and_in_the_example() {
    let page = std::fs::read_to_string(root().join("docs/targets.md")).unwrap();
    let (example, mut found) = (example(), BTreeSet::new());
    let mut schema = schema(FileKind::Target);
    schema["definitions"]["Spread"].take(); // how durations are spread is in the reference of scenarios
    keys(&schema, &mut found);
    assert!(found.len() > 35, "{found:?}");
    let undocumented: Vec<&String> = found.iter().filter(|key| !page.contains(&format!("`{key}`"))).collect();
    assert!(undocumented.is_empty(), "{undocumented:?}");
    // Those that exclude what the example has.
    let excluded = ["operators_port", "operations", "put", "patch", "delete"];
    let unshown: Vec<&String> =
        found.iter().filter(|key| !excluded.contains(&key.as_str()) && !example.contains(&format!("{key}:"))).collect();
    assert!(unshown.is_empty(), "{unshown:?}");
}

#[test]
fn the_example_of_a_target_loads() {
    let state = super::targets::folder(&example(), "");
    let interop = state.path().join("interop");
    std::fs::rename(interop.join("state/agent.pem"), interop.join("state/agent-atlas.example.pem")).unwrap();
    let target = load_target(&interop.join("target.yaml")).unwrap_or_else(|problems| panic!("{problems}"));
    let hooks = &target.hooks;
    assert!(
        hooks.approve_sign_in.is_some()
            && hooks.revise.is_some()
            && hooks.settle.is_some()
            && hooks.performed.is_some()
    );
    assert_eq!(target.actions.len(), 3);
}

#[test]
fn the_example_of_a_company_of_ones_own_loads() {
    let page = std::fs::read_to_string(root().join("docs/targets.md")).unwrap();
    let own =
        page.split("```yaml\n").find_map(|block| block.starts_with("target: own").then(|| block.split("```").next()));
    let own = own.flatten().unwrap().replace("ca: ca.pem", "ca: state/ca.pem");
    let target = super::targets::target(&own);
    // What the commands beside it say.
    assert!(page.contains(&format!("--client agent-1.example=127.0.0.1:{}", target.operators_port.unwrap())));
    let port = target.connect_to.every.unwrap().port();
    assert!(page.contains(&format!("poppyfield serve clothes --port {port}")));
    let clothes = load_companies(&root().join("sim-companies/clothes.yaml"), 1).unwrap();
    assert_eq!(clothes[0].domain, target.domain);
}

#[test]
fn placeholders_of_targets_are_those_of_the_reference() {
    let page = std::fs::read_to_string(root().join("docs/targets.md")).unwrap();
    let made_up: Vec<&str> = page.split("`{fake.").skip(1).filter_map(|rest| rest.split("}`").next()).collect();
    let words: Vec<&str> = crate::plan::FakeValue::ALL.iter().map(|value| value.word()).collect();
    assert_eq!(made_up, words);
    let told = |word: &str| page.contains(&format!("`{{{word}}}`"));
    for word in
        ["order_id", "item_id", "sku", "user", "account", "intent", "run", "operation_id", "user_code", "succeeded"]
    {
        assert!(told(word), "{word}");
    }
}

#[test]
fn defaults_are_those_of_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("defaults.yaml");
    let text = "scenario: defaults\ncompanies: { shop: { company: { company: shop, actions: { a: { steps: [{ name: s }] } } } } }\n\
                journeys: { j: { steps: [propose: { at: shop, action: a }, ask-user, confirm, track, cancel] } }\n\
                load: [closed: { agents: 1, for: 5s }, open: { rate: 1/s, for: 5s }]\n\
                faults: [{ do: duplicate }, { do: refuse }, { do: { crash: { point: reply.before } } }, { do: backend-timeout }]\n";
    std::fs::write(&path, text).unwrap();
    let plan = load(&path, &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"));
    insta::assert_snapshot!(resolved_yaml(&plan), @r#"
    # A resolved scenario: defaults filled in, profiles written out. Running it repeats the run.
    scenario: defaults
    seed: 1
    tls: "off"
    companies:
      shop:
        company:
          company: shop
          title: Shop 1
          domain: shop-1.example
          speaks:
          - operations
          operations_version: "1"
          sessions:
            dpop-0.2:
              proof_window: 1m
              token_lifetime: 1h
              operations_resource: false
          answers:
            latency:
              log-normal:
                median: 2ms
                p99: 20ms
            answer_within: 3s
            retry_after: 1s
          proposals:
            lifetime: 15m
            revise:
              before_approval: 0%
              after:
                uniform:
                  from: 0s
                  to: 300ms
              during_confirm: 0%
          store:
            sync: each-write
            keep_final: 10m
          backend:
            latency: 20ms
            timeout: 3s
            ask_again: 1s
          actions:
            a:
              operation: "yes"
              without_extension: refuse
              approval: user
              signed_in: "no"
              price: 0.00 USD
              steps:
              - name: s
                fail: 0%
              on_partial: report
          defects: []
        count: 1
    agents:
      operators: 1
      without_extension: 0
      users: 100
      session_mode: dpop-0.2
      operations_version: "1"
      request_timeout: 5s
      retry:
        first: 200ms
        factor: 2.0
        jitter: 50%
        longest: 5s
      defects: []
    journeys:
      j:
        weight: 1
        steps:
        - propose:
            at: shop
            action: a
        - ask-user:
            approve: 100%
            decline: 0%
            other_terms: 0%
            withdraw: 0%
            withdraw_after:
              uniform:
                from: 0s
                to: 200ms
            after: 0s
        - confirm:
            copies: 1
            by: user
        - track:
            until: final
        - cancel:
            after: 0s
    load:
    - closed:
        stages:
        - agents: 1
          for: 5s
        think: 1s
        warm_up: 0s
    - open:
        arrivals: poisson
        stages:
        - rate: 1/s
          for: 5s
        warm_up: 0s
        in_flight: 1000
        when_full: queue
    faults:
    - do:
        duplicate:
          after: 5ms
      id: F1
      chance: 100%
    - do:
        refuse:
          status: 503
      id: F2
      chance: 100%
    - do:
        crash:
          point: reply.before
          down_for: 1s
      id: F3
      chance: 100%
    - do:
        backend-timeout:
          effect: done
      id: F4
      chance: 100%
    network:
      latency: 0s
      loss: 0%
      duplicate: 0%
      partitions: []
    settle: 30s
    invariants: all
    expect:
      must: []
      may: []
    reach: []
    thresholds: []
    "#);
}
