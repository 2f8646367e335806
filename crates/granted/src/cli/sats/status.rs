//! `sats status`

use granted_core::spend::Sats;
use granted_core::spend::agent::{Address, Txid};
use granted_core::spend::chain::Transaction;
use granted_core::text::Shown;
use granted_core::time::Stamp;
use granted_sats::bitcoin::{self, consensus};
use granted_sats::held::Spent;
use granted_sats::record::RecordError;
use granted_sats::wallet::{Seen, State, Wallet, seen};
use serde::Serialize;

use super::super::failure::Failure;
use super::super::out::Out;
use super::history::signed;
use super::place::{Place, Synced};

/// Say how far the payments are that were signed here.
///
/// One that is signed, and of which it is not known that it was sent, is pending: sats tx broadcast sends it
/// again.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// The transaction, or the beginning of its id.
    #[arg(value_name = "TXID")]
    txid: Option<String>,
    /// Do not look at the chain.
    #[arg(long)]
    offline: bool,
}

const AFTER_HELP: &str = "\
Examples:
  sats status
  sats status 4a5e1e --offline";

#[derive(Serialize)]
struct StatusJson<'a> {
    synced: bool,
    sync_status: Synced,
    pending: Vec<RecordJson<'a>>,
    broadcast: Vec<RecordJson<'a>>,
}

#[derive(Serialize)]
struct RecordJson<'a> {
    txid: &'a Txid,
    recipient: &'a Address,
    amount_sat: Sats,
    fee_sat: Sats,
    total_sat: Sats,
    created_at: Stamp,
    status: &'static str,
    #[serde(flatten)]
    seen: SeenJson,
}

/// How far the network has it, as JSON.
#[derive(Serialize)]
pub(super) struct SeenJson {
    seen: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmations: Option<u32>,
}

#[derive(Serialize)]
struct EntryJson<'a> {
    txid: &'a str,
    net_sat: i64,
    fee_sat: Option<u64>,
    #[serde(flatten)]
    seen: SeenJson,
}

impl From<Seen> for SeenJson {
    fn from(seen: Seen) -> SeenJson {
        match seen {
            Seen::Confirmed { height, confirmations, .. } => SeenJson {
                seen: "confirmed",
                height: Some(height),
                confirmations: Some(confirmations),
            },
            Seen::Mempool => SeenJson { seen: "mempool", height: None, confirmations: None },
            Seen::Unseen => SeenJson { seen: "unseen", height: None, confirmations: None },
        }
    }
}

pub(super) fn run(args: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    let wallet = place.wallet()?;
    let sync_status = place.look(&wallet, args.offline, out)?;
    let state = wallet.state()?;
    if let Some(txid) = &args.txid {
        return one(txid, &wallet, &state, out);
    }
    let (records, damaged) = wallet.records().all()?;
    for error in &damaged {
        out.remark(format_args!("note: {}", Shown(&error.to_string())));
    }
    let (broadcast, pending): (Vec<_>, Vec<_>) = records.iter().partition(|tx| tx.is_broadcast);
    if out.is_json() {
        let pending = pending.into_iter().map(|tx| json(tx, &state)).collect();
        let broadcast = broadcast.into_iter().map(|tx| json(tx, &state)).collect();
        let synced = sync_status.is_fresh();
        out.value(&StatusJson { synced, sync_status, pending, broadcast });
        return Ok(0);
    }
    let look = Look::new(&wallet, &state);
    for transaction in pending.into_iter().chain(broadcast) {
        show(transaction, &look, out);
    }
    if records.is_empty() {
        out.remark(format_args!("nothing was signed here on {}", place.network));
    }
    Ok(0)
}

/// A transaction that was signed here, else one that the wallet saw.
fn one(txid: &str, wallet: &Wallet, state: &State, out: &Out) -> Result<u8, Failure> {
    let none = match wallet.records().find(txid) {
        Ok(transaction) => {
            match out.is_json() {
                true => out.value(&json(&transaction, state)),
                false => show(&transaction, &Look::new(wallet, state), out),
            }
            return Ok(0);
        }
        Err(none @ RecordError::None(_)) => none,
        Err(error) => return Err(error.into()),
    };
    let entries = granted_sats::wallet::history(state);
    let mut begin = entries.iter().filter(|entry| entry.txid.to_string().starts_with(txid));
    let entry = match (begin.next(), begin.next()) {
        (Some(entry), None) => entry,
        (Some(_), Some(_)) => return Err(RecordError::Several(txid.to_owned()).into()),
        (None, _) => return Err(none.into()),
    };
    let (id, seen) = (entry.txid.to_string(), SeenJson::from(entry.seen));
    match out.is_json() {
        true => out.value(&EntryJson { txid: &id, net_sat: entry.net, fee_sat: entry.fee, seen }),
        false => out.line(format_args!("{id}  {} sat, {}", signed(entry.net), words(entry.seen))),
    }
    Ok(0)
}

/// What the wallet sees.
struct Look<'a> {
    state: &'a State,
    spent: Spent,
    /// The payments that keep something from being spent, as far as their records can be read.
    withheld: Vec<bitcoin::Txid>,
}

impl Look<'_> {
    fn new<'a>(wallet: &Wallet, state: &'a State) -> Look<'a> {
        let withheld = wallet.held(state).map(|held| held.withheld(state)).unwrap_or_default();
        Look { state, spent: Spent::of(state), withheld }
    }
}

fn json<'a>(transaction: &'a Transaction, state: &State) -> RecordJson<'a> {
    let Transaction { txid, recipient, amount, fee, created_at, is_broadcast, .. } = transaction;
    RecordJson {
        txid,
        recipient,
        amount_sat: *amount,
        fee_sat: *fee,
        total_sat: amount.plus(*fee).unwrap_or(Sats::MAX),
        created_at: *created_at,
        status: if *is_broadcast { "broadcast" } else { "pending" },
        seen: how_far(transaction, state).into(),
    }
}

fn show(transaction: &Transaction, look: &Look<'_>, out: &Out) {
    let Transaction { txid, recipient, amount, fee, created_at, is_broadcast, .. } = transaction;
    out.line(format_args!("{txid}  {created_at:.0}"));
    out.line(format_args!("  {amount} sat to {recipient}, fee {fee} sat"));
    let far = how_far(transaction, look.state);
    let unseen = (far == Seen::Unseen).then(|| consensus::deserialize(&transaction.bytes).ok());
    let unseen: Option<bitcoin::Transaction> = unseen.flatten();
    match (is_broadcast, unseen.as_ref().and_then(|unseen| look.spent.instead_of(unseen))) {
        (_, Some((by, true))) => {
            out.line(format_args!(
                "  it can never confirm: {by} is confirmed and spends its coins"
            ));
        }
        (false, None) if far == Seen::Unseen => {
            out.line("  signed; it is not known that it was sent");
            out.line(format_args!("  to send it again: sats tx broadcast {txid}"));
        }
        _ => out.line(format_args!("  {}", words(far))),
    }
    if unseen.is_some_and(|unseen| look.withheld.contains(&unseen.compute_txid())) {
        out.line("  its coins are kept from other payments");
        out.line(format_args!("  to pay with them in its place: sats send --instead-of {txid}"));
    }
}

fn how_far(transaction: &Transaction, state: &State) -> Seen {
    let txid = transaction.txid.as_str().parse();
    txid.map_or(Seen::Unseen, |txid| seen(state, txid))
}

/// How far the network has it, in words.
pub(super) fn words(seen: Seen) -> String {
    match seen {
        Seen::Confirmed { height, confirmations: 1, .. } => format!("confirmed in block {height}"),
        Seen::Confirmed { height, confirmations, .. } => {
            format!("confirmed in block {height}, {confirmations} blocks deep")
        }
        Seen::Mempool => "waits for a block".to_owned(),
        Seen::Unseen => "not seen by this wallet: replaced, or not taken".to_owned(),
    }
}
