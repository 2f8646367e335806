//! `sats psbt sign`

use std::path::{Path, PathBuf};

use granted_core::spend::Sats;
use granted_core::spend::agent::{Address, Txid};
use granted_sats::payment;
use granted_sats::sign;
use serde::Serialize;

use super::super::super::args::person;
use super::super::super::failure::Failure;
use super::super::super::out::Out;
use super::super::place::Place;
use super::super::review;
use super::inspect::outputs;
use super::{read, write_new};
use crate::terminal::Terminal;

/// Sign a PSBT.
///
/// If that makes it whole, and it pays one recipient from this wallet alone, the transaction is kept as one
/// of this wallet's, and sats tx broadcast sends it. Otherwise the PSBT with the signatures is written
/// beside the file.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The PSBT, in base64 or as it is.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Keep no transaction, and write the signed PSBT into this new file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Example:
  sats psbt sign payment.psbt";

#[derive(Serialize)]
struct SignedJson<'a> {
    txid: &'a Txid,
    status: &'static str,
    recipient: &'a Address,
    amount_sat: Sats,
    fee_sat: Sats,
}

#[derive(Serialize)]
struct FileJson<'a> {
    psbt_file: &'a Path,
    finalized: bool,
}

pub(crate) fn run(args: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    person("sats psbt sign")?;
    let mut psbt = read(&args.file)?;
    let wallet = place.wallet()?;
    let state = wallet.state()?;
    let terminal = Terminal::open()?;
    let payment = payment::derive(&state, &psbt, place.network);
    match &payment {
        Ok(payment) => review::show(payment, place.network, &terminal)?,
        Err(why) => {
            for output in outputs(&psbt, place) {
                terminal.line(&output.to_string())?;
            }
            terminal.line(&format!("it is no payment of this wallet alone: {why}"))?;
        }
    }
    for holder in wallet.held(&state)?.of(&psbt.unsigned_tx) {
        terminal.line(&format!("{holder} was signed before and spends the same coins"))?;
    }
    review::agree(&terminal, "sign it?")?;
    let seed = place.unlock(&terminal)?;
    let kept = payment.ok().filter(|_| args.out.is_none());
    let Some(payment) = kept else {
        let finalized = sign::sign(&state, &seed, place.network, &mut psbt)?;
        let file = args.out.clone().unwrap_or_else(|| beside(&args.file));
        return written(&psbt.to_string(), &file, finalized, out);
    };
    let signed = review::sign(&wallet, seed, psbt, &payment, &[])?;
    match out.is_json() {
        true => out.value(&SignedJson {
            txid: &signed.txid,
            status: "signed",
            recipient: &signed.recipient,
            amount_sat: signed.amount,
            fee_sat: signed.fee,
        }),
        false => {
            out.line(format_args!("signed {}", signed.txid));
            out.remark(format_args!("to send it: sats tx broadcast {}", signed.txid));
        }
    }
    Ok(0)
}

fn written(psbt: &str, file: &Path, finalized: bool, out: &Out) -> Result<u8, Failure> {
    write_new(file, psbt.as_bytes())?;
    match out.is_json() {
        true => out.value(&FileJson { psbt_file: file, finalized }),
        false => out.line(file.display()),
    }
    Ok(0)
}

/// The file's name, with `.signed.psbt` in the place of what it ends in.
fn beside(file: &Path) -> PathBuf {
    file.with_extension("signed.psbt")
}
