//! The contract, and appends of several processes' worth of ledgers.

use std::sync::Arc;

use granted_core::store::Ledger;
use granted_testkit::{contract, sample};

use super::home::Home;

#[test]
fn keeps_the_contract() {
    let homes = std::cell::RefCell::new(Vec::new());
    contract::all(&|clock| {
        let home = Home { clock, ..Home::new() };
        let ledger = Arc::new(home.ledger());
        homes.borrow_mut().push(home);
        ledger
    });
}

#[test]
fn reading_creates_nothing() {
    let home = Home::new();
    let ledger = home.ledger();
    assert_eq!(ledger.head(), Ok(None));
    assert!(ledger.rows(&sample::grant_subject(1)).unwrap().is_empty());
    ledger.tidy();
    assert_eq!(std::fs::read_dir(home.dir.path()).unwrap().count(), 0);
}

#[test]
fn ledgers_of_one_file_append_at_once() {
    let home = Home::new();
    home.minted(0);
    std::thread::scope(|scope| {
        for process in 1..=8 {
            let ledger = home.ledger();
            scope.spawn(move || {
                for n in 0..50 {
                    ledger.append(&[sample::minted(process * 100 + n, 0)]).unwrap();
                }
            });
        }
    });
    assert_eq!(contract::check_chain(&home.ledger()).len(), 401);
}
