//! Whether a target can be loaded at all, found out before anything is: it may be, it is there, it is trusted, it is a
//! Company that the Agents can use, and its hooks are there.

use std::{collections::BTreeSet, net::SocketAddr, sync::Arc, time::Duration};

use http::Uri;
use jiff::Timestamp;

use super::set_up::remote;
use crate::{
    agent::{self, Shared, Unfit},
    fault::Faults,
    history::Recorder,
    identity::Signatures,
    measure::Meter,
    plan::{CaFile, Hook, Performed, Plan, Target},
    world::{Clock, Field, FieldError, FieldOptions, Lane, Why},
};

/// How long a document of the first look may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a target is not loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotLoaded {
    /// It is not on a loopback address, and nobody named it.
    #[error("{0}")]
    NotPermitted(String),
    /// It cannot be reached, or is no Company that the Agents can use; says what to do.
    #[error("{0}")]
    Unreachable(String),
}

/// What the first look found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// Where the target's domain is.
    pub address: SocketAddr,
}

/// Takes a first look at the plan's target; `None` if it has none. Only its documents are fetched.
///
/// # Errors
///
/// Why it cannot be loaded, and what to do.
pub async fn probe(plan: &Plan, may_load: &BTreeSet<String>, epoch: Timestamp) -> Result<Option<Reached>, NotLoaded> {
    let Some(target) = &plan.target else { return Ok(None) };
    let field = Field::new(FieldOptions {
        seed: plan.seed,
        clock: Clock::real(),
        epoch,
        recorder: Recorder::in_memory(),
        faults: Faults::new(plan.seed, Vec::new(), []),
        lane: Lane::Direct(Signatures::Real),
    });
    let field = field.map_err(|error| unreachable(&error))?;
    field.connect(remote(target, may_load)).map_err(|error: FieldError| unreachable(&error))?;
    let first = format!("https://{}/", target.domain);
    let address = place(&field, target, &first).await?;
    for url in urls_of(target) {
        place(&field, target, &url).await?;
    }
    let mut plan = plan.clone();
    plan.swarm.request_timeout = PATIENCE;
    let shared = Shared::new(Arc::new(plan), &field, Meter::new()).map_err(|error| unreachable(&error))?;
    match agent::probe(&shared).await {
        Ok(published) => {
            for url in &published.urls {
                place(&field, target, url).await?;
            }
        }
        Err(unfit) => {
            // Documents may lead to other hosts, which are somewhere else, or may not be asked.
            let address = match &unfit {
                Unfit::NoAnswer { url, .. } => place(&field, target, url).await?,
                Unfit::Check(_) | Unfit::NoOperations | Unfit::NoSignIn => address,
            };
            return Err(NotLoaded::Unreachable(told(&unfit, &shared, &field, address)));
        }
    }
    for (name, hook) in hooks_of(target) {
        reach_hook(&field, target, name, hook).await?;
    }
    Ok(Some(Reached { address }))
}

fn unreachable(error: &dyn std::fmt::Display) -> NotLoaded {
    NotLoaded::Unreachable(error.to_string())
}

/// Where a URL of the protocol leads.
async fn place(field: &Field, target: &Target, url: &str) -> Result<SocketAddr, NotLoaded> {
    let uri: Uri = url.parse().map_err(|_| NotLoaded::Unreachable(format!("`{url}` is no URL")))?;
    let host = uri.host().unwrap_or_default();
    let file = &target.file;
    field.remote_address(&uri).await.map_err(|why| match why {
        Why::NotPermitted => NotLoaded::NotPermitted(not_permitted(url, host)),
        _ => NotLoaded::Unreachable(format!(
            "`{host}` cannot be found ({}); say where it is with `connect_to` in {file}, or correct its name",
            why.word()
        )),
    })
}

fn not_permitted(url: &str, host: &str) -> String {
    format!(
        "{url} is not on a loopback address of this machine, and is not loaded unasked; \
         if it is yours to load, add --i-may-load-this-target {host}"
    )
}

/// The absolute URLs that a target file names itself.
fn urls_of(target: &Target) -> Vec<String> {
    let actions = target.actions.values();
    let shapes = actions.flat_map(|action| {
        let before = action.before.iter().map(|preparation| &preparation.request);
        before.chain([&action.propose]).chain(&action.change)
    });
    // Placeholders stand after the host, so that the host is there already.
    let origin = |url: &str| {
        let rest = url.strip_prefix("https://")?;
        Some(format!("https://{}/", rest.split(['/', '?']).next().unwrap_or(rest)))
    };
    let urls: BTreeSet<String> = shapes.filter_map(|shape| origin(&shape.url)).collect();
    urls.into_iter().collect()
}

fn hooks_of(target: &Target) -> Vec<(&'static str, &Hook)> {
    let hooks = &target.hooks;
    let performed = hooks.performed.as_ref().map(|performed| match performed {
        Performed::EachOperation { hook, .. } | Performed::Totals { hook, .. } => hook,
    });
    let named = [
        ("approve_sign_in", hooks.approve_sign_in.as_ref()),
        ("revise", hooks.revise.as_ref()),
        ("settle", hooks.settle.as_ref().map(|settle| &settle.hook)),
        ("performed", performed),
    ];
    named.into_iter().filter_map(|(name, hook)| Some((name, hook?))).collect()
}

async fn reach_hook(field: &Field, target: &Target, name: &str, hook: &Hook) -> Result<(), NotLoaded> {
    // Placeholders are no part of a URL; before them stands all that is needed.
    let url = hook.url.split('{').next().unwrap_or_default();
    let uri: Uri = url.parse().map_err(|_| NotLoaded::Unreachable(format!("hook `{name}`: `{url}` is no URL")))?;
    field.reach_hook(&uri).await.map_err(|why| match why {
        Why::NotPermitted => NotLoaded::NotPermitted(not_permitted(url, uri.host().unwrap_or_default())),
        _ => NotLoaded::Unreachable(format!(
            "hook `{name}` cannot be reached at {url} ({}): start what answers there, or correct `hooks` in {}",
            why.word(),
            target.file
        )),
    })
}

/// What is wrong with a target's documents, and what to do.
fn told(unfit: &Unfit, shared: &Shared, field: &Field, address: SocketAddr) -> String {
    let Some(target) = &shared.plan().target else { return String::new() };
    let Target { name, domain, file, .. } = target;
    match unfit {
        Unfit::NoAnswer { url, why } => match why.as_str() {
            "connection-refused" => format!(
                "cannot reach `{name}`: no connection can be made at {address}, where {url} is asked for; start that \
                 Company there, or correct `connect_to` in {file}"
            ),
            "certificate-not-trusted" => {
                let presented = field.rejected_certificate().unwrap_or_else(|| "its certificate".to_owned());
                let trusted = match &target.ca {
                    None => format!("whom this machine trusts; name that Company's own CA as `ca` in {file}"),
                    Some(CaFile { path, .. }) => {
                        format!("{path} alone; see that `ca` in {file} is the CA of the Company that is running")
                    }
                };
                format!("`{name}` is not trusted: {presented}. Trusted is {trusted}")
            }
            status if status.starts_with("status-") => format!(
                "{url} was answered with status {}, not with a document: there is no Company of the Personal Agent \
                 Protocol at {address}, or `domain` in {file} is not its own",
                status.trim_start_matches("status-")
            ),
            _ => format!(
                "cannot reach `{name}`: {url} gave no answer at {address} ({why}); see that this is the Company's TLS \
                 port and that it is well, or correct `connect_to` in {file}"
            ),
        },
        Unfit::Check(check) => format!("`{name}` cannot be used: {}", check_told(check, domain, file, shared)),
        Unfit::NoSignIn => format!(
            "`{name}` cannot be used: Users are to sign in (`sign_in` in {file}), and its authorization server has no \
             device authorization endpoint"
        ),
        Unfit::NoOperations => format!(
            "`{name}` cannot be used: its poppy.json does not list the Operations extension in version {}",
            shared.plan().swarm.operations_version
        ),
    }
}

/// A failed check of discovery in words (digest 1.5).
fn check_told(check: &str, domain: &str, file: &str, shared: &Shared) -> String {
    let (id, what) = check.split_once(": ").unwrap_or((check, ""));
    let mode = shared.plan().swarm.session_mode;
    match id {
        "D1" => format!(
            "it speaks protocol version {what}, and the Agents speak {}: set `session_mode` in {file}",
            mode.protocol_version()
        ),
        "D2" => format!("its poppy.json speaks for `{what}`, not for `{domain}`: correct `domain` in {file}"),
        "D3" => format!("its authorization server's metadata names `{what}` as the issuer, not the one of poppy.json"),
        "D4" => format!("its authorization server does not list `{what}` among its `poppy_domains`"),
        "D5" => format!("it publishes `{what}`, which is no HTTPS URL"),
        "D6" => "its documents lead from one place to the next without an end".to_owned(),
        "D7" => format!(
            "what it serves as a document is none ({what}): there is no Company of the Personal Agent Protocol there"
        ),
        "auth" => "its poppy.json names no authorization server (`auth`)".to_owned(),
        _ => format!("{id}: {what}"),
    }
}
