//! The paths: who could write each of them, and what is there in its place.

use granted_core::decision::document::MAX_DOCUMENT;
use granted_store::custody::{Folder, Kept};
use granted_store::open;

use super::Check;
use crate::config::Config;
use crate::home::{CONFIG, Home};
use crate::keys;

const FOLDER: &str = "a folder that only you and root can write";
pub(super) const FILE: &str = "a plain file that only you and root can write";
const FILES: &str = "plain files that only you and root can write";

/// The home, and the config as far as it can be read.
pub(super) fn home_and_config(home: &Home) -> (Vec<Check>, Option<Config>) {
    let root = folder("home", home.folder());
    let path = home.config();
    let check = Check::new("config", Some(&path), FILE);
    let (config, read) = match home.folder().file(CONFIG, open::read_at) {
        Err(e) => (check.not_opened(&e), None),
        Ok(kept) => {
            let check = own(check, &kept);
            match Config::read(kept.handle, &path) {
                Ok(config) => (check, Some(config)),
                Err(e) => (check.wrong(e, None), None),
            }
        }
    };
    (vec![root, config], read)
}

/// The ledger and what lies beside it.
pub(super) fn beside_the_ledger(home: &Home) -> Vec<Check> {
    let place = home.ledger_folder();
    let mut checks = Vec::new();
    if place.path() != home.root() {
        checks.push(folder("ledger's folder", &place));
    }
    let check = Check::new("ledger", Some(home.ledger()), FILE);
    let name = home.ledger().file_name().unwrap_or_default();
    checks.push(match place.file(name, open::read_at) {
        Err(e) => check.not_opened(&e),
        Ok(kept) => own(check, &kept),
    });
    checks
        .extend(["index", "acts", "blobs", "notices"].map(|name| folder(name, &place.join(name))));
    checks
}

/// The folder of the documents, and the folder of each type in it.
pub(super) fn documents(home: &Home) -> Vec<Check> {
    let place = home.documents_folder();
    let mut checks = vec![folder("grants", &place)];
    let mut types: Vec<String> =
        place.open().ok().and_then(|kept| open::names(kept.handle).ok()).unwrap_or_default();
    types.sort();
    let of_one_type = |name: &String| {
        let of = ("documents", ".json", MAX_DOCUMENT);
        files(&format!("grants/{name}"), &place.join(name), of)
    };
    checks.extend(types.iter().map(of_one_type));
    checks
}

/// The person's key files.
pub(super) fn keys(home: &Home) -> Check {
    let of = ("keys", keys::ENDING, keys::MAX_FILE);
    files(keys::FOLDER, &home.folder().join(keys::FOLDER), of)
}

/// The files of a folder that end so, each of at most so many bytes.
fn files(name: &str, place: &Folder, (what, ending, max): (&str, &str, usize)) -> Check {
    let check = Check::new(name, Some(place.path()), FILES);
    let kept = match place.open() {
        Ok(kept) => kept,
        Err(e) => return check.not_opened(&e),
    };
    let names = match open::names(&kept.handle) {
        // Others are read by nothing.
        Ok(names) => names.into_iter().filter(|name| name.ends_with(ending)).collect::<Vec<_>>(),
        Err(e) => return check.wrong(format!("`{}`: {e}", place.path().display()), None),
    };
    let problem = |name: &String| {
        let check = Check::new(name.as_str(), None, FILE);
        let check = match kept.file(name, open::read_at) {
            Err(e) => check.not_opened(&e),
            Ok(file) if usize::try_from(file.size()).is_ok_and(|size| size <= max) => {
                own(check, &file)
            }
            Ok(file) => {
                let problem = format!("`{}` has over {max} bytes", file.path.display());
                check.wrong(problem, None)
            }
        };
        check.problem.map(|problem| (problem, check.mend))
    };
    let mut problems = names.iter().filter_map(problem);
    let first = problems.next();
    let more = problems.count();
    let check = own(check.found(format!("{what}: {}", names.len())), &kept);
    match first {
        None => check,
        Some((problem, mend)) => match more {
            0 => check.wrong(problem, mend),
            more => check.wrong(format!("{problem}; {more} more are no better"), mend),
        },
    }
}

/// A folder. That it is not there yet is no problem.
fn folder(name: &str, place: &Folder) -> Check {
    let check = Check::new(name, Some(place.path()), FOLDER);
    match place.open() {
        Err(e) => check.not_opened(&e),
        // Its own, and that of the place where it lies.
        Ok(kept) if place.is_home() => check.held_to(kept.breach),
        Ok(kept) => own(check, &kept),
    }
}

/// What is wrong with an open file or folder, whatever lies above it.
pub(super) fn own<T>(check: Check, kept: &Kept<T>) -> Check {
    check.held_to(kept.own_breach())
}
