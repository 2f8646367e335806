//! What a crash leaves, and what only damage leaves.

use granted_core::digest::Digest;
use granted_core::ledger::event::What;
use granted_core::ledger::{Draft, Event};
use granted_core::store::{AppendError, Appended, Damage, Ledger, NotWritten, Unfinished};
use granted_testkit::{contract, sample};

use super::home::Home;

/// The ledger cut at every byte of its last append.
fn cut_everywhere(last: &[Draft]) {
    let home = Home::new();
    let ledger = home.minted(2);
    let before = home.bytes().len();
    let appended = ledger.append(last).unwrap();
    let whole = home.bytes();
    drop(ledger);
    for cut in before..whole.len() {
        let home = Home::new();
        home.write(&whole[..cut]);
        let ledger = home.quick();
        let bytes = (cut - before) as u64;
        let unfinished = (bytes > 0).then_some(Unfinished { offset: before as u64, bytes });
        let mut seen = 0;
        let end = ledger.scan(1, &mut |_| {
            seen += 1;
            std::ops::ControlFlow::Continue(())
        });
        assert_eq!((end, seen), (Ok(unfinished), 3), "cut at {cut}");
        assert_eq!(ledger.head().unwrap().unwrap().seq, 3);
        assert_eq!(ledger.holds(&[&appended]), Ok(false));
        assert_eq!(ledger.rows(&sample::grant_subject(3)), Ok(vec![]));
        assert_eq!(ledger.condition(), Ok(Default::default()));
        assert_eq!(home.bytes(), whole[..cut], "reading changed the ledger");

        ledger.append(&[sample::minted(3, 0)]).unwrap();
        let rows = contract::check_chain(&home.ledger());
        match cut == before {
            true => assert_eq!(rows.len(), 4),
            false => {
                let Event::Torn(torn) = &rows[3].event else { panic!("{:?}", rows[3].event) };
                assert_eq!((torn.bytes, torn.sha256), (bytes, Digest::of(&whole[before..cut])));
                assert_eq!(home.moved(), [whole[before..cut].to_vec()]);
                assert_eq!(rows.len(), 5);
            }
        }
    }
}

#[test]
fn a_single_row_cut_at_every_byte() {
    cut_everywhere(&[sample::minted(3, 0)]);
}

#[test]
fn an_append_of_several_rows_cut_at_every_byte() {
    cut_everywhere(&[sample::minted(3, 0), sample::minted(4, 0), sample::revoked(1, 2)]);
}

#[test]
fn cut_under_an_open_ledger() {
    let home = Home::new();
    let ledger = home.minted(3);
    let whole = home.bytes();
    home.write(&whole[..whole.len() - 10]);
    // Grant 3 is gone, with what it moved.
    assert_eq!(ledger.append(&[sample::revoked(3, 4)]), Err(AppendError::Conflict));
    ledger.append(&[sample::minted(3, 0)]).unwrap();
    assert_eq!(contract::check_chain(&ledger).len(), 5);
}

#[test]
fn a_torn_first_row_starts_over() {
    let home = Home::new();
    home.minted(0);
    let whole = home.bytes();
    for cut in 1..whole.len() {
        let home = Home::new();
        home.write(&whole[..cut]);
        let ledger = home.ledger();
        assert_eq!(ledger.head(), Ok(None));
        assert_eq!(ledger.append(&[sample::minted(1, 0)]), Err(AppendError::Conflict));
        ledger.append(&[sample::opened()]).unwrap();
        assert_eq!(contract::check_chain(&ledger).len(), 1);
        assert_eq!(home.moved(), [whole[..cut].to_vec()]);
    }
}

/// A ledger of two grants and six more, its bytes, and where the six begin.
fn eight() -> (Home, Vec<u8>, usize) {
    let home = Home::new();
    home.minted(2);
    let good = home.bytes().len();
    let ledger = home.ledger();
    for grant in 3..9 {
        ledger.append(&[sample::minted(grant, 0)]).unwrap();
    }
    drop(ledger);
    let bytes = home.bytes();
    (home, bytes, good)
}

#[test]
fn a_hole_is_moved_aside_with_all_that_follows() {
    for hole in 0..3 {
        let (home, mut bytes, good) = eight();
        let sector = good.next_multiple_of(512);
        let (from, to) = [(good, sector), (sector, sector + 512), (good, sector + 1024)][hole];
        bytes[from..to].fill(0);
        home.write(&bytes);
        let ledger = home.ledger();
        // The rows behind the hole are whole, and still were never durable.
        assert_eq!(ledger.rows(&sample::grant_subject(8)), Ok(vec![]));
        ledger.append(&[sample::minted(9, 0)]).unwrap();
        contract::check_chain(&ledger);
        assert_eq!(ledger.rows(&sample::grant_subject(8)), Ok(vec![]));
        let moved = home.moved();
        assert!(moved.len() == 1 && bytes.ends_with(&moved[0]), "{from} {to}");
    }
}

#[test]
fn nul_bytes_that_no_crash_leaves_are_damage() {
    let (home, bytes, good) = eight();
    let sector = good.next_multiple_of(512);
    for (from, to) in [(good + 1, good + 2), (sector, sector + 511), (good, sector + 1)] {
        let mut holed = bytes.clone();
        holed[from..to].fill(0);
        home.write(&holed);
        let refused = home.ledger().append(&[sample::minted(9, 0)]);
        assert!(matches!(refused, Err(AppendError::NotWritten(_))), "{from} {to}: {refused:?}");
        assert_eq!(home.bytes(), holed);
    }
}

/// Accepts whatever is wrong, with a row that says so.
fn accept(ledger: &dyn Ledger) -> Appended {
    let accepted = ledger.accept(&mut |moved| {
        let damage = moved.torn.clone().map(What::Damage);
        let rollback = moved.rollback.map(|rows| What::Rollback { rows });
        assert_eq!((moved.last)(&sample::grant_subject(1)), Ok(2));
        let mut draft = sample::accepted(damage.into_iter().chain(rollback).collect());
        draft.refs = vec![(sample::grant_subject(1), 2)];
        Ok(vec![draft])
    });
    accepted.unwrap()
}

#[test]
fn damage_is_refused_until_it_is_accepted() {
    let home = Home::new();
    home.minted(2);
    let good = home.bytes();
    let valid = {
        let home = Home::new();
        home.minted(3);
        home.bytes()[good.len()..].to_vec()
    };
    let foreign: [&[u8]; 6] =
        [b"x\n", b"\n", b"{\"seq\":4}\nmore", b"a\nb\nc\n", &good, &[b'x'; 100_000]];
    for rest in foreign {
        let rest = if rest.len() > 99_999 { [rest, b"\n"].concat() } else { rest.to_vec() };
        for rest in [rest.clone(), [&rest[..], &valid].concat(), [&valid[..], &rest].concat()] {
            let home = Home::new();
            home.write(&[&good[..], &rest].concat());
            let ledger = home.ledger();
            let condition = ledger.condition().unwrap();
            let Some(Damage { line, offset, bytes, .. }) = condition.damage else { panic!() };
            assert!(line == 4 || line == 5);
            assert_eq!(offset + bytes, (good.len() + rest.len()) as u64);
            let Err(AppendError::NotWritten(NotWritten::Unwritable(why))) =
                ledger.append(&[sample::minted(9, 0)])
            else {
                panic!()
            };
            assert!(why.contains(&format!("line {line}")) && why.contains("granted ledger accept"));
            assert_eq!(home.bytes(), [&good[..], &rest].concat());
            assert_eq!(ledger.rows(&sample::grant_subject(1)).unwrap().len(), 1);

            let appended = accept(&ledger);
            assert_eq!(ledger.holds(&[&appended]), Ok(true));
            assert_eq!(ledger.condition(), Ok(Default::default()));
            ledger.append(&[sample::minted(9, 0)]).unwrap();
            let rows = contract::check_chain(&home.ledger());
            let Event::Accepted(body) = &rows[rows.len() - 2].event else { panic!() };
            let What::Damage(torn) = &body.what[0] else { panic!() };
            let moved = &rest[(offset as usize - good.len())..];
            assert_eq!(torn.sha256, Digest::of(moved));
            assert_eq!(home.moved(), [moved.to_vec()]);
        }
    }
}

#[test]
fn an_accept_that_is_refused_changes_nothing() {
    let home = Home::new();
    let ledger = home.minted(1);
    let damaged = [&home.bytes()[..], b"x\n"].concat();
    home.write(&damaged);
    let stale = |_: &granted_core::store::Moved<'_>| Ok(vec![sample::revoked(1, 99)]);
    assert_eq!(ledger.accept(&mut { stale }), Err(AppendError::Conflict));
    assert_eq!(home.bytes(), damaged);
}

#[test]
fn an_accept_of_nothing_wrong_is_an_append() {
    let home = Home::new();
    let ledger = home.minted(2);
    accept(&ledger);
    assert_eq!(contract::check_chain(&ledger).len(), 4);
    assert!(home.moved().is_empty());
}
