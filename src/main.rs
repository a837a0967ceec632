//! The binary: hands the arguments to the library and maps its outcome to the exit status.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(poppyfield::cli::main())
}
