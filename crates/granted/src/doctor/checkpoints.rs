//! The book's key, and the checkpoints: the newest beside the ledger, and those of the witnesses.

use std::path::Path;

use granted_core::ledger::Door;
use granted_store::open::{self, OpenError};

use super::places::own;
use super::{ACCEPT, Check, aside};
use crate::book::Book;
use crate::home::Home;
use crate::ledger::checkpoint::{KEY, id, key as key_of, newest_path};
use crate::ledger::witness::{Standing, paths, standing, unwritable};

const CHECKPOINT: &str = "granted ledger checkpoint";

pub(super) fn checks(home: &Home) -> Vec<Check> {
    // Opening makes nothing.
    let book = Book::open(home.clone(), Door::Cli);
    let mut checks = vec![key(&book), newest(&book)];
    // Of a config that cannot be read there is a check.
    checks.extend(paths(&book).into_iter().flatten().map(|path| witness(&book, &path)));
    checks
}

fn key(book: &Book) -> Check {
    let place = book.home().ledger_folder();
    let path = place.path().join(KEY);
    let rule = "a plain file that only you and root can write, and only you can read";
    let check = Check::new("book.key", Some(&path), rule);
    let kept = match place.file(KEY, open::read_at) {
        Ok(kept) => kept,
        Err(OpenError::Missing(_)) if newest_path(book).exists() => {
            let problem = "it is gone, and the newest checkpoint was signed with it: put it back";
            return check.wrong(problem, Some(ACCEPT.into()));
        }
        Err(e) => return check.not_opened(&e),
    };
    let check = own(check, &kept).held_to(kept.leak());
    match id(book).map(|id| id.map(|id| key_of(book, id))) {
        Ok(Some(Err(e))) => check.wrong(e, None),
        // A ledger that cannot be read, or is empty, has a check of its own.
        _ => check,
    }
}

fn newest(book: &Book) -> Check {
    let path = newest_path(book);
    let check = Check::new("newest", Some(&path), "a checkpoint that the ledger goes on from");
    stands(book, &path, check, |check| check.found("none yet"))
}

fn witness(book: &Book, path: &Path) -> Check {
    let rule = "there, and holds a checkpoint that the ledger goes on from";
    let check = Check::new("witness", Some(path), rule);
    let folder = path.parent().unwrap_or(Path::new("/"));
    let check = stands(book, path, check, |check| match folder.is_dir() {
        true => check.wrong("it is missing", Some(CHECKPOINT.into())),
        false => check.wrong(format!("`{}`: there is no such folder", folder.display()), None),
    });
    match unwritable(path) {
        Some(why) => check.wrong(why, None),
        None => check,
    }
}

/// How the ledger stands to the checkpoint in a file.
fn stands(book: &Book, path: &Path, check: Check, missing: impl Fn(Check) -> Check) -> Check {
    let name = path.file_name().unwrap_or_default();
    match book.home().folder_of(path).file(name, open::read_at) {
        Ok(_) => {}
        Err(OpenError::Missing(_)) => return missing(check),
        Err(e) => return check.not_opened(&e),
    }
    match standing(book, path) {
        // The key and the ledger have checks of their own.
        Err(_) => check.found("not compared: the key or the ledger is of no use"),
        Ok(Standing::Missing) => missing(check),
        Ok(Standing::GoesOn(held)) => check.found(format!("rows: {}", held.size)),
        Ok(Standing::Unusable(why)) => check.wrong(why, Some(aside(path))),
        Ok(Standing::Against { why, .. }) => {
            check.wrong(format!("{why}: put the ledger back, or accept it"), Some(ACCEPT.into()))
        }
        Ok(Standing::Foreign(id)) => check.wrong(format!("it is of another book, {id}"), None),
    }
}
