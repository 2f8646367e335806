//! `granted writes show`

use granted_core::text::for_shell;
use granted_core::write::Status;

use super::super::args::reading_book;
use super::super::failure::Failure;
use super::super::out::Out;
use super::request::{For, RequestJson, about, diffs, looked_at, named, stat};

/// Show a change set: who wants it and why, and what it does to each file, line by line.
///
/// While it waits, its files are compared with the project as it is now. Prints the digest that an
/// approval in a script needs.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The change set's id, or as much of its beginning as no other has.
    #[arg(value_name = "REQUEST")]
    request: String,
    /// One line a file instead of the diffs.
    #[arg(long)]
    stat: bool,
}

const AFTER_HELP: &str = "\
Example:
  granted writes show 01J8ZC3V9Q6W5T4R3E2W1Q0PAS";

pub(super) fn run(args: &Args, out: &Out) -> Result<u8, Failure> {
    let book = reading_book(out)?;
    let id = named(&book, &args.request, For::Any)?;
    let (state, views) = looked_at(&book, id)?;
    if out.is_json() {
        out.value(&RequestJson::new(&state, &views));
        return Ok(0);
    }
    let mut lines = about(&state, &views, book.now());
    lines.extend(if args.stat { stat(&views) } else { diffs(&views, out) });
    lines.extend(state.request().map(|request| format!("digest     {}", request.digest)));
    out.line(lines.join("\n"));
    let id = for_shell(&state.id.to_string());
    if state.status == Status::Staged && views.iter().any(|view| view.stale) {
        out.remark("note: a file is not what the change is based on, so approving it is refused");
        out.remark(format_args!("hint: to end it: granted writes reject {id}"));
    } else if state.status == Status::Staged {
        out.remark(format_args!("hint: granted writes approve {id}"));
    }
    Ok(0)
}
