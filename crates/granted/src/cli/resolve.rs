//! `granted resolve`

use granted_core::decision::event::Resolved;
use granted_core::id::Id;
use granted_core::text::Note;
use serde::Serialize;

use super::args::person_book;
use super::failure::Failure;
use super::out::Out;
use super::sign_with::{SignWith, asking};
use crate::decision::resolve::resolve;

/// Settle an uncertain outcome, once: say what you found.
///
/// The grant stays spent whatever you say; to try again, mint again.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, group = clap::ArgGroup::new("what").args(["happened", "did_not_happen"]).required(true))]
pub(crate) struct Args {
    /// The attempt's id.
    #[arg(value_name = "DISCHARGE")]
    discharge: Id,
    /// It happened.
    #[arg(long)]
    happened: bool,
    /// It did not.
    #[arg(long)]
    did_not_happen: bool,
    /// Whose word this is.
    #[arg(long, value_name = "WHO")]
    by: Note,
    /// More, in words.
    #[arg(long, value_name = "TEXT")]
    note: Option<Note>,
    /// The key that signs, once one is trusted: the name of a key file, ssh, or ssh:PUB with a public
    /// key file; default: the only key file that is trusted.
    #[arg(long, value_name = "KEY")]
    sign_with: Option<SignWith>,
}

const AFTER_HELP: &str = "\
Example:
  granted ledger --kind decision.outcome      what is uncertain, with the attempt's id in brackets
  granted resolve 01J8ZC4A1B2C3D4E5F6G7H8J9K --happened --by me --note \"it is in the outbox\"";

#[derive(Serialize)]
struct ResolvedJson {
    discharge_id: Id,
    happened: bool,
}

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let book = person_book("resolve", out)?;
    let (by, happened, note) = (args.by, args.happened, args.note);
    let resolved = Resolved { by, happened, note, signature: None };
    resolve(&book, args.discharge, &resolved, asking(&book, args.sign_with.as_ref()))?;
    if out.is_json() {
        out.value(&ResolvedJson { discharge_id: args.discharge, happened });
    } else {
        let what = if happened { "happened" } else { "did not happen" };
        out.line(format_args!("attempt {}: it {what}; its grant stays spent", args.discharge));
    }
    Ok(0)
}
