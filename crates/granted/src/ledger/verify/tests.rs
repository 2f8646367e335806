use granted_core::ledger::{Line, Row};
use granted_testkit::story;

use super::*;

type Visit<'a> = dyn FnMut(RawLine<'_>) -> ControlFlow<()> + 'a;

/// Shows these lines as a store would.
fn show(lines: &[Line], from: u64, visit: &mut Visit<'_>) {
    let mut offset = 0;
    for (seq, line) in (1..).zip(lines) {
        if seq >= from && visit(RawLine { seq, offset, bytes: &line.bytes }).is_break() {
            return;
        }
        offset += line.bytes.len() as u64 + 1;
    }
}

fn verify_with(
    lines: &[Line],
    unfinished: Option<Unfinished>,
    progress: &mut dyn FnMut(u64),
) -> Report {
    let scan = |from: u64, visit: &mut Visit<'_>| {
        show(lines, from, visit);
        Ok(unfinished)
    };
    verify_lines(&scan, progress).unwrap()
}

fn verify_all(lines: &[Line]) -> Report {
    verify_with(lines, None, &mut |_| {})
}

/// The lines, each changed by `change` and chained anew.
fn forged(lines: &[Line], change: impl Fn(&mut Row)) -> Vec<Line> {
    let mut prev = Digest::ZERO;
    let mut forged = Vec::new();
    for line in lines {
        let mut row = Row::parse(&line.bytes).unwrap();
        row.prev = prev;
        change(&mut row);
        let bytes = row.line();
        prev = Digest::of(&bytes);
        forged.push(Line { seq: row.seq, at: row.at, hash: prev, bytes });
    }
    forged
}

fn bytes_of(lines: &[Line]) -> u64 {
    lines.iter().map(|line| line.bytes.len() as u64 + 1).sum()
}

#[test]
fn nothing_is_a_good_ledger() {
    let report = verify_all(&[]);
    let none =
        Report { rows: 0, bytes: 0, head: None, unfinished: None, fault: None, acceptable: false };
    assert_eq!(report, none);
}

#[test]
fn a_good_ledger_is_good_and_its_unfinished_end_no_fault() {
    let lines = story::every_kind();
    let end = Some(Unfinished { offset: bytes_of(&lines), bytes: 17 });
    let report = verify_with(&lines, end, &mut |_| {});
    assert_eq!(report.rows, lines.len() as u64);
    assert_eq!(report.bytes, bytes_of(&lines));
    assert_eq!(report.head, lines.last().map(|line| line.hash));
    assert_eq!((report.unfinished, report.fault), (end, None));
}

#[test]
fn a_bad_line_is_named_with_the_last_good_row() {
    let mut lines = story::every_kind();
    lines[9].bytes[0] ^= 1;
    let report = verify_all(&lines);
    assert_eq!((report.rows, report.head), (9, Some(lines[8].hash)));
    let fault = report.fault.unwrap();
    assert_eq!((fault.line, fault.offset), (10, bytes_of(&lines[..9])));
    assert_eq!(report.bytes, fault.offset);
}

#[test]
fn an_illegal_transition_is_named_with_the_last_good_row() {
    // The grant that is revoked in row 17 is spent, though every line is a good one.
    let lines = forged(&story::every_kind(), |row| {
        if row.seq == 17 {
            row.refs[0] = (Row::parse(&story::every_kind()[1].bytes).unwrap().refs[0].0.clone(), 6);
        }
    });
    let report = verify_all(&lines);
    assert_eq!((report.rows, report.head), (16, Some(lines[15].hash)));
    let fault = report.fault.unwrap();
    assert_eq!((fault.line, fault.offset), (17, bytes_of(&lines[..16])));
    assert_eq!(fault.cause, "it revokes a grant that is spent");
}

#[test]
fn the_first_of_several_faults_is_reported() {
    let mut lines = forged(&story::every_kind(), |row| {
        if row.seq == 13 || row.seq == 6 {
            row.refs[1].1 -= 1;
        }
    });
    assert_eq!(verify_all(&lines).fault.unwrap().line, 6);
    lines[19].bytes.pop();
    assert_eq!(verify_all(&lines).fault.unwrap().line, 6);
    lines[2].bytes.pop();
    assert_eq!(verify_all(&lines).fault.unwrap().line, 3);
}

#[test]
fn many_rows_spill_and_the_fold_still_sees_them() {
    let mut lines = Vec::new();
    story::busy(16_000, |line| lines.push(line.clone()));
    let mut told = Vec::new();
    let report = verify_with(&lines, None, &mut |bytes| told.push(bytes));
    assert_eq!((report.rows, report.fault), (lines.len() as u64, None));
    assert!(told.is_sorted() && told.len() > 3);
    assert_eq!(told.last(), Some(&bytes_of(&lines)));

    // The guard of the very first intent, long spilled.
    let bad = forged(&lines, |row| {
        if row.seq == 3 {
            row.refs[1].1 = 1;
        }
    });
    let fault = verify_all(&bad).fault.unwrap();
    assert_eq!(fault.line, 3);
    assert!(fault.cause.contains("`refs`"));
}

#[test]
fn an_error_of_the_store_is_no_fault() {
    let failing =
        |_: u64, _: &mut Visit<'_>| Err(ReadError::Unreadable("/x: permission denied".into()));
    let error = verify_lines(&failing, &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "/x: permission denied");
}
