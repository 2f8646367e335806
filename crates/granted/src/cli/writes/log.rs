//! `granted writes log`

use std::path::PathBuf;

use granted_core::text::Shown;
use granted_core::write::request::Origin;
use granted_core::write::{RequestState, Status};

use super::super::args::reading_book;
use super::super::failure::Failure;
use super::super::out::{Mark, Out};
use super::request::{RequestJson, why};
use crate::write::list::all;
use crate::write::project::OpenProject;
use crate::write::show::files;

/// List every change set that was filed, the oldest first, with what became of it.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Only those of the project in this folder.
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Example:
  granted writes log --project .";

pub(super) fn run(args: &Args, out: &Out) -> Result<u8, Failure> {
    let book = reading_book(out)?;
    let project = args.project.as_deref().map(OpenProject::open).transpose()?;
    let here = |state: &&RequestState| {
        project.as_ref().is_none_or(|project| project.name() == state.project())
    };
    let states = all(&*book.ledger)?;
    let states: Vec<&RequestState> = states.iter().filter(here).collect();
    let _together = out.together();
    for state in &states {
        match out.is_json() {
            true => out.value(&RequestJson::new(state, &files(&book, state))),
            false => out.line(line(state, out)),
        }
    }
    if states.is_empty() && !out.is_json() {
        out.remark(format_args!("no request was filed in `{}`", book.home().ledger().display()));
    }
    Ok(0)
}

fn line(state: &RequestState, out: &Out) -> String {
    let mark = match state.status {
        Status::Applied => Mark::Good,
        Status::Staged | Status::Applying | Status::Unresolved => Mark::Doubt,
        Status::Undone | Status::Rejected | Status::Expired | Status::Closed | Status::Refused => {
            Mark::Bad
        }
    };
    let who = state.agent().map_or_else(|| "(you)".to_owned(), ToString::to_string);
    let changes = state.request().map_or(&[][..], |request| &request.changes);
    let paths: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
    let by = match (&state.rejected, state.claim.as_ref().and_then(|c| c.approved.as_ref())) {
        (Some(rejected), _) => format!(" by {}", rejected.by),
        (None, Some(approved)) => format!(" by {}", approved.by),
        (None, None) => match state.origin {
            Origin::Direct(..) => " direct".to_owned(),
            Origin::Staged(_) | Origin::Refused(_) => String::new(),
        },
    };
    let became = format!("{}{by}", state.status);
    let refused = match state.status {
        Status::Refused => why(state).unwrap_or_default(),
        _ => "",
    };
    format!(
        "{}  {:.0}  {}  {who}  {}: {}{}",
        state.id,
        state.at,
        out.marked(format_args!("{became:<18}"), mark),
        state.project(),
        paths.join(" "),
        Shown(refused)
    )
}
