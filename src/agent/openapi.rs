//! What an Agent reads of a Company's OpenAPI description: which endpoint proposes or changes which action.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// The members of a description that an Agent looks at.
#[derive(Debug, Deserialize)]
pub(super) struct Description {
    #[serde(default)]
    servers: Vec<Server>,
    #[serde(default)]
    paths: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize)]
struct Server {
    url: String,
}

/// Endpoints by `operationId`.
#[derive(Debug, Default)]
pub(super) struct Paths(BTreeMap<String, Endpoint>);

/// One endpoint that takes `POST`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// Its URL, with `{name}` where a parameter goes.
    template: String,
    /// The resource that tokens for it have to name.
    pub(super) resource: Option<String>,
}

impl Paths {
    /// Adds the endpoints of a description that came from `origin`. Servers elsewhere than on HTTPS are not used (D5).
    pub(super) fn add(&mut self, description: &Description, origin: &str, resource: Option<&str>) {
        let server = description.servers.first().map_or("/", |server| server.url.as_str());
        let base = if server.starts_with('/') { format!("{origin}{server}") } else { server.to_owned() };
        if !is_https(&base) {
            return;
        }
        let base = base.trim_end_matches('/');
        for (path, methods) in &description.paths {
            let name = methods.get("post").and_then(|post| post.get("operationId")).and_then(Value::as_str);
            if let (Some(name), true) = (name, path.starts_with('/')) {
                let endpoint = Endpoint { template: format!("{base}{path}"), resource: resource.map(str::to_owned) };
                self.0.insert(name.to_owned(), endpoint);
            }
        }
    }

    /// The endpoint whose `operationId` is the action's name.
    pub(super) fn propose(&self, action: &str) -> Option<&Endpoint> {
        self.0.get(action)
    }

    /// The endpoint that takes wishes for other terms of an action.
    pub(super) fn change(&self, action: &str) -> Option<&Endpoint> {
        self.0.get(&format!("change-{action}"))
    }
}

impl Endpoint {
    /// The URL with these parameters filled in; `None` if another one is left.
    pub(super) fn url(&self, parameters: &[(&str, &str)]) -> Option<String> {
        let mut url = String::with_capacity(self.template.len() + 32);
        let mut rest = self.template.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}')?;
            let (_, value) = parameters.iter().find(|(known, _)| *known == name)?;
            url.push_str(before);
            push_segment(&mut url, value);
            rest = after;
        }
        url.push_str(rest);
        Some(url)
    }
}

/// Whether a URL is absolute and HTTPS, with a host.
pub(super) fn is_https(url: &str) -> bool {
    url.parse::<http::Uri>()
        .is_ok_and(|uri| uri.scheme_str() == Some("https") && uri.host().is_some_and(|host| !host.is_empty()))
}

/// Appends one path segment, with everything percent-encoded that could end or change it (RFC 3986 section 3.3).
pub(super) fn push_segment(url: &mut String, segment: &str) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in segment.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            url.push(char::from(byte));
        } else {
            url.push('%');
            url.push(char::from(DIGITS[usize::from(byte >> 4)]));
            url.push(char::from(DIGITS[usize::from(byte & 0xf)]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Paths {
        let mut paths = Paths::default();
        paths.add(&serde_json::from_str(text).unwrap(), "https://a.example", None);
        paths
    }

    #[test]
    fn endpoints_are_found_by_the_name_of_the_action() {
        let paths = paths(
            r#"{"openapi":"3.1.0","servers":[{"url":"https://api.a.example/v1/"}],"paths":{
                "/orders/{order_id}/exchanges":{"post":{"operationId":"exchange"},"parameters":[]},
                "/orders/{order_id}/exchanges/{operation_id}":{"post":{"operationId":"change-exchange"},
                    "get":{"operationId":"read"}}}}"#,
        );
        let exchange = paths.propose("exchange").unwrap();
        let url = exchange.url(&[("order_id", "ord 1/2")]).unwrap();
        assert_eq!(url, "https://api.a.example/v1/orders/ord%201%2F2/exchanges");
        let change = paths.change("exchange").unwrap();
        assert_eq!(change.url(&[("order_id", "o")]), None);
        let url = change.url(&[("order_id", "o"), ("operation_id", "op_1")]).unwrap();
        assert_eq!(url, "https://api.a.example/v1/orders/o/exchanges/op_1");
        assert_eq!(paths.propose("read"), None);
        assert_eq!(paths.change("read"), None);
    }

    #[test]
    fn without_servers_the_description_speaks_of_its_own_host() {
        let paths = paths(r#"{"paths":{"/wraps":{"post":{"operationId":"wrap"}}}}"#);
        assert_eq!(paths.propose("wrap").unwrap().url(&[]).unwrap(), "https://a.example/wraps");
    }

    #[test]
    fn servers_without_tls_are_not_used() {
        let paths = paths(r#"{"servers":[{"url":"http://a.example"}],"paths":{"/w":{"post":{"operationId":"w"}}}}"#);
        assert_eq!(paths.propose("w"), None);
    }
}
