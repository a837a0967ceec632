//! JSON Web Keys as text: the members each type needs, and thumbprints (RFC 7638).

use super::digest;
use crate::protocol::Jwk;

/// The JWK of a P-256 point, coordinates in base64url.
#[must_use]
pub fn p256(x: &str, y: &str) -> Jwk {
    Jwk {
        kty: "EC".to_owned(),
        crv: Some("P-256".to_owned()),
        x: Some(x.to_owned()),
        y: Some(y.to_owned()),
        ..Jwk::default()
    }
}

/// The JWK of an RSA public key, numbers in base64url.
#[must_use]
pub fn rsa(n: &str, e: &str) -> Jwk {
    Jwk { kty: "RSA".to_owned(), n: Some(n.to_owned()), e: Some(e.to_owned()), ..Jwk::default() }
}

/// The thumbprint: base64url of the SHA-256 over the required members in the order of their names, without white space
/// (RFC 7638 section 3). `None` when a member that the type needs is missing, or the type is neither EC nor RSA.
#[must_use]
pub fn thumbprint(key: &Jwk) -> Option<String> {
    let members: &[(&str, Option<&str>)] = match key.kty.as_str() {
        "EC" => &[
            ("{\"crv\":", key.crv.as_deref()),
            (",\"kty\":", Some("EC")),
            (",\"x\":", key.x.as_deref()),
            (",\"y\":", key.y.as_deref()),
        ],
        "RSA" => &[("{\"e\":", key.e.as_deref()), (",\"kty\":", Some("RSA")), (",\"n\":", key.n.as_deref())],
        _ => return None,
    };
    let mut canonical = String::with_capacity(192);
    for (name, value) in members {
        canonical.push_str(name);
        push_json_string(&mut canonical, (*value)?); // a peer's JWK is any text
    }
    canonical.push('}');
    Some(digest::base64url(digest::sha256(canonical.as_bytes())))
}

/// Appends a text as a JSON string. Ordinary members hold nothing to escape and are copied as they are.
pub(super) fn push_json_string(onto: &mut String, text: &str) {
    if text.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
        onto.push('"');
        onto.push_str(text);
        onto.push('"');
    } else {
        onto.push_str(&serde_json::Value::from(text).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_7638_example() {
        let n = "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMs\
                 tn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n\
                 91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw";
        assert_eq!(thumbprint(&rsa(n, "AQAB")).unwrap(), "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
    }

    #[test]
    fn no_thumbprint_of_half_a_key() {
        assert_eq!(thumbprint(&Jwk { y: None, ..p256("AA", "AA") }), None);
        assert_eq!(thumbprint(&Jwk { kty: "oct".to_owned(), ..Jwk::default() }), None);
    }
}
