//! What becomes of a change set that is filed: each refusal in its order, and where it goes.

use std::time::Duration;

use granted_core::digest::Digest;
use granted_core::ledger::Head;
use granted_core::write::brief::Tool;
use granted_core::write::decide::{self, Facts, Filing, Proposed, Route, check, check_caps, route};
use granted_core::write::direct::{Active, VerifiedGrant};
use granted_core::write::event::{After, Before, Confinement, GateRun};
use granted_core::write::request::Day;
use granted_core::write::{Agent, Refusal};
use granted_testkit::sample::id;
use granted_testkit::writes;

use super::world::{BRIEF, World, brief};

pub fn digest(text: &str) -> Digest {
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
pub fn facts<'a>(world: &'a World, today: &'a Day) -> Facts<'a> {
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
    let active = world.active(std::slice::from_ref(&record));
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
