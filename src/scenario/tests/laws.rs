//! What holds for every value, not only for those of the shipped files.

use proptest::prelude::*;

use super::*;
use crate::plan::{Distribution, Figure};

/// A small scenario with these texts put in.
fn scenario(settle: &str, chance: &str, price: &str, think: &str, summary: &str) -> String {
    format!(
        "scenario: law\ncompanies:\n  shop:\n    company: {{ company: shop, actions: {{ exchange: {{ price: {price}, \
         summary: {summary}, steps: [{{ name: charge }}] }} }} }}\njourneys: {{ a: {{ in_flight: 3, steps: [propose: {{ at: shop, \
         action: exchange }}, ask-user, confirm, track] }} }}\nload: [closed: {{ agents: 1, think: {think}, for: 5s }}]\n\
         faults: [{{ do: reset, chance: {chance} }}]\nsettle: {settle}\n"
    )
}

/// The plan of a scenario in a folder of its own.
fn plan(text: &str) -> Plan {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("law.yaml");
    std::fs::write(&path, text).unwrap();
    load(&path, &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_resolved_scenario_keeps_every_value(
        settle in 0u64..8_000_000_000_000_000,
        percent in 0.000_001f64..100.0,
        price in 0u64..10_000_000,
        more in 0u64..10_000_000,
        median in 1u64..10_000_000_000,
        times in 1u64..100_000,
        summary in "[[^{}\\p{C}]\n\t\x07]{0,60}",
    ) {
        let text = scenario(
            &format!("{settle}ns"),
            &format!("{percent}%"),
            &format!("{{ uniform: {{ from: {0}.{1:02} EUR, to: {2}.{1:02} EUR }} }}", price / 100, price % 100, (price + more * 100) / 100),
            &format!("{{ log-normal: {{ median: {median}ns, p99: {}ns }} }}", median * times),
            &serde_json::to_string(&summary).unwrap(),
        );
        let first = plan(&text);
        prop_assert_eq!(first.settle.as_nanos(), u128::from(settle));
        prop_assert_eq!(first.companies[0].actions["exchange"].summary.as_deref(), Some(summary.as_str()));
        let again = plan(&resolved_yaml(&first));
        prop_assert_eq!(format!("{again:?}"), format!("{first:?}"));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "(?s).{0,200}") {
        let _ = said("scenarios/any.yaml", format!("scenario: a\n{text}").as_bytes());
    }

    #[test]
    fn no_text_makes_the_reader_of_targets_panic(
        url in "[a-z{}:/.?#@\\[\\]~ é]{0,40}",
        word in "(?s).{0,40}",
    ) {
        let quoted = serde_json::to_string(&url).unwrap();
        let word = serde_json::to_string(&word).unwrap();
        let text = format!(
            "target: a\ndomain: {word}\nconnect_to: {{ {word}: {word} }}\nca: {word}\noperator: {{ client_id: {quoted}, key: {word}, \
             key_id: a }}\nactions: {{ a: {{ before: [{{ get: {quoted}, take: {{ {word}: {word} }} }}], propose: {{ post: {quoted}, \
             body: {quoted} }} }} }}\nhooks: {{ revise: {{ post: {quoted} }} }}\n"
        );
        let _ = said("interop/any.yaml", text.as_bytes());
        let _ = said("interop/any.yaml", format!("target: a\n{url}").as_bytes());
    }

    #[test]
    fn pieces_of_a_text_make_the_text(text in "[a-z{}._ é]{0,30}") {
        let whole: String = crate::plan::pieces(&text)
            .map(|piece| match piece {
                crate::plan::Piece::Text(text) => text.to_owned(),
                crate::plan::Piece::Placeholder(name) => format!("{{{name}}}"),
            })
            .collect();
        prop_assert_eq!(whole, text);
    }

    #[test]
    fn no_text_of_yaml_marks_makes_the_reader_panic(text in "[a-c:\\- \\[\\]{}&*!|>#%,?'\"\n]{0,80}") {
        let _ = said("scenarios/any.yaml", format!("company: a\nactions: {text}").as_bytes());
    }
}

#[test]
fn durations_are_read_as_people_write_them() {
    let read = |text: &str| plan(&scenario(text, "1%", "1.00 USD", "1s", "x")).settle.as_millis();
    let cases = [
        ("250ms", 250),
        ("3s", 3_000),
        ("5m", 300_000),
        ("1h", 3_600_000),
        ("1m30s", 90_000),
        ("1.5s", 1_500),
        ("2d", 172_800_000),
    ];
    for (text, milliseconds) in cases {
        assert_eq!(read(text), milliseconds, "{text}");
    }
}

#[test]
fn a_bare_value_is_a_constant() {
    let plan = plan(&scenario("1s", "1%", "4.50 USD", "750ms", "x"));
    let crate::plan::LoadModel::Closed { think, .. } = &plan.load[0].model else { panic!("{:?}", plan.load) };
    assert_eq!(*think, Distribution::Constant(std::time::Duration::from_millis(750)));
    let price = &plan.companies[0].actions["exchange"].price;
    assert_eq!((price.from_minor, price.to_minor), (450, 450));
}

#[test]
fn what_a_group_says_is_laid_over_its_profile() {
    let text = SMALL_PROFILE_OVERLAY;
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [("sim-companies/shop.yaml", SHOP_WITH_SETTINGS), ("scenarios/a.yaml", text)] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let plan = load(&folder.path().join("scenarios/a.yaml"), &Overrides::default()).unwrap();
    let company = &plan.companies[0];
    let milliseconds = |duration: std::time::Duration| duration.as_millis();
    assert_eq!(milliseconds(company.backend.timeout), 700, "said by the group");
    assert_eq!(milliseconds(company.backend.ask_again), 222, "left to the profile");
    assert_eq!(company.backend.latency, Distribution::Constant(std::time::Duration::from_millis(9)), "replaced whole");
    assert_eq!(milliseconds(company.sessions.token_lifetime), 60_000);
    assert_eq!(milliseconds(company.sessions.proof_window), 33_000);
    assert_eq!(company.actions["exchange"].scope.as_deref(), Some("orders:write"));
    assert_eq!(company.actions["exchange"].price.to_minor, 300);
    assert_eq!(company.defects.iter().count(), 2, "a group adds to the defects of its profile");
    assert_eq!(
        plan.companies.iter().map(|company| company.name.as_str()).collect::<Vec<_>>(),
        ["shop-1", "shop-2", "shop-3"]
    );
    assert_eq!(plan.thresholds[0].limit, Figure::Rate(0.5));
}

const SHOP_WITH_SETTINGS: &str = "\
company: shop
sessions: { dpop-0.2: { proof_window: 33s } }
backend: { latency: { uniform: { from: 1ms, to: 2ms } }, timeout: 1s, ask_again: 222ms }
actions:
  exchange: { scope: orders:write, price: 1.00 USD, steps: [{ name: charge }] }
defects: [skip-revision]
";

const SMALL_PROFILE_OVERLAY: &str = "\
scenario: overlay
companies:
  first:
    profile: shop
    backend: { latency: { constant: 9ms }, timeout: 700ms }
    sessions: { dpop-0.2: { token_lifetime: 1m } }
    actions: { exchange: { price: 3.00 USD } }
    defects: [check-then-act]
  second: { profile: shop, count: 2 }
journeys: { a: { steps: [propose: { at: first, action: exchange }, walk-away] } }
load: [open: { rate: 30/m, for: 5s }]
thresholds: [throughput >= 30/m]
";
