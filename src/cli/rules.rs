//! `poppyfield rules`: the rules of the protocol, and what reports a breach of each.

use super::{Console, Failure, RulesArgs, run};
use crate::{
    checker::{Anomaly, RULES, Rule},
    report::{ExitStatus, rules},
    scenario::did_you_mean,
};

pub(super) fn rules(args: &RulesArgs, console: &Console) -> Result<ExitStatus, Failure> {
    let Some(id) = &args.id else {
        console.result(&rules::list(run::WIDTH, console.style()));
        return Ok(ExitStatus::Held);
    };
    let named: Vec<&Rule> = match (Rule::named(id), Anomaly::named(id)) {
        (Some(rule), _) => vec![rule],
        (None, Some(anomaly)) => anomaly.entry().rules.iter().filter_map(|id| Rule::named(id)).collect(),
        (None, None) => return Err(Failure::usage(unknown(id))),
    };
    let texts: Vec<String> = named.iter().map(|rule| rules::rule(rule, run::WIDTH, console.style())).collect();
    console.result(&texts.join("\n"));
    Ok(ExitStatus::Held)
}

fn unknown(id: &str) -> String {
    let names = RULES.iter().map(|rule| rule.id).chain(Anomaly::ALL.iter().map(|anomaly| anomaly.name()));
    // Rules are written in capitals, anomalies in small letters.
    let near = did_you_mean(&id.to_ascii_uppercase(), names.clone());
    let near = if near.is_empty() { did_you_mean(id, names) } else { near };
    format!("unknown rule `{id}`; expected the ID of a rule, as `poppyfield rules` lists them, or an anomaly{near}")
}
