//! Addresses to connect to: one for every host, or one a host.

use std::fmt;
use std::net::SocketAddr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use serde::{Serialize, Serializer};

use super::{Named, text_value};
use crate::scenario::problem::shown;

/// An IP address with a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scenario) struct AddressText(pub(in crate::scenario) SocketAddr);

text_value!(
    AddressText,
    parse_address,
    ToString::to_string,
    "an address with a port like `127.0.0.1:18443`",
    r"^(\[[0-9a-fA-F:.]+\]|[0-9.]+):[0-9]+$"
);

/// Where hosts are.
#[derive(Debug, Clone)]
pub(in crate::scenario) enum ConnectText {
    /// All of them at one address.
    Every(AddressText),
    /// By host.
    Hosts(Named<AddressText>),
}

const FORM: &str = "an address with a port like `127.0.0.1:18443`, or a map from hosts to such";

impl<'de> Deserialize<'de> for ConnectText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EitherVisitor;

        impl<'de> Visitor<'de> for EitherVisitor {
            type Value = ConnectText;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(FORM)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<ConnectText, E> {
                parse_address(text).map(|address| ConnectText::Every(AddressText(address))).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<ConnectText, A::Error> {
                Err(A::Error::custom(format!("expected {FORM}, found a list")))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ConnectText, A::Error> {
                Named::deserialize(MapAccessDeserializer::new(map)).map(ConnectText::Hosts)
            }
        }

        deserializer.deserialize_any(EitherVisitor)
    }
}

impl Serialize for ConnectText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Every(address) => address.serialize(serializer),
            Self::Hosts(hosts) => hosts.serialize(serializer),
        }
    }
}

impl JsonSchema for ConnectText {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ConnectText".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let address = AddressText::json_schema(generator);
        schemars::json_schema!({ "anyOf": [address, { "type": "object", "additionalProperties": address }] })
    }
}

fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let form = "an address with a port like `127.0.0.1:18443` or `[::1]:18443`";
    match text.parse::<SocketAddr>() {
        Ok(address) if address.port() == 0 => Err(format!("{} has the port 0; expected {form}", shown(text))),
        Ok(address) => Ok(address),
        Err(_) => Err(format!("expected {form}, found {}", shown(text))),
    }
}
