//! `granted show`

use granted_core::id::Id;

use super::args::reading_book;
use super::failure::Failure;
use super::out::Out;
use super::status::{aside, word};
use crate::decision::status::of_grant;
use crate::render;

/// Show one grant whole, with its timeline.
///
/// Writes nothing. Exit code 0 whatever the grant's status, 1 if there is no such grant.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The grant's id.
    #[arg(value_name = "GRANT")]
    grant: Id,
}

const AFTER_HELP: &str = "\
Example:
  granted show 01J8ZC3V9Q6W5T4R3E2W1Q0PAS";

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let book = reading_book(out)?;
    let Some(view) = of_grant(&book, args.grant)? else {
        return Err(Failure::refused(format!("there is no grant {}", args.grant))
            .hint("all grants: granted list --all"));
    };
    if out.is_json() {
        out.value(&view.json(usize::MAX));
        return Ok(0);
    }
    let now = book.now();
    for line in view.grant.iter().flat_map(|grant| render::grant(grant, now)) {
        out.line(line);
    }
    out.line(format_args!("status     {}{}", word(view.status, out), aside(&view, &book)));
    for line in view.rows.iter().map(render::row) {
        out.line(line);
    }
    Ok(0)
}
