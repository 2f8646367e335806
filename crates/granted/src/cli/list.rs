//! `granted list`

use granted_core::decision::status::as_folded;
use granted_core::decision::{Grant, Status};
use granted_core::time::Relative;
use serde::Serialize;

use super::args::reading_book;
use super::failure::Failure;
use super::out::Out;
use super::status::mark;
use crate::decision::gather::attempt;
use crate::decision::list::list;

/// List the live grants, the soonest deadline first.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The others too, with how they ended.
    #[arg(long)]
    all: bool,
}

#[derive(Serialize)]
struct EntryJson<'a> {
    status: Status,
    grant: &'a Grant,
}

const AFTER_HELP: &str = "\
Example:
  granted list --all";

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let book = reading_book(out)?;
    let now = book.now();
    let entries = list(&book, args.all)?;
    let _together = out.together();
    for (candidate, status) in &entries {
        let spending = match candidate.state.spending() {
            Some(claim) if out.is_json() => attempt(&book, claim.discharge)?,
            _ => None,
        };
        let grant = as_folded(&candidate.state, spending.as_ref());
        if out.is_json() {
            out.value(&EntryJson { status: *status, grant: &grant });
            continue;
        }
        let distance = Relative { stamp: grant.not_after, now }.to_string();
        out.line(format_args!(
            "{} {}  until {:.0}  {distance:<10}  {}{}",
            word(*status, out),
            grant.id,
            grant.not_after,
            grant.object,
            ended(&grant)
        ));
    }
    if entries.is_empty() && !out.is_json() {
        let what = if args.all { "there is no grant" } else { "no grant is live" };
        out.remark(format_args!("{what} in `{}`", book.home().ledger().display()));
    }
    Ok(0)
}

/// The status in a column of its own.
fn word(status: Status, out: &Out) -> String {
    out.marked(format_args!("{:<10}", status.as_str()), mark(status))
}

/// How a spent grant ended.
fn ended(grant: &Grant) -> String {
    let reason = grant.receipt.as_ref().map(|receipt| receipt.reason);
    match reason {
        None => String::new(),
        Some(None) => "  pending".into(),
        Some(Some(reason)) => format!("  {}: {reason}", reason.class()),
    }
}
