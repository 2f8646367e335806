//! `sats agent log`

use super::super::super::args::reading_book;
use super::super::super::failure::Failure;
use super::super::super::out::Out;
use super::super::place::Place;
use super::spends;
use crate::render;
use crate::spend::log::log;

/// Show the last rows of the ledger that are about agents' grants and requests, the newest last.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// How many at most.
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Only of this request, or the one whose id begins so.
    #[arg(long, value_name = "ID")]
    request: Option<String>,
}

const AFTER_HELP: &str = "\
Example:
  sats agent log --request r-8c1f";

pub(crate) fn run(args: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    let book = reading_book(out)?;
    let _together = out.together();
    for row in log(&spends(place, &book), args.limit, args.request.as_deref())? {
        match out.is_json() {
            true => out.line(String::from_utf8_lossy(&row.line())),
            false => out.line(render::row(&row)),
        }
    }
    Ok(0)
}
