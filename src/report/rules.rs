//! The rules of the protocol as people read them: `docs/rules.md` is [`page`], and `poppyfield rules` prints the rest.

use std::fmt::Write;

use super::{Style, format::counted, terminal::page::Page};
use crate::{
    checker::{Bond, RULES, Rule, Side},
    plan::Defect,
};

const HEAD: &str = "\
# Rules

The rules of the Operations extension, version 1, that a harness can see. `OC-…` bind Companies, `OA-…` Personal Agents;
`OP-…` are points that the text leaves open. Each with its section, the [anomalies](anomalies.md) that report it, where a
breach shows, and the [defects](defects.md) that break it when they are switched on. This page is made from the tables in
the code; `poppyfield rules [ID]` prints them.

A MUST that is broken fails a run (exit status 1). A SHOULD is a warning. An open point is never a failure. A breach shows on
the Agent's side (what it sent and was answered), on the User's side (what was approved), on the Company's side (its
Sessions, offers, requests to its backend, its own count) or in the ledger (what took effect); a history that lacks a side
leaves the rule not judged.
";

/// The parts of the page.
const PARTS: [(&str, Option<Side>); 3] =
    [("Of the Company", Some(Side::Company)), ("Of the Personal Agent", Some(Side::Agent)), ("Left open", None)];

/// The catalogue as Markdown.
#[must_use]
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    for (title, side) in PARTS {
        // Writing into a string cannot fail.
        let _ =
            write!(page, "\n## {title}\n\n| rule | level | section | what it says | reported as | shows | defects |\n");
        page.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
        for rule in RULES.iter().filter(|rule| rule.side() == side) {
            let (reported, shows) = match rule.unchecked {
                "" => (quoted(rule.anomalies().map(|entry| entry.name)), shows(rule)),
                why => (format!("not checked: {why}"), String::new()),
            };
            let Rule { id, source, text, .. } = rule;
            let (level, defects) = (rule.bond.word(), quoted(defects(rule).into_iter()));
            let _ = writeln!(page, "| {id} | {level} | {source} | {text} | {reported} | {shows} | {defects} |");
        }
    }
    page
}

/// One rule in full, in lines of at most `width` columns.
#[must_use]
pub fn rule(rule: &Rule, width: usize, style: Style) -> String {
    let mut page = Page::new(width, style);
    page.heading(&format!("{} ({})", rule.id, rule.bond.word()));
    page.entry("Says", rule.text);
    page.entry("Section", rule.source);
    if rule.unchecked.is_empty() {
        for (index, entry) in rule.anomalies().enumerate() {
            let label = if index == 0 { "Reported as" } else { "" };
            page.entry(label, &format!("{}: {}", entry.name, entry.definition));
        }
        page.entry("Shows", &shows(rule));
    } else {
        page.entry("Not checked", rule.unchecked);
    }
    for (index, word) in defects(rule).into_iter().enumerate() {
        page.entry(if index == 0 { "Defects" } else { "" }, word);
    }
    page.finish()
}

/// Every rule in a line or a few.
#[must_use]
pub fn list(width: usize, style: Style) -> String {
    let mut page = Page::new(width, style);
    let checked = RULES.iter().filter(|rule| rule.unchecked.is_empty()).count() as u64;
    let bound = RULES.iter().filter(|rule| rule.bond != Bond::Open).count() as u64;
    page.heading(&format!("{checked} of {} are checked", counted(bound, "rule", "rules")));
    for (title, side) in PARTS {
        page.blank();
        page.heading(title);
        for rule in RULES.iter().filter(|rule| rule.side() == side) {
            let mark = if rule.unchecked.is_empty() { ' ' } else { '-' };
            page.hanging(&format!("{mark} {:<6} {:<7} ", rule.id, rule.bond.word()), rule.text);
        }
    }
    page.blank();
    page.hanging("", "A rule marked - is not checked; `poppyfield rules ID` says why, or what reports it.");
    page.finish()
}

fn shows(rule: &Rule) -> String {
    rule.seen().iter().map(|seen| seen.word()).collect::<Vec<_>>().join(", ")
}

/// The defects that have to raise one of the rule's anomalies.
fn defects(rule: &Rule) -> Vec<&'static str> {
    let raises = |defect: &Defect| rule.anomalies().any(|entry| entry.name == defect.exposure().must);
    Defect::all().filter(raises).map(Defect::word).collect()
}

fn quoted(names: impl Iterator<Item = &'static str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `UPDATE_GENERATED=1 cargo test rules` writes the page anew.
    #[test]
    fn the_page_is_fresh() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/rules.md");
        let page = page();
        if std::env::var_os("UPDATE_GENERATED").is_some() {
            std::fs::write(path, &page).expect("docs/ is writable");
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(written == page, "docs/rules.md is stale: run `UPDATE_GENERATED=1 cargo test rules`");
    }

    #[test]
    fn a_rule_says_what_reports_it_and_one_that_nothing_reports_says_why() {
        let of = |id| rule(Rule::named(id).expect("it is listed"), 80, Style::Plain);
        insta::assert_snapshot!(of("OC-31") + "\n" + &of("oc-16"));
    }

    #[test]
    fn the_list_fits_a_terminal() {
        let list = list(80, Style::Plain);
        assert!(list.lines().all(|line| line.chars().count() <= 80), "{list}");
        assert!(RULES.iter().all(|rule| list.contains(rule.id)), "{list}");
    }
}
