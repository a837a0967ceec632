//! Requests in the words of a target file: methods, URLs, bodies, placeholders, places in answers.

use indexmap::IndexSet;
use serde_json::Value;

use crate::plan::{FakeValue, Piece, RequestShape, pieces};
use crate::scenario::problem::{Findings, Place, nearest, one_of, shown};
use crate::scenario::raw::RequestFields;
use crate::scenario::value::At;

/// What a URL is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Destination {
    /// A request to the target.
    Target,
    /// A request to its operator.
    Hook,
    /// A `client_id`.
    Client,
    /// A `resource`.
    Resource,
}

impl Destination {
    fn expected(self) -> &'static str {
        match self {
            Self::Target => "a path like `/api/orders` or an absolute HTTPS URL",
            Self::Hook => "an absolute URL like `http://127.0.0.1:18444/settle`",
            Self::Client => "an HTTPS URL like `https://agent.example/agent.json`",
            Self::Resource => "an HTTPS URL like `https://shop.example/api`",
        }
    }

    /// What comes after the scheme.
    fn after_scheme(self, url: &str) -> Option<&str> {
        let plain = if self == Self::Hook { url.strip_prefix("http://") } else { None };
        plain.or_else(|| url.strip_prefix("https://"))
    }
}

/// Names the run among all of the target: known in every text.
pub(super) const RUN_PLACEHOLDER: &str = "run";

/// The placeholders that are known somewhere, apart from what `fake` makes up.
#[derive(Debug, Default)]
pub(super) struct Scope {
    names: IndexSet<String>,
    /// There are no accounts, since nobody signs in.
    no_account: bool,
}

impl Scope {
    pub(super) fn of(names: &[&str]) -> Self {
        let names = names.iter().chain([&RUN_PLACEHOLDER]);
        Self { names: names.map(|name| (*name).to_owned()).collect(), no_account: false }
    }

    pub(super) fn add(&mut self, name: &str) {
        self.names.insert(name.to_owned());
    }

    pub(super) fn lacks_account(&mut self) {
        self.no_account = true;
    }

    /// Reports each placeholder of a text that is not known.
    pub(super) fn check(&self, text: &str, place: Place, findings: &mut Findings) {
        for piece in pieces(text) {
            let Piece::Placeholder(name) = piece else { continue };
            let made_up = name.strip_prefix("fake.");
            if self.names.contains(name) || made_up.is_some_and(|word| FakeValue::from_word(word).is_some()) {
                continue;
            }
            if self.no_account && name == super::ACCOUNT_PLACEHOLDER {
                findings
                    .report(place, "`{account}` where nobody signs in; expected `sign_in` in this file, or `{user}`");
                continue;
            }
            let fakes: Vec<String> = FakeValue::ALL.iter().map(|value| format!("fake.{}", value.word())).collect();
            let fakes = fakes.iter().map(String::as_str);
            let names = self.names.iter().map(String::as_str);
            let expected =
                if made_up.is_some() { one_of(fakes.clone()) } else { one_of(names.clone().chain(["fake.WORD"])) };
            let message = format!("unknown placeholder {}; expected {expected}", shown(&format!("{{{name}}}")));
            findings.report_near(place, message, nearest(name, names.chain(fakes)));
        }
    }

    fn check_body(&self, body: &Value, place: Place, findings: &mut Findings) {
        for (name, place) in unquoted(body, place, findings) {
            findings.report(place, format!("`{{{name}}}` without quotes is a map; expected `\"{{{name}}}\"`"));
        }
        each_text(body, &mut |text| self.check(text, place, findings));
    }
}

/// The placeholders of a body that lack their quotes, and where: to YAML `{name}` is a map with one key and no value.
pub(super) fn unquoted(body: &Value, place: Place, findings: &Findings) -> Vec<(String, Place)> {
    let mut names = Vec::new();
    note_lone_keys(body, &mut names);
    let place_of = |name: String| unquoted_place(&name, place, findings.text(place.file)).map(|place| (name, place));
    names.into_iter().filter_map(place_of).collect()
}

/// The keys of maps with one key and no value.
fn note_lone_keys(body: &Value, names: &mut Vec<String>) {
    match body {
        Value::Array(items) => items.iter().for_each(|item| note_lone_keys(item, names)),
        Value::Object(members) => match members.iter().next() {
            Some((name, Value::Null)) if members.len() == 1 => names.push(name.clone()),
            _ => members.values().for_each(|member| note_lone_keys(member, names)),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Where `{name}` stands as a value without quotes, from a place on. `{ name: null }` is something else.
fn unquoted_place(name: &str, from: Place, text: &str) -> Option<Place> {
    let written = format!("{{{name}}}");
    let mut lines = (1..).zip(text.lines()).skip((from.line as usize).saturating_sub(1));
    lines.find_map(|(number, line): (u32, &str)| {
        let (start, _) = line.match_indices(&written).find(|(start, _)| {
            let before = line[..*start].trim_end();
            before.is_empty() || before.ends_with([':', ',', '[', '-'])
        })?;
        Some(Place { line: number, column: 1, ..from }.shifted(line[..start].chars().count()))
    })
}

/// Hands over every text of a body.
pub(super) fn each_text(body: &Value, found: &mut impl FnMut(&str)) {
    match body {
        Value::String(text) => found(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, found)),
        Value::Object(members) => members.values().for_each(|member| each_text(member, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Checks a request to the target that stands at `place`.
pub(super) fn shape(fields: RequestFields<'_>, place: Place, scope: &Scope, findings: &mut Findings) -> RequestShape {
    let (method, url) = checked(fields, place, Destination::Target, scope, findings);
    RequestShape { method: method.into(), url, body: fields.body.map(|body| body.value.clone()) }
}

/// The method and the URL of a request.
pub(super) fn checked(
    fields: RequestFields<'_>,
    place: Place,
    destination: Destination,
    scope: &Scope,
    findings: &mut Findings,
) -> (&'static str, String) {
    let given: Vec<_> = fields.methods.iter().filter_map(|(method, url)| Some((*method, (*url)?))).collect();
    let Some((method, url)) = given.first() else {
        let words: Vec<String> = fields.methods.iter().map(|(method, _)| method.to_lowercase()).collect();
        let words = one_of(words.iter().map(String::as_str));
        findings.report(place, format!("a request without a method and its URL; expected {words}"));
        return ("POST", String::new());
    };
    if let Some((other, second)) = given.get(1) {
        let (one, other) = (method.to_lowercase(), other.to_lowercase());
        findings.report(second.place, format!("a request with both `{one}` and `{other}`; expected one of them"));
    }
    check_url(url, destination, scope, findings);
    if let Some(body) = fields.body {
        if *method == "GET" {
            findings.report(body.place, "a `get` with a body; expected none");
        }
        scope.check_body(&body.value, body.place, findings);
    }
    (method, url.value.clone())
}

/// Reports what is wrong with a URL and its placeholders.
pub(super) fn check_url(url: &At<String>, destination: Destination, scope: &Scope, findings: &mut Findings) {
    let expected = destination.expected();
    let known = matches!(destination, Destination::Target | Destination::Hook);
    let filled = if known { filled(&url.value) } else { url.value.clone() };
    let parses = filled.is_ascii() && !filled.contains(['{', '}', '"', '#']) && filled.parse::<http::Uri>().is_ok();
    let is_path = destination == Destination::Target && url.value.starts_with('/') && !url.value.starts_with("//");
    let after_scheme = destination.after_scheme(&url.value);
    let authority = after_scheme.map(|rest| rest.split(['/', '?']).next().unwrap_or_default());
    if known && authority.is_some_and(|text| pieces(text).any(|piece| matches!(piece, Piece::Placeholder(_)))) {
        findings.report(url.place, format!("a placeholder in the host of {}; expected a host", shown(&url.value)));
        return;
    }
    if let Some(port) = authority.and_then(port_of).filter(|port| !is_port(port)) {
        let message = format!("{} has the port {}; expected 1 to 65535", shown(&url.value), shown(port));
        findings.report(url.place, message);
        return;
    }
    let is_absolute = authority.is_some_and(|text| !text.is_empty() && !text.starts_with(':') && !text.contains('@'));
    if !parses || !(is_path || is_absolute) {
        findings.report(url.place, format!("expected {expected}, found {}", shown(&url.value)));
        return;
    }
    if known {
        scope.check(&url.value, url.place, findings);
    }
}

/// What stands after the colon of a host and port.
fn port_of(authority: &str) -> Option<&str> {
    let (host, port) = authority.rsplit_once(':')?;
    (!host.is_empty() && !port.is_empty() && !port.ends_with(']')).then_some(port)
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok_and(|port| port > 0)
}

/// A text with something in the place of each placeholder.
fn filled(text: &str) -> String {
    pieces(text)
        .map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Placeholder(_) => "x",
        })
        .collect()
}

/// Reports what is no place in an answer (RFC 6901).
pub(super) fn check_pointer(pointer: &At<String>, findings: &mut Findings) {
    let text = pointer.value.as_str();
    let escapes = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    if !text.starts_with('/') || !escapes {
        let message = format!("{} is no JSON Pointer; expected one like `/orders/0/order_id`", shown(text));
        findings.report(pointer.place, message);
    }
}
