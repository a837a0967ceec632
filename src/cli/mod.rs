//! The command line: one thin file per command, arguments in, exit status out.
//!
//! Only this module writes to stdout and stderr, through [`Console`].

mod args;
mod check;
mod console;
mod explore;
mod folder;
mod judge;
mod log;
mod mutants;
mod progress;
mod rules;
mod run;
mod schema;
mod serve;
mod shrink;
mod signals;
mod sim;
mod target;
mod validate;

use std::fmt;

use clap::Parser as _;

pub use args::{
    CheckArgs, Cli, Command, ExploreArgs, Format, Keep, LaneKind, LogArgs, LogFormat, MutantsArgs, RulesArgs, RunArgs,
    ScenarioArgs, SchemaArgs, SchemaKind, ServeArgs, SignatureKind, SimArgs, Switch, ValidateArgs,
};
pub use console::Console;

use crate::report::ExitStatus;

/// Parses the arguments of the process, does what they say, and gives the exit status.
#[must_use]
pub fn main() -> u8 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are asked for and go to stdout; a failed print has nobody left to tell.
            let _ = error.print();
            return if error.use_stderr() { ExitStatus::Usage.code() } else { ExitStatus::Held.code() };
        }
    };
    log::start(&cli.log);
    let console = Console::standard();
    match execute(cli.command, &console) {
        // A pass that nobody could read is none.
        ExitStatus::Held if console.lost_results() => ExitStatus::Stopped.code(),
        status => status.code(),
    }
}

/// Does what a command says.
pub fn execute(command: Command, console: &Console) -> ExitStatus {
    let done = match command {
        Command::Run(args) => run::run(&args, console),
        Command::Sim(args) => sim::sim(&args, console),
        Command::Serve(args) => serve::serve(&args, console),
        Command::Check(args) => check::check(&args, console),
        Command::Validate(args) => validate::validate(&args, console),
        Command::Schema(args) => schema::schema(&args, console),
        Command::Mutants(args) => mutants::mutants(&args, console),
        Command::Rules(args) => rules::rules(&args, console),
    };
    done.unwrap_or_else(|failure| {
        console.error(&failure.to_string());
        failure.status
    })
}

/// Why a command could not do its work, and what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    status: ExitStatus,
    text: String,
}

impl Failure {
    /// A mistake in the arguments or the input files: nothing was started.
    fn usage(text: impl fmt::Display) -> Self {
        Self { status: ExitStatus::Usage, text: text.to_string() }
    }

    /// A fault of the environment.
    fn environment(text: impl fmt::Display) -> Self {
        Self { status: ExitStatus::Stopped, text: text.to_string() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}
