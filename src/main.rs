//! The binary: hands the arguments to the library and maps its outcome to the exit status.

fn main() {}
