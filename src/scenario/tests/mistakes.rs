//! Each kind of mistake in a scenario, and what is said about it.

use super::*;

/// A small scenario without a mistake.
const SMALL: &str = "\
scenario: small
seed: 1
companies:
  shop: { profile: shop, count: 2, defects: [] }
agents:
  users: 10
journeys:
  exchange:
    weight: 3
    steps:
      - propose: { at: shop, action: exchange }
      - ask-user: { approve: 90%, decline: 5%, after: { uniform: { from: 100ms, to: 300ms } } }
      - confirm: { copies: 2 }
      - track
load:
  - closed: { agents: 10, think: 1s, for: 5s }
faults:
  - { do: lose-answer, at: shop, on: [confirm], during: 1s..4s, chance: 10% }
  - { do: backend-fail, step: charge }
  - { do: { crash: { point: perform.after-effect } } }
settle: 5s
expect: { must: [] }
reach: [faults.lose-answer >= 5]
thresholds: [recovery.p99 < 30s, throughput >= 5/s]
";

/// What is said about the small scenario with `old` replaced.
fn told(old: &str, new: &str) -> String {
    assert!(SMALL.contains(old), "{old}");
    said("scenarios/small.yaml", SMALL.replacen(old, new, 1).as_bytes())
}

#[test]
fn the_small_scenario_has_no_mistake() {
    assert_eq!(told("seed: 1", "seed: 2"), "no mistake");
}

#[test]
fn misspelt_key_at_the_top() {
    insta::assert_snapshot!(told("settle: 5s", "setle: 5s"), @r"
    scenarios/small.yaml:21:1: unknown key `setle`; expected one of scenario, seed, tls, companies, agents, journeys, load, faults, network, settle, invariants, expect, reach, thresholds; did you mean `settle`?
      21 | setle: 5s
         | ^
    ");
}

#[test]
fn misspelt_key_of_a_group() {
    insta::assert_snapshot!(told("count: 2", "cuont: 2"), @r"
    scenarios/small.yaml:4:26: unknown key `cuont`; expected one of profile, company, count, numbers, title, domain, speaks, operations_version, sessions, answers, proposals, store, backend, capacity, actions, defects; did you mean `count`?
      4 |   shop: { profile: shop, cuont: 2, defects: [] }
        |                          ^
    ");
}

#[test]
fn misspelt_key_of_agents() {
    insta::assert_snapshot!(told("users: 10", "user: 10"), @r"
    scenarios/small.yaml:6:3: unknown key `user`; expected one of operators, without_extension, users, session_mode, operations_version, request_timeout, retry, scopes, defects; did you mean `users`?
      6 |   user: 10
        |   ^
    ");
}

#[test]
fn misspelt_key_of_a_journey() {
    insta::assert_snapshot!(told("weight: 3", "wieght: 3"), @r"
    scenarios/small.yaml:9:5: unknown key `wieght`; expected one of weight, in_flight, steps; did you mean `weight`?
      9 |     wieght: 3
        |     ^
    ");
}

#[test]
fn misspelt_key_of_a_steps_settings() {
    insta::assert_snapshot!(told("decline: 5%", "declin: 5%"), @r"
    scenarios/small.yaml:12:35: unknown key `declin`; expected one of approve, decline, other_terms, withdraw, withdraw_after, after; did you mean `decline`?
      12 |       - ask-user: { approve: 90%, declin: 5%, after: { uniform: { from: 100ms, to: 300ms } } }
         |                                   ^
    ");
}

#[test]
fn misspelt_step() {
    insta::assert_snapshot!(told("- track", "- trak"), @r"
    scenarios/small.yaml:14:9: unknown word `trak`; expected one of propose, ask-user, confirm, track, cancel, wait, later, sign-out, walk-away; did you mean `track`?
      14 |       - trak
         |         ^
    ");
}

#[test]
fn misspelt_kind_of_load() {
    insta::assert_snapshot!(told("- closed:", "- close:"), @r"
    scenarios/small.yaml:16:5: unknown key `close`; expected one of closed, open, listed; did you mean `closed`?
      16 |   - close: { agents: 10, think: 1s, for: 5s }
         |     ^
    ");
}

#[test]
fn misspelt_key_of_load() {
    insta::assert_snapshot!(told("think: 1s", "thnk: 1s"), @r"
    scenarios/small.yaml:16:27: unknown key `thnk`; expected one of agents, stages, think, warm_up, for, operations; did you mean `think`?
      16 |   - closed: { agents: 10, thnk: 1s, for: 5s }
         |                           ^
    ");
}

#[test]
fn misspelt_key_of_a_fault() {
    insta::assert_snapshot!(told("chance: 10%", "chanse: 10%"), @r"
    scenarios/small.yaml:18:65: unknown key `chanse`; expected one of do, id, at, on, step, during, chance, strikes; did you mean `chance`?
      18 |   - { do: lose-answer, at: shop, on: [confirm], during: 1s..4s, chanse: 10% }
         |                                                                 ^
    ");
}

#[test]
fn misspelt_fault() {
    insta::assert_snapshot!(told("do: lose-answer", "do: loose-answer"), @r"
    scenarios/small.yaml:18:11: unknown word `loose-answer`; expected one of delay, delay-answer, lose-request, lose-answer, reset, hang-up, duplicate, refuse, crash, restart, backend-slow, backend-timeout, backend-fail; did you mean `lose-answer`?
      18 |   - { do: loose-answer, at: shop, on: [confirm], during: 1s..4s, chance: 10% }
         |           ^
    ");
}

#[test]
fn misspelt_distribution() {
    insta::assert_snapshot!(told("{ uniform: {", "{ unifrom: {"), @r"
    scenarios/small.yaml:12:57: unknown key `unifrom`; expected one of constant, uniform, log-normal, pareto, exponential, percentiles; did you mean `uniform`?
      12 |       - ask-user: { approve: 90%, decline: 5%, after: { unifrom: { from: 100ms, to: 300ms } } }
         |                                                         ^
    ");
}

#[test]
fn misspelt_kind_of_file() {
    insta::assert_snapshot!(told("scenario: small", "scenaro: small"), @r"
    scenarios/small.yaml:1:1: expected `scenario:`, `company:` or `target:` as the first key, found `scenaro`; did you mean `scenario`?
      1 | scenaro: small
        | ^
    ");
}

#[test]
fn text_for_a_number() {
    insta::assert_snapshot!(told("users: 10", "users: ten"), @r"
    scenarios/small.yaml:6:10: expected a whole number, found `ten`
      6 |   users: ten
        |          ^
    ");
}

#[test]
fn map_for_a_list() {
    insta::assert_snapshot!(told("on: [confirm]", "on: { confirm: 1 }"), @r"
    scenarios/small.yaml:18:38: expected a list, found a map
      18 |   - { do: lose-answer, at: shop, on: { confirm: 1 }, during: 1s..4s, chance: 10% }
         |                                      ^
    ");
}

#[test]
fn number_for_a_map() {
    insta::assert_snapshot!(told("companies:", "companies: 3\nxx:"), @r"
    scenarios/small.yaml:3:12: expected a map, found `3`
      3 | companies: 3
        |            ^
    scenarios/small.yaml:4:1: unknown key `xx`; expected one of scenario, seed, tls, companies, agents, journeys, load, faults, network, settle, invariants, expect, reach, thresholds
      4 | xx:
        | ^
    ");
}

#[test]
fn key_without_a_value() {
    insta::assert_snapshot!(told("settle: 5s", "settle:"), @r"
    scenarios/small.yaml:21:7: the key has no value; give it one or take it out
      21 | settle:
         |       ^
    ");
}

#[test]
fn missing_key() {
    insta::assert_snapshot!(told("{ at: shop, action: exchange }", "{ at: shop }"), @r"
    scenarios/small.yaml:11:18: key `action` is missing
      11 |       - propose: { at: shop }
         |                  ^
    ");
}

#[test]
fn duration_without_unit() {
    insta::assert_snapshot!(told("settle: 5s", "settle: 5"), @r"
    scenarios/small.yaml:21:9: `5` lacks a unit; expected a duration like `250ms`, `3s`, `5m`, `1h` or `1m30s`
      21 | settle: 5
         |         ^
    ");
}

#[test]
fn unknown_unit() {
    insta::assert_snapshot!(told("settle: 5s", "settle: 15mins"), @r"
    scenarios/small.yaml:21:9: unknown unit `mins` of a duration; expected one of ms, s, m, h, d, us, ns
      21 | settle: 15mins
         |         ^
    ");
}

#[test]
fn decimal_for_a_percentage() {
    insta::assert_snapshot!(told("chance: 10%", "chance: 0.1"), @r"
    scenarios/small.yaml:18:73: expected a percentage, found `0.1`; write `10%`
      18 |   - { do: lose-answer, at: shop, on: [confirm], during: 1s..4s, chance: 0.1 }
         |                                                                         ^
    ");
}

#[test]
fn percentage_over_100() {
    insta::assert_snapshot!(told("chance: 10%", "chance: 110%"), @r"
    scenarios/small.yaml:18:73: `110%` is not between 0% and 100%
      18 |   - { do: lose-answer, at: shop, on: [confirm], during: 1s..4s, chance: 110% }
         |                                                                         ^
    ");
}

#[test]
fn rate_without_unit() {
    insta::assert_snapshot!(told("throughput >= 5/s", "throughput >= 5"), @r"
    scenarios/small.yaml:24:48: `throughput` is held to a rate: `5` lacks a unit; expected a rate like `200/s` or `30/m`
      24 | thresholds: [recovery.p99 < 30s, throughput >= 5]
         |                                                ^
    ");
}

#[test]
fn unit_of_another_metric() {
    insta::assert_snapshot!(told("recovery.p99 < 30s", "recovery.p99 < 5%"), @r"
    scenarios/small.yaml:24:29: `recovery.p99` is held to a duration: expected a duration like `250ms`, `3s`, `5m`, `1h` or `1m30s`, found `5%`
      24 | thresholds: [recovery.p99 < 5%, throughput >= 5/s]
         |                             ^
    ");
}

#[test]
fn unknown_metric() {
    insta::assert_snapshot!(told("recovery.p99 < 30s", "recover.p99 < 30s"), @r"
    scenarios/small.yaml:24:14: unknown metric `recover.p99`; expected one of response.STEP.pN, response.pN, service.STEP.pN, service.pN, recovery.pN, throughput, unknown; did you mean `recovery`?
      24 | thresholds: [recover.p99 < 30s, throughput >= 5/s]
         |              ^
    ");
}

#[test]
fn unknown_step_of_a_metric() {
    insta::assert_snapshot!(told("recovery.p99 < 30s", "response.confrim.p99 < 30s"), @r"
    scenarios/small.yaml:24:23: unknown step `confrim`; expected one of discover, keys, token, revoke, sign-in, prepare, propose, change, read, confirm, cancel, backend; did you mean `confirm`?
      24 | thresholds: [response.confrim.p99 < 30s, throughput >= 5/s]
         |                       ^
    ");
}

#[test]
fn unknown_comparison() {
    insta::assert_snapshot!(told("recovery.p99 < 30s", "recovery.p99 = 30s"), @r"
    scenarios/small.yaml:24:27: unknown comparison `=`; expected one of <, <=, >, >=
      24 | thresholds: [recovery.p99 = 30s, throughput >= 5/s]
         |                           ^
    ");
}

#[test]
fn unknown_profile() {
    insta::assert_snapshot!(told("profile: shop", "profile: shopp"), @r"
    scenarios/small.yaml:4:20: unknown profile `shopp`; expected a file shopp.yaml in sim-companies or sim-companies; did you mean `shop`?
      4 |   shop: { profile: shopp, count: 2, defects: [] }
        |                    ^
    ");
}

#[test]
fn unknown_group() {
    insta::assert_snapshot!(told("at: shop, action", "at: shpo, action"), @r"
    scenarios/small.yaml:11:24: unknown group of Companies `shpo`; expected `shop`; did you mean `shop`?
      11 |       - propose: { at: shpo, action: exchange }
         |                        ^
    ");
}

#[test]
fn unknown_action() {
    insta::assert_snapshot!(told("action: exchange", "action: exchnage"), @r"
    scenarios/small.yaml:11:38: unknown action of `shop` `exchnage`; expected `exchange`; did you mean `exchange`?
      11 |       - propose: { at: shop, action: exchnage }
         |                                      ^
    ");
}

#[test]
fn unknown_backend_step() {
    insta::assert_snapshot!(told("step: charge", "step: chrage"), @r"
    scenarios/small.yaml:19:31: unknown step `chrage`; expected one of charge, give-back, take-back; did you mean `charge`?
      19 |   - { do: backend-fail, step: chrage }
         |                               ^
    ");
}

#[test]
fn unknown_crash_point() {
    insta::assert_snapshot!(told("point: perform.after-effect", "point: perform.after-efect"), @r"
    scenarios/small.yaml:20:29: unknown crash point `perform.after-efect`; expected one of accept.received, accept.checked, accept.recorded, perform.before-call, perform.after-send, perform.after-effect, perform.before-record, perform.recorded, reply.before; did you mean `perform.after-effect`?
      20 |   - { do: { crash: { point: perform.after-efect } } }
         |                             ^
    ");
}

#[test]
fn unknown_defect() {
    insta::assert_snapshot!(told("defects: []", "defects: [check-than-act]"), @r"
    scenarios/small.yaml:4:46: unknown Company defect `check-than-act`; expected one of perform-again-on-retry, check-then-act, backend-retry-fresh-key, perform-latest-terms, fail-on-backend-timeout, perform-after-cancel, expiry-not-checked, stale-revision-accepted, edit-terms-in-place, expiry-not-renewed, skip-revision, perform-on-propose, acknowledge-before-perform, succeed-on-partial, swallow-partial, drop-in-progress-on-restart, expire-confirmed, rewrite-confirmation, revive-failed, refuse-repeated-confirm, accept-standing-permission, ignore-extension-listing; did you mean `check-then-act`?
      4 |   shop: { profile: shop, count: 2, defects: [check-than-act] }
        |                                              ^
    ");
}

#[test]
fn unknown_agent_defect() {
    insta::assert_snapshot!(told("users: 10", "users: 10\n  defects: [hot-pole]"), @r"
    scenarios/small.yaml:7:13: unknown Agent defect `hot-pole`; expected one of repropose-on-timeout, reuse-approval, confirm-unseen, ignore-withdrawal, confirm-old-revision, standing-too-wide, show-other-terms, reuse-proof, hot-poll; did you mean `hot-poll`?
      7 |   defects: [hot-pole]
        |             ^
    ");
}

#[test]
fn unknown_anomaly() {
    insta::assert_snapshot!(told("must: []", "must: [double-efect]"), @r"
    scenarios/small.yaml:22:18: unknown anomaly `double-efect`; expected a name of the anomaly catalogue; did you mean `double-effect`?
      22 | expect: { must: [double-efect] }
         |                  ^
    ");
}

#[test]
fn unknown_request() {
    insta::assert_snapshot!(told("on: [confirm]", "on: [confirms]"), @r"
    scenarios/small.yaml:18:39: unknown kind of request `confirms`; expected one of discover, keys, token, revoke, sign-in, prepare, propose, change, read, confirm, cancel, backend; did you mean `confirm`?
      18 |   - { do: lose-answer, at: shop, on: [confirms], during: 1s..4s, chance: 10% }
         |                                       ^
    ");
}

#[test]
fn unknown_fault_in_a_minimum() {
    insta::assert_snapshot!(told("faults.lose-answer >= 5", "faults.lose-anser >= 5"), @r"
    scenarios/small.yaml:23:16: unknown fault `lose-anser`; expected one of delay, delay-answer, lose-request, lose-answer, reset, hang-up, duplicate, refuse, crash, restart, backend-slow, backend-timeout, backend-fail, partition; did you mean `lose-answer`?
      23 | reach: [faults.lose-anser >= 5]
         |                ^
    ");
}

#[test]
fn minimum_that_no_fault_can_reach() {
    insta::assert_snapshot!(told("faults.lose-answer >= 5", "faults.reset >= 5"), @r"
    scenarios/small.yaml:23:9: `faults.reset >= 5` cannot be reached: no fault of this scenario does that
      23 | reach: [faults.reset >= 5]
         |         ^
    ");
}

#[test]
fn duplicate_key() {
    insta::assert_snapshot!(told("users: 10", "users: 10\n  users: 11"), @r"
    scenarios/small.yaml:7:3: key `users` stands here a second time; the first is in line 6
      7 |   users: 11
        |   ^
    ");
}

#[test]
fn duplicate_group() {
    insta::assert_snapshot!(told("shop: { profile: shop, count: 2, defects: [] }", "shop: { profile: shop }\n  shop: { profile: shop }"), @r"
    scenarios/small.yaml:5:3: key `shop` stands here a second time; the first is in line 4
      5 |   shop: { profile: shop }
        |   ^
    ");
}

#[test]
fn bad_indent() {
    insta::assert_snapshot!(told("  users: 10\n", "  users: 10\n    operators: 2\n"), @r"
    scenarios/small.yaml:7:14: this is not valid YAML: mapping values are not allowed in this context
      7 |     operators: 2
        |              ^
    ");
}

#[test]
fn tab() {
    insta::assert_snapshot!(told("settle: 5s", "settle:\n\t5s"), @r"
    scenarios/small.yaml:22:2: this is not valid YAML: tabs disallowed within this context (block indentation)
      22 |  5s
         |  ^
    ");
}

#[test]
fn chances_over_100() {
    insta::assert_snapshot!(told("approve: 90%", "approve: 99%"), @r"
    scenarios/small.yaml:12:9: `approve`, `decline` and `other_terms` sum to 104%; expected at most 100%
      12 |       - ask-user: { approve: 99%, decline: 5%, after: { uniform: { from: 100ms, to: 300ms } } }
         |         ^
    ");
}

#[test]
fn range_the_wrong_way_round() {
    insta::assert_snapshot!(told("from: 100ms, to: 300ms", "from: 300ms, to: 100ms"), @r"
    scenarios/small.yaml:12:55: `from` is more than `to`
      12 |       - ask-user: { approve: 90%, decline: 5%, after: { uniform: { from: 300ms, to: 100ms } } }
         |                                                       ^
    ");
}

#[test]
fn window_the_wrong_way_round() {
    insta::assert_snapshot!(told("during: 1s..4s", "during: 4s..1s"), @r"
    scenarios/small.yaml:18:57: `4s..1s` ends before it begins; expected the earlier time first
      18 |   - { do: lose-answer, at: shop, on: [confirm], during: 4s..1s, chance: 10% }
         |                                                         ^
    ");
}

#[test]
fn window_after_load() {
    insta::assert_snapshot!(told("during: 1s..4s", "during: 10s..14s"), @r"
    scenarios/small.yaml:18:57: the window begins when load has ended, after 5s; expected it earlier
      18 |   - { do: lose-answer, at: shop, on: [confirm], during: 10s..14s, chance: 10% }
         |                                                         ^
    ");
}

#[test]
fn zero_users() {
    insta::assert_snapshot!(told("users: 10", "users: 0"), @r"
    scenarios/small.yaml:6:10: `users` is 0; expected 1 to 200000
      6 |   users: 0
        |          ^
    ");
}

#[test]
fn too_many_users() {
    insta::assert_snapshot!(told("users: 10", "users: 5000000000"), @r"
    scenarios/small.yaml:6:10: expected a whole number from 0 to 4294967295, found `5000000000`
      6 |   users: 5000000000
        |          ^
    ");
}

#[test]
fn too_many_companies() {
    insta::assert_snapshot!(told("count: 2", "count: 101"), @r"
    scenarios/small.yaml:4:33: `count` is 101; expected 1 to 100
      4 |   shop: { profile: shop, count: 101, defects: [] }
        |                                 ^
    ");
}

#[test]
fn too_many_copies() {
    insta::assert_snapshot!(told("copies: 2", "copies: 257"), @r"
    scenarios/small.yaml:13:28: `copies` is 257; expected 1 to 256
      13 |       - confirm: { copies: 257 }
         |                            ^
    ");
}

#[test]
fn weights_all_zero() {
    insta::assert_snapshot!(told("weight: 3", "weight: 0"), @r"
    scenarios/small.yaml:8:3: every journey has the weight 0; expected at least one with more
      8 |   exchange:
        |   ^
    ");
}

#[test]
fn nobody_let_through() {
    insta::assert_snapshot!(told("weight: 3", "in_flight: 0"), @r"
    scenarios/small.yaml:9:16: `in_flight` is 0; expected 1 to 200000
      9 |     in_flight: 0
        |                ^
    ");
}

#[test]
fn no_steps() {
    insta::assert_snapshot!(told("    steps:\n      - propose: { at: shop, action: exchange }\n      - ask-user: { approve: 90%, decline: 5%, after: { uniform: { from: 100ms, to: 300ms } } }\n      - confirm: { copies: 2 }\n      - track\n", "    steps: []\n"), @r"
    scenarios/small.yaml:10:12: a journey without steps; expected at least `propose`
      10 |     steps: []
         |            ^
    ");
}

#[test]
fn sign_out_where_nothing_was_proposed() {
    let wrong = "      - sign-out\n      - propose: { at: shop, action: exchange }\n";
    insta::assert_snapshot!(told("      - propose: { at: shop, action: exchange }\n", wrong), @r"
    scenarios/small.yaml:11:9: nothing has been proposed before this step; expected `propose` first
      11 |       - sign-out
         |         ^
    scenarios/small.yaml:12:9: a second `propose`; expected one a journey, as its first step
      12 |       - propose: { at: shop, action: exchange }
         |         ^
    ");
}

#[test]
fn no_approval() {
    insta::assert_snapshot!(told("      - ask-user: { approve: 90%, decline: 5%, after: { uniform: { from: 100ms, to: 300ms } } }\n", ""), @r"
    scenarios/small.yaml:12:9: nobody approves before this confirm; expected `ask-user` before it, or `by: { standing-permission: … }`
      12 |       - confirm: { copies: 2 }
         |         ^
    ");
}

#[test]
fn standing_permission_where_only_the_user_counts() {
    insta::assert_snapshot!(told("confirm: { copies: 2 }", "confirm: { by: { standing-permission: { up_to: 5.00 USD } } }"), @r"
    scenarios/small.yaml:13:24: action `exchange` accepts only the User's own approval; expected `by: user`, or `approval: standing-permission` there
      13 |       - confirm: { by: { standing-permission: { up_to: 5.00 USD } } }
         |                        ^
    ");
}

#[test]
fn money_without_currency() {
    insta::assert_snapshot!(told("confirm: { copies: 2 }", "confirm: { by: { standing-permission: { up_to: 5.00 } } }"), @r"
    scenarios/small.yaml:13:56: expected an amount and a currency like `5.00 USD`, found `5.00`
      13 |       - confirm: { by: { standing-permission: { up_to: 5.00 } } }
         |                                                        ^
    ");
}

#[test]
fn nothing_ends_the_load() {
    insta::assert_snapshot!(told(", for: 5s }", " }"), @r"
    scenarios/small.yaml:16:5: nothing ends this entry; expected `for`, `operations` or `stages`
      16 |   - closed: { agents: 10, think: 1s }
         |     ^
    ");
}

#[test]
fn warm_up_as_long_as_load() {
    insta::assert_snapshot!(told("for: 5s", "for: 5s, warm_up: 5s"), @r"
    scenarios/small.yaml:16:56: `warm_up` leaves nothing to measure of 5s; expected less
      16 |   - closed: { agents: 10, think: 1s, for: 5s, warm_up: 5s }
         |                                                        ^
    ");
}

#[test]
fn fault_with_chance_0() {
    insta::assert_snapshot!(told("chance: 10%", "chance: 0%"), @r"
    scenarios/small.yaml:18:73: a chance of 0% never strikes; expected more, or take the fault out
      18 |   - { do: lose-answer, at: shop, on: [confirm], during: 1s..4s, chance: 0% }
         |                                                                         ^
    ");
}

#[test]
fn requests_of_a_fault_that_strikes_none() {
    insta::assert_snapshot!(told("step: charge", "on: [confirm]"), @r"
    scenarios/small.yaml:19:29: `backend-fail` strikes no requests; expected no `on`
      19 |   - { do: backend-fail, on: [confirm] }
         |                             ^
    ");
}

#[test]
fn step_of_a_fault_that_strikes_requests() {
    insta::assert_snapshot!(told("on: [confirm]", "step: charge"), @r"
    scenarios/small.yaml:18:40: `lose-answer` strikes no single steps; expected no `step`
      18 |   - { do: lose-answer, at: shop, step: charge, during: 1s..4s, chance: 10% }
         |                                        ^
    ");
}

#[test]
fn status_of_a_refusal() {
    insta::assert_snapshot!(told("do: lose-answer", "do: { refuse: { status: 404 } }"), @r"
    scenarios/small.yaml:18:31: `status` is 404; expected 429 or 500 to 599
      18 |   - { do: { refuse: { status: 404 } }, at: shop, on: [confirm], during: 1s..4s, chance: 10% }
         |                               ^
    scenarios/small.yaml:23:9: `faults.lose-answer >= 5` cannot be reached: no fault of this scenario does that
      23 | reach: [faults.lose-answer >= 5]
         |         ^
    ");
}

#[test]
fn word_that_needs_settings() {
    insta::assert_snapshot!(told("do: lose-answer", "do: restart"), @r"
    scenarios/small.yaml:18:11: `restart` needs settings: key `every` is missing
      18 |   - { do: restart, at: shop, on: [confirm], during: 1s..4s, chance: 10% }
         |           ^
    ");
}

#[test]
fn settings_of_a_word_that_takes_none() {
    insta::assert_snapshot!(told("do: lose-answer", "do: { lose-answer: { x: 1 } }"), @r"
    scenarios/small.yaml:18:26: `lose-answer` takes no settings; write just the word
      18 |   - { do: { lose-answer: { x: 1 } }, at: shop, on: [confirm], during: 1s..4s, chance: 10% }
         |                          ^
    ");
}

#[test]
fn two_keys_where_one_is_chosen() {
    insta::assert_snapshot!(told("{ uniform: { from: 100ms, to: 300ms } }", "{ constant: 1s, uniform: { from: 100ms, to: 300ms } }"), @r"
    scenarios/small.yaml:12:55: expected exactly one key, one of constant, uniform, log-normal, pareto, exponential, percentiles, found 2
      12 |       - ask-user: { approve: 90%, decline: 5%, after: { constant: 1s, uniform: { from: 100ms, to: 30
         |                                                       ^
    ");
}

#[test]
fn huge_number() {
    insta::assert_snapshot!(told("seed: 1", "seed: 99999999999999999999999"), @r"
    scenarios/small.yaml:2:7: expected a whole number from 0 to 18446744073709551615, found `99999999999999999999999`
      2 | seed: 99999999999999999999999
        |       ^
    ");
}

#[test]
fn infinite_number() {
    insta::assert_snapshot!(told("seed: 1", "seed: .inf"), @r"
    scenarios/small.yaml:2:7: expected a whole number, found `.inf`
      2 | seed: .inf
        |       ^
    ");
}

#[test]
fn drafts_that_differ() {
    insta::assert_snapshot!(told("count: 2", "sessions: { dpop-0.1: {} }, count: 2"), @r"
    scenarios/small.yaml:4:36: `shop` speaks Sessions of dpop-0.1, the Agents of dpop-0.2; expected the same (`agents.session_mode`)
      4 |   shop: { profile: shop, sessions: { dpop-0.1: {} }, count: 2, defects: [] }
        |                                    ^
    ");
}

#[test]
fn name_with_a_path() {
    insta::assert_snapshot!(told("profile: shop", "profile: ../shop"), @r"
    scenarios/small.yaml:4:20: `../shop` is no name of a profile; expected letters, digits and dashes
      4 |   shop: { profile: ../shop, count: 2, defects: [] }
        |                    ^
    ");
}

#[test]
fn name_with_capitals() {
    insta::assert_snapshot!(told("scenario: small", "scenario: Small one"), @r"
    scenarios/small.yaml:1:11: `Small one` is no name of a scenario; expected small letters, digits and dashes between them, 60 at most
      1 | scenario: Small one
        |           ^
    ");
}

#[test]
fn two_documents() {
    insta::assert_snapshot!(told("settle: 5s", "settle: 5s\n---\nmore: 1"), @r"
    scenarios/small.yaml:22:1: a second document begins here; expected one document a file
      22 | ---
         | ^
    ");
}

#[test]
fn unknown_alias() {
    insta::assert_snapshot!(told("settle: 5s", "settle: *five"), @r"
    scenarios/small.yaml:21:9: an alias without an anchor of that name before it
      21 | settle: *five
         |         ^
    ");
}

#[test]
fn second_propose() {
    insta::assert_snapshot!(told("      - track\n", "      - propose: { at: shop, action: exchange }\n"), @r"
    scenarios/small.yaml:14:9: a second `propose`; expected one a journey, as its first step
      14 |       - propose: { at: shop, action: exchange }
         |         ^
    ");
}

#[test]
fn step_after_leaving() {
    insta::assert_snapshot!(told("      - track\n", "      - walk-away\n      - track\n"), @r"
    scenarios/small.yaml:15:9: a step after `walk-away`; expected none
      15 |       - track
         |         ^
    ");
}

#[test]
fn confirm_before_propose() {
    insta::assert_snapshot!(told("      - propose: { at: shop, action: exchange }\n", ""), @r"
    scenarios/small.yaml:11:9: nothing has been proposed before this step; expected `propose` first
      11 |       - ask-user: { approve: 90%, decline: 5%, after: { uniform: { from: 100ms, to: 300ms } } }
         |         ^
    ");
}

#[test]
fn no_rate_at_all() {
    insta::assert_snapshot!(told("closed: { agents: 10, think: 1s, for: 5s }", "open: { rate: 0/s, for: 5s }"), @r"
    scenarios/small.yaml:16:19: the rate is 0 all the time; expected more
      16 |   - open: { rate: 0/s, for: 5s }
         |                   ^
    ");
}

#[test]
fn agents_and_stages() {
    insta::assert_snapshot!(told("agents: 10, think", "agents: 10, stages: [{ agents: 0..5, for: 1s }], think"), @r"
    scenarios/small.yaml:16:5: expected either `agents` or `stages`
      16 |   - closed: { agents: 10, stages: [{ agents: 0..5, for: 1s }], think: 1s, for: 5s }
         |     ^
    ");
}

#[test]
fn restart_longer_than_its_interval() {
    insta::assert_snapshot!(told("do: lose-answer", "do: { restart: { every: 1s, down_for: 2s } }"), @r"
    scenarios/small.yaml:18:45: down for 2s of every 1s; expected less
      18 |   - { do: { restart: { every: 1s, down_for: 2s } }, at: shop, on: [confirm], during: 1s..4s, chance:
         |                                             ^
    scenarios/small.yaml:18:67: `restart` strikes no requests; expected no `on`
      18 |   - { do: { restart: { every: 1s, down_for: 2s } }, at: shop, on: [confirm], during: 1s..4s, chance:
         |                                                                   ^
    scenarios/small.yaml:23:9: `faults.lose-answer >= 5` cannot be reached: no fault of this scenario does that
      23 | reach: [faults.lose-answer >= 5]
         |         ^
    ");
}

#[test]
fn more_operators_without_the_extension_than_operators() {
    insta::assert_snapshot!(told("users: 10", "without_extension: 2"), @r"
    scenarios/small.yaml:6:22: `without_extension` is 2; expected at most the 1 of `operators`
      6 |   without_extension: 2
        |                      ^
    ");
}

#[test]
fn expected_anomaly_that_is_not_judged() {
    insta::assert_snapshot!(told("must: []", "must: [busy-poll] }\ninvariants: { except: [busy-poll]"), @r"
    scenarios/small.yaml:22:18: `busy-poll` has to show, but `invariants` leaves it out
      22 | expect: { must: [busy-poll] }
         |                  ^
    ");
}

#[test]
fn profile_and_company() {
    insta::assert_snapshot!(told("profile: shop, count: 2, defects: []", "count: 2"), @r"
    scenarios/small.yaml:4:3: expected either `profile` (the name of a Company file) or `company` (a whole one)
      4 |   shop: { count: 2 }
        |   ^
    ");
}

#[test]
fn one_domain_for_several() {
    insta::assert_snapshot!(told("count: 2", "domain: shop.example, count: 2"), @r"
    scenarios/small.yaml:4:34: `shop.example` is one domain for several Companies; expected `{n}` in it
      4 |   shop: { profile: shop, domain: shop.example, count: 2, defects: [] }
        |                                  ^
    ");
}

#[test]
fn percentile_that_is_none() {
    insta::assert_snapshot!(told("recovery.p99 < 30s", "recovery.99 < 30s"), @r"
    scenarios/small.yaml:24:23: expected a percentile like `p99` or `p99.9`, found `99`
      24 | thresholds: [recovery.99 < 30s, throughput >= 5/s]
         |                       ^
    ");
}

#[test]
fn fault_at_nobody() {
    insta::assert_snapshot!(told("at: shop, on", "at: shop-3, on"), @r"
    scenarios/small.yaml:18:28: unknown Company or group `shop-3`; expected one of shop, shop-1, shop-2; did you mean `shop-1`?
      18 |   - { do: lose-answer, at: shop-3, on: [confirm], during: 1s..4s, chance: 10% }
         |                            ^
    ");
}

#[test]
fn same_domain_twice() {
    let groups = "shop: { profile: shop }\n  other: { profile: shop, domain: shop-1.example }";
    insta::assert_snapshot!(told("shop: { profile: shop, count: 2, defects: [] }", groups), @r"
    scenarios/small.yaml:4:3: two Companies have the domain `shop-1.example`; expected one each
      4 |   shop: { profile: shop }
        |   ^
    ");
}

#[test]
fn crash_at_a_step() {
    insta::assert_snapshot!(told("perform.after-effect } }", "perform.after-effect } }, step: charge"), @r"
    scenarios/small.yaml:20:61: `crash` strikes no single steps; expected no `step`
      20 |   - { do: { crash: { point: perform.after-effect } }, step: charge }
         |                                                             ^
    ");
}

#[test]
fn request_fault_at_the_backend() {
    insta::assert_snapshot!(told("on: [confirm]", "on: [confirm, backend]"), @r"
    scenarios/small.yaml:18:38: `lose-answer` does not strike requests to the backend; expected `backend-slow` or `backend-timeout` for those
      18 |   - { do: lose-answer, at: shop, on: [confirm, backend], during: 1s..4s, chance: 10% }
         |                                      ^
    ");
}

#[test]
fn a_crash_at_an_action_that_there_is_not() {
    let crash = |more: &str| told("perform.after-effect }", &format!("perform.after-effect, {more} }}"));
    assert_eq!(crash("action: exchange, how: revised, once: operation"), "no mistake");
    insta::assert_snapshot!(crash("action: exchanges"), @r"
    scenarios/small.yaml:20:59: unknown action `exchanges`; expected `exchange`; did you mean `exchange`?
      20 |   - { do: { crash: { point: perform.after-effect, action: exchanges } } }
         |                                                           ^
    ");
    insta::assert_snapshot!(crash("how: revise"), @r"
    scenarios/small.yaml:20:56: unknown manner of an operation `revise`; expected one of plain, revised, repeated, cancelled, direct; did you mean `revised`?
      20 |   - { do: { crash: { point: perform.after-effect, how: revise } } }
         |                                                        ^
    ");
    insta::assert_snapshot!(crash("once: always"), @r"
    scenarios/small.yaml:20:57: unknown span `always`; expected one of run, operation
      20 |   - { do: { crash: { point: perform.after-effect, once: always } } }
         |                                                         ^
    ");
}

/// What is said about the small scenario with this network.
fn told_of_network(network: &str) -> String {
    told("settle: 5s", &format!("network:\n  {network}\nsettle: 5s"))
}

#[test]
fn a_network_without_a_mistake() {
    let partitions = "partitions: [{ at: shop, direction: answers, during: 1s..2s }, { at: shop-2, during: 2s..3s }]";
    let network =
        format!("latency: {{ uniform: {{ from: 1ms, to: 9ms }} }}\n  loss: 2%\n  duplicate: 0.5%\n  {partitions}");
    assert_eq!(told_of_network(&network), "no mistake");
    let reach = "reach: [faults.partition >= 5, faults.lose-request >= 1, faults.duplicate >= 1]";
    let network = format!("network:\n  {network}\n{reach}");
    assert_eq!(told("reach: [faults.lose-answer >= 5]", &network), "no mistake");
}

#[test]
fn misspelt_key_of_a_network() {
    insta::assert_snapshot!(told_of_network("los: 2%"), @r"
    scenarios/small.yaml:22:3: unknown key `los`; expected one of latency, loss, duplicate, partitions; did you mean `loss`?
      22 |   los: 2%
         |   ^
    ");
}

#[test]
fn misspelt_direction_of_a_partition() {
    insta::assert_snapshot!(told_of_network("partitions: [{ direction: answer, during: 1s..2s }]"), @r"
    scenarios/small.yaml:22:29: unknown direction `answer`; expected one of both, requests, answers; did you mean `answers`?
      22 |   partitions: [{ direction: answer, during: 1s..2s }]
         |                             ^
    ");
}

#[test]
fn a_partition_that_can_cut_nobody_off() {
    insta::assert_snapshot!(told_of_network("partitions: [{ at: shops, during: 1s..2s }, { during: 5s..6s }]"), @r"
    scenarios/small.yaml:22:22: unknown Company or group `shops`; expected one of shop, shop-1, shop-2; did you mean `shop`?
      22 |   partitions: [{ at: shops, during: 1s..2s }, { during: 5s..6s }]
         |                      ^
    scenarios/small.yaml:22:57: the window begins when load has ended, after 5s; expected it earlier
      22 |   partitions: [{ at: shops, during: 1s..2s }, { during: 5s..6s }]
         |                                                         ^
    ");
}

#[test]
fn a_network_that_lets_nothing_through() {
    insta::assert_snapshot!(told_of_network("loss: 100%"), @r"
    scenarios/small.yaml:22:9: a loss of 100% lets nothing through; expected less, or a partition
      22 |   loss: 100%
         |         ^
    ");
}

#[test]
fn a_minimum_of_partitions_that_there_are_not() {
    insta::assert_snapshot!(told("faults.lose-answer >= 5", "faults.partition >= 5"), @r"
    scenarios/small.yaml:23:9: `faults.partition >= 5` cannot be reached: no fault of this scenario does that
      23 | reach: [faults.partition >= 5]
         |         ^
    ");
}

#[test]
fn the_clock_moves_by_something_and_anywhere() {
    let told_of_nothing = told("- track", "- later: 0s\n      - track");
    assert!(
        told_of_nothing.starts_with("scenarios/small.yaml:14:")
            && told_of_nothing.contains("moves the clock by nothing"),
        "{told_of_nothing}"
    );
    for step in ["- propose: { at", "- confirm", "- track"] {
        assert_eq!(told(step, &format!("- later: 30d\n      {step}")), "no mistake");
    }
}
