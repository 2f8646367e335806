//! `granted ledger verify`

use std::path::PathBuf;
use std::time::Duration;

use granted_core::digest::Digest;
use granted_core::text::Shown;
use granted_core::time::Stamp;
use serde::Serialize;

use super::super::args::reading_book;
use super::super::failure::Failure;
use super::super::out::Out;
use crate::book::Book;
use crate::clock;
use crate::ledger::held::{Collected, collect, differs};
use crate::ledger::verify::{Report, Tally, VerifyError, verify_and_sum};

/// Check every row: form, chain, times, and that every transition was legal.
///
/// Reads only. Then says from which checkpoints the ledger goes on, and since when none of its rows is
/// held elsewhere. Exit code 1 on damage, with the line, the byte, the cause and the last good row; and
/// if the ledger does not go on from a checkpoint. An append at the end that was never finished is told
/// and is no damage.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The ledger must go on from the checkpoint in this file.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  granted ledger verify && echo whole
  granted ledger verify --checkpoint /media/stick/granted.checkpoint";

#[derive(Serialize)]
struct VerifyJson<'a> {
    ok: bool,
    rows: u64,
    bytes: u64,
    head: Option<Digest>,
    witnessed: u64,
    unwitnessed_since: Option<Stamp>,
    checkpoints: &'a [Compared],
    error: Option<FaultJson<'a>>,
}

#[derive(Serialize)]
struct FaultJson<'a> {
    line: u64,
    offset: u64,
    cause: &'a str,
}

/// How the ledger stands to a checkpoint.
#[derive(Serialize)]
struct Compared {
    path: String,
    rows: Option<u64>,
    goes_on: bool,
    cause: Option<String>,
    #[serde(skip)]
    elsewhere: bool,
}

pub(crate) fn run(args: &Args, out: &Out) -> Result<u8, Failure> {
    let book = reading_book(out)?;
    let collected = collect(&book, args.checkpoint.as_deref())?;
    let mut tally = Tally::default();
    tally.ask(0);
    collected.held.iter().for_each(|held| tally.ask(held.checkpoint.size));
    let begun = clock::since_boot();
    let spent = || clock::since_boot().saturating_sub(begun);
    let mut shown = false;
    let report = verify_and_sum(&*book.ledger, &mut tally, &mut |bytes| {
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
    let compared = compare(&collected, &report, &tally);
    let held = compared.iter().filter(|one| one.goes_on && one.elsewhere);
    let witnessed = held.filter_map(|one| one.rows).max().unwrap_or(0);
    let since = tally.after(witnessed);
    let ok = report.fault.is_none() && compared.iter().all(|one| one.goes_on);
    if out.is_json() {
        let error = report.fault.as_ref().map(|fault| FaultJson {
            line: fault.line,
            offset: fault.offset,
            cause: &fault.cause,
        });
        let Report { rows, bytes, head, .. } = report;
        let (checkpoints, unwitnessed_since) = (compared.as_slice(), since);
        out.value(&VerifyJson {
            ok,
            rows,
            bytes,
            head,
            witnessed,
            unwitnessed_since,
            checkpoints,
            error,
        });
    } else {
        tell(&book, &report, spent(), out);
        tell_held(&compared, witnessed, since, out);
    }
    for why in &collected.unusable {
        out.remark(format_args!("note: {}", Shown(why)));
    }
    Ok(if ok { 0 } else { 1 })
}

fn compare(collected: &Collected, report: &Report, tally: &Tally) -> Vec<Compared> {
    let held = collected.held.iter().map(|held| {
        let cause = differs(&held.checkpoint, report.rows, tally);
        let (path, goes_on) = (held.path.display().to_string(), cause.is_none());
        let rows = Some(held.checkpoint.size);
        Compared { path, rows, goes_on, cause, elsewhere: held.elsewhere }
    });
    let wrong = collected.wrong.iter().map(|(path, cause)| Compared {
        path: path.display().to_string(),
        rows: None,
        goes_on: false,
        cause: Some(cause.clone()),
        elsewhere: true,
    });
    held.chain(wrong).collect()
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
        return out.remark(match report.acceptable {
            true => "hint: to move this line and all behind it aside: granted ledger accept",
            false => "hint: the rows behind it still count; compare the file with a copy of it",
        });
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

/// Says from which checkpoints the ledger goes on, and which of its rows none of them covers that lies
/// elsewhere.
fn tell_held(compared: &[Compared], witnessed: u64, since: Option<Stamp>, out: &Out) {
    for one in compared {
        let path = Shown(&one.path);
        match (&one.cause, one.rows) {
            (Some(cause), Some(_)) => {
                out.line(format_args!("it does not go on from `{path}`: {}", Shown(cause)));
            }
            (Some(cause), None) => {
                out.line(format_args!("`{path}` is no checkpoint of this book: {}", Shown(cause)));
            }
            (None, Some(rows)) if one.elsewhere => {
                out.line(format_args!("it goes on from row {rows}, as `{path}` has it"));
            }
            (None, _) => {}
        }
    }
    match (witnessed, since) {
        (0, Some(since)) => out.line(format_args!(
            "unwitnessed since row 1, {since:.0}: no checkpoint of these rows lies elsewhere"
        )),
        (_, Some(since)) => {
            out.line(format_args!("unwitnessed since row {}, {since:.0}", witnessed + 1));
        }
        (0, None) => {}
        (_, None) => out.line("witnessed up to the last row"),
    }
}
