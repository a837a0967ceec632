//! Poppyfield: a simulation and load-testing harness for the Personal Agent Protocol.
//!
//! Simulated Companies and a swarm of simulated Personal Agents run YAML scenarios; a checker proves from the recorded
//! history and ledger whether any confirmed action ran twice, ran on terms nobody approved, or got lost.
//! `docs/architecture.md` states how the modules may depend on each other.

pub mod agent;
pub mod backend;
pub mod checker;
pub mod cli;
pub mod company;
pub mod fault;
pub mod history;
pub mod identity;
pub mod limits;
pub mod measure;
pub mod plan;
pub mod protocol;
pub mod report;
pub mod scenario;
pub mod sim;
#[expect(clippy::disallowed_methods, reason = "what drives the parties stands outside their world")]
pub mod swarm;
#[expect(clippy::disallowed_methods, reason = "parties reach time and tasks through this module")]
pub mod world;
