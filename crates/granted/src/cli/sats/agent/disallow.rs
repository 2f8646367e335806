//! `sats agent disallow`

use granted_core::spend::AgentName;
use granted_core::spend::change::OnList;

use super::super::super::args::person_book;
use super::super::super::failure::Failure;
use super::super::super::out::Out;
use super::super::place::Place;
use super::allow::ListedJson;
use super::{address, spends};
use crate::spend::allow::disallow;

/// Take a recipient off the list of an agent's grant.
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
  sats agent disallow claude tb1pvlnw9n2zuefmxzwmuz0763uajw8nmaattkhd8002g3ekejjspxtshu2q9n";

pub(crate) fn run(args: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    let book = person_book("sats agent disallow", out)?;
    let (agent, recipient) = (&args.agent, address(place, &args.address)?);
    let (became, left) = disallow(&spends(place, &book), agent, &recipient)?;
    let state = became.as_str();
    match out.is_json() {
        true => out.value(&ListedJson { agent, recipient: &recipient, state }),
        false => out.line(format_args!("{agent}: {recipient} is {state}")),
    }
    if became == OnList::NotListed {
        out.remark("hint: who is on it: sats agent list");
    }
    if !left {
        out.remark(format_args!("note: the list of {agent} is empty, so that nobody may be paid"));
    }
    Ok(0)
}
