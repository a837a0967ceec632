//! `poppyfield serve`: simulated Companies alone, for somebody else's Personal Agent to talk to.

use std::path::Path;

use jiff::Timestamp;

use super::{
    Console, Failure, ServeArgs, Switch,
    folder::{AUTHORITY_FILE, RunFolder},
    judge, run, signals,
};
use crate::{
    history::{Recorder, record::WorldKind},
    measure::{Figures, Health},
    plan::{CompanyPlan, Expectation, Invariants},
    report::{ExitStatus, HeldTo, Summary, summary::RunIdentity},
    scenario,
    swarm::{self, Control, Ground},
    world::{Clock, Field, Lane},
};

pub(super) fn serve(args: &ServeArgs, console: &Console) -> Result<ExitStatus, Failure> {
    let companies = companies(&args.companies)?;
    let started = run::now();
    let folder = RunFolder::make(&args.out, "serve", started, args.seed)?;
    let summary = match perform(args, &companies, &folder, started, console) {
        Ok(summary) => summary,
        Err(failure) => {
            folder.discard();
            return Err(failure);
        }
    };
    let files: Vec<_> = args.companies.iter().map(|path| path.display().to_string()).collect();
    let repeat = format!("poppyfield serve {} --seed {}", files.join(" "), args.seed);
    let summary = run::conclude(summary, &folder, repeat);
    if !args.quiet {
        console.result(&run::print(&summary, args.format, console));
    }
    Ok(run::status(&summary))
}

/// The Companies of the named files; a bare name is a profile of `sim-companies/`.
fn companies(files: &[std::path::PathBuf]) -> Result<Vec<CompanyPlan>, Failure> {
    let mut companies = Vec::new();
    for file in files {
        let profile = Path::new("sim-companies").join(file).with_extension("yaml");
        let path = if !file.exists() && profile.exists() { &profile } else { file };
        companies.extend(scenario::load_companies(path, 1).map_err(Failure::usage)?);
    }
    Ok(companies)
}

fn perform(
    args: &ServeArgs,
    companies: &[CompanyPlan],
    folder: &RunFolder,
    started: Timestamp,
    console: &Console,
) -> Result<Summary, Failure> {
    let recorder = Recorder::to_folder(folder.path())
        .map_err(|error| Failure::environment(format!("cannot write the history: {error}")))?;
    let lane = run::sockets(args.tls == Switch::On)?;
    if let Lane::Sockets { authority: Some(authority), .. } = &lane {
        folder.write(AUTHORITY_FILE, &authority.pem())?;
    }
    let ground = Ground {
        recorder: recorder.clone(),
        lane,
        clock: Clock::real(),
        epoch: started,
        first_port: args.port,
        may_load: Default::default(),
    };
    let lasted = run::runtime()?.block_on(async {
        let control = Control::default();
        signals::watch(&control.stop, signals::JUDGING, console)?;
        let field = swarm::serve(args.seed, companies, ground).await.map_err(Failure::environment)?;
        for (host, address) in &args.client {
            field.outsider(host, *address);
        }
        announce(&field, args, folder, console);
        control.stop.cancelled().await;
        let lasted = field.now();
        field.close().await;
        Ok::<_, Failure>(lasted)
    })?;
    let written = recorder.finish();
    let failure = recorder.failure().or_else(|| written.err().map(|error| error.to_string()));
    let files = judge::judge(folder.path(), &Invariants::All, &Expectation::default());
    let files = files.map_err(|error| Failure::environment(format!("cannot read back what was written: {error}")))?;
    let identity = RunIdentity {
        name: "serve".to_owned(),
        target: None,
        seed: args.seed,
        world: WorldKind::Real,
        started: started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        duration_ns: lasted.as_nanos(),
        repeat: String::new(),
        poppyfield: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let mut summary = Summary::of(identity, files.judged, &Figures::default(), HeldTo::default(), &Health::default());
    summary.stopped = failure.map(|why| format!("the history could not be written ({why})"));
    folder.write_anomalies(&files.findings)?;
    Ok(summary)
}

/// Says where each Company is and how to reach it.
fn announce(field: &Field, args: &ServeArgs, folder: &RunFolder, console: &Console) {
    let tls = args.tls == Switch::On;
    let authority = folder.path().join(AUTHORITY_FILE);
    for (host, address) in field.addresses() {
        console.result(&format!("https://{host} is at {address}{}\n", if tls { "" } else { " (plain HTTP)" }));
        let path = "/.well-known/poppy.json";
        console.result(&if tls {
            format!("  curl --cacert {} --connect-to {host}:443:{address} https://{host}{path}\n", authority.display())
        } else {
            format!("  curl --connect-to {host}:80:{address} http://{host}{path}\n")
        });
    }
    if tls {
        console.result(&format!("The CA is {}\n", authority.display()));
    }
    console.result("Ctrl-C ends; the recorded history is then judged.\n");
}
