//! A case as a few bytes, for the time in which nothing is said of it: some fifth of what its lists take.
//!
//! Numbers take as many bytes as they need; places and times stand as differences; a string or place that was there
//! before, as its number. What was packed is unpacked the same, to the last field: nothing is left out, so that no rule
//! needs to know of this. Bytes that end too soon read on as zeros, which makes an empty case of none at all.

use smol_str::SmolStr;

use super::case::{Approved, Ask, Case, Confirmed, Counted, Did, Look, Offered, Point, Tried};
use super::time::Wall;
use crate::history::record::{ApprovalIs, ApprovedBy, AttemptIs, Learnt, Outcome, Purpose, State};

/// How many bytes a packed case has at most, nearly always.
const USUAL_BYTES: usize = 1024;

/// A case, but for its action.
pub(crate) fn pack(case: &Case) -> Box<[u8]> {
    let Case { action: _, kind, asks, looks, offers, approvals, tries, deeds, counted } = case;
    let mut to = Packer { bytes: Vec::with_capacity(USUAL_BYTES), ..Packer::default() };
    kind.pack(&mut to);
    asks.pack(&mut to);
    looks.pack(&mut to);
    offers.pack(&mut to);
    approvals.pack(&mut to);
    tries.pack(&mut to);
    deeds.pack(&mut to);
    counted.pack(&mut to);
    to.bytes.as_slice().into()
}

/// The case of an action that [`pack`] made these bytes of.
pub(crate) fn unpack(action: SmolStr, bytes: &[u8]) -> Case {
    let from = &mut Unpacker { bytes, ..Unpacker::default() };
    Case {
        action,
        kind: Pack::unpack(from),
        asks: Pack::unpack(from),
        looks: Pack::unpack(from),
        offers: Pack::unpack(from),
        approvals: Pack::unpack(from),
        tries: Pack::unpack(from),
        deeds: Pack::unpack(from),
        counted: Pack::unpack(from),
    }
}

/// Bytes in the making, and what stands in them already.
#[derive(Default)]
struct Packer<'a> {
    bytes: Vec<u8>,
    strings: Vec<&'a str>,
    points: Vec<Point>,
    wall: i64,
}

/// The rest of the bytes, and what stood in those before.
#[derive(Default)]
struct Unpacker<'a> {
    bytes: &'a [u8],
    strings: Vec<SmolStr>,
    points: Vec<Point>,
    wall: i64,
}

/// What can be packed.
trait Pack: Sized {
    fn pack<'a>(&'a self, to: &mut Packer<'a>);
    fn unpack(from: &mut Unpacker<'_>) -> Self;
}

impl<'a> Packer<'a> {
    /// Seven bits a byte, the lowest first; the eighth says that more follow.
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// A difference, so that small ones are short whatever their sign.
    fn difference(&mut self, new: u64, old: u64) {
        let difference = new.wrapping_sub(old) as i64;
        self.number((difference << 1 ^ difference >> 63) as u64);
    }

    fn text(&mut self, text: &'a str) {
        if let Some(known) = self.strings.iter().position(|known| *known == text) {
            self.number((known as u64) << 1);
            return;
        }
        self.number((text.len() as u64) << 1 | 1);
        self.bytes.extend_from_slice(text.as_bytes());
        self.strings.push(text);
    }
}

impl Unpacker<'_> {
    fn number(&mut self) -> u64 {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.bytes.split_off_first().copied().unwrap_or_default();
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                break;
            }
        }
        number
    }

    fn difference(&mut self, old: u64) -> u64 {
        let number = self.number();
        old.wrapping_add(number >> 1 ^ (number & 1).wrapping_neg())
    }

    fn text(&mut self) -> SmolStr {
        let number = self.number();
        // It was made of memory, so that it fits in there.
        let length = (number >> 1) as usize;
        if number & 1 == 0 {
            return self.strings.get(length).cloned().unwrap_or_default();
        }
        let text = self.bytes.split_off(..length).unwrap_or_default();
        let text = SmolStr::from(std::str::from_utf8(text).unwrap_or_default());
        self.strings.push(text.clone());
        text
    }
}

impl Pack for u64 {
    fn pack<'a>(&'a self, to: &mut Packer<'a>) {
        to.number(*self);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Self {
        from.number()
    }
}

impl Pack for bool {
    fn pack<'a>(&'a self, to: &mut Packer<'a>) {
        to.number(u64::from(*self));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Self {
        from.number() != 0
    }
}

impl Pack for SmolStr {
    fn pack<'a>(&'a self, to: &mut Packer<'a>) {
        to.text(self);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Self {
        from.text()
    }
}

impl Pack for Box<str> {
    fn pack<'a>(&'a self, to: &mut Packer<'a>) {
        to.text(self);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Self {
        from.text().as_str().into()
    }
}

impl Pack for Point {
    fn pack<'a>(&'a self, to: &mut Packer<'a>) {
        // The places of an answer are mostly those of its request, which stand there already.
        if let Some(known) = to.points.iter().position(|known| known == self) {
            to.number(known as u64 + 1);
            return;
        }
        to.number(0);
        let last = to.points.last().copied().unwrap_or_default();
        to.difference(self.seq, last.seq);
        to.difference(self.at, last.at);
        to.points.push(*self);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Self {
        let number = from.number();
        if number > 0 {
            return from.points.get(number as usize - 1).copied().unwrap_or_default();
        }
        let last = from.points.last().copied().unwrap_or_default();
        let point = Point { seq: from.difference(last.seq), at: from.difference(last.at) };
        from.points.push(point);
        point
    }
}

impl Pack for Wall {
    fn pack<'a>(&'a self, to: &mut Packer<'a>) {
        to.difference(self.from as u64, to.wall as u64);
        to.difference(self.to as u64, self.from as u64);
        to.wall = self.from;
    }

    fn unpack(from: &mut Unpacker<'_>) -> Self {
        from.wall = from.difference(from.wall as u64) as i64;
        let to = from.difference(from.wall as u64) as i64;
        Wall { from: from.wall, to }
    }
}

impl<T: Pack> Pack for Option<T> {
    fn pack<'a>(&'a self, to: &mut Packer<'a>) {
        to.number(u64::from(self.is_some()));
        if let Some(value) = self {
            value.pack(to);
        }
    }

    fn unpack(from: &mut Unpacker<'_>) -> Self {
        bool::unpack(from).then(|| T::unpack(from))
    }
}

impl<T: Pack, U: Pack> Pack for (T, U) {
    fn pack<'a>(&'a self, to: &mut Packer<'a>) {
        self.0.pack(to);
        self.1.pack(to);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Self {
        (T::unpack(from), U::unpack(from))
    }
}

impl<T: Pack> Pack for Vec<T> {
    fn pack<'a>(&'a self, to: &mut Packer<'a>) {
        to.number(self.len() as u64);
        self.iter().for_each(|value| value.pack(to));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Self {
        (0..from.number()).map(|_| T::unpack(from)).collect()
    }
}

/// Packs words as their numbers. Each must be named here.
macro_rules! words {
    ($($type:ident [$first:ident $(, $word:ident)*])+) => {
        $(impl Pack for $type {
            fn pack<'a>(&'a self, to: &mut Packer<'a>) {
                to.number(match self { $type::$first $(| $type::$word)* => *self as u64 });
            }

            fn unpack(from: &mut Unpacker<'_>) -> Self {
                let number = from.number();
                let words = [$type::$first $(, $type::$word)*];
                words.into_iter().find(|word| *word as u64 == number).unwrap_or($type::$first)
            }
        })+
    };
}

words! {
    Purpose [Discover, Keys, Token, Revoke, SignIn, Prepare, Propose, Change, Read, Confirm, Cancel, Backend]
    Outcome [View, Done, Refused, Unknown, Unsent]
    State [Proposed, InProgress, Succeeded, Failed, Cancelled, Expired]
    ApprovedBy [User, StandingPermission]
    ApprovalIs [Shown, Approved, Declined, OtherTerms, Withdrawn, Standing, Told]
    AttemptIs [Sent, Answered, Unanswered]
    Learnt [Done, NotDone]
}

/// Packs facts field by field. Each must be named here.
macro_rules! facts {
    ($($type:ident { $($field:ident)+ })+) => {
        $(impl Pack for $type {
            fn pack<'a>(&'a self, to: &mut Packer<'a>) {
                let $type { $($field),+ } = self;
                $($field.pack(to);)+
            }

            fn unpack(from: &mut Unpacker<'_>) -> Self {
                $type { $($field: Pack::unpack(from)),+ }
            }
        })+
    };
}

facts! {
    Ask {
        sent ended purpose process user revision approved_by why retry_after_ms is_doubled arrived answered listed
    }
    Look {
        sent left heard process purpose listed state revision terms expires approval_required confirmation result
    }
    Confirmed { revision approved_by at }
    Offered { point revision terms expires }
    Approved { point is user revision terms }
    Tried { point step key is learnt }
    Did { point revision terms step receipt undo_of }
    Counted { point times }
}
