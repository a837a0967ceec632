//! The target of a proof: `htu` and how it is compared (RFC 9449 section 4.3 item 9).
//!
//! Query and fragment do not count; scheme and host compare without regard to case; a default port is no port; the path
//! is compared after RFC 3986 section 6.2 normalisation (percent-encoding and dot segments).

/// The URL up to its query or fragment.
#[must_use]
pub fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

/// Whether two URLs name the same target. Equal texts need no parsing, which is the ordinary case.
#[must_use]
pub fn same_target(one: &str, other: &str) -> bool {
    let (one, other) = (without_query(one), without_query(other));
    if one == other {
        return true;
    }
    matches!((normalise_target(one), normalise_target(other)), (Some(one), Some(other)) if one == other)
}

/// The normal form of an absolute http or https URL, without query and fragment, or `None` for anything else.
#[must_use]
pub fn normalise_target(url: &str) -> Option<String> {
    let (scheme, rest) = without_query(url).split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let default_port = match scheme.as_str() {
        "http" => ":80",
        "https" => ":443",
        _ => return None,
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let authority = authority.to_ascii_lowercase();
    if authority.contains('@') {
        return None; // user information has no place in an htu, and hides which host is meant
    }
    let host = authority.strip_suffix(default_port).or_else(|| authority.strip_suffix(':')).unwrap_or(&authority);
    if host.is_empty() {
        return None;
    }
    let path = without_dot_segments(&normal_percent_encoding(path)?);
    Some(format!("{scheme}://{host}{path}"))
}

/// Decodes percent-encoded unreserved characters and writes the other triplets in upper case. `None` for a broken
/// triplet.
fn normal_percent_encoding(path: &str) -> Option<String> {
    let mut pieces = path.split('%');
    let mut normal = pieces.next()?.to_owned();
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let byte = u8::from_str_radix(digits, 16).ok()?;
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            normal.push(char::from(byte));
        } else {
            normal.push('%');
            normal.push_str(&digits.to_ascii_uppercase());
        }
        normal.push_str(rest);
    }
    Some(normal)
}

/// Removes `.` and `..` segments (RFC 3986 section 5.2.4) of a path that is empty or begins with a slash.
fn without_dot_segments(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            segment => {
                kept.push(segment);
                continue;
            }
        }
        if last {
            kept.push(""); // a path that ends in a dot segment ends in a slash
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLISHED: &str = "https://api.teashop.example/poppy/operations/op_1/confirm";

    #[test]
    fn the_same_target_in_other_words() {
        for htu in [
            PUBLISHED,
            "HTTPS://API.Teashop.EXAMPLE/poppy/operations/op_1/confirm",
            "https://api.teashop.example:443/poppy/operations/op_1/confirm",
            "https://api.teashop.example:/poppy/operations/op_1/confirm",
            "https://api.teashop.example/poppy/operations/op_1/confirm?wait=1#top",
            "https://api.teashop.example/poppy/%6fperations/op%5F1/confirm",
            "https://api.teashop.example/poppy/./x/../operations/op_1/confirm",
        ] {
            assert!(same_target(htu, PUBLISHED), "{htu}");
        }
        assert!(same_target("https://a.example", "https://a.example/"));
        assert!(same_target("http://127.0.0.1:80/x", "http://127.0.0.1/x"));
        assert!(same_target("https://a.example/%c3%a9", "https://a.example/%C3%A9"));
    }

    #[test]
    fn another_target() {
        for htu in [
            "",
            "/poppy/operations/op_1/confirm",
            "http://api.teashop.example/poppy/operations/op_1/confirm",
            "https://api.teashop.example:80/poppy/operations/op_1/confirm",
            "https://api.teashop.example:8443/poppy/operations/op_1/confirm",
            "https://teashop.example/poppy/operations/op_1/confirm",
            "https://api.teashop.example/poppy/operations/op_1/Confirm",
            "https://api.teashop.example/poppy/operations/op_1/confirm/",
            "https://api.teashop.example/poppy/operations/op_2/confirm",
            "https://api.teashop.example/poppy/operations%2Fop_1/confirm",
            "https://u@api.teashop.example/poppy/operations/op_1/confirm",
            "https://api.teashop.example/poppy/operations/op_1/confirm%",
            "https:///poppy/operations/op_1/confirm",
        ] {
            assert!(!same_target(htu, PUBLISHED), "{htu}");
        }
    }
}
