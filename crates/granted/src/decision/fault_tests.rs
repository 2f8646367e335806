//! Every append of every verb goes wrong in every way: nothing is done twice, the caller is told
//! what is known, and the next process finds a ledger that it can settle.

use std::time::Duration;

use granted_core::decision::conclude::Verdict;
use granted_core::decision::discharge::Request;
use granted_core::decision::event::Resolved;
use granted_core::decision::mint::Terms;
use granted_core::decision::{Bind, Object, Status};
use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::time::Clock as _;
use granted_testkit::Fault;

use super::mint::mint;
use super::resolve::{ResolveError, resolve};
use super::revoke::{RevokeError, Target, revoke};
use super::stage::{Stage, Wrong, object, terms};
use super::tick::tick;
use crate::book::Book;

const NOT_WRITTEN: Wrong = Wrong::Fault(Fault::NotWritten);
const LOST: Wrong = Wrong::Fault(Fault::Lost);
const LANDED: Wrong = Wrong::Fault(Fault::Landed);
const CONFLICT: Wrong = Wrong::Fault(Fault::Conflict);
const DELAYED: Wrong = Wrong::Fault(Fault::Delayed(Duration::from_millis(5)));

const ALL: [Wrong; 6] = [NOT_WRITTEN, LOST, LANDED, Wrong::Torn, CONFLICT, DELAYED];

/// Whether the append is not written and stays so.
fn fails(wrong: Wrong) -> bool {
    matches!(wrong, NOT_WRITTEN | LOST | Wrong::Torn)
}

/// Whether the caller sees nothing of it.
fn heals(wrong: Wrong) -> bool {
    matches!(wrong, CONFLICT | DELAYED)
}

fn status(stage: &Stage) -> Status {
    crate::status(&stage.book(), &object()).unwrap().status
}

fn minted() -> Stage {
    let stage = Stage::new();
    assert_eq!(stage.mint(&stage.book()), "minted");
    stage
}

/// A grant whose act was cut off, and the attempt.
fn interrupted() -> (Stage, Id) {
    let stage = minted();
    let report = stage.attempt(&stage.wrong(2, NOT_WRITTEN), Some("k"));
    (stage, report.discharge_id.unwrap())
}

#[test]
fn of_a_mint() {
    for (append, wrong) in (1..=2).flat_map(|append| ALL.map(|wrong| (append, wrong))) {
        let case = format!("append {append}: {wrong:?}");
        let stage = Stage::new();
        let book = stage.wrong(append, wrong);
        let told = stage.mint(&book);
        let (found, orphans) = match (append, wrong) {
            _ if heals(wrong) => (Status::Live, 0),
            (2, LANDED) => (Status::Live, 0),
            // A document stays where its row may be; one whose row is certainly not there goes.
            (2, LOST | Wrong::Torn) => (Status::None, 1),
            _ => (Status::None, 0),
        };
        match heals(wrong) {
            true => assert_eq!(told, "minted", "{case}"),
            false => assert!(told.starts_with("error: "), "{case}: {told}"),
        }
        assert_eq!(status(&stage), found, "{case}");
        drop(book);
        // The next process mints what is not there, and only that.
        let next = stage.mint(&stage.book());
        let expected = if found == Status::Live { "refused: " } else { "minted" };
        assert!(next.starts_with(expected), "{case}: {next}");
        assert_eq!(tick(&stage.book()).unwrap().orphans.len(), orphans, "{case}");
        assert_eq!(stage.said(&stage.book()), "discharged: confirmed", "{case}");
        assert_eq!(stage.said(&stage.book()), "refused: consumed", "{case}");
        assert_eq!(stage.effects.get(), 1, "{case}");
        let torn = stage.kinds().iter().filter(|kind| *kind == "ledger.torn").count();
        // With the very first row torn there is no row to note it behind.
        assert_eq!(torn, usize::from((append, wrong) == (2, Wrong::Torn)), "{case}");
    }
}

/// The clock was set back a little, behind a window that the ledger has reached.
#[test]
#[expect(clippy::disallowed_methods, reason = "a file of the test")]
fn a_bound_file_is_looked_at_whenever_its_grant_may_be_used() {
    let (stage, dir) = (Stage::new(), tempfile::tempdir().unwrap());
    let (file, start) = (dir.path().join("bound"), stage.clock.now());
    let seconds = |n| start.plus(Duration::from_secs(n));
    std::fs::write(&file, "one").unwrap();
    let bind = Bind { path: file.to_str().unwrap().parse().unwrap(), sha256: Digest::of(b"one") };
    let bound = Terms { binds: vec![bind], not_before: Some(seconds(3)), ..terms(&stage.clock) };
    mint(&stage.book(), &[bound]).unwrap();
    stage.clock.set(seconds(4));
    let other = Object { id: "2".parse().unwrap(), ..object() };
    mint(&stage.book(), &[Terms { object: other, ..terms(&stage.clock) }]).unwrap();
    stage.clock.set(seconds(2));
    std::fs::write(&file, "two").unwrap();
    assert_eq!(stage.said(&stage.book()), "refused: binding_changed");
    std::fs::write(&file, "one").unwrap();
    assert_eq!(stage.said(&stage.book()), "discharged: confirmed");
    assert_eq!(stage.effects.get(), 1);
}

#[test]
fn of_a_claim() {
    for wrong in ALL {
        let stage = minted();
        let book = stage.wrong(1, wrong);
        let told = stage.said(&book);
        if heals(wrong) {
            assert_eq!((told.as_str(), stage.effects.get()), ("discharged: confirmed", 1));
            continue;
        }
        // Nothing runs on a claim that may not be there.
        assert_eq!((told.as_str(), stage.effects.get()), ("refused: ledger_unwritable", 0));
        let (same, fresh, effects) = match wrong {
            NOT_WRITTEN | LOST => ("discharged: confirmed", "refused: consumed", 1),
            Wrong::Torn => ("refused: ledger_unwritable", "discharged: confirmed", 1),
            _ => ("refused: consumed", "refused: consumed", 0),
        };
        assert_eq!(stage.said(&book), same, "{wrong:?}");
        drop(book);
        assert_eq!(stage.said(&stage.book()), fresh, "{wrong:?}");
        assert_eq!(stage.said(&stage.book()), "refused: consumed", "{wrong:?}");
        assert_eq!((stage.effects.get(), status(&stage)), (effects, Status::Consumed));
        stage.kinds();
    }
}

#[test]
fn of_a_claim_that_the_next_process_finds() {
    let stage = minted();
    let book = stage.wrong(1, LANDED);
    assert_eq!(stage.said(&book), "refused: ledger_unwritable");
    drop(book);
    assert_eq!(stage.said(&stage.book()), "refused: consumed");
    assert_eq!(stage.kinds(), ["ledger.opened", "minted", "intent", "outcome", "outcome"]);
    assert_eq!(stage.effects.get(), 0);
}

#[test]
fn of_what_an_act_came_to() {
    for (wrong, key) in ALL.into_iter().flat_map(|wrong| [(wrong, None), (wrong, Some("k"))]) {
        let case = format!("{wrong:?}, key {key:?}");
        let stage = minted();
        let book = stage.wrong(2, wrong);
        let told = stage.attempt(&book, key);
        let reason = if heals(wrong) { "confirmed" } else { "no_result_row" };
        assert_eq!((told.reason.as_str(), stage.effects.get()), (reason, 1), "{case}");
        // Later attempts, first of the same process, are answered and do nothing.
        let stored = if fails(wrong) { "interrupted" } else { "confirmed" };
        let answer = if key.is_some() { stored } else { "consumed" };
        let same = if wrong == Wrong::Torn { "ledger_unwritable" } else { answer };
        assert_eq!(stage.attempt(&book, key).reason.as_str(), same, "{case}");
        drop(book);
        let later = stage.attempt(&stage.book(), key);
        assert_eq!((later.reason.as_str(), later.replayed), (answer, key.is_some()), "{case}");
        assert_eq!((stage.effects.get(), status(&stage)), (1, Status::Consumed), "{case}");
        stage.kinds();
    }
}

#[test]
fn of_a_decline() {
    for wrong in ALL {
        let stage = minted();
        let book = stage.wrong(2, wrong);
        let request = Request::new("report", "1", "closure").unwrap();
        let told = crate::discharge(&book, &request, |_, _| Verdict::Declined);
        let reason = if heals(wrong) { "executor_declined" } else { "no_result_row" };
        assert_eq!(told.reason.as_str(), reason, "{wrong:?}");
        drop(book);
        // A decline that is not in the ledger is not known, so the grant is spent.
        let (next, effects) = match fails(wrong) {
            true => ("refused: consumed", 0),
            false => ("discharged: confirmed", 1),
        };
        assert_eq!((stage.said(&stage.book()).as_str(), stage.effects.get()), (next, effects));
        stage.kinds();
    }
}

#[test]
fn of_a_refusal() {
    for wrong in ALL {
        let stage = minted();
        stage.said(&stage.book());
        let rows = stage.kinds().len();
        let book = stage.wrong(1, wrong);
        let told = stage.attempt(&book, None);
        // Without a row there is no attempt to name, and that is what is told first. A refusal
        // moves nothing that others move, so a conflict is as strange as the rest.
        let recorded = wrong == DELAYED;
        let reason = if recorded { "consumed" } else { "ledger_unwritable" };
        assert_eq!(told.reason.as_str(), reason, "{wrong:?}");
        assert_eq!(told.discharge_id.is_some(), recorded, "{wrong:?}");
        assert_eq!(told.detail.contains("it is also consumed"), !recorded, "{wrong:?}");
        drop(book);
        stage.said(&stage.book());
        // After a torn row there is the one that tells of it.
        let more = if matches!(wrong, LANDED | Wrong::Torn | DELAYED) { 2 } else { 1 };
        assert_eq!((stage.kinds().len() - rows, stage.effects.get()), (more, 1), "{wrong:?}");
    }
}

#[test]
fn of_settling_what_was_cut_off() {
    for (append, wrong) in (1..=2).flat_map(|append| ALL.map(|wrong| (append, wrong))) {
        let case = format!("append {append}: {wrong:?}");
        let (stage, _) = interrupted();
        let book = stage.wrong(append, wrong);
        let told = stage.said(&book);
        // The second append is the refusal itself, which a conflict or a fault leaves unrecorded.
        let recorded = if append == 1 { heals(wrong) } else { wrong == DELAYED };
        let expected = if recorded { "refused: consumed" } else { "refused: ledger_unwritable" };
        assert_eq!(told, expected, "{case}");
        drop(book);
        assert_eq!(stage.said(&stage.book()), "refused: consumed", "{case}");
        // The attempt that was answered before it was settled is settled once.
        let replayed = stage.attempt(&stage.book(), Some("k"));
        assert_eq!(replayed.reason.as_str(), "interrupted", "{case}");
        assert_eq!(stage.effects.get(), 1, "{case}");
        stage.kinds();
    }
}

fn take_back(book: &Book) -> String {
    match revoke(book, &Target::Object(object()), None, None) {
        Ok(_) => "revoked".into(),
        Err(RevokeError::Book(_)) => "error".into(),
        Err(_) => "refused".into(),
    }
}

#[test]
fn of_a_revocation() {
    for wrong in ALL {
        let stage = minted();
        let book = stage.wrong(1, wrong);
        assert_eq!(take_back(&book), if heals(wrong) { "revoked" } else { "error" }, "{wrong:?}");
        drop(book);
        assert_eq!(status(&stage), if fails(wrong) { Status::Live } else { Status::Revoked });
        let again = if fails(wrong) { "revoked" } else { "refused" };
        assert_eq!(take_back(&stage.book()), again, "{wrong:?}");
        assert_eq!(stage.said(&stage.book()), "refused: revoked", "{wrong:?}");
        assert_eq!(stage.effects.get(), 0);
        assert_eq!(stage.kinds().iter().filter(|kind| *kind == "revoked").count(), 1);
    }
}

#[test]
fn of_the_persons_word() {
    let settle = |book: &Book, id: Id| {
        let resolved =
            Resolved { by: "me".parse().unwrap(), happened: true, note: None, signature: None };
        match resolve(book, id, &resolved, |_, _| unreachable!("no key is trusted")) {
            Ok(()) => "resolved",
            Err(ResolveError::Book(_)) => "error",
            Err(ResolveError::Refused(_)) => "refused",
        }
    };
    // The first append settles what was cut off, the second is the person's.
    for (append, wrong) in (1..=2).flat_map(|append| ALL.map(|wrong| (append, wrong))) {
        let case = format!("append {append}: {wrong:?}");
        let (stage, id) = interrupted();
        let book = stage.wrong(append, wrong);
        let told = settle(&book, id);
        // One that loses the settling to somebody else looks again.
        assert_eq!(told, if heals(wrong) { "resolved" } else { "error" }, "{case}");
        drop(book);
        let there = heals(wrong) || (append, wrong) == (2, LANDED);
        let again = settle(&stage.book(), id);
        assert_eq!(again, if there { "refused" } else { "resolved" }, "{case}");
        assert_eq!(
            (stage.said(&stage.book()).as_str(), stage.effects.get()),
            ("refused: consumed", 1)
        );
        assert_eq!(stage.kinds().iter().filter(|kind| *kind == "resolved").count(), 1);
    }
}

#[test]
fn of_a_tick() {
    for wrong in ALL {
        let stage = minted();
        stage.clock.advance(Duration::from_secs(3_600));
        let book = stage.wrong(1, wrong);
        let told = tick(&book).map(|ticked| ticked.expired.len());
        match wrong {
            DELAYED => assert_eq!(told, Ok(1)),
            // Whoever moved the grant meanwhile, the next tick looks again.
            CONFLICT => assert_eq!(told, Ok(0)),
            _ => assert!(told.is_err(), "{wrong:?}"),
        }
        drop(book);
        let there = matches!(wrong, LANDED | DELAYED);
        assert_eq!(tick(&stage.book()).unwrap().expired.len(), usize::from(!there), "{wrong:?}");
        assert!(tick(&stage.book()).unwrap().expired.is_empty());
        assert_eq!(stage.said(&stage.book()), "expired: expired");
        assert_eq!(stage.effects.get(), 0);
        assert_eq!(stage.kinds().iter().filter(|kind| *kind == "expired").count(), 1);
    }
}

#[test]
fn of_a_tick_that_settles() {
    for wrong in ALL {
        let (stage, id) = interrupted();
        let book = stage.wrong(1, wrong);
        let told = tick(&book).map(|ticked| ticked.interrupted.len());
        match heals(wrong) {
            true => assert_eq!(told, Ok(1)),
            false => assert!(told.is_err(), "{wrong:?}"),
        }
        drop(book);
        let there = !fails(wrong);
        let ticked = tick(&stage.book()).unwrap().interrupted;
        let named: Vec<_> = ticked.into_iter().filter_map(|named| named.discharge_id).collect();
        assert_eq!(named, if there { vec![] } else { vec![id] }, "{wrong:?}");
        assert_eq!(stage.said(&stage.book()), "refused: consumed");
        assert_eq!(stage.effects.get(), 1);
        stage.kinds();
    }
}
