//! The notation of the catalogue's examples, read into records (tests only): `docs/anomalies.md` explains it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::history::record::{LedgerRecord, Record};

const OPERATION: &str = "op1";

/// Reads a script; a mistake in it panics, since scripts stand in tests alone.
pub(crate) fn read(script: &str) -> (Vec<Record>, Vec<LedgerRecord>) {
    let mut writer = Script::default();
    let statements: Vec<Vec<&str>> =
        script.split(';').map(|statement| statement.split_whitespace().collect()).collect();
    writer.prepare(&statements);
    for statement in &statements {
        writer.statement(statement);
    }
    writer.finish()
}

#[derive(Default)]
struct Script {
    observes: BTreeSet<String>,
    steps: Vec<String>,
    receipts: Vec<String>,
    digests: BTreeSet<String>,
    confirmed_at: f64,
    has_confirm: bool,
    /// Time, whether it is the ledger's, and the event as its single-key map.
    lines: Vec<(f64, bool, Value)>,
    calls: usize,
    effects: usize,
    order: Option<String>,
    clock_error_ms: u64,
    cut: BTreeSet<String>,
    settles: bool,
    interrupted: bool,
}

/// The words of one statement, taken apart.
#[derive(Default)]
struct Words<'a> {
    revision: Option<u64>,
    from: f64,
    to: f64,
    answer: Option<&'a str>,
    shown: Option<u64>,
    names: Vec<&'a str>,
    before: BTreeMap<&'a str, &'a str>,
    after: BTreeMap<&'a str, &'a str>,
}

fn words<'a>(statement: &[&'a str]) -> Words<'a> {
    let mut words = Words::default();
    let mut timed = false;
    for word in &statement[1..] {
        let revision = word.strip_prefix('r').and_then(|digits| digits.parse().ok());
        if let Some((from, to)) = word.split_once("..") {
            (words.from, words.to) = (from.parse().expect(word), to.parse().expect(word));
            timed = true;
        } else if let Some(at) = word.strip_prefix('@') {
            words.from = at.parse().expect(word);
            timed = true;
        } else if let Some((key, value)) = word.split_once('=') {
            if timed { &mut words.after } else { &mut words.before }.insert(key, value);
        } else if revision.is_some() {
            *(if timed { &mut words.shown } else { &mut words.revision }) = revision;
        } else if timed {
            words.answer = Some(word);
        } else {
            words.names.push(word);
        }
    }
    words
}

fn wall(seconds: f64) -> String {
    let start: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
    let at = start + jiff::SignedDuration::from_millis((seconds * 1000.0).round() as i64);
    format!("{at:.3}")
}

fn action(words: &Words<'_>) -> String {
    format!(
        "shop/{}/{}",
        words.before.get("kind").unwrap_or(&"operation"),
        words.before.get("op").unwrap_or(&OPERATION)
    )
}

fn number(words: &Words<'_>, index: usize) -> u64 {
    words.names[index].parse().expect("a number")
}

impl Script {
    /// What a statement depends on, wherever it stands: observations, steps, receipts, the first confirm.
    fn prepare(&mut self, statements: &[Vec<&str>]) {
        self.observes.insert("calls".to_owned());
        // Where a Company counts for itself, nobody sees its effects.
        let counts = |statement: &Vec<&str>| matches!(statement[0], "performed" | "totals");
        if !statements.iter().any(counts) || statements.iter().any(|statement| statement[0] == "effect") {
            self.observes.insert("ledger".to_owned());
        }
        self.steps = vec!["wrap".to_owned()];
        self.settles = true;
        self.confirmed_at = 5.0;
        for statement in statements {
            let observation = match statement[0] {
                "approve" | "withdraw" | "decline" | "standing" => "approvals",
                "attempt" | "answered" | "unanswered" => "attempts",
                "offer" => "offers",
                "session" => "sessions",
                "arrived" | "answers" => "wire",
                "performed" | "totals" => "performed",
                _ => "calls",
            };
            self.observes.insert(observation.to_owned());
            match statement[0] {
                "steps" => self.steps = statement[1..].iter().map(|step| (*step).to_owned()).collect(),
                "effect" | "undo" => self.receipts.push(format!("rtn_{}", self.receipts.len() + 1)),
                "confirm" if !self.has_confirm => {
                    (self.has_confirm, self.confirmed_at) = (true, words(statement).from);
                }
                _ => {}
            }
        }
    }

    fn push(&mut self, at: f64, event: Value) {
        self.lines.push((at, false, event));
    }

    fn statement(&mut self, statement: &[&str]) {
        let words = words(statement);
        match statement[0] {
            "steps" => {}
            "observe" => self.observes.extend(words.names[0].split(',').map(str::to_owned)),
            "forget" => {
                self.observes.remove(words.names[0]);
            }
            "order" => self.order = Some(words.names[0].to_owned()),
            "clock" => self.clock_error_ms = words.names[0].parse().expect("milliseconds"),
            "cut" => {
                self.cut.extend(words.names.iter().map(|name| (*name).to_owned()));
                self.settles = false;
            }
            "unsettled" => self.settles = false,
            "settled" => {
                self.settles = false;
                self.push(words.from, json!({"phase": {"is": "settled"}}));
            }
            "interrupted" => self.interrupted = true,
            "propose" | "read" | "confirm" | "cancel" => self.call(statement[0], &words),
            "effect" | "undo" => self.effect(statement[0] == "undo", &words),
            "unattended" => {
                let fault = json!({"id": "settle", "do": "settle-failed", "action": action(&words)});
                self.push(words.from, json!({"fault": fault}));
            }
            "performed" => {
                let performed = json!({"action": action(&words), "times": number(&words, 0)});
                self.lines.push((words.from, true, json!({"performed": performed})));
            }
            "totals" => {
                let (performed, operations) = (number(&words, 0), number(&words, 1));
                let totals = json!({"company": "shop", "performed": performed, "operations": operations});
                self.lines.push((words.from, true, json!({"totals": totals})));
            }
            "approve" => self.approval("approved", &words),
            "withdraw" => self.approval("withdrawn", &words),
            "decline" => self.approval("declined", &words),
            "standing" => {
                let bounds = json!({"company": "shop", "kind": "gift", "up_to_minor": words.names[0].parse::<u64>().expect("minor"), "currency": "USD"});
                self.push(words.from, json!({"approval": {"is": "standing", "user": "u1", "bounds": bounds}}));
            }
            "attempt" => self.attempt("sent", &words),
            "answered" => self.attempt("answered", &words),
            "unanswered" => self.attempt("unanswered", &words),
            "offer" => {
                let revision = words.revision.expect("a revision");
                let offer = json!({"action": action(&words), "revision": revision, "terms": self.digest(revision, &words.before), "expires_at": self.expiry(revision, &words.before)});
                self.push(words.from, json!({"offer": offer}));
            }
            "session" => {
                let extensions: &[&str] = if words.names.contains(&"listed") { &["operations"] } else { &[] };
                let session = json!({"id": words.names[0], "company": "shop", "operator": "o1", "user": "u1", "extensions": extensions});
                self.push(0.0, json!({"session": session}));
            }
            "arrived" | "answers" => {
                let is = if statement[0] == "arrived" { "arrived" } else { "answered" };
                let call = format!("c{}", words.names[0]);
                self.push(words.from, json!({"wire": {"call": call, "copy": 1, "is": is}}));
            }
            other => panic!("no such statement: {other}"),
        }
    }

    fn digest(&mut self, revision: u64, options: &BTreeMap<&str, &str>) -> String {
        let digest = options.get("terms").map_or_else(|| format!("d{revision}"), |terms| (*terms).to_owned());
        self.digests.insert(digest.clone());
        digest
    }

    fn expiry(&self, revision: u64, options: &BTreeMap<&str, &str>) -> String {
        let seconds = options.get("exp").map_or(900.0 + revision as f64, |text| text.parse().expect("seconds"));
        if options.contains_key("coarse") { wall(seconds).replace(".000", "") } else { wall(seconds) }
    }

    fn call(&mut self, purpose: &str, words: &Words<'_>) {
        self.calls += 1;
        let id = format!("c{}", self.calls);
        let option = |key: &str| words.before.get(key).copied();
        let by = |name: Option<&&str>| if name == Some(&"standing") { "standing_permission" } else { "user" };
        let mut call =
            json!({"id": id, "process": option("process").unwrap_or("a1"), "do": purpose, "company": "shop"});
        call["proof"] = json!(option("proof").map_or_else(|| format!("proof-{id}"), str::to_owned));
        if let Some(session) = option("session") {
            call["session"] = json!(session);
        }
        if purpose == "propose" {
            call["intent"] = json!(option("intent").unwrap_or("i0"));
            call["kind"] = json!("gift");
        } else {
            call["action"] = json!(action(words));
        }
        if purpose == "confirm" {
            call["revision"] = json!(words.revision.expect("a revision"));
            call["approved_by"] = json!(by(words.before.get("by")));
        }
        self.push(words.from, json!({"call": call}));
        let answer = words.answer.expect("an answer");
        if answer == "open" {
            return;
        }
        let (outcome, why) = answer.split_once(':').map_or((answer, None), |(outcome, why)| (outcome, Some(why)));
        let mut end = json!({"call": id});
        let is_outcome = matches!(outcome, "unknown" | "unsent" | "refused" | "done");
        end["outcome"] = json!(if is_outcome { outcome } else { "view" });
        if let Some(why) = why {
            end["why"] = json!(why);
        }
        if let Some(wait) = option("retry") {
            end["retry_after_ms"] = json!(wait.parse::<u64>().expect("milliseconds"));
        }
        if let Some(revision) = words.shown {
            let state = if is_outcome { "proposed" } else { answer };
            end["view"] = self.view(state, revision, words);
        }
        self.push(words.to, json!({"return": end}));
    }

    fn view(&mut self, state: &str, revision: u64, words: &Words<'_>) -> Value {
        let options = &words.after;
        let confirmed = match options.get("conf") {
            Some(&"none") => None,
            Some(revision) => Some(revision.parse().expect("a revision")),
            None => matches!(state, "in_progress" | "succeeded" | "failed").then_some(revision),
        };
        let by = if options.get("by") == Some(&"standing") { "standing_permission" } else { "user" };
        let at = options.get("at").map_or(self.confirmed_at, |text| text.parse().expect("seconds"));
        let confirmation =
            confirmed.map(|revision: u64| json!({"revision": revision, "approved_by": by, "confirmed_at": wall(at)}));
        let is_final = !matches!(state, "proposed" | "in_progress");
        let result = match options.get("result") {
            Some(&"none") => None,
            Some(text) => Some(text.replace('_', " ")),
            None => is_final.then(|| format!("Receipts: {}.", self.receipts.join(", "))),
        };
        json!({
            "action": action(words), "state": state, "revision": revision, "terms": self.digest(revision, options),
            "expires_at": self.expiry(revision, options), "confirmation": confirmation, "result": result,
            "user_approval_required": options.contains_key("only_user"),
        })
    }

    fn effect(&mut self, undo: bool, words: &Words<'_>) {
        let revision = words.revision.unwrap_or(1);
        let step = words.names[0];
        let (id, receipt) = (format!("e{}", self.effects + 1), self.receipts[self.effects].clone());
        self.effects += 1;
        let (named, undo_of) = if undo { (format!("undo-{step}"), Some(step)) } else { (step.to_owned(), None) };
        let effect = json!({
            "id": id, "action": action(words), "revision": revision, "terms": self.digest(revision, &words.before),
            "step": named, "key": format!("op1/{named}"), "receipt": receipt, "undo_of": undo_of,
        });
        self.lines.push((words.from, true, json!({"effect": effect})));
    }

    fn approval(&mut self, is: &str, words: &Words<'_>) {
        let mut approval = json!({"is": is, "user": "u1"});
        if words.names.first() != Some(&"standing") {
            approval["action"] = json!(action(words));
        }
        if let Some(revision) = words.revision {
            approval["revision"] = json!(revision);
            approval["terms"] = json!(self.digest(revision, &words.before));
        }
        self.push(words.from, json!({"approval": approval}));
    }

    fn attempt(&mut self, is: &str, words: &Words<'_>) {
        let step = words.names[0];
        let key = words.before.get("key").map_or_else(|| format!("op1/{step}"), |key| (*key).to_owned());
        let mut attempt = json!({"action": action(words), "step": step, "key": key, "is": is});
        if let Some(learnt) = words.answer {
            attempt["learnt"] = json!(learnt);
        }
        self.push(words.from, json!({"attempt": attempt}));
    }

    fn finish(mut self) -> (Vec<Record>, Vec<LedgerRecord>) {
        let run = json!({
            "format": 1, "seed": 1, "world": "simulated", "epoch": "2026-01-01T00:00:00Z",
            "order": self.order.as_deref().unwrap_or("total"), "observes": self.observes, "clock_error_ms": self.clock_error_ms,
        });
        let mut lines = vec![(0.0, false, json!({"run": run}))];
        for digest in &self.digests {
            let terms = json!({"digest": digest, "summary": "Gift wrap", "terms": {"price": "4.00 USD"}, "kind": "gift", "steps": self.steps});
            lines.push((0.0, false, json!({"terms": terms})));
        }
        self.lines.sort_by(|a, b| a.0.total_cmp(&b.0));
        let last = self.lines.last().map_or(0.0, |(at, ..)| *at);
        lines.append(&mut self.lines);
        if self.interrupted {
            lines.push((last + 50.0, false, json!({"phase": {"is": "interrupted"}})));
        } else if self.settles {
            lines.push((last + 60.0, false, json!({"phase": {"is": "settled"}})));
        }
        let ledger_lines = lines.iter().filter(|(_, ledger, _)| *ledger).count();
        let end = |records: usize| json!({"end": {"records": records, "lost": 0}});
        let history_lines = lines.len() - ledger_lines;
        if !self.cut.contains("history") {
            lines.push((last + 60.0, false, end(history_lines)));
        }
        if !self.cut.contains("ledger") {
            lines.push((last + 60.0, true, end(ledger_lines)));
        }
        let (mut history, mut ledger) = (Vec::new(), Vec::new());
        for (seq, (at, to_ledger, mut event)) in lines.into_iter().enumerate() {
            event["seq"] = json!(seq);
            event["at"] = json!((at * 1e9).round() as u64);
            if to_ledger {
                ledger.push(serde_json::from_value(event).expect("a ledger record"));
            } else {
                history.push(serde_json::from_value(event).expect("a record"));
            }
        }
        (history, ledger)
    }
}
