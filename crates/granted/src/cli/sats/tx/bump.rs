//! `sats tx bump`

use granted_core::spend::Sats;
use granted_core::spend::agent::Txid;
use granted_core::spend::chain;
use granted_core::time::Clock as _;
use granted_sats::bitcoin::{Amount, Transaction, consensus};
use granted_sats::network;
use granted_sats::payment::Payment;
use granted_sats::prepare::PrepareError;
use serde::Serialize;

use super::super::super::args::person_book;
use super::super::super::failure::Failure;
use super::super::super::out::Out;
use super::super::agent;
use super::super::place::{Place, seconds};
use super::super::review;
use crate::clock::SystemClock;
use crate::spend::settle::signed_for;
use crate::terminal::Terminal;

/// Replace a payment of yours that waits for a block by one that pays a higher fee.
///
/// The same recipient gets the same. What an agent asked for is never replaced: a request is signed once.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The transaction, or the beginning of its id.
    #[arg(value_name = "TXID")]
    txid: String,
    /// What it is to pay for each vB: a whole number of sat, 1 to 10000.
    #[arg(long, value_name = "SAT_VB", value_parser = review::read_rate)]
    fee_rate: u16,
    /// Do not ask whether to go on. The password is asked for all the same.
    #[arg(long, short)]
    yes: bool,
}

const AFTER_HELP: &str = "\
Example:
  sats tx bump 4a5e1e --fee-rate 12";

#[derive(Serialize)]
struct BumpedJson<'a> {
    txid: &'a Txid,
    replaced: &'a Txid,
    amount_sat: Sats,
    fee_sat: Sats,
    total_sat: Sats,
}

pub(crate) fn run(args: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    let book = person_book("sats tx bump", out)?;
    let wallet = place.wallet()?;
    let before = wallet.records().find(&args.txid)?;
    // A file may say what it likes: the ledger knows what was signed for agents.
    let asked = signed_for(&agent::spends(place, &book), &before.txid)?;
    if before.origin.is_some() || asked.is_some() {
        let message = format!("an agent asked for {}, and a request is signed once", before.txid);
        return Err(Failure::refused(message).hint(format!(
            "to pay somebody else from its coins: sats send ADDRESS AMOUNT --instead-of {}",
            before.txid
        )));
    }
    let terminal = Terminal::open()?;
    place.sync(&wallet, out)?;
    let Some(rate) = review::fee_rate(Some(args.fee_rate)) else {
        return Err(Failure::usage("there is no such fee rate"));
    };
    let payment = payment(&before, place)?;
    let kept: Transaction = consensus::deserialize(&before.bytes).map_err(Failure::system)?;
    let ready = wallet.bump(&kept, &payment, rate, seconds(SystemClock.now()))?;
    review::show(&ready.payment, place.network, &terminal)?;
    terminal.line(&format!("the fee was {:>11} sat in {}", before.fee, before.txid))?;
    let others = ready.instead_of.get(1..).unwrap_or_default();
    review::show_others(&wallet, others, &terminal)?;
    if !args.yes {
        review::agree(&terminal, "sign and send it in its place?")?;
    }
    let seed = place.unlock(&terminal)?;
    let sent = review::sign(&wallet, seed, ready.psbt, &ready.payment, &ready.instead_of)?;
    review::broadcast(&place.live(&wallet, out), &sent, out)?;
    let total_sat = sent.amount.plus(sent.fee).unwrap_or(Sats::MAX);
    match out.is_json() {
        true => out.value(&BumpedJson {
            txid: &sent.txid,
            replaced: &before.txid,
            amount_sat: sent.amount,
            fee_sat: sent.fee,
            total_sat,
        }),
        false => out.line(format_args!("sent {}: {total_sat} sat, fee and all", sent.txid)),
    }
    Ok(0)
}

/// What the record says was paid.
fn payment(before: &chain::Transaction, place: &Place) -> Result<Payment, PrepareError> {
    Ok(Payment {
        recipient: network::address(place.network, before.recipient.as_str())?,
        amount: Amount::from_sat(before.amount.to_u64()),
        fee: Amount::from_sat(before.fee.to_u64()),
    })
}
