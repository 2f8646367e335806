//! `sats tx broadcast`

use std::path::Path;

use granted_core::spend::chain::{Transaction, Transactions as _};
use granted_core::text::Shown;
use granted_sats::bitcoin::{self, Txid, consensus};
use granted_sats::record::from_hex;
use granted_sats::wallet::{Seen, Wallet, seen};
use serde::Serialize;

use super::super::super::args::{book, person};
use super::super::super::failure::Failure;
use super::super::super::out::Out;
use super::super::agent;
use super::super::place::Place;
use super::super::psbt::MAX_FILE;
use crate::files;
use crate::spend::settle::{self, check_free};

/// Send a transaction that is signed.
///
/// It is one that was kept, by its id or the beginning of it, or a file with a transaction in hexadecimal
/// digits. Nothing is prepared or signed. If the provider does not take it, but the wallet sees it on the
/// network, it is sent.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The transaction.
    #[arg(value_name = "FILE|TXID")]
    what: String,
}

const AFTER_HELP: &str = "\
Example:
  sats tx broadcast 4a5e1e";

#[derive(Serialize)]
struct SentJson {
    txid: Txid,
}

pub(crate) fn run(args: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    person("sats tx broadcast")?;
    let wallet = place.wallet()?;
    let path = Path::new(&args.what);
    let (kept, transaction) = match files::read(path, MAX_FILE).map_err(Failure::input)? {
        Some(bytes) => (None, read(&bytes, path)?),
        None => {
            let kept = wallet.records().find(&args.what)?;
            let decoded = consensus::deserialize(&kept.bytes).map_err(Failure::system)?;
            (Some(kept), decoded)
        }
    };
    // One that was made for an agent's request moves that, too.
    let asked = kept.as_ref().and_then(|kept| Some(kept.origin.as_ref()?.request));
    let book = asked.map(|_| book(out)).transpose()?;
    let asked = asked.zip(book.as_ref().map(|book| agent::spends(place, book)));
    if let Some((request, spends)) = &asked {
        check_free(spends, *request)?;
    }
    if kept.as_ref().is_none_or(|kept| !kept.is_broadcast) {
        send(&transaction, &wallet, place, out)?;
    }
    if let Some(kept) = &kept {
        note(kept, &wallet, out);
    }
    if let Some((request, spends)) = &asked {
        settle::broadcast(spends, *request, &wallet.records())?;
    }
    let txid = transaction.compute_txid();
    match out.is_json() {
        true => out.value(&SentJson { txid }),
        false => out.line(format_args!("sent {txid}")),
    }
    Ok(0)
}

/// Sends it; an error stands unless the network has it all the same.
fn send(
    transaction: &bitcoin::Transaction,
    wallet: &Wallet,
    place: &Place,
    out: &Out,
) -> Result<(), Failure> {
    let Err(error) = place.live(wallet, out).send(transaction) else { return Ok(()) };
    let looked = place.sync(wallet, out);
    let there =
        looked.is_ok() && seen(&wallet.state()?, transaction.compute_txid()) != Seen::Unseen;
    match there {
        true => Ok(()),
        false => Err(error.into()),
    }
}

/// Notes that it was sent.
fn note(kept: &Transaction, wallet: &Wallet, out: &Out) {
    if let Err(why) = wallet.records().mark_broadcast(&kept.txid) {
        // It is on its way all the same.
        out.remark(format_args!("note: it was not noted that it was sent: {}", Shown(&why)));
    }
}

fn read(bytes: &[u8], path: &Path) -> Result<bitcoin::Transaction, Failure> {
    let none = || Failure::input(format!("`{}` is no transaction", path.display()));
    let text = str::from_utf8(bytes).map_err(|_| none())?;
    let bytes = from_hex(text.trim()).ok_or_else(none)?;
    consensus::deserialize(&bytes).map_err(|_| none())
}
