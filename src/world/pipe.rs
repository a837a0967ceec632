//! HTTP/1.1 over pipes in memory: hyper at both ends, and real bytes between, without a socket or a timer. So it can be
//! part of the simulated world, where no time passes while bytes move.

use std::sync::{Arc, Mutex, PoisonError};

use axum::{Router, body::Body};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    body::Incoming,
    client::conn::http1::{Builder, SendRequest},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use rustc_hash::FxHashMap;
use tokio::{io::DuplexStream, sync::oneshot};

use super::{
    Field,
    incarnation::Incarnation,
    pool::Cut,
    server::{self, Errand},
    tag::{Tag, take_turn},
};
use crate::limits;

/// How many bytes a pipe holds each way; longer messages take turns.
const PIPE_BYTES: usize = 16 * 1024;

type Sender = SendRequest<Full<Bytes>>;

/// The incarnation of a party that a request goes to.
pub(super) struct Receiver {
    /// The host that the request names.
    pub(super) host: String,
    pub(super) router: Router,
    pub(super) incarnation: Arc<Incarnation>,
}

/// Why an exchange came to no answer: the connection ended first.
#[derive(Debug, thiserror::Error)]
#[error("the connection ended")]
pub(super) struct Ended;

/// Open connections, by host and incarnation.
#[derive(Default)]
pub(super) struct Pipes {
    idle: Mutex<FxHashMap<(String, u32), Vec<Sender>>>,
}

impl Pipes {
    /// Sends one request and brings the whole answer. Dropped before that, it closes the connection.
    pub(super) async fn exchange(
        &self,
        field: &Arc<Field>,
        to: &Receiver,
        mut request: Request<Bytes>,
        cut: Cut,
    ) -> Result<Response<Body>, Ended> {
        if let Some(path) = request.uri().path_and_query().cloned() {
            *request.uri_mut() = path.into();
        }
        let mut sender = match self.idle_to(to) {
            Some(sender) => sender,
            None => connect(field, to).await?,
        };
        let head = sender.send_request(request.map(Full::new)).await.map_err(|error| ended(&error))?;
        if cut == Cut::AfterHead {
            return Err(Ended); // in the middle of the answer, with all that is to come
        }
        let (parts, body) = head.into_parts();
        let body = body.collect().await.map_err(|error| ended(&error))?.to_bytes();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let senders = idle.entry((to.host.clone(), to.incarnation.number())).or_default();
        if senders.len() < limits::IDLE_CONNECTIONS_PER_HOST_MAX {
            senders.push(sender);
        }
        Ok(Response::from_parts(parts, Body::from(body)))
    }

    /// A connection that was left open, and is ready.
    fn idle_to(&self, to: &Receiver) -> Option<Sender> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let senders = idle.get_mut(&(to.host.clone(), to.incarnation.number()))?;
        std::iter::from_fn(|| senders.pop()).find(Sender::is_ready)
    }

    /// Closes what is open.
    pub(super) fn close(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

fn ended(error: &hyper::Error) -> Ended {
    tracing::trace!("a connection ended: {error}");
    Ended
}

async fn connect(field: &Arc<Field>, to: &Receiver) -> Result<Sender, Ended> {
    let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
    // Not in the receiver's incarnation: what it answered before it stopped is on its way.
    tokio::spawn(serve(Arc::clone(field), to.router.clone(), Arc::clone(&to.incarnation), theirs));
    let made = Builder::new().max_headers(limits::HEADERS_MAX).handshake(TokioIo::new(ours)).await;
    let (sender, connection) = made.map_err(|error| ended(&error))?;
    tokio::spawn(async move {
        let _ = connection.await.map_err(|error| ended(&error));
    });
    Ok(sender)
}

/// The receiving end: each request is answered in a task of the incarnation, as on the direct lane.
async fn serve(field: Arc<Field>, router: Router, incarnation: Arc<Incarnation>, stream: DuplexStream) {
    let service = service_fn(move |request: Request<Incoming>| {
        let (field, router, incarnation) = (Arc::clone(&field), router.clone(), Arc::clone(&incarnation));
        async move {
            let (mut parts, body) = request.into_parts();
            let body = body.collect().await.map_err(|error| ended(&error))?.to_bytes();
            let (tag, turn) = (Tag::take(&mut parts.headers), take_turn(&mut parts.headers));
            let (bring, brought) = oneshot::channel();
            let request = Request::from_parts(parts, Body::from(body));
            let errand = Errand { router, incarnation: incarnation.number(), tag, turn, request };
            incarnation.spawn(server::attend(field, errand, bring));
            brought.await.map_err(|_| Ended)
        }
    });
    let served = http1::Builder::new()
        .header_read_timeout(None)
        .auto_date_header(false)
        .max_headers(limits::HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    let _ = served.map_err(|error| ended(&error));
}
