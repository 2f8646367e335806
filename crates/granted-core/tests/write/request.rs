//! What may follow a change set that was filed: approved, rejected, expired, taken back; once, and in time.

use std::sync::Arc;
use std::time::Duration;

use granted_core::decision::settle::ActState;
use granted_core::digest::Digest;
use granted_core::ledger::event::{Accepted, Opened};
use granted_core::ledger::{Draft, Event, Head, Subject};
use granted_core::store::{AppendError, Ledger as _};
use granted_core::time::Stamp;
use granted_core::write::decide::{
    self, Came, Consent, Facts, NotNow, check_waiting, conclude, expire, reject, revert,
};
use granted_core::write::direct::VerifiedGrant;
use granted_core::write::event::{After, Before, Request};
use granted_core::write::request::{Day, Status, content_digest};
use granted_core::write::{Claim, RequestState, Side};
use granted_testkit::sample::{by, id, now};
use granted_testkit::{FixedClock, MemoryLedger, writes};

use super::decide::{digest, facts};
use super::world::World;

/// The rows that are written end with what they rest on: the dispatch, the grant, the request.
#[test]
fn no_row_is_written_after_what_it_rests_on() {
    let (mut world, request) = (World::new(), writes::request(writes::edit()));
    let hour = now().plus(Duration::from_secs(3_600));
    let four = now().plus(Duration::from_secs(4 * 3_600));
    let (long, mut short) = (world.grant(7), world.grant(8));
    short.expires = hour;
    let (long, short) = (world.sign(&long), world.sign(&short));
    world.tell(writes::dispatched(1, 10));
    world.tell(writes::staged(id(1), request.clone(), None));
    let dispatch = world.dispatch(1).unwrap();
    assert_eq!(dispatch.issued.expires, four);
    let today = world.day();
    let with = Facts { dispatch: Some(&dispatch), ..facts(&world, &today) };
    let verified = |record| world.active(&[record]).grants.remove(&writes::agent()).unwrap();
    let (long, short) = (verified(long), verified(short));
    let state = world.request(id(1)).unwrap();
    type Claimed = Result<(), AppendError>;
    let direct = |grant: &VerifiedGrant, ledger: &MemoryLedger| -> Claimed {
        let permit = decide::direct(id(2), request.clone(), vec![], grant, "act", &with, &by());
        permit.claim(ledger).map(|_| ())
    };
    let stage = |facts: &Facts<'_>, ledger: &MemoryLedger| -> Claimed {
        let draft = decide::stage(id(2), request.clone(), None, facts, &by());
        ledger.append(&[draft]).map(|_| ())
    };
    let approve = |ledger: &MemoryLedger| -> Claimed {
        let permit = decide::approve(&state, consent(&request), None, now(), &by()).unwrap();
        permit.claim(ledger).map(|_| ())
    };
    let day = now().plus(Duration::from_secs(86_400));
    type Claims<'a> = &'a dyn Fn(&MemoryLedger) -> Claimed;
    let cases: [(&str, Stamp, Claims<'_>); 4] = [
        ("its grant", hour, &|ledger| direct(&short, ledger)),
        ("its dispatch", four, &|ledger| direct(&long, ledger)),
        ("what is staged", four, &|ledger| stage(&with, ledger)),
        ("its request", day, &approve),
    ];
    for (name, end, claim) in cases {
        let at = |at| {
            let Clocked { clock, ledger } = replayed(&world);
            clock.set(at);
            claim(&ledger)
        };
        assert_eq!(at(end.minus(Duration::from_micros(1))), Ok(()), "{name}");
        assert_eq!(at(end), Err(AppendError::Conflict), "{name}");
    }
    // Without a dispatch nothing ends it.
    let Clocked { clock, ledger } = replayed(&world);
    clock.set(day);
    assert_eq!(stage(&facts(&world, &today), &ledger), Ok(()));
}

/// A ledger in which all that has happened that did in this world.
fn replayed(world: &World) -> Clocked {
    let clock = Arc::new(FixedClock::new(now()));
    let ledger = MemoryLedger::new(clock.clone());
    for row in world.tale.rows() {
        ledger.append(&[Draft::new(row.event, row.by, row.refs)]).unwrap();
    }
    Clocked { clock, ledger }
}

struct Clocked {
    clock: Arc<FixedClock>,
    ledger: MemoryLedger,
}

/// An open ledger with nothing in it.
fn ledger() -> Clocked {
    let clock = Arc::new(FixedClock::new(now()));
    let ledger = MemoryLedger::new(clock.clone());
    let opened = Draft::new(Event::Opened(Opened { book: id(0) }), by(), vec![]);
    ledger.append(&[opened]).unwrap();
    Clocked { clock, ledger }
}

fn world_with(rows: &[writes::Told]) -> World {
    let mut world = World::new();
    rows.iter().for_each(|row| world.tell(row.clone()));
    world
}

fn consent(request: &Request) -> Consent<'static> {
    Consent {
        approver: "ada".parse().unwrap(),
        digest: request.digest,
        changes: request.changes.clone(),
        folders: vec![],
        gates: vec![],
        act: "act",
    }
}

/// A change set in each status that it may have, by its rows.
fn statuses() -> Vec<(Status, RequestState)> {
    let edited = || writes::request(writes::edit());
    let day = || Some(writes::day());
    let start =
        |rows: Vec<writes::Told>| [vec![writes::staged(id(1), edited(), None)], rows].concat();
    let held = || writes::approved(id(1), &edited());
    let word = |text: &str| text.parse().unwrap();
    let closes = Accepted { by: word("ada"), reason: word("r"), signature: None, what: vec![] };
    let closes = (Event::Accepted(closes), vec![Subject::write(id(1))]);
    let grant = World::new().grant(7);
    let direct = || writes::direct(id(1), edited(), &grant, 1);
    let all = vec![
        (Status::Staged, start(vec![])),
        (Status::Staged, start(vec![held(), writes::undone(id(1))])),
        (Status::Applying, start(vec![held()])),
        (Status::Applying, vec![direct()]),
        (Status::Applied, start(vec![held(), writes::applied(id(1), false, day())])),
        (Status::Undone, vec![direct(), writes::undone(id(1))]),
        (Status::Unresolved, start(vec![held(), writes::unresolved(id(1))])),
        (Status::Rejected, start(vec![writes::rejected(id(1), day())])),
        (
            Status::Rejected,
            start(vec![held(), writes::unresolved(id(1)), writes::rejected(id(1), day())]),
        ),
        (Status::Expired, start(vec![writes::expired(id(1), day())])),
        (Status::Refused, vec![writes::refused(id(1), None)]),
        (Status::Closed, start(vec![closes.clone()])),
        // What came of it may be among what was lost.
        (Status::Unresolved, start(vec![held(), closes.clone()])),
        (Status::Unresolved, vec![direct(), writes::unresolved(id(1)), closes.clone()]),
        (
            Status::Unresolved,
            start(vec![held(), closes.clone(), writes::applied(id(1), true, day())]),
        ),
        (Status::Rejected, start(vec![held(), closes.clone(), writes::rejected(id(1), day())])),
        (Status::Applied, start(vec![held(), writes::applied(id(1), true, day()), closes])),
    ];
    all.into_iter()
        .map(|(status, rows)| (status, world_with(&rows).request(id(1)).unwrap()))
        .collect()
}

#[test]
fn each_status_allows_what_it_allows() {
    let edited = writes::request(writes::edit());
    let note = || "ada".parse().unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for (status, state) in statuses() {
        assert_eq!(state.status, status);
        seen.insert(status.as_str());
        let staged = status == Status::Staged;
        let waits = check_waiting(&state, edited.digest, now()).is_ok();
        assert_eq!(waits, staged, "{status}");
        let approved = decide::approve(&state, consent(&edited), None, now(), &by());
        assert_eq!(approved.is_ok(), staged, "{status}");
        let rejected = reject(&state, note(), None, 0, &by());
        let may = [Status::Staged, Status::Unresolved].contains(&status);
        assert_eq!(rejected.is_ok(), may, "{status}");
        let reverted = revert(&state, note());
        assert_eq!(reverted.is_ok(), status == Status::Applied, "{status}");
        let late = now().plus(Duration::from_secs(86_400));
        assert_eq!(expire(&state, 0, late, &by()).is_some(), staged, "{status}");
        let open = [Status::Applying, Status::Unresolved].contains(&status);
        for side in [Side::Person, Side::Agent] {
            let ours = state.claim.as_ref().is_some_and(|claim| claim.side() == side);
            let cut = |act| Claim::cut_off(&state, side, act, now()).is_some();
            assert_eq!(cut(ActState::Free), open && ours && !state.lost, "{status}");
            assert!(!cut(ActState::Running) && !cut(ActState::Absent), "{status}");
        }
        let waiting = [Status::Staged, Status::Applying, Status::Unresolved].contains(&status);
        assert_eq!(status.is_final(), !waiting, "{status}");
    }
    assert_eq!(seen.len(), 9);
}

#[test]
fn a_process_of_another_host_is_gone_after_ten_minutes() {
    let state = world_with(&[
        writes::staged(id(1), writes::request(writes::edit()), None),
        writes::approved(id(1), &writes::request(writes::edit())),
    ]);
    let state = state.request(id(1)).unwrap();
    let claim = state.claim.as_ref().unwrap().at;
    let cut = |seconds| {
        let at = claim.plus(Duration::from_secs(seconds));
        Claim::cut_off(&state, Side::Person, ActState::Absent, at).is_some()
    };
    assert!(!cut(600) && cut(601));
}

#[test]
fn g12_an_approval_is_of_what_was_shown_and_in_time() {
    let edited = writes::request(writes::edit());
    let state = world_with(&[writes::staged(id(1), edited.clone(), None)]);
    let state = state.request(id(1)).unwrap();
    let end = state.expires().unwrap();
    let approve = |digest, at, head| {
        let consent = Consent { digest, ..consent(&edited) };
        decide::approve(&state, consent, head, at, &by()).map(|_| ()).unwrap_err()
    };
    let other = digest("other");
    assert_eq!(approve(other, now(), None), NotNow::Digest(id(1), edited.digest));
    assert_eq!(approve(edited.digest, end, None), NotNow::Expired(id(1), end));
    let ahead = now().plus(Duration::from_secs(6));
    let head = Some(Head { seq: 1, at: ahead, hash: Digest::ZERO });
    assert!(matches!(approve(edited.digest, now(), head), NotNow::Clock(_)));
    let last = end.minus(Duration::from_micros(1));
    assert!(decide::approve(&state, consent(&edited), None, last, &by()).is_ok());
    assert!(state.is_waiting(last) && !state.is_waiting(end));
    assert!(expire(&state, 0, last, &by()).is_none());
}

#[test]
fn the_digest_tells_project_paths_and_bytes_apart() {
    let project = writes::project();
    let base = content_digest(&project, &writes::edit());
    let other = "/home/ada/other".parse().unwrap();
    let change =
        |path, before, after| content_digest(&project, &[writes::change(path, before, after)]);
    let mut moded = writes::edit();
    moded[0].after = moded[0].after.map(|after| After { mode: Some(0o755), ..after });
    let all = [
        base,
        content_digest(&other, &writes::edit()),
        change("src/b.py", Some("a = 1\n"), Some("a = 2\n")),
        change("src/a.py", Some("a = 0\n"), Some("a = 2\n")),
        change("src/a.py", Some("a = 1\n"), Some("a = 3\n")),
        change("src/a.py", None, Some("a = 2\n")),
        change("src/a.py", Some("a = 1\n"), None),
        content_digest(&project, &moded),
        content_digest(&project, &[writes::edit(), writes::edit()].concat()),
        content_digest(&project, &[]),
    ];
    let distinct: std::collections::BTreeSet<Digest> = all.into_iter().collect();
    assert_eq!(distinct.len(), 10);
    // The mode that the file has now is no part of it: it is kept.
    let mut kept = writes::edit();
    kept[0].before = kept[0].before.map(|before| Before { mode: 0o600, ..before });
    assert_eq!(content_digest(&project, &kept), base);
}

#[test]
fn a_revert_is_the_way_back() {
    let made = vec![
        writes::change("src/a.py", Some("a = 1\n"), Some("a = 2\n")),
        writes::change("src/new.py", None, Some("pass\n")),
        writes::change("src/old.py", Some("old\n"), None),
    ];
    let request = writes::request(made.clone());
    let world = world_with(&[
        writes::staged(id(1), request.clone(), None),
        writes::approved(id(1), &request),
        writes::applied(id(1), false, Some(writes::day())),
    ]);
    let filing = revert(&world.request(id(1)).unwrap(), "back".parse().unwrap()).unwrap();
    assert_eq!((filing.reverts, filing.tool, filing.key), (Some(id(1)), None, None));
    for (proposed, change) in filing.changes.iter().zip(&made) {
        assert_eq!(proposed.path, change.path);
        assert_eq!(proposed.base, change.after.map(|after| after.sha256));
        let before = change.before.map(|before| (before.bytes, Some(before.mode), before.sha256));
        assert_eq!(proposed.after.map(|after| (after.bytes, after.mode, after.sha256)), before);
    }
    // What waits is filed again as it was.
    let again = decide::again(&request);
    assert_eq!(again.changes.len(), 3);
    assert_eq!(again.changes[1].base, None);
    assert_eq!(again.changes[2].after, None);
}

/// The rows that end a change set move the day that it was filed on, whatever the day is by then.
#[test]
fn what_ends_a_change_set_moves_its_own_day() {
    let edited = || writes::request(writes::edit());
    // Filed a moment before midnight, and written after it.
    let mut world = World::new();
    world.tale.story.scribe.now = Stamp::parse("2026-10-01T00:00:00Z").unwrap();
    world.tell(writes::staged(id(1), edited(), None));
    let state = world.request(id(1)).unwrap();
    assert_eq!(decide::day_of(&state), Some(writes::day()));
    let ended = vec![(Subject::write(id(1)), state.last), (writes::day(), 7)];
    let rejected = reject(&state, "ada".parse().unwrap(), None, 7, &by()).unwrap();
    assert_eq!(rejected.refs, ended);
    let late = state.expires().unwrap();
    assert_eq!(expire(&state, 7, late, &by()).unwrap().refs, ended);
    world.tell(writes::approved(id(1), &edited()));
    let state = world.request(id(1)).unwrap();
    let gone = now().plus(Duration::from_secs(86_400));
    let claim = || Claim::cut_off(&state, Side::Person, ActState::Free, gone).unwrap();
    let came = |came| conclude(&state, &claim(), came, 7, &by());
    assert_eq!(came(Came::Applied).refs, [(Subject::write(id(1)), state.last), (writes::day(), 7)]);
    let only = [(Subject::write(id(1)), state.last)];
    assert_eq!(came(Came::Undone("x".repeat(5_000))).refs, only);
    assert_eq!(came(Came::Unresolved(vec!["a".parse().unwrap()], "y".into())).refs, only);
    let Event::WriteUndone(body) = came(Came::Undone("x".repeat(5_000))).event else { panic!() };
    assert_eq!(body.detail.chars().count(), 1_001);
    let Event::WriteApplied(body) = came(Came::Applied).event else { panic!() };
    assert!(body.recovered);
    // A direct write was never waiting.
    let grant = World::new().grant(7);
    let world = world_with(&[writes::direct(id(2), edited(), &grant, 1)]);
    assert_eq!(decide::day_of(&world.request(id(2)).unwrap()), None);
}

#[test]
fn g10_a_claim_is_taken_once() {
    let edited = writes::request(writes::edit());
    let Clocked { ledger, .. } = ledger();
    let today = Day::default();
    let world = World::new();
    ledger
        .append(&[decide::stage(id(1), edited.clone(), None, &facts(&world, &today), &by())])
        .unwrap();
    let state = |ledger: &MemoryLedger| {
        let rows = ledger.rows(&Subject::write(id(1))).unwrap();
        RequestState::fold(id(1), &rows).unwrap()
    };
    let waiting = state(&ledger);
    let permit = || decide::approve(&waiting, consent(&edited), None, now(), &by()).unwrap();
    let (one, other) = (permit(), permit());
    let claim = one.claim(&ledger).unwrap();
    assert_eq!((claim.id(), claim.changes(), claim.last()), (id(1), &edited.changes[..], 3));
    assert!(!claim.is_recovered());
    assert!(matches!(other.claim(&ledger), Err(AppendError::Conflict)));
    assert_eq!(state(&ledger).status, Status::Applying);
    // Its outcome is written once too.
    let day = ledger.rows(&writes::day()).unwrap().last().unwrap().seq;
    let outcome = conclude(&state(&ledger), &claim, Came::Applied, day, &by());
    ledger.append(std::slice::from_ref(&outcome)).unwrap();
    assert_eq!(ledger.append(&[outcome]), Err(AppendError::Conflict));
    assert_eq!(state(&ledger).status, Status::Applied);
}
