//! `granted status`

use granted_core::decision::document::Standing;
use granted_core::decision::event::Resolved;
use granted_core::decision::grant::ReceiptOutcome;
use granted_core::decision::{Class, Object, Status};
use granted_core::id::Id;
use granted_core::ledger::{Event, Row, Subject};
use granted_core::text::Shown;
use granted_core::time::Stamp;

use super::args::{ObjectArgs, reading_book};
use super::failure::Failure;
use super::out::{Mark, Out};
use crate::book::Book;
use crate::decision::status::{LAST_ROWS, SignedBy, View, of_object};
use crate::render;

/// Say whether an object can be discharged now: live, none, consumed, not_yet, expired, unreadable
/// or revoked.
///
/// Writes nothing. Exit code 0 live, 5 expired, 3 the others.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    object: ObjectArgs,
}

const AFTER_HELP: &str = "\
Example:
  granted status --type report --id 2026-09-30 && echo \"an agent may go ahead\"";

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let book = reading_book(out)?;
    let object = Object::from(args.object);
    let view = of_object(&book, &object)?;
    if out.is_json() {
        out.value(&view.json(LAST_ROWS));
    } else {
        out.line(format_args!("{} {object}{}", word(view.status, out), aside(&view, &book)));
        for line in view.last(LAST_ROWS).iter().map(render::row) {
            out.line(line);
        }
    }
    Ok(code(view.status))
}

/// The exit code of a status.
pub(super) fn code(status: Status) -> u8 {
    match status {
        Status::Live => 0,
        Status::Expired => 5,
        _ => 3,
    }
}

/// The status as it is shown.
pub(super) fn word(status: Status, out: &Out) -> String {
    out.marked(status, mark(status))
}

/// How a status is marked.
pub(super) fn mark(status: Status) -> Mark {
    match status {
        Status::Live => Mark::Good,
        Status::Unreadable => Mark::Bad,
        _ => Mark::Doubt,
    }
}

/// When it was taken back.
fn revoked(view: &View, now: Stamp) -> String {
    let row = view.rows.iter().rev().find(|row| matches!(row.event, Event::Revoked(_)));
    row.map(|row| format!("taken back at {}", render::time(row.at, now))).unwrap_or_default()
}

/// Of an uncertain attempt, what the person found, or that nobody has looked yet.
fn settled(view: &View, outcome: Class, attempt: Id) -> String {
    let of_attempt = |row: &&Row| row.refs.iter().any(|(s, _)| *s == Subject::discharge(attempt));
    let resolved = view.rows.iter().filter(of_attempt).find_map(|row| match &row.event {
        Event::Resolved(resolved) => Some(resolved),
        _ => None,
    });
    match (outcome, resolved) {
        (Class::Uncertain, None) => format!("; say what you find: granted resolve {attempt}"),
        (_, Some(Resolved { happened: true, by, .. })) => format!("; it happened, says {by}"),
        (_, Some(Resolved { happened: false, by, .. })) => {
            format!("; it did not happen, says {by}")
        }
        (_, None) => String::new(),
    }
}

/// The trusted keys that signed the grant.
pub(super) fn signers(view: &View) -> String {
    let signer = |by: &SignedBy| format!("`{}` ({})", by.name, by.key);
    view.signed_by.iter().map(signer).collect::<Vec<_>>().join(", ")
}

/// What the status leaves open, in a few words.
pub(super) fn aside(view: &View, book: &Book) -> String {
    let now = book.now();
    let Some(grant) = &view.grant else {
        return format!(": there is no grant for it in `{}`", book.home().ledger().display());
    };
    let more = match (view.status, &grant.receipt, &view.standing) {
        (Status::Live, ..) => format!("until {}", render::time(grant.not_after, now)),
        (Status::NotYet, ..) => {
            format!("from {}", render::time(grant.not_before.unwrap_or(grant.minted_at), now))
        }
        (Status::Expired, ..) => format!("since {}", render::time(grant.not_after, now)),
        (Status::Consumed, Some(receipt), _) => match (receipt.outcome, receipt.reason) {
            (ReceiptOutcome::Ended(outcome), Some(reason)) => {
                let at = render::time(receipt.at, now);
                format!(
                    "{outcome}: {reason} at {at}{}",
                    settled(view, outcome, receipt.discharge_id)
                )
            }
            _ => format!("claimed at {}", render::time(receipt.at, now)),
        },
        (Status::Consumed, None, Some(Standing::Spent)) => "its document says so".into(),
        (Status::Revoked, ..) => revoked(view, now),
        (Status::None, ..) => "its document is gone".into(),
        (Status::Unreadable, _, Some(Standing::Unreadable(why))) => Shown(why).to_string(),
        _ => String::new(),
    };
    let act = match (view.running, view.interrupted) {
        (Some(id), _) => format!("attempt {id} runs"),
        (_, Some(id)) => format!("attempt {id} was cut off; `granted tick` records it"),
        _ => String::new(),
    };
    let signed = match signers(view) {
        signed if signed.is_empty() => signed,
        signed => format!("signed with {signed}"),
    };
    let parts = [more, signed, act].into_iter().filter(|part| !part.is_empty());
    let parts = parts.collect::<Vec<_>>().join("; ");
    if parts.is_empty() { parts } else { format!(": {parts}") }
}
