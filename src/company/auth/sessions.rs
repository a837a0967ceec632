//! Sessions and Session Tokens as they lie on the disk.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use smol_str::SmolStr;

use crate::{
    company::record::Owner,
    identity::{KnownKey, digest},
};

/// A Session.
#[derive(Debug)]
pub(in crate::company) struct Session {
    /// Agent, User and Session.
    pub(in crate::company) owner: Arc<Owner>,
    tokens: AtomicU64,
}

impl Session {
    /// A Session without tokens.
    pub(super) fn new(owner: Owner) -> Self {
        Self { owner: Arc::new(owner), tokens: AtomicU64::new(0) }
    }

    /// The number of a token that is issued now, from 0.
    pub(super) fn next_token(&self) -> u64 {
        self.tokens.fetch_add(1, Ordering::Relaxed)
    }
}

/// What a Session Token is good for. Its key in the table is the token.
#[derive(Debug)]
pub(in crate::company) struct Grant {
    /// Agent, User and Session.
    pub(in crate::company) owner: Arc<Owner>,
    /// The sign-in that it was issued by, if it was issued by one.
    pub(in crate::company) sign_in: Option<SmolStr>,
    /// The scopes granted.
    pub(in crate::company) scopes: Vec<SmolStr>,
    /// The resource it was issued for, if for one only.
    pub(in crate::company) resource: Option<SmolStr>,
    /// The first second at which it is no longer good, in Unix seconds.
    pub(in crate::company) ends_at: i64,
    /// The hash that proofs name it by.
    pub(in crate::company) ath: String,
    /// The key it is bound to.
    pub(in crate::company) key: KnownKey,
}

impl Grant {
    /// The grant behind this token, bound to this key.
    pub(super) fn new(token: &str, owner: Arc<Owner>, key: KnownKey, ends_at: i64) -> Self {
        Self { owner, sign_in: None, scopes: Vec::new(), resource: None, ends_at, ath: digest::ath(token), key }
    }
}
