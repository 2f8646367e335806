//! `granted timer remove`

use granted_core::decision::Object;

use super::purpose;
use crate::cli::args::person_book;
use crate::cli::failure::Failure;
use crate::cli::out::Out;
use crate::timer::Timer;
use crate::timer::remove::remove;

/// Stop a timer and remove what install wrote: the tick's, or with --object that of an object.
///
/// An attempt that runs goes on. Files that granted did not write are left. A timer that is not
/// installed is no error.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The object whose timer it is.
    #[arg(long, value_name = "TYPE/ID")]
    object: Option<Object>,
}

const AFTER_HELP: &str = "\
Example:
  granted timer remove --object report/2026-09-30";

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    person_book("timer remove", out)?;
    let removed = remove(&Timer::of(args.object.as_ref())?)?;
    if out.is_json() {
        out.value(&removed);
        return Ok(0);
    }
    if removed.files.is_empty() && removed.left.is_empty() {
        out.remark(format_args!("no timer is installed for {}", purpose(removed.object.as_ref())));
    } else if !removed.files.is_empty() {
        out.line(format_args!("removed {}", removed.unit));
        for file in &removed.files {
            out.line(format_args!("  file     {file}"));
        }
    }
    for file in &removed.left {
        out.remark(format_args!("note: `{file}` is left: `granted timer` did not write it"));
    }
    Ok(0)
}
