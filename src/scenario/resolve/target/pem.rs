//! The files that a target file names: trusted certificates, and the key of an operator.

use std::io::Read as _;
use std::path::Path;

use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, pem::PemObject as _};

use crate::identity::SigningKey;
use crate::limits;
use crate::plan::CaFile;
use crate::scenario::problem::{Findings, shown};
use crate::scenario::value::At;

/// Reads the certificates that `path` names.
pub(super) fn certificates(path: &At<String>, folder: &Path, findings: &mut Findings) -> CaFile {
    let pem = text(path, folder, findings);
    if let Some(pem) = &pem
        && let Err(why) = check_certificates(pem)
    {
        let expected = "expected certificates in PEM (`-----BEGIN CERTIFICATE-----`)";
        findings.report(path.place, format!("{} {why}; {expected}", shown(&path.value)));
    }
    CaFile { path: path.value.clone(), pem: pem.unwrap_or_default() }
}

fn check_certificates(pem: &str) -> Result<(), &'static str> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let certificate = certificate.map_err(|_| "is no PEM")?;
        roots.add(certificate).map_err(|_| "holds what is no certificate")?;
    }
    if roots.is_empty() { Err("holds no certificate") } else { Ok(()) }
}

/// Reads the key that `path` names.
pub(super) fn key(path: &At<String>, folder: &Path, findings: &mut Findings) -> String {
    let Some(pem) = text(path, folder, findings) else { return String::new() };
    if SigningKey::from_pkcs8_pem(&pem).is_err() {
        let expected = "expected a private key of P-256, PKCS#8 in PEM (`-----BEGIN PRIVATE KEY-----`)";
        findings.report(path.place, format!("{} holds no such key; {expected}", shown(&path.value)));
    }
    pem
}

/// The text of a file, relative to `folder`.
fn text(path: &At<String>, folder: &Path, findings: &mut Findings) -> Option<String> {
    let found = folder.join(&path.value);
    let shown = found.display();
    match read(&found) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let advice = "if the Company writes it, start the Company first";
            findings.report(path.place, format!("there is no file {shown}; {advice}"));
            None
        }
        Err(error) => {
            findings.report(path.place, format!("{shown} cannot be read: {error}"));
            None
        }
    }
}

fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let most = limits::FILE_BYTES_MAX as u64;
    std::fs::File::open(path)?.take(most).read_to_string(&mut text)?;
    Ok(text)
}
