//! The audit on whole ledgers: good ones pass, and no byte of one can be changed unseen.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use granted_core::digest::Digest;
use granted_core::ledger::audit::{Audit, check_subject_events};
use granted_core::ledger::{Line, Row};
use granted_core::store::RawLine;
use granted_testkit::{story, writes};
use proptest::prelude::*;

/// What an audit of these bytes says: the head's digest and whether there is an unfinished line at
/// the end, or the first fault.
fn audit(bytes: &[u8]) -> Result<(Option<Digest>, bool), (u64, String)> {
    let (mut audit, mut moves, mut offset) = (Audit::default(), Vec::new(), 0);
    let mut rest = bytes;
    let mut seq = 1;
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let line = RawLine { seq, offset, bytes: &rest[..end] };
        audit.line(line, |m| moves.push(m)).map_err(|f| (f.line, f.cause.into_owned()))?;
        rest = &rest[end + 1..];
        offset += end as u64 + 1;
        seq += 1;
    }
    if rest.is_empty() {
        audit.finish().map_err(|f| (f.line, f.cause.into_owned()))?;
        assert_eq!(audit.bytes(), bytes.len() as u64);
    }
    check_subject_events(moves).map_err(|i| (i.line, i.cause.to_owned()))?;
    Ok((audit.head().map(|head| head.hash), !rest.is_empty()))
}

fn file(lines: &[Line]) -> Vec<u8> {
    lines.iter().flat_map(|line| line.bytes.iter().copied().chain([b'\n'])).collect()
}

/// The ledger with rows changed by `change` and then chained anew, as a careful forger would.
fn forged(change: impl Fn(&mut Row)) -> Vec<u8> {
    let mut prev = Digest::ZERO;
    let mut bytes = Vec::new();
    for line in story::every_kind() {
        let mut row = Row::parse(&line.bytes).unwrap();
        row.prev = prev;
        change(&mut row);
        let line = row.line();
        prev = Digest::of(&line);
        bytes.extend(line);
        bytes.push(b'\n');
    }
    bytes
}

#[test]
fn a_good_ledger_passes_and_so_does_every_beginning_of_it() {
    assert_eq!(audit(&[]), Ok((None, false)));
    for lines in [story::every_kind(), writes::every_kind()] {
        for count in 1..=lines.len() {
            let row = Row::parse(&lines[count - 1].bytes).unwrap();
            let verdict = audit(&file(&lines[..count]));
            match row.of {
                Some((i, n)) if i < n => {
                    assert!(verdict.unwrap_err().1.contains("ends at its row"));
                }
                _ => assert_eq!(verdict, Ok((Some(lines[count - 1].hash), false))),
            }
        }
    }
    let mut busy = Vec::new();
    story::busy(200, |line| busy.push(line.clone()));
    assert!(audit(&file(&busy)).is_ok());
}

#[test]
fn what_a_forger_changes_is_found() {
    use granted_core::decision::{Class, Ended, From, Reason, Use};
    use granted_core::ledger::{Event, Subject};
    use std::time::Duration;

    type Change = fn(&mut Row);
    let cases: [(&str, Change); 20] = [
        ("`seq`", |row| row.seq += u64::from(row.seq == 5)),
        ("`prev`", |row| {
            if row.seq == 5 {
                row.prev = Digest::ZERO
            }
        }),
        ("`prev`", |row| {
            if row.seq == 1 {
                row.prev = Digest::of(b"")
            }
        }),
        ("`at`", |row| {
            if row.seq == 5 {
                row.at = row.at.minus(Duration::from_secs(60))
            }
        }),
        ("`of`", |row| {
            if row.seq == 5 {
                row.of = None
            }
        }),
        ("`of`", |row| {
            if row.seq == 2 {
                row.of = Some((1, 1))
            }
        }),
        ("`of`", |row| {
            if row.seq == 2 {
                row.of = Some((2, 2))
            }
        }),
        ("`of`", |row| {
            if row.seq == 6 {
                row.of = Some((2, 3))
            }
        }),
        ("those of its kind", |row| {
            if row.seq == 3 {
                row.refs.reverse();
                row.refs.pop();
            }
        }),
        ("lack a discharge", |row| {
            if row.seq == 3 {
                row.refs.reverse()
            }
        }),
        ("those of its kind", |row| {
            if row.seq == 7 {
                row.refs.push(row.refs[0].clone());
                row.refs.push(row.refs[0].clone())
            }
        }),
        ("those of its kind", |row| {
            if row.seq == 1 {
                row.refs.push((Subject::new("grant:x").unwrap(), 0))
            }
        }),
        ("grant and the object", |row| {
            if row.seq == 2 {
                row.refs[1].0 = Subject::new("object:report/other").unwrap()
            }
        }),
        ("`refs` do not name", |row| {
            if row.seq == 6 {
                row.refs[1].1 -= 1
            }
        }),
        ("does not belong", |row| {
            if let (7, Event::Outcome(body)) = (row.seq, &mut row.event) {
                body.outcome = Class::Expired
            }
        }),
        ("only follows a claim", |row| {
            if let (7, Event::Outcome(body)) = (row.seq, &mut row.event) {
                body.reason = Reason::ExecutorFailed
            }
        }),
        ("`ended` is not that of", |row| {
            if let Event::Result(body) = &mut row.event {
                body.ended = Some(Ended::Exit(7))
            }
        }),
        ("`ended` is not that of", |row| {
            if let Event::Result(body) = &mut row.event {
                body.from = From::Wrapper;
                body.ended = None
            }
        }),
        ("the grant is spent", |row| {
            if let Event::Minted(body) = &mut row.event {
                body.grant.decision = Use::Once
            }
        }),
        ("has closed", |row| {
            if let (2, Event::Minted(body)) = (row.seq, &mut row.event) {
                body.grant.not_after = row.at.plus(Duration::from_secs(1))
            }
        }),
    ];
    assert!(audit(&forged(|_| ())).is_ok());
    for (cause, change) in cases {
        let (_, found) = audit(&forged(change)).expect_err(cause);
        assert!(found.contains(cause), "`{found}` is not `{cause}`");
    }
    let other_book = forged(|row| {
        if let (2, Event::Minted(body)) = (row.seq, &mut row.event) {
            body.grant.book = body.grant.id;
        }
    });
    assert!(audit(&other_book).unwrap_err().1.contains("another book"));
}

#[test]
fn rows_cannot_be_left_out_doubled_or_swapped() {
    let lines = story::every_kind();
    for index in 0..lines.len() - 1 {
        let (mut without, mut twice, mut swapped) = (lines.clone(), lines.clone(), lines.clone());
        without.remove(index);
        twice.insert(index, lines[index].clone());
        swapped.swap(index, index + 1);
        for bad in [without, twice, swapped] {
            assert!(audit(&file(&bad)).is_err());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_024))]

    /// The last row has no row after it that holds its digest: there the head is another.
    #[test]
    fn no_byte_can_be_changed_unseen(at in any::<prop::sample::Index>(), flip in 1_u8..=255) {
        let lines = story::every_kind();
        let good = file(&lines);
        let mut bad = good.clone();
        bad[at.index(good.len())] ^= flip;
        let same = Ok((lines.last().map(|line| line.hash), false));
        prop_assert_eq!(audit(&good), same.clone());
        let verdict = audit(&bad);
        let unfinished = matches!(verdict, Ok((_, true)));
        prop_assert!(verdict != same, "byte {}", at.index(good.len()));
        let last_row = at.index(good.len()) >= good.len() - lines.last().unwrap().bytes.len() - 1;
        prop_assert!(verdict.is_err() || unfinished || last_row);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = audit(&bytes);
    }
}
