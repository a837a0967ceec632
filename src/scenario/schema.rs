//! JSON Schemas of the files, for editors: draft-07, which is what they understand.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::FileKind;
use super::raw::{CompanyFile, ScenarioFile, TargetFile};

/// The JSON Schema of a kind of file.
#[must_use]
pub fn schema(kind: FileKind) -> Value {
    match kind {
        FileKind::Scenario => of::<ScenarioFile>("A scenario of Poppyfield"),
        FileKind::Company => of::<CompanyFile>("A simulated Company of Poppyfield"),
        FileKind::Target => of::<TargetFile>("A target of Poppyfield: a Company that is not simulated"),
    }
}

fn of<T: JsonSchema>(title: &str) -> Value {
    let generator = SchemaSettings::draft07().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    schema["title"] = json!(title);
    drop_nulls(&mut schema);
    let definitions = schema.get("definitions").cloned().unwrap_or_default();
    allow_bare_words(&mut schema, &definitions);
    schema
}

/// Takes `null` out of what optional keys allow: a key may be left out, but not be left without a value.
fn drop_nulls(schema: &mut Value) {
    let null = json!({ "type": "null" });
    match schema {
        Value::Object(members) => {
            if let Some(types) = members.get("type").and_then(Value::as_array) {
                let rest: Vec<Value> = types.iter().filter(|name| *name != "null").cloned().collect();
                let types = if let [only] = rest.as_slice() { only.clone() } else { Value::Array(rest) };
                members.insert("type".to_owned(), types);
            }
            if let Some(choices) = members.get("anyOf").and_then(Value::as_array).filter(|list| list.contains(&null)) {
                let rest: Vec<Value> = choices.iter().filter(|choice| **choice != null).cloned().collect();
                members.remove("anyOf");
                members.insert(if rest.len() == 1 { "allOf" } else { "anyOf" }.to_owned(), Value::Array(rest));
            }
            members.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Lets a choice whose settings all have defaults be written as a bare word (`track` for `track: {}`), as the reader does.
fn allow_bare_words(schema: &mut Value, definitions: &Value) {
    if let Some(choices) = schema.get_mut("oneOf").and_then(Value::as_array_mut) {
        let words: Vec<Value> = choices.iter().filter_map(|choice| bare_word(choice, definitions)).collect();
        choices.extend(words);
    }
    match schema {
        Value::Object(members) => members.values_mut().for_each(|member| allow_bare_words(member, definitions)),
        Value::Array(items) => items.iter_mut().for_each(|item| allow_bare_words(item, definitions)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The bare word of a choice, if it may be one.
fn bare_word(choice: &Value, definitions: &Value) -> Option<Value> {
    let properties = choice.get("properties")?.as_object()?;
    let (word, settings) = properties.iter().next().filter(|_| properties.len() == 1)?;
    let settings = match settings.get("$ref").and_then(Value::as_str) {
        Some(reference) => definitions.get(reference.rsplit('/').next()?)?,
        None => settings,
    };
    let optional = settings.get("type")? == "object" && settings.get("required").is_none();
    optional.then(|| json!({ "const": word, "type": "string", "description": choice.get("description") }))
}
