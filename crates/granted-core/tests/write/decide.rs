//! What becomes of a change set: each refusal in its order, where it goes, and what may follow.

use std::sync::Arc;
use std::time::Duration;

use granted_core::decision::settle::ActState;
use granted_core::digest::Digest;
use granted_core::ledger::event::{Accepted, Opened};
use granted_core::ledger::{Draft, Event, Head, Subject};
use granted_core::store::{AppendError, Ledger as _};
use granted_core::time::Stamp;
use granted_core::write::brief::Tool;
use granted_core::write::decide::{
    self, Came, Consent, Facts, Filing, NotNow, Proposed, Route, check, check_caps, check_waiting,
    conclude, expire, reject, revert, route,
};
use granted_core::write::direct::{Active, VerifiedGrant};
use granted_core::write::event::{After, Before, Confinement, GateRun, Request};
use granted_core::write::request::{Day, Status, content_digest};
use granted_core::write::{Agent, Claim, Refusal, RequestState, Side};
use granted_testkit::sample::{by, id, now};
use granted_testkit::{FixedClock, MemoryLedger, writes};

use super::world::{BRIEF, World, brief};

fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

/// An edit of two files, which is in order.
fn filing() -> (Filing, Vec<Option<Before>>) {
    let file = |path: &str| Proposed {
        path: path.parse().unwrap(),
        base: Some(digest("old")),
        after: Some(After { bytes: 3, mode: None, sha256: digest("new") }),
    };
    let filing = Filing {
        tool: Some(Tool::WriteFile),
        changes: vec![file("src/a.py"), file("src/b.py")],
        rationale: "why".parse().unwrap(),
        gates: vec![],
        key: None,
        reverts: None,
    };
    let before = Some(Before { bytes: 3, mode: 0o644, sha256: digest("old") });
    (filing, vec![before, before])
}

type Fault = fn(&mut Filing, &mut Vec<Option<Before>>);

/// Every fault of a filing in the order in which it is found, with its reason.
fn faults() -> Vec<(Refusal, &'static str, Fault)> {
    vec![
        (Refusal::NotInBrief, "no tool", |f, _| f.tool = Some(Tool::DeleteFile)),
        (Refusal::Invalid, "at least one file", |f, _| f.changes.clear()),
        (Refusal::TooManyFiles, "at most 2 files", |f, _| {
            let more = Proposed { path: "src/c.py".parse().unwrap(), ..f.changes[0].clone() };
            f.changes.push(more);
        }),
        (Refusal::Invalid, "twice", |f, _| f.changes[1].path = f.changes[0].path.clone()),
        (Refusal::Invalid, "the folder of", |f, _| {
            f.changes[1].path = f.changes[0].path.join("x").unwrap();
        }),
        (Refusal::UnknownGate, "no gate `no`", |f, _| f.gates = vec!["no".parse().unwrap()]),
        (Refusal::Protected, "control plane", |f, _| {
            f.changes[0].path = "src/.Git/x".parse().unwrap();
        }),
        (Refusal::Protected, "by `src/keys/`", |f, _| {
            f.changes[0].path = "src/KEYS/x".parse().unwrap();
        }),
        (Refusal::OutOfScope, "none of the agent's", |f, _| {
            f.changes[0].path = "SRC/a.py".parse().unwrap();
        }),
        (Refusal::StaleBase, "is not what the change is based on", |f, _| f.changes[0].base = None),
        (Refusal::NoChange, "that content already", |f, found| {
            let sha256 = found[0].unwrap().sha256;
            f.changes[0].after = Some(After { bytes: 300_000, mode: None, sha256 });
        }),
        (Refusal::TooLarge, "over 262144 bytes", |f, found| {
            f.changes[0].base = Some(digest("large"));
            found[0] = Some(Before { bytes: 262_145, mode: 0o644, sha256: digest("large") });
        }),
    ]
}

#[test]
fn each_refusal_is_found_in_its_order() {
    let mut world = World::new();
    world.brief.caps.files = 2;
    let agent = writes::agent();
    let asker = world.asker(&agent);
    let (good, found) = filing();
    let changes = check(&asker, &good, &found).unwrap();
    assert_eq!(changes.len(), 2);
    assert_eq!((changes[0].before, changes[0].after), (found[0], good.changes[0].after));
    for (i, (reason, why, fault)) in faults().into_iter().enumerate() {
        let (mut filing, mut found) = self::filing();
        fault(&mut filing, &mut found);
        let denied = check(&asker, &filing, &found).expect_err(why);
        assert_eq!(denied.reason, reason, "{why}");
        assert!(denied.detail.contains(why), "{}", denied.detail);
        // Of two faults the earlier is told, as far as two can be had at once.
        for (later, _, second) in faults().into_iter().skip(i + 1) {
            let both = |first: Fault, second: Fault| {
                let (mut filing, mut found) = self::filing();
                second(&mut filing, &mut found);
                if filing.changes.is_empty() {
                    return None;
                }
                first(&mut filing, &mut found);
                Some(check(&asker, &filing, &found).expect_err(why).reason)
            };
            let told = both(fault, second);
            assert!(told.is_none_or(|told| told == reason), "{why}, then {later}: {told:?}");
        }
    }
}

#[test]
fn a_stale_base_says_what_is_there_now() {
    let (world, agent) = (World::new(), writes::agent());
    let stale = |base: Option<&str>, is: Option<&str>| {
        let (mut filing, mut found) = filing();
        filing.changes[0].base = base.map(digest);
        found[0] = is.map(|text| Before { bytes: 3, mode: 0o644, sha256: digest(text) });
        check(&world.asker(&agent), &filing, &found)
    };
    for (base, is) in [(Some("old"), Some("other")), (Some("old"), None), (None, Some("old"))] {
        let denied = stale(base, is).unwrap_err();
        assert_eq!(denied.reason, Refusal::StaleBase);
        let (path, now) = *denied.stale.unwrap();
        assert_eq!((path.as_str(), now), ("src/a.py", is.map(digest)));
        let told = is.map_or("absent".to_owned(), |text| digest(text).to_string());
        assert!(denied.detail.ends_with(&format!("it is {told} now")), "{}", denied.detail);
    }
    assert!(stale(None, None).is_ok(), "a file that is new");
}

#[test]
fn a_deletion_needs_something_to_delete() {
    let (mut world, agent) = (World::new(), "careful".parse().unwrap());
    let (mut filing, mut found) = filing();
    filing.tool = Some(Tool::DeleteFile);
    filing.changes.truncate(1);
    filing.changes[0].path = "docs/a.md".parse().unwrap();
    filing.changes[0].after = None;
    found.truncate(1);
    assert!(check(&world.asker(&agent), &filing, &found).unwrap()[0].is_deletion());
    (filing.changes[0].base, found[0]) = (None, None);
    let denied = check(&world.asker(&agent), &filing, &found).unwrap_err();
    assert_eq!(denied.reason, Refusal::Invalid);
    // Who is not in the brief files nothing.
    world.brief = brief("");
    let denied = decide::Asker::agent(&world.brief, &agent).unwrap_err();
    assert_eq!(denied.reason, Refusal::NotInBrief);
}

#[test]
fn a_person_who_reverts_is_held_to_the_control_plane_only() {
    let world = World::new();
    let person = decide::Asker::person(&world.brief);
    let (mut filing, found) = filing();
    filing.tool = None;
    filing.changes[0].path = "src/keys/x".parse().unwrap();
    filing.changes[1].path = "elsewhere".parse().unwrap();
    assert!(check(&person, &filing, &found).is_ok());
    filing.changes[1].path = ".github/x".parse().unwrap();
    assert_eq!(check(&person, &filing, &found).unwrap_err().reason, Refusal::Protected);
}

/// What filing depends on, today.
fn facts<'a>(world: &'a World, today: &'a Day) -> Facts<'a> {
    Facts {
        project: &world.project,
        brief_sha256: digest("granted.toml"),
        today,
        waiting_since_yesterday: 0,
        dispatch: None,
        head: None,
        now: world.now,
    }
}

fn run(digest: Digest) -> GateRun {
    let confined = Confinement::Landlock;
    GateRun { confined, digest, duration_ms: 1, gate: "lint".parse().unwrap(), path: None }
}

#[test]
fn each_reason_for_staging() {
    let mut world = World::new();
    let grant = world.grant(7);
    let record = world.sign(&grant);
    world.tell(writes::dispatched(1, 10));
    world.tell(writes::dispatched(2, 11));
    let (narrow, wide) = (world.dispatch(1).unwrap(), world.dispatch(2).unwrap());
    let active = world.active(&[record.clone()]);
    let none = Active::default();
    let agent = writes::agent();
    let careful: Agent = "careful".parse().unwrap();
    let today = Day::default();
    let (edit, good) = (writes::edit(), vec![run(Digest::of(b"ruff"))]);
    let deletes = [writes::edit(), vec![writes::change("src/b", Some("b"), None)]].concat();
    let told = |agent: &Agent,
                changes: &[_],
                gates: &[GateRun],
                active: &Active,
                used,
                off,
                facts: &Facts<'_>| {
        let used = |_: &VerifiedGrant| used;
        match route(&world.asker(agent), changes, gates, active, &used, off, facts) {
            Route::Stage(why) => why.map_or("staged".into(), |why| why.as_str().to_owned()),
            Route::Direct(grant) => format!("under {}", grant.grant().grant_id),
        }
    };
    let facts = Facts { dispatch: Some(&narrow), ..facts(&world, &today) };
    let direct = format!("under {}", grant.grant_id);
    assert_eq!(told(&agent, &edit, &good, &active, 49, None, &facts), direct);
    assert_eq!(told(&agent, &edit, &[], &active, 0, None, &facts), direct);
    assert_eq!(told(&careful, &edit, &good, &active, 0, None, &facts), "staged");
    let why = |changes: &[_], gates: &[GateRun], active: &Active, used, off, facts: &Facts<'_>| {
        told(&agent, changes, gates, active, used, off, facts)
    };
    let gone = Facts { now: grant.expires, ..facts };
    let (with_wide, without) =
        (Facts { dispatch: Some(&wide), ..facts }, Facts { dispatch: None, ..facts });
    let mut bad = record;
    bad.grant.max_writes = 51;
    let broken = world.active(&[bad]);
    for (found, expected) in [
        (why(&deletes, &good, &active, 0, None, &facts), "deletions are never direct"),
        (why(&edit, &good, &active, 0, Some("the file changed"), &facts), "the file changed"),
        (why(&edit, &good, &none, 0, None, &facts), "agent `producer` has no direct grant"),
        (why(&edit, &good, &broken, 0, None, &facts), "the signature of key"),
        (why(&edit, &good, &active, 0, None, &without), "needs a narrow dispatch"),
        (why(&edit, &good, &active, 0, None, &with_wide), "needs a narrow dispatch"),
        (why(&edit, &[run(digest("x"))], &active, 0, None, &facts), "gate `lint` changed since"),
        (why(&edit, &good, &active, 50, None, &facts), "is used up: 50 of 50"),
        (why(&writes::new_files(2), &good, &active, 49, None, &facts), "is used up: 49 of 50"),
        (why(&edit, &good, &active, 0, None, &gone), "has expired"),
    ] {
        assert!(found.contains(expected), "`{found}` is not `{expected}`");
    }
    // A reason is never longer than its row may say.
    assert!(why(&edit, &good, &active, 0, Some(&"x".repeat(5_000)), &facts).len() < 1_024);
}

#[test]
fn caps_hold_for_agents() {
    let mut world = World::new();
    world.brief = brief(&format!("{BRIEF}[caps]\nbytes_a_day = 10\nstaged = 3"));
    let agent = writes::agent();
    let (asker, person) = (world.asker(&agent), decide::Asker::person(&world.brief));
    let six = writes::edit();
    let day = |bytes, waiting: usize| Day { bytes, waiting: vec![id(1); waiting], last: 1 };
    let refused = |day: &Day, since, staged| {
        let facts = Facts { waiting_since_yesterday: since, ..facts(&world, day) };
        assert_eq!(check_caps(&person, &six, staged, &facts), Ok(()));
        check_caps(&asker, &six, staged, &facts).err().map(|denied| denied.reason)
    };
    assert_eq!(refused(&day(4, 0), 0, true), None);
    assert_eq!(refused(&day(5, 0), 0, true), Some(Refusal::DayCap));
    assert_eq!(refused(&day(5, 0), 0, false), Some(Refusal::DayCap));
    assert_eq!(refused(&day(u64::MAX, 0), 0, true), Some(Refusal::DayCap));
    assert_eq!(refused(&day(0, 1), 1, true), None);
    assert_eq!(refused(&day(0, 2), 1, true), Some(Refusal::StagedCap));
    assert_eq!(refused(&day(0, 2), 1, false), None);
    let today = Day::default();
    let head = |seconds| {
        let at = world.now.plus(Duration::from_secs(seconds));
        Facts { head: Some(Head { seq: 1, at, hash: Digest::ZERO }), ..facts(&world, &today) }
    };
    assert_eq!(check_caps(&asker, &six, true, &head(5)), Ok(()));
    for whose in [&asker, &person] {
        let denied = check_caps(whose, &six, true, &head(6)).unwrap_err();
        assert_eq!(denied.reason, Refusal::ClockBehind);
    }
}

#[test]
fn a_day_counts_what_was_filed_and_what_waits() {
    let mut world = World::new();
    let grant = world.grant(7);
    world.sign(&grant);
    world.tell(writes::dispatched(1, 10));
    let edited = || writes::request(writes::edit());
    for number in 1..=4 {
        world.tell(writes::staged(id(number), edited(), None));
    }
    world.tell(writes::direct(id(5), edited(), &grant, 1));
    world.tell(writes::refused(id(6), Some(1)));
    let today = || Some(writes::day());
    world.tell(writes::rejected(id(1), today()));
    world.tell(writes::approved(id(2), &edited()));
    world.tell(writes::approved(id(3), &edited()));
    world.tell(writes::undone(id(3)));
    let day = world.day();
    assert_eq!((day.bytes, &day.waiting[..]), (5 * 6, &[id(2), id(3), id(4)][..]));
    world.tell(writes::applied(id(2), false, today()));
    assert_eq!(world.day().waiting, [id(3), id(4)]);
    assert_eq!(world.day().last, world.tale.lines.len() as u64);
}

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
    let cases: [(&str, Stamp, &dyn Fn(&MemoryLedger) -> Claimed); 4] = [
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
        (Status::Closed, start(vec![held(), closes.clone()])),
        (Status::Closed, vec![direct(), writes::unresolved(id(1)), closes.clone()]),
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
            assert_eq!(cut(ActState::Free), open && ours, "{status}");
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
