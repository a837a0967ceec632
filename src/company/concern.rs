//! What a request is for, as its method and path tell.

use http::Method;

use super::Shop;
use crate::history::record::Purpose;

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Concern<'a> {
    /// The kind of request.
    pub(super) purpose: Purpose,
    /// The action's name, of a proposal or a change.
    pub(super) kind: Option<&'a str>,
    /// The operation that it names.
    pub(super) operation: Option<&'a str>,
}

impl<'a> Concern<'a> {
    /// What a request to a Company is for; `None` for documents, and for what it has no endpoint for.
    pub(super) fn of(shop: &Shop, method: &Method, path: &'a str) -> Option<Self> {
        let mut segments = path.trim_matches('/').split('/');
        let whole: [Option<&str>; 5] = std::array::from_fn(|_| segments.next());
        let (purpose, kind, operation) = match (method.as_str(), whole) {
            ("POST", [Some("oauth"), Some("token"), None, ..]) => (Purpose::Token, None, None),
            ("POST", [Some("oauth"), Some("revoke"), None, ..]) => (Purpose::Revoke, None, None),
            ("POST", [Some("oauth"), Some("device"), None, ..]) | ("GET" | "POST", [Some("device"), None, ..]) => {
                (Purpose::SignIn, None, None)
            }
            ("GET", [Some("poppy"), Some("operations"), Some(id), None, _]) => (Purpose::Read, None, Some(id)),
            ("POST", [Some("poppy"), Some("operations"), Some(id), Some("confirm"), None]) => {
                (Purpose::Confirm, None, Some(id))
            }
            ("POST", [Some("poppy"), Some("operations"), Some(id), Some("cancel"), None]) => {
                (Purpose::Cancel, None, Some(id))
            }
            ("POST", [Some("orders"), Some(_), Some(kind), id, None]) => {
                let kind = kind.strip_suffix('s').filter(|kind| shop.plan.actions.contains_key(*kind))?;
                (if id.is_some() { Purpose::Change } else { Purpose::Propose }, Some(kind), id)
            }
            _ => return None,
        };
        Some(Self { purpose, kind, operation })
    }
}
