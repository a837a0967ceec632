//! Fetches of operators' documents, within bounds: time, size, redirects to HTTPS only (digest 1.1, 1.4).

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, Uri, header};

use crate::{
    history::record::Purpose,
    limits,
    protocol::{JsonError, json},
    world::{About, Answer, Moment, World},
};

/// Why a document could not be had.
#[derive(Debug, thiserror::Error)]
pub(in crate::company) enum FetchError {
    /// The URL is not one of HTTPS with a host.
    #[error("not an HTTPS URL")]
    Url,
    /// More redirects than are followed.
    #[error("too many redirects")]
    Redirects,
    /// No whole answer came.
    #[error("no answer: {0}")]
    Answer(&'static str),
    /// Another status than 200.
    #[error("status {0}")]
    Status(StatusCode),
    /// The document is too long, no JSON, or of another shape.
    #[error("document: {0}")]
    Document(#[from] JsonError),
    /// The document contradicts the rules for it.
    #[error("{0}")]
    Rule(&'static str),
}

/// A URL of HTTPS with a host and nothing before the host.
pub(super) fn https(url: &str) -> Result<Uri, FetchError> {
    let uri: Uri = url.parse().map_err(|_| FetchError::Url)?;
    let plain =
        uri.authority().is_some_and(|authority| !authority.as_str().contains('@') && !authority.host().is_empty());
    if uri.scheme_str() == Some("https") && plain { Ok(uri) } else { Err(FetchError::Url) }
}

/// When a fetch that begins now has to be over.
pub(super) fn deadline(world: &World) -> Moment {
    world.now() + Duration::from_millis(limits::DOCUMENT_FETCH_MILLISECONDS_MAX)
}

/// Fetches a document and reads it. `attempt` tells apart the fetches of one URL.
pub(super) async fn document<T: serde::de::DeserializeOwned>(
    world: &World,
    url: &str,
    attempt: u64,
    deadline: Moment,
) -> Result<T, FetchError> {
    let mut uri = https(url)?;
    for _ in 0..=limits::DOCUMENT_REDIRECTS_MAX {
        let response = get(world, &uri, attempt, deadline).await?;
        match response.status() {
            StatusCode::OK => return Ok(json::parse_document(response.body())?),
            status if status.is_redirection() => uri = target(&uri, &response)?,
            status => return Err(FetchError::Status(status)),
        }
    }
    Err(FetchError::Redirects)
}

/// One request, without any credential.
async fn get(world: &World, uri: &Uri, attempt: u64, deadline: Moment) -> Result<Response<Bytes>, FetchError> {
    let mut request = Request::new(Bytes::new());
    *request.method_mut() = Method::GET;
    *request.uri_mut() = uri.clone();
    request.headers_mut().insert(header::ACCEPT, header::HeaderValue::from_static("application/json"));
    let about = About {
        purpose: Purpose::Keys,
        call: None,
        key: format!("{}/{uri}", world.party().name).into(),
        attempt,
        action: None,
        step: None,
        deadline,
    };
    match world.call(request, about).await.answer {
        Answer::Response(response) => Ok(response),
        Answer::Unknown(why) | Answer::Unsent(why) => Err(FetchError::Answer(why.word())),
    }
}

/// Where a redirect leads: an absolute URL of HTTPS, or a path on the same host.
fn target(from: &Uri, response: &Response<Bytes>) -> Result<Uri, FetchError> {
    let location = response.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
    let location = location.ok_or(FetchError::Status(response.status()))?;
    if location.starts_with('/') && !location.starts_with("//") {
        let authority = from.authority().map(http::uri::Authority::as_str).unwrap_or_default();
        return https(&format!("https://{authority}{location}"));
    }
    https(location)
}
