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
        SchemaKind::Target => FileKind::Target,
    };
    let schema = scenario::schema(kind);
    console.result(&format!("{schema:#}\n"));
    Ok(ExitStatus::Held)
}
