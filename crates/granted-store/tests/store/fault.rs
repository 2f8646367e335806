//! Failed writes and syncs: undone and not written, or unknown and never again.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use granted_core::store::{AppendError, Ledger, NotWritten};
use granted_store::{Disk, RealDisk};
use granted_testkit::{contract, sample};

use super::home::Home;

/// What the next calls do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    Real,
    /// Write so many bytes, then fail.
    Short(usize),
    /// The sync fails although the bytes may have landed.
    Sync,
    /// The write is short and the cut fails too.
    ShortForGood(usize),
    /// The sync fails, also the one that would confirm the undoing.
    SyncForGood,
    /// All succeeds, slowly.
    Slow,
}

struct FaultyDisk {
    plan: Mutex<Plan>,
    syncs: AtomicUsize,
}

impl FaultyDisk {
    fn new() -> Arc<FaultyDisk> {
        Arc::new(FaultyDisk { plan: Mutex::new(Plan::Real), syncs: AtomicUsize::new(0) })
    }

    fn set(&self, plan: Plan) {
        *self.plan.lock().unwrap() = plan;
    }

    fn plan(&self) -> Plan {
        *self.plan.lock().unwrap()
    }
}

fn full() -> io::Error {
    io::Error::from(io::ErrorKind::StorageFull)
}

impl Disk for FaultyDisk {
    fn write(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        match self.plan() {
            Plan::Short(n) | Plan::ShortForGood(n) => {
                RealDisk.write(file, &bytes[..n.min(bytes.len())], offset)?;
                Err(full())
            }
            _ => RealDisk.write(file, bytes, offset),
        }
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.syncs.fetch_add(1, Ordering::SeqCst);
        match self.plan() {
            Plan::Sync => {
                self.set(Plan::Real);
                Err(io::Error::other("the disk is gone"))
            }
            Plan::SyncForGood => Err(io::Error::other("the disk is gone")),
            Plan::Slow => {
                std::thread::sleep(Duration::from_millis(2));
                RealDisk.sync(file)
            }
            _ => RealDisk.sync(file),
        }
    }

    fn cut(&self, file: &File, length: u64) -> io::Result<()> {
        match self.plan() {
            Plan::ShortForGood(_) => Err(full()),
            _ => RealDisk.cut(file, length),
        }
    }
}

#[test]
fn what_fails_is_undone() {
    let home = Home::new();
    let disk = FaultyDisk::new();
    let ledger = home.faulty(disk.clone());
    ledger.append(&[sample::opened()]).unwrap();
    let length = home.bytes().len();
    let row = sample::minted(1, 0);
    let mut plans: Vec<Plan> = (0..700).step_by(50).map(Plan::Short).collect();
    plans.push(Plan::Sync);
    for plan in plans {
        disk.set(plan);
        let answer = ledger.append(&[row.clone(), sample::minted(2, 0)]);
        let Err(AppendError::NotWritten(NotWritten::Unwritable(why))) = answer else {
            panic!("{plan:?}: {answer:?}")
        };
        assert!(why.contains(home.path().to_str().unwrap()));
        assert_eq!(home.bytes().len(), length, "{plan:?}");
    }
    disk.set(Plan::Real);
    ledger.append(&[row]).unwrap();
    assert_eq!(contract::check_chain(&home.ledger()).len(), 2);
    assert!(home.moved().is_empty());
}

#[test]
fn what_cannot_be_undone_is_unknown_and_ends_this_process_s_appends() {
    for plan in [Plan::ShortForGood(100), Plan::ShortForGood(10_000), Plan::SyncForGood] {
        let home = Home::new();
        let disk = FaultyDisk::new();
        let ledger = home.faulty(disk.clone());
        ledger.append(&[sample::opened()]).unwrap();
        disk.set(plan);
        let answer = ledger.append(&[sample::minted(1, 0)]);
        assert!(matches!(answer, Err(AppendError::Unknown(_))), "{plan:?}: {answer:?}");
        disk.set(Plan::Real);
        let (bytes, syncs) = (home.bytes(), disk.syncs.load(Ordering::SeqCst));
        let answer = ledger.append(&[sample::minted(2, 0)]);
        assert!(matches!(answer, Err(AppendError::NotWritten(_))), "{plan:?}: {answer:?}");
        // Nothing was written, and no failed sync was tried again.
        assert_eq!((home.bytes(), disk.syncs.load(Ordering::SeqCst)), (bytes, syncs));
        // The next process takes the ledger as it is.
        let ledger = home.ledger();
        ledger.append(&[sample::minted(3, 0)]).unwrap();
        contract::check_chain(&ledger);
    }
}

#[test]
fn a_failed_accept_leaves_the_damage() {
    for plan in [Plan::Short(5), Plan::Sync] {
        let home = Home::new();
        let disk = FaultyDisk::new();
        let ledger = home.faulty(disk.clone());
        ledger.append(&[sample::opened()]).unwrap();
        home.write(&[&home.bytes()[..], b"damage\nmore\n"].concat());
        let damaged = home.bytes();
        disk.set(plan);
        let mut drafts = |_: &granted_core::store::Moved<'_>| Ok(vec![sample::accepted(vec![])]);
        let answer = ledger.accept(&mut drafts);
        if plan == Plan::Sync {
            assert!(matches!(answer, Err(AppendError::NotWritten(_))), "{answer:?}");
            assert_eq!(home.bytes(), damaged);
        } else {
            // Putting it back failed too.
            assert!(matches!(answer, Err(AppendError::Unknown(_))), "{answer:?}");
        }
        let next = home.ledger();
        assert!(next.condition().unwrap().damage.is_some());
        next.accept(&mut drafts).unwrap();
        assert_eq!(contract::check_chain(&next).len(), 2);
    }
}

#[test]
fn one_write_and_sync_serves_all_that_wait() {
    let home = Home::new();
    let disk = FaultyDisk::new();
    let ledger = home.faulty(disk.clone());
    ledger.append(&[sample::opened()]).unwrap();
    disk.set(Plan::Slow);
    let before = disk.syncs.load(Ordering::SeqCst);
    let barrier = Barrier::new(32);
    std::thread::scope(|scope| {
        for thread in 0..32_u64 {
            let (ledger, barrier) = (&ledger, &barrier);
            scope.spawn(move || {
                barrier.wait();
                for n in 0..8 {
                    // Every fourth finds its guard wrong, alone of its batch.
                    let number = 1 + thread * 100 + n;
                    let stale = n % 4 == 3;
                    let answer = ledger.append(&[sample::minted(number, u64::from(stale))]);
                    assert_eq!(answer.is_err(), stale);
                }
            });
        }
    });
    let syncs = disk.syncs.load(Ordering::SeqCst) - before;
    assert!(syncs < 100, "{syncs} syncs for 192 appends");
    assert_eq!(contract::check_chain(&home.ledger()).len(), 1 + 32 * 6);
}
