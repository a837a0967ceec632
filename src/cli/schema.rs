//! `poppyfield schema`: prints the JSON Schema of a kind of file.

use super::{Console, Failure, SchemaArgs, SchemaKind};
use crate::{
    report::ExitStatus,
    scenario::{self, FileKind},
};

pub(super) fn schema(args: &SchemaArgs, console: &Console) -> Result<ExitStatus, Failure> {
    let kind = match args.kind {
        SchemaKind::Scenario => FileKind::Scenario,
        SchemaKind::Company => FileKind::Company,
    };
    let schema = scenario::schema(kind);
    let schema = schema.ok_or_else(|| Failure::usage(format!("{} files have no schema", kind.key())))?;
    console.result(&format!("{schema:#}\n"));
    Ok(ExitStatus::Held)
}
