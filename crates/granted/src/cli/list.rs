//! `granted list`

use granted_core::decision::status::as_folded;
use granted_core::decision::{Grant, Status};
use serde::Serialize;

use super::args::book;
use super::failure::Failure;
use super::out::Out;
use super::status::word;
use crate::decision::list::list;
use crate::render;

/// List the live grants, the soonest deadline first.
#[derive(clap::Args)]
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

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let book = book()?;
    let now = book.now();
    let entries = list(&book, args.all)?;
    for (candidate, status) in &entries {
        let grant = as_folded(&candidate.state, None);
        if out.is_json() {
            out.value(&EntryJson { status: *status, grant: &grant });
            continue;
        }
        let until = render::time(grant.not_after, now);
        let word = word(*status, out);
        out.line(format_args!(
            "{word:<10} {}  {}  until {until}{}",
            grant.id,
            grant.object,
            ended(&grant)
        ));
    }
    if entries.is_empty() && !out.is_json() {
        out.remark(if args.all { "no grant was ever minted" } else { "no grant is live" });
    }
    Ok(0)
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
