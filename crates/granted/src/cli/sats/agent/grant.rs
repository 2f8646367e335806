//! `sats agent grant`

use std::time::Duration;

use granted_core::spend::change::Terms;
use granted_core::spend::{Address, AgentName, Mode, Sats};
use granted_core::text::for_shell;
use serde::Serialize;

use super::super::super::args::{duration, person_book};
use super::super::super::failure::Failure;
use super::super::super::out::Out;
use super::super::place::Place;
use super::{Asked, address, authorize, spends};
use crate::spend::issue::{Issued, issue};

/// Give an agent a budget to ask with, in the place of the one that it has.
///
/// It takes your password. The token that the agent's server needs is shown once and kept nowhere.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The agent: 1 to 32 of a-z 0-9 _ -
    #[arg(value_name = "NAME")]
    agent: AgentName,
    /// The most that all its payments may cost, fees included: in sat, or with k or m.
    #[arg(long, value_name = "SATS")]
    budget: Sats,
    /// How long it lasts.
    #[arg(long = "for", alias = "expires", value_name = "DURATION", value_parser = duration, default_value = "24h")]
    lasts: Duration,
    /// The most that a recipient may get at once. Default: no such cap.
    #[arg(long, value_name = "SATS")]
    max_tx: Option<Sats>,
    /// The most that a fee may be. Default: a fiftieth of the budget, but at least 1,000.
    #[arg(long, value_name = "SATS")]
    max_fee: Option<Sats>,
    /// ask, or observe for looking only.
    #[arg(long, value_name = "MODE", value_parser = super::mode::read, default_value = "ask")]
    mode: Mode,
    /// The only recipient; may be repeated. Default: anybody.
    #[arg(long = "to", value_name = "ADDRESS")]
    recipients: Vec<String>,
}

const AFTER_HELP: &str = "\
Example:
  sats agent grant claude --budget 50k --for 24h --max-tx 10k --max-fee 1000";

#[derive(Serialize)]
struct GrantJson<'a> {
    agent: &'a AgentName,
    mode: Mode,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_recipients: Option<&'a Vec<Address>>,
    budget_sat: Sats,
    max_tx_sat: Option<Sats>,
    max_fee_sat: Sats,
    expires_at: i64,
    replaced: bool,
    grant_id: &'a str,
    token_id: String,
    token: String,
}

pub(crate) fn run(args: Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    let book = person_book("sats agent grant", out)?;
    // Without a wallet there is nothing to grant, and no password.
    place.wallet()?;
    let mut recipients = Vec::new();
    for text in &args.recipients {
        let recipient = address(place, text)?;
        if !recipients.contains(&recipient) {
            recipients.push(recipient);
        }
    }
    let terms = Terms {
        agent: args.agent,
        network: place.network,
        budget: args.budget,
        lasts: args.lasts,
        max_tx: args.max_tx,
        max_fee: args.max_fee,
        mode: args.mode,
        recipients: (!args.recipients.is_empty()).then_some(recipients),
    };
    let mut asked = Asked::default();
    let issued = issue(&spends(place, &book), &terms, || {
        if terms.max_tx > Some(terms.budget) {
            out.remark("note: --max-tx is above --budget, so that the budget is the cap");
        }
        asked.hold(authorize(place))
    });
    let issued = issued.map_err(|e| asked.failure(e))?;
    match out.is_json() {
        true => out.value(&json(&issued)),
        false => show(&issued, &place.flag(), out),
    }
    Ok(0)
}

fn json(issued: &Issued) -> GrantJson<'_> {
    let grant = &issued.grant;
    GrantJson {
        agent: &grant.agent,
        mode: grant.mode,
        allowed_recipients: grant.allowed_recipients.as_ref(),
        budget_sat: grant.budget_sat,
        max_tx_sat: grant.max_tx_sat,
        max_fee_sat: grant.max_fee_sat,
        expires_at: grant.expires_at.micros().div_euclid(1_000_000),
        replaced: issued.replaced,
        grant_id: grant.grant_id.as_str(),
        token_id: grant.token_id(),
        token: issued.token.reveal(),
    }
}

/// `flag` is what its commands need to mean the network.
fn show(issued: &Issued, flag: &str, out: &Out) {
    let grant = &issued.grant;
    let max_tx = grant.max_tx_sat.map_or("none".to_owned(), |cap| format!("{cap} sat"));
    out.line(format_args!("agent    {} on {}, mode {}", grant.agent, grant.network, grant.mode));
    out.line(format_args!("budget   {} sat until {:.0}", grant.budget_sat, grant.expires_at));
    out.line(format_args!("max tx   {max_tx}"));
    out.line(format_args!("max fee  {} sat", grant.max_fee_sat));
    for recipient in grant.allowed_recipients.iter().flatten() {
        out.line(format_args!("to       {recipient}"));
    }
    if issued.replaced {
        out.line("replaced: the old token and the old requests are of no use any more");
    }
    let token = issued.token.reveal();
    let agent = for_shell(grant.agent.as_str());
    out.line(format_args!("\ntoken, shown this once: {token}\n"));
    out.line(format_args!("SATS_AGENT_TOKEN={token} sats agent serve {agent}{flag}"));
    out.line(format_args!(
        "claude mcp add sats --env SATS_AGENT_TOKEN={token} -- sats agent serve {agent}{flag}"
    ));
}
