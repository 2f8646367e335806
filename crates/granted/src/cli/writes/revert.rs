//! `granted writes revert`

use granted_core::text::Note;
use granted_core::write::decide::NotNow;
use granted_exec::Stop;

use super::super::args::person_book;
use super::super::failure::Failure;
use super::super::out::Out;
use super::request::{For, RequestJson, looked_at, named, settled, stands};
use crate::write::approve::WordError;
use crate::write::revert::revert;

/// Take an applied change set back: a new one, which brings its files to what they were before.
///
/// It waits for your approval as any other: granted writes approve. It is refused where a file is no more
/// what was made of it.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The change set's id, or as much of its beginning as no other has.
    #[arg(value_name = "REQUEST")]
    request: String,
    /// Why [default: that it takes the other one back].
    #[arg(long, value_name = "TEXT")]
    reason: Option<Note>,
}

const AFTER_HELP: &str = "\
Example:
  granted writes revert 01J8ZC3V9Q6W5T4R3E2W1Q0PAS";

pub(super) fn run(args: &Args, out: &Out) -> Result<u8, Failure> {
    let book = person_book("writes revert", out)?;
    settled(&book, out);
    let id = named(&book, &args.request, For::Applied)?;
    let rationale = match &args.reason {
        Some(reason) => reason.clone(),
        None => Note::new(format!("takes back {id}")).map_err(Failure::system)?,
    };
    let stop = Stop::new().map_err(Failure::system)?;
    let state = revert(&book, id, &rationale, &stop).map_err(|error| match error {
        WordError::Not(NotNow::Denied(..)) => Failure::refused(error)
            .hint("what was changed after it is taken back first; see: granted writes log"),
        error => error.into(),
    })?;
    let (state, views) = looked_at(&book, state.id)?;
    match out.is_json() {
        true => out.value(&RequestJson::new(&state, &views)),
        false => {
            out.line(stands(&state));
            out.remark(format_args!("hint: granted writes approve {}", state.id));
        }
    }
    Ok(0)
}
