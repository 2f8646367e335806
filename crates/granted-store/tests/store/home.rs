//! A folder with a ledger in it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use granted_core::store::Ledger;
use granted_store::{Disk, FileLedger, RealDisk};
use granted_testkit::{FixedClock, sample};

/// The real disk, without the waiting.
struct NoSync;

impl Disk for NoSync {
    fn write(&self, file: &std::fs::File, bytes: &[u8], offset: u64) -> std::io::Result<()> {
        RealDisk.write(file, bytes, offset)
    }

    fn sync(&self, _: &std::fs::File) -> std::io::Result<()> {
        Ok(())
    }

    fn cut(&self, file: &std::fs::File, length: u64) -> std::io::Result<()> {
        RealDisk.cut(file, length)
    }
}

/// A folder that goes away with the test.
pub struct Home {
    pub dir: tempfile::TempDir,
    pub clock: Arc<FixedClock>,
}

impl Home {
    pub fn new() -> Home {
        Home { dir: tempfile::tempdir().unwrap(), clock: Arc::default() }
    }

    pub fn path(&self) -> PathBuf {
        self.dir.path().join("ledger.jsonl")
    }

    pub fn index(&self) -> PathBuf {
        self.dir.path().join("index")
    }

    /// A ledger as a process would open it.
    pub fn ledger(&self) -> FileLedger {
        FileLedger::new(self.path(), self.clock.clone(), sample::by())
            .with_patience(Duration::from_secs(10))
    }

    pub fn faulty(&self, disk: Arc<dyn Disk>) -> FileLedger {
        FileLedger::with_disk(self.path(), self.clock.clone(), sample::by(), disk)
    }

    /// A ledger that never syncs, for tests of much that no crash of the machine is part of.
    pub fn quick(&self) -> FileLedger {
        self.faulty(Arc::new(NoSync))
    }

    pub fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.path()).unwrap()
    }

    pub fn write(&self, bytes: &[u8]) {
        std::fs::write(self.path(), bytes).unwrap();
    }

    /// The files that hold what was moved aside.
    pub fn moved(&self) -> Vec<Vec<u8>> {
        let mut names: Vec<_> = std::fs::read_dir(self.dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("ledger.torn-"))
            .collect();
        names.sort();
        names.iter().map(|name| std::fs::read(name).unwrap()).collect()
    }

    pub fn runs(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.index()).into_iter().flatten();
        let mut runs: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        runs.sort();
        runs
    }

    /// Opened, with grants 1 to `count` minted one by one.
    pub fn minted(&self, count: u64) -> FileLedger {
        let ledger = self.ledger();
        ledger.append(&[sample::opened()]).unwrap();
        for number in 1..=count {
            ledger.append(&[sample::minted(number, 0)]).unwrap();
        }
        ledger
    }
}
