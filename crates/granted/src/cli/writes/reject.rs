//! `granted writes reject`

use granted_core::text::Note;

use super::super::args::person_book;
use super::super::failure::Failure;
use super::super::out::Out;
use super::request::{For, RequestJson, hand, named, settled, stands};
use crate::write::reject::reject;

/// Reject a change set that waits; or end one that is unresolved, with its files as they are.
///
/// No file is touched.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The change set's id, or as much of its beginning as no other has.
    #[arg(value_name = "REQUEST")]
    request: String,
    /// Why, in words that the agent is shown.
    #[arg(long, value_name = "TEXT")]
    reason: Option<Note>,
    /// Whose hand this is [default: your login name, or user id].
    #[arg(long, value_name = "WHO")]
    by: Option<Note>,
}

const AFTER_HELP: &str = "\
Example:
  granted writes reject 01J8ZC3V9Q6W5T4R3E2W1Q0PAS --reason \"the test is missing\"";

pub(super) fn run(args: &Args, out: &Out) -> Result<u8, Failure> {
    let book = person_book("writes reject", out)?;
    let by = hand(args.by.as_ref(), &book)?;
    settled(&book, out);
    let id = named(&book, &args.request, For::Open)?;
    let state = reject(&book, id, &by, args.reason.as_ref())?;
    match out.is_json() {
        true => out.value(&RequestJson::new(&state, &[])),
        false => out.line(stands(&state)),
    }
    Ok(0)
}
