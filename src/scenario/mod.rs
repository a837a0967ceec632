//! Scenario, Company and target files: YAML to a checked plan, with line and column in every mistake; JSON Schema out.

mod anomalies;
mod decode;
mod files;
mod node;
mod problem;
mod raw;
mod resolve;
mod schema;
mod value;
mod written;
mod yaml;

use std::path::Path;

pub use anomalies::ANOMALIES;
pub use problem::{Problem, Problems};
pub use schema::schema;
pub use value::parse_duration;
pub use written::{resolved_target_yaml, resolved_yaml};

use crate::plan::{CompanyPlan, Plan, Target};
use node::Node;
use problem::{Findings, hint, nearest, shown};
use raw::{ScenarioFile, TargetFile};

/// What the command line lays over a scenario, and what it is checked against.
#[derive(Debug, Clone)]
pub struct Overrides {
    /// The seed, instead of the file's.
    pub seed: Option<u64>,
    /// TLS on or off, instead of the file's.
    pub tls: Option<bool>,
    /// The Company that takes the place of all others; TLS is on then.
    pub target: Option<Target>,
    /// The names of the anomalies that `invariants` and `expect` may speak of.
    pub anomalies: &'static [&'static str],
}

impl Default for Overrides {
    fn default() -> Self {
        Self { seed: None, tls: None, target: None, anomalies: ANOMALIES }
    }
}

/// What kind of file a file is; its first key says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// `scenario:`
    Scenario,
    /// `company:`
    Company,
    /// `target:`
    Target,
}

impl FileKind {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Scenario, "scenario"), (Self::Company, "company"), (Self::Target, "target")];

    /// The key that a file of this kind begins with.
    #[must_use]
    pub fn key(self) -> &'static str {
        Self::ALL.iter().find(|entry| entry.0 == self).map_or("", |entry| entry.1)
    }
}

/// What to add to a message about a name that is not known: which one may be meant. Empty if none is near.
#[must_use]
pub fn did_you_mean<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> String {
    nearest(text, names).map(|name| hint(&name)).unwrap_or_default()
}

/// Reads a scenario and the profiles it names, and points it at a target if there is one.
///
/// What cannot be had at the target is dropped; [`Plan::notes`] says what.
///
/// # Errors
/// Every mistake that was found in them.
pub fn load(path: &Path, overrides: &Overrides) -> Result<Plan, Problems> {
    let mut findings = Findings::default();
    let plan = files::read(path, &mut findings).and_then(|tree| match kind_of(&tree, &mut findings)? {
        FileKind::Scenario => resolve_scenario(&tree, path, overrides, &mut findings),
        other => {
            let message = format!("this file begins with `{}:`; expected a scenario (`scenario:`)", other.key());
            findings.report(tree.place, message);
            None
        }
    });
    findings.finish(plan)
}

/// Reads the text of a scenario that names no profiles, as [`resolved_yaml`] writes it; mistakes speak of it by `name`.
///
/// # Errors
/// Every mistake that was found in it.
pub fn load_text(name: &str, text: &str, overrides: &Overrides) -> Result<Plan, Problems> {
    let mut findings = Findings::default();
    let file = findings.add_source(name.to_owned(), text.to_owned());
    let plan = yaml::parse(file, &mut findings)
        .and_then(|tree| resolve_scenario(&tree, Path::new(name), overrides, &mut findings));
    findings.finish(plan)
}

/// Reads a Company file as `count` Companies of their own, without a scenario; the group is called like the profile.
///
/// # Errors
/// Every mistake that was found in it.
pub fn load_companies(path: &Path, count: u32) -> Result<Vec<CompanyPlan>, Problems> {
    let mut findings = Findings::default();
    let plans = files::read(path, &mut findings).and_then(|tree| companies(&tree, count, &mut findings));
    findings.finish(plans)
}

/// Reads a target file and the files it names.
///
/// # Errors
/// Every mistake that was found in them.
pub fn load_target(path: &Path) -> Result<Target, Problems> {
    let mut findings = Findings::default();
    let target = files::read(path, &mut findings).and_then(|tree| match kind_of(&tree, &mut findings)? {
        FileKind::Target => resolve_target(&tree, path, ANOMALIES, &mut findings),
        other => {
            let message = format!("this file begins with `{}:`; expected a target (`target:`)", other.key());
            findings.report(tree.place, message);
            None
        }
    });
    findings.finish(target)
}

/// Checks a file of any kind.
///
/// # Errors
/// Every mistake that was found in it.
pub fn validate(path: &Path, overrides: &Overrides) -> Result<FileKind, Problems> {
    let mut findings = Findings::default();
    let kind = files::read(path, &mut findings).and_then(|tree| {
        let kind = kind_of(&tree, &mut findings)?;
        match kind {
            FileKind::Scenario => resolve_scenario(&tree, path, overrides, &mut findings).map(|_| kind),
            FileKind::Company => companies(&tree, 1, &mut findings).map(|_| kind),
            FileKind::Target => resolve_target(&tree, path, overrides.anomalies, &mut findings).map(|_| kind),
        }
    });
    findings.finish(kind)
}

fn resolve_scenario(tree: &Node, path: &Path, overrides: &Overrides, findings: &mut Findings) -> Option<Plan> {
    let file: ScenarioFile = decode::decode(tree, findings)?;
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    resolve::resolve(&file, folder, overrides, findings)
}

fn resolve_target(tree: &Node, path: &Path, anomalies: &[&str], findings: &mut Findings) -> Option<Target> {
    let file: TargetFile = decode::decode(tree, findings)?;
    Some(resolve::resolve_target(&file, path, anomalies, findings))
}

fn companies(tree: &Node, count: u32, findings: &mut Findings) -> Option<Vec<CompanyPlan>> {
    resolve::companies_alone(tree, count, findings)
}

/// What kind of file this is.
fn kind_of(tree: &Node, findings: &mut Findings) -> Option<FileKind> {
    let expected = "expected `scenario:`, `company:` or `target:` as the first key";
    let Some(entry) = tree.first_key() else {
        findings.report(tree.place, format!("{expected}, found {}", tree.described()));
        return None;
    };
    let kind = FileKind::ALL.iter().find(|known| known.1 == entry.key).map(|known| known.0);
    if kind.is_none() {
        let near = nearest(&entry.key, FileKind::ALL.iter().map(|known| known.1));
        findings.report_near(entry.place, format!("{expected}, found {}", shown(&entry.key)), near);
    }
    kind
}

#[cfg(test)]
mod tests;
