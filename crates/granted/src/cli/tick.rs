//! `granted tick`

use super::args::book;
use super::failure::Failure;
use super::out::Out;
use crate::decision::tick::{Named, tick};
use crate::render;

/// Record the grants that expired and the acts that were cut off; for a timer.
///
/// Writes one `expired` row for each grant whose window closed without its being spent, settles
/// acts that were cut off, and names the grants in the last tenth of their window. Prints nothing
/// when there is nothing to say.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {}

const AFTER_HELP: &str = "\
Example, in a crontab:
  */15 * * * * $HOME/.local/bin/granted tick";

pub(crate) fn run(_: Args, out: &Out) -> Result<u8, Failure> {
    let book = book(out)?;
    let ticked = tick(&book)?;
    if out.is_json() {
        out.value(&ticked);
        return Ok(0);
    }
    let now = book.now();
    let end = |named: &Named| render::time(named.not_after, now);
    let say = |word: &str, named: &Named, more: String| {
        out.line(format_args!("{word:<11} {} (grant {}): {more}", named.object, named.grant_id));
    };
    for named in &ticked.expired {
        say("expired", named, format!("its window closed at {}", end(named)));
    }
    for named in &ticked.interrupted {
        let id = named.discharge_id.map(|id| id.to_string()).unwrap_or_default();
        let look = format!("attempt {id} was cut off; say what you find: granted resolve {id}");
        say("interrupted", named, look);
    }
    for named in &ticked.due {
        say("due", named, format!("it ends at {}", end(named)));
    }
    for request in &ticked.requests {
        let who = request.agent.as_ref().map_or_else(|| "you".to_owned(), ToString::to_string);
        out.line(format_args!(
            "expired     request {} ({who}): nobody approved it in time",
            request.id
        ));
    }
    for orphan in &ticked.orphans {
        out.line(format_args!(
            "orphan      {}: a document with no row; it grants nothing",
            granted_core::text::Shown(orphan)
        ));
    }
    Ok(0)
}
