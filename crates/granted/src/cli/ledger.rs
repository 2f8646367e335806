//! `granted ledger`

use std::time::Duration;

use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::text::{Note, Shown};
use granted_core::time::Stamp;
use serde::Serialize;

use super::args::{instant, person_book, reading_book};
use super::failure::Failure;
use super::out::Out;
use crate::book::Book;
use crate::clock;
use crate::ledger::accept::accept;
use crate::ledger::tail::{Filter, tail};
use crate::ledger::verify::{Report, VerifyError, verify};
use crate::render;

/// Show the last rows of the ledger, the newest last.
///
/// With --json the lines as they lie in the ledger.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// How many.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = count)]
    tail: usize,
    /// Only rows about objects of this id.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Only rows about this grant and the attempts on it.
    #[arg(long, value_name = "GRANT")]
    grant: Option<Id>,
    /// Only rows of this kind, such as decision.outcome.
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<String>,
    /// Only rows written at or after this time.
    #[arg(long, value_name = "TIME", value_parser = instant)]
    since: Option<Stamp>,
    #[command(subcommand)]
    command: Option<Command>,
}

const AFTER_HELP: &str = "\
Examples:
  granted ledger --tail 50 --kind decision.outcome
  granted ledger --id 2026-09-30 --since 2026-09-30T00:00:00Z
  granted ledger verify";

const VERIFY_HELP: &str = "\
Example:
  granted ledger verify && echo whole";

const ACCEPT_HELP: &str = "\
Example:
  granted ledger accept --by me --reason \"the disk filled up; the last line is half a row\"";

#[derive(clap::Subcommand)]
enum Command {
    /// Check every row: form, chain, times, and that every transition was legal.
    ///
    /// Reads only. Exit code 1 on damage, with the line, the byte, the cause and the last good row.
    /// An append at the end that was never finished is told and is no damage.
    #[command(after_help = VERIFY_HELP)]
    Verify,
    /// Accept a damaged tail, a ledger that was rolled back, or a clock that had been far ahead.
    ///
    /// Everything after the last good row is moved aside, never deleted, and a row says so. The
    /// grants that it still names are closed.
    #[command(after_help = ACCEPT_HELP)]
    Accept {
        /// Whose hand accepts.
        #[arg(long, value_name = "WHO")]
        by: Note,
        /// Why.
        #[arg(long, value_name = "TEXT")]
        reason: Note,
    },
}

fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "it is a whole number".to_owned())
}

fn kind(text: &str) -> Result<String, String> {
    match granted_core::ledger::Event::KINDS.contains(&text) {
        true => Ok(text.to_owned()),
        false => Err(format!("the kinds are {}", granted_core::ledger::Event::KINDS.join(", "))),
    }
}

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    match args.command {
        None => show(args, out),
        Some(Command::Verify) => check(out),
        Some(Command::Accept { by, reason }) => accept_it(&by, &reason, out),
    }
}

fn show(args: Args, out: &Out) -> Result<u8, Failure> {
    let book = reading_book(out)?;
    let Args { id: object_id, grant, kind, since, .. } = args;
    let filter = Filter { object_id, grant, kind, since, kinds: &[] };
    let (rows, unfinished) = tail(&*book.ledger, &filter, args.tail)?;
    for shown in &rows {
        let raw = String::from_utf8_lossy(&shown.raw);
        match &shown.row {
            _ if out.is_json() => out.line(raw),
            Ok(row) => out.line(render::row(row)),
            Err(e) => out.line(format_args!("       {e}: {}", Shown(&raw))),
        }
    }
    if rows.is_empty() && !out.is_json() {
        out.remark("there is no such row");
    }
    if let Some(unfinished) = unfinished.filter(|_| !out.is_json()) {
        out.remark(format_args!(
            "at byte {} there are {} bytes of an append that was never finished; they count as not written",
            unfinished.offset, unfinished.bytes
        ));
    }
    Ok(0)
}

#[derive(Serialize)]
struct VerifyJson {
    ok: bool,
    rows: u64,
    bytes: u64,
    head: Option<Digest>,
    error: Option<FaultJson>,
}

#[derive(Serialize)]
struct FaultJson {
    line: u64,
    offset: u64,
    cause: String,
}

fn check(out: &Out) -> Result<u8, Failure> {
    let book = reading_book(out)?;
    let begun = clock::since_boot();
    let spent = || clock::since_boot().saturating_sub(begun);
    let mut shown = false;
    let report = verify(&*book.ledger, &mut |bytes| {
        if out.is_watched() && spent() > Duration::from_secs(1) {
            shown = true;
            out.progress(format_args!("{} MB checked", bytes / 1_000_000));
        }
    });
    if shown {
        out.progress("");
    }
    let report = report.map_err(|e| match e {
        VerifyError::Read(e) => Failure::from(e),
        VerifyError::Spill(_) => Failure::system(e),
    })?;
    let ok = report.fault.is_none();
    match out.is_json() {
        true => out.value(&json(report)),
        false => tell(&book, &report, spent(), out),
    }
    Ok(if ok { 0 } else { 1 })
}

fn json(report: Report) -> VerifyJson {
    let Report { rows, bytes, head, fault, .. } = report;
    let error =
        fault.map(|f| FaultJson { line: f.line, offset: f.offset, cause: f.cause.into_owned() });
    VerifyJson { ok: error.is_none(), rows, bytes, head, error }
}

fn tell(book: &Book, report: &Report, spent: Duration, out: &Out) {
    if let Some(fault) = &report.fault {
        out.line(format_args!(
            "damaged: line {} (byte {}): {}; the last good row is {}",
            fault.line,
            fault.offset,
            Shown(&fault.cause),
            report.rows
        ));
        out.remark(match report.acceptable {
            true => "hint: to move this line and all behind it aside: granted ledger accept",
            false => "hint: the rows behind it still count; compare the file with a copy of it",
        });
        return;
    }
    if report.bytes == 0 && report.unfinished.is_none() {
        let path = book.home().ledger().display().to_string();
        return out.line(format_args!("there is no row in `{}`", Shown(&path)));
    }
    let micros = spent.as_micros().max(1);
    let rate = u128::from(report.bytes) / micros;
    let head = report.head.map(|head| format!(", head {head}")).unwrap_or_default();
    out.line(format_args!(
        "{} rows are whole{head} ({} bytes, {rate} MB/s)",
        report.rows, report.bytes
    ));
    if let Some(unfinished) = &report.unfinished {
        out.line(format_args!(
            "at byte {} there are {} bytes of an append that was never finished; they count as not written",
            unfinished.offset, unfinished.bytes
        ));
    }
}

#[derive(Serialize)]
struct AcceptJson<'a> {
    accepted: &'a [granted_core::ledger::event::What],
    closed: Vec<&'a str>,
}

fn accept_it(by: &Note, reason: &Note, out: &Out) -> Result<u8, Failure> {
    let book = person_book("ledger accept", out)?;
    let accepted = accept(&book, by, reason)?;
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
        out.line(format_args!("closed {subject}"));
    }
    Ok(0)
}
