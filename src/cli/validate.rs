//! `poppyfield validate`: checks files and starts nothing.

use super::{Console, Failure, ValidateArgs, judge};
use crate::{
    report::ExitStatus,
    scenario::{self, Overrides},
};

pub(super) fn validate(args: &ValidateArgs, console: &Console) -> Result<ExitStatus, Failure> {
    let overrides = Overrides { anomalies: judge::anomaly_names(), ..Overrides::default() };
    let mut bad = 0;
    for file in &args.files {
        match scenario::validate(file, &overrides) {
            Ok(kind) => console.result(&format!("{}: a valid {} file\n", file.display(), kind.key())),
            Err(problems) => {
                bad += 1;
                console.error(&problems.to_string());
            }
        }
    }
    if bad == 0 {
        return Ok(ExitStatus::Held);
    }
    Err(Failure::usage(format!("{bad} of {} files cannot be used", args.files.len())))
}
