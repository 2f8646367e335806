//! `sats history`

use std::collections::BTreeMap;

use granted_core::spend::Sats;
use granted_core::spend::agent::Address;
use granted_core::text::Shown;
use granted_core::time::Stamp;
use granted_sats::wallet::{Direction, Entry, Seen, history};
use serde::Serialize;

use super::super::failure::Failure;
use super::super::out::Out;
use super::place::Place;

/// List what came and what went: what waits for a block first, then the newest first.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// Do not look at the chain.
    #[arg(long)]
    offline: bool,
}

const AFTER_HELP: &str = "\
Example:
  sats history";

#[derive(Serialize)]
struct EntryJson<'a> {
    txid: String,
    direction: &'static str,
    net_sat: i64,
    fee_sat: Option<u64>,
    status: &'static str,
    height: Option<u32>,
    confirmations: u32,
    timestamp: Option<u64>,
    recipient: Option<&'a Address>,
}

pub(super) fn run(args: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    let wallet = place.wallet()?;
    place.look(&wallet, args.offline, out)?;
    let (records, damaged) = wallet.records().all()?;
    for error in &damaged {
        out.remark(format_args!("note: {}", Shown(&error.to_string())));
    }
    let recipients: BTreeMap<&str, &Address> =
        records.iter().map(|tx| (tx.txid.as_str(), &tx.recipient)).collect();
    let entries = history(&wallet.state()?);
    let recipient = |entry: &Entry| recipients.get(entry.txid.to_string().as_str()).copied();
    if out.is_json() {
        let all: Vec<EntryJson> =
            entries.iter().map(|entry| json(entry, recipient(entry))).collect();
        out.value(&all);
        return Ok(0);
    }
    let _together = out.together();
    for entry in &entries {
        let when = match json(entry, None).timestamp {
            Some(time) => format!("{:.0}", stamp(time)),
            None => "-".to_owned(),
        };
        let to = recipient(entry).map(|to| format!(" to {to}")).unwrap_or_default();
        let way = word(entry.direction);
        let net = signed(entry.net);
        out.line(format_args!("{when:<20}  {way:<8} {net:>16} sat  {}{to}", entry.txid));
    }
    if entries.is_empty() {
        out.remark(format_args!("nothing came and nothing went on {}", place.network));
    }
    Ok(0)
}

fn json<'a>(entry: &Entry, recipient: Option<&'a Address>) -> EntryJson<'a> {
    let (status, height, confirmations, timestamp) = match entry.seen {
        Seen::Confirmed { height, confirmations, time } => {
            ("confirmed", Some(height), confirmations, Some(time))
        }
        _ => ("unconfirmed", None, 0, entry.first_seen),
    };
    EntryJson {
        txid: entry.txid.to_string(),
        direction: word(entry.direction),
        net_sat: entry.net,
        fee_sat: entry.fee,
        status,
        height,
        confirmations,
        timestamp,
        recipient,
    }
}

/// What came or went, with its sign, as amounts are shown.
pub(super) fn signed(net: i64) -> String {
    let sats = Sats::new(net.unsigned_abs()).unwrap_or(Sats::MAX);
    format!("{}{sats}", if net < 0 { '-' } else { '+' })
}

fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Sent => "sent",
        Direction::Received => "received",
        Direction::Own => "self",
    }
}

fn stamp(seconds: u64) -> Stamp {
    Stamp::from_micros(i64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000))
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_came_or_went_has_its_sign_and_its_thousands() {
        for (net, shown) in [(0, "+0"), (1_000_000, "+1,000,000"), (-50_141, "-50,141"), (-7, "-7")]
        {
            assert_eq!(super::signed(net), shown);
        }
    }
}
