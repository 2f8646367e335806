//! A book for tests of the pipelines: real files, a clock that stands, and appends that go wrong.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use granted_core::decision::conclude::Verdict;
use granted_core::decision::discharge::Request;
use granted_core::decision::mint::Terms;
use granted_core::decision::{Object, Report, Use};
use granted_core::ledger::{By, Door};
use granted_store::{Disk, FileDocuments, FileLedger, RealDisk};
use granted_testkit::{Fault, FaultyLedger, FixedClock};

use super::mint::{MintError, mint};
use crate::book::Book;
use crate::home::Home;
use crate::ledger::verify::verify;

/// What goes wrong with an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// As the faulty ledger has it.
    Fault(Fault),
    /// A part of it is written, and that cannot be undone: the process may append no more.
    Torn,
}

/// A home, and how often something was done to the world from it.
pub struct Stage {
    dir: tempfile::TempDir,
    pub clock: Arc<FixedClock>,
    pub effects: Cell<u32>,
}

/// `report/1`
pub fn object() -> Object {
    Object { id: "1".parse().unwrap(), r#type: "report".parse().unwrap() }
}

/// A single-use grant of that object, for an hour.
pub fn terms(clock: &FixedClock) -> Terms {
    Terms {
        agent: None,
        allowed_actions: vec![],
        binds: vec![],
        decision: Use::Once,
        executor: None,
        executor_bound: None,
        minted_by: "me".parse().unwrap(),
        not_after: granted_core::time::Clock::now(clock).plus(Duration::from_secs(3_600)),
        not_before: None,
        not_scope: vec![],
        object: object(),
        scope: "".parse().unwrap(),
        again: false,
    }
}

impl Stage {
    pub fn new() -> Stage {
        let dir = tempfile::tempdir().unwrap();
        Stage { dir, clock: Arc::default(), effects: Cell::new(0) }
    }

    /// The book as a new process opens it.
    pub fn book(&self) -> Book {
        self.process(|ledger| ledger, Arc::new(RealDisk))
    }

    /// The same in a process of which this append goes wrong.
    pub fn wrong(&self, append: usize, wrong: Wrong) -> Book {
        match wrong {
            Wrong::Fault(fault) => {
                self.process(|ledger| ledger.at(append, fault), Arc::new(RealDisk))
            }
            Wrong::Torn => self.process(|ledger| ledger, Arc::new(TornDisk::at(append))),
        }
    }

    fn process(
        &self,
        faults: impl FnOnce(FaultyLedger) -> FaultyLedger,
        disk: Arc<dyn Disk>,
    ) -> Book {
        let home = Home::at(self.dir.path());
        let by = By { agent: None, door: Door::Library, host: "box".into(), uid: 0 };
        let file = FileLedger::with_disk(home.ledger(), self.clock.clone(), by, disk);
        let ledger = Arc::new(faults(FaultyLedger::new(Arc::new(file))));
        let documents = Arc::new(FileDocuments::new(home.documents()));
        Book::with(home, Door::Library, ledger, documents, self.clock.clone())
    }

    /// Mints `report/1`; what is told.
    pub fn mint(&self, book: &Book) -> String {
        match mint(book, &[terms(&self.clock)]) {
            Ok(_) => "minted".into(),
            Err(MintError::Book(e)) => format!("error: {e}"),
            Err(e) => format!("refused: {e}"),
        }
    }

    /// Tries to discharge `report/1`, doing it where that is let; the report.
    pub fn attempt(&self, book: &Book, key: Option<&str>) -> Report {
        let mut request = Request::new("report", "1", "closure").unwrap();
        request.key = key.map(|key| key.parse().unwrap());
        crate::discharge(book, &request, |_, act| {
            self.effects.set(self.effects.get() + 1);
            act.result(true, None);
            Verdict::Done
        })
    }

    /// `OUTCOME: REASON` of an attempt.
    pub fn said(&self, book: &Book) -> String {
        let report = self.attempt(book, None);
        format!("{}: {}", report.outcome, report.reason)
    }

    /// The kinds of the rows, without `decision.`, of a ledger that must be whole.
    pub fn kinds(&self) -> Vec<String> {
        let book = self.book();
        let found = verify(&*book.ledger, &mut |_| {}).unwrap();
        assert_eq!(found.fault, None);
        let kind = |seq| book.ledger.row(seq).unwrap().unwrap().event.kind();
        (1..=found.rows).map(|seq| kind(seq).trim_start_matches("decision.").to_owned()).collect()
    }
}

/// A disk that takes half of one write and nothing more.
struct TornDisk {
    /// How many writes it still takes.
    left: AtomicUsize,
}

impl TornDisk {
    fn at(write: usize) -> TornDisk {
        TornDisk { left: AtomicUsize::new(write) }
    }
}

impl Disk for TornDisk {
    fn write(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        match self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)) {
            Ok(1) => {
                file.write_all_at(&bytes[..bytes.len() / 2], offset)?;
                Err(io::Error::other("the disk is gone"))
            }
            Ok(_) => RealDisk.write(file, bytes, offset),
            Err(_) => Err(io::Error::other("the disk is gone")),
        }
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        RealDisk.sync(file)
    }

    fn cut(&self, file: &File, length: u64) -> io::Result<()> {
        match self.left.load(Ordering::SeqCst) {
            0 => Err(io::Error::other("the disk is gone")),
            _ => RealDisk.cut(file, length),
        }
    }
}
