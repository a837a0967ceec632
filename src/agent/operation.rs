//! The requests at the operations endpoint that concern one operation (Operations 5.2, 6, 7).

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use bytes::Bytes;
use http::Method;
use smol_str::SmolStr;

use super::{
    answer::Ended,
    errand::{Attempts, Errand, KeptProof, NotSent, Url},
    openapi::push_segment,
    process::Process,
    view::Seen,
    wish::Wish,
};
use crate::{
    history::record::Purpose,
    plan::AgentDefect,
    protocol::{ApprovedBy, ConfirmRequest, Revision},
};

/// One operation, as its Agent reaches it. Several processes may use it side by side.
#[derive(Debug)]
pub(super) struct OperationAt {
    wish: Arc<Wish>,
    /// The action ID.
    pub(super) action: SmolStr,
    /// The operation ID.
    pub(super) id: String,
    /// As the answer to its proposal showed it: most later answers have the same terms.
    proposed: Arc<Seen>,
    /// Where it is read. What is under it is made when it is used, but for the confirm's, which nearly always is.
    url: String,
    confirm: Url,
    attempts: Attempts,
    /// Set when no confirm may leave any more.
    stopped: AtomicBool,
    kept_proof: Mutex<Option<KeptProof>>,
}

impl OperationAt {
    /// The operation at its Company's endpoint; `None` if the Company lists none.
    pub(super) fn new(wish: &Arc<Wish>, seen: &Arc<Seen>) -> Option<Self> {
        let id = seen.operation.operation_id.clone();
        let endpoint = &wish.site.operations.as_ref()?.endpoint;
        let mut url = String::with_capacity(endpoint.len() + id.len() + 32);
        url.push_str(endpoint);
        url.push('/');
        push_segment(&mut url, &id);
        Some(Self {
            wish: Arc::clone(wish),
            action: seen.action.clone(),
            confirm: Url::new([&url, "/confirm"].concat())?,
            url,
            id,
            proposed: Arc::clone(seen),
            attempts: Attempts::default(),
            stopped: AtomicBool::new(false),
            kept_proof: Mutex::default(),
        })
    }

    /// From now on no confirm leaves any more.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    fn errand<'a>(&'a self, purpose: Purpose, url: &'a Url) -> Errand<'a> {
        Errand {
            purpose,
            method: if purpose == Purpose::Read { Method::GET } else { Method::POST },
            url,
            resource: self.wish.site.operations.as_ref().and_then(|operations| operations.resource.as_deref()),
            body: Bytes::new(),
            key: &self.action,
            attempts: &self.attempts,
            intent: None,
            kind: None,
            action: Some(&self.action),
            confirms: None,
            id: Some(&self.id),
            known: Some(&self.proposed),
            unless: None,
            kept_proof: None,
        }
    }

    /// A URL that begins as the confirm's does and is no longer, so that it is one too.
    fn other_url(&self, below: &str) -> Result<Url, NotSent> {
        Url::new([&self.url, below].concat()).ok_or(NotSent::Withheld)
    }

    async fn run(&self, errand: Errand<'_>, process: &mut Process) -> Result<Ended, NotSent> {
        errand.run(&self.wish.person, &self.wish.home, &self.wish.site, process).await
    }

    /// Reads the operation.
    pub(super) async fn read(&self, process: &mut Process) -> Result<Ended, NotSent> {
        self.run(self.errand(Purpose::Read, &self.other_url("")?), process).await
    }

    /// Confirms a revision, unless the User said stop by the time it would leave.
    pub(super) async fn confirm(
        &self,
        process: &mut Process,
        revision: Revision,
        approved_by: ApprovedBy,
    ) -> Result<Ended, NotSent> {
        let reuses_proof = self.wish.person.shared.has(AgentDefect::ReuseProof);
        let errand = Errand {
            body: ConfirmRequest { revision, approved_by }.to_body().into(),
            confirms: Some((revision.get(), approved_by.into())),
            unless: Some(&self.stopped),
            kept_proof: reuses_proof.then_some(&self.kept_proof),
            ..self.errand(Purpose::Confirm, &self.confirm)
        };
        self.run(errand, process).await
    }

    /// Asks the Company to cancel the operation.
    pub(super) async fn cancel(&self, process: &mut Process) -> Result<Ended, NotSent> {
        self.run(self.errand(Purpose::Cancel, &self.other_url("/cancel")?), process).await
    }
}
