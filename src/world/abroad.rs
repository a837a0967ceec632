//! What a field knows of somebody else's servers: where they are, whether they are trusted, and how their operator is
//! asked beside the protocol.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderValue, Request, Uri, header};
use tokio::net::TcpStream;

use super::{
    Answer, Field, FieldError, Why,
    pool::{Cut, Destination},
    remote::{Place, Remote, RemoteSite, dress},
    station::{At, Station},
};
use crate::{identity::Signatures, limits};

impl Field {
    /// Puts a party on the field that somebody else serves. There is one at the most; a later one takes its place.
    ///
    /// # Errors
    ///
    /// If the certificates that it is to be trusted by cannot be read, or the field's signatures are fast ones.
    pub fn connect(&self, remote: Remote) -> Result<(), FieldError> {
        let party = remote.party.clone();
        if self.signatures() == Signatures::Fast {
            return Err(FieldError::FastSignatures(party.name));
        }
        self.set_remote(Station::remote(party, RemoteSite::new(remote)?));
        Ok(())
    }

    /// The first certificate of somebody else's servers that was not trusted: who presented what, and why it is not.
    #[must_use]
    pub fn rejected_certificate(&self) -> Option<String> {
        let station = self.remote()?;
        site(&station)?.rejected()
    }

    /// Where somebody else's host is that an absolute URL of the protocol names.
    ///
    /// # Errors
    ///
    /// If nobody knows, or it may not be loaded.
    pub async fn remote_address(&self, uri: &Uri) -> Result<SocketAddr, Why> {
        let station = self.remote().ok_or(Why::NoSuchHost)?;
        let (Some(site), Some(place)) = (site(&station), Place::of(uri)) else { return Err(Why::NoSuchHost) };
        site.address(&place).await
    }

    /// Whether somebody listens where a hook's URL leads; nothing is asked for.
    ///
    /// # Errors
    ///
    /// If it cannot be found, may not be asked, or does not take a connection.
    pub async fn reach_hook(&self, uri: &Uri) -> Result<(), Why> {
        let station = self.remote().ok_or(Why::NoSuchHost)?;
        let (Some(site), Some(place)) = (site(&station), Place::of(uri)) else { return Err(Why::NoSuchHost) };
        let connecting = async {
            let address = site.looked_up(&place).await?;
            TcpStream::connect(address).await.map(drop).map_err(|_| Why::Refused)
        };
        self.within_hook_time(connecting).await.unwrap_or(Err(Why::Timeout))
    }

    /// Sends a request to the operator of somebody else's servers, beside the protocol: no fault strikes it, and no
    /// history has it.
    pub(super) async fn hook(&self, mut request: Request<Bytes>) -> Answer {
        let Some(station) = self.remote() else { return Answer::Unsent(Why::NoSuchHost) };
        let (Some(site), Some(place)) = (site(&station), Place::of(request.uri())) else {
            return Answer::Unsent(Why::NoSuchHost);
        };
        let mut left = false;
        let exchange = async {
            let address = match site.looked_up(&place).await {
                Ok(address) => address,
                Err(why) => return Answer::Unsent(why),
            };
            let is_empty = request.body().is_empty();
            dress(&mut request, is_empty);
            request.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            let to = Destination { keep: false, ..site.destination(&place, address) };
            self.pool().exchange(to, request, Cut::None, || left = true).await
        };
        let answer = self.within_hook_time(exchange).await;
        answer.unwrap_or(if left { Answer::Unknown(Why::Timeout) } else { Answer::Unsent(Why::Timeout) })
    }

    /// What `future` gives, if it does within the time of a hook and before the field closes.
    async fn within_hook_time<F: Future>(&self, future: F) -> Option<F::Output> {
        let deadline = self.now() + Duration::from_millis(limits::HOOK_MILLISECONDS_MAX);
        tokio::select! {
            biased;
            output = future => Some(output),
            () = self.sleep_until(deadline) => None,
            () = self.closed() => None,
        }
    }
}

fn site(station: &Arc<Station>) -> Option<&RemoteSite> {
    if let At::Remote(site) = &station.at { Some(site) } else { None }
}
