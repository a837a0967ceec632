//! Somebody else's servers: found where the plan says, struck by faults that the client makes, and as bad as they like.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
};

use jiff::Timestamp;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::server::TlsStream;

use super::{PATIENCE, ask, counted, short};
use crate::{
    fault::Faults,
    history::{Event, Recorder},
    identity::Signatures,
    plan::{CaFile, ConnectTo, Distribution, FaultKind},
    world::{Authority, Clock, Field, FieldOptions, Lane, Party, PartyKind, Remote},
};

fn authority() -> Arc<Authority> {
    Arc::new(Authority::new().unwrap())
}

/// A field whose Company is somewhere else: at that address, trusted by that authority.
fn swarm(at: SocketAddr, trusted: &Authority, faults: Vec<FaultKind>) -> Arc<Field> {
    let field = Field::new(FieldOptions {
        seed: 7,
        clock: Clock::real(),
        epoch: Timestamp::UNIX_EPOCH,
        recorder: Recorder::in_memory(),
        faults: Faults::new(7, super::certain(faults), [("shop".into(), "shop".into())]),
        lane: Lane::Direct(Signatures::Real),
    })
    .unwrap();
    let connect_to = ConnectTo {
        every: Some(at),
        hosts: [("far.example".into(), "192.0.2.1:443".parse().unwrap())].into_iter().collect(),
    };
    let ca = Some(CaFile { path: "ca.pem".to_owned(), pem: trusted.pem() });
    let party = Party::new(PartyKind::Company, "shop");
    field.connect(Remote { party, connect_to, ca, may_load: Default::default() }).unwrap();
    field.faults().begin(field.now());
    field
}

/// The Company that counts, on sockets of its own; and the swarm for it.
async fn pair(faults: Vec<FaultKind>) -> (Arc<Field>, Arc<Field>) {
    let authority = authority();
    let lane = Lane::Sockets { bind: IpAddr::V4(Ipv4Addr::LOCALHOST), authority: Some(Arc::clone(&authority)) };
    let company = super::field(lane, vec![]).await;
    let swarm = swarm(company.addresses()[0].1, &authority, faults);
    (swarm, company)
}

#[tokio::test]
async fn requests_go_to_the_address_of_the_plan_under_the_name_of_the_url() {
    let (swarm, company) = pair(vec![]).await;
    for expected in ["200 1", "200 2"] {
        assert_eq!(short(&ask(&swarm, "Clothes-1.Example", "").await), expected);
    }
    assert_eq!(short(&ask(&swarm, "far.example", "").await), "unsent not-permitted");
    // The certificate has to be of the URL's host, wherever it was connected to.
    assert_eq!(short(&ask(&swarm, "other.example", "").await), "unsent certificate-not-trusted");
    let (records, _) = company.recorder().snapshot();
    let wire = records.iter().filter(|record| matches!(record.event, Event::Wire(_))).count();
    assert_eq!(wire, 0, "nothing of the history is told to somebody else's server");
}

#[tokio::test]
async fn faults_on_the_way_are_made_by_the_client() {
    let lost = "unknown timeout";
    for (fault, heard, done) in [
        (FaultKind::LoseRequest, lost, None),
        (FaultKind::LoseAnswer, lost, Some(1)),
        (FaultKind::Reset, "unknown reset", Some(1)),
        (FaultKind::DelayAnswer(Distribution::Constant(PATIENCE * 2)), lost, Some(1)),
        (FaultKind::Refuse { status: 503, retry_after: None }, "503 ", None),
    ] {
        let (swarm, company) = pair(vec![fault.clone()]).await;
        assert_eq!(short(&ask(&swarm, "clothes-1.example", "").await), heard, "{fault:?}");
        assert_eq!(counted(&company), done, "{fault:?}");
    }
    let (swarm, company) = pair(vec![FaultKind::Duplicate { after: Distribution::ZERO }]).await;
    assert!(short(&ask(&swarm, "clothes-1.example", "").await).starts_with("200 "));
    while counted(&company) != Some(2) {
        tokio::task::yield_now().await;
    }
    let (swarm, company) = pair(vec![FaultKind::Delay(Distribution::Constant(PATIENCE * 2))]).await;
    assert_eq!(short(&ask(&swarm, "clothes-1.example", "").await), lost);
    while counted(&company) != Some(1) {
        tokio::task::yield_now().await;
    }
    let (swarm, _company) = pair(vec![FaultKind::HangUp]).await;
    assert_eq!(short(&ask(&swarm, "clothes-1.example", "").await), "unknown reset");
}

/// A server that does with each connection what `with` says, after the TLS greeting.
async fn server<F: Future<Output = ()> + Send + 'static>(
    authority: &Authority,
    with: impl Fn(TlsStream<TcpStream>) -> F + Send + 'static,
) -> SocketAddr {
    let acceptor = authority.acceptor(&["clothes-1.example".to_owned()]).unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // A client that does not trust it says so and goes.
            if let Ok(stream) = acceptor.accept(stream).await {
                tokio::spawn(with(stream));
            }
        }
    });
    address
}

/// Reads one request's head; the tests' requests have no body.
async fn head(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(head).unwrap()
}

async fn say(mut stream: TlsStream<TcpStream>, text: &'static str) -> TlsStream<TcpStream> {
    head(&mut stream).await;
    // Whether the client is still there is the client's affair.
    let _ = stream.write_all(text.as_bytes()).await;
    let _ = stream.flush().await;
    stream
}

#[tokio::test]
async fn a_server_that_closes_idle_connections_at_once_gets_new_ones() {
    let authority = authority();
    let address = server(&authority, |stream| async {
        let mut stream = say(stream, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi").await;
        let _ = stream.shutdown().await;
    })
    .await;
    let swarm = swarm(address, &authority, vec![]);
    let mut answered = 0;
    for _ in 0..20 {
        match short(&ask(&swarm, "clothes-1.example", "").await).as_str() {
            "200 hi" => answered += 1,
            // It may have closed while the request was on its way: then nobody knows.
            other => assert_eq!(other, "unknown reset"),
        }
    }
    assert!(answered > 0);
}

#[tokio::test]
async fn what_is_no_answer_is_told_as_what_it_is() {
    for (text, heard) in [
        ("\u{0}\u{1}garbage\r\n\r\n", "unknown unreadable"),
        ("HTTP/9.9 what\r\n\r\n", "unknown unreadable"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhi", "unknown reset"),
        ("", "unknown reset"),
    ] {
        let authority = authority();
        let address = server(&authority, move |stream| async move { drop(say(stream, text).await) }).await;
        let swarm = swarm(address, &authority, vec![]);
        assert_eq!(short(&ask(&swarm, "clothes-1.example", "").await), heard, "{text:?}");
    }
}

#[tokio::test]
async fn a_server_that_never_answers_may_have_acted_and_one_that_never_greets_has_not() {
    let authority = authority();
    let silent = server(&authority, |mut stream| async move {
        head(&mut stream).await;
        std::future::pending::<()>().await;
    })
    .await;
    assert_eq!(short(&ask(&swarm(silent, &authority, vec![]), "clothes-1.example", "").await), "unknown timeout");
    let deaf = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let swarm = swarm(deaf.local_addr().unwrap(), &authority, vec![]);
    assert_eq!(short(&ask(&swarm, "clothes-1.example", "").await), "unsent timeout");
}

#[tokio::test]
async fn a_port_without_tls_is_not_taken_for_a_certificate_that_is_not_trusted() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
            // Until the client goes.
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
    });
    let swarm = swarm(address, &authority(), vec![]);
    assert_eq!(short(&ask(&swarm, "clothes-1.example", "").await), "unsent no-tls");
    assert_eq!(swarm.rejected_certificate(), None);
}

#[tokio::test]
async fn where_nobody_listens_nothing_is_sent() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let swarm = swarm(address, &authority(), vec![]);
    assert_eq!(short(&ask(&swarm, "clothes-1.example", "").await), "unsent connection-refused");
}

#[tokio::test]
async fn another_certificate_is_not_trusted_and_told() {
    let (presented, trusted) = (authority(), authority());
    let address = server(&presented, |stream| async { drop(stream) }).await;
    let swarm = swarm(address, &trusted, vec![]);
    assert_eq!(swarm.rejected_certificate(), None);
    assert_eq!(short(&ask(&swarm, "clothes-1.example", "").await), "unsent certificate-not-trusted");
    let told = swarm.rejected_certificate().unwrap();
    for part in ["clothes-1.example presented a certificate of", "issued by \"CN=Poppyfield run CA\"", "good from"] {
        assert!(told.contains(part), "{told}");
    }
}

#[tokio::test]
async fn a_server_sees_an_ordinary_client() {
    let authority = authority();
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let address = server(&authority, move |mut stream| {
        let tell = tell.clone();
        async move {
            let _ = tell.send(head(&mut stream).await);
        }
    })
    .await;
    let swarm = swarm(address, &authority, vec![]);
    ask(&swarm, "clothes-1.example:8443", "").await;
    let head = told.recv().await.unwrap().to_ascii_lowercase();
    for line in [
        "post /count http/1.1\r\n",
        "host: clothes-1.example:8443\r\n",
        "user-agent: poppyfield/",
        "content-length: 0\r\n",
    ] {
        assert!(head.contains(line), "{head}");
    }
    assert!(!head.contains("poppyfield-call"), "{head}");
}

#[tokio::test]
async fn a_hook_is_asked_at_its_own_url_and_struck_by_no_fault() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let head = head(&mut stream).await;
            let status = if head.starts_with("POST /settle ") { "200 OK" } else { "404 Not Found" };
            let _ = stream.write_all(format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").as_bytes()).await;
        }
    });
    let swarm = swarm(SocketAddr::from(([127, 0, 0, 1], 9)), &authority(), vec![FaultKind::LoseAnswer]);
    let world = swarm.world(Party::new(PartyKind::Agent, "a1"));
    for (url, heard) in [
        (format!("http://{address}/settle"), "200 "),
        (format!("http://{address}/other"), "404 "),
        ("http://192.0.2.1/settle".to_owned(), "unsent not-permitted"),
        ("/settle".to_owned(), "unsent no-such-host"),
    ] {
        let request = http::Request::post(url).body(Default::default()).unwrap();
        let answer = world.hook(request).await;
        assert_eq!(short(&crate::world::Reply { answer, sent: world.now() }), heard);
    }
    assert!(swarm.recorder().snapshot().0.is_empty());
}
