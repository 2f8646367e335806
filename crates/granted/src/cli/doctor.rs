//! `granted doctor`

use granted_core::text::Shown;

use super::failure::Failure;
use super::out::{Mark, Out};
use crate::doctor::{Check, examine};
use crate::home::Home;

/// Look at the whole installation: who could write each path, and whether everything works.
///
/// Writes nothing. Says what is wrong with the command that mends it, and what you could change
/// yourself with what would show it. Exit code 1 if something is wrong, 0 if not.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {}

const AFTER_HELP: &str = "\
Example:
  granted doctor --json";

pub(crate) fn run(_: Args, out: &Out) -> Result<u8, Failure> {
    let report = examine(&Home::from_env()?);
    if out.is_json() {
        out.value(&report);
    } else {
        report.checks.iter().for_each(|check| show(check, out));
        match report.remains.is_empty() {
            true => out.line("you could change nothing of it"),
            false => out.line("what you could change all the same, and what would show it:"),
        }
        for remains in &report.remains {
            out.line(format_args!("  {}", remains.could));
            out.line(format_args!("      shown by {}", remains.shown_by));
        }
    }
    Ok(if report.checks.iter().all(|check| check.ok) { 0 } else { 1 })
}

fn show(check: &Check, out: &Out) {
    let word = match check.ok {
        true => out.marked("ok   ", Mark::Good),
        false => out.marked("wrong", Mark::Bad),
    };
    let path = check.path.as_deref().map(|path| format!("  {}", Shown(path))).unwrap_or_default();
    let found =
        check.found.as_deref().map(|text| format!(" ({})", Shown(text))).unwrap_or_default();
    let name = Shown(&check.name).to_string();
    out.line(format_args!("{word}  {name:<8}{path} -- {}{found}", check.rule));
    if let Some(problem) = &check.problem {
        out.line(format_args!("       problem   {}", Shown(problem)));
    }
    if let Some(mend) = &check.mend {
        out.line(format_args!("       mend      {}", Shown(mend)));
    }
}
