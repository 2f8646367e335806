//! `sats send`

use std::path::{Path, PathBuf};

use granted_core::spend::agent::Txid;
use granted_core::spend::{Network, Sats};
use granted_sats::bitcoin::{Amount, Transaction, consensus};
use granted_sats::network;
use granted_sats::prepare::{Order, PrepareError, Ready};
use serde::Serialize;

use super::super::args::person;
use super::super::failure::Failure;
use super::super::out::Out;
use super::place::Place;
use super::psbt::write_new;
use super::review;
use crate::terminal::Terminal;

/// Pay somebody.
///
/// It is prepared on the chain as it is now and shown; then your password signs it. What was signed is
/// kept before it is sent, so that it can be sent again if that fails. Outputs of exactly 546 or 330 sat are
/// kept back: they often carry something that is worth more.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// Whom.
    #[arg(value_name = "ADDRESS")]
    address: String,
    /// How much: in sat, or with k for thousands or m for millions of them.
    #[arg(value_name = "AMOUNT")]
    amount: Sats,
    /// What it pays for each vB: a whole number of sat, 1 to 10000. Default: what the provider advises.
    #[arg(long, value_name = "SAT_VB", value_parser = review::read_rate)]
    fee_rate: Option<u16>,
    /// Spend outputs of exactly 546 or 330 sat too.
    #[arg(long)]
    allow_dust: bool,
    /// Spend the coins of this payment, which was signed and is not seen: only one of the two can ever confirm.
    #[arg(long, value_name = "TXID", conflicts_with = "export_psbt")]
    instead_of: Option<String>,
    /// Do not ask whether to go on. The password is asked for all the same.
    #[arg(long, short)]
    yes: bool,
    /// Show what it would pay; sign and keep nothing.
    #[arg(long, conflicts_with_all = ["yes", "export_psbt"])]
    dry_run: bool,
    /// Sign nothing, and write what is to be signed into this new file.
    #[arg(long, value_name = "FILE", conflicts_with = "yes")]
    export_psbt: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  sats send tb1pvlnw9n2zuefmxzwmuz0763uajw8nmaattkhd8002g3ekejjspxtshu2q9n 50k --dry-run
  sats send tb1pvlnw9n2zuefmxzwmuz0763uajw8nmaattkhd8002g3ekejjspxtshu2q9n 50k";

#[derive(Serialize)]
struct SentJson<'a> {
    txid: &'a Txid,
    amount_sat: Sats,
    fee_sat: Sats,
    total_sat: Sats,
}

#[derive(Serialize)]
struct ReadyJson<'a> {
    recipient: String,
    amount_sat: Sats,
    fee_sat: Sats,
    total_sat: Sats,
    excluded_utxos: Vec<String>,
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    psbt_file: Option<&'a Path>,
}

pub(super) fn run(args: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    person("sats send")?;
    let recipient = network::address(place.network, &args.address).map_err(PrepareError::from)?;
    let amount = Amount::from_sat(args.amount.to_u64());
    network::check_amount(&recipient, amount).map_err(|_| PrepareError::Dust)?;
    let wallet = place.wallet()?;
    let other = args.instead_of.as_ref().map(|txid| wallet.records().find(txid)).transpose()?;
    let instead_of = other.as_ref().map(|other| consensus::deserialize(&other.bytes)).transpose();
    let instead_of: Option<Transaction> = instead_of.map_err(Failure::system)?;
    let order = Order { recipient, amount, allow_dust: args.allow_dust, instead_of };
    let live = place.live(&wallet, out);
    let rate = review::fee_rate(args.fee_rate);
    if args.dry_run || args.export_psbt.is_some() {
        let ready = live.ready(&order, rate, args.export_psbt.is_some());
        return unsigned(&ready?, place.network, args.export_psbt.as_deref(), out);
    }
    let terminal = Terminal::open()?;
    let ready = live.ready(&order, rate, true)?;
    review::show(&ready.payment, place.network, &terminal)?;
    review::show_others(&wallet, &ready.instead_of, &terminal)?;
    if !args.yes {
        review::agree(&terminal, "sign and send it?")?;
    }
    let seed = place.unlock(&terminal)?;
    let sent = review::sign(&wallet, seed, ready.psbt, &ready.payment, &ready.instead_of)?;
    review::broadcast(&live, &sent, out)?;
    let total_sat = sent.amount.plus(sent.fee).unwrap_or(Sats::MAX);
    match out.is_json() {
        true => out.value(&SentJson {
            txid: &sent.txid,
            amount_sat: sent.amount,
            fee_sat: sent.fee,
            total_sat,
        }),
        false => out.line(format_args!("sent {}: {total_sat} sat, fee and all", sent.txid)),
    }
    Ok(0)
}

/// Says what would be signed, and writes it where that was asked for.
fn unsigned(
    ready: &Ready,
    network: Network,
    file: Option<&Path>,
    out: &Out,
) -> Result<u8, Failure> {
    if let Some(file) = file {
        write_new(file, ready.psbt.to_string().as_bytes())?;
    }
    let (amount_sat, fee_sat) =
        (review::sats(ready.payment.amount), review::sats(ready.payment.fee));
    let total_sat = amount_sat.plus(fee_sat).unwrap_or(Sats::MAX);
    let recipient = ready.payment.recipient.to_string();
    if out.is_json() {
        out.value(&ReadyJson {
            recipient,
            amount_sat,
            fee_sat,
            total_sat,
            excluded_utxos: ready.kept_back.iter().map(ToString::to_string).collect(),
            dry_run: file.is_none(),
            psbt_file: file,
        });
        return Ok(0);
    }
    out.line(format_args!("pay    {amount_sat:>15} sat to {recipient}"));
    out.line(format_args!("fee    {fee_sat:>15} sat"));
    out.line(format_args!("total  {total_sat:>15} sat on {network}"));
    if !ready.kept_back.is_empty() {
        out.line(format_args!("{} outputs are kept back", ready.kept_back.len()));
    }
    match file {
        Some(file) => out.remark(format_args!("to sign it: sats psbt sign {}", file.display())),
        None => out.remark("nothing was signed"),
    }
    Ok(0)
}
