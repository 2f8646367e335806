//! `granted inbox`

use std::collections::HashSet;
use std::time::Duration;

use granted_core::text::Shown;
use granted_core::time::{Relative, Stamp};

use super::args::reading_book;
use super::failure::Failure;
use super::out::{Mark, Out};
use crate::clock;
use crate::inbox::{Waiting, What, inbox};

/// List what waits for you, the oldest first, each with the command for it.
///
/// Attempts of which nobody knows whether they happened, change sets and payments to approve, and those that
/// were cut off or are unresolved.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Go on, and print each thing that comes.
    #[arg(long)]
    watch: bool,
}

const AFTER_HELP: &str = "\
Example:
  granted inbox --watch";

/// How often the ledger is looked at.
const PAUSE: Duration = Duration::from_millis(500);

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let book = reading_book(out)?;
    let mut told: HashSet<(String, &str)> = HashSet::new();
    let mut seen = None;
    loop {
        let head = book.ledger.head()?.map(|head| head.hash);
        // What a process that died left shows without a row.
        let waiting = inbox(&book)?;
        for waiting in &waiting {
            if told.insert((waiting.id.clone(), waiting.what.as_str())) {
                say(waiting, book.now(), out);
            }
        }
        if !args.watch {
            if waiting.is_empty() && !out.is_json() {
                out.remark("nothing waits for you");
            }
            return Ok(0);
        }
        if seen.is_none() && waiting.is_empty() && !out.is_json() {
            out.remark("nothing waits for you yet");
        }
        seen = Some(head);
        while !out.is_closed() && seen == Some(book.ledger.head()?.map(|head| head.hash)) {
            clock::pause(PAUSE);
        }
        if out.is_closed() {
            return Ok(0);
        }
    }
}

fn say(waiting: &Waiting, now: Stamp, out: &Out) {
    if out.is_json() {
        return out.value(waiting);
    }
    let mark = match waiting.what {
        What::Staged | What::Asked => Mark::Good,
        What::Uncertain | What::Outside | What::Unsent | What::CutOff | What::Unresolved => {
            Mark::Doubt
        }
    };
    let ends = waiting.ends.map(|end| format!(", ends {}", Relative { stamp: end, now }));
    out.line(format_args!(
        "{} {}  {} ({}{})\n           {}",
        out.marked(format_args!("{:<10}", waiting.what.as_str()), mark),
        waiting.id,
        Shown(&waiting.about),
        Relative { stamp: waiting.since, now },
        ends.unwrap_or_default(),
        waiting.command
    ));
}
