//! The command line: one thin file per command, arguments in, exit status out.
