//! JSON as [`super::writer`] writes it, parsed in one pass without copies: most of judging a history is reading it.
//!
//! It takes less than JSON: one line without white space, strings without escapes, numbers that are whole and not
//! negative. Whatever else a line holds, and every mistake, is left to `serde_json`, which then gives the record or says
//! what is wrong. So no line is read differently for being read quickly.

use std::fmt;

use serde::Deserializer;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, MapAccess, SeqAccess, Visitor};

/// How deep objects and arrays may nest here; `serde_json` has the last word on deeper ones.
const DEPTH_MAX: u32 = 64;
/// How long the keys and words of the format are, nearly all of them.
const SHORT_BYTES: usize = 12;

/// Reads one value from a line.
///
/// # Errors
/// What `serde_json` says of a line that holds no such value.
#[inline]
pub(super) fn parse<T: DeserializeOwned>(line: &[u8]) -> Result<T, serde_json::Error> {
    match plain(line) {
        Some(value) => Ok(value),
        None => serde_json::from_slice(line),
    }
}

/// Reads one value from a line as this program writes most of them; `None` leaves it to [`parse`].
#[inline]
pub(super) fn plain<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
    // Without these no string can hold anything but itself, so that each one ends at the next quotation mark.
    let is_plain = line.iter().fold(true, |plain, byte| plain & (*byte >= b' ') & (*byte != b'\\'));
    if !is_plain {
        return None;
    }
    whole(std::str::from_utf8(line).ok()?).ok()
}

/// Reads a line without escapes and control characters.
#[inline]
fn whole<T: DeserializeOwned>(text: &str) -> Result<T, NotQuick> {
    let mut quick = Quick { text, at: 0, depth: 0 };
    let value = T::deserialize(&mut quick)?;
    if quick.at == text.len() { Ok(value) } else { Err(NotQuick) }
}

/// Something that is not read quickly; `serde_json` finds out whether it is wrong.
#[derive(Debug)]
struct NotQuick;

impl fmt::Display for NotQuick {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("not read quickly")
    }
}

impl std::error::Error for NotQuick {}

impl serde::de::Error for NotQuick {
    fn custom<T: fmt::Display>(_: T) -> Self {
        NotQuick
    }
}

/// A place in a line.
struct Quick<'de> {
    text: &'de str,
    at: usize,
    depth: u32,
}

impl<'de> Quick<'de> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn skip(&mut self, expected: u8) -> Result<(), NotQuick> {
        if self.peek() != Some(expected) {
            return Err(NotQuick);
        }
        self.at += 1;
        Ok(())
    }

    #[inline]
    fn skip_word(&mut self, word: &str) -> bool {
        let is_there = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        if is_there {
            self.at += word.len();
        }
        is_there
    }

    #[inline]
    fn string(&mut self) -> Result<&'de str, NotQuick> {
        self.skip(b'"')?;
        let rest = self.text.get(self.at..).unwrap_or_default();
        let bytes = rest.as_bytes();
        // Keys and words are short: looking at their bytes is quicker than setting out to search.
        let short = &bytes[..bytes.len().min(SHORT_BYTES)];
        let length = match short.iter().position(|byte| *byte == b'"') {
            Some(length) => length,
            None => short.len() + memchr::memchr(b'"', &bytes[short.len()..]).ok_or(NotQuick)?,
        };
        self.at += length + 1;
        rest.get(..length).ok_or(NotQuick)
    }

    #[inline]
    fn number(&mut self) -> Result<u64, NotQuick> {
        let start = self.at;
        let mut number: u64 = 0;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            let more = number.checked_mul(10).and_then(|tens| tens.checked_add(u64::from(digit - b'0')));
            number = more.ok_or(NotQuick)?;
            self.at += 1;
        }
        let has_leading_zero = self.text.as_bytes().get(start) == Some(&b'0') && self.at - start > 1;
        // A fraction or an exponent would follow here, where neither may stand for whoever reads on.
        if self.at == start || has_leading_zero { Err(NotQuick) } else { Ok(number) }
    }

    /// Steps into an object or array and out of it again.
    #[inline]
    fn nested<V>(
        &mut self,
        (open, close): (u8, u8),
        visit: impl FnOnce(Members<'_, 'de>) -> Result<V, NotQuick>,
    ) -> Result<V, NotQuick> {
        self.skip(open)?;
        if self.depth == DEPTH_MAX {
            return Err(NotQuick);
        }
        self.depth += 1;
        let value = visit(Members { quick: self, close, is_first: true })?;
        self.depth -= 1;
        self.skip(close)?;
        Ok(value)
    }
}

/// The members of an object or the elements of an array, one after another.
struct Members<'a, 'de> {
    quick: &'a mut Quick<'de>,
    close: u8,
    is_first: bool,
}

impl Members<'_, '_> {
    /// Whether there is another one; then its comma is behind us.
    #[inline]
    fn advance(&mut self) -> Result<bool, NotQuick> {
        if self.quick.peek() == Some(self.close) {
            return Ok(false);
        }
        if !std::mem::take(&mut self.is_first) {
            self.quick.skip(b',')?;
        }
        Ok(true)
    }
}

impl<'de> MapAccess<'de> for Members<'_, 'de> {
    type Error = NotQuick;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, NotQuick> {
        if !self.advance()? {
            return Ok(None);
        }
        if self.quick.peek() != Some(b'"') {
            return Err(NotQuick);
        }
        let key = seed.deserialize(&mut *self.quick)?;
        self.quick.skip(b':')?;
        Ok(Some(key))
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, NotQuick> {
        seed.deserialize(&mut *self.quick)
    }
}

impl<'de> SeqAccess<'de> for Members<'_, 'de> {
    type Error = NotQuick;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, NotQuick> {
        if self.advance()? { seed.deserialize(&mut *self.quick).map(Some) } else { Ok(None) }
    }
}

/// Implements the methods that take a whole number.
macro_rules! numbers {
    ($($method:ident)+) => {
        $(#[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotQuick> {
            visitor.visit_u64(self.number()?)
        })+
    };
}

/// Implements the methods that take a string.
macro_rules! strings {
    ($($method:ident)+) => {
        $(#[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotQuick> {
            visitor.visit_borrowed_str(self.string()?)
        })+
    };
}

impl<'de> Deserializer<'de> for &mut Quick<'de> {
    type Error = NotQuick;

    numbers!(deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64);
    strings!(deserialize_str deserialize_string deserialize_identifier);

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotQuick> {
        match self.peek() {
            Some(b'"') => self.deserialize_str(visitor),
            Some(b'{') => self.deserialize_map(visitor),
            Some(b'[') => self.deserialize_seq(visitor),
            Some(b'0'..=b'9') => self.deserialize_u64(visitor),
            Some(b't' | b'f') => self.deserialize_bool(visitor),
            Some(b'n') => self.deserialize_unit(visitor),
            _ => Err(NotQuick),
        }
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotQuick> {
        if self.skip_word("true") {
            visitor.visit_bool(true)
        } else if self.skip_word("false") {
            visitor.visit_bool(false)
        } else {
            Err(NotQuick)
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotQuick> {
        if self.skip_word("null") { visitor.visit_unit() } else { Err(NotQuick) }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotQuick> {
        if self.skip_word("null") { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotQuick> {
        self.nested((b'[', b']'), |members| visitor.visit_seq(members))
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotQuick> {
        self.nested((b'{', b'}'), |members| visitor.visit_map(members))
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NotQuick> {
        self.deserialize_map(visitor)
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NotQuick> {
        visitor.visit_enum(BorrowedStrDeserializer::new(self.string()?))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, NotQuick> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u128 f32 f64 char bytes byte_buf unit_struct tuple tuple_struct ignored_any
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::history::record::{LedgerRecord, Record};

    /// Lines as this program writes them, of every shape that the format has: strings, numbers, lists, maps, null.
    const LINES: [&str; 6] = [
        r#"{"seq":0,"at":0,"run":{"format":1,"seed":7,"world":"real","epoch":"2026-01-01T00:00:00Z","order":"total","observes":["calls","wire"]}}"#,
        r#"{"seq":1,"at":1,"company":{"name":"clothes-1","actions":{"exchange":{"steps":["take-back","ship"],"phrases":{"ship":"süß"}}}}}"#,
        r#"{"seq":2,"at":18446744073709551615,"call":{"id":"c1","process":"a/1","do":"confirm","action":"c/operation/1","revision":1,"approved_by":"user","proof":"p"}}"#,
        r#"{"seq":3,"at":5,"terms":{"digest":"5f0c","summary":"","terms":{"a":[1,true,null,{"b":"c"}]}}}"#,
        r#"{"seq":4,"at":5,"return":{"call":"c1","outcome":"view","status":200,"view":{"action":"c/operation/1","state":"succeeded","revision":1,"terms":"5f0c","expires_at":null,"confirmation":{"revision":1,"approved_by":"user","confirmed_at":"2026"},"result":"Done: rtn_1."}}}"#,
        r#"{"seq":5,"at":5,"end":{"records":5,"lost":0}}"#,
    ];

    const LEDGER_LINES: [&str; 3] = [
        r#"{"seq":1,"at":2,"effect":{"id":"e","action":"a","revision":1,"terms":"t","step":"s","key":"k","receipt":"rtn_1","undo_of":null}}"#,
        r#"{"seq":2,"at":3,"performed":{"action":"c/operation/1","times":1}}"#,
        r#"{"seq":3,"at":3,"totals":{"company":"c","performed":7,"operations":7}}"#,
    ];

    #[test]
    fn what_this_program_writes_is_read_quickly() {
        for line in LINES {
            let quick: Record = whole(line).expect(line);
            assert_eq!(quick, serde_json::from_str::<Record>(line).expect(line));
        }
        for line in LEDGER_LINES {
            let quick: LedgerRecord = whole(line).expect(line);
            assert_eq!(quick, serde_json::from_str::<LedgerRecord>(line).expect(line));
            assert_eq!(serde_json::to_string(&quick).expect(line), line);
        }
    }

    #[test]
    fn other_json_is_read_all_the_same() {
        let line =
            " { \"seq\" : 3, \"at\": 5, \"terms\": {\"digest\":\"\\u0035\",\"summary\":\"\\n\",\"terms\":-1.5e3} } \r";
        let record: Record = parse(line.as_bytes()).expect(line);
        assert_eq!(record, serde_json::from_str::<Record>(line).expect(line));
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_overflow() {
        let deep =
            format!(r#"{{"seq":3,"at":5,"terms":{{"digest":"d","summary":"","terms":{}}}}}"#, "[".repeat(1 << 20));
        assert!(parse::<Record>(deep.as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn whatever_is_read_quickly_is_read_the_same(
            which in 0..LINES.len(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0..3u8, "[\\x00-\\x7fé\"{}\\[\\],:0e.\\\\ -]"), 0..4),
        ) {
            let mut line: Vec<char> = LINES[which].chars().collect();
            for (place, kind, text) in changes {
                let place = place.index(line.len());
                let new = text.chars().next().unwrap_or(' ');
                match kind {
                    0 => line[place] = new,
                    1 => line.insert(place, new),
                    _ => drop(line.remove(place)),
                }
            }
            let line: String = line.into_iter().collect();
            let quick: Option<Record> = parse(line.as_bytes()).ok();
            prop_assert_eq!(quick, serde_json::from_str(&line).ok());
            let quick: Option<serde_json::Value> = parse(line.as_bytes()).ok();
            prop_assert_eq!(quick, serde_json::from_str(&line).ok());
        }
    }
}
