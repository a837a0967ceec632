//! Files that are wrong as a whole, Company files, and files that somebody might want to hurt with.

use super::*;

#[test]
fn empty_file() {
    insta::assert_snapshot!(said("a.yaml", b""), @"a.yaml:1:1: the file is empty; expected a key `scenario:`, `company:` or `target:`");
}

#[test]
fn file_of_comments() {
    insta::assert_snapshot!(said("a.yaml", b"# nothing\n"), @r"
    a.yaml:1:1: the file is empty; expected a key `scenario:`, `company:` or `target:`
      1 | # nothing
        | ^
    ");
}

#[test]
fn file_of_one_word() {
    insta::assert_snapshot!(said("a.yaml", b"hello"), @r"
    a.yaml:1:1: expected `scenario:`, `company:` or `target:` as the first key, found `hello`
      1 | hello
        | ^
    ");
}

#[test]
fn binary_garbage() {
    insta::assert_snapshot!(said("a.yaml", b"\x7fELF\x02\x01\x01\x00\x00"), @r"
    a.yaml:1:1: this is not valid YAML: unexpected character: `\u{7f}'
      1 |  ELF
        | ^
    ");
}

#[test]
fn not_utf_8() {
    insta::assert_snapshot!(said("a.yaml", b"scenario: a\nseed: \xff\xfe\n"), @"a.yaml:2:1: this is not UTF-8; expected a YAML file in UTF-8");
}

#[test]
fn two_megabytes() {
    insta::assert_snapshot!(said("a.yaml", &b"seed: 1\n".repeat(250_000)), @"a.yaml: the file is too large; expected at most 1024 KiB");
}

#[test]
fn a_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("a.yaml")).unwrap();
    insta::assert_snapshot!(told_about(folder.path(), "a.yaml"), @"a.yaml: this is a folder; expected a YAML file");
}

#[test]
fn no_such_file() {
    let folder = tempfile::tempdir().unwrap();
    insta::assert_snapshot!(told_about(folder.path(), "a.yaml"), @"a.yaml: there is no such file");
}

#[test]
fn alias_bomb() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let below = level - 1;
        text += &format!("a{level}: &a{level} [{}]\n", vec![format!("*a{below}"); 10].join(", "));
    }
    insta::assert_snapshot!(said("a.yaml", text.as_bytes()), @r"
    a.yaml:5:45: too large or too deep: expected at most 100000 values, aliases counted each time, and 24 levels
      5 | a4: &a4 [*a3, *a3, *a3, *a3, *a3, *a3, *a3, *a3, *a3, *a3]
        |                                             ^
    ");
}

#[test]
fn deep_nesting() {
    let text = format!("scenario: {}", "[".repeat(200_000));
    assert!(said("a.yaml", text.as_bytes()).starts_with("a.yaml:1:"));
    let mut text = format!("a0: &a0 {}x{}\n", "[".repeat(20), "]".repeat(20));
    for level in 1..60 {
        let (open, close) = ("[".repeat(20), "]".repeat(20));
        text += &format!("a{level}: &a{level} {open}*a{}{close}\n", level - 1);
    }
    assert!(said("a.yaml", text.as_bytes()).starts_with("a.yaml:"));
    let text: String = (0..3_000).map(|level| format!("{}a:\n", " ".repeat(level.min(300)))).collect();
    assert!(said("a.yaml", text.as_bytes()).starts_with("a.yaml:"));
}

#[test]
fn company_file_in_place_of_a_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.yaml");
    std::fs::write(&path, SHOP).unwrap();
    let problems = load(&path, &Overrides::default()).unwrap_err();
    let told = problems.to_string().replace(&format!("{}/", folder.path().display()), "");
    insta::assert_snapshot!(told, @r"
    a.yaml:1:1: this file begins with `company:`; expected a scenario (`scenario:`)
      1 | company: shop
        | ^
    ");
}

/// What is said about the Company file of these tests with `old` replaced.
fn told_of_company(old: &str, new: &str) -> String {
    assert!(SHOP.contains(old), "{old}");
    said("sim-companies/other.yaml", SHOP.replacen(old, new, 1).as_bytes())
}

#[test]
fn company_mistakes() {
    let steps = "steps: [{ name: take-back, undo: give-back }, { name: charge }]";
    let cases = [
        ("actions:", "actons:"),
        (steps, "steps: []"),
        (steps, "price: 1.00 USD"),
        ("name: charge", "nam: charge"),
        ("name: charge", "name: take-back"),
        (steps, &format!("{steps}\n    can_stop_until: charg")),
        (steps, &format!("{steps}\n    summary: Exchange {{itm}} for {{price}}")),
        (steps, &format!("{steps}\n    terms: {{ a: [{{ b: '{{orders}}' }}] }}")),
        (steps, &format!("{steps}\n    price: {{ uniform: {{ from: 5.00 USD, to: 9.00 EUR }} }}")),
        (steps, &format!("{steps}\n    price: 5 dollars")),
        (steps, &format!("{steps}\n    operation: maybe")),
        (steps, &format!("{steps}\n    scope: two words")),
        (steps, &format!("{steps}\n    signed_in: yes")),
        ("actions:", "domain: shop.com\nactions:"),
        ("actions:", "domain: agent-1.example\nactions:"),
        ("actions:", "sessions: { dpop-0.3: {} }\nactions:"),
        ("actions:", "answers: { latency: { log-normal: { median: 40ms, p99: 4ms } } }\nactions:"),
        ("actions:", "backend: { latency: { pareto: { min: 1ms, shape: 0, max: 1s } } }\nactions:"),
        ("actions:", "proposals: { lifetime: 0s }\nactions:"),
        ("actions:", "speaks: []\nactions:"),
        ("actions:\n  exchange:", "sessions: dpop-0.1\nactions:\n  exchange:\n    signed_in: yes\n    scope: a"),
    ];
    let told: Vec<String> = cases.iter().map(|(old, new)| told_of_company(old, new)).collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    sim-companies/other.yaml:2:1: unknown key `actons`; expected one of company, title, domain, speaks, operations_version, sessions, answers, proposals, store, backend, capacity, actions, defects; did you mean `actions`?
      2 | actons:
        | ^
    sim-companies/other.yaml:4:12: action `exchange` has no `steps`; expected at least one
      4 |     steps: []
        |            ^
    sim-companies/other.yaml:3:3: action `exchange` has no `steps`; expected at least one
      3 |   exchange:
        |   ^
    sim-companies/other.yaml:4:53: unknown key `nam`; expected one of name, undo, latency, fail, phrase; did you mean `name`?
      4 |     steps: [{ name: take-back, undo: give-back }, { nam: charge }]
        |                                                     ^
    sim-companies/other.yaml:4:59: `take-back` names two steps or undos of this action; expected a name each
      4 |     steps: [{ name: take-back, undo: give-back }, { name: take-back }]
        |                                                           ^
    sim-companies/other.yaml:5:21: unknown step `charg`; expected one of take-back, charge; did you mean `charge`?
      5 |     can_stop_until: charg
        |                     ^
    sim-companies/other.yaml:5:14: unknown placeholder `{itm}`; expected one of order, item, item_id, replacement, sku, price, customer, city, revision; did you mean `item`?
      5 |     summary: Exchange {itm} for {price}
        |              ^
    sim-companies/other.yaml:5:12: unknown placeholder `{orders}`; expected one of order, item, item_id, replacement, sku, price, customer, city, revision; did you mean `order`?
      5 |     terms: { a: [{ b: '{orders}' }] }
        |            ^
    sim-companies/other.yaml:5:12: `from` and `to` have different currencies; expected the same
      5 |     price: { uniform: { from: 5.00 USD, to: 9.00 EUR } }
        |            ^
    sim-companies/other.yaml:5:12: expected an amount and a currency like `5.00 USD`, found `5 dollars`
      5 |     price: 5 dollars
        |            ^
    sim-companies/other.yaml:5:16: unknown word `maybe`; expected one of yes, no
      5 |     operation: maybe
        |                ^
    sim-companies/other.yaml:5:12: `two words` is no scope; expected one word like `orders:write`
      5 |     scope: two words
        |            ^
    sim-companies/other.yaml:5:16: action `exchange` needs a sign-in, and a sign-in asks for scopes; expected a `scope` beside `signed_in: yes`
      5 |     signed_in: yes
        |                ^
    sim-companies/other.yaml:2:9: `shop.com` is no domain for a simulated Company; expected one like `shop-{n}.example`
      2 | domain: shop.com
        |         ^
    sim-companies/other.yaml:2:9: names that begin with `agent-` belong to the Agents' operators; expected another
      2 | domain: agent-1.example
        |         ^
    sim-companies/other.yaml:2:13: unknown key `dpop-0.3`; expected one of dpop-0.1, dpop-0.2; did you mean `dpop-0.1`?
      2 | sessions: { dpop-0.3: {} }
        |             ^
    sim-companies/other.yaml:2:21: `median` is more than `p99`
      2 | answers: { latency: { log-normal: { median: 40ms, p99: 4ms } } }
        |                     ^
    sim-companies/other.yaml:2:21: `shape` has to be more than 0
      2 | backend: { latency: { pareto: { min: 1ms, shape: 0, max: 1s } } }
        |                     ^
    sim-companies/other.yaml:2:24: `lifetime` has to be more than 0
      2 | proposals: { lifetime: 0s }
        |                        ^
    sim-companies/other.yaml:2:9: `speaks` is empty; expected `[operations]`
      2 | speaks: []
        |         ^
    sim-companies/other.yaml:2:11: an action has `signed_in: yes`, and sign-in of draft 0.1 is not simulated; expected `dpop-0.2`
      2 | sessions: dpop-0.1
        |           ^
    ");
}

#[test]
fn mistakes_of_one_pass_are_told_together() {
    let text = "\
scenario: many
sed: 1
companies:
  shop: { profile: shop, cuont: 2 }
agents: { users: ten, operatrs: 2 }
journeys: {}
load: [{ closed: { agents: x, for: 5 } }]
settle: 7
";
    insta::assert_snapshot!(said("scenarios/a.yaml", text.as_bytes()), @r"
    scenarios/a.yaml:2:1: unknown key `sed`; expected one of scenario, seed, tls, companies, agents, journeys, load, faults, network, settle, invariants, expect, reach, thresholds; did you mean `seed`?
      2 | sed: 1
        | ^
    scenarios/a.yaml:4:26: unknown key `cuont`; expected one of profile, company, count, title, domain, speaks, operations_version, sessions, answers, proposals, store, backend, capacity, actions, defects; did you mean `count`?
      4 |   shop: { profile: shop, cuont: 2 }
        |                          ^
    scenarios/a.yaml:5:18: expected a whole number, found `ten`
      5 | agents: { users: ten, operatrs: 2 }
        |                  ^
    scenarios/a.yaml:5:23: unknown key `operatrs`; expected one of operators, without_extension, users, session_mode, operations_version, request_timeout, retry, scopes, defects; did you mean `operators`?
      5 | agents: { users: ten, operatrs: 2 }
        |                       ^
    scenarios/a.yaml:7:28: expected a whole number, found `x`
      7 | load: [{ closed: { agents: x, for: 5 } }]
        |                            ^
    scenarios/a.yaml:7:36: `5` lacks a unit; expected a duration like `250ms`, `3s`, `5m`, `1h` or `1m30s`
      7 | load: [{ closed: { agents: x, for: 5 } }]
        |                                    ^
    scenarios/a.yaml:8:9: `7` lacks a unit; expected a duration like `250ms`, `3s`, `5m`, `1h` or `1m30s`
      8 | settle: 7
        |         ^
    ");
}

#[test]
fn a_mistake_in_a_profile_is_told_with_the_profiles_place() {
    let folder = tempfile::tempdir().unwrap();
    for sub in ["scenarios", "sim-companies"] {
        std::fs::create_dir(folder.path().join(sub)).unwrap();
    }
    std::fs::write(
        folder.path().join("sim-companies/shop.yaml"),
        SHOP.replace("name: charge", "name: charge, fial: 5%"),
    )
    .unwrap();
    let text = "scenario: a\ncompanies: { shop: { profile: shop } }\njourneys: { a: { steps: [propose: { at: shop, action: exchange }] } }\nload: [closed: { agents: 1, for: 5s }]\n";
    std::fs::write(folder.path().join("scenarios/a.yaml"), text).unwrap();
    insta::assert_snapshot!(told_about(folder.path(), "scenarios/a.yaml"), @r"
    sim-companies/shop.yaml:4:67: unknown key `fial`; expected one of name, undo, latency, fail, phrase; did you mean `fail`?
      4 |     steps: [{ name: take-back, undo: give-back }, { name: charge, fial: 5% }]
        |                                                                   ^
    ");
}

#[test]
fn very_many_mistakes_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.yaml");
    for line in ["seed: 1\n".to_owned(), (0..20_000).map(|number| format!("key{number}: 1\n")).collect()] {
        std::fs::write(&path, format!("scenario: many\n{}", line.repeat(20_000 / line.lines().count()))).unwrap();
        let problems = validate(&path, &Overrides::default()).unwrap_err();
        assert_eq!(problems.list().len(), crate::limits::FILE_MISTAKES_MAX);
    }
}
