//! `sats agent allow`

use granted_core::spend::{Address, AgentName};
use serde::Serialize;

use super::super::super::args::person_book;
use super::super::super::failure::Failure;
use super::super::super::out::Out;
use super::super::place::Place;
use super::{Asked, address, authorize, spends};
use crate::spend::allow::allow;

/// Put a recipient on the list of an agent's grant. It takes your password.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The agent.
    #[arg(value_name = "NAME")]
    agent: AgentName,
    /// The recipient.
    #[arg(value_name = "ADDRESS")]
    address: String,
}

const AFTER_HELP: &str = "\
Example:
  sats agent allow claude tb1pvlnw9n2zuefmxzwmuz0763uajw8nmaattkhd8002g3ekejjspxtshu2q9n";

/// What became of a recipient, as JSON.
#[derive(Serialize)]
pub(super) struct ListedJson<'a> {
    pub(super) agent: &'a AgentName,
    pub(super) recipient: &'a Address,
    pub(super) state: &'static str,
}

pub(crate) fn run(args: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    let book = person_book("sats agent allow", out)?;
    let (agent, recipient) = (&args.agent, address(place, &args.address)?);
    let mut asked = Asked::default();
    let became = allow(&spends(place, &book), agent, &recipient, || asked.hold(authorize(place)));
    let state = became.map_err(|e| asked.failure(e))?.as_str();
    match out.is_json() {
        true => out.value(&ListedJson { agent, recipient: &recipient, state }),
        false => out.line(format_args!("{agent}: {recipient} is {state}")),
    }
    Ok(0)
}
