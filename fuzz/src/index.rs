//! A file of any bytes among the runs of an index. A lookup gives the rows that there are, or refuses;
//! it never gives others.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use granted_core::digest::Digest;
use granted_core::ledger::{Row, Subject};
use granted_core::store::Ledger as _;
use granted_store::FileLedger;
use granted_testkit::{FixedClock, sample};

const ENTRY: usize = 24;
const PAGE: usize = 2_730 * ENTRY;
/// The footer up to its own digest, and the bytes of it before its two counts.
const FIXED: usize = 7 * 8 + 2 * 32;
const COUNTS: usize = 5 * 8;

/// A ledger with one run over it, and the rows by subject.
struct Indexed {
    dir: tempfile::TempDir,
    run: PathBuf,
    rows: BTreeMap<Subject, Vec<Row>>,
}

thread_local! {
    static INDEXED: Indexed = indexed();
}

/// How many grants make a ledger of which a run is written.
const GRANTS: u64 = 480;

fn indexed() -> Indexed {
    let dir = tempfile::tempdir().expect("there is room");
    let ledger = open(dir.path());
    ledger.append(&[sample::opened()]).expect("it is written");
    let drafts: Vec<_> = (1..=GRANTS).map(|number| sample::minted(number, 0)).collect();
    ledger.append(&drafts).expect("it is written");
    let mut rows: BTreeMap<Subject, Vec<Row>> = BTreeMap::new();
    let end = ledger.scan(1, &mut |line| {
        let row = Row::parse(line.bytes).expect("it is a row");
        for (subject, _) in &row.refs {
            rows.entry(subject.clone()).or_default().push(row.clone());
        }
        ControlFlow::Continue(())
    });
    assert_eq!(end, Ok(None));
    let mut runs = fs::read_dir(dir.path().join("index")).expect("there is a run");
    let run = runs.next().expect("there is a run").expect("it can be listed").path();
    Indexed { dir, run, rows }
}

fn open(dir: &Path) -> FileLedger {
    FileLedger::new(dir.join("ledger.jsonl"), Arc::new(FixedClock::default()), sample::by())
}

/// The first byte says whether the digests are mended; then comes the file. An empty file stands for
/// the run as it was, and each two bytes behind it for one change in it.
pub fn run(bytes: &[u8]) {
    INDEXED.with(|indexed| with(indexed, bytes));
}

fn with(indexed: &Indexed, bytes: &[u8]) {
    let Some((how, bytes)) = bytes.split_first() else { return };
    let mends = how & 1 == 1;
    let whole = fs::read(&indexed.run).expect("it is there");
    let mut spoilt = if how & 2 == 2 { edited(&whole, bytes) } else { bytes.to_vec() };
    if mends {
        mend(&mut spoilt);
    }
    fs::write(&indexed.run, &spoilt).expect("there is room");
    let ledger = open(indexed.dir.path());
    let is_mended = mends && spoilt != whole;
    // Some of the grants, and one that was never minted.
    for number in (0..GRANTS).step_by(19).map(|n| 1 + (n + u64::from(*how)) % GRANTS).chain([0]) {
        let subject = sample::grant_subject(number);
        let there = indexed.rows.get(&subject).map_or(&[][..], Vec::as_slice);
        match ledger.rows(&subject) {
            // Whoever forges the digests too can hide rows, which `verify` finds; not invent any.
            Ok(found) if is_mended => {
                assert!(found.iter().all(|row| there.contains(row)), "{subject}")
            }
            Err(_) if is_mended => {}
            found => assert_eq!(found.as_deref(), Ok(there), "{subject}"),
        }
    }
    assert!(is_mended || ledger.condition() == Ok(Default::default()));
    fs::write(&indexed.run, &whole).expect("there is room");
}

/// The run with changes: each two bytes are a place, counted from the end or the beginning, and what
/// is added to the byte there.
fn edited(whole: &[u8], changes: &[u8]) -> Vec<u8> {
    let mut run = whole.to_vec();
    let length = run.len();
    for (number, change) in changes.as_chunks::<2>().0.iter().enumerate() {
        let [place, by] = change.map(usize::from);
        let place = if number % 2 == 0 { length - 1 - place } else { place * 97 };
        if let Some(byte) = run.get_mut(place) {
            *byte = byte.wrapping_add(u8::try_from(by).unwrap_or(1));
        }
    }
    run
}

/// Makes the digests of pages, table and footer what they should be.
fn mend(run: &mut Vec<u8>) {
    let Some(footer) = run.len().checked_sub(FIXED + 32) else { return };
    let fixed = run[footer..footer + FIXED].to_vec();
    let entries = u64::from_be_bytes(fixed[COUNTS..COUNTS + 8].try_into().expect("eight bytes"));
    let Ok(body) = usize::try_from(entries).map(|entries| entries.saturating_mul(ENTRY)) else {
        return;
    };
    if body > footer {
        return;
    }
    let pages: Vec<Digest> = run[..body].chunks(PAGE).map(Digest::of).collect();
    for (row, page) in run[body..footer].chunks_exact_mut(40).zip(pages) {
        row[8..].copy_from_slice(&page.0);
    }
    let own = Digest::of(&[&run[body..footer], &fixed[..]].concat());
    run.truncate(footer + FIXED);
    run.extend(own.0);
}
