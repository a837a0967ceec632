//! Somebody else's servers: where their hosts are, whether they may be loaded, and whom their certificates are trusted by.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    net::{IpAddr, SocketAddr},
    sync::{Mutex, PoisonError},
};

use http::{HeaderValue, Method, Request, Uri, header};
use tokio_rustls::TlsConnector;

use super::{FieldError, Party, Why, pool::Destination, trust::Trust};
use crate::plan::{CaFile, ConnectTo};

/// What requests to somebody else's servers say that they come from.
static USER_AGENT: HeaderValue = HeaderValue::from_static(concat!("poppyfield/", env!("CARGO_PKG_VERSION")));

/// A party of the run that somebody else serves.
#[derive(Debug)]
pub struct Remote {
    /// The party; every host that belongs to nobody else of the run is one of its.
    pub party: Party,
    /// Where its hosts are, instead of DNS.
    pub connect_to: ConnectTo,
    /// Whom its certificates are trusted by; `None` takes whom this machine trusts.
    pub ca: Option<CaFile>,
    /// Its hosts, or their addresses, that may be loaded although they are not on loopback.
    pub may_load: BTreeSet<String>,
}

/// Somebody else's servers.
pub(super) struct RemoteSite {
    connect_to: ConnectTo,
    may_load: BTreeSet<String>,
    trust: Trust,
    tls: TlsConnector,
    /// What DNS said, by host and port.
    resolved: Mutex<BTreeMap<String, SocketAddr>>,
}

impl fmt::Debug for RemoteSite {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RemoteSite").field("connect_to", &self.connect_to).finish_non_exhaustive()
    }
}

/// A host and port in the forms that a request needs.
#[derive(Debug)]
pub(super) struct Place {
    /// The host, without the brackets of an IPv6 address.
    pub(super) host: String,
    pub(super) port: u16,
    /// As it stands in `Host`: without the port where it is the scheme's own.
    pub(super) authority: String,
    pub(super) tls: bool,
}

impl Place {
    /// What an absolute URL names; `None` if it names no host, or is neither HTTP nor HTTPS.
    pub(super) fn of(uri: &Uri) -> Option<Self> {
        let tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return None,
        };
        let named = uri.host().filter(|host| !host.is_empty())?.to_ascii_lowercase();
        let own = if tls { 443 } else { 80 };
        let port = uri.port_u16().unwrap_or(own);
        let authority = if port == own { named.clone() } else { format!("{named}:{port}") };
        let host = plain(&named).to_owned();
        Some(Self { host, port, authority, tls })
    }
}

/// A host without the brackets that an IPv6 address has in a URL.
fn plain(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

impl RemoteSite {
    /// # Errors
    ///
    /// If the certificates that it is to be trusted by cannot be read.
    pub(super) fn new(remote: Remote) -> Result<Self, FieldError> {
        let Remote { party, connect_to, ca, may_load } = remote;
        let trust = Trust::new(ca.as_ref()).map_err(|why| FieldError::Trust { party: party.name.clone(), why })?;
        let tls = TlsConnector::from(trust.client_config());
        let may_load = may_load.iter().map(|host| plain(host).to_ascii_lowercase()).collect();
        Ok(Self { connect_to, may_load, trust, tls, resolved: Mutex::default() })
    }

    /// The first certificate that was not trusted: who presented what, and why it is not.
    pub(super) fn rejected(&self) -> Option<String> {
        self.trust.rejected()
    }

    /// Where a host of the protocol's URLs is.
    pub(super) async fn address(&self, place: &Place) -> Result<SocketAddr, Why> {
        let named = self.connect_to.hosts.iter().find(|(host, _)| host.eq_ignore_ascii_case(&place.host));
        match named.map(|(_, address)| *address).or(self.connect_to.every) {
            Some(address) => self.permitted(place, address),
            None => self.looked_up(place).await,
        }
    }

    /// Where a host is that DNS or its own digits name. Hooks are not of the protocol, so `connect_to` does not move them.
    pub(super) async fn looked_up(&self, place: &Place) -> Result<SocketAddr, Why> {
        let address = if let Ok(ip) = place.host.parse::<IpAddr>() {
            SocketAddr::new(ip, place.port)
        } else {
            let key = format!("{}:{}", place.host, place.port);
            let known = self.resolved.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
            match known {
                Some(address) => address,
                None => {
                    let found = tokio::net::lookup_host((place.host.as_str(), place.port)).await;
                    let first = found.ok().and_then(|mut addresses| addresses.next()).ok_or(Why::NoSuchHost)?;
                    self.resolved.lock().unwrap_or_else(PoisonError::into_inner).insert(key, first);
                    first
                }
            }
        };
        self.permitted(place, address)
    }

    /// The address, if it may be loaded: one of this machine, or one that was named.
    fn permitted(&self, place: &Place, address: SocketAddr) -> Result<SocketAddr, Why> {
        let ip = address.ip().to_canonical();
        let named = || self.may_load.contains(&place.host) || self.may_load.contains(&ip.to_string());
        if ip.is_loopback() || named() { Ok(address) } else { Err(Why::NotPermitted) }
    }

    /// How its server at that address is talked to.
    pub(super) fn destination<'a>(&'a self, place: &'a Place, address: SocketAddr) -> Destination<'a> {
        Destination {
            host: &place.host,
            authority: &place.authority,
            address,
            tls: place.tls.then_some(&self.tls),
            keep: true,
        }
    }
}

/// Makes a request one that servers and proxies take which know nothing of the harness.
pub(super) fn dress<T>(request: &mut Request<T>, is_empty: bool) {
    let sends = matches!(*request.method(), Method::POST | Method::PUT | Method::PATCH);
    let headers = request.headers_mut();
    headers.entry(header::USER_AGENT).or_insert_with(|| USER_AGENT.clone());
    if sends && is_empty {
        // Some ask for it where a body could be (RFC 9110 section 8.6).
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::PartyKind;

    fn site(connect_to: ConnectTo, may_load: &[&str]) -> RemoteSite {
        let party = Party::new(PartyKind::Company, "shop");
        let authority = crate::world::Authority::new().unwrap();
        let ca = Some(CaFile { path: "ca.pem".to_owned(), pem: authority.pem() });
        let may_load = may_load.iter().map(|host| (*host).to_owned()).collect();
        RemoteSite::new(Remote { party, connect_to, ca, may_load }).unwrap()
    }

    fn place(url: &str) -> Place {
        Place::of(&url.parse().unwrap()).unwrap()
    }

    #[test]
    fn a_url_names_a_place() {
        let seen = |url| {
            let Place { host, port, authority, tls } = place(url);
            (host, port, authority, tls)
        };
        let shop = || "shop.example".to_owned();
        assert_eq!(seen("https://Shop.Example/a?b"), (shop(), 443, shop(), true));
        assert_eq!(seen("https://shop.example:443/"), (shop(), 443, shop(), true));
        assert_eq!(seen("http://shop.example:8080"), (shop(), 8080, "shop.example:8080".to_owned(), false));
        assert_eq!(seen("https://[::1]:9/"), ("::1".to_owned(), 9, "[::1]:9".to_owned(), true));
        assert!(Place::of(&"/a".parse().unwrap()).is_none());
        assert!(Place::of(&"ftp://a/".parse().unwrap()).is_none());
    }

    #[tokio::test]
    async fn hosts_are_where_the_file_says_and_only_loopback_is_loaded_unasked() {
        let every: SocketAddr = "127.0.0.1:18443".parse().unwrap();
        let far: SocketAddr = "192.0.2.7:443".parse().unwrap();
        let hosts = [("far.example".into(), far)].into_iter().collect();
        let strict = site(ConnectTo { every: Some(every), hosts }, &[]);
        assert_eq!(strict.address(&place("https://shop.example/")).await, Ok(every));
        assert_eq!(strict.address(&place("https://FAR.example/")).await, Err(Why::NotPermitted));
        let mapped = site(ConnectTo { every: "[::ffff:127.0.0.1]:1".parse().ok(), ..ConnectTo::default() }, &[]);
        assert!(mapped.address(&place("https://shop.example/")).await.is_ok());
        for named in ["Far.example", "192.0.2.7"] {
            let hosts = [("far.example".into(), far)].into_iter().collect();
            let allowed = site(ConnectTo { every: None, hosts }, &[named]);
            assert_eq!(allowed.address(&place("https://far.example/")).await, Ok(far));
        }
    }

    #[tokio::test]
    async fn hooks_are_where_their_own_url_says() {
        let every = "127.0.0.1:18443".parse().ok();
        let site = site(ConnectTo { every, ..ConnectTo::default() }, &[]);
        let address = site.looked_up(&place("http://127.0.0.1:18444/settle")).await;
        assert_eq!(address, Ok("127.0.0.1:18444".parse().unwrap()));
        assert_eq!(site.looked_up(&place("http://192.0.2.7/settle")).await, Err(Why::NotPermitted));
        assert_eq!(site.looked_up(&place("http://0.0.0.0/settle")).await, Err(Why::NotPermitted));
        assert_eq!(site.looked_up(&place("http://[::ffff:192.0.2.7]/settle")).await, Err(Why::NotPermitted));
    }

    #[tokio::test]
    async fn an_ipv6_address_may_be_named_as_its_url_has_it() {
        for named in ["[2001:DB8::1]", "2001:db8::1"] {
            let site = site(ConnectTo::default(), &[named]);
            assert!(site.looked_up(&place("http://[2001:db8::1]:80/settle")).await.is_ok(), "{named}");
            assert_eq!(site.looked_up(&place("http://[2001:db8::2]/settle")).await, Err(Why::NotPermitted));
        }
    }

    #[tokio::test]
    async fn without_an_address_of_the_file_a_host_is_where_it_is_found() {
        let site = site(ConnectTo::default(), &[]);
        let found = site.address(&place("https://localhost:8443/")).await.unwrap();
        assert!(found.ip().is_loopback() && found.port() == 8443, "{found}");
        assert_eq!(site.address(&place("https://nobody.invalid/")).await, Err(Why::NoSuchHost));
    }
}
