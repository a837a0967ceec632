//! Whom the certificates of somebody else's servers are trusted by; and what was presented that is not trusted.

use std::{
    fmt,
    net::{Ipv4Addr, Ipv6Addr},
    sync::{Arc, OnceLock},
};

use jiff::Timestamp;
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject as _},
};
use x509_parser::{
    certificate::X509Certificate, extensions::GeneralName, prelude::FromDer as _, time::ASN1Time, x509::X509Name,
};

use crate::plan::CaFile;

/// The most letters of a name that are repeated of a certificate.
const NAME_LETTERS_MAX: usize = 120;

/// The most alternative names that are repeated of a certificate.
const NAMES_MAX: usize = 8;

/// Whom certificates are trusted by.
pub(super) struct Trust {
    client: Arc<ClientConfig>,
    rejected: Arc<OnceLock<String>>,
}

impl Trust {
    /// Trusts the certificates of a file; without one, whom this machine trusts.
    pub(super) fn new(ca: Option<&CaFile>) -> Result<Self, String> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let real: Arc<dyn ServerCertVerifier> = match ca {
            Some(ca) => WebPkiServerVerifier::builder_with_provider(Arc::new(roots(ca)?), Arc::clone(&provider))
                .build()
                .map_err(|error| format!("{} cannot be trusted: {error}", ca.path))?,
            // It asks the system's own store, as reqwest does, so that whom the machine trusts is trusted here.
            None => rustls_platform_verifier::Verifier::new(Arc::clone(&provider))
                .map(Arc::new)
                .map_err(|error| format!("this machine trusts nobody ({error}); name a CA file in the target file"))?,
        };
        let rejected = Arc::new(OnceLock::new());
        let noting = Noting { real, rejected: Arc::clone(&rejected) };
        let mut client = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous() // it asks the real verifier, and only takes notes
            .with_custom_certificate_verifier(Arc::new(noting))
            .with_no_client_auth();
        client.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { client: Arc::new(client), rejected })
    }

    pub(super) fn client_config(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.client)
    }

    /// The first certificate that was not trusted.
    pub(super) fn rejected(&self) -> Option<String> {
        self.rejected.get().cloned()
    }
}

fn roots(ca: &CaFile) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(ca.pem.as_bytes()) {
        let certificate = certificate.map_err(|error| format!("{} is no PEM file: {error}", ca.path))?;
        roots.add(certificate).map_err(|error| format!("{} holds a certificate that is none: {error}", ca.path))?;
    }
    if roots.is_empty() {
        return Err(format!("{} holds no certificate; expected PEM (`-----BEGIN CERTIFICATE-----`)", ca.path));
    }
    Ok(roots)
}

/// Asks another verifier, and notes what that one does not trust.
struct Noting {
    real: Arc<dyn ServerCertVerifier>,
    rejected: Arc<OnceLock<String>>,
}

impl fmt::Debug for Noting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Noting").field(&self.real).finish()
    }
}

impl ServerCertVerifier for Noting {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.real.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        if let Err(error) = &verified {
            self.rejected
                .get_or_init(|| format!("{} presented {}: {error}", server_name.to_str(), describe(end_entity)));
        }
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.real.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.real.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.real.supported_verify_schemes()
    }
}

/// Whose certificate it is, from whom, for which names, and when it is good.
fn describe(certificate: &CertificateDer<'_>) -> String {
    let Ok((_, certificate)) = X509Certificate::from_der(certificate) else {
        return "a certificate that cannot be read".to_owned();
    };
    let names = match certificate.subject_alternative_name() {
        Ok(Some(names)) => {
            let mut texts: Vec<_> = names.value.general_names.iter().filter_map(name).collect();
            let more = texts.len().saturating_sub(NAMES_MAX);
            texts.truncate(NAMES_MAX);
            if more > 0 {
                texts.push(format!("{more} more"));
            }
            texts.join(", ")
        }
        _ => String::new(),
    };
    let names = if names.is_empty() { "no names".to_owned() } else { names };
    format!(
        "a certificate of {}, issued by {}, for {names}, good from {} to {}",
        distinguished(certificate.subject()),
        distinguished(certificate.issuer()),
        day(&certificate.validity().not_before),
        day(&certificate.validity().not_after),
    )
}

fn distinguished(name: &X509Name<'_>) -> String {
    let text = harmless(&name.to_string());
    if text.is_empty() { "nobody named".to_owned() } else { format!("\"{text}\"") }
}

fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some(harmless(name)),
        GeneralName::IPAddress(bytes) => {
            let four = <[u8; 4]>::try_from(*bytes).map(|bytes| Ipv4Addr::from(bytes).to_string());
            four.or_else(|_| <[u8; 16]>::try_from(*bytes).map(|bytes| Ipv6Addr::from(bytes).to_string())).ok()
        }
        _ => None,
    }
}

fn day(time: &ASN1Time) -> String {
    let time = Timestamp::from_second(time.timestamp());
    time.map_or_else(|_| "a time that is none".to_owned(), |time| time.strftime("%Y-%m-%d").to_string())
}

/// A text that a peer wrote, without what could trouble a terminal.
fn harmless(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { '?' } else { letter }).take(NAME_LETTERS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, DnType, KeyPair};

    #[test]
    fn a_certificate_is_told_in_words() {
        let mut params = CertificateParams::new(vec!["shop.example".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, "Shop\u{7}");
        params.not_before = rcgen::date_time_ymd(2026, 1, 2);
        params.not_after = rcgen::date_time_ymd(2027, 3, 4);
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        assert_eq!(
            describe(certificate.der()),
            "a certificate of \"CN=Shop?\", issued by \"CN=Shop?\", for shop.example, 127.0.0.1, good from 2026-01-02 \
             to 2027-03-04"
        );
        assert_eq!(describe(&CertificateDer::from(vec![1, 2, 3])), "a certificate that cannot be read");
    }

    #[test]
    fn a_file_without_certificates_is_refused() {
        let trust = |pem: &str| Trust::new(Some(&CaFile { path: "ca.pem".to_owned(), pem: pem.to_owned() })).err();
        assert!(trust("").unwrap().contains("ca.pem holds no certificate"));
        assert!(trust("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap().contains("ca.pem"));
    }
}
