//! Arguments that several verbs share, and how their texts are read.

use std::time::Duration;

use granted_core::decision::Object;
use granted_core::ledger::Door;
use granted_core::text::{ObjectId, ObjectType, Shown};
use granted_core::time::{Stamp, parse_duration};

use super::failure::Failure;
use super::out::Out;
use crate::book::Book;
use crate::home::{self, Home};

/// The object that a verb is about.
#[derive(clap::Args)]
pub(crate) struct ObjectArgs {
    /// The object's type: 1 to 64 of A-Z a-z 0-9 . _ -
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) r#type: ObjectType,
    /// The object's id: 1 to 256 characters that are shown as they are.
    #[arg(long, value_name = "ID")]
    pub(crate) id: ObjectId,
}

impl From<Object> for ObjectArgs {
    fn from(object: Object) -> ObjectArgs {
        ObjectArgs { r#type: object.r#type, id: object.id }
    }
}

impl From<ObjectArgs> for Object {
    fn from(args: ObjectArgs) -> Object {
        Object { id: args.id, r#type: args.r#type }
    }
}

/// Reads an instant with a zone.
pub(crate) fn instant(text: &str) -> Result<Stamp, String> {
    Stamp::parse(text).map_err(|e| e.to_string())
}

/// Reads a duration.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text)
        .ok_or_else(|| "a duration is a whole number above 0 and one of s, m, h, d, such as 24h; at most 36500d".to_owned())
}

/// Opens the book that the environment names. What a verb comes upon in it is told when all is
/// printed.
pub(crate) fn book(out: &Out) -> Result<Book, Failure> {
    let book = Book::open(Home::from_env()?, Door::Cli);
    out.tell_later(&book.news);
    Ok(book)
}

/// Opens the book for a verb that shows what the ledger says, and says so if somebody else could have
/// written that.
pub(crate) fn reading_book(out: &Out) -> Result<Book, Failure> {
    let book = book(out)?;
    if let Some(breach) = book.home().ledger_breach() {
        out.remark(format_args!(
            "note: {}: what it says may be another's",
            Shown(&breach.to_string())
        ));
        out.remark(format_args!("hint: {}", Shown(&breach.mend())));
    }
    Ok(book)
}

/// Opens the book for a verb that only a person uses. It is kept from executors and notifiers by
/// mistake, not from an attacker.
pub(crate) fn person_book(verb: &str, out: &Out) -> Result<Book, Failure> {
    person(verb)?;
    book(out)
}

/// Refuses a person's verb inside an executor and a notifier.
pub(crate) fn person(verb: &str) -> Result<(), Failure> {
    for (variable, what) in
        [("GRANTED_DISCHARGE_ID", "an executor"), ("GRANTED_NOTICE_EVENT", "a notifier")]
    {
        if home::var(variable).is_some() {
            return Err(Failure::refused(format!(
                "`granted {verb}` is a person's verb, and this is {what} ({variable} is set)"
            )));
        }
    }
    Ok(())
}
