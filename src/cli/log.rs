//! Diagnostics on stderr.

use std::io;

use tracing_subscriber::{EnvFilter, filter::LevelFilter, fmt};

use super::args::{LogArgs, LogFormat};

/// Starts writing diagnostics as the arguments and `RUST_LOG` say.
pub(super) fn start(args: &LogArgs) {
    let level = match args.verbose {
        0 => LevelFilter::ERROR,
        1 => LevelFilter::WARN,
        2 => LevelFilter::INFO,
        3 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let mut filter = EnvFilter::builder().with_default_directive(level.into()).from_env_lossy();
    // It calls every certificate that it does not trust an error; we say so ourselves, with what was presented.
    if let (0, Ok(quiet)) = (args.verbose, "rustls_platform_verifier=off".parse()) {
        filter = filter.add_directive(quiet);
    }
    let builder = fmt().with_env_filter(filter).with_writer(io::stderr);
    // A second start in one process (a test) keeps the first.
    let _ = match args.log_format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
}
