//! Many threads of one process that discharge at once.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use granted::{Book, Door, Reason, Request, Verdict};
use granted_core::ledger::By;
use granted_store::{Disk, FileDocuments, FileLedger, RealDisk};
use serde_json::{Value, json};

use crate::book::{self, Wall};
use crate::samples::timed;

const THREADS: usize = 64;
/// Discharges of each of the threads in a round.
const EACH: usize = 25;

/// A disk on which a sync takes 2 ms, whatever the machine has.
struct SlowDisk;

impl Disk for SlowDisk {
    fn write(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        RealDisk.write(file, bytes, offset)
    }

    fn sync(&self, _: &File) -> io::Result<()> {
        std::thread::sleep(Duration::from_millis(2));
        Ok(())
    }

    fn cut(&self, file: &File, length: u64) -> io::Result<()> {
        RealDisk.cut(file, length)
    }
}

/// Discharges a second of one thread and of 64, on both disks.
pub fn run(folder: &Path, program: &str, rounds: usize) -> Value {
    let slow = Crowd::new(folder.join("slow"), program, Arc::new(SlowDisk), 50, rounds);
    let real = Crowd::new(folder.join("real"), program, Arc::new(RealDisk), 400, rounds);
    let mut rates = [(); 4].map(|()| Vec::new());
    for round in 0..rounds {
        for (which, crowd) in [&slow, &real].into_iter().enumerate() {
            let (alone, together) = crowd.round(round);
            rates[which * 2].push(alone);
            rates[which * 2 + 1].push(together);
        }
    }
    let [slow_one, slow_all, real_one, real_all] = rates;
    json!({ "slow_one": slow_one, "slow_all": slow_all, "real_one": real_one, "real_all": real_all })
}

struct Crowd {
    book: Book,
    /// Discharges of the one thread in a round.
    alone: usize,
}

impl Crowd {
    fn new(
        root: impl AsRef<Path>,
        program: &str,
        disk: Arc<dyn Disk>,
        alone: usize,
        rounds: usize,
    ) -> Crowd {
        let home = book::mint(program, root.as_ref(), (alone + THREADS * EACH) * rounds);
        let by = By { agent: None, door: Door::Library, host: "bench".into(), uid: 0 };
        let clock = Arc::new(Wall);
        let ledger = Arc::new(FileLedger::with_disk(home.ledger(), clock.clone(), by, disk));
        let documents = Arc::new(FileDocuments::new(home.documents()));
        Crowd { book: Book::with(home, Door::Library, ledger, documents, clock), alone }
    }

    /// The rates of one thread, and then of all.
    fn round(&self, round: usize) -> (f64, f64) {
        let first = round * (self.alone + THREADS * EACH);
        let (micros, ()) = timed(|| (first..first + self.alone).for_each(|n| self.discharge(n)));
        let alone = self.alone as f64 / micros * 1e6;
        let first = first + self.alone;
        let barrier = Barrier::new(THREADS + 1);
        let (micros, ()) = std::thread::scope(|scope| {
            let threads = (0..THREADS).map(|thread| {
                let (barrier, first) = (&barrier, first + thread * EACH);
                scope.spawn(move || {
                    barrier.wait();
                    (first..first + EACH).for_each(|number| self.discharge(number));
                })
            });
            let threads: Vec<_> = threads.collect();
            barrier.wait();
            timed(|| threads.into_iter().for_each(|thread| thread.join().unwrap()))
        });
        (alone, (THREADS * EACH) as f64 / micros * 1e6)
    }

    fn discharge(&self, number: usize) {
        let request = Request::new("report", &book::id(number), "nothing").unwrap();
        let report = granted::discharge(&self.book, &request, |_, act| {
            act.result(true, None);
            Verdict::Done
        });
        assert_eq!(report.reason, Reason::Confirmed, "{report}");
    }
}
