//! The binary: hands the arguments to the library and maps its outcome to the exit status.

use std::process::ExitCode;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(poppyfield::cli::main())
}
