//! The hosts of a target, and where to connect to them.

use crate::plan::ConnectTo;
use crate::scenario::problem::{Findings, shown};
use crate::scenario::value::{At, ConnectText};

/// In `connect_to`: every host that is not named.
const EVERY_HOST: &str = "*";

/// Whether a text is the name of a host, in small letters.
fn is_host(text: &str) -> bool {
    let label = |label: &str| {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=63).contains(&label.len()) && label.bytes().all(plain) && !label.starts_with('-') && !label.ends_with('-')
    };
    let is_address = text.rsplit('.').next().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    text.len() <= 253 && text.split('.').all(label) && !is_address
}

/// Reports a domain that no target can have.
pub(super) fn check_domain(domain: &At<String>, findings: &mut Findings) {
    let text = domain.value.as_str();
    if !is_host(text) {
        let form =
            "a name like `shop.example`, in small letters, without scheme and port (`connect_to` says where it is)";
        findings.report(domain.place, format!("{} is no domain; expected {form}", shown(text)));
        return;
    }
    let number = text.strip_prefix("agent-").and_then(|rest| rest.strip_suffix(".example"));
    if number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit())) {
        let message = format!("{} is a domain of the run's own operators; expected another", shown(text));
        findings.report(domain.place, message);
    }
}

/// Where the hosts are.
pub(super) fn connect_to(text: Option<&ConnectText>, findings: &mut Findings) -> ConnectTo {
    let mut to = ConnectTo::default();
    match text {
        None => {}
        Some(ConnectText::Every(address)) => to.every = Some(address.0),
        Some(ConnectText::Hosts(hosts)) => {
            for (host, address) in &hosts.0 {
                if host.value == EVERY_HOST {
                    to.every = Some(address.0);
                } else if is_host(&host.value) {
                    to.hosts.insert(host.value.as_str().into(), address.0);
                } else {
                    let form = "a name like `id.shop.example`, in small letters, or `\"*\"` for every other host";
                    findings.report(host.place, format!("{} is no host; expected {form}", shown(&host.value)));
                }
            }
        }
    }
    to
}
