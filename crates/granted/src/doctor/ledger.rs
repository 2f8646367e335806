//! The ledger's condition, the clock, the index and the locks.

use std::fs::TryLockError;
use std::ops::ControlFlow;
use std::sync::Arc;

use granted_core::custody::unsuitable;
use granted_core::decision::discharge::clock_behind;
use granted_core::ledger::Door;
use granted_core::store::{Documents as _, Ledger as _};
use granted_core::text::for_shell;
use granted_core::time::Clock as _;
use granted_core::trust::{Mode, Trust};
use granted_core::write::Status;
use granted_store::{FileDocuments, FileLedger, Groups, nodes, open};

use super::places::{FILE, own};
use super::{ACCEPT, Check};
use crate::book::Book;
use crate::clock::SystemClock;
use crate::decision::gather;
use crate::home::Home;
use crate::write::list;

/// With what the book trusts, as far as that can be read.
pub(super) fn checks(home: &Home) -> (Vec<Check>, Trust) {
    let ledger = FileLedger::new(home.ledger(), Arc::new(SystemClock), crate::book::by(Door::Cli))
        .within(home.folder());
    let (trust, trusted) = trust(home);
    let rows = rows(home, &ledger);
    let index = index(home, &ledger);
    let requests = requests(&ledger);
    (vec![rows, requests, trust, clock(&ledger), index, tree(home), locks(home)], trusted)
}

fn trust(home: &Home) -> (Check, Trust) {
    let check = Check::new("trust", None, "a key can sign, where signatures are asked for");
    let trust = match gather::trust(&Book::open(home.clone(), Door::Cli)) {
        Ok(trust) => trust,
        Err(e) => return (check.wrong(e, None), Trust::default()),
    };
    let check = check.found(format!("{} mode; trusted keys: {}", trust.mode, trust.keys().len()));
    let nobody = trust.mode == Mode::Signed && trust.keys().is_empty();
    let check = match nobody {
        true => check.wrong("no key is trusted any more: begin a new book", None),
        false => check,
    };
    (check, trust)
}

fn rows(home: &Home, ledger: &FileLedger) -> Check {
    let rule = "its end is whole, and it was not cut back";
    let check = Check::new("rows", Some(home.ledger()), rule);
    let (head, condition) = match ledger.head().and_then(|head| Ok((head, ledger.condition()?))) {
        Ok(read) => read,
        Err(e) => return check.wrong(e, None),
    };
    if let Some(damage) = condition.damage {
        let (line, cause) = (damage.line, damage.cause);
        return check.wrong(format!("line {line} is damaged: {cause}"), Some(ACCEPT.into()));
    }
    if let Some(rows) = condition.rollback {
        let problem = format!(
            "it is shorter than it was, or another (its index has seen row {rows}): put it back, or accept it"
        );
        return check.wrong(problem, Some(ACCEPT.into()));
    }
    let Some(head) = head else {
        let mut any = false;
        // A folder that cannot be listed has a check of its own.
        let _ =
            FileDocuments::new(home.documents()).within(home.folder()).list(&mut |_| any = true);
        return match any {
            false => check.found("rows: none yet"),
            true => check.wrong("it holds no row, but there are grants: put it back", None),
        };
    };
    let check = check.found(format!("rows: {}; `granted ledger verify` checks each", head.seq));
    match ledger.scan(u64::MAX, &mut |_| ControlFlow::Break(())) {
        Err(e) => check.wrong(e, None),
        Ok(None) => check,
        Ok(Some(torn)) => check.found(format!(
            "rows: {}, and {} bytes of an append that was never finished, which the next moves aside",
            head.seq, torn.bytes
        )),
    }
}

/// Change sets of which some file is neither as it was nor as it was to be.
fn requests(ledger: &FileLedger) -> Check {
    let check = Check::new("requests", None, "none is unresolved");
    let open = match list::open(ledger) {
        Ok(open) => open,
        Err(e) => return check.wrong(e, None),
    };
    match open.iter().find(|state| state.status == Status::Unresolved) {
        None => check.found(format!("requests that wait: {}", open.len())),
        Some(state) => {
            let mend = format!("granted writes show {}", state.id);
            check.wrong(format!("request {} is unresolved", state.id), Some(mend))
        }
    }
}

fn clock(ledger: &FileLedger) -> Check {
    let check = Check::new("clock", None, "not behind the ledger's last row");
    match clock_behind(SystemClock.now(), ledger.head().ok().flatten()) {
        None => check,
        Some(behind) => {
            check.wrong(format!("{behind}: set it right, or accept it"), Some(ACCEPT.into()))
        }
    }
}

fn index(home: &Home, ledger: &FileLedger) -> Check {
    let folder = home.ledger_folder().join("index");
    let check = Check::new("runs", Some(folder.path()), "each run is whole");
    let state = match ledger.index() {
        Ok(state) => state,
        Err(e) => return check.wrong(e, None),
    };
    let (runs, covered, of) = (state.runs, state.covered, state.of);
    let check = check.found(format!("runs: {runs}, over {covered} of the ledger's {of} bytes"));
    match state.damaged.as_slice() {
        [] => check,
        damaged => {
            let paths: Vec<String> = damaged
                .iter()
                .map(|name| for_shell(&folder.path().join(name).display().to_string()))
                .collect();
            check.wrong(
                format!("{} of its files are damaged, and searched past", damaged.len()),
                Some(format!("rm {}", paths.join(" "))),
            )
        }
    }
}

fn tree(home: &Home) -> Check {
    let folder = home.ledger_folder().join("index");
    let path = folder.path().join(nodes::NAME);
    let check = Check::new("tree", Some(&path), FILE);
    let kept = match folder.file(nodes::NAME, open::read_at) {
        Ok(kept) => kept,
        Err(e) => return check.not_opened(&e),
    };
    let check = own(check, &kept);
    match Groups::read(kept.handle) {
        Some(groups) => {
            check.found(format!("nodes over {} rows each: {}", nodes::GROUP, groups.roots.len()))
        }
        None => {
            let mend = format!("rm {}", for_shell(&path.display().to_string()));
            check.wrong("it is damaged, and not relied on", Some(mend))
        }
    }
}

fn locks(home: &Home) -> Check {
    let place = home.ledger_folder();
    let check = Check::new("locks", Some(place.path()), "a local disk whose locks work");
    // Of a home that is not made yet, the disk that it will be on.
    let there = place.path().ancestors().find_map(|path| open::folder(path).ok());
    let Some(there) = there else { return check.found("nothing to ask yet") };
    match rustix::fs::fstatfs(&there) {
        Err(e) => return check.wrong(std::io::Error::from(e), None),
        Ok(disk) => {
            // The kernel's numbers have 32 bits, whatever type they are given in.
            let number = u32::try_from(disk.f_type & 0xffff_ffff).unwrap_or_default();
            if let Some(name) = unsuitable(number) {
                let problem = format!("it lies on {name}: move it to a local disk");
                return check.wrong(problem, None);
            }
        }
    }
    let name = home.ledger().file_name().unwrap_or_default();
    let Ok(ledger) = place.file(name, open::read_at) else {
        return check.found("no ledger to try one on");
    };
    // A shared one, for no time at all. That another holds it shows that they work.
    match ledger.handle.try_lock_shared() {
        Ok(()) => {
            let _ = ledger.handle.unlock();
            check
        }
        Err(TryLockError::WouldBlock) => check.found("held by another process at the moment"),
        Err(TryLockError::Error(e)) => check.wrong(format!("no lock is to be had: {e}"), None),
    }
}
