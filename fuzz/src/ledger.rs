//! A whole ledger file. Whatever is in it, it is verified without a panic. One that is found whole is
//! found whole again, by everybody, and goes on to be; and a change of any byte is found.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use granted::ledger::verify::{Report, verify};
use granted::{Book, Door, Home, Request, Verdict};
use granted_core::digest::Digest;
use granted_core::ledger::{By, Row};
use granted_core::store::{Ledger as _, ReadError};
use granted_store::FileLedger;
use granted_testkit::{FixedClock, MemoryDocuments, sample};

/// The bytes of the file behind one byte that says how they are changed: with its last bit set, the
/// chain is mended, so that what is behind the digests is reached too.
pub fn run(bytes: &[u8]) {
    let Some((how, bytes)) = bytes.split_first() else { return };
    let dir = tempfile::tempdir().expect("there is room");
    let path = dir.path().join("ledger.jsonl");
    let bytes = if how & 1 == 1 { mended(bytes) } else { bytes.to_vec() };
    write(&path, &bytes);
    let Ok(found) = verify(&open(&path), &mut |_| {}) else { return };
    let good = usize::try_from(found.bytes).expect("it is in memory");
    assert!(found.rows == count(bytes.get(..good).expect("what is good is there")));
    if found.fault.is_some() || found.rows == 0 {
        return;
    }
    assert_eq!(read(&open(&path)), Ok(found.rows));
    changed(
        &path,
        bytes.get(..good).expect("what is good is there"),
        usize::from(*how) * 31,
        &found,
    );
    write(&path, &bytes);
    goes_on(dir.path(), &path, &found);
}

fn count(bytes: &[u8]) -> u64 {
    bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum()
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).expect("there is room");
}

fn open(path: &Path) -> FileLedger {
    let by = By { agent: None, door: Door::Library, host: "box".into(), uid: 0 };
    FileLedger::new(path, Arc::new(FixedClock::default()), by)
}

/// The lines, with each line's `prev` as it should be.
fn mended(bytes: &[u8]) -> Vec<u8> {
    const PREV: &[u8] = b"\"prev\":\"";
    let (mut out, mut digest) = (Vec::new(), "0".repeat(64));
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let mut line = line.to_vec();
        let at = line.windows(PREV.len()).rposition(|part| part == PREV);
        if let Some(prev) = at.and_then(|at| line.get_mut(at + PREV.len()..at + PREV.len() + 64)) {
            prev.copy_from_slice(digest.as_bytes());
        }
        digest = Digest::of(line.strip_suffix(b"\n").unwrap_or(&line)).to_string();
        out.extend(line);
    }
    out
}

/// How many rows every reader sees; each is one, and is found by what it moves.
fn read(ledger: &FileLedger) -> Result<u64, ReadError> {
    let mut rows = Vec::new();
    ledger.scan(1, &mut |line| {
        rows.push(Row::parse(line.bytes).expect("verified rows are rows"));
        ControlFlow::Continue(())
    })?;
    for row in &rows {
        assert_eq!(ledger.row(row.seq)?.as_ref(), Some(row));
        for (subject, _) in &row.refs {
            let found = ledger.rows(subject)?;
            assert!(found.iter().eq(rows.iter().filter(|row| row.moves(subject).is_some())));
        }
    }
    Ok(rows.len().try_into().expect("they are in memory"))
}

/// One byte of the good rows is changed: it is a fault, or other rows.
fn changed(path: &Path, good: &[u8], place: usize, found: &Report) {
    let mut bytes = good.to_vec();
    let place = place % bytes.len();
    if let Some(byte) = bytes.get_mut(place) {
        *byte ^= 0x01;
    }
    write(path, &bytes);
    if let Ok(now) = verify(&open(path), &mut |_| {}) {
        assert!(now.fault.is_some() || now.head != found.head, "byte {place}");
    }
}

/// An attempt is made in the ledger, whose rows then follow from those that were there.
fn goes_on(dir: &Path, path: &Path, found: &Report) {
    let ledger = Arc::new(open(path));
    let clock = Arc::new(FixedClock::default());
    let book =
        Book::with(Home::at(dir), Door::Library, ledger, Arc::<MemoryDocuments>::default(), clock);
    let request = Request::new("report", "2026-09-30", "closure").expect("these are names");
    let report = granted::discharge(&book, &request, |_, _| Verdict::Done);
    assert!(granted::status(&book, &sample::object(1)).is_ok());
    let now = verify(&open(path), &mut |_| {}).expect("it can be read");
    assert_eq!(now.fault, None, "{report}");
    assert!(now.rows >= found.rows && now.unfinished.is_none_or(|_| now.rows == found.rows));
}
