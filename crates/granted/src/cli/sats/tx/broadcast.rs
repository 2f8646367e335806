//! `sats tx broadcast`

use std::path::Path;

use granted_core::spend::chain::{Transaction, Transactions as _};
use granted_core::text::Shown;
use granted_sats::bitcoin::{self, Txid, consensus};
use granted_sats::held::replacement;
use granted_sats::record::from_hex;
use granted_sats::wallet::{Seen, Wallet, seen};
use serde::Serialize;

use super::super::super::args::{book, person};
use super::super::super::failure::Failure;
use super::super::super::out::Out;
use super::super::agent;
use super::super::place::Place;
use super::super::psbt::MAX_FILE;
use super::super::status::words;
use crate::files;
use crate::spend::settle::{self, check_free};

/// Send a transaction that is signed.
///
/// It is one that was kept, by its id or the beginning of it, or a file with a transaction in hexadecimal
/// digits. Nothing is prepared or signed. What the network has already is not handed over again: where it
/// stands is said. If the provider does not take it, but the wallet sees it on the network, it is sent.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The transaction. 64 hexadecimal digits are an id; a file of such a name is `./NAME`.
    #[arg(value_name = "FILE|TXID")]
    what: String,
}

const AFTER_HELP: &str = "\
Example:
  sats tx broadcast 4a5e1e";

#[derive(Serialize)]
struct StandsJson {
    txid: Txid,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u32>,
}

pub(crate) fn run(args: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    person("sats tx broadcast")?;
    let wallet = place.wallet()?;
    let (kept, transaction) = transaction(&args.what, &wallet)?;
    // One that was made for an agent's request moves that, too.
    let asked = kept.as_ref().and_then(|kept| Some(kept.origin.as_ref()?.request));
    let book = asked.map(|_| book(out)).transpose()?;
    let asked = asked.zip(book.as_ref().map(|book| agent::spends(place, book)));
    let settle = || match &asked {
        Some((request, spends)) => settle::broadcast(spends, *request, &wallet.records()),
        None => Ok(()),
    };
    if let Some((request, spends)) = &asked {
        check_free(spends, *request)?;
    }
    // That it was sent once needs nobody; where it is by now, the chain says.
    settle()?;
    let stands = match place.sync(&wallet, out) {
        Ok(()) => stands(&wallet, &transaction)?,
        Err(error) if kept.as_ref().is_some_and(|kept| kept.is_broadcast) => {
            return Err(error.into());
        }
        Err(_) => Seen::Unseen,
    };
    if stands == Seen::Unseen {
        send(&transaction, &wallet, place, out)?;
    }
    if let Some(kept) = &kept {
        note(kept, &wallet, out);
    }
    settle()?;
    show(transaction.compute_txid(), stands, out);
    Ok(0)
}

/// The transaction that is meant, with its record if it was kept.
fn transaction(
    what: &str,
    wallet: &Wallet,
) -> Result<(Option<Transaction>, bitcoin::Transaction), Failure> {
    let path = Path::new(what);
    if what.parse::<Txid>().is_err()
        && let Some(bytes) = files::read(path, MAX_FILE).map_err(Failure::input)?
    {
        return Ok((None, read(&bytes, path)?));
    }
    if !what.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        // It is the beginning of no id either.
        return Err(Failure::input(format!("`{what}`: there is no such file")));
    }
    let kept = wallet.records().find(&what.to_ascii_lowercase())?;
    let decoded = consensus::deserialize(&kept.bytes).map_err(Failure::system)?;
    Ok((Some(kept), decoded))
}

/// How far the network has it; an error if it has another one in its place.
fn stands(wallet: &Wallet, transaction: &bitcoin::Transaction) -> Result<Seen, Failure> {
    let (state, txid) = (wallet.state()?, transaction.compute_txid());
    match replacement(&state, transaction) {
        Some(other) => Err(Failure::refused(format!("{txid} was replaced by {other}"))
            .hint(format!("how far that one is: sats status {other}"))),
        None => Ok(seen(&state, txid)),
    }
}

fn show(txid: Txid, stands: Seen, out: &Out) {
    let (status, height) = match stands {
        Seen::Unseen => ("sent", None),
        Seen::Mempool => ("mempool", None),
        Seen::Confirmed { height, .. } => ("confirmed", Some(height)),
    };
    match (out.is_json(), stands) {
        (true, _) => out.value(&StandsJson { txid, status, height }),
        (false, Seen::Unseen) => out.line(format_args!("sent {txid}")),
        (false, stands) => out.line(format_args!("{txid} was sent before: {}", words(stands))),
    }
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
