//! `granted key new`

use std::io;

use granted_core::trust::Change;

use super::super::args::person_book;
use super::super::failure::Failure;
use super::super::out::Out;
use super::super::sign_with::NO_KEY_LEFT;
use super::KeyJson;
use crate::decision::trust::{change, trust};
use crate::keys::{self, KeyName};
use crate::terminal::Terminal;

/// Make a key, sealed with a password of at least 8 characters that you type twice.
///
/// The first key of a book is trusted at once. Later ones are trusted by `granted key trust`, which a
/// trusted key signs.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// What its file is called: 1 to 64 of A-Z a-z 0-9 . _ -
    #[arg(value_name = "NAME")]
    name: KeyName,
}

const AFTER_HELP: &str = "\
Example:
  granted key new ada";

pub(crate) fn run(args: Args, out: &Out) -> Result<u8, Failure> {
    let book = person_book("key new", out)?;
    let (home, name) = (book.home(), &args.name);
    let path = keys::path(home, name);
    let exists = || Failure::refused(format!("`{}` is there already", path.display()));
    if keys::names(home).map_err(Failure::input)?.contains(name) {
        return Err(exists());
    }
    let password = Terminal::open()?.new_password(&format!("key `{name}`"))?;
    let secret = keys::generate().map_err(Failure::system)?;
    keys::create(home, name, &secret, &password).map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => exists(),
        _ => Failure::at(&path, &e),
    })?;
    let key = secret.public();
    if !trust(&book)?.has_begun() {
        let first = Change::Trust(key.clone(), name.name().clone());
        change(&book, &first, |_, _| Err(Failure::refused("another key was trusted meanwhile")))
            .map_err(|e| {
                e.hint(format!("the key is made; to have it trusted: granted key trust {name}"))
            })?;
    }
    let trust = trust(&book)?;
    let trusted = trust.key(key.id());
    if out.is_json() {
        let untrusted = KeyJson::untrusted(key, name.name());
        out.value(&trusted.map_or(untrusted, KeyJson::trusted));
        return Ok(0);
    }
    out.line(format_args!("key {}  {}", key.id(), key.fingerprint()));
    out.line(format_args!("{key} {name}"));
    out.remark(format_args!("its file is `{}`", path.display()));
    match trusted {
        Some(_) => {
            out.remark("it is trusted from now on, as the first key of this book");
            out.remark("to have only grants used that are signed: granted trust mode signed");
        }
        None if trust.keys().is_empty() => out.remark(format_args!("note: {NO_KEY_LEFT}")),
        None => out.remark(format_args!("to have it trusted: granted key trust {name}")),
    }
    Ok(0)
}
