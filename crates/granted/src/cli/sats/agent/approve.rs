//! `sats agent approve`

use granted_core::spend::chain::{Chain, Key};
use granted_core::spend::reply::advice;
use granted_core::spend::{Deny, Network, Request, RequestId, Sats, State, Txid};
use granted_core::text::Shown;
use granted_sats::sign::SeedKey;
use granted_sats::wallet::Wallet;
use serde::Serialize;

use super::super::super::args::person_book;
use super::super::super::failure::{Failure, Kind};
use super::super::super::out::Out;
use super::super::place::Place;
use super::pick::{Picked, pick};
use super::{Asked, place_of, spends};
use crate::spend::SpendError;
use crate::spend::approve::{Approved, Hands, Person, Review, approve, waiting};
use crate::terminal::Terminal;

/// Approve a request: prepare it on the chain as it is now, review it, and sign and send it with your
/// password.
///
/// Without an ID you choose from those that wait.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The request, or the beginning of its id.
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Do not ask whether to go on. The password is asked for all the same.
    #[arg(long, short)]
    yes: bool,
}

const AFTER_HELP: &str = "\
Examples:
  sats agent approve
  sats agent approve r-8c1f";

#[derive(Serialize)]
struct EndJson<'a> {
    id: RequestId,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    txid: Option<&'a Txid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    amount_sat: Option<Sats>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fee_sat: Option<Sats>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_sat: Option<Sats>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining_budget_sat: Option<Sats>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

#[derive(Serialize)]
struct CancelledJson {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<RequestId>,
}

/// The person at the terminal, and the wallet behind them.
struct Owner<'a> {
    place: &'a Place,
    wallet: &'a Wallet,
    terminal: &'a Terminal,
    asks: bool,
    asked: Asked,
}

impl Owner<'_> {
    fn show(&self, review: &Review<'_>) -> Result<(), Failure> {
        let (terminal, request) = (self.terminal, review.request);
        terminal.line(&format!("request  {} of {}", request.id, request.filed.agent))?;
        let amount = request.filed.amount_sat;
        terminal.line(&format!("pay      {amount:>15} sat to {}", request.filed.recipient))?;
        terminal.line(&format!("fee      {:>15} sat", review.fee))?;
        terminal.line(&format!("total    {:>15} sat on {}", review.total, review.network))?;
        terminal.line(&format!("left     {:>15} sat of the budget after it", review.left))?;
        terminal.line(&format!("wallet   {}", self.wallet.path().display()))?;
        if review.network == Network::Mainnet {
            terminal.line("this is money: what is sent does not come back")?;
        }
        Ok(())
    }
}

impl Person for Owner<'_> {
    fn review(&mut self, review: &Review<'_>) -> Result<bool, String> {
        let answer = self.show(review).and_then(|()| match self.asks {
            true => Ok(self.terminal.confirm("sign and send it?")?),
            false => Ok(true),
        });
        self.asked.hold(answer)
    }

    fn unlock(&mut self) -> Result<Box<dyn Key>, String> {
        let seed = self.asked.hold(self.place.unlock(self.terminal))?;
        Ok(Box::new(SeedKey { seed, wallet: self.wallet.clone() }))
    }
}

pub(crate) fn run(args: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    let book = person_book("sats agent approve", out)?;
    let there = args.id.as_deref().map(|id| place_of(place, &book, id));
    let place = there.as_ref().unwrap_or(place);
    let (spends, wallet) = (spends(place, &book), place.wallet()?);
    let records = wallet.records();
    if let Some(id) = &args.id {
        // Nobody is asked for a terminal for what is not there, or past that.
        waiting(&spends, id, &records)?;
    }
    let (id, asks) = match &args.id {
        Some(id) => (id.clone(), !args.yes),
        // Who chose from a list is asked, whatever was said before.
        None => match pick(&spends, &records)? {
            Picked::Request(id) => (id.to_string(), true),
            Picked::None => return cancelled(None, out),
            Picked::Nothing if out.is_json() => return cancelled(None, out),
            Picked::Nothing => {
                out.remark(format_args!("nothing waits for approval on {}", place.network));
                return Ok(0);
            }
        },
    };
    let terminal = Terminal::open()?;
    let mut chain = || Ok(Box::new(place.live(&wallet, out)) as Box<dyn Chain>);
    let asked = Asked::default();
    let mut owner = Owner { place, wallet: &wallet, terminal: &terminal, asks, asked };
    let mut hands = Hands { chain: &mut chain, transactions: &records, person: &mut owner };
    match approve(&spends, &id, &mut hands) {
        Ok(approved) => end(&approved, out),
        Err(SpendError::Declined) if out.is_json() => cancelled(id.parse().ok(), out),
        Err(error) => Err(owner.asked.failure(error)),
    }
}

fn cancelled(id: Option<RequestId>, out: &Out) -> Result<u8, Failure> {
    match out.is_json() {
        true => out.value(&CancelledJson { status: "cancelled", id }),
        false => out.remark("nothing was authorized"),
    }
    Ok(0)
}

/// Says where it left the request. In words, all but what was sent is an error.
fn end(approved: &Approved, out: &Out) -> Result<u8, Failure> {
    let Approved { request, remaining } = approved;
    if out.is_json() {
        out.value(&json(request, *remaining));
        return Ok(0);
    }
    let id = request.id;
    match &request.state {
        State::Sent(paid) => {
            let total = request.filed.amount_sat.plus(paid.fee).unwrap_or(Sats::MAX);
            out.line(format_args!("sent {}: {total} sat, fee and all", paid.txid));
            out.line(format_args!(
                "the budget of {} has {remaining} sat left",
                request.filed.agent
            ));
            Ok(0)
        }
        State::Denied(deny) => {
            let message = format!("request {id} lies outside its grant: {}", deny.detail());
            let hint =
                format!("the agent may ask anew; to put this one away: sats agent dismiss {id}");
            Err(Failure::refused(message).hint(hint))
        }
        State::BroadcastPending(paid, why) => {
            let message = format!("{} is signed and kept, but {}", paid.txid, Shown(why.as_str()));
            Err(Failure::new(Kind::Provider, message)
                .hint(format!("to hand it over again: {}", advice(request))))
        }
        State::Failed(why) => {
            let message = format!("nothing was signed: {}", Shown(why.as_str()));
            Err(Failure::refused(message).hint(format!("to try again: {}", advice(request))))
        }
        State::Unresolved { message, .. } => {
            let message = format!("it may have been signed: {}", Shown(message.as_str()));
            Err(Failure::new(Kind::Key, message).hint(advice(request)))
        }
        state => Err(Failure::refused(format!("request {id} is {}", state.status()))
            .hint("to bring it up: sats agent requests")),
    }
}

fn json(request: &Request, remaining: Sats) -> EndJson<'_> {
    let (id, status) = (request.id, request.state.status());
    let bare = EndJson {
        id,
        status,
        reason: None,
        txid: None,
        amount_sat: None,
        fee_sat: None,
        total_sat: None,
        remaining_budget_sat: None,
        message: None,
    };
    let amount = request.filed.amount_sat;
    match &request.state {
        State::Sent(paid) => EndJson {
            txid: Some(&paid.txid),
            amount_sat: Some(amount),
            fee_sat: Some(paid.fee),
            total_sat: amount.plus(paid.fee),
            remaining_budget_sat: Some(remaining),
            ..bare
        },
        State::BroadcastPending(paid, message) => EndJson {
            txid: Some(&paid.txid),
            amount_sat: Some(amount),
            fee_sat: Some(paid.fee),
            message: Some(message.as_str()),
            ..bare
        },
        State::Unresolved { txid, message } => {
            EndJson { txid: Some(txid), message: Some(message.as_str()), ..bare }
        }
        State::Failed(message) => EndJson { message: Some(message.as_str()), ..bare },
        State::Denied(deny) => EndJson { reason: Some(Deny::reason(deny)), ..bare },
        _ => bare,
    }
}
