//! `granted writes approve`

use std::collections::VecDeque;

use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::text::Note;
use granted_core::write::decide::{Denied, NotNow};
use granted_core::write::{Refusal, RequestState, Status};
use granted_exec::Stop;

use super::super::args::person_book;
use super::super::failure::{Failure, Kind};
use super::super::out::Out;
use super::request::{For, RequestJson, about, diffs, hand, looked_at, named, settled, stands};
use crate::book::Book;
use crate::terminal::Terminal;
use crate::write::approve::{WordError, approve};
use crate::write::gather;
use crate::write::list::open;
use crate::write::show::FileView;

/// Approve change sets: each is checked again, as the files and gates are now, and applied.
///
/// On a terminal each is shown first, and you are asked; what is applied is what was shown. In a script
/// name each with the digest that `granted writes show` prints.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP, group = clap::ArgGroup::new("which").args(["request", "all"]).required(true))]
pub(crate) struct Args {
    /// The change sets' ids, or as much of their beginnings as no other has.
    #[arg(value_name = "REQUEST")]
    request: Vec<String>,
    /// All that wait, the oldest first.
    #[arg(long, conflicts_with = "digest")]
    all: bool,
    /// The digest of what is approved; once for each request, in their order. Nothing is asked then.
    #[arg(long, value_name = "SHA256", value_parser = digest)]
    digest: Vec<Digest>,
    /// Whose hand this is [default: your login name, or user id].
    #[arg(long, value_name = "WHO")]
    by: Option<Note>,
}

const AFTER_HELP: &str = "\
Examples:
  granted writes approve --all
  granted writes approve 01J8ZC3V9Q6W5T4R3E2W1Q0PAS --digest 4d2f…";

fn digest(text: &str) -> Result<Digest, String> {
    Digest::parse(text).ok_or_else(|| "a digest is 64 lower-case hexadecimal digits".to_owned())
}

pub(super) fn run(args: &Args, out: &Out) -> Result<u8, Failure> {
    let book = person_book("writes approve", out)?;
    if !args.digest.is_empty() && args.digest.len() != args.request.len() {
        return Err(Failure::usage("say --digest once for each request"));
    }
    let by = hand(args.by.as_ref(), &book)?;
    let seen_to = settled(&book, out);
    let ids: Vec<Id> = match args.all {
        true => waiting(&book)?,
        false => args
            .request
            .iter()
            .map(|text| named(&book, text, For::Open))
            .collect::<Result<_, _>>()?,
    };
    if ids.is_empty() {
        out.remark("no request waits");
        return Ok(0);
    }
    if args.digest.is_empty() {
        for id in &ids {
            gather::request(&book, *id)?.ok_or(WordError::Unknown(*id))?;
        }
    }
    let stop = Stop::new().map_err(Failure::system)?;
    let terminal = match args.digest.is_empty() {
        true => Some(Terminal::open().map_err(|e| {
            Failure::from(e).hint("in a script: granted writes approve REQUEST --digest SHA256")
        })?),
        false => None,
    };
    let mut digests = VecDeque::from(args.digest.clone());
    let mut code = 0;
    for id in ids {
        let earlier = seen_to.iter().find(|state| state.id == id);
        if let Some(state) = earlier.filter(|state| state.status == Status::Applied) {
            // It was cut off after the person's yes, and is what was approved then.
            digests.pop_front();
            applied(state, out);
            continue;
        }
        let digest = match &terminal {
            Some(terminal) => shown_and_agreed(&book, id, terminal, out),
            None => digests.pop_front().ok_or_else(|| Failure::usage("a digest is missing")),
        };
        // One that does not go through keeps none of the others from it.
        if let Err(failure) = digest.and_then(|digest| one(&book, id, digest, &by, &stop, out)) {
            code = out.failure(&failure).max(code);
            if failure.kind == Kind::Stopped {
                break;
            }
        }
    }
    Ok(code)
}

fn waiting(book: &Book) -> Result<Vec<Id>, Failure> {
    let states = open(&*book.ledger)?;
    let waiting = states.iter().filter(|state| state.is_waiting(book.now()));
    Ok(waiting.map(|state| state.id).collect())
}

/// Shows a change set on the terminal and asks; the digest of what was shown.
fn shown_and_agreed(
    book: &Book,
    id: Id,
    terminal: &Terminal,
    out: &Out,
) -> Result<Digest, Failure> {
    let (state, views) = looked_at(book, id)?;
    let waits = matches!(state.status, Status::Staged | Status::Unresolved);
    let Some(request) = state.request().filter(|_| waits) else {
        return Err(WordError::from(NotNow::Status(id, state.status)).into());
    };
    for line in about(&state, &views, book.now()).into_iter().chain(diffs(&views, out)) {
        terminal.line(&line)?;
    }
    // Against files that have moved on the diff is not what is asked for, and it would be refused.
    let stale = views.iter().find(|view| view.stale).filter(|_| state.status == Status::Staged);
    if let Some(FileView { change, .. }) = stale {
        let path = &change.path;
        let message = format!("request {id} is stale: `{path}` is not what it is based on");
        return Err(Failure::refused(message)
            .hint(format!("it waits as before; to end it: granted writes reject {id}")));
    }
    terminal.line(&format!("digest     {}", request.digest))?;
    match terminal.confirm("apply this?")? {
        true => Ok(request.digest),
        false => Err(Failure::new(Kind::Declined, format!("request {id} waits as before"))),
    }
}

fn one(
    book: &Book,
    id: Id,
    digest: Digest,
    by: &Note,
    stop: &Stop,
    out: &Out,
) -> Result<(), Failure> {
    let state = match approve(book, id, digest, by, stop) {
        Ok(state) => state,
        Err(error) => {
            if let WordError::Not(NotNow::Denied(_, Denied { reason, .. })) = &error
                && *reason == Refusal::StaleBase
                && !out.is_json()
            {
                // Against the files as they are now.
                let (_, views) = looked_at(book, id)?;
                out.line(diffs(&views, out).join("\n"));
            }
            return Err(error.into());
        }
    };
    if state.status != Status::Applied {
        return Err(Failure::refused(stands(&state)).hint(format!("granted writes show {id}")));
    }
    applied(&state, out);
    Ok(())
}

fn applied(state: &RequestState, out: &Out) {
    match out.is_json() {
        true => out.value(&RequestJson::new(state, &[])),
        false => out.line(stands(state)),
    }
}
