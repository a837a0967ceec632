//! A run's folder: where everything about one run is written.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use serde::Serialize;

use super::Failure;
use crate::{
    checker::Finding,
    report::{Summary, anomaly_file, exploration::Exploration},
};

/// The most findings that get a file of their own; the summary counts all.
const ANOMALY_FILES_MAX: usize = 1_000;

/// The scenario as it was run, defaults filled in.
pub(super) const SCENARIO_FILE: &str = "scenario.yaml";
/// The target as it was loaded, defaults filled in.
pub(super) const TARGET_FILE: &str = "target.yaml";
/// The CA that certificates of the run's own parties come from, for whoever has to trust them.
pub(super) const AUTHORITY_FILE: &str = "ca.pem";
/// Everything that the terminal prints, for machines.
pub(super) const SUMMARY_FILE: &str = "summary.json";
/// Everything that the terminal prints of many seeds, for machines.
const EXPLORATION_FILE: &str = "exploration.json";
/// The interval log of latencies.
pub(super) const LATENCY_FILE: &str = "latency.hlog";
/// The folder of findings.
const ANOMALIES_FOLDER: &str = "anomalies";

/// The folder of one run.
#[derive(Debug)]
pub(super) struct RunFolder(PathBuf);

impl RunFolder {
    /// Makes `<out>/<name>-<UTC time>-<seed>/`.
    pub(super) fn make(out: &Path, name: &str, started: Timestamp, seed: u64) -> Result<Self, Failure> {
        let stem = format!("{name}-{}-{seed}", started.strftime("%Y%m%dT%H%M%SZ"));
        fs::create_dir_all(out).map_err(|error| cannot_write(out, &error))?;
        // Two runs may start within one second: the later one gets a number.
        for number in 1..1_000 {
            let path = out.join(if number == 1 { stem.clone() } else { format!("{stem}-{number}") });
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot_write(&path, &error)),
            }
        }
        Err(Failure::environment(format!(
            "{} holds a thousand runs of this second; choose another --out",
            out.display()
        )))
    }

    /// A folder that is there already.
    pub(super) fn at(path: &Path) -> Self {
        Self(path.to_owned())
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Takes the folder away again, after a run that could not start.
    pub(super) fn discard(&self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!("cannot remove {}: {error}", self.0.display());
        }
    }

    /// Opens a file in it for writing.
    pub(super) fn create(&self, name: &str) -> Result<BufWriter<File>, Failure> {
        let path = self.0.join(name);
        File::create(&path).map(BufWriter::new).map_err(|error| cannot_write(&path, &error))
    }

    /// Writes a text file.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        let path = self.0.join(name);
        fs::write(&path, text).map_err(|error| {
            // Half of it would be taken for the whole; if even this fails, the error is told all the same.
            let _ = fs::remove_file(&path);
            cannot_write(&path, &error)
        })
    }

    fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), Failure> {
        let path = self.0.join(name);
        // Under another name first, so that a file of this name is always whole.
        let unfinished = self.0.join(format!("{name}.unfinished"));
        let written = File::create(&unfinished).map(BufWriter::new).and_then(|mut file| {
            serde_json::to_writer_pretty(&mut file, value)?;
            file.write_all(b"\n")?;
            file.flush()?;
            fs::rename(&unfinished, &path)
        });
        written.map_err(|error| {
            // What cannot be finished is in the way of nobody, but it takes room.
            let _ = fs::remove_file(&unfinished);
            cannot_write(&path, &error)
        })
    }

    /// Writes each finding to `anomalies/NNNN.json`, the gravest first, up to the bound.
    pub(super) fn write_anomalies(&self, findings: &[Finding]) -> Result<(), Failure> {
        if findings.is_empty() {
            return Ok(());
        }
        let folder = self.0.join(ANOMALIES_FOLDER);
        fs::create_dir_all(&folder).map_err(|error| cannot_write(&folder, &error))?;
        for (index, finding) in findings.iter().enumerate().take(ANOMALY_FILES_MAX) {
            self.write_json(&anomaly_file(index), finding)?;
        }
        Ok(())
    }

    /// Writes the summary, naming the files that are there.
    pub(super) fn write_summary(&self, summary: &Summary) -> Result<(), Failure> {
        self.write_json(SUMMARY_FILE, summary)
    }

    /// Writes what many seeds showed.
    pub(super) fn write_exploration(&self, exploration: &Exploration) -> Result<(), Failure> {
        self.write_json(EXPLORATION_FILE, exploration)
    }

    /// The names of the files in it, `summary.json` included, sorted.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&self.0)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| {
                entry.file_name().to_string_lossy().into_owned() + if entry.path().is_dir() { "/" } else { "" }
            })
            .collect();
        if !names.iter().any(|name| name == SUMMARY_FILE) {
            names.push(SUMMARY_FILE.to_owned());
        }
        names.sort();
        names
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    let what = match error.kind() {
        io::ErrorKind::PermissionDenied => "make it writable, or choose another folder with --out",
        io::ErrorKind::StorageFull => "free some space, or choose another disk with --out",
        _ => "choose another folder with --out",
    };
    Failure::environment(format!("cannot write {}: {error}; {what}", path.display()))
}
