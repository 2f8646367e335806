//! `granted key untrust`

use granted_core::text::{Note, Shown};
use granted_core::trust::{Change, KeyId, Trust};
use serde::Serialize;

use super::super::args::person_book;
use super::super::failure::Failure;
use super::super::out::Out;
use super::super::sign_with::NO_KEY_LEFT;
use crate::decision::trust::{change, trust};

/// Trust a key no more. This takes away, so nothing signs it.
///
/// What the key signed before stays what it was in the record; grants that it signed are used no more.
/// If no key is left, none can be trusted again in this book.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The key's id, or what this book calls it.
    #[arg(value_name = "KEY")]
    key: String,
    /// More, in words.
    #[arg(long, value_name = "TEXT")]
    note: Option<Note>,
}

const AFTER_HELP: &str = "\
Example:
  granted key untrust laptop --note \"it was stolen\"";

#[derive(Serialize)]
struct UntrustedJson {
    id: KeyId,
}

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let book = person_book("key untrust", out)?;
    let now = trust(&book)?;
    let id = named(&now, &args.key)
        .ok_or_else(|| Failure::refused(format!("no key `{}` is trusted", Shown(&args.key))))?;
    change(&book, &Change::Untrust(id, args.note), |_, _| {
        Err(Failure::refused("to untrust a key is not signed"))
    })?;
    match out.is_json() {
        true => out.value(&UntrustedJson { id }),
        false => out.line(format_args!("key {id} is trusted no more")),
    }
    if trust(&book)?.keys().is_empty() {
        out.remark(format_args!("note: {NO_KEY_LEFT}"));
    }
    Ok(0)
}

/// The trusted key with this id or name.
fn named(trust: &Trust, text: &str) -> Option<KeyId> {
    let id = text.parse().ok().filter(|id| trust.key(*id).is_some());
    let named = || trust.keys().iter().find(|trusted| trusted.name.as_str() == text);
    id.or_else(|| named().map(|trusted| trusted.key.id()))
}
