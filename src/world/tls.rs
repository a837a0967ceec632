//! TLS between the parties of one run: a certificate authority made for the run, and what trusts it.

use std::{fmt, sync::Arc};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose};
use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    crypto::{CryptoProvider, aws_lc_rs},
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use tokio_rustls::TlsAcceptor;

/// A certificate authority that lives as long as its run.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    client: Arc<ClientConfig>,
    provider: Arc<CryptoProvider>,
}

impl fmt::Debug for Authority {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Authority").finish_non_exhaustive()
    }
}

impl Authority {
    /// A new authority with a key of its own.
    ///
    /// # Errors
    ///
    /// If no key or certificate can be made; the text says why.
    pub fn new() -> Result<Self, String> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "Poppyfield run CA");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().map_err(|error| error.to_string())?;
        let issuer = CertifiedIssuer::self_signed(params, key).map_err(|error| error.to_string())?;
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(issuer.der().clone()).map_err(|error| error.to_string())?;
        let client = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { issuer, client: Arc::new(client), provider })
    }

    /// The authority's certificate, to be trusted by whoever talks to its parties.
    #[must_use]
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// What trusts this authority and no other.
    pub(super) fn client_config(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.client)
    }

    /// What a party with these names presents.
    pub(super) fn acceptor(&self, names: &[String]) -> Result<TlsAcceptor, String> {
        let key = KeyPair::generate().map_err(|error| error.to_string())?;
        let params = CertificateParams::new(names.to_vec()).map_err(|error| error.to_string())?;
        let leaf = params.signed_by(&key, &self.issuer).map_err(|error| error.to_string())?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone()], key)
            .map_err(|error| error.to_string())?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}
