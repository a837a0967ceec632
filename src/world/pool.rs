//! HTTP/1.1 connections to the parties of the run, kept open between requests. The Wire owns them, not the Agents.

use std::{
    future::poll_fn,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, header::HOST};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::{
    body::Incoming,
    client::conn::http1::{Builder, SendRequest},
};
use hyper_util::rt::TokioIo;
use rustc_hash::FxHashMap;
use rustls::{ClientConfig, pki_types::ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::{Answer, Why, trouble};
use crate::limits;

type Sender = SendRequest<Full<Bytes>>;

/// Where and how an exchange is broken off on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// Not at all.
    None,
    /// Right after the head of the answer.
    AfterHead,
    /// So long after the request was sent, whatever has come by then.
    AfterSend(Duration),
}

/// Whom a request goes to.
#[derive(Clone, Copy)]
pub(super) struct Destination<'a> {
    /// The name that its certificate has to cover.
    pub(super) host: &'a str,
    /// `Host`, with the port where it is not the scheme's own; connections are kept under it.
    pub(super) authority: &'a str,
    /// Where it listens.
    pub(super) address: SocketAddr,
    /// Whom its certificate is trusted by; `None` talks plain HTTP.
    pub(super) tls: Option<&'a TlsConnector>,
    /// Whether a connection stays open for the next request.
    pub(super) keep: bool,
}

/// Open connections by `Host`.
pub(super) struct Pool {
    tls: Option<TlsConnector>,
    trouble: Arc<OnceLock<String>>,
    idle: Mutex<FxHashMap<String, Vec<Sender>>>,
}

impl Pool {
    pub(super) fn new(tls: Option<Arc<ClientConfig>>, trouble: Arc<OnceLock<String>>) -> Self {
        Self { tls: tls.map(TlsConnector::from), trouble, idle: Mutex::default() }
    }

    /// A party of the run.
    pub(super) fn party<'a>(&'a self, host: &'a str, address: SocketAddr) -> Destination<'a> {
        Destination { host, authority: host, address, tls: self.tls.as_ref(), keep: true }
    }

    /// Sends one request; calls `sent` when it leaves.
    pub(super) async fn exchange(
        &self,
        to: Destination<'_>,
        mut request: Request<Bytes>,
        cut: Cut,
        mut sent: impl FnMut(),
    ) -> Answer {
        let Ok(authority) = HeaderValue::from_str(to.authority) else { return Answer::Unsent(Why::NoSuchHost) };
        request.headers_mut().insert(HOST, authority);
        if let Some(path) = request.uri().path_and_query().cloned() {
            *request.uri_mut() = path.into();
        }
        let mut request = request.map(Full::new);
        loop {
            let (mut sender, reused) = match self.idle_to(to).await {
                Some(sender) => (sender, true),
                // Boxed: it is rare, and every request would carry its room.
                None => match Box::pin(self.connect(to)).await {
                    Ok(sender) => (sender, false),
                    Err(why) => return Answer::Unsent(why),
                },
            };
            sent();
            let sending = sender.try_send_request(request);
            let head = match cut {
                Cut::AfterSend(after) => match tokio::time::timeout(after, sending).await {
                    Ok(head) => head,
                    Err(_) => return Answer::Unknown(Why::Reset),
                },
                Cut::None | Cut::AfterHead => sending.await,
            };
            match head {
                Ok(_) if cut != Cut::None => return Answer::Unknown(Why::Reset),
                Ok(head) => return self.finish(to, sender, head).await,
                Err(mut error) => match error.take_message() {
                    // The other side closed an idle connection just now: nothing left, so a new one may be tried.
                    Some(unsent) if reused => request = unsent,
                    Some(_) => return Answer::Unsent(Why::Refused),
                    None if error.error().is_parse() => return Answer::Unknown(Why::Unreadable),
                    None => return Answer::Unknown(Why::Reset),
                },
            }
        }
    }

    /// Reads the body and keeps the connection for the next request.
    async fn finish(&self, to: Destination<'_>, sender: Sender, head: Response<Incoming>) -> Answer {
        let (parts, body) = head.into_parts();
        match Limited::new(body, limits::BODY_BYTES_MAX).collect().await {
            Ok(body) if !to.keep => Answer::Response(Response::from_parts(parts, body.to_bytes())),
            Ok(body) => {
                let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
                let senders = match idle.get_mut(to.authority) {
                    Some(senders) => senders,
                    None => idle.entry(to.authority.to_owned()).or_default(),
                };
                if senders.len() < limits::IDLE_CONNECTIONS_PER_HOST_MAX {
                    senders.push(sender);
                }
                Answer::Response(Response::from_parts(parts, body.to_bytes()))
            }
            Err(error) if error.is::<LengthLimitError>() => Answer::Unknown(Why::TooLarge),
            Err(_) => Answer::Unknown(Why::Reset),
        }
    }

    /// A connection that is open and ready.
    async fn idle_to(&self, to: Destination<'_>) -> Option<Sender> {
        if !to.keep {
            return None;
        }
        loop {
            let mut sender = self.idle.lock().unwrap_or_else(PoisonError::into_inner).get_mut(to.authority)?.pop()?;
            if poll_fn(|context| sender.poll_ready(context)).await.is_ok() {
                return Some(sender);
            }
        }
    }

    async fn connect(&self, to: Destination<'_>) -> Result<Sender, Why> {
        let stream = TcpStream::connect(to.address).await.map_err(|error| {
            trouble::note(&self.trouble, &error);
            Why::Refused
        })?;
        // Without it a request in two packets waits for an acknowledgement; a failure costs speed only.
        let _ = stream.set_nodelay(true);
        match to.tls {
            None => handshake(TokioIo::new(stream)).await,
            Some(tls) => {
                let name = ServerName::try_from(to.host.to_owned()).map_err(|_| Why::NoSuchHost)?;
                let stream = tls.connect(name, stream).await.map_err(|error| why_no_tls(&error))?;
                handshake(TokioIo::new(stream)).await
            }
        }
    }
}

/// Why a TLS greeting failed: what rustls says of the other side, or else the connection's end.
fn why_no_tls(error: &io::Error) -> Why {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidCertificate(_)) => Why::Untrusted,
        Some(_) => Why::NoTls,
        None => Why::Refused,
    }
}

async fn handshake<T>(stream: T) -> Result<Sender, Why>
where
    T: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let made = Builder::new().max_headers(limits::HEADERS_MAX).handshake(stream).await;
    let (sender, connection) = made.map_err(|_| Why::Refused)?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::trace!("a connection ended: {error}");
        }
    });
    Ok(sender)
}
