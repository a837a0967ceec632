//! Shipped files load, and every mistake is told with its place.

use std::path::{Path, PathBuf};

use super::*;

/// The project's own folder.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files of a folder of the project, sorted.
fn files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn shipped_files_are_valid() {
    for path in files("scenarios").into_iter().chain(files("sim-companies")) {
        if let Err(problems) = validate(&path, &Overrides::default()) {
            panic!("{problems}");
        }
    }
}
