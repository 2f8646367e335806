//! `sats agent requests`

use std::collections::HashSet;
use std::time::Duration;

use granted_core::spend::{Request, RequestId, State};
use granted_core::time::Stamp;
use granted_sats::bitcoin::{Txid, consensus};
use granted_sats::held::Spent;
use granted_sats::wallet::Wallet;

use super::super::super::args::reading_book;
use super::super::super::failure::Failure;
use super::super::super::out::Out;
use super::super::place::Place;
use super::record::{RecordJson, line};
use super::spends;
use crate::clock;
use crate::spend::outlook::Outlook;
use crate::spend::requests::{look, requests};

/// How often the ledger is looked at with --watch.
const EACH: Duration = Duration::from_secs(1);

/// List what agents asked for and what waits for you, the newest first.
///
/// What was cut off while it was approved is brought up to what the wallet shows.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The others too.
    #[arg(long, conflicts_with = "watch")]
    all: bool,
    /// Print each request when it begins to wait for you, until you stop it. Writes nothing.
    #[arg(long)]
    watch: bool,
}

const AFTER_HELP: &str = "\
Examples:
  sats agent requests --all
  sats agent requests --watch";

pub(crate) fn run(args: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    let book = reading_book(out)?;
    let spends = spends(place, &book);
    if args.watch {
        out.remark(format_args!("watching for requests on {}; ^C ends it", place.network));
        let mut waiting = HashSet::new();
        loop {
            let mut found = look(&spends)?;
            found.reverse();
            let mut outlook = Outlook::new(&spends);
            for request in newly(&found, &mut waiting) {
                show(request, &mut outlook, book.now(), out)?;
            }
            if out.is_closed() {
                return Ok(0);
            }
            clock::pause(EACH);
        }
    }
    let wallet = place.wallet()?;
    let found = requests(&spends, args.all, &wallet.records())?;
    if out.is_json() {
        out.value(&found.iter().map(RecordJson::of).collect::<Vec<_>>());
        return Ok(0);
    }
    let (now, mut outlook) = (book.now(), Outlook::new(&spends));
    let signed =
        |request: &Request| matches!(request.state, State::Sent(_) | State::BroadcastPending(..));
    let spent = found.iter().any(signed).then(|| wallet.state()).transpose()?;
    let spent = spent.map(|state| Spent::of(&state));
    let _together = out.together();
    for request in &found {
        show(request, &mut outlook, now, out)?;
        let by = spent.as_ref().and_then(|spent| never(request, &wallet, spent));
        if let Some(by) = by {
            out.line(format_args!(
                "  it can never confirm: {by} is confirmed and spends its coins"
            ));
        }
    }
    if found.is_empty() {
        let what = if args.all { "nothing was asked for" } else { "nothing waits for you" };
        out.remark(format_args!("{what} on {}", place.network));
    }
    Ok(0)
}

/// The confirmed transaction by which the payment of a request can never confirm.
fn never(request: &Request, wallet: &Wallet, spent: &Spent) -> Option<Txid> {
    let (State::Sent(paid) | State::BroadcastPending(paid, _)) = &request.state else {
        return None;
    };
    if spent.sees(paid.txid.as_str().parse().ok()?) {
        return None;
    }
    // Without its record nothing is known of its coins.
    let kept = wallet.records().read(paid.txid.as_str()).ok()?;
    let (by, confirmed) = spent.instead_of(&consensus::deserialize(&kept.bytes).ok()?)?;
    confirmed.then_some(by)
}

/// Those that wait for approval and did not the last time.
fn newly<'r>(
    found: &'r [Request],
    waiting: &mut HashSet<RequestId>,
) -> impl Iterator<Item = &'r Request> {
    let waits = |request: &&Request| request.state == State::PendingApproval;
    let before =
        std::mem::replace(waiting, found.iter().filter(waits).map(|request| request.id).collect());
    found.iter().filter(waits).filter(move |request| !before.contains(&request.id))
}

fn show(
    request: &Request,
    outlook: &mut Outlook<'_, '_>,
    now: Stamp,
    out: &Out,
) -> Result<(), Failure> {
    match out.is_json() {
        true => out.value(&RecordJson::of(request)),
        false => out.line(line(request, outlook.outside(request)?.as_ref(), now, out)),
    }
    Ok(())
}
