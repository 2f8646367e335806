use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use granted_core::store::Ledger as _;
use granted_testkit::{FixedClock, sample};

use super::run::{Covers, Writer};
use super::*;
use crate::FileLedger;
use crate::file::lines::line_before;

/// A run that fits the ledger and leaves the row of a claim out.
#[test]
fn a_run_that_somebody_else_could_have_written_hides_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger.jsonl");
    let ledger = FileLedger::new(&path, Arc::new(FixedClock::default()), sample::by());
    ledger.append(&[sample::opened()]).unwrap();
    ledger.append(&[sample::minted(7, 0)]).unwrap();
    ledger.append(&[sample::intent(100, 7, 2)]).unwrap();
    let rows = || ledger.rows(&sample::grant_subject(7)).unwrap().len();
    assert_eq!(rows(), 2);

    let file = open::read(&path).unwrap();
    let (_, to) = Identity::of(&file).unwrap();
    let (last_offset, line) = line_before(&file, to).unwrap().unwrap();
    let book = first_line(&file, to).unwrap();
    let covers = Covers { from: 0, to, last_offset, seq: 3, hash: Digest::of(&line), book };
    let folder = Folder::new(dir.path()).join("index");
    folder.make().unwrap();
    open::replace(folder.path(), &covers.name(), |file| Writer::new(file).finish(&covers)).unwrap();
    assert_eq!(rows(), 0, "whoever writes the index is believed");

    let set = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let run = folder.path().join(covers.name());
    for path in [folder.path(), &run] {
        let mode = std::fs::metadata(path).unwrap().permissions().mode();
        for open_to in [0o020, 0o002] {
            set(path, mode | open_to);
            // As another process finds it: a folder does not change with a file in it.
            let ledger = FileLedger::new(
                dir.path().join("ledger.jsonl"),
                Arc::new(FixedClock::default()),
                sample::by(),
            );
            assert_eq!(
                ledger.rows(&sample::grant_subject(7)).unwrap().len(),
                2,
                "{}",
                path.display()
            );
            set(path, mode);
        }
    }
    // Nor is anything written there.
    set(folder.path(), 0o770);
    ledger.append(&[sample::minted(8, 0)]).unwrap();
    ledger.tidy();
    assert_eq!(open::names(folder.open().unwrap().handle).unwrap(), [covers.name()]);
}
