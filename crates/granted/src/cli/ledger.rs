//! `granted ledger`

use granted_core::id::Id;
use granted_core::text::Shown;
use granted_core::time::Stamp;

use super::args::{instant, reading_book};
use super::failure::Failure;
use super::out::Out;
use crate::ledger::tail::{Filter, tail};
use crate::render;

mod accept;
mod checkpoint;
mod prove;
mod verify;

/// Show the last rows of the ledger, the newest last.
///
/// With --json the lines as they lie in the ledger.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, after_help = AFTER_HELP)]
#[command(subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
pub(crate) struct Args {
    /// How many.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = count)]
    tail: usize,
    /// Only rows about objects of this id, or about the change set or direct grant that has it.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Only rows about this grant and the attempts on it.
    #[arg(long, value_name = "GRANT")]
    grant: Option<Id>,
    /// Only rows of this kind, such as decision.outcome.
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<String>,
    /// Only rows written at or after this time.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    since: Option<Stamp>,
    #[command(subcommand)]
    command: Option<Command>,
}

const AFTER_HELP: &str = "\
Examples:
  granted ledger --tail 50 --kind decision.outcome
  granted ledger --id 2026-09-30 --since 2026-09-30T00:00:00Z
  granted ledger verify";

#[derive(clap::Subcommand)]
enum Command {
    Verify(verify::Args),
    Checkpoint(checkpoint::Args),
    Prove(prove::Args),
    Accept(accept::Args),
}

fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "it is a whole number".to_owned())
}

fn kind(text: &str) -> Result<String, String> {
    match granted_core::ledger::Event::KINDS.contains(&text) {
        true => Ok(text.to_owned()),
        false => Err(format!("the kinds are {}", granted_core::ledger::Event::KINDS.join(", "))),
    }
}

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    match args.command {
        None => show(args, out),
        Some(Command::Verify(args)) => verify::run(&args, out),
        Some(Command::Checkpoint(args)) => checkpoint::run(&args, out),
        Some(Command::Prove(args)) => prove::run(&args, out),
        Some(Command::Accept(args)) => accept::run(&args, out),
    }
}

fn show(args: Args, out: &Out) -> Result<u8, Failure> {
    let book = reading_book(out)?;
    let Args { id: object_id, grant, kind, since, .. } = args;
    let filter = Filter { object_id, grant, kind, since, kinds: &[] };
    let (rows, unfinished) = tail(&*book.ledger, &filter, args.tail)?;
    let _together = out.together();
    for shown in &rows {
        let raw = String::from_utf8_lossy(&shown.raw);
        match &shown.row {
            _ if out.is_json() => out.line(raw),
            Ok(row) => out.line(render::row(row)),
            Err(e) => out.line(format_args!("       {e}: {}", Shown(&raw))),
        }
    }
    if rows.is_empty() && !out.is_json() {
        out.remark(format_args!("there is no such row in `{}`", book.home().ledger().display()));
    }
    if let Some(unfinished) = unfinished.filter(|_| !out.is_json()) {
        out.remark(format_args!(
            "at byte {} there are {} bytes of an append that was never finished; they count as not written",
            unfinished.offset, unfinished.bytes
        ));
    }
    Ok(0)
}
