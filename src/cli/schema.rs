//! `poppyfield schema`: prints the JSON Schema of a kind of file.

use super::{Console, Failure, SchemaArgs, SchemaKind};
use crate::{
    history,
    report::ExitStatus,
    scenario::{self, FileKind},
};

pub(super) fn schema(args: &SchemaArgs, console: &Console) -> Result<ExitStatus, Failure> {
    let schema = match args.kind {
        SchemaKind::Scenario => scenario::schema(FileKind::Scenario),
        SchemaKind::Company => scenario::schema(FileKind::Company),
        SchemaKind::Target => scenario::schema(FileKind::Target),
        SchemaKind::History => history::schema::of_history(),
        SchemaKind::Ledger => history::schema::of_ledger(),
    };
    console.result(&format!("{schema:#}\n"));
    Ok(ExitStatus::Held)
}
