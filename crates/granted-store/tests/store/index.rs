//! The index agrees with the ledger, and whatever is wrong with it only makes it longer to look.

use std::ops::ControlFlow;

use granted_core::ledger::event::What;
use granted_core::ledger::{Draft, Row, Subject};
use granted_core::store::{AppendError, Ledger, NotWritten};
use granted_store::FileLedger;
use granted_testkit::{contract, sample};
use proptest::prelude::*;

use super::home::Home;

/// Appends so many grants, in a few appends.
fn mint(ledger: &dyn Ledger, from: u64, count: u64) {
    let drafts: Vec<Draft> = (from..from + count).map(|n| sample::minted(n, 0)).collect();
    for drafts in drafts.chunks(97) {
        ledger.append(drafts).unwrap();
    }
}

/// Grants 1 to 1,200, about 750 KiB, with runs over most of it.
fn grown() -> (Home, FileLedger) {
    let home = Home::new();
    home.minted(0);
    let ledger = home.quick();
    mint(&ledger, 1, 1_200);
    assert!(home.runs().len() >= 2, "{:?}", home.runs());
    (home, ledger)
}

/// The rows of these grants, found and by brute force.
fn agrees(ledger: &dyn Ledger, grants: impl Iterator<Item = u64>) {
    let mut rows = Vec::new();
    let end = ledger.scan(1, &mut |line| {
        rows.push(Row::parse(line.bytes).unwrap());
        ControlFlow::Continue(())
    });
    assert_eq!(end, Ok(None));
    let expected = |subject: &Subject| -> Vec<u64> {
        rows.iter().filter(|row| row.moves(subject).is_some()).map(|row| row.seq).collect()
    };
    for number in grants {
        for subject in [sample::grant_subject(number), sample::object_subject(number)] {
            let found: Vec<u64> =
                ledger.rows(&subject).unwrap().iter().map(|row| row.seq).collect();
            assert_eq!(found, expected(&subject), "{subject}");
        }
    }
}

#[test]
fn grows_and_finds() {
    let (home, ledger) = grown();
    for opened in [&ledger, &home.ledger()] {
        agrees(opened, (1..1_300).step_by(13));
        for seq in [1, 2, 500, 1_201] {
            assert_eq!(opened.row(seq).unwrap().unwrap().seq, seq);
        }
        assert_eq!(opened.row(1_202), Ok(None));
    }
    // Guards look there too.
    assert_eq!(home.ledger().append(&[sample::minted(7, 0)]), Err(AppendError::Conflict));
    home.ledger().append(&[sample::revoked(7, 8)]).unwrap();
    assert_eq!(ledger.append(&[sample::revoked(7, 8)]), Err(AppendError::Conflict));
}

#[test]
fn merging_leaves_few_runs_and_finds_the_same() {
    let home = Home::new();
    home.minted(0);
    let ledger = home.quick();
    mint(&ledger, 1, 6_000);
    std::fs::write(home.index().join(".left.tmp"), b"over").unwrap();
    let other = home.ledger();
    agrees(&other, (1..6_100).step_by(601));
    ledger.tidy();
    assert!(home.runs().len() <= 5, "{:?}", home.runs());
    assert!(home.runs().iter().all(|run| run.extension().unwrap() == "run"));
    for opened in [&ledger, &other, &home.ledger()] {
        agrees(opened, (1..6_100).step_by(601));
    }
    mint(&ledger, 7_000, 900);
    agrees(&other, 6_990..7_010);
}

#[test]
fn a_run_damaged_in_any_byte_is_not_there() {
    let (home, _) = grown();
    let runs = home.runs();
    for path in &runs {
        let whole = std::fs::read(path).unwrap();
        let places =
            (0..whole.len()).step_by(whole.len() / 23).chain(whole.len() - 240..whole.len());
        for place in places.step_by(7) {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x40;
            std::fs::write(path, &bytes).unwrap();
            let ledger = home.ledger();
            assert_eq!(ledger.condition(), Ok(Default::default()));
            for number in [1, 600, 1_200] {
                assert_eq!(ledger.rows(&sample::grant_subject(number)).unwrap().len(), 1);
            }
        }
        std::fs::write(path, &whole).unwrap();
    }
    // Cut short, emptied, deleted: each leaves a gap.
    let path = &runs[0];
    let whole = std::fs::read(path).unwrap();
    for length in [0, 1, 100, whole.len() - 1] {
        std::fs::write(path, &whole[..length]).unwrap();
        agrees(&home.ledger(), (1..1_210).step_by(201));
    }
    std::fs::remove_file(path).unwrap();
    let ledger = home.ledger();
    agrees(&ledger, (1..1_210).step_by(201));
    // An appender covers the gap again.
    mint(&ledger, 2_000, 1);
    assert!(
        home.runs().iter().any(|run| run
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with(&"0".repeat(16)))
    );
    agrees(&home.ledger(), (1..1_210).step_by(201));
    std::fs::remove_dir_all(home.index()).unwrap();
    agrees(&home.ledger(), (1..1_210).step_by(201));
}

#[test]
fn a_damaged_page_is_removed_by_the_next_appender() {
    let (home, _) = grown();
    let path = home.runs()[0].clone();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let ledger = home.ledger();
    mint(&ledger, 2_000, 1);
    assert_ne!(std::fs::read(&path).ok().as_deref(), Some(&bytes[..]));
    agrees(&home.ledger(), [1, 2, 2_000].into_iter());
}

#[test]
fn runs_of_another_book_are_not_there() {
    let (home, _) = grown();
    let other = Home::new();
    let ledger = other.ledger();
    let mut opened = sample::opened();
    opened.by.uid = 7;
    ledger.append(&[opened]).unwrap();
    mint(&ledger, 1, 1_300);
    for run in home.runs() {
        let name = run.file_name().unwrap();
        std::fs::copy(&run, other.index().join(format!("x{}", name.to_str().unwrap()))).unwrap();
    }
    assert_eq!(other.ledger().condition(), Ok(Default::default()));
    agrees(&other.ledger(), (1..1_210).step_by(201));
}

#[test]
fn a_ledger_behind_its_index_was_rolled_back() {
    let (home, _) = grown();
    let whole = home.bytes();
    let lines: Vec<&[u8]> = whole.split_inclusive(|b| *b == b'\n').collect();
    home.write(&lines[..98].concat());
    let ledger = home.ledger();
    let rollback = ledger.condition().unwrap().rollback;
    assert!(rollback.is_some_and(|rows| rows > 500), "{rollback:?}");
    let minted = ledger.append(&[sample::minted(9_000, 0)]);
    assert!(
        matches!(minted, Err(AppendError::NotWritten(NotWritten::RolledBack(_)))),
        "{minted:?}"
    );
    // What narrows is written.
    ledger.append(&[sample::revoked(1, 2)]).unwrap();
    // And however much is: the evidence stays.
    let accepted = ledger.accept(&mut |moved| {
        assert_eq!((moved.torn.clone(), moved.rollback), (None, rollback));
        Ok(vec![sample::accepted(vec![What::Rollback { rows: moved.rollback.unwrap() }])])
    });
    accepted.unwrap();
    assert_eq!(home.ledger().condition(), Ok(Default::default()));
    ledger.append(&[sample::minted(9_000, 0)]).unwrap();
    mint(&ledger, 10_000, 900);
    assert_eq!(contract::check_chain(&home.ledger()).len(), 98 + 3 + 900);
    assert!(home.moved().is_empty());
}

#[test]
fn a_ledger_that_differs_from_its_index_was_rolled_back() {
    let (home, _) = grown();
    // A longer history of the same book that took another turn.
    let other = Home::new();
    let ledger = other.minted(0);
    mint(&ledger, 5_000, 2_000);
    home.write(&other.bytes());
    assert!(home.ledger().condition().unwrap().rollback.is_some());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, failure_persistence: None, ..Default::default() })]

    /// Random histories over few grants, with merges and lost runs in between.
    #[test]
    fn lookups_agree_with_a_scan(steps in proptest::collection::vec((1_u64..40, 0_u8..20), 20..60)) {
        let home = Home::new();
        home.minted(0);
        let mut ledger = home.quick();
        let mut fresh = 1_000_000;
        for (grant, what) in steps {
            let seen = ledger.rows(&sample::grant_subject(grant)).unwrap().last().map_or(0, |r| r.seq);
            match what {
                0 => ledger.tidy(),
                1 => ledger = home.quick(),
                2 => {
                    let runs = home.runs();
                    if let Some(run) = runs.get(usize::try_from(grant).unwrap() % runs.len().max(1)) {
                        std::fs::remove_file(run).unwrap();
                    }
                }
                3..8 => {
                    ledger.append(&[sample::revoked(grant, seen)]).unwrap();
                }
                _ => {
                    mint(&ledger, fresh, 60);
                    fresh += 1_000;
                }
            }
        }
        agrees(&ledger, 1..40);
        agrees(&home.ledger(), 1..40);
    }
}
