//! A first look at a target, before anything is loaded: whether its documents can be had and pass an Agent's checks.

use smol_str::{SmolStr, ToSmolStr as _};

use super::{
    Shared,
    discovery::{self, Unknown},
    process::Process,
};

/// Why a target is no Company that the Agents can use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// A document could not be had.
    NoAnswer {
        /// Which.
        url: String,
        /// The history's word for it, or the status (`status-404`).
        why: SmolStr,
    },
    /// The documents fail a check (digest 1.5).
    Check(SmolStr),
    /// It does not list the Operations extension in the version that the Agents speak.
    NoOperations,
    /// Users are to sign in, and it has no device authorization endpoint.
    NoSignIn,
}

/// What a target's documents publish.
#[derive(Debug, Clone)]
pub struct Published {
    /// The URLs that Agents will send requests to.
    pub urls: Vec<String>,
}

/// Fetches the documents of the plan's first Company once, with the protocol's checks.
///
/// # Errors
///
/// What is wrong with them, the first thing that is.
pub async fn probe(shared: &Shared) -> Result<Published, Unfit> {
    let mut process = Process::new(SmolStr::new_static("probe"), shared.world.now());
    let mut trouble = None;
    let site = match discovery::look_once(shared, &mut process, 0, &mut trouble).await {
        Ok(site) => site,
        Err(Unknown::Unusable(check)) => return Err(Unfit::Check(check)),
        Err(Unknown::NotNow) => {
            let (url, why) = trouble.unwrap_or_default();
            return Err(Unfit::NoAnswer { url, why: why.to_smolstr() });
        }
    };
    let operations = site.operations.as_ref().ok_or(Unfit::NoOperations)?;
    let signs_in = shared.plan.target.as_ref().is_some_and(|target| target.sign_in.is_some());
    if signs_in && site.sign_in.device_endpoint.is_none() {
        return Err(Unfit::NoSignIn);
    }
    let mut urls = vec![site.token_endpoint.clone(), operations.endpoint.clone()];
    urls.extend(site.sign_in.device_endpoint.clone().filter(|_| signs_in));
    Ok(Published { urls })
}
