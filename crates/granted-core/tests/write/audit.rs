//! What `granted ledger verify` finds in the stories of writes.

use std::time::Duration;

use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::ledger::audit::{Audit, check_subject_events};
use granted_core::ledger::event::Accepted;
use granted_core::ledger::{Event, Subject};
use granted_core::store::RawLine;
use granted_core::time::Stamp;
use granted_core::write::DirectGrant;
use granted_core::write::event::{DirectRevoked, GateRun, Request};
use granted_testkit::sample::{id, now};
use granted_testkit::tale::{Key, Tale};
use granted_testkit::writes::*;

/// Who trusts a key, and the grant that it may sign.
pub fn begin() -> (Tale, Key, DirectGrant) {
    let (mut tale, key) = (Tale::default(), Key::file(1));
    tale.trust(&key, "ada", None);
    let grant = grant(tale.story.book, 77, now(), key.public.id());
    (tale, key, grant)
}

/// What is wrong with a book of these rows, and with which, counted from the end.
fn fault(rows: Vec<Told>) -> Option<(usize, String)> {
    fault_at(rows.into_iter().map(|row| (None, row)).collect())
}

/// As [`fault`]; a row that has a time is written then.
fn fault_at(rows: Vec<(Option<Stamp>, Told)>) -> Option<(usize, String)> {
    let (mut tale, ..) = begin();
    for (at, (event, moved)) in rows {
        tale.story.scribe.now = at.unwrap_or(tale.story.scribe.now);
        tale.row(event, moved);
    }
    let (mut audit, mut moves, mut offset) = (Audit::default(), Vec::new(), 0);
    let back = |line: u64| tale.lines.len() - usize::try_from(line).unwrap();
    for line in &tale.lines {
        let raw = RawLine { seq: line.seq, offset, bytes: &line.bytes };
        if let Err(fault) = audit.line(raw, |m| moves.push(m)) {
            return Some((back(fault.line), fault.cause.into_owned()));
        }
        offset += line.bytes.len() as u64 + 1;
    }
    let illegal = check_subject_events(moves).err()?;
    Some((back(illegal.line), illegal.cause.to_owned()))
}

/// Checks that the last row of each story is the bad one, for the cause.
pub fn each_is_found(cases: Vec<(&str, Vec<Told>, &str)>) {
    for (name, rows, cause) in cases {
        let (back, why) = fault(rows).unwrap_or_else(|| panic!("{name}: not found"));
        assert!(back == 0 && why.contains(cause), "{name}: {back} before the end, {why}");
    }
}

/// The row by which a damaged ledger is accepted and these are closed.
fn closes(moved: Vec<Subject>) -> Told {
    let word = |text: &str| text.parse().unwrap();
    let body = Accepted { by: word("ada"), reason: word("r"), signature: None, what: vec![] };
    (Event::Accepted(body), moved)
}

pub fn edited() -> Request {
    request(edit())
}

pub fn by_person() -> Request {
    Request { agent: None, ..edited() }
}

#[test]
fn legal_stories_pass() {
    let (_, key, grant) = begin();
    let (one, two, three, four) = (id(1), id(2), id(3), id(4));
    let day = || Some(day());
    for (name, rows) in [
        (
            "applied",
            vec![staged(one, edited(), None), approved(one, &edited()), applied(one, false, day())],
        ),
        (
            "undone, and approved again",
            vec![
                staged(one, edited(), None),
                approved(one, &edited()),
                undone(one),
                approved(one, &edited()),
                applied(one, true, day()),
            ],
        ),
        (
            "unresolved, and recovered",
            vec![
                staged(one, edited(), None),
                approved(one, &edited()),
                unresolved(one),
                unresolved(one),
                applied(one, true, day()),
            ],
        ),
        (
            "unresolved, undone and rejected",
            vec![
                staged(one, edited(), None),
                approved(one, &edited()),
                unresolved(one),
                undone(one),
                rejected(one, day()),
            ],
        ),
        (
            "a person's, unresolved and given up",
            vec![
                staged(one, by_person(), None),
                approved(one, &by_person()),
                unresolved(one),
                rejected(one, None),
            ],
        ),
        ("refused, with and without a nonce", {
            vec![dispatched(1, 1), refused(one, Some(1)), refused(two, None)]
        }),
        ("used up, and asked again", {
            let rows = vec![dispatched(1, 1), staged(one, edited(), Some(1))];
            let more = (2..9).map(|n| refused(id(n), Some(1)));
            rows.into_iter().chain(more).collect()
        }),
        (
            "at once",
            vec![
                granted(&grant, &key),
                loaded(&grant, &key),
                dispatched(1, 10),
                direct(one, request(new_files(20)), &grant, 1),
                applied(one, false, None),
                direct(two, request(new_files(30)), &grant, 1),
                undone(two),
                revoked(&grant),
            ],
        ),
        (
            "at once, revoked meanwhile, unresolved and given up",
            vec![
                granted(&grant, &key),
                dispatched(1, 10),
                direct(one, edited(), &grant, 1),
                revoked(&grant),
                unresolved(one),
                rejected(one, None),
            ],
        ),
        (
            "a file of the same name for each of many",
            vec![
                staged(three, edited(), None),
                staged(four, edited(), None),
                rejected(four, day()),
                approved(three, &edited()),
            ],
        ),
    ] {
        assert_eq!(fault(rows), None, "{name}");
    }
}

#[test]
fn illegal_stories_of_a_change_set_are_found() {
    let one = id(1);
    let day = || Some(day());
    let start = |rows: Vec<Told>| [vec![staged(one, edited(), None)], rows].concat();
    let other = request(new_files(1));
    let held = || approved(one, &edited());
    let lied = {
        let (event, moved) = approved(one, &edited());
        let Event::WriteApproved(mut body) = event else { unreachable!() };
        body.changes = other.changes.clone();
        (Event::WriteApproved(body), moved)
    };
    let by_person = vec![staged(one, by_person(), None), approved(one, &by_person())];
    each_is_found(vec![
        ("approved, never filed", vec![held()], "never filed"),
        ("applied, never filed", vec![applied(one, false, None)], "never filed"),
        ("another digest approved", start(vec![approved(one, &other)]), "something else"),
        ("other files than the digest's", start(vec![lied]), "something else"),
        ("applied, not approved", start(vec![applied(one, false, day())]), "not where"),
        ("undone, not approved", start(vec![undone(one)]), "not where"),
        ("unresolved, not approved", start(vec![unresolved(one)]), "not where"),
        ("approved twice", start(vec![held(), held()]), "not where"),
        ("approved while unresolved", start(vec![held(), unresolved(one), held()]), "not where"),
        ("rejected while it is applied", start(vec![held(), rejected(one, day())]), "not where"),
        (
            "applied twice",
            { start(vec![held(), applied(one, false, day()), applied(one, true, day())]) },
            "has ended",
        ),
        (
            "approved after it was applied",
            { start(vec![held(), applied(one, false, day()), held()]) },
            "has ended",
        ),
        ("approved after it was rejected", start(vec![rejected(one, day()), held()]), "has ended"),
        ("approved after it was refused", vec![refused(one, None), held()], "has ended"),
        ("filed twice", start(vec![staged(one, edited(), None)]), "filed before"),
        ("refused after it was filed", start(vec![refused(one, None)]), "filed before"),
        (
            "unresolved, then applied without recovery",
            { start(vec![held(), unresolved(one), applied(one, false, day())]) },
            "not said to be recovered",
        ),
        ("applied without its day", start(vec![held(), applied(one, false, None)]), "the day"),
        ("rejected without its day", start(vec![rejected(one, None)]), "the day"),
        (
            "a person's applied with a day",
            { [by_person.clone(), vec![applied(one, false, day())]].concat() },
            "the day",
        ),
        (
            "applied with another's day",
            {
                let other = project().day(&"other".parse().unwrap(), now());
                start(vec![held(), applied(one, false, Some(other))])
            },
            "the day",
        ),
    ]);
}

#[test]
fn a_change_set_ends_in_time() {
    let (one, end) = (id(1), now().plus(Duration::from_secs(86_400)));
    let before = Stamp::from_micros(end.micros() - 1);
    let story = |at, row| {
        let rows = vec![(None, staged(one, edited(), None)), (Some(at), row)];
        fault_at(rows).map(|(_, why)| why)
    };
    assert_eq!(story(before, approved(one, &edited())), None);
    let late = story(end, approved(one, &edited())).unwrap();
    assert!(late.contains("that has expired"), "{late}");
    assert_eq!(story(end, expired(one, Some(day()))), None);
    let early = story(before, expired(one, Some(day()))).unwrap();
    assert!(early.contains("has not expired"), "{early}");
    let without = story(end, expired(one, None)).unwrap();
    assert!(without.contains("the day"), "{without}");
    // The row says another end than its change set had.
    let (event, moved) = expired(one, Some(day()));
    let Event::WriteExpired(mut body) = event else { unreachable!() };
    body.expired = before;
    let other = story(end, (Event::WriteExpired(body), moved)).unwrap();
    assert!(other.contains("not the end of its change set"), "{other}");
}

#[test]
fn illegal_writes_under_a_direct_grant_are_found() {
    let (_, key, grant) = begin();
    let one = id(1);
    let start = |rows: Vec<Told>| {
        [vec![granted(&grant, &key), dispatched(1, 10), dispatched(2, 11)], rows].concat()
    };
    let write = |n, files| direct(id(n), request(new_files(files)), &grant, 1);
    let other = DirectGrant { agent: "other".parse().unwrap(), grant_id: id(78), ..grant.clone() };
    let elsewhere = DirectGrant {
        project: "/home/ada/other".parse().unwrap(),
        grant_id: id(79),
        ..grant.clone()
    };
    let deletes = request(vec![change("src/a.py", Some("a"), None)]);
    let removed = |index: usize| {
        let (event, mut moved) = write(1, 1);
        moved.remove(index);
        (event, moved)
    };
    each_is_found(vec![
        ("one file too many", start(vec![write(1, 32), write(2, 18), write(3, 1)]), "has left"),
        ("too many at once", start(vec![write(1, 51)]), "has left"),
        ("what was undone counts", start(vec![write(1, 50), undone(one), write(2, 1)]), "has left"),
        ("revoked", start(vec![revoked(&grant), write(1, 1)]), "that is over"),
        ("never signed", vec![dispatched(1, 10), write(1, 1)], "never signed"),
        ("revoked, never signed", vec![revoked(&grant)], "never signed"),
        ("revoked twice", start(vec![revoked(&grant), revoked(&grant)]), "is revoked"),
        ("signed twice", start(vec![granted(&grant, &key)]), "signed before"),
        ("a wide dispatch", start(vec![direct(one, edited(), &grant, 2)]), "too wide"),
        (
            "no dispatch that was issued",
            { vec![granted(&grant, &key), direct(one, edited(), &grant, 3)] },
            "never issued",
        ),
        (
            "another agent's",
            { start(vec![granted(&other, &key), direct(one, edited(), &other, 1)]) },
            "of another agent or project",
        ),
        (
            "another project's",
            { start(vec![granted(&elsewhere, &key), direct(one, edited(), &elsewhere, 1)]) },
            "of another agent or project",
        ),
        ("a deletion", start(vec![direct(one, deletes, &grant, 1)]), "deletes a file"),
        ("no day", start(vec![removed(1)]), "lack the day"),
        ("no grant", start(vec![removed(2)]), "not those of its kind"),
        ("no dispatch", start(vec![removed(3)]), "not those of its kind"),
        (
            "a person's",
            { start(vec![direct(one, by_person(), &grant, 1)]) },
            "not those of its kind",
        ),
        (
            "with a day at its end",
            start(vec![write(1, 1), applied(one, false, Some(day()))]),
            "the day",
        ),
        (
            "after it was undone",
            start(vec![write(1, 1), undone(one), applied(one, true, None)]),
            "has ended",
        ),
        (
            "revoked in another project",
            start(vec![{
                let moved = vec![Subject::direct(grant.grant_id), elsewhere.project.subject()];
                (Event::DirectRevoked(DirectRevoked { by: None, note: None }), moved)
            }]),
            "not the project of its direct grant",
        ),
    ]);
}

/// What only a forger writes: the rules have no row like it.
#[test]
fn forged_writes_are_found() {
    let (_, key, grant) = begin();
    let start = |told: Told| vec![granted(&grant, &key), dispatched(1, 10), told];
    let at_once = |request: Request| start(direct(id(1), request, &grant, 1));
    let new = |path: &str| change(path, None, Some("x"));
    let moded = |path: &str, before: u32, after: Option<u32>| {
        let mut change = change(path, Some("x"), Some("y"));
        change.before.as_mut().unwrap().mode = before;
        change.after.as_mut().unwrap().mode = after;
        vec![change]
    };
    let made = |folders: &[&str], changes| {
        let (mut event, moved) = direct(id(1), request(changes), &grant, 1);
        let Event::WriteDirect(body) = &mut event else { unreachable!() };
        body.folders = folders.iter().map(|folder| folder.parse().unwrap()).collect();
        (event, moved)
    };
    let looked = |run: GateRun| Request { gates: vec![run], ..request(edit()) };
    let other = Digest::of(b"other");
    let by_person =
        |changes| vec![staged(id(1), Request { agent: None, ..request(changes) }, None)];
    let claimed = {
        let (mut event, moved) = approved(id(1), &edited());
        let Event::WriteApproved(body) = &mut event else { unreachable!() };
        body.folders = vec!["src".parse().unwrap()];
        vec![staged(id(1), edited(), None), (event, moved)]
    };
    for (name, rows) in [
        ("as it is", at_once(edited())),
        ("as it is, one file", at_once(looked(gate_run()))),
        ("a literal scope", {
            let changes = vec![new("README.md"), new("src/a.py")];
            at_once(Request { gates: vec![gate_run()], ..request(changes) })
        }),
        ("its folders", start(made(&["src/n", "src/n/m"], vec![new("src/n/m/a")]))),
        ("a person's mode", by_person(moded("src/a.py", 0o644, Some(0o755)))),
    ] {
        assert_eq!(fault(rows), None, "{name}");
    }
    each_is_found(vec![
        ("nothing", at_once(request(vec![])), "changes no file"),
        ("the brief", at_once(request(vec![new("src/granted.toml")])), "the control plane"),
        ("staged", vec![staged(id(1), request(vec![new(".git/x")]), None)], "the control plane"),
        ("a temporary file", at_once(request(vec![new("src/.granted-1")])), "the control plane"),
        ("twice", at_once(request(vec![new("src/a"), new("src/b"), new("src/a")])), "twice"),
        ("below", at_once(request(vec![new("src/a/b"), new("src/a")])), "a file and a folder"),
        ("the same", at_once(request(vec![change("src/a", Some("x"), Some("x"))])), "as it is"),
        ("neither", at_once(request(vec![change("src/a", None, None)])), "as it is"),
        ("a mode", at_once(request(moded("src/a", 0o644, Some(0o4755)))), "say the mode"),
        ("no mode", at_once(request(moded("src/a", 0o10_0644, None))), "is none of a file"),
        ("a person's", by_person(moded("src/a", 0o644, Some(1 << 12))), "is none of a file"),
        ("a folder beside", start(made(&["lib"], vec![new("src/a")])), "on the way"),
        ("the file", start(made(&["src/a"], vec![new("src/a")])), "on the way"),
        ("a folder that is there", start(made(&["src"], edit())), "on the way"),
        ("a folder twice", start(made(&["src", "src"], vec![new("src/a")])), "a folder twice"),
        ("approved with a folder", claimed, "on the way"),
        ("outside", at_once(request(vec![new("src/a"), new("lib/a")])), "outside the scopes"),
        (
            "another gate",
            { at_once(looked(GateRun { gate: "mine".parse().unwrap(), ..gate_run() })) },
            "gates are not those",
        ),
        ("a changed gate", at_once(looked(GateRun { digest: other, ..gate_run() })), "not those"),
        (
            "no gate for one",
            { at_once(Request { gates: vec![gate_run()], ..request(new_files(1)) }) },
            "no gate looked at",
        ),
    ]);
}

#[test]
fn a_direct_grant_and_a_dispatch_end_at_their_first_instant() {
    let (_, key, long) = begin();
    let hour = now().plus(Duration::from_secs(3_600));
    let short = DirectGrant { expires: hour, ..long.clone() };
    let before = |at: Stamp| Stamp::from_micros(at.micros() - 1);
    let story = |grant: &DirectGrant, at| {
        let rows = vec![
            (None, granted(grant, &key)),
            (None, dispatched(1, 10)),
            (Some(at), direct(id(1), edited(), grant, 1)),
        ];
        fault_at(rows).map(|(_, why)| why)
    };
    assert_eq!(story(&short, before(hour)), None);
    assert!(story(&short, hour).unwrap().contains("direct grant that has expired"));
    let four = now().plus(Duration::from_secs(4 * 3_600));
    assert_eq!(story(&long, before(four)), None);
    assert!(story(&long, four).unwrap().contains("dispatch that has expired"));
    let staged = |at| {
        let rows = vec![(None, dispatched(1, 10)), (Some(at), staged(id(1), edited(), Some(1)))];
        fault_at(rows).map(|(_, why)| why)
    };
    assert_eq!(staged(before(four)), None);
    assert!(staged(four).unwrap().contains("dispatch that has expired"));
}

#[test]
fn illegal_uses_of_a_dispatch_are_found() {
    let file = |n| staged(id(n), edited(), Some(1));
    let others = Request { agent: Some("other".parse().unwrap()), ..edited() };
    let changes = edit();
    let elsewhere = {
        let project: granted_core::write::Project = "/home/ada/other".parse().unwrap();
        let digest = granted_core::write::request::content_digest(&project, &changes);
        Request { project, digest, ..edited() }
    };
    let many = (0..100).map(|n| refused(id(100 + n), Some(1)));
    let arrived: Vec<Told> = [dispatched(1, 25)].into_iter().chain(many).collect();
    assert_eq!(fault([&arrived[..100], &[file(1)]].concat()), None, "the 100th arrival");
    each_is_found(vec![
        ("once too often", vec![dispatched(1, 2), file(1), file(2), file(3)], "used up"),
        ("after too many arrivals", [arrived, vec![file(1)]].concat(), "used up"),
        ("never issued", vec![file(1)], "never issued"),
        ("refused with one never issued", vec![refused(id(1), Some(1))], "never issued"),
        ("issued twice", vec![dispatched(1, 2), dispatched(1, 2)], "issued before"),
        ("for no use", vec![dispatched(1, 0)], "out of range"),
        ("for too many uses", vec![dispatched(1, 1_001)], "out of range"),
        ("another agent", vec![dispatched(1, 2), staged(id(1), others, Some(1))], "of another"),
        (
            "another project",
            vec![dispatched(1, 2), staged(id(1), elsewhere, Some(1))],
            "of another",
        ),
        (
            "for too long",
            {
                let (event, moved) = dispatched(1, 2);
                let Event::WriteDispatched(mut body) = event else { unreachable!() };
                body.expires = now().plus(Duration::from_secs(31 * 86_400));
                vec![(Event::WriteDispatched(body), moved)]
            },
            "longer than may be",
        ),
    ]);
}

#[test]
fn what_was_closed_is_never_used() {
    let (_, _, grant) = begin();
    let one = Subject::write(id(1));
    // No key is trusted here, so that the accepted row need not be signed; nor is a grant then.
    let story = |rows: Vec<Told>| {
        let mut tale = Tale::default();
        rows.into_iter().for_each(|(event, moved)| tale.row(event, moved));
        let (mut audit, mut moves) = (Audit::default(), Vec::new());
        for line in &tale.lines {
            let raw = RawLine { seq: line.seq, offset: 0, bytes: &line.bytes };
            audit.line(raw, |m| moves.push(m)).map_err(|fault| fault.cause.into_owned())?;
        }
        check_subject_events(moves).map_err(|illegal| illegal.cause.to_owned())
    };
    let start = |rows: Vec<Told>| {
        story([vec![dispatched(1, 10), staged(id(1), edited(), Some(1))], rows].concat())
    };
    let all = vec![Subject::direct(grant.grant_id), dispatch_subject(1), one.clone()];
    assert_eq!(start(vec![closes(all.clone()), closes(all)]), Ok(()));
    assert_eq!(start(vec![closes(vec![dispatch_subject(1)]), refused(id(2), Some(1))]), Ok(()));
    // What came of one that was being applied is not known, and the person ends it.
    let (held, no) = (approved(id(1), &edited()), rejected(id(1), Some(day())));
    let (close, again) = (closes(vec![one.clone()]), closes(vec![one.clone()]));
    assert_eq!(start(vec![held.clone(), close.clone(), again, no.clone()]), Ok(()));
    assert_eq!(start(vec![held, unresolved(id(1)), close, no]), Ok(()));
    for (name, rows, cause) in [
        ("approved", vec![closes(vec![one.clone()]), approved(id(1), &edited())], "has ended"),
        (
            "applied",
            {
                let (held, done) = (approved(id(1), &edited()), applied(id(1), true, Some(day())));
                vec![held, closes(vec![one.clone()]), done]
            },
            "goes on with a change set that an accepted row closed",
        ),
        (
            "tried again",
            vec![approved(id(1), &edited()), closes(vec![one.clone()]), unresolved(id(1))],
            "goes on with a change set that an accepted row closed",
        ),
        (
            "rejected twice",
            {
                let (held, no) = (approved(id(1), &edited()), rejected(id(1), Some(day())));
                vec![held, closes(vec![one]), no.clone(), no]
            },
            "has ended",
        ),
        (
            "filed with a closed dispatch",
            vec![closes(vec![dispatch_subject(1)]), staged(id(2), edited(), Some(1))],
            "an accepted row closed",
        ),
        ("a day", vec![closes(vec![day()])], "not those of its kind"),
        ("a project", vec![closes(vec![project().subject()])], "not those of its kind"),
        ("twice", vec![closes(vec![dispatch_subject(1), dispatch_subject(1)])], "a grant twice"),
    ] {
        let why = start(rows).expect_err(name);
        assert!(why.contains(cause), "{name}: {why}");
    }
    let lost = vec![closes(vec![dispatch_subject(2)]), staged(id(2), edited(), Some(2))];
    assert!(start(lost).unwrap_err().contains("an accepted row closed"));
}

#[test]
fn a_direct_grant_that_was_closed_is_never_used() {
    let (mut tale, key, grant) = begin();
    let (mut moved, word) = (Vec::new(), |text: &str| text.parse().unwrap());
    for (event, subjects) in [granted(&grant, &key), dispatched(1, 10)] {
        tale.row(event, subjects);
    }
    moved.push(Subject::direct(grant.grant_id));
    let prev = tale.lines.last().unwrap().hash;
    let (by, reason) = (word("ada"), word("r"));
    let statement =
        granted_core::trust::Statement::accept(tale.story.book, prev, &by, &reason, &[]);
    let signature = Some(key.sign(&statement));
    tale.row(Event::Accepted(Accepted { by, reason, signature, what: vec![] }), moved);
    let (event, subjects) = direct(id(1), edited(), &grant, 1);
    tale.row(event, subjects);
    let (mut audit, mut moves) = (Audit::default(), Vec::new());
    for line in &tale.lines {
        let raw = RawLine { seq: line.seq, offset: 0, bytes: &line.bytes };
        audit.line(raw, |m| moves.push(m)).unwrap();
    }
    let illegal = check_subject_events(moves).unwrap_err();
    assert!(illegal.cause.contains("that is over"), "{illegal}");
}

#[test]
fn a_direct_grant_is_signed_by_a_key_that_is_trusted_then() {
    let (mut tale, key, grant) = begin();
    tale.untrust(&key);
    let (event, moved) = granted(&grant, &key);
    tale.row(event, moved);
    let (mut audit, mut found) = (Audit::default(), None);
    for line in &tale.lines {
        let raw = RawLine { seq: line.seq, offset: 0, bytes: &line.bytes };
        found = audit.line(raw, |_| {}).err();
    }
    assert!(found.unwrap().cause.contains("is not trusted"));
}

#[test]
fn a_row_that_is_written_after_midnight_has_the_day_of_its_decision() {
    let midnight = Stamp::parse("2026-10-01T00:00:00Z").unwrap();
    let one: Id = id(1);
    let rows = vec![
        (Some(midnight), staged(one, edited(), None)),
        (None, approved(one, &edited())),
        (None, applied(one, false, Some(day()))),
    ];
    assert_eq!(fault_at(rows), None);
}
