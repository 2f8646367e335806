//! Many agents that share a token file at once, while many approve.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use granted_core::spend::Sats;

use super::requests::look;
use super::stage::{Stage, sats};

const FILERS: usize = 20;
const EACH: usize = 50;
const APPROVERS: usize = 8;

/// One who files. It counts until it has ended, also by a panic: who approves would wait for it for ever.
struct Filing<'a>(&'a AtomicUsize);

impl Drop for Filing<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[test]
fn a_budget_holds_however_many_file_and_approve() {
    let stage = Stage::new();
    let book = stage.book();
    let token = stage.issue(&book).token;
    let filing = AtomicUsize::new(FILERS);
    let root = stage.root();
    std::thread::scope(|scope| {
        for filer in 0..FILERS {
            let (token, filing) = (&token, Filing(&filing));
            scope.spawn(move || {
                // Each as its own process would be.
                let stage = Stage::at(root, |_| {});
                let book = stage.book();
                for number in 0..EACH {
                    stage.file(&book, token, &format!("{filer}-{number}"), 1_000).unwrap();
                }
                drop(filing);
            });
        }
        for approver in 0..APPROVERS {
            let filing = &filing;
            scope.spawn(move || {
                let stage = Stage::at(root, |_| {});
                let book = stage.book();
                loop {
                    let last = filing.load(Ordering::SeqCst) == 0;
                    let found = look(&stage.spends(&book)).unwrap();
                    let mut waiting: Vec<_> =
                        found.iter().filter(|request| request.state.is_approvable()).collect();
                    if last && waiting.is_empty() {
                        return;
                    }
                    // All begin elsewhere, and meet.
                    let start = waiting.len() * approver / APPROVERS;
                    waiting.rotate_left(start);
                    for request in waiting {
                        // Whoever is second is told so, and goes on.
                        let _ = stage.approve(&book, request.id);
                    }
                }
            });
        }
    });
    let found = look(&stage.spends(&book)).unwrap();
    let of = |status: &str| found.iter().filter(|r| r.state.status() == status).count();
    // 1,000 sat and a fee of 200 fit 41 times.
    assert_eq!((of("sent"), of("denied")), (41, FILERS * EACH - 41));
    let drawn = found.iter().filter_map(|r| r.paid()?.fee.plus(r.filed.amount_sat));
    assert_eq!(Sats::sum(drawn), sats(49_200));
    let seen = stage.wallet.seen();
    let once: BTreeSet<&str> = seen.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!((seen.len(), once.len(), stage.wallet.signatures().len()), (41, 41, 41));
    // The ledger is whole, and no draw in it goes past the budget.
    assert_eq!(stage.kinds().iter().filter(|kind| *kind == "signing").count(), 41);
}
