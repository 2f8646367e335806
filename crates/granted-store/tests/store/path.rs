//! What else may lie where the ledger should, and what happens to its path meanwhile.

use std::path::Path;
use std::time::Duration;

use granted_core::store::{AppendError, Ledger, NotWritten, ReadError};
use granted_store::FileLedger;
use granted_testkit::{contract, sample};
use rustix::fs::{CWD, FileType, Mode};

use super::home::Home;

fn refuses(home: &Home, path: &Path, what: &str) {
    let ledger = FileLedger::new(path, home.clock.clone(), sample::by());
    let says = |text: &str| {
        assert!(text.contains(what) && text.contains(path.to_str().unwrap()), "{text}");
    };
    match ledger.head() {
        Err(ReadError::Unreadable(why)) => says(&why),
        other => panic!("{other:?}"),
    }
    match ledger.append(&[sample::opened()]) {
        Err(AppendError::NotWritten(NotWritten::Unwritable(why))) => says(&why),
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_a_regular_file_is_a_ledger() {
    let home = Home::new();
    home.minted(1);
    refuses(&home, home.dir.path(), "a directory");
    let fifo = home.dir.path().join("fifo");
    rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    refuses(&home, &fifo, "a FIFO");
    refuses(&home, Path::new("/dev/full"), "a device");
    let link = home.dir.path().join("link");
    std::os::unix::fs::symlink(home.path(), &link).unwrap();
    refuses(&home, &link, "a symbolic link");
    let dangling = home.dir.path().join("dangling");
    std::os::unix::fs::symlink(home.dir.path().join("nowhere"), &dangling).unwrap();
    refuses(&home, &dangling, "a symbolic link");
}

#[test]
fn the_folder_may_be_reached_through_a_link_and_is_made() {
    let home = Home::new();
    let real = home.dir.path().join("real");
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, home.dir.path().join("link")).unwrap();
    let path = home.dir.path().join("link/a/b/ledger.jsonl");
    let ledger = FileLedger::new(&path, home.clock.clone(), sample::by());
    ledger.append(&[sample::opened()]).unwrap();
    let mode = |path: &Path| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn a_file_put_in_its_place_is_honoured() {
    let home = Home::new();
    let ledger = home.minted(3);
    let other = Home::new();
    other.minted(1);
    let copy = home.dir.path().join("copy");
    std::fs::copy(other.path(), &copy).unwrap();
    std::fs::rename(&copy, home.path()).unwrap();
    assert_eq!(ledger.append(&[sample::revoked(3, 4)]), Err(AppendError::Conflict));
    ledger.append(&[sample::revoked(1, 2)]).unwrap();
    assert_eq!(contract::check_chain(&ledger).len(), 3);
    std::fs::remove_file(home.path()).unwrap();
    assert_eq!(ledger.append(&[sample::revoked(1, 3)]), Err(AppendError::Conflict));
    ledger.append(&[sample::opened()]).unwrap();
    assert_eq!(contract::check_chain(&ledger).len(), 1);
}

#[test]
fn a_lock_that_is_held_is_named_after_a_while() {
    let home = Home::new();
    let ledger = home.minted(1).with_patience(Duration::from_millis(50));
    let file = std::fs::File::open(home.path()).unwrap();
    file.lock().unwrap();
    let Err(AppendError::NotWritten(NotWritten::Unwritable(why))) =
        ledger.append(&[sample::minted(2, 0)])
    else {
        panic!()
    };
    let pid = format!("pid {}", std::process::id());
    assert!(why.contains("locked by another process") && why.contains(&pid), "{why}");
    assert!(why.contains(home.path().to_str().unwrap()));
    // Readers never lock.
    assert_eq!(ledger.rows(&sample::grant_subject(1)).unwrap().len(), 1);
    file.unlock().unwrap();
    ledger.append(&[sample::minted(2, 0)]).unwrap();
}
