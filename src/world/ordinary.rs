//! The ordinary lane: fetches of documents and keys, by a general HTTP client that follows no redirect by itself.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::{Answer, Why, tls::Authority};
use crate::limits;

/// Fetches documents from the parties of the run.
pub(super) struct Ordinary {
    authority: Option<Arc<Authority>>,
    names: Names,
    client: OnceLock<Result<reqwest::Client, String>>,
}

/// Where the names of the run lead; shared with the client's resolver.
#[derive(Clone, Default)]
struct Names(Arc<Mutex<BTreeMap<String, SocketAddr>>>);

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name.as_str()).copied();
        Box::pin(async move {
            match found {
                Some(address) => Ok(Box::new(std::iter::once(address)) as Addrs),
                None => Err("the name belongs to no party of the run".into()),
            }
        })
    }
}

impl Ordinary {
    pub(super) fn new(authority: Option<Arc<Authority>>) -> Self {
        Self { authority, names: Names::default(), client: OnceLock::new() }
    }

    /// Says where a name leads.
    pub(super) fn resolve(&self, name: &str, address: SocketAddr) {
        self.names.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), address);
    }

    fn client(&self) -> Result<&reqwest::Client, Why> {
        let made = self.client.get_or_init(|| {
            let mut builder = reqwest::Client::builder()
                .no_proxy()
                .redirect(reqwest::redirect::Policy::none())
                .timeout(Duration::from_millis(limits::DOCUMENT_FETCH_MILLISECONDS_MAX))
                .dns_resolver(self.names.clone());
            if let Some(authority) = &self.authority {
                builder = builder.tls_backend_preconfigured((*authority.client_config()).clone());
            }
            builder.build().map_err(|error| error.to_string())
        });
        made.as_ref().map_err(|why| {
            tracing::error!("the HTTP client of the ordinary lane cannot be made: {why}");
            Why::Refused
        })
    }

    /// Sends one request and reads the answer up to the bound of a document. `outside` is for hosts that belong to no
    /// party of the run and have no certificate of its authority.
    pub(super) async fn exchange(&self, request: Request<Bytes>, outside: bool) -> Answer {
        let client = match self.client() {
            Ok(client) => client,
            Err(why) => return Answer::Unsent(why),
        };
        let (mut parts, body) = request.into_parts();
        if self.authority.is_none() || outside {
            parts.uri = plain(parts.uri);
        }
        let Ok(request) = reqwest::Request::try_from(Request::from_parts(parts, body)) else {
            return Answer::Unsent(Why::Unreadable);
        };
        let mut response = match client.execute(request).await {
            Ok(response) => response,
            Err(error) if error.is_connect() => return Answer::Unsent(Why::Refused),
            Err(error) if error.is_timeout() => return Answer::Unknown(Why::Timeout),
            Err(_) => return Answer::Unknown(Why::Reset),
        };
        let mut answer = Response::builder().status(response.status());
        if let Some(headers) = answer.headers_mut() {
            *headers = response.headers().clone();
        }
        let mut body = BytesMut::new();
        loop {
            match response.chunk().await {
                Ok(None) => break,
                Ok(Some(chunk)) if body.len() + chunk.len() <= limits::DOCUMENT_BYTES_MAX => {
                    body.extend_from_slice(&chunk);
                }
                Ok(Some(_)) => return Answer::Unknown(Why::TooLarge),
                Err(_) => return Answer::Unknown(Why::Reset),
            }
        }
        answer.body(body.freeze()).map_or(Answer::Unknown(Why::Unreadable), Answer::Response)
    }
}

/// The same URI over plain HTTP: with `tls: off` the transport alone changes, not what is signed or published.
fn plain(uri: http::Uri) -> http::Uri {
    let mut parts = uri.clone().into_parts();
    parts.scheme = Some(http::uri::Scheme::HTTP);
    http::Uri::from_parts(parts).unwrap_or(uri)
}
