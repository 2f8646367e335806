//! `granted ledger accept`

use granted_core::ledger::Subject;
use granted_core::ledger::event::What;
use granted_core::text::Note;
use serde::Serialize;

use super::super::args::person_book;
use super::super::failure::Failure;
use super::super::out::Out;
use super::super::sign_with::{SignWith, asking};
use crate::ledger::accept::accept;
use crate::render;
use crate::terminal::Terminal;

/// Accept a damaged tail, a ledger that was rolled back, or a clock that had been far ahead.
///
/// Everything after the last good row is moved aside, never deleted, and a row says so. The
/// grants that it still names are closed. Where a checkpoint shows that rows are missing, every grant
/// that could still be used is closed, and the witnesses go on from here.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Whose hand accepts.
    #[arg(long, value_name = "WHO")]
    by: Note,
    /// Why.
    #[arg(long, value_name = "TEXT")]
    reason: Note,
    /// The key that signs, once one is trusted: the name of a key file, ssh, or ssh:PUB with a public
    /// key file; default: the only key file that is trusted.
    #[arg(long, value_name = "KEY")]
    sign_with: Option<SignWith>,
}

const AFTER_HELP: &str = "\
Example:
  granted ledger accept --by me --reason \"the disk filled up; the last line is half a row\"";

#[derive(Serialize)]
struct AcceptJson<'a> {
    accepted: &'a [What],
    closed: Vec<&'a str>,
}

/// A grant that is closed, in words.
fn closed(subject: &Subject) -> String {
    subject.as_str().replacen(':', " ", 1)
}

pub(crate) fn run(args: &Args, out: &Out) -> Result<u8, Failure> {
    let book = person_book("ledger accept", out)?;
    let mut ask = asking(&book, args.sign_with.as_ref());
    let accepted = accept(&book, &args.by, &args.reason, |trust, statement, accepted| {
        let terminal = Terminal::open()?;
        for subject in &accepted.closed {
            terminal.line(&format!("closes     {}", closed(subject)))?;
        }
        ask(trust, statement)
    })?;
    if out.is_json() {
        let closed = accepted.closed.iter().map(|subject| subject.as_str()).collect();
        out.value(&AcceptJson { accepted: &accepted.what, closed });
        return Ok(0);
    }
    if accepted.what.is_empty() {
        out.line("there is nothing to accept");
    }
    for what in &accepted.what {
        out.line(format_args!("accepted {}", render::accepted(what)));
    }
    for subject in &accepted.closed {
        out.line(format_args!("closed {}", closed(subject)));
    }
    Ok(0)
}
