//! `sats agent dismiss`

use serde::Serialize;

use super::super::super::args::person_book;
use super::super::super::failure::Failure;
use super::super::super::out::Out;
use super::super::place::Place;
use super::{place_of, spends};
use crate::spend::dismiss::dismiss;

/// Decline a request.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The request, or the beginning of its id.
    #[arg(value_name = "ID")]
    id: String,
}

const AFTER_HELP: &str = "\
Example:
  sats agent dismiss r-8c1f";

#[derive(Serialize)]
struct DismissedJson {
    id: String,
    status: &'static str,
}

pub(crate) fn run(args: &Args, place: &Place, out: &Out) -> Result<u8, Failure> {
    let book = person_book("sats agent dismiss", out)?;
    let place = place_of(place, &book, &args.id);
    let request = dismiss(&spends(&place, &book), &args.id)?;
    let (id, status) = (request.id.to_string(), request.state.status());
    match out.is_json() {
        true => out.value(&DismissedJson { id, status }),
        false => out.line(format_args!("{status} {id}")),
    }
    Ok(0)
}
