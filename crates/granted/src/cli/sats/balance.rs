//! `sats balance`

use granted_core::spend::Sats;
use serde::Serialize;

use super::super::args::person;
use super::super::failure::Failure;
use super::super::out::Out;
use super::place::Place;
use super::review::sats;

/// Say what the wallet holds.
///
/// What is not confirmed counts only if it is your own change. Where the chain cannot be seen, it says what
/// was seen before.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// Do not look at the chain.
    #[arg(long)]
    offline: bool,
    /// Forget the blocks that the wallet has seen, and look for its coins as on the first time: where an
    /// earlier provider told of blocks that there are not. A provider that is behind hides payments.
    #[arg(long, conflicts_with = "offline")]
    rescan: bool,
}

const AFTER_HELP: &str = "\
Example:
  sats balance";

#[derive(Serialize)]
struct BalanceJson {
    balance_sat: Sats,
    pending_sat: Sats,
    synced: bool,
}

pub(super) fn run(args: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    let wallet = place.wallet()?;
    if args.rescan {
        person("sats balance --rescan")?;
        wallet.forget_above(0)?;
    }
    let synced = place.look(&wallet, args.offline, out)?.is_fresh();
    let balance = wallet.balance()?;
    let (balance_sat, pending_sat) = (sats(balance.spendable), sats(balance.pending));
    if out.is_json() {
        out.value(&BalanceJson { balance_sat, pending_sat, synced });
        return Ok(0);
    }
    out.line(format_args!("{balance_sat} sat on {}", place.network));
    if pending_sat > Sats::ZERO {
        out.line(format_args!("{pending_sat} sat more are not confirmed, or not yet to be spent"));
    }
    Ok(0)
}
