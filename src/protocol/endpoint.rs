//! The URLs of an operations endpoint: read, confirm, cancel (Operations 5.2, 6, 7).

use std::fmt::Write as _;

/// The URL of one operation at the endpoint: `GET` reads it.
#[must_use]
pub fn operation_url(endpoint: &str, operation_id: &str) -> String {
    let endpoint = endpoint.trim_end_matches('/');
    let mut url = String::with_capacity(endpoint.len() + operation_id.len() + 10);
    url.push_str(endpoint);
    url.push('/');
    push_segment(&mut url, operation_id);
    url
}

/// The URL that confirms it.
#[must_use]
pub fn confirm_url(endpoint: &str, operation_id: &str) -> String {
    operation_url(endpoint, operation_id) + "/confirm"
}

/// The URL that cancels it.
#[must_use]
pub fn cancel_url(endpoint: &str, operation_id: &str) -> String {
    operation_url(endpoint, operation_id) + "/cancel"
}

/// Appends a text as one path segment. An operation ID is any text that the Company chose.
fn push_segment(url: &mut String, text: &str) {
    if matches!(text, "." | "..") {
        // A dot segment would be taken for a step in the path, also with its dots encoded. No ID is named so; what is
        // asked for is then at least not another operation's URL.
        url.push_str(&text.replace('.', "%252E"));
        return;
    }
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            url.push(char::from(byte));
        } else {
            let _ = write!(url, "%{byte:02X}"); // writing to a String cannot fail
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_one_segment() {
        let endpoint = "https://api.teashop.example/poppy/operations";
        assert_eq!(confirm_url(endpoint, "op_1"), format!("{endpoint}/op_1/confirm"));
        assert_eq!(cancel_url(&format!("{endpoint}/"), "op_1"), format!("{endpoint}/op_1/cancel"));
        assert_eq!(operation_url(endpoint, "a/../é?#%"), format!("{endpoint}/a%2F..%2F%C3%A9%3F%23%25"));
        assert_eq!(operation_url(endpoint, ".."), format!("{endpoint}/%252E%252E"));
    }
}
