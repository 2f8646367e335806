//! `sats agent revoke`

use granted_core::spend::AgentName;
use serde::Serialize;

use super::super::super::args::person_book;
use super::super::super::failure::Failure;
use super::super::super::out::Out;
use super::super::place::Place;
use super::spends;
use crate::spend::revoke::revoke;

/// Take an agent's grant back, for good.
///
/// Effective on its next call. What it asked for can be approved no more; what is signed already stays valid.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The agent.
    #[arg(value_name = "NAME")]
    agent: AgentName,
}

const AFTER_HELP: &str = "\
Example:
  sats agent revoke claude";

#[derive(Serialize)]
struct RevokedJson<'a> {
    agent: &'a AgentName,
    revoked: bool,
}

pub(crate) fn run(args: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    let book = person_book("sats agent revoke", out)?;
    revoke(&spends(place, &book), &args.agent)?;
    match out.is_json() {
        true => out.value(&RevokedJson { agent: &args.agent, revoked: true }),
        false => out.line(format_args!("revoked the grant of {}", args.agent)),
    }
    Ok(0)
}
