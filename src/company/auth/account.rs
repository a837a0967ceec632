//! Accounts: which Sessions are signed in to which, by which sign-in, and the Account Tokens that go on with it
//! (digest 3.5, 9.5). A simulated Company has no list of accounts: any name is one.

use std::sync::Arc;

use smol_str::SmolStr;

use super::{sessions::Session, sign_in::Pending};
use crate::{
    company::Shop,
    identity::digest,
    protocol::{ErrorCode, TokenRequest},
    world::{Disk, Table},
};

/// One sign-in: what a User allowed on the Company's page. Its tokens are good until it is revoked.
#[derive(Debug, Clone)]
pub(super) struct SignIn {
    client_id: SmolStr,
    user_id: SmolStr,
    account: SmolStr,
    scopes: Vec<SmolStr>,
    revoked: bool,
}

/// An Account Token. Its key in the table is the token.
#[derive(Debug, Clone)]
struct AccountToken {
    /// The sign-in that it goes on with.
    sign_in: SmolStr,
    /// Its number among the tokens of its sign-in, from 0.
    number: u64,
    /// Whether another one took its place.
    rotated: bool,
}

/// Sign-ins and Account Tokens as they lie on the disk.
#[derive(Debug)]
pub(in crate::company) struct Accounts {
    /// Sign-ins that wait for their User, by device code.
    pub(super) pending: Table<Pending>,
    /// The device code behind a user code.
    pub(super) user_codes: Table<SmolStr>,
    /// By the device code that each began with.
    sign_ins: Table<SignIn>,
    tokens: Table<AccountToken>,
    /// The account of every Session that was ever signed in: it is never signed in to another one.
    ties: Table<SmolStr>,
}

/// What a Session is signed in with now.
#[derive(Debug)]
pub(super) struct SignedIn {
    /// The sign-in.
    pub(super) sign_in: SmolStr,
    /// The scopes granted.
    pub(super) scopes: Vec<SmolStr>,
    /// The Account Token from now on.
    pub(super) account_token: String,
}

impl Accounts {
    /// Those on this disk.
    pub(in crate::company) fn open(disk: &Disk) -> Self {
        Self {
            pending: disk.table("pending-sign-ins"),
            user_codes: disk.table("user-codes"),
            sign_ins: disk.table("sign-ins"),
            tokens: disk.table("account-tokens"),
            ties: disk.table("ties"),
        }
    }

    /// The account of a sign-in, unless it was revoked.
    pub(super) fn account(&self, sign_in: &str) -> Option<SmolStr> {
        self.sign_ins.get(sign_in).filter(|sign_in| !sign_in.revoked).map(|sign_in| sign_in.account.clone())
    }

    /// Ties a Session to an account; it is not tied to another one afterwards.
    ///
    /// # Errors
    /// `account_mismatch` where it already is.
    pub(super) fn tie(&self, session: &Session, account: &SmolStr) -> Result<(), ErrorCode> {
        let tied = self.ties.transact(&session.owner.session_id, |row| {
            *row.get_or_insert_with(|| Arc::new(account.clone())).as_ref() == *account
        });
        if tied { Ok(()) } else { Err(ErrorCode::AccountMismatch) }
    }

    /// Ends the sign-in of an Account Token, whether or not another one took its place: whatever was issued by it goes on
    /// signed out. Does nothing for a token that is unknown or another Agent's.
    pub(super) fn sign_out(&self, token: &str, client_id: &str) {
        let Some(token) = self.tokens.get(token) else { return };
        self.sign_ins.transact(&token.sign_in, |row| {
            if let Some(sign_in) = row.as_deref().filter(|sign_in| sign_in.client_id == client_id) {
                *row = Some(Arc::new(SignIn { revoked: true, ..sign_in.clone() }));
            }
        });
    }
}

/// Signs a Session in that is tied to the account already; `sign_in` is the device code of what the User allowed.
pub(super) fn begin(
    shop: &Shop,
    session: &Session,
    sign_in: SmolStr,
    account: SmolStr,
    scopes: Vec<SmolStr>,
) -> SignedIn {
    let (client_id, user_id) = (session.owner.client_id.clone(), session.owner.user_id.clone());
    let begun = SignIn { client_id, user_id, account, scopes: scopes.clone(), revoked: false };
    shop.accounts.sign_ins.transact(&sign_in, |row| *row = Some(Arc::new(begun)));
    let account_token = issue(shop, &sign_in, 0);
    SignedIn { sign_in, scopes, account_token }
}

/// Signs a Session in with an Account Token, which a new one takes the place of.
///
/// # Errors
/// `invalid_grant`, `invalid_session`, `account_mismatch`, `invalid_scope`; the token is as good as before then.
pub(super) fn renew(shop: &Shop, client_id: &str, form: &TokenRequest) -> Result<(Arc<Session>, SignedIn), ErrorCode> {
    let accounts = &shop.accounts;
    let presented = form.refresh_token.as_deref().unwrap_or_default();
    let token = accounts.tokens.get(presented).filter(|token| !token.rotated).ok_or(ErrorCode::InvalidGrant)?;
    let sign_in = accounts.sign_ins.get(&token.sign_in).ok_or(ErrorCode::InvalidGrant)?;
    if sign_in.revoked || sign_in.client_id != client_id {
        return Err(ErrorCode::InvalidGrant);
    }
    let session = shop.sessions.get(form.session_id.as_deref().unwrap_or_default());
    let own = session
        .filter(|session| session.owner.client_id == sign_in.client_id && session.owner.user_id == sign_in.user_id);
    let session = own.ok_or(ErrorCode::InvalidSession)?;
    let scopes = narrowed(&sign_in.scopes, form.scope.as_deref().unwrap_or_default())?;
    accounts.tie(&session, &sign_in.account)?;
    // Of two requests with one token, one takes its place.
    let taken = accounts.tokens.transact(presented, |row| {
        let fresh = row.as_deref().filter(|token| !token.rotated).cloned();
        *row = Some(Arc::new(AccountToken { rotated: true, ..(*token).clone() }));
        fresh
    });
    let taken = taken.ok_or(ErrorCode::InvalidGrant)?;
    let account_token = issue(shop, &taken.sign_in, taken.number + 1);
    Ok((session, SignedIn { sign_in: taken.sign_in, scopes, account_token }))
}

/// The scopes asked for, if all of them were granted; all that were, if none is asked for.
fn narrowed(granted: &[SmolStr], asked: &str) -> Result<Vec<SmolStr>, ErrorCode> {
    let asked: Vec<SmolStr> = asked.split_ascii_whitespace().map(SmolStr::from).collect();
    if asked.is_empty() {
        return Ok(granted.to_vec());
    }
    if asked.iter().all(|scope| granted.contains(scope)) { Ok(asked) } else { Err(ErrorCode::InvalidScope) }
}

/// The next Account Token of a sign-in.
fn issue(shop: &Shop, sign_in: &SmolStr, number: u64) -> String {
    let drawn: [u8; 32] =
        shop.world.draw("company.account-token", &format!("{}\n{sign_in}", shop.plan.name), number).bytes();
    let token = format!("acct_{}", digest::base64url(drawn));
    let row = AccountToken { sign_in: sign_in.clone(), number, rotated: false };
    shop.accounts.tokens.transact(&token, |slot| *slot = Some(Arc::new(row)));
    token
}
