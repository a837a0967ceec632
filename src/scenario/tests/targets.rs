//! Target files: every key, and each kind of mistake with what is said about it.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::plan::{Distribution, Hook, Performed};
use crate::protocol::SessionMode;

/// A target file without a mistake that uses every key but those that exclude each other.
const TARGET: &str = "\
target: manzanita
domain: manzanita.example
connect_to: 127.0.0.1:18443
ca: state/ca.pem
session_mode: dpop-0.2
clock_error: 2s
operator: { client_id: https://atlas.example/agent.json, key: state/agent.pem, key_id: key-1, extension: no }
sign_in: { scopes: [orders:read, orders:write], account: '{user}@users.example' }
actions:
  exchange:
    before: [{ get: /api/orders, take: { order_id: /orders/0/order_id, line: /orders/0/lines/0 } }]
    propose: { post: '/api/orders/{order_id}/exchanges', body: { line: '{line}', note: 'for {fake.name}' } }
    change: { put: '/api/exchanges/{operation_id}', body: [{ sku: '{sku}' }] }
    resource: https://manzanita.example/api
  gift-wrap: { propose: { post: '/api/wraps' }, approval: standing-permission }
hooks:
  approve_sign_in: { post: 'http://127.0.0.1:18444/approve', body: { code: '{user_code}', account: '{account}' } }
  revise: { post: 'http://127.0.0.1:18444/revise/{operation_id}' }
  settle: { post: 'http://127.0.0.1:18444/settle', body: { id: '{operation_id}', ok: '{succeeded}' }, actions: [exchange], after: 500ms, succeed: 90% }
  performed: { post: 'https://127.0.0.1:18444/performed', body: { id: '{operation_id}' }, count: /performed }
known: [duplicate-proposal]
";

/// A folder with that target file, the files that it names, a profile and a scenario.
pub(super) fn folder(target: &str, scenario: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let certified = rcgen::generate_simple_self_signed(["manzanita.example".to_owned()]).unwrap();
    let files = [
        ("interop/target.yaml", target),
        ("interop/state/ca.pem", &certified.cert.pem()),
        ("interop/state/agent.pem", &certified.signing_key.serialize_pem()),
        ("sim-companies/shop.yaml", SHOP),
        ("scenarios/small.yaml", scenario),
    ];
    for (name, content) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    folder
}

/// The target of a file in a folder of its own.
pub(super) fn target(text: &str) -> Target {
    let folder = folder(text, "");
    load_target(&folder.path().join("interop/target.yaml")).unwrap_or_else(|problems| panic!("{problems}"))
}

/// What is said about the target file of these tests with `old` replaced.
fn told(old: &str, new: &str) -> String {
    assert!(TARGET.contains(old), "{old}");
    let folder = folder(&TARGET.replacen(old, new, 1), "");
    told_about(folder.path(), "interop/target.yaml")
}

#[test]
fn every_key_comes_through() {
    let target = target(TARGET);
    assert_eq!((target.name.as_str(), target.domain.as_str()), ("manzanita", "manzanita.example"));
    assert_eq!(target.connect_to.every, Some("127.0.0.1:18443".parse().unwrap()));
    let ca = target.ca.unwrap();
    assert_eq!(ca.path, "state/ca.pem");
    assert!(ca.pem.starts_with("-----BEGIN CERTIFICATE-----"));
    assert_eq!(target.session_mode, Some(SessionMode::Dpop02));
    assert_eq!(target.clock_error, Duration::from_secs(2));
    let operator = target.operator.unwrap();
    assert_eq!((operator.client_id.as_str(), operator.key_id.as_str()), ("https://atlas.example/agent.json", "key-1"));
    assert!(operator.key_pem.starts_with("-----BEGIN PRIVATE KEY-----"));
    assert!(!operator.lists_operations);
    let sign_in = target.sign_in.unwrap();
    assert_eq!(
        (sign_in.scopes.join(" ").as_str(), sign_in.account.as_str()),
        ("orders:read orders:write", "{user}@users.example")
    );

    let exchange = &target.actions["exchange"];
    assert_eq!(
        (exchange.before[0].request.method.as_str(), exchange.before[0].request.url.as_str()),
        ("GET", "/api/orders")
    );
    let taken: Vec<_> = exchange.before[0].take.iter().map(|(name, place)| (name.as_str(), place.as_str())).collect();
    assert_eq!(taken, [("order_id", "/orders/0/order_id"), ("line", "/orders/0/lines/0")]);
    assert_eq!(exchange.propose.body, Some(json!({ "line": "{line}", "note": "for {fake.name}" })));
    let change = exchange.change.as_ref().unwrap();
    assert_eq!((change.method.as_str(), change.url.as_str()), ("PUT", "/api/exchanges/{operation_id}"));
    assert_eq!(exchange.resource.as_deref(), Some("https://manzanita.example/api"));
    assert!(exchange.user_approval_required && !target.actions["gift-wrap"].user_approval_required);
    assert_eq!(target.actions["gift-wrap"].propose.body, None);

    let hook = |path: &str, body| Hook { url: format!("http://127.0.0.1:18444/{path}"), method: "POST".into(), body };
    let code = json!({ "code": "{user_code}", "account": "{account}" });
    assert_eq!(target.hooks.approve_sign_in, Some(hook("approve", Some(code))));
    assert_eq!(target.hooks.revise, Some(hook("revise/{operation_id}", None)));
    let settle = target.hooks.settle.unwrap();
    assert_eq!(settle.after, Distribution::Constant(Duration::from_millis(500)));
    assert!(settle.actions.contains("exchange") && settle.actions.len() == 1 && settle.succeed == 0.9);
    assert!(matches!(target.hooks.performed, Some(Performed::EachOperation { count, .. }) if count == "/performed"));
    assert!(target.known.contains("duplicate-proposal") && target.known.len() == 1);
}

#[test]
fn what_is_left_out_has_its_default() {
    let target = target("target: a\ndomain: a.example\nactions: { b: { propose: { post: /b } } }\n");
    assert_eq!((target.connect_to.every, target.connect_to.hosts.len()), (None, 0));
    assert_eq!(target.clock_error, Duration::from_secs(1));
    assert!(target.ca.is_none() && target.session_mode.is_none() && target.operator.is_none());
    assert!(target.operators_port.is_none() && target.sign_in.is_none() && target.known.is_empty());
    assert!(target.actions["b"].user_approval_required && target.actions["b"].before.is_empty());
    assert_eq!(target.hooks, crate::plan::Hooks::default());
}

#[test]
fn hosts_and_totals() {
    let text = TARGET
        .replacen(
            "connect_to: 127.0.0.1:18443",
            "connect_to: { manzanita.example: '[::1]:18443', '*': 127.0.0.1:9 }",
            1,
        )
        .replacen(", body: { id: '{operation_id}' }, count: /performed", ", performed: /total, operations: /a~1b", 1);
    let target = target(&text);
    assert_eq!(target.connect_to.hosts["manzanita.example"], "[::1]:18443".parse().unwrap());
    assert_eq!(target.connect_to.every, Some("127.0.0.1:9".parse().unwrap()));
    let Some(Performed::Totals { performed, operations, hook }) = target.hooks.performed else { panic!() };
    assert_eq!((performed.as_str(), operations.as_str(), hook.body), ("/total", "/a~1b", None));
}

#[test]
fn a_resolved_target_gives_the_same_target_again() {
    let totals = TARGET
        .replacen(", body: { id: '{operation_id}' }, count: /performed", ", performed: /total, operations: /a~1b", 1)
        .replacen("127.0.0.1:18443", "{ manzanita.example: '[::1]:18443', '*': 127.0.0.1:9 }", 1);
    for text in [
        TARGET,
        &totals,
        "target: a\ndomain: a.example\noperators_port: 9\nactions: { b: { propose: { delete: /b } } }\n",
    ] {
        let folder = folder(text, "");
        let path = folder.path().join("interop/target.yaml");
        let target = load_target(&path).unwrap();
        let written = resolved_target_yaml(&target);
        assert!(!written.contains("BEGIN"), "{written}");
        std::fs::write(&path, &written).unwrap();
        let again = load_target(&path).unwrap_or_else(|problems| panic!("{problems}\n{written}"));
        assert_eq!(format!("{again:#?}"), format!("{target:#?}"));
        assert_eq!(resolved_target_yaml(&again), written);
    }
}

#[test]
fn a_scenario_is_no_target() {
    let folder = folder(TARGET, "scenario: small\n");
    let problems = load_target(&folder.path().join("scenarios/small.yaml")).unwrap_err();
    insta::assert_snapshot!(problems.to_string().replace(&format!("{}/", folder.path().display()), ""), @r"
    scenarios/small.yaml:1:1: this file begins with `scenario:`; expected a target (`target:`)
      1 | scenario: small
        | ^
    ");
    let problems = load(&folder.path().join("interop/target.yaml"), &Overrides::default()).unwrap_err();
    insta::assert_snapshot!(problems.list()[0].message, @"this file begins with `target:`; expected a scenario (`scenario:`)");
}

#[test]
fn the_run_may_stand_in_every_text() {
    let text = TARGET
        .replacen("'{user}@users.example'", "'{user}.{run}@users.example'", 1)
        .replacen("/exchanges'", "/exchanges?by={run}'", 1)
        .replacen("for {fake.name}", "for {fake.name} of {run}", 1)
        .replacen("/revise/{operation_id}", "/{run}/revise/{operation_id}", 1)
        .replacen(
            ", body: { id: '{operation_id}' }, count: /performed",
            ", body: '{run}', performed: /a, operations: /b",
            1,
        );
    assert_eq!(text.matches("{run}").count(), 5);
    let target = target(&text);
    assert_eq!(target.sign_in.unwrap().account, "{user}.{run}@users.example");
}

#[test]
fn a_map_with_an_empty_value_may_be_sent() {
    let target = target(&TARGET.replacen("line: '{line}'", "line: { item_id: null }, '{user}': '{user}'", 1));
    let body = target.actions["exchange"].propose.body.clone().unwrap();
    assert_eq!(body["line"], json!({ "item_id": null }));
}

/// What is said about each of these changes to the target file of these tests.
fn all_told(cases: &[(&str, &str)]) -> String {
    let told: Vec<String> = cases.iter().map(|(old, new)| told(old, new)).collect();
    told.join("\n")
}

#[test]
fn mistakes_in_keys() {
    insta::assert_snapshot!(all_told(&[
        ("clock_error: 2s", "clok_error: 2s"),
        ("key_id: key-1", "keyid: key-1"),
        ("scopes:", "scope:"),
        ("propose: { post: '/api/wraps' }", "propos: { post: '/api/wraps' }"),
        ("{ get: /api/orders,", "{ gett: /api/orders,"),
        ("  revise:", "  revize:"),
        ("succeed: 90%", "suceed: 90%"),
        ("domain: manzanita.example\n", ""),
        ("actions:\n", "acts:\n"),
    ]), @r"
    interop/target.yaml:6:1: unknown key `clok_error`; expected one of target, domain, connect_to, ca, session_mode, clock_error, operator, operators_port, sign_in, actions, hooks, known; did you mean `clock_error`?
      6 | clok_error: 2s
        | ^
    interop/target.yaml:7:80: unknown key `keyid`; expected one of client_id, key, key_id, extension; did you mean `key_id`?
      7 | operator: { client_id: https://atlas.example/agent.json, key: state/agent.pem, keyid: key-1, extensi
        |                                                                                ^
    interop/target.yaml:8:12: unknown key `scope`; expected one of scopes, account; did you mean `scopes`?
      8 | sign_in: { scope: [orders:read, orders:write], account: '{user}@users.example' }
        |            ^
    interop/target.yaml:15:16: unknown key `propos`; expected one of before, propose, change, resource, approval; did you mean `propose`?
      15 |   gift-wrap: { propos: { post: '/api/wraps' }, approval: standing-permission }
         |                ^
    interop/target.yaml:11:16: unknown key `gett`; expected one of get, post, put, patch, delete, body, take; did you mean `get`?
      11 |     before: [{ gett: /api/orders, take: { order_id: /orders/0/order_id, line: /orders/0/lines/0 } }]
         |                ^
    interop/target.yaml:18:3: unknown key `revize`; expected one of approve_sign_in, revise, settle, performed; did you mean `revise`?
      18 |   revize: { post: 'http://127.0.0.1:18444/revise/{operation_id}' }
         |   ^
    interop/target.yaml:19:138: unknown key `suceed`; expected one of get, post, put, patch, delete, body, actions, after, succeed; did you mean `succeed`?
      19 | succeeded}' }, actions: [exchange], after: 500ms, suceed: 90% }
         |                                                   ^
    interop/target.yaml:1:1: key `domain` is missing
      1 | target: manzanita
        | ^
    interop/target.yaml:9:1: unknown key `acts`; expected one of target, domain, connect_to, ca, session_mode, clock_error, operator, operators_port, sign_in, actions, hooks, known
      9 | acts:
        | ^
    ");
}

#[test]
fn mistakes_in_where_it_is() {
    insta::assert_snapshot!(all_told(&[
        ("target: manzanita", "target: The Manzanita"),
        ("domain: manzanita.example", "domain: https://manzanita.example/"),
        ("domain: manzanita.example", "domain: manzanita.example:443"),
        ("domain: manzanita.example", "domain: Manzanita.example"),
        ("domain: manzanita.example", "domain: 127.0.0.1"),
        ("domain: manzanita.example", "domain: agent-3.example"),
        ("connect_to: 127.0.0.1:18443", "connect_to: localhost:18443"),
        ("connect_to: 127.0.0.1:18443", "connect_to: 127.0.0.1"),
        ("connect_to: 127.0.0.1:18443", "connect_to: 127.0.0.1:0"),
        ("connect_to: 127.0.0.1:18443", "connect_to: 18443"),
        ("connect_to: 127.0.0.1:18443", "connect_to: [127.0.0.1:18443]"),
        ("connect_to: 127.0.0.1:18443", "connect_to: { https://a.example: 127.0.0.1:1, b.example: 127.0.0.1 }"),
        ("session_mode: dpop-0.2", "session_mode: dpop-0.3"),
        ("clock_error: 2s", "clock_error: 2"),
        ("clock_error: 2s", "clock_error: 1d"),
    ]), @r"
    interop/target.yaml:1:9: `The Manzanita` is no name of a target; expected small letters, digits and dashes between them, 60 at most
      1 | target: The Manzanita
        |         ^
    interop/target.yaml:2:9: `https://manzanita.example/` is no domain; expected a name like `shop.example`, in small letters, without scheme and port (`connect_to` says where it is)
      2 | domain: https://manzanita.example/
        |         ^
    interop/target.yaml:2:9: `manzanita.example:443` is no domain; expected a name like `shop.example`, in small letters, without scheme and port (`connect_to` says where it is)
      2 | domain: manzanita.example:443
        |         ^
    interop/target.yaml:2:9: `Manzanita.example` is no domain; expected a name like `shop.example`, in small letters, without scheme and port (`connect_to` says where it is)
      2 | domain: Manzanita.example
        |         ^
    interop/target.yaml:2:9: `127.0.0.1` is no domain; expected a name like `shop.example`, in small letters, without scheme and port (`connect_to` says where it is)
      2 | domain: 127.0.0.1
        |         ^
    interop/target.yaml:2:9: `agent-3.example` is a domain of the run's own operators; expected another
      2 | domain: agent-3.example
        |         ^
    interop/target.yaml:3:13: expected an address with a port like `127.0.0.1:18443` or `[::1]:18443`, found `localhost:18443`
      3 | connect_to: localhost:18443
        |             ^
    interop/target.yaml:3:13: expected an address with a port like `127.0.0.1:18443` or `[::1]:18443`, found `127.0.0.1`
      3 | connect_to: 127.0.0.1
        |             ^
    interop/target.yaml:3:13: `127.0.0.1:0` has the port 0; expected an address with a port like `127.0.0.1:18443` or `[::1]:18443`
      3 | connect_to: 127.0.0.1:0
        |             ^
    interop/target.yaml:3:13: expected an address with a port like `127.0.0.1:18443`, or a map from hosts to such, found integer `18443`
      3 | connect_to: 18443
        |             ^
    interop/target.yaml:3:13: expected an address with a port like `127.0.0.1:18443`, or a map from hosts to such, found a list
      3 | connect_to: [127.0.0.1:18443]
        |             ^
    interop/target.yaml:3:58: expected an address with a port like `127.0.0.1:18443` or `[::1]:18443`, found `127.0.0.1`
      3 | connect_to: { https://a.example: 127.0.0.1:1, b.example: 127.0.0.1 }
        |                                                          ^
    interop/target.yaml:5:15: unknown word `dpop-0.3`; expected one of dpop-0.1, dpop-0.2; did you mean `dpop-0.1`?
      5 | session_mode: dpop-0.3
        |               ^
    interop/target.yaml:6:14: `2` lacks a unit; expected a duration like `250ms`, `3s`, `5m`, `1h` or `1m30s`
      6 | clock_error: 2
        |              ^
    interop/target.yaml:6:14: `clock_error` is 1d; expected at most 1h
      6 | clock_error: 1d
        |              ^
    ");
}

#[test]
fn mistakes_in_files_and_operators() {
    insta::assert_snapshot!(all_told(&[
        ("ca: state/ca.pem", "ca: state/cacert.pem"),
        ("ca: state/ca.pem", "ca: state/agent.pem"),
        ("ca: state/ca.pem", "ca: target.yaml"),
        ("key: state/agent.pem", "key: state/missing.pem"),
        ("key: state/agent.pem", "key: state/ca.pem"),
        ("client_id: https://atlas.example/agent.json", "client_id: http://atlas.example/agent.json"),
        ("client_id: https://atlas.example/agent.json", "client_id: 'https://atlas.example/{user}'"),
        ("key_id: key-1", "key_id: ''"),
        ("extension: no", "extension: maybe"),
        ("sign_in:", "operators_port: 9000\nsign_in:"),
        ("sign_in:", "operators_port: 70000\nsign_in:"),
        ("scopes: [orders:read, orders:write]", "scopes: []"),
        ("scopes: [orders:read, orders:write]", "scopes: [orders read]"),
        ("account: '{user}@users.example'", "account: '{usr}'"),
        ("account: '{user}@users.example'", "account: {user}"),
        ("account: '{user}@users.example'", "account: '{order_id}'"),
        ("session_mode: dpop-0.2", "session_mode: dpop-0.1"),
        ("known: [duplicate-proposal]", "known: [duplicate-proposals]"),
    ]), @r#"
    interop/target.yaml:4:5: there is no file interop/state/cacert.pem; if the Company writes it, start the Company first
      4 | ca: state/cacert.pem
        |     ^
    interop/target.yaml:4:5: `state/agent.pem` holds no certificate; expected certificates in PEM (`-----BEGIN CERTIFICATE-----`)
      4 | ca: state/agent.pem
        |     ^
    interop/target.yaml:4:5: `target.yaml` holds no certificate; expected certificates in PEM (`-----BEGIN CERTIFICATE-----`)
      4 | ca: target.yaml
        |     ^
    interop/target.yaml:7:63: there is no file interop/state/missing.pem; if the Company writes it, start the Company first
      7 | operator: { client_id: https://atlas.example/agent.json, key: state/missing.pem, key_id: key-1, exte
        |                                                               ^
    interop/target.yaml:7:63: `state/ca.pem` holds no such key; expected a private key of P-256, PKCS#8 in PEM (`-----BEGIN PRIVATE KEY-----`)
      7 | operator: { client_id: https://atlas.example/agent.json, key: state/ca.pem, key_id: key-1, extension
        |                                                               ^
    interop/target.yaml:7:24: expected an HTTPS URL like `https://agent.example/agent.json`, found `http://atlas.example/agent.json`
      7 | operator: { client_id: http://atlas.example/agent.json, key: state/agent.pem, key_id: key-1, extensi
        |                        ^
    interop/target.yaml:7:24: expected an HTTPS URL like `https://agent.example/agent.json`, found `https://atlas.example/{user}`
      7 | operator: { client_id: 'https://atlas.example/{user}', key: state/agent.pem, key_id: key-1, extensio
        |                        ^
    interop/target.yaml:7:88: `key_id` is empty; expected the `kid` under which the key is published
      7 | example/agent.json, key: state/agent.pem, key_id: '', extension: no }
        |                                                   ^
    interop/target.yaml:7:106: unknown word `maybe`; expected one of yes, no
      7 | , key: state/agent.pem, key_id: key-1, extension: maybe }
        |                                                   ^
    interop/target.yaml:8:17: `operators_port` is of the run's own operators, but the target knows an `operator`; expected one of them
      8 | operators_port: 9000
        |                 ^
    interop/target.yaml:8:17: expected a whole number from 0 to 65535, found `70000`
      8 | operators_port: 70000
        |                 ^
    interop/target.yaml:8:20: `scopes` is empty; expected at least one
      8 | sign_in: { scopes: [], account: '{user}@users.example' }
        |                    ^
    interop/target.yaml:8:21: `orders read` is no scope; expected one word like `orders:write`
      8 | sign_in: { scopes: [orders read], account: '{user}@users.example' }
        |                     ^
    interop/target.yaml:8:58: unknown placeholder `{usr}`; expected one of user, run, fake.WORD; did you mean `user`?
      8 | sign_in: { scopes: [orders:read, orders:write], account: '{usr}' }
        |                                                          ^
    interop/target.yaml:8:58: expected a text, found a map; write `"{user}"` if that is meant
      8 | sign_in: { scopes: [orders:read, orders:write], account: {user} }
        |                                                          ^
    interop/target.yaml:8:58: unknown placeholder `{order_id}`; expected one of user, run, fake.WORD
      8 | sign_in: { scopes: [orders:read, orders:write], account: '{order_id}' }
        |                                                          ^
    interop/target.yaml:8:10: `sign_in` with `session_mode: dpop-0.1`, which has none; expected `dpop-0.2`
      8 | sign_in: { scopes: [orders:read, orders:write], account: '{user}@users.example' }
        |          ^
    interop/target.yaml:21:9: unknown anomaly `duplicate-proposals`; expected a name of the anomaly catalogue; did you mean `duplicate-proposal`?
      21 | known: [duplicate-proposals]
         |         ^
    "#);
    let own = TARGET.replacen("extension: no }", "extension: no }\noperators_port: 0", 1);
    let own: String =
        own.lines().filter(|line| !line.starts_with("operator:")).map(|line| format!("{line}\n")).collect();
    let folder = folder(&own, "");
    insta::assert_snapshot!(told_about(folder.path(), "interop/target.yaml"), @r"
    interop/target.yaml:7:17: `operators_port` is 0; expected 1 to 65535, or take it out for any port
      7 | operators_port: 0
        |                 ^
    ");
}

#[test]
fn a_file_that_is_a_folder() {
    let told = told("ca: state/ca.pem", "ca: state");
    assert!(told.contains("interop/state cannot be read: "), "{told}");
}

#[test]
fn mistakes_in_requests() {
    insta::assert_snapshot!(all_told(&[
        ("{ post: '/api/wraps' }", "{ body: {} }"),
        ("{ post: '/api/wraps' }", "{ post: /api/wraps, put: /api/wraps }"),
        ("{ post: '/api/wraps' }", "{ post: api/wraps }"),
        ("{ post: '/api/wraps' }", "{ post: //api/wraps }"),
        ("{ post: '/api/wraps' }", "{ post: http://manzanita.example/api/wraps }"),
        ("{ post: '/api/wraps' }", "{ post: 'https://{user}.example/api/wraps' }"),
        ("{ post: '/api/wraps' }", "{ post: '/api/wraps for me' }"),
        ("{ post: '/api/wraps' }", "{ post: '/api/wraps/{ id }' }"),
        ("{ post: '/api/wraps' }", "{ post: '/api/wraps/{lien}' }"),
        ("/api/orders/{order_id}/", "/api/orders/{orderId}/"),
        ("for {fake.name}", "for {fake.nam}"),
        ("line: '{line}'", "line: [{ a: '{operation_id}' }]"),
        ("{ get: /api/orders,", "{ get: '/api/orders/{line}',"),
        ("{ get: /api/orders,", "{ get: /api/orders, body: {},"),
        ("line: /orders/0/lines/0", "line: orders/0"),
        ("line: /orders/0/lines/0", "line: /orders/~2"),
        ("line: /orders", "user: /orders"),
        ("line: /orders", "run: /orders"),
        ("line: '{line}'", "lines: [{line}, '{line}']"),
        ("{ post: '/api/wraps' }", "{ post: 'https://manzanita.example:65536/api/wraps' }"),
        ("line: /orders", "Line-1: /orders"),
        ("resource: https://manzanita.example/api", "resource: manzanita"),
        ("approval: standing-permission", "approval: nobody"),
        ("  gift-wrap: {", "  Gift_wrap: {"),
    ]), @r#"
    interop/target.yaml:15:25: a request without a method and its URL; expected one of get, post, put, patch, delete
      15 |   gift-wrap: { propose: { body: {} }, approval: standing-permission }
         |                         ^
    interop/target.yaml:15:50: a request with both `post` and `put`; expected one of them
      15 |   gift-wrap: { propose: { post: /api/wraps, put: /api/wraps }, approval: standing-permission }
         |                                                  ^
    interop/target.yaml:15:33: expected a path like `/api/orders` or an absolute HTTPS URL, found `api/wraps`
      15 |   gift-wrap: { propose: { post: api/wraps }, approval: standing-permission }
         |                                 ^
    interop/target.yaml:15:33: expected a path like `/api/orders` or an absolute HTTPS URL, found `//api/wraps`
      15 |   gift-wrap: { propose: { post: //api/wraps }, approval: standing-permission }
         |                                 ^
    interop/target.yaml:15:33: expected a path like `/api/orders` or an absolute HTTPS URL, found `http://manzanita.example/api/wraps`
      15 |   gift-wrap: { propose: { post: http://manzanita.example/api/wraps }, approval: standing-permission
         |                                 ^
    interop/target.yaml:15:33: a placeholder in the host of `https://{user}.example/api/wraps`; expected a host
      15 |   gift-wrap: { propose: { post: 'https://{user}.example/api/wraps' }, approval: standing-permission
         |                                 ^
    interop/target.yaml:15:33: expected a path like `/api/orders` or an absolute HTTPS URL, found `/api/wraps for me`
      15 |   gift-wrap: { propose: { post: '/api/wraps for me' }, approval: standing-permission }
         |                                 ^
    interop/target.yaml:15:33: expected a path like `/api/orders` or an absolute HTTPS URL, found `/api/wraps/{ id }`
      15 |   gift-wrap: { propose: { post: '/api/wraps/{ id }' }, approval: standing-permission }
         |                                 ^
    interop/target.yaml:15:33: unknown placeholder `{lien}`; expected one of order_id, item_id, sku, user, intent, run, account, fake.WORD
      15 |   gift-wrap: { propose: { post: '/api/wraps/{lien}' }, approval: standing-permission }
         |                                 ^
    interop/target.yaml:12:22: unknown placeholder `{orderId}`; expected one of order_id, item_id, sku, user, intent, run, account, line, fake.WORD; did you mean `order_id`?
      12 |     propose: { post: '/api/orders/{orderId}/exchanges', body: { line: '{line}', note: 'for {fake.nam
         |                      ^
    interop/target.yaml:12:64: unknown placeholder `{fake.nam}`; expected one of fake.first_name, fake.last_name, fake.name, fake.email, fake.phone, fake.street, fake.city, fake.post_code, fake.company, fake.sentence, fake.number; did you mean `fake.name`?
      12 |     propose: { post: '/api/orders/{order_id}/exchanges', body: { line: '{line}', note: 'for {fake.na
         |                                                                ^
    interop/target.yaml:12:64: unknown placeholder `{operation_id}`; expected one of order_id, item_id, sku, user, intent, run, account, line, fake.WORD
      12 |     propose: { post: '/api/orders/{order_id}/exchanges', body: { line: [{ a: '{operation_id}' }], no
         |                                                                ^
    interop/target.yaml:11:21: unknown placeholder `{line}`; expected one of order_id, item_id, sku, user, intent, run, account, fake.WORD
      11 |     before: [{ get: '/api/orders/{line}', take: { order_id: /orders/0/order_id, line: /orders/0/line
         |                     ^
    interop/target.yaml:11:40: a `get` with a body; expected none
      11 |     before: [{ get: /api/orders, body: {}, take: { order_id: /orders/0/order_id, line: /orders/0/lin
         |                                        ^
    interop/target.yaml:11:78: `orders/0` is no JSON Pointer; expected one like `/orders/0/order_id`
      11 |     before: [{ get: /api/orders, take: { order_id: /orders/0/order_id, line: orders/0 } }]
         |                                                                              ^
    interop/target.yaml:11:78: `/orders/~2` is no JSON Pointer; expected one like `/orders/0/order_id`
      11 |     before: [{ get: /api/orders, take: { order_id: /orders/0/order_id, line: /orders/~2 } }]
         |                                                                              ^
    interop/target.yaml:11:72: `{user}` has a meaning of its own; expected another name
      11 |     before: [{ get: /api/orders, take: { order_id: /orders/0/order_id, user: /orders/0/lines/0 } }]
         |                                                                        ^
    interop/target.yaml:12:64: unknown placeholder `{line}`; expected one of order_id, item_id, sku, user, intent, run, account, fake.WORD
      12 |     propose: { post: '/api/orders/{order_id}/exchanges', body: { line: '{line}', note: 'for {fake.na
         |                                                                ^
    interop/target.yaml:11:72: `{run}` has a meaning of its own; expected another name
      11 |     before: [{ get: /api/orders, take: { order_id: /orders/0/order_id, run: /orders/0/lines/0 } }]
         |                                                                        ^
    interop/target.yaml:12:64: unknown placeholder `{line}`; expected one of order_id, item_id, sku, user, intent, run, account, fake.WORD
      12 |     propose: { post: '/api/orders/{order_id}/exchanges', body: { line: '{line}', note: 'for {fake.na
         |                                                                ^
    interop/target.yaml:12:74: `{line}` without quotes is a map; expected `"{line}"`
      12 |     propose: { post: '/api/orders/{order_id}/exchanges', body: { lines: [{line}, '{line}'], note: 'f
         |                                                                          ^
    interop/target.yaml:15:33: `https://manzanita.example:65536/api/wraps` has the port `65536`; expected 1 to 65535
      15 |   gift-wrap: { propose: { post: 'https://manzanita.example:65536/api/wraps' }, approval: standing-pe
         |                                 ^
    interop/target.yaml:11:72: `Line-1` is no name of a placeholder; expected small letters, digits and `_`
      11 |     before: [{ get: /api/orders, take: { order_id: /orders/0/order_id, Line-1: /orders/0/lines/0 } }
         |                                                                        ^
    interop/target.yaml:12:64: unknown placeholder `{line}`; expected one of order_id, item_id, sku, user, intent, run, account, Line-1, fake.WORD
      12 |     propose: { post: '/api/orders/{order_id}/exchanges', body: { line: '{line}', note: 'for {fake.na
         |                                                                ^
    interop/target.yaml:14:15: expected an HTTPS URL like `https://shop.example/api`, found `manzanita`
      14 |     resource: manzanita
         |               ^
    interop/target.yaml:15:59: unknown word `nobody`; expected one of user, standing-permission
      15 |   gift-wrap: { propose: { post: '/api/wraps' }, approval: nobody }
         |                                                           ^
    interop/target.yaml:15:3: `Gift_wrap` is no name of an action; expected small letters, digits and dashes between them, 60 at most
      15 |   Gift_wrap: { propose: { post: '/api/wraps' }, approval: standing-permission }
         |   ^
    "#);
    let told_whole = |text| told_about(folder(text, "").path(), "interop/target.yaml");
    let no_accounts = "target: a\ndomain: a.example\nactions: { b: { propose: { post: '/b/{account}' } } }\n";
    insta::assert_snapshot!(told_whole(no_accounts), @r"
    interop/target.yaml:3:34: `{account}` where nobody signs in; expected `sign_in` in this file, or `{user}`
      3 | actions: { b: { propose: { post: '/b/{account}' } } }
        |                                  ^
    ");
    let none = "target: a\ndomain: a.example\nactions: {}\n";
    insta::assert_snapshot!(told_whole(none), @r"
    interop/target.yaml:3:10: `actions` is empty; expected at least one
      3 | actions: {}
        |          ^
    ");
}

#[test]
fn mistakes_in_hooks() {
    insta::assert_snapshot!(all_told(&[
        ("revise: { post: 'http://127.0.0.1:18444/revise/{operation_id}' }", "revise: { post: '/revise/{operation_id}' }"),
        ("revise/{operation_id}", "revise"),
        ("revise/{operation_id}", "revise/{operation_id}/{order_id}"),
        ("revise: { post: 'http://127.0.0.1:18444/", "revise: { post: 'http://{operation_id}/"),
        ("code: '{user_code}', ", ""),
        ("code: '{user_code}'", "code: {user_code}"),
        ("code: '{user_code}'", "code: { user_code: null }"),
        ("127.0.0.1:18444/approve", "127.0.0.1:99999/approve"),
        ("127.0.0.1:18444/approve", "127.0.0.1:0/approve"),
        ("ok: '{succeeded}'", "ok: true"),
        ("actions: [exchange], ", ""),
        ("actions: [exchange]", "actions: [exchnage]"),
        ("succeed: 90%", "succeed: 0.9"),
        ("after: 500ms", "after: soon"),
        (", count: /performed", ""),
        (", count: /performed", ", count: /performed, performed: /total"),
        (", count: /performed", ", performed: /total, operations: /operations"),
        (", count: /performed", ", count: performed"),
    ]), @r#"
    interop/target.yaml:18:19: expected an absolute URL like `http://127.0.0.1:18444/settle`, found `/revise/{operation_id}`
      18 |   revise: { post: '/revise/{operation_id}' }
         |                   ^
    interop/target.yaml:18:11: this hook does not tell `{operation_id}`; expected it in its URL or body
      18 |   revise: { post: 'http://127.0.0.1:18444/revise' }
         |           ^
    interop/target.yaml:18:19: unknown placeholder `{order_id}`; expected one of operation_id, run, fake.WORD
      18 |   revise: { post: 'http://127.0.0.1:18444/revise/{operation_id}/{order_id}' }
         |                   ^
    interop/target.yaml:18:19: a placeholder in the host of `http://{operation_id}/revise/{operation_id}`; expected a host
      18 |   revise: { post: 'http://{operation_id}/revise/{operation_id}' }
         |                   ^
    interop/target.yaml:17:20: this hook does not tell `{user_code}`; expected it in its URL or body
      17 |   approve_sign_in: { post: 'http://127.0.0.1:18444/approve', body: { account: '{account}' } }
         |                    ^
    interop/target.yaml:17:76: `{user_code}` without quotes is a map; expected `"{user_code}"`
      17 |   approve_sign_in: { post: 'http://127.0.0.1:18444/approve', body: { code: {user_code}, account: '{a
         |                                                                            ^
    interop/target.yaml:17:20: this hook does not tell `{user_code}`; expected it in its URL or body
      17 |   approve_sign_in: { post: 'http://127.0.0.1:18444/approve', body: { code: { user_code: null }, acco
         |                    ^
    interop/target.yaml:17:28: `http://127.0.0.1:99999/approve` has the port `99999`; expected 1 to 65535
      17 |   approve_sign_in: { post: 'http://127.0.0.1:99999/approve', body: { code: '{user_code}', account: '
         |                            ^
    interop/target.yaml:17:28: `http://127.0.0.1:0/approve` has the port `0`; expected 1 to 65535
      17 |   approve_sign_in: { post: 'http://127.0.0.1:0/approve', body: { code: '{user_code}', account: '{acc
         |                            ^
    interop/target.yaml:19:11: this hook does not tell `{succeeded}`; expected it in its URL or body
      19 |   settle: { post: 'http://127.0.0.1:18444/settle', body: { id: '{operation_id}', ok: true }, actions
         |           ^
    interop/target.yaml:19:11: `settle` without `actions`; expected those that stay in progress until it is asked
      19 |   settle: { post: 'http://127.0.0.1:18444/settle', body: { id: '{operation_id}', ok: '{succeeded}' }
         |           ^
    interop/target.yaml:19:113: unknown action of this target `exchnage`; expected one of exchange, gift-wrap; did you mean `exchange`?
      19 |  '{operation_id}', ok: '{succeeded}' }, actions: [exchnage], after: 500ms, succeed: 90% }
         |                                                   ^
    interop/target.yaml:19:147: expected a percentage, found `0.9`; write `90%`
      19 | }' }, actions: [exchange], after: 500ms, succeed: 0.9 }
         |                                                   ^
    interop/target.yaml:19:131: expected a duration like `250ms`, `3s`, `5m`, `1h` or `1m30s`, found `soon`
      19 |  ok: '{succeeded}' }, actions: [exchange], after: soon, succeed: 90% }
         |                                                   ^
    interop/target.yaml:20:14: expected either `count` (asked for each operation), or `performed` and `operations` (totals)
      20 |   performed: { post: 'https://127.0.0.1:18444/performed', body: { id: '{operation_id}' } }
         |              ^
    interop/target.yaml:20:14: expected either `count` (asked for each operation), or `performed` and `operations` (totals)
      20 |   performed: { post: 'https://127.0.0.1:18444/performed', body: { id: '{operation_id}' }, count: /pe
         |              ^
    interop/target.yaml:20:65: unknown placeholder `{operation_id}`; expected one of run, fake.WORD
      20 |   performed: { post: 'https://127.0.0.1:18444/performed', body: { id: '{operation_id}' }, performed:
         |                                                                 ^
    interop/target.yaml:20:98: `performed` is no JSON Pointer; expected one like `/orders/0/order_id`
      20 | erformed', body: { id: '{operation_id}' }, count: performed }
         |                                                   ^
    "#);
}

#[test]
fn mistakes_of_one_pass_are_told_together() {
    let text = "\
target: A b
domain: a b
ca: none.pem
operator: { client_id: x, key: none.pem, key_id: k }
actions:
  exchange: { propose: { post: x, body: { a: '{itm_id}' } } }
hooks: { revise: { post: 'http://a.example' } }
known: [nothing]
";
    let folder = folder(text, "");
    insta::assert_snapshot!(told_about(folder.path(), "interop/target.yaml"), @r"
    interop/target.yaml:1:9: `A b` is no name of a target; expected small letters, digits and dashes between them, 60 at most
      1 | target: A b
        |         ^
    interop/target.yaml:2:9: `a b` is no domain; expected a name like `shop.example`, in small letters, without scheme and port (`connect_to` says where it is)
      2 | domain: a b
        |         ^
    interop/target.yaml:3:5: there is no file interop/none.pem; if the Company writes it, start the Company first
      3 | ca: none.pem
        |     ^
    interop/target.yaml:4:24: expected an HTTPS URL like `https://agent.example/agent.json`, found `x`
      4 | operator: { client_id: x, key: none.pem, key_id: k }
        |                        ^
    interop/target.yaml:4:32: there is no file interop/none.pem; if the Company writes it, start the Company first
      4 | operator: { client_id: x, key: none.pem, key_id: k }
        |                                ^
    interop/target.yaml:6:32: expected a path like `/api/orders` or an absolute HTTPS URL, found `x`
      6 |   exchange: { propose: { post: x, body: { a: '{itm_id}' } } }
        |                                ^
    interop/target.yaml:6:41: unknown placeholder `{itm_id}`; expected one of order_id, item_id, sku, user, intent, run, fake.WORD; did you mean `item_id`?
      6 |   exchange: { propose: { post: x, body: { a: '{itm_id}' } } }
        |                                         ^
    interop/target.yaml:7:18: this hook does not tell `{operation_id}`; expected it in its URL or body
      7 | hooks: { revise: { post: 'http://a.example' } }
        |                  ^
    interop/target.yaml:8:9: unknown anomaly `nothing`; expected a name of the anomaly catalogue
      8 | known: [nothing]
        |         ^
    ");
}
