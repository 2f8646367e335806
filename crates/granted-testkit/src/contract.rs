//! What every ledger promises, as cases that run against any of them.

use std::ops::ControlFlow;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use granted_core::digest::Digest;
use granted_core::ledger::{Draft, Row};
use granted_core::store::{AppendError, Ledger, NotWritten};
use granted_core::text::Words;
use granted_core::time::Clock;

use crate::clock::FixedClock;
use crate::sample;

/// Makes an empty ledger that takes the time from this clock.
pub type Fresh<'a> = &'a dyn Fn(Arc<FixedClock>) -> Arc<dyn Ledger>;

/// Runs every case, each with a ledger of its own.
pub fn all(fresh: Fresh<'_>) {
    starts_empty(fresh);
    opens_first_and_once(fresh);
    chains(fresh);
    appends_if_nothing_moved(fresh);
    appends_all_or_nothing(fresh);
    follows_itself_within_an_append(fresh);
    ends_at_until(fresh);
    appends_if_what_it_looked_at_stands_still(fresh);
    never_goes_back_in_time(fresh);
    holds_what_it_appended(fresh);
    knows_the_line_at_a_place(fresh);
    scans_from_anywhere(fresh);
    refuses_a_row_that_is_too_long(fresh);
    lets_one_of_two_racers_win(fresh);
    takes_appends_from_many_threads(fresh);
}

/// A ledger with its first row.
fn opened(fresh: Fresh<'_>) -> (Arc<dyn Ledger>, Arc<FixedClock>) {
    let clock = Arc::new(FixedClock::default());
    let ledger = fresh(Arc::clone(&clock));
    ledger.append(&[sample::opened()]).unwrap();
    (ledger, clock)
}

/// The lines as they lie there.
pub fn lines(ledger: &dyn Ledger) -> Vec<Vec<u8>> {
    let mut lines = Vec::new();
    let unfinished = ledger.scan(1, &mut |line| {
        lines.push(line.bytes.to_vec());
        ControlFlow::Continue(())
    });
    unfinished.unwrap();
    lines
}

/// Checks that every line is a row, in one chain, and that every ref names the row before.
pub fn check_chain(ledger: &dyn Ledger) -> Vec<Row> {
    let (mut prev, mut last) = (Digest::ZERO, std::collections::HashMap::new());
    let mut rows = Vec::new();
    for (index, line) in lines(ledger).iter().enumerate() {
        let row = Row::parse(line).unwrap();
        assert_eq!((row.seq, row.prev), (index as u64 + 1, prev));
        prev = Digest::of(line);
        for (subject, before) in &row.refs {
            assert_eq!(last.insert(subject.clone(), row.seq).unwrap_or(0), *before, "{subject}");
        }
        rows.push(row);
    }
    let head = ledger.head().unwrap();
    assert_eq!(head.map(|h| (h.seq, h.hash)), rows.last().map(|row| (row.seq, prev)));
    for subject in last.keys() {
        let moving: Vec<&Row> = rows.iter().filter(|row| row.moves(subject).is_some()).collect();
        assert_eq!(ledger.rows(subject).unwrap().iter().collect::<Vec<_>>(), moving, "{subject}");
        let seqs: Vec<u64> = moving.iter().map(|row| row.seq).collect();
        for (count, seq) in seqs.iter().enumerate() {
            let later = ledger.rows_after(subject, *seq).unwrap();
            let later: Vec<u64> = later.iter().map(|row| row.seq).collect();
            assert_eq!(later, seqs[count + 1..], "{subject} after {seq}");
        }
    }
    rows
}

fn starts_empty(fresh: Fresh<'_>) {
    let ledger = fresh(Arc::default());
    assert_eq!(ledger.head(), Ok(None));
    assert_eq!(ledger.rows(&sample::grant_subject(1)), Ok(vec![]));
    assert_eq!((ledger.row(0), ledger.row(1)), (Ok(None), Ok(None)));
    assert_eq!(ledger.condition(), Ok(Default::default()));
    assert!(lines(&*ledger).is_empty());
}

fn opens_first_and_once(fresh: Fresh<'_>) {
    let ledger = fresh(Arc::default());
    assert_eq!(ledger.append(&[sample::minted(1, 0)]), Err(AppendError::Conflict));
    ledger.append(&[sample::opened()]).unwrap();
    assert_eq!(ledger.append(&[sample::opened()]), Err(AppendError::Conflict));
    assert_eq!(check_chain(&*ledger).len(), 1);
}

fn chains(fresh: Fresh<'_>) {
    let (ledger, _) = opened(fresh);
    let minted = ledger.append(&[sample::minted(1, 0)]).unwrap();
    assert_eq!(minted.lines.iter().map(|line| line.seq).collect::<Vec<_>>(), [2]);
    ledger.append(&[sample::intent(10, 1, 2)]).unwrap();
    ledger.append(&[sample::result(10, 3), sample::outcome(10, 1, (3, 3))]).unwrap();
    let rows = check_chain(&*ledger);
    assert_eq!(rows.len(), 5);
    assert_eq!((rows[1].of, rows[3].of, rows[4].of), (None, Some((1, 2)), Some((2, 2))));
    assert_eq!(ledger.row(4).unwrap().as_ref(), Some(&rows[3]));
    assert_eq!((ledger.row(0), ledger.row(6)), (Ok(None), Ok(None)));
}

fn appends_if_nothing_moved(fresh: Fresh<'_>) {
    let (ledger, _) = opened(fresh);
    ledger.append(&[sample::minted(1, 0)]).unwrap();
    ledger.append(&[sample::intent(10, 1, 2)]).unwrap();
    for stale in [sample::intent(11, 1, 2), sample::revoked(1, 0), sample::revoked(1, 4)] {
        assert_eq!(ledger.append(&[stale]), Err(AppendError::Conflict));
    }
    // The same object in another ledger's words: a mint that has not seen the first.
    let mut second = sample::minted(2, 0);
    second.refs[1] = (sample::object_subject(1), 0);
    assert_eq!(ledger.append(&[second.clone()]), Err(AppendError::Conflict));
    second.refs[1].1 = 2;
    ledger.append(&[second]).unwrap();
    ledger.append(&[sample::revoked(1, 3)]).unwrap();
    assert_eq!(check_chain(&*ledger).len(), 5);
}

fn appends_all_or_nothing(fresh: Fresh<'_>) {
    let (ledger, _) = opened(fresh);
    let before = lines(&*ledger);
    let drafts = [sample::minted(1, 0), sample::minted(2, 0), sample::revoked(3, 7)];
    assert_eq!(ledger.append(&drafts), Err(AppendError::Conflict));
    assert_eq!(lines(&*ledger), before);
    ledger.append(&drafts[..2]).unwrap();
    assert_eq!(check_chain(&*ledger).len(), 3);
}

fn follows_itself_within_an_append(fresh: Fresh<'_>) {
    let (ledger, _) = opened(fresh);
    // What an earlier draft moves needs no right number.
    let drafts = [sample::minted(1, 0), sample::intent(10, 1, 0), sample::outcome(10, 1, (0, 0))];
    ledger.append(&drafts).unwrap();
    let rows = check_chain(&*ledger);
    assert_eq!(rows[3].refs, [(sample::discharge_subject(10), 3), (sample::grant_subject(1), 3)]);
}

fn ends_at_until(fresh: Fresh<'_>) {
    let (ledger, clock) = opened(fresh);
    let until = clock.now().plus(Duration::from_secs(1));
    let draft = |n| Draft { until: Some(until), ..sample::minted(n, 0) };
    ledger.append(&[draft(1)]).unwrap();
    clock.set(until);
    assert_eq!(ledger.append(&[draft(2)]), Err(AppendError::Conflict));
    assert_eq!(check_chain(&*ledger).len(), 2);
}

fn appends_if_what_it_looked_at_stands_still(fresh: Fresh<'_>) {
    let (ledger, _) = opened(fresh);
    ledger.append(&[sample::minted(1, 0), sample::minted(2, 0)]).unwrap();
    let still = |seen| vec![(sample::grant_subject(1), seen)];
    let draft = |seen| Draft { still: still(seen), ..sample::revoked(2, 3) };
    assert_eq!(ledger.append(&[draft(0)]), Err(AppendError::Conflict));
    ledger.append(&[draft(2)]).unwrap();
    // It is looked at and not moved.
    assert_eq!(ledger.rows(&sample::grant_subject(1)).unwrap().len(), 1);
    ledger.append(&[sample::revoked(1, 2)]).unwrap();
    let again = Draft { still: still(2), ..sample::revoked(2, 4) };
    assert_eq!(ledger.append(&[again]), Err(AppendError::Conflict));
    assert_eq!(check_chain(&*ledger).len(), 5);
}

fn never_goes_back_in_time(fresh: Fresh<'_>) {
    let (ledger, clock) = opened(fresh);
    let start = clock.now();
    clock.set(start.minus(Duration::from_secs(60)));
    ledger.append(&[sample::minted(1, 0)]).unwrap();
    clock.set(start.plus(Duration::from_secs(60)));
    ledger.append(&[sample::minted(2, 0)]).unwrap();
    clock.set(start);
    // Only an accepted clock goes back.
    ledger.accept(&mut |_| Ok(vec![sample::accepted(vec![])])).unwrap();
    let times: Vec<_> = check_chain(&*ledger).iter().map(|row| row.at).collect();
    assert_eq!(times, [start, start, start.plus(Duration::from_secs(60)), start]);
}

fn holds_what_it_appended(fresh: Fresh<'_>) {
    let (ledger, _) = opened(fresh);
    let first = ledger.append(&[sample::minted(1, 0)]).unwrap();
    let second = ledger.append(&[sample::minted(2, 0), sample::minted(3, 0)]).unwrap();
    assert_eq!((ledger.holds(&[&first, &second]), ledger.holds(&[&second])), (Ok(true), Ok(true)));
    let mut other = second.clone();
    other.lines[1].bytes[9] ^= 1;
    assert_eq!(ledger.holds(&[&first, &other]), Ok(false));
    let mut beyond = second;
    beyond.position += 1_000_000;
    assert_eq!(ledger.holds(&[&beyond, &first]), Ok(false));
}

fn knows_the_line_at_a_place(fresh: Fresh<'_>) {
    let (ledger, _) = opened(fresh);
    assert_eq!(ledger.digest_at(1_000_000), Ok(None));
    ledger.append(&[sample::minted(1, 0), sample::minted(2, 0)]).unwrap();
    let mut seen = Vec::new();
    ledger
        .scan(1, &mut |line| {
            seen.push((line.offset, Digest::of(line.bytes)));
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(seen.len(), 3);
    for (offset, digest) in seen {
        assert_eq!(ledger.digest_at(offset), Ok(Some(digest)));
        assert_ne!(ledger.digest_at(offset + 1), Ok(Some(digest)));
    }
}

fn scans_from_anywhere(fresh: Fresh<'_>) {
    let (ledger, _) = opened(fresh);
    for number in 1..40 {
        ledger.append(&[sample::minted(number, 0)]).unwrap();
    }
    let all = lines(&*ledger);
    for from in [0, 1, 2, 17, 40, 41] {
        let mut seen = Vec::new();
        let end = ledger.scan(from, &mut |line| {
            seen.push((line.seq, line.bytes.to_vec()));
            ControlFlow::Continue(())
        });
        assert_eq!(end, Ok(None));
        let skip = usize::try_from(from.saturating_sub(1)).unwrap();
        let numbered = all.iter().enumerate().skip(skip);
        let expected: Vec<_> = numbered.map(|(i, line)| (i as u64 + 1, line.clone())).collect();
        assert_eq!(seen, expected);
    }
    let mut count = 0;
    ledger
        .scan(3, &mut |_| {
            count += 1;
            ControlFlow::Break(())
        })
        .unwrap();
    assert_eq!(count, 1);
}

fn refuses_a_row_that_is_too_long(fresh: Fresh<'_>) {
    let (ledger, _) = opened(fresh);
    let mut draft = sample::minted(1, 0);
    if let granted_core::ledger::Event::Minted(minted) = &mut draft.event {
        let note = granted_core::text::Note::new("x".repeat(1_000)).unwrap();
        minted.grant.not_scope = vec![note; 66];
        minted.grant.scope = Words::new("").unwrap();
    }
    let too_long = Err(AppendError::NotWritten(NotWritten::TooLong));
    assert_eq!(ledger.append(&[sample::minted(2, 0), draft]), too_long);
    assert_eq!(check_chain(&*ledger).len(), 1);
}

fn lets_one_of_two_racers_win(fresh: Fresh<'_>) {
    let (ledger, _) = opened(fresh);
    for round in 1..20 {
        let seen = ledger.append(&[sample::minted(round, 0)]).unwrap().lines[0].seq;
        let barrier = Barrier::new(4);
        let won: usize = std::thread::scope(|scope| {
            let racer = |n: u64| {
                let (ledger, barrier) = (&ledger, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    let draft = sample::intent(round * 10 + n, round, seen);
                    match ledger.append(&[draft]) {
                        Ok(_) => 1,
                        Err(e) => {
                            assert_eq!(e, AppendError::Conflict);
                            0
                        }
                    }
                })
            };
            let racers: Vec<_> = (0..4).map(racer).collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).sum()
        });
        assert_eq!(won, 1);
    }
    check_chain(&*ledger);
}

fn takes_appends_from_many_threads(fresh: Fresh<'_>) {
    let (ledger, _) = opened(fresh);
    std::thread::scope(|scope| {
        for thread in 1..=8_u64 {
            let ledger = &ledger;
            scope.spawn(move || {
                for n in 0..20 {
                    let number = thread * 1_000 + n;
                    let minted = ledger.append(&[sample::minted(number, 0)]).unwrap();
                    let seen = minted.lines[0].seq;
                    ledger
                        .append(&[sample::intent(number, number, seen), sample::result(number, 0)])
                        .unwrap();
                    assert_eq!(ledger.rows(&sample::grant_subject(number)).unwrap().len(), 2);
                }
            });
        }
    });
    assert_eq!(check_chain(&*ledger).len(), 1 + 8 * 20 * 3);
}
