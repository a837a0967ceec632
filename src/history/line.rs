//! How a record stands on its line: single-key maps, without an internal tag, so that parsing stays quick and exact.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeMap};

use super::record::{
    Approval, Attempt, BackendRequest, Call, ClockMoved, Company, Effect, End, Event, FaultStruck, LedgerEntry,
    LedgerRecord, Lifecycle, Offer, Performed, Phase, Record, Return, Run, Session, Terms, Totals, Wire,
};

/// Writes `{"seq":…,"at":…,"<kind>":{…}}` and reads it back, refusing lines with no event, two events, or unknown kinds.
macro_rules! lines {
    ($record:ident, $field:ident, $kinds:ident, { $($key:literal => $variant:ident($type:ty),)+ }) => {
        impl Serialize for $record {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(Some(3))?;
                map.serialize_entry("seq", &self.seq)?;
                map.serialize_entry("at", &self.at)?;
                match &self.$field {
                    $($kinds::$variant(value) => map.serialize_entry($key, value)?,)+
                }
                map.end()
            }
        }

        impl<'de> Deserialize<'de> for $record {
            #[inline]
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(Deserialize)]
                #[serde(field_identifier)]
                enum Key {
                    #[serde(rename = "seq")]
                    Seq,
                    #[serde(rename = "at")]
                    At,
                    $(#[serde(rename = $key)] $variant,)+
                }

                struct Visitor;
                impl<'de> serde::de::Visitor<'de> for Visitor {
                    type Value = $record;

                    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        formatter.write_str("a record with `seq`, `at` and one event")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$record, A::Error> {
                        use serde::de::Error;
                        let (mut seq, mut at, mut found) = (None, None, None);
                        while let Some(key) = map.next_key::<Key>()? {
                            match key {
                                Key::Seq if seq.is_none() => seq = Some(map.next_value()?),
                                Key::At if at.is_none() => at = Some(map.next_value()?),
                                $(Key::$variant if found.is_none() => {
                                    found = Some($kinds::$variant(map.next_value::<$type>()?));
                                })+
                                Key::Seq => return Err(A::Error::duplicate_field("seq")),
                                Key::At => return Err(A::Error::duplicate_field("at")),
                                $(Key::$variant => return Err(A::Error::custom(concat!(
                                    "a second event on one line: `", $key, "`"
                                ))),)+
                            }
                        }
                        Ok($record {
                            seq: seq.ok_or_else(|| A::Error::missing_field("seq"))?,
                            at: at.ok_or_else(|| A::Error::missing_field("at"))?,
                            $field: found.ok_or_else(|| A::Error::custom("no event on this line"))?,
                        })
                    }
                }
                deserializer.deserialize_map(Visitor)
            }
        }

        impl JsonSchema for $record {
            fn schema_name() -> Cow<'static, str> {
                stringify!($record).into()
            }

            /// Besides `seq` and `at` there is exactly one member, an event.
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "object",
                    "properties": {
                        "seq": {
                            "description": "position in one order over history and ledger, rising within each file",
                            "type": "integer",
                            "minimum": 0,
                        },
                        "at": { "description": "nanoseconds since the run began", "type": "integer", "minimum": 0 },
                        $($key: generator.subschema_for::<$type>(),)+
                    },
                    "required": ["seq", "at"],
                    "additionalProperties": false,
                    "minProperties": 3,
                    "maxProperties": 3,
                })
            }
        }
    };
}

lines!(Record, event, Event, {
    "run" => Run(Run),
    "company" => Company(Company),
    "session" => Session(Session),
    "call" => Call(Call),
    "return" => Return(Return),
    "terms" => Terms(Terms),
    "offer" => Offer(Offer),
    "approval" => Approval(Approval),
    "wire" => Wire(Wire),
    "attempt" => Attempt(Attempt),
    "fault" => Fault(FaultStruck),
    "lifecycle" => Lifecycle(Lifecycle),
    "clock" => Clock(ClockMoved),
    "phase" => Phase(Phase),
    "end" => End(End),
});

lines!(LedgerRecord, entry, LedgerEntry, {
    "effect" => Effect(Effect),
    "request" => Request(BackendRequest),
    "performed" => Performed(Performed),
    "totals" => Totals(Totals),
    "end" => End(End),
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_events_of_the_format_survive_their_line() {
        let lines = [
            r#"{"seq":310,"at":4531000000,"approval":{"is":"approved","user":"u3","action":"clothes-1/operation/op_17","revision":1,"terms":"5f0c"}}"#,
            r#"{"seq":313,"at":5020000000,"wire":{"call":"c32","copy":1,"is":"arrived","incarnation":1}}"#,
            r#"{"seq":330,"at":5800000000,"return":{"call":"c32","outcome":"unknown","why":"timeout"}}"#,
        ];
        for line in lines {
            let record: Record = serde_json::from_str(line).expect(line);
            assert_eq!(serde_json::to_string(&record).expect("serialises"), line);
        }
    }

    #[test]
    fn a_line_without_an_event_or_with_two_is_refused() {
        for line in [
            r#"{"seq":1,"at":2}"#,
            r#"{"seq":1,"at":2,"wibble":{}}"#,
            r#"{"seq":1,"at":2,"phase":{"is":"load"},"end":{"records":1,"lost":0}}"#,
            r#"{"at":2,"phase":{"is":"load"}}"#,
        ] {
            assert!(serde_json::from_str::<Record>(line).is_err(), "{line}");
        }
    }
}
