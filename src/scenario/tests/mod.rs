//! Shipped files load, and every mistake is told with its place.

use std::path::{Path, PathBuf};

mod aiming;
mod capacity;
mod docs;
mod explicit;
mod laws;
mod mistakes;
mod shipped;
mod targets;
mod whole_files;

use super::*;

/// A Company file that the small files of these tests name.
const SHOP: &str = "\
company: shop
actions:
  exchange:
    steps: [{ name: take-back, undo: give-back }, { name: charge }]
";

/// What is said about a file of that name and content in a folder of its own, beside the profile `shop`.
fn said(name: &str, content: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [("sim-companies/shop.yaml", SHOP.as_bytes()), (name, content)] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    told_about(folder.path(), name)
}

/// What is said about a path in `folder`, without the name of that folder.
fn told_about(folder: &Path, name: &str) -> String {
    match validate(&folder.join(name), &Overrides::default()) {
        Ok(_) => "no mistake".to_owned(),
        Err(problems) => problems.to_string().replace(&format!("{}/", folder.display()), ""),
    }
}

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
