//! The arguments, as they stand on the command line.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

use crate::{
    checker::Anomaly,
    identity::Signatures,
    scenario::{self, parse_duration},
    sim::crash_points::Spot,
};

/// Simulation and load-testing harness for the Personal Agent Protocol.
///
/// Simulated Companies and a swarm of Personal Agents run YAML scenarios under faults; a checker proves from the recorded
/// history whether any confirmed action ran twice, ran on terms nobody approved, or got lost.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = EXIT_HELP)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// What is said on stderr beside the results.
    #[command(flatten)]
    pub log: LogArgs,
}

/// The exit statuses, shown at the end of the help.
const EXIT_HELP: &str = "\
Exit status:
  0    everything held
  1    an invariant was violated
  2    usage error or invalid input file
  3    a threshold was missed
  4    inconclusive: the generator fell behind, a file is incomplete, or a minimum was not reached
  5    the run could not start or could not go on
  130  interrupted: what was recorded until then is judged, written and marked partial";

/// What is said on stderr beside the results.
#[derive(Debug, Args)]
pub struct LogArgs {
    /// Say more on stderr: -v warnings, -vv what happens, -vvv everything (RUST_LOG goes before it).
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// How diagnostics are written.
    #[arg(long, value_enum, default_value_t = LogFormat::Text, global = true)]
    pub log_format: LogFormat,
}

/// How diagnostics are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// How results are written to stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people, at 80 columns.
    Text,
    /// The summary as JSON.
    Json,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a scenario over sockets in real time, judge it and write its folder.
    Run(RunArgs),
    /// Run a scenario in the simulated world: virtual time, one thread, the same seed to the letter.
    Sim(SimArgs),
    /// Run simulated Companies alone, for somebody else's Personal Agent to talk to; Ctrl-C ends and judges.
    Serve(ServeArgs),
    /// Judge a recorded run again, from its files alone; or a history that another program wrote.
    Check(CheckArgs),
    /// Check scenario, Company and target files; starts nothing.
    Validate(ValidateArgs),
    /// Print the JSON Schema of a kind of file, for editors.
    Schema(SchemaArgs),
    /// Try every defect under the scenario that exposes it, and correct parties beside it: does the checker find them all,
    /// and accuse nobody else?
    Mutants(MutantsArgs),
    /// Print the rules of the protocol, and what reports a breach of each.
    Rules(RulesArgs),
}

/// Which scenario runs, and what becomes of its results.
#[derive(Debug, Args)]
pub struct ScenarioArgs {
    /// The scenario file.
    pub scenario: PathBuf,
    /// The seed, instead of the scenario's.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Start at most this many journeys in all, whatever the scenario's load.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub operations: Option<u64>,
    /// The folder that the run's folder is made in.
    #[arg(long, default_value = "results", value_name = "DIR")]
    pub out: PathBuf,
    /// How the summary is written to stdout.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write no summary and no progress; the exit status says it.
    #[arg(short, long)]
    pub quiet: bool,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// What every way of running a scenario takes.
    #[command(flatten)]
    pub run: ScenarioArgs,
    /// A target file: the Company that it names, which is not simulated, takes the place of all Companies.
    #[arg(long, value_name = "FILE")]
    pub target: Option<PathBuf>,
    /// A host of the target that may be loaded although it is not on a loopback address. May be repeated.
    #[arg(long = "i-may-load-this-target", value_name = "HOST")]
    pub may_load: Vec<String>,
}

/// Arguments of `sim`.
#[derive(Debug, Args)]
pub struct SimArgs {
    /// What every way of running a scenario takes.
    #[command(flatten)]
    pub run: ScenarioArgs,
    /// How requests are signed. Fast signatures are hashes that anybody could make: the history is the same, and takes a
    /// fraction of the time.
    #[arg(long, value_enum, default_value_t = SignatureKind::Real)]
    pub signatures: SignatureKind,
    /// How requests travel: handed over, or as bytes of HTTP/1.1 through pipes in memory. The history is the same; bytes
    /// cost more time.
    #[arg(long, value_enum, default_value_t = LaneKind::Direct, conflicts_with = "exploring")]
    pub lane: LaneKind,
    /// Stop a Company the first time that an operation of that action passes that point, and start it again: like
    /// perform.after-effect@exchange. /HOW behind it takes only plain, revised, repeated, cancelled or direct ones.
    #[arg(long, value_name = "POINT@ACTION[/HOW]")]
    pub crash_at: Option<Spot>,
    /// Reduce a run that fails to the smallest one that still shows the same anomaly, and write that as a scenario file
    /// (shrunk.yaml) into the run's folder. The gravest anomaly that fails the run, or the one named here.
    #[arg(
        long,
        value_name = "ANOMALY",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        value_parser = keep
    )]
    pub shrink: Option<Keep>,
    /// Many seeds instead of one.
    #[command(flatten, next_help_heading = "Many seeds")]
    pub explore: ExploreArgs,
}

/// Arguments of `sim` that make it explore many seeds.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("exploring").args(["seeds", "budget"]).multiple(true))]
pub struct ExploreArgs {
    /// Explore so many seeds, from --seed on, and say which of them fail and how to replay them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: Option<u64>,
    /// Explore seeds, from --seed on, for that long: 60s, 10m. With --seeds at most that many.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub budget: Option<Duration>,
    /// End with the first seed that fails.
    #[arg(long, requires = "exploring")]
    pub fail_fast: bool,
    /// Run each seed twice; one that is not the same to the letter fails, with the first line that differs.
    #[arg(long, requires = "exploring")]
    pub twice: bool,
    /// Whether the first seed is also run with each single crash that strikes it, one at each crash point for each kind of
    /// operation, before all others. Off with --crash-at.
    #[arg(long, value_enum, default_value_t = Switch::On, requires = "exploring")]
    pub crashes: Switch,
    /// Seeds under way at once, each in a thread of its own; one a core without it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), requires = "exploring")]
    pub jobs: Option<u16>,
}

impl ExploreArgs {
    /// Whether many seeds are asked for.
    #[must_use]
    pub fn asked(&self) -> bool {
        self.seeds.is_some() || self.budget.is_some()
    }
}

/// How the requests of a simulated run travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LaneKind {
    /// Straight into the receiving party's router.
    Direct,
    /// As bytes.
    Pipe,
}

/// Which anomaly a run that is shrunk has to go on showing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The gravest that fails it.
    Gravest,
    /// This one.
    This(Anomaly),
}

/// Reads the name of an anomaly, or none.
fn keep(text: &str) -> Result<Keep, String> {
    if text.is_empty() {
        return Ok(Keep::Gravest);
    }
    Anomaly::named(text).map(Keep::This).ok_or_else(|| {
        let near = scenario::did_you_mean(text, Anomaly::ALL.iter().map(|anomaly| anomaly.name()));
        format!("expected the name of an anomaly from docs/anomalies.md{near}")
    })
}

/// How the requests of a simulated run are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SignatureKind {
    /// With ES256 and RS256.
    Real,
    /// With keyed hashes.
    Fast,
}

impl SignatureKind {
    /// The option that chooses it, with a blank before; nothing for what is chosen anyway.
    pub(super) fn option(self) -> &'static str {
        match self {
            Self::Real => "",
            Self::Fast => " --signatures fast",
        }
    }

    /// What the parties' keys are.
    #[must_use]
    pub fn signatures(self) -> Signatures {
        match self {
            Self::Real => Signatures::Real,
            Self::Fast => Signatures::Fast,
        }
    }
}

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Company files, or names of profiles in sim-companies/.
    #[arg(required = true)]
    pub companies: Vec<PathBuf>,
    /// The seed of every choice.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The port of the first Company; the next ones follow. Without it each takes a free one.
    #[arg(long)]
    pub port: Option<u16>,
    /// Whether the Companies talk TLS, with a CA made for this run.
    #[arg(long, value_enum, default_value_t = Switch::On)]
    pub tls: Switch,
    /// Where the host of a client_id is, instead of DNS: a loopback address, asked over plain HTTP. May be repeated.
    #[arg(long, value_name = "HOST=ADDRESS:PORT", value_parser = client_at)]
    pub client: Vec<(String, SocketAddr)>,
    /// The folder that the run's folder is made in.
    #[arg(long, default_value = "results", value_name = "DIR")]
    pub out: PathBuf,
    /// How the summary is written to stdout.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write no summary; the exit status says it.
    #[arg(short, long)]
    pub quiet: bool,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// Yes.
    On,
    /// No.
    Off,
}

/// Reads `HOST=ADDRESS:PORT`.
fn client_at(text: &str) -> Result<(String, SocketAddr), String> {
    let (host, address) =
        text.split_once('=').ok_or("expected HOST=ADDRESS:PORT, like agent.example=127.0.0.1:9000")?;
    let address: SocketAddr = address.parse().map_err(|_| format!("`{address}` is no ADDRESS:PORT"))?;
    if host.is_empty() {
        return Err("the host is empty".into());
    }
    if !address.ip().is_loopback() {
        return Err(format!("`{address}` is not a loopback address"));
    }
    Ok((host.to_ascii_lowercase(), address))
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The run's folder, or a history (docs/history.md), plain or compressed with Zstandard.
    #[arg(value_name = "FOLDER|FILE")]
    pub run: PathBuf,
    /// The ledger of a history that is a file: what took effect. Without it nothing about effects is judged.
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
    /// How the summary is written to stdout.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write no summary; the exit status says it.
    #[arg(short, long)]
    pub quiet: bool,
}

/// Arguments of `validate`.
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// Scenario, Company and target files.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
}

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// The kind of file.
    #[arg(value_enum)]
    pub kind: SchemaKind,
}

/// Arguments of `mutants`.
#[derive(Debug, Args)]
pub struct MutantsArgs {
    /// These defects alone; all without it.
    #[arg(value_name = "DEFECT")]
    pub only: Vec<String>,
    /// Seeds of each defect.
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: u64,
    /// Seeds of each of their scenarios with correct parties, under the same faults.
    #[arg(long, default_value_t = 1_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub correct: u64,
    /// Journeys of each seed.
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u64).range(1..))]
    pub operations: u64,
    /// The folder of the scenarios that come with Poppyfield.
    #[arg(long, default_value = "scenarios", value_name = "DIR")]
    pub scenarios: PathBuf,
    /// Seeds under way at once, each in a thread of its own; one a core without it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// How the table is written to stdout.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write no table; the exit status says it.
    #[arg(short, long)]
    pub quiet: bool,
}

/// Arguments of `rules`.
#[derive(Debug, Args)]
pub struct RulesArgs {
    /// A rule (`OC-29`), or an anomaly whose rules are meant (`double-effect`); without one all are listed.
    pub id: Option<String>,
}

/// Kinds of file with a JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaKind {
    /// A scenario.
    Scenario,
    /// A Company profile.
    Company,
    /// A Company that is not simulated.
    Target,
    /// A line of a history.
    History,
    /// A line of a ledger.
    Ledger,
}
