//! Finding and reading files.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::node::Node;
use super::problem::{Findings, Place, nearest, shown};
use super::yaml;
use crate::limits;

/// The bytes of an interval log, or what is wrong.
pub(super) fn read_log(path: &Path) -> Result<Vec<u8>, String> {
    if path.is_dir() {
        return Err("this is a folder; expected the `latency.hlog` in it".to_owned());
    }
    let unreadable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => format!("cannot be read: {error}"),
    };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    let most = limits::LOG_BYTES_MAX;
    file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > most {
        return Err(format!("the file is too large; expected at most {} MiB", most / (1024 * 1024)));
    }
    Ok(bytes)
}

/// The folder that profiles are looked up in.
const PROFILES: &str = "sim-companies";

/// Reads a file into a tree; what is wrong goes to `findings`.
pub(super) fn read(path: &Path, findings: &mut Findings) -> Option<Node> {
    let text = text(path);
    let problem = text.as_ref().err().cloned();
    let file = findings.add_source(path.display().to_string(), text.unwrap_or_default());
    match problem {
        Some((line, message)) => {
            findings.report(Place { file, line, column: line.min(1) }, message);
            None
        }
        None => yaml::parse(file, findings),
    }
}

/// The text of a file, or the line and what is wrong.
fn text(path: &Path) -> Result<String, (u32, String)> {
    if path.is_dir() {
        return Err((0, "this is a folder; expected a YAML file".to_owned()));
    }
    let unreadable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => (0, "there is no such file".to_owned()),
        _ => (0, format!("cannot be read: {error}")),
    };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    let most = limits::FILE_BYTES_MAX;
    file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > most {
        return Err((0, format!("the file is too large; expected at most {} KiB", most / 1024)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = &error.as_bytes()[..valid];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        (u32::try_from(line).unwrap_or(u32::MAX), "this is not UTF-8; expected a YAML file in UTF-8".to_owned())
    })
}

/// Reads the profile of that name, which a scenario in `folder` names at `place`.
pub(super) fn read_profile(name: &str, place: Place, folder: &Path, findings: &mut Findings) -> Option<Node> {
    let folders = profile_folders(folder);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || !name.chars().all(plain) {
        findings.report(place, format!("{} is no name of a profile; expected letters, digits and dashes", shown(name)));
        return None;
    }
    let found = folders.iter().map(|folder| folder.join(format!("{name}.yaml"))).find(|path| path.exists());
    if let Some(path) = found {
        return read(&path, findings);
    }
    let names: Vec<String> = folders.iter().flat_map(|folder| profiles_in(folder)).collect();
    let places: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    let message = format!("unknown profile {}; expected a file {name}.yaml in {}", shown(name), places.join(" or "));
    findings.report_near(place, message, nearest(name, names.iter().map(String::as_str)));
    None
}

/// Where profiles are looked up: beside the scenario's folder, then under the working directory.
fn profile_folders(folder: &Path) -> Vec<PathBuf> {
    let beside = match folder.parent() {
        _ if folder.as_os_str().is_empty() => Path::new("..").join(PROFILES),
        Some(parent) if folder.file_name().is_some() => parent.join(PROFILES),
        _ => folder.join("..").join(PROFILES),
    };
    let mut folders = vec![beside];
    if folders[0] != Path::new(PROFILES) {
        folders.push(PathBuf::from(PROFILES));
    }
    folders
}

/// The names of the profiles in a folder, sorted.
fn profiles_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let yaml = path.extension().is_some_and(|extension| extension == "yaml");
            if yaml { path.file_stem()?.to_str().map(str::to_owned) } else { None }
        })
        .collect();
    names.sort();
    names
}
