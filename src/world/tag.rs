//! What the harness itself says about a request, beside the protocol: which call of the history it is, which copy, and
//! which fault will keep its answer back. It travels in a header of its own, only between parties of the run, and is
//! taken off before the receiving party sees the request.

use http::{HeaderMap, HeaderName, HeaderValue};
use smol_str::SmolStr;

/// The header's name.
static HEADER: HeaderName = HeaderName::from_static("poppyfield-call");

/// The header of the turn that a request takes when it arrives.
static TURN: HeaderName = HeaderName::from_static("poppyfield-turn");

/// Puts the turn of a request on it.
pub(super) fn put_turn(turn: u64, headers: &mut HeaderMap) {
    headers.insert(TURN.clone(), HeaderValue::from(turn));
}

/// Takes the turn off a request.
pub(super) fn take_turn(headers: &mut HeaderMap) -> Option<u64> {
    headers.remove(&TURN)?.to_str().ok()?.parse().ok()
}

/// Which request of the history this is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tag {
    /// The call's ID.
    pub(super) call: SmolStr,
    /// Which copy of it, from 1.
    pub(super) copy: u32,
    /// The fault that will keep the answer from its caller.
    pub(super) cut: Option<SmolStr>,
}

impl Tag {
    /// Puts the tag on a request.
    pub(super) fn put(&self, headers: &mut HeaderMap) {
        let text = format!("{};{};{}", self.copy, self.cut.as_deref().unwrap_or_default(), self.call);
        if let Ok(value) = HeaderValue::from_str(&text) {
            headers.insert(HEADER.clone(), value);
        }
    }

    /// Takes the tag off a request.
    pub(super) fn take(headers: &mut HeaderMap) -> Option<Self> {
        let value = headers.remove(&HEADER)?;
        let mut parts = value.to_str().ok()?.splitn(3, ';');
        let copy = parts.next()?.parse().ok()?;
        let cut = parts.next()?;
        let call = parts.next()?.into();
        Some(Self { call, copy, cut: (!cut.is_empty()).then(|| cut.into()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_comes_off_as_it_was_put_on() {
        for cut in [None, Some("F3".into())] {
            let tag = Tag { call: "a3/1;x#7".into(), copy: 2, cut };
            let mut headers = HeaderMap::new();
            tag.put(&mut headers);
            assert_eq!(Tag::take(&mut headers), Some(tag));
            assert!(headers.is_empty());
        }
    }
}
