//! What a scenario says one by one: strikes of faults, journeys, Companies by number.

use super::*;

const SMALL: &str = "\
scenario: small
companies:
  shop: { profile: shop, count: 2 }
journeys:
  exchange: { steps: [propose: { at: shop, action: exchange }, ask-user, confirm, track] }
load:
  - closed: { agents: 2, for: 5s }
faults:
  - { do: lose-answer, id: F7, strikes: [{ request: confirm, key: shop-1/operation/op_1, attempt: 2 }] }
  - { do: { delay: 1s }, strikes: [{ request: propose, key: i0-0-1, time: 20ms }] }
  - { do: { duplicate: {} }, strikes: [{ request: read, key: a, time: 1ms, second_answers: true }] }
  - { do: { crash: { point: reply.before } }, strikes: [{ key: shop-2/operation/op_1, time: 3s }] }
  - { do: { restart: { every: 10s } }, strikes: [{ key: shop-2, attempt: 1, time: 12s }] }
  - { do: backend-fail, strikes: [{ key: op_1/charge }] }
";

/// The small scenario with `old` replaced.
fn changed(old: &str, new: &str) -> String {
    assert!(SMALL.contains(old), "{old}");
    SMALL.replacen(old, new, 1)
}

fn plan(text: &str) -> Plan {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sim-companies")).unwrap();
    std::fs::write(folder.path().join("sim-companies/shop.yaml"), SHOP).unwrap();
    std::fs::create_dir(folder.path().join("scenarios")).unwrap();
    let path = folder.path().join("scenarios/small.yaml");
    std::fs::write(&path, text).unwrap();
    load(&path, &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Each mistake: what is replaced, by what, and the line that is named with what is said of it first.
const MISTAKES: &[(&str, &str, &str)] = &[
    ("id: F7", "id: F 7", "9: `F 7` is no ID of a fault; expected letters, digits, dots and dashes, 20 at most"),
    ("id: F7", "id: F2", "10: two faults have the ID `F2`; expected one each"),
    ("id: F7,", "chance: 5%,", "9: `chance` beside `strikes`, which says it all; expected one of them"),
    ("id: F7,", "on: [confirm],", "9: `on` beside `strikes`, which says it all; expected one of them"),
    ("[{ key: op_1/charge }]", "[]", "14: `strikes` is empty and strikes nothing; list strikes or take the fault out"),
    ("request: confirm, ", "", "9: `lose-answer` strikes requests; expected `request`, the kind of request"),
    ("request: confirm", "request: backend", "9: `lose-answer` does not strike requests to the backend"),
    ("request: confirm", "request: confirms", "9: unknown kind of request `confirms`"),
    ("{ key: op_1/charge }", "{ request: read, key: a }", "14: `backend-fail` strikes no requests"),
    ("attempt: 2", "time: 1s", "9: `lose-answer` takes no time; expected no `time`"),
    ("attempt: 2", "second_answers: true", "9: `lose-answer` makes no second copy"),
    ("key: shop-2/operation/op_1,", "key: shop-2,", "12: `shop-2` is no ID of an action"),
    ("key: shop-2/operation", "key: shop-3/operation", "12: unknown Company `shop-3`; expected one of shop-1, shop-2"),
    ("{ key: shop-2,", "{ key: shop-3,", "13: unknown Company `shop-3`; expected one of shop-1, shop-2"),
    ("{ key: op_1/charge }", "{ key: a }, { key: a }", "14: this strike is listed twice; expected it once"),
    ("{ key: op_1/charge }", "{ kee: a }", "14: unknown key `kee`"),
];

#[test]
fn mistakes_are_told_with_their_place() {
    for (old, new, expected) in MISTAKES {
        let said = said("scenarios/small.yaml", changed(old, new).as_bytes());
        let (line, message) = expected.split_once(": ").unwrap();
        let first = said.lines().next().unwrap_or_default();
        let placed = first.strip_prefix(&format!("scenarios/small.yaml:{line}:"));
        assert!(placed.is_some_and(|rest| rest.contains(&format!(": {message}"))), "{new}: {said}");
    }
}

#[test]
fn what_is_listed_is_written_and_read_again() {
    let first = plan(SMALL);
    let again = plan(&resolved_yaml(&first));
    assert_eq!(format!("{again:?}"), format!("{first:?}"));
    let ids: Vec<&str> = first.faults.iter().map(|fault| fault.id.as_str()).collect();
    assert_eq!(ids, ["F7", "F2", "F3", "F4", "F5", "F6"]);
    let strikes = first.faults[2].strikes.as_deref().unwrap();
    assert_eq!((strikes[0].second_answers, strikes[0].attempt), (Some(true), 0));
}
