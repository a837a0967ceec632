//! The JSON Schema of a line of a history or ledger, for whoever writes one with another program.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Value, json};

use super::record::{LedgerRecord, Record};

/// The schema of each line of `history.jsonl`.
#[must_use]
pub fn of_history() -> Value {
    of::<Record>("A line of a history that Poppyfield judges")
}

/// The schema of each line of `ledger.jsonl`.
#[must_use]
pub fn of_ledger() -> Value {
    of::<LedgerRecord>("A line of a ledger that Poppyfield judges")
}

fn of<T: JsonSchema>(title: &str) -> Value {
    let mut schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<T>().to_value();
    schema["title"] = json!(title);
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `UPDATE_GENERATED=1 cargo test history::schema` writes them anew.
    #[test]
    fn the_schemas_are_fresh() {
        for (name, schema) in [("history", of_history()), ("ledger", of_ledger())] {
            let path = format!("{}/schemas/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
            if std::env::var_os("UPDATE_GENERATED").is_some() {
                let text = serde_json::to_string_pretty(&schema).expect("it serialises");
                std::fs::write(&path, text + "\n").expect("schemas/ is writable");
            }
            let stored = std::fs::read_to_string(&path).unwrap_or_default();
            let stored: Value = serde_json::from_str(&stored).unwrap_or_default();
            assert_eq!(stored, schema, "UPDATE_GENERATED=1 cargo test history::schema writes it anew");
        }
    }

    #[test]
    fn a_line_has_one_event_and_no_field_that_is_not_known() {
        let validator = jsonschema::draft7::new(&of_history()).expect("a schema");
        let call =
            json!({ "id": "c1", "process": "a1", "do": "read", "company": "shop", "action": "shop/operation/op_1" });
        let lines = [
            (json!({ "seq": 1, "at": 2, "phase": { "is": "load" } }), true),
            (json!({ "seq": 1, "at": 2, "call": call }), true),
            (json!({ "seq": 1, "at": 2 }), false),
            (json!({ "seq": 1, "at": 2, "phase": { "is": "load" }, "end": { "records": 1, "lost": 0 } }), false),
            (json!({ "seq": 1, "at": 2, "phase": { "is": "load", "since": 3 } }), false),
            (json!({ "at": 2, "phase": { "is": "load" } }), false),
            (json!({ "seq": 1, "at": 2, "phase": { "is": "loading" } }), false),
        ];
        for (line, good) in lines {
            assert_eq!(validator.is_valid(&line), good, "{line}");
            assert_eq!(serde_json::from_value::<Record>(line.clone()).is_ok(), good, "{line}");
        }
    }
}
