//! The receiving end: sockets of the parties of the run, and what the wire saw of each request.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{Router, body::Body};
use http::{Request, Response};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::oneshot,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::{field::Field, station::Station, tag::Tag};
use crate::{
    history::{
        Event,
        record::{Wire, WireIs},
    },
    limits,
};

/// How long a client may take to greet or to send a request's head.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// Accepts connections for one party until the field closes. While the party is down, each is closed at once.
pub(super) async fn listen(
    field: Arc<Field>,
    station: Arc<Station>,
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    closed: CancellationToken,
) {
    loop {
        let accepted = tokio::select! {
            biased;
            () = closed.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let Some((router, incarnation)) = station.current() else { continue };
                let number = incarnation.number();
                incarnation.spawn(connection(Arc::clone(&field), router, number, stream, acceptor.clone()));
            }
            Err(error) => {
                field.note_trouble(&error);
                // Out of file handles, say: what is open goes on, and accepting starts again shortly.
                tracing::warn!("cannot accept a connection for {}: {error}", station.party.name);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}

async fn connection(field: Arc<Field>, router: Router, incarnation: u32, stream: TcpStream, tls: Option<TlsAcceptor>) {
    // Without it an answer in two packets waits for an acknowledgement; a failure costs speed only.
    let _ = stream.set_nodelay(true);
    match tls {
        None => serve(field, router, incarnation, TokioIo::new(stream)).await,
        Some(tls) => match tokio::time::timeout(HEAD_TIME, tls.accept(stream)).await {
            Ok(Ok(stream)) => serve(field, router, incarnation, TokioIo::new(stream)).await,
            Ok(Err(error)) => tracing::debug!("a TLS greeting failed: {error}"),
            Err(_) => tracing::debug!("a TLS greeting took too long"),
        },
    }
}

async fn serve<T>(field: Arc<Field>, router: Router, incarnation: u32, stream: T)
where
    T: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let service = service_fn(move |request: Request<Incoming>| {
        let (field, router) = (Arc::clone(&field), router.clone());
        let mut request = request.map(Body::new);
        let tag = Tag::take(request.headers_mut());
        async move { Ok::<_, Infallible>(answer(&field, router, incarnation, tag, request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_headers(limits::HEADERS_MAX)
        .serve_connection(stream, service)
        .await;
    if let Err(error) = served {
        tracing::trace!("a connection ended: {error}");
    }
}

/// A request that arrived at an incarnation of a party.
pub(super) struct Errand {
    /// The router that answers.
    pub(super) router: Router,
    /// The number of the incarnation whose it is.
    pub(super) incarnation: u32,
    /// Which call of the history it is.
    pub(super) tag: Option<Tag>,
    /// When its turn comes, where that is not at once.
    pub(super) turn: Option<u64>,
    /// The request.
    pub(super) request: Request<Body>,
}

/// Answers a request that came without a socket, when its turn comes. For a task of the incarnation.
pub(super) async fn attend(field: Arc<Field>, errand: Errand, mut bring: oneshot::Sender<Response<Body>>) {
    let Errand { router, incarnation, tag, turn, request } = errand;
    tokio::select! {
        biased;
        // As a server does whose client closed the connection.
        () = bring.closed() => {}
        response = async {
            field.turn(turn).await;
            answer(&field, router, incarnation, tag, request).await
        } => {
            // The sender may have stopped waiting just now.
            let _ = bring.send(response);
        }
    }
}

/// Hands one request to a party's router and notes what the wire saw of it.
pub(super) async fn answer(
    field: &Field,
    router: Router,
    incarnation: u32,
    tag: Option<Tag>,
    request: Request<Body>,
) -> Response<Body> {
    if let Some(tag) = &tag {
        field.record(Event::Wire(Wire {
            call: tag.call.clone(),
            copy: tag.copy,
            is: WireIs::Arrived,
            status: None,
            cut: None,
            incarnation: Some(incarnation),
        }));
    }
    let response = match router.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    if let Some(tag) = tag {
        field.record(Event::Wire(Wire {
            call: tag.call,
            copy: tag.copy,
            is: WireIs::Answered,
            status: Some(response.status().as_u16()),
            cut: tag.cut,
            incarnation: None,
        }));
    }
    response
}
