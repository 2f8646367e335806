//! `granted writes dispatch`

use std::time::Duration;

use granted_core::time::Stamp;
use granted_core::write::Agent;
use granted_core::write::dispatch::Terms;
use serde::Serialize;

use super::super::args::{duration, person_book};
use super::super::failure::Failure;
use super::super::out::Out;
use super::ProjectArgs;
use crate::render;
use crate::write::dispatch::issue;

/// Issue a dispatch: a nonce that lets an agent file so many change sets for a time.
///
/// The nonce is printed once and kept nowhere; the ledger has its digest. Give it to the agent with its
/// task.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The agent, as the brief names it.
    #[arg(value_name = "AGENT")]
    agent: Agent,
    #[command(flatten)]
    project: ProjectArgs,
    /// How long it is good, at most 30d. Default: 24h; 4h for an agent that asks for direct writes.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    ttl: Option<Duration>,
    /// For how many change sets, 1 to 1000. Default: 25; 10 for an agent that asks for direct writes.
    #[arg(long, value_name = "N")]
    uses: Option<u32>,
}

const AFTER_HELP: &str = "\
Example:
  granted writes dispatch producer --uses 3 --ttl 1h";

#[derive(Serialize)]
struct DispatchJson<'a> {
    agent: &'a Agent,
    expires: Stamp,
    nonce: &'a str,
    uses: u32,
}

pub(crate) fn run(args: &Args, out: &Out) -> Result<u8, Failure> {
    let book = person_book("writes dispatch", out)?;
    let project = args.project.open()?;
    let terms = Terms { ttl: args.ttl, uses: args.uses };
    let (nonce, issued) = issue(&book, &project, &args.agent, terms)?;
    let (agent, expires, uses) = (&issued.agent, issued.expires, issued.uses);
    if out.is_json() {
        out.value(&DispatchJson { agent, expires, nonce: &nonce, uses });
        return Ok(0);
    }
    out.line(&nonce);
    let until = render::time(expires, book.now());
    let sets = if uses == 1 { "change set" } else { "change sets" };
    out.remark(format_args!("for agent `{agent}`: {uses} {sets} until {until}"));
    Ok(0)
}
