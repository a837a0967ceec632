//! The cases of a history, by action. Those that nothing was said of lately are packed: of a long run's operations all
//! but a few are over.

use std::collections::VecDeque;
use std::ops::Deref;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use smol_str::SmolStr;

use super::case::Case;
use super::pack::{pack, unpack};

/// How many cases stay open; some four kilobytes each.
const OPEN_MAX: usize = 1 << 16;

/// All cases, in the order in which they came up.
#[derive(Debug)]
pub(crate) struct Cases {
    all: IndexMap<SmolStr, Slot, FxBuildHasher>,
    /// Those that are open, in the order in which they were opened.
    open: VecDeque<usize>,
    open_max: usize,
}

/// A case: open, or packed. A new one is packed, into no bytes.
#[derive(Debug, Default)]
struct Slot {
    open: Option<Box<Case>>,
    packed: Box<[u8]>,
}

/// A case to read.
#[derive(Debug)]
pub(crate) enum Known<'a> {
    Open(&'a Case),
    Unpacked(Box<Case>),
}

impl Default for Cases {
    fn default() -> Self {
        Cases::with_open(OPEN_MAX)
    }
}

impl Deref for Known<'_> {
    type Target = Case;

    fn deref(&self) -> &Case {
        match self {
            Known::Open(case) => case,
            Known::Unpacked(case) => case,
        }
    }
}

impl Cases {
    /// Cases of which at most so many stay open.
    pub(crate) fn with_open(open_max: usize) -> Cases {
        Cases { all: IndexMap::default(), open: VecDeque::new(), open_max }
    }

    /// The number of an action's case.
    pub(crate) fn number(&mut self, action: &SmolStr) -> usize {
        match self.all.get_index_of(action) {
            Some(number) => number,
            None => self.all.insert_full(action.clone(), Slot::default()).0,
        }
    }

    /// A case to add to.
    pub(crate) fn of(&mut self, action: &SmolStr) -> &mut Case {
        let number = self.number(action);
        self.open(number)
    }

    /// The case of a number that was given here, to add to.
    pub(crate) fn open(&mut self, number: usize) -> &mut Case {
        if self.all[number].open.is_none() {
            self.fetch(number);
        }
        self.all[number].open.as_mut().expect("it was open, or has just been fetched")
    }

    /// Unpacks a case, in place of the one that was opened first if there is no more room.
    fn fetch(&mut self, number: usize) {
        if self.open.len() >= self.open_max
            && let Some(first) = self.open.pop_front()
            && let Some(case) = self.all[first].open.take()
        {
            self.all[first].packed = pack(&case);
        }
        self.open.push_back(number);
        if let Some((action, slot)) = self.all.get_index_mut(number) {
            let case = unpack(action.clone(), &std::mem::take(&mut slot.packed));
            slot.open = Some(Box::new(case));
        }
    }

    /// The case of a number that was given here.
    pub(crate) fn get(&self, number: usize) -> Option<Known<'_>> {
        self.all.get_index(number).map(|(action, slot)| slot.known(action))
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Known<'_>> {
        self.all.iter().map(|(action, slot)| slot.known(action))
    }

    /// Those of one Company.
    pub(crate) fn of_company(&self, company: &str) -> impl Iterator<Item = Known<'_>> {
        let its = self.all.iter().filter(move |(action, _)| action.split('/').next() == Some(company));
        its.map(|(action, slot)| slot.known(action))
    }
}

impl Slot {
    fn known(&self, action: &SmolStr) -> Known<'_> {
        match &self.open {
            Some(case) => Known::Open(case),
            None => Known::Unpacked(Box::new(unpack(action.clone(), &self.packed))),
        }
    }
}
