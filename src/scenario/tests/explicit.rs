//! What a scenario says one by one: strikes of faults, journeys, Companies by number.

use super::*;

const SMALL: &str = "\
scenario: small
companies:
  shop: { profile: shop, numbers: [2, 1, 7] }
journeys:
  exchange: { steps: [propose: { at: shop, action: exchange }, ask-user, confirm, track] }
load:
  - listed: { for: 5s, journeys: [{ journey: exchange, user: 7, at: 1s }, { journey: exchange, intent: i9, user: 7, number: 5, company: shop-7, at: 5s }] }
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
    ("[2, 1, 7]", "[]", "3: 0 numbers; expected 1 to 100"),
    ("[2, 1, 7]", "[2, 2]", "3: `numbers` are 1 to 10000, each once; expected others"),
    (
        "numbers: [2, 1, 7]",
        "count: 2, numbers: [1]",
        "3: `count` beside `numbers`, which says it; expected one of them",
    ),
    (
        "numbers: [2, 1, 7] }",
        "numbers: [2, 1, 7] }\n  other: { profile: shop, numbers: [7] }",
        "3: two Companies are called `shop-7`; expected one",
    ),
    ("journey: exchange, user: 7", "journey: exchang, user: 7", "7: unknown journey `exchang`; expected `exchange`"),
    ("user: 7, at: 1s", "user: 101, at: 1s", "7: `user` is 101; expected 1 to 100 (`agents.users`)"),
    ("at: 5s", "at: 6s", "7: the load has ended by 6s; expected at most 5s (`for`)"),
    ("for: 5s", "for: 0s", "7: `for` has to be more than 0"),
    ("for: 5s, ", "", "7: key `for` is missing"),
    ("intent: i9", "intent: i0-0", "7: two journeys have the intent `i0-0`; expected one each"),
    ("intent: i9", "intent: i.9", "7: `i.9` is no name of an intent; expected letters, digits and dashes, 60 at most"),
    ("number: 5", "number: 1", "7: two journeys of User 7 have the number 1; expected one each"),
    ("number: 5", "number: 0", "7: `number` is 0; expected at least 1"),
    (
        "company: shop-7",
        "company: shop-8",
        "7: unknown Company of `shop` `shop-8`; expected one of shop-2, shop-1, shop-7",
    ),
    (
        "{ journey: exchange, user: 7, at: 1s }, ",
        "{ journey: exchange, user: 7, at: 1s, think: 1s }, ",
        "7: unknown key `think`",
    ),
    ("id: F7", "id: F 7", "9: `F 7` is no ID of a fault; expected letters, digits, dots and dashes, 20 at most"),
    (
        "id: F7",
        "id: network-loss",
        "9: `network-loss` is kept for what `network` does; expected an ID that does not begin with `network-`",
    ),
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
    (
        "key: shop-2/operation",
        "key: shop-3/operation",
        "12: unknown Company `shop-3`; expected one of shop-2, shop-1, shop-7",
    ),
    ("{ key: shop-2,", "{ key: shop-3,", "13: unknown Company `shop-3`; expected one of shop-2, shop-1, shop-7"),
    ("{ key: op_1/charge }", "{ key: a }, { key: a }", "14: this strike is listed twice; expected it once"),
    ("{ key: op_1/charge }", "{ kee: a }", "14: unknown key `kee`"),
];

#[test]
fn mistakes_are_told_with_their_place() {
    let mut wrong = Vec::new();
    for (old, new, expected) in MISTAKES {
        let said = said("scenarios/small.yaml", changed(old, new).as_bytes());
        let (line, message) = expected.split_once(": ").unwrap();
        let first = said.lines().next().unwrap_or_default();
        let placed = first.strip_prefix(&format!("scenarios/small.yaml:{line}:"));
        if !placed.is_some_and(|rest| rest.contains(&format!(": {message}"))) {
            wrong.push(format!("{new}: {first}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_listed_is_written_and_read_again() {
    let first = plan(SMALL);
    let again = plan(&resolved_yaml(&first));
    assert_eq!(format!("{again:?}"), format!("{first:?}"));
    let ids: Vec<&str> = first.faults.iter().map(|fault| fault.id.as_str()).collect();
    assert_eq!(ids, ["F7", "F2", "F3", "F4", "F5", "F6"]);
    let names: Vec<&str> = first.companies.iter().map(|company| company.domain.as_str()).collect();
    assert_eq!(names, ["shop-2.example", "shop-1.example", "shop-7.example"]);
    let crate::plan::LoadModel::Listed { journeys, .. } = &first.load[0].model else { panic!("{:?}", first.load) };
    assert_eq!((journeys[0].intent.as_str(), journeys[0].number, journeys[0].company.as_deref()), ("i0-0", 1, None));
    assert_eq!((journeys[1].intent.as_str(), journeys[1].number), ("i9", 5));
    let strikes = first.faults[2].strikes.as_deref().unwrap();
    assert_eq!((strikes[0].second_answers, strikes[0].attempt), (Some(true), 0));
}
