//! `granted ledger prove`

use super::super::args::book;
use super::super::failure::Failure;
use super::super::out::Out;
use crate::ledger::prove::prove;

/// Print a proof that a row is in the ledger, as JSON.
///
/// It leads from the row to the newest checkpoint, and can be checked by somebody who has neither the
/// ledger nor granted. The format is described in docs/format.md.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The row's number.
    #[arg(value_name = "ROW", value_parser = row)]
    row: u64,
}

const AFTER_HELP: &str = "\
Example:
  granted ledger prove 41 > row-41.json";

fn row(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "it is a whole number".to_owned())
}

pub(crate) fn run(args: &Args, out: &Out) -> Result<u8, Failure> {
    out.value(&prove(&book(out)?, args.row)?);
    Ok(0)
}
