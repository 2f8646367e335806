//! `granted tick`

use super::args::book;
use super::failure::Failure;
use super::out::Out;
use crate::decision::tick::{Named, tick};
use crate::render;

/// Record what only time brings about; for a timer.
///
/// Writes one `expired` row for each grant whose window closed without its being spent, settles
/// acts that were cut off, and names the grants in the last tenth of their window. Prints nothing
/// when there is nothing to say.
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: Args, out: &Out) -> Result<u8, Failure> {
    let book = book()?;
    let ticked = tick(&book)?;
    if out.is_json() {
        out.value(&ticked);
        return Ok(0);
    }
    let now = book.now();
    let say = |word: &str, named: &Named| {
        let end = render::time(named.not_after, now);
        let attempt = named.discharge_id.map(|id| format!(", attempt {id}")).unwrap_or_default();
        out.line(format_args!("{word} {} ({}{attempt}): {end}", named.object, named.grant_id));
    };
    ticked.expired.iter().for_each(|named| say("expired", named));
    ticked.interrupted.iter().for_each(|named| say("interrupted", named));
    ticked.due.iter().for_each(|named| say("due", named));
    for orphan in &ticked.orphans {
        out.line(format_args!(
            "orphan {}: a document with no row; it grants nothing",
            granted_core::text::Shown(orphan)
        ));
    }
    Ok(0)
}
