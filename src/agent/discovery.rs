//! Getting to know a Company: its documents, fetched once for all Agents, and the checks D1-D7 (digest 1.5).

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use http::{Request, Uri, header::ACCEPT};
use smol_str::{SmolStr, format_smolstr};

use super::{
    answer::{Content, Reading},
    back_off, openapi,
    openapi::Paths,
    person::lock,
    process::{Named, Process},
    shared::Shared,
};
use crate::{
    history::record::Purpose,
    limits,
    plan::CompanyPlan,
    protocol::{
        AuthorizationServerMetadata, PoppyDocument, SessionMode,
        discovery::{AUTHORIZATION_SERVER_PATH, POPPY_JSON_PATH},
        json,
    },
};

/// How often a document is tried for before the journey that needs it gives up.
const FETCH_TRIES_MAX: u32 = 8;

/// A Company as its documents describe it.
#[derive(Debug)]
pub(super) struct Site {
    /// Its name in action IDs and in the history.
    pub(super) company: SmolStr,
    pub(super) issuer: String,
    pub(super) token_endpoint: String,
    /// The scopes that it lists, space between.
    pub(super) scopes: String,
    pub(super) sign_in: SignInAt,
    /// The operations endpoint, if it lists the extension in the version that the Agents speak.
    pub(super) operations: Option<Operations>,
    /// Its APIs' endpoints by `operationId`.
    pub(super) paths: Paths,
}

/// How Users sign in at a Company, and what for.
#[derive(Debug, Default)]
pub(super) struct SignInAt {
    /// The device authorization endpoint, if it has one.
    pub(super) device_endpoint: Option<String>,
    /// The revocation endpoint, if it has one.
    pub(super) revocation_endpoint: Option<String>,
    /// The scopes that a sign-in can grant, space between.
    pub(super) scopes: String,
    /// The domains of its issuer: sign-in pages are there or below.
    pub(super) domains: Vec<String>,
    /// The actions that it refused to a Session that was not signed in.
    needed_by: Mutex<BTreeSet<SmolStr>>,
}

impl SignInAt {
    /// Whether an action is known to need it.
    pub(super) fn is_needed_by(&self, action: &str) -> bool {
        lock(&self.needed_by).contains(action)
    }

    /// Notes that an action needs it, for all Agents.
    pub(super) fn note_needed_by(&self, action: &SmolStr) {
        lock(&self.needed_by).insert(action.clone());
    }
}

/// A Company's entry for the Operations extension.
#[derive(Debug)]
pub(super) struct Operations {
    /// Without a slash at the end.
    pub(super) endpoint: String,
    /// The resource that tokens for it have to name.
    pub(super) resource: Option<String>,
}

/// Why a Company cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unknown {
    /// Its documents could not be had; a later journey may try again.
    NotNow,
    /// They fail a check.
    Unusable(SmolStr),
}

/// The Company with that place in the plan; fetches its documents unless they are known.
pub(super) async fn site(shared: &Shared, process: &mut Process, company: usize) -> Result<Arc<Site>, Unknown> {
    let (Some(known), Some(plan)) = (shared.sites.get(company), shared.plan.companies.get(company)) else {
        return Err(Unknown::NotNow);
    };
    let mut known = known.lock().await;
    if let Some(site) = &known.site {
        return site.clone().map_err(Unknown::Unusable);
    }
    let (tries, fetches) = (FETCH_TRIES_MAX, known.fetches);
    let mut fetcher = Fetcher { shared, process, company: plan, fetches, tries, trouble: None };
    // Boxed: it is done once, and every proposal would carry its room.
    let fetched = Box::pin(fetcher.site()).await;
    known.fetches = fetcher.fetches;
    match fetched {
        Ok(site) => {
            let site = Arc::new(site);
            known.site = Some(Ok(Arc::clone(&site)));
            Ok(site)
        }
        Err(Unknown::Unusable(why)) => {
            tracing::warn!("{} cannot be used: {why}", plan.name);
            known.site = Some(Err(why.clone()));
            Err(Unknown::Unusable(why))
        }
        Err(Unknown::NotNow) => Err(Unknown::NotNow),
    }
}

/// The documents of the Company with that place in the plan, each fetched once; `trouble` is then what could not be had,
/// and why.
pub(super) async fn look_once(
    shared: &Shared,
    process: &mut Process,
    company: usize,
    trouble: &mut Option<(String, SmolStr)>,
) -> Result<Site, Unknown> {
    let company = shared.plan.companies.get(company).ok_or(Unknown::NotNow)?;
    let mut fetcher = Fetcher { shared, process, company, fetches: 0, tries: 1, trouble: None };
    let site = fetcher.site().await;
    *trouble = fetcher.trouble;
    site
}

struct Fetcher<'a> {
    shared: &'a Shared,
    process: &'a mut Process,
    company: &'a CompanyPlan,
    fetches: u64,
    /// How often a document is tried for.
    tries: u32,
    /// The document that could not be had, and why.
    trouble: Option<(String, SmolStr)>,
}

impl Fetcher<'_> {
    async fn site(&mut self) -> Result<Site, Unknown> {
        let swarm = &self.shared.plan.swarm;
        let (host, body) = self.document(format!("https://{}{POPPY_JSON_PATH}", self.company.domain)).await?;
        let poppy: PoppyDocument = json::parse_document(&body).map_err(|error| unusable("D7", &error))?;
        check_poppy(&poppy, &host, swarm.session_mode)?;
        let auth = poppy.auth.as_ref().ok_or_else(|| unusable("auth", &"missing"))?;
        let (_, body) = self.document(authorization_server_url(&auth.issuer)?).await?;
        let server: AuthorizationServerMetadata =
            json::parse_document(&body).map_err(|error| unusable("D7", &error))?;
        check_authorization_server(&server, &auth.issuer, &poppy.organization.domain, swarm.session_mode)?;
        let mut paths = Paths::default();
        // A target file says by itself how actions are proposed.
        let described = self.shared.plan.target.is_none();
        for api in poppy.apis.iter().filter(|api| described && api.type_ == "openapi") {
            let (host, body) = self.document(https(&api.url)?.to_owned()).await?;
            let description = json::parse_document(&body).map_err(|error| unusable("openapi", &error))?;
            paths.add(&description, &format!("https://{host}"), api.resource.as_deref());
        }
        let spoken = |version: &str| version == swarm.operations_version;
        let entry = poppy.operations().filter(|entry| spoken(&entry.version));
        let operations = match entry.and_then(|entry| Some((entry, entry.endpoint.as_deref()?))) {
            Some((entry, endpoint)) => Some(Operations {
                endpoint: https(endpoint)?.trim_end_matches('/').to_owned(),
                resource: entry.resource.clone(),
            }),
            None => None,
        };
        let scopes: Vec<&str> = auth.custom_scopes.keys().map(String::as_str).collect();
        let scopes = scopes.join(" ");
        let sign_in = SignInAt {
            device_endpoint: optional_https(server.device_authorization_endpoint)?,
            revocation_endpoint: optional_https(server.revocation_endpoint)?,
            scopes: auth.device.as_ref().map_or_else(|| scopes.clone(), |device| device.scopes.join(" ")),
            domains: server.poppy_domains,
            needed_by: Mutex::default(),
        };
        Ok(Site {
            company: self.company.name.clone(),
            issuer: server.issuer,
            token_endpoint: https(&server.token_endpoint)?.to_owned(),
            scopes,
            sign_in,
            operations,
            paths,
        })
    }

    /// A document and the host that served it in the end. Only fetches without credentials follow redirects (D6).
    async fn document(&mut self, url: String) -> Result<(String, Bytes), Unknown> {
        let (mut failures, mut redirects, mut url) = (0, 0, url);
        loop {
            let target: Uri = url.parse().map_err(|_| unusable("D5", &url))?;
            let host = target.host().unwrap_or_default().to_owned();
            let mut request = Request::new(Bytes::new());
            *request.uri_mut() = target;
            request.headers_mut().insert(ACCEPT, http::HeaderValue::from_static("application/json"));
            let mut call = self.process.call(Purpose::Discover);
            call.company = Some(self.company.name.clone());
            let named = Named { key: url.as_str().into(), attempt: self.fetches };
            self.fetches += 1;
            let ended = self.process.send(self.shared, call, named, request, Reading::Document).await;
            let retry_after = ended.retry_after.unwrap_or_default();
            match ended.content {
                Content::Document(body) => return Ok((host, body)),
                Content::Elsewhere(location) if redirects < limits::DOCUMENT_REDIRECTS_MAX => {
                    redirects += 1;
                    url = https(&location)?.to_owned();
                    continue;
                }
                Content::Elsewhere(_) => return Err(unusable("D6", &"too many redirects")),
                Content::Nothing | Content::Token(_) | Content::SignIn(_) | Content::Operation(_) => {}
            }
            failures += 1;
            if failures >= self.tries {
                let status = ended.status.map(|status| format_smolstr!("status-{status}"));
                self.trouble = Some((url, status.or(ended.why).unwrap_or_default()));
                return Err(Unknown::NotNow);
            }
            let world = &self.shared.world;
            let draw = world.draw("back-off", &url, self.fetches);
            let due = world.now() + back_off::wait(&self.shared.plan.swarm.retry, failures, draw).max(retry_after);
            world.sleep_until(due).await;
            self.process.next_due(due);
        }
    }
}

/// D1, D2: the version is one that we speak, and the document speaks for the host that served it.
fn check_poppy(poppy: &PoppyDocument, host: &str, mode: SessionMode) -> Result<(), Unknown> {
    if poppy.protocol_version != mode.protocol_version() {
        return Err(unusable("D1", &poppy.protocol_version));
    }
    let domain = poppy.organization.domain.as_str();
    let same = match mode {
        SessionMode::Dpop01 => without_www(domain).eq_ignore_ascii_case(without_www(host)),
        SessionMode::Dpop02 => domain.eq_ignore_ascii_case(host),
    };
    if same { Ok(()) } else { Err(unusable("D2", &domain)) }
}

/// Draft 0.1 compared domains without it.
fn without_www(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}

/// D3, D4: the metadata is that issuer's, and the issuer knows the domain. Draft 0.1 had no `poppy_domains`.
fn check_authorization_server(
    server: &AuthorizationServerMetadata,
    issuer: &str,
    domain: &str,
    mode: SessionMode,
) -> Result<(), Unknown> {
    if server.issuer != issuer {
        return Err(unusable("D3", &server.issuer));
    }
    if mode == SessionMode::Dpop02 && !server.poppy_domains.iter().any(|known| known.eq_ignore_ascii_case(domain)) {
        return Err(unusable("D4", &domain));
    }
    let algorithms = server.dpop_signing_alg_values_supported.as_ref();
    if algorithms.is_some_and(|algorithms| !algorithms.iter().any(|algorithm| algorithm == "ES256")) {
        return Err(unusable("dpop_signing_alg_values_supported", &"no ES256"));
    }
    Ok(())
}

/// Where an issuer's metadata lies: a path of the issuer comes after the well-known part (RFC 8414 section 3.1).
fn authorization_server_url(issuer: &str) -> Result<String, Unknown> {
    let rest = https(issuer)?.get("https://".len()..).unwrap_or_default();
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    Ok(format!("https://{host}{AUTHORIZATION_SERVER_PATH}{}", path.trim_end_matches('/')))
}

/// D5.
fn https(url: &str) -> Result<&str, Unknown> {
    if openapi::is_https(url) { Ok(url) } else { Err(unusable("D5", &url)) }
}

/// D5 of a URL that need not be there.
fn optional_https(url: Option<String>) -> Result<Option<String>, Unknown> {
    url.map(|url| https(&url).map(str::to_owned)).transpose()
}

fn unusable(check: &str, what: &dyn std::fmt::Display) -> Unknown {
    // It may hold whatever a peer sent, and is shown on a terminal.
    let shown = |letter: char| if letter.is_control() { '?' } else { letter };
    let text: String = what.to_string().chars().take(120).map(shown).collect();
    Unknown::Unusable(format_smolstr!("{check}: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_an_issuer_follows_the_well_known_part() {
        for (issuer, url) in [
            ("https://id.a.example", "https://id.a.example/.well-known/oauth-authorization-server"),
            ("https://a.example/", "https://a.example/.well-known/oauth-authorization-server"),
            ("https://a.example/t/1", "https://a.example/.well-known/oauth-authorization-server/t/1"),
        ] {
            assert_eq!(authorization_server_url(issuer).unwrap(), url);
        }
        assert!(authorization_server_url("http://a.example").is_err());
    }

    #[test]
    fn a_document_speaks_for_its_own_host_only() {
        let mut poppy = PoppyDocument {
            protocol_version: "0.2".into(),
            organization: crate::protocol::discovery::Organization { name: "A".into(), domain: "A.example".into() },
            auth: None,
            apis: Vec::new(),
            extensions: Default::default(),
        };
        assert_eq!(check_poppy(&poppy, "a.example", SessionMode::Dpop02), Ok(()));
        assert!(check_poppy(&poppy, "www.a.example", SessionMode::Dpop02).is_err());
        assert!(check_poppy(&poppy, "a.example", SessionMode::Dpop01).is_err());
        poppy.protocol_version = "0.1".into();
        assert_eq!(check_poppy(&poppy, "www.a.example", SessionMode::Dpop01), Ok(()));
    }

    #[test]
    fn what_a_peer_sent_is_shown_short_and_without_control_characters() {
        let sent = format!("\u{1b}[2J{}", "é".repeat(200));
        let Unknown::Unusable(text) = unusable("D2", &sent) else { panic!("not a failed check") };
        assert_eq!(text, format!("D2: ?[2J{}", "é".repeat(116)));
    }

    #[test]
    fn metadata_is_that_issuers_and_names_the_domain() {
        let server =
            AuthorizationServerMetadata::new("https://a.example", "https://a.example/t", vec!["a.example".into()]);
        let check = |issuer: &str, domain: &str| {
            check_authorization_server(&server, issuer, domain, SessionMode::Dpop02).map_err(|unknown| match unknown {
                Unknown::Unusable(why) => why.split(':').next().unwrap_or_default().to_owned(),
                Unknown::NotNow => "not now".to_owned(),
            })
        };
        assert_eq!(check("https://a.example", "a.example"), Ok(()));
        assert_eq!(check("https://a.example/", "a.example"), Err("D3".to_owned()));
        assert_eq!(check("https://a.example", "b.example"), Err("D4".to_owned()));
    }
}
