//! Bounded JSON parsing: the only door through which bytes of a peer become values.
//!
//! Refuses bodies that are too long or nested too deeply before serde sees them, and, where the digest asks for it
//! (D7: discovery documents), objects in which a member stands twice.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::limits;

/// Why a body is refused.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// Longer than the bound.
    #[error("body of {length} bytes, at most {bound} are read")]
    TooLong {
        /// Bytes in the body.
        length: usize,
        /// The bound, in bytes.
        bound: usize,
    },
    /// Nested deeper than [`limits::JSON_DEPTH_MAX`].
    #[error("nested deeper than {} levels", limits::JSON_DEPTH_MAX)]
    TooDeep,
    /// A body that must be an object is something else.
    #[error("body is not a JSON object")]
    NotAnObject,
    /// Not JSON, or not the expected shape.
    #[error("{0}")]
    Shape(#[from] serde_json::Error),
}

/// Parses a body of at most [`limits::BODY_BYTES_MAX`] bytes.
///
/// # Errors
/// [`JsonError`] when a bound is passed or the body has another shape. Members that the type names may not stand twice.
pub fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, JsonError> {
    check_bounds(body, limits::BODY_BYTES_MAX)?;
    Ok(read(body)?)
}

/// Parses a body as [`parse`] does, and refuses everything but an object (serde would fill a struct from an array).
///
/// # Errors
/// As [`parse`], and [`JsonError::NotAnObject`].
pub fn parse_object<T: DeserializeOwned>(body: &[u8]) -> Result<T, JsonError> {
    check_bounds(body, limits::BODY_BYTES_MAX)?;
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err(JsonError::NotAnObject);
    }
    Ok(read(body)?)
}

/// Reads a body that is UTF-8, as nearly all are, without looking at each of its strings for that once more.
fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, serde_json::Error> {
    match std::str::from_utf8(body) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(body),
    }
}

/// Parses a discovery document: at most [`limits::DOCUMENT_BYTES_MAX`] bytes, an object, and no member twice in any
/// object of it (digest D7).
///
/// # Errors
/// [`JsonError`] when a bound is passed, a member stands twice, or the document has another shape.
pub fn parse_document<T: DeserializeOwned>(body: &[u8]) -> Result<T, JsonError> {
    check_bounds(body, limits::DOCUMENT_BYTES_MAX)?;
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let value = UniqueMembers.deserialize(&mut deserializer)?;
    deserializer.end()?;
    if !value.is_object() {
        return Err(JsonError::NotAnObject);
    }
    Ok(serde_json::from_value(value)?)
}

fn check_bounds(body: &[u8], bound: usize) -> Result<(), JsonError> {
    if body.len() > bound {
        return Err(JsonError::TooLong { length: body.len(), bound });
    }
    if depth_exceeds(body, limits::JSON_DEPTH_MAX) { Err(JsonError::TooDeep) } else { Ok(()) }
}

/// Whether brackets outside strings nest deeper than `bound`. Reads any bytes; says nothing on whether they are JSON.
fn depth_exceeds(body: &[u8], bound: usize) -> bool {
    // Nearly every body has fewer brackets than that, and finding them is much quicker than telling strings apart.
    if memchr::memchr2_iter(b'{', b'[', body).take(bound + 1).count() <= bound {
        return false;
    }
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in body {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                depth += 1;
                if depth > bound {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Reads any JSON value and refuses an object with a member that stands twice.
struct UniqueMembers;

impl<'de> DeserializeSeed<'de> for UniqueMembers {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UniqueMembers {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(UniqueMembers)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom(format_args!("member `{name}` stands twice")));
            }
            let value = members.next_value_seed(UniqueMembers)?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nested(depth: usize) -> Vec<u8> {
        ["[".repeat(depth), "]".repeat(depth)].concat().into_bytes()
    }

    #[test]
    fn depth_is_bounded_and_brackets_in_strings_do_not_count() {
        assert!(parse::<Value>(&nested(limits::JSON_DEPTH_MAX)).is_ok());
        assert!(matches!(parse::<Value>(&nested(limits::JSON_DEPTH_MAX + 1)), Err(JsonError::TooDeep)));
        assert!(matches!(parse::<Value>(&vec![b'['; 1_000_000]), Err(JsonError::TooDeep)));
        let wide = format!("[{}1]", "[],".repeat(1_000));
        assert!(parse::<Value>(wide.as_bytes()).is_ok());
        let text = format!("\"{}\\\"{}\"", "[".repeat(100), "{".repeat(100));
        assert!(parse::<Value>(text.as_bytes()).is_ok());
    }

    #[test]
    fn length_is_bounded() {
        let mut body = vec![b' '; limits::BODY_BYTES_MAX];
        body[0] = b'1';
        assert!(parse::<Value>(&body).is_ok());
        body.push(b' ');
        assert!(matches!(parse::<Value>(&body), Err(JsonError::TooLong { .. })));
        let document = [b"{}".as_slice(), &vec![b' '; limits::DOCUMENT_BYTES_MAX - 2]].concat();
        assert!(parse_document::<Value>(&document).is_ok());
        assert!(parse_document::<Value>(&[&document, b" ".as_slice()].concat()).is_err());
    }

    #[test]
    fn documents_have_no_member_twice_at_any_level() {
        assert!(parse_document::<Value>(br#"{"a":{"b":[1,-2,3.5,"x",true,null]},"b":{}}"#).is_ok());
        for document in [r#"{"a":1,"a":1}"#, r#"{"a":{"b":1,"b":2}}"#, r#"{"a":[{"b":1,"\u0062":2}]}"#] {
            let error = parse_document::<Value>(document.as_bytes()).unwrap_err();
            assert!(error.to_string().contains("stands twice"), "{error}");
        }
        for document in ["", "[]", "null", "{} {}", "{", "\u{feff}{}"] {
            assert!(parse_document::<Value>(document.as_bytes()).is_err(), "{document}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse::<Value>(&bytes);
            let _ = parse_document::<Value>(&bytes);
            let _ = parse_object::<crate::protocol::Operation>(&bytes);
            let _ = crate::protocol::ConfirmRequest::parse(&bytes);
            let _ = crate::protocol::TokenRequest::parse(&bytes);
        }
    }
}
