//! `granted writes staged`

use granted_core::write::Status;

use super::super::args::reading_book;
use super::super::failure::Failure;
use super::super::out::Out;
use super::request::{RequestJson, line, stands};
use crate::write::list::open;
use crate::write::show::files;

/// List the change sets that wait for your approval, and those that are unresolved.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {}

const AFTER_HELP: &str = "\
Example:
  granted writes staged";

pub(super) fn run(_: &Args, out: &Out) -> Result<u8, Failure> {
    let book = reading_book(out)?;
    let now = book.now();
    let states = open(&*book.ledger)?;
    let _together = out.together();
    for state in &states {
        let views = files(&book, state);
        if out.is_json() {
            out.value(&RequestJson::new(state, &views));
            continue;
        }
        match state.status {
            Status::Staged => out.line(line(state, &views, now, out)),
            Status::Unresolved => out.line(stands(state)),
            _ => out.line(format_args!("request {} is being applied, or was cut off", state.id)),
        }
    }
    if states.is_empty() && !out.is_json() {
        out.remark(format_args!("no request waits in `{}`", book.home().ledger().display()));
    }
    Ok(0)
}
