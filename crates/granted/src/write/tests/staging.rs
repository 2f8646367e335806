//! Staging, and the person's word. The names begin with the cases of the specification.

use std::time::Duration;

use granted_core::ledger::Event;
use granted_core::write::decide::NotNow;
use granted_core::write::dispatch::Terms;
use granted_core::write::{Refusal, Status};
use granted_exec::Stop;

use crate::write::approve::{WordError, approve};
use crate::write::dispatch::issue;
use crate::write::expire::expire;
use crate::write::file::Answer;
use crate::write::ground::{BRIEF, Ground, me};
use crate::write::project::OpenProject;
use crate::write::reject::reject;
use crate::write::revert::revert;

#[track_caller]
fn denied(result: Result<impl std::fmt::Debug, WordError>) -> Refusal {
    match result {
        Err(WordError::Not(NotNow::Denied(_, denied))) => denied.reason,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn not_now(result: Result<impl std::fmt::Debug, WordError>) -> Status {
    match result {
        Err(WordError::Not(NotNow::Status(_, status))) => status,
        other => panic!("{other:?}"),
    }
}

#[test]
fn g1_what_is_staged_is_written_when_it_is_approved() {
    let ground = Ground::new();
    let changes =
        [ground.change("src/a.txt", Some("two\n")), ground.change("src/b/c.txt", Some(""))];
    let state = ground.staged(changes);
    assert_eq!((state.status, ground.text("src/a.txt").as_str()), (Status::Staged, "one\n"));
    assert_eq!(ground.text("src/b/c.txt"), "-");
    let after = ground.approve(state.id).unwrap();
    assert_eq!((after.status, ground.text("src/a.txt").as_str()), (Status::Applied, "two\n"));
    assert_eq!(ground.text("src/b/c.txt"), "");
    assert_eq!(ground.kinds(), ["staged", "approved", "applied"]);
}

#[test]
fn g2_a_base_that_changed_is_refused_and_the_request_kept() {
    let ground = Ground::new();
    let state = ground.staged([ground.change("src/a.txt", Some("two\n"))]);
    ground.put("src/a.txt", "else\n");
    assert_eq!(denied(ground.approve(state.id)), Refusal::StaleBase);
    assert_eq!(ground.text("src/a.txt"), "else\n");
    assert_eq!(ground.request(state.id).status, Status::Staged);
    ground.put("src/a.txt", "one\n");
    assert_eq!(ground.approve(state.id).unwrap().status, Status::Applied);
}

#[test]
fn g3_what_was_rejected_is_not_approved() {
    let ground = Ground::new();
    let state = ground.staged([ground.change("src/a.txt", Some("two\n"))]);
    let reason = "no".parse().unwrap();
    let rejected = reject(&ground.book(), state.id, &me(), Some(&reason)).unwrap();
    assert_eq!(rejected.status, Status::Rejected);
    assert_eq!(not_now(ground.approve(state.id)), Status::Rejected);
    assert_eq!(not_now(reject(&ground.book(), state.id, &me(), None)), Status::Rejected);
    assert_eq!(ground.text("src/a.txt"), "one\n");
    assert_eq!(ground.kinds(), ["staged", "rejected"]);
}

#[test]
fn g4_a_deletion_waits() {
    let ground = Ground::new();
    let state = ground.staged([ground.change("src/a.txt", None)]);
    assert_eq!(ground.text("src/a.txt"), "one\n");
    ground.approve(state.id).unwrap();
    assert_eq!(ground.text("src/a.txt"), "-");
}

#[test]
fn g5_a_use_is_spent_when_it_is_staged_and_none_when_it_is_approved() {
    let ground = Ground::new();
    let book = ground.book();
    let project = OpenProject::named(&ground.root()).unwrap();
    let agent = "sent".parse().unwrap();
    let terms = Terms { ttl: None, uses: Some(1) };
    let (nonce, _) = issue(&book, &project, &agent, terms).unwrap();
    let mut proposal = ground.proposal([ground.change("src/a.txt", Some("two\n"))]);
    proposal.agent = agent;
    // Without one, with none that there is, and with what is none: one answer.
    for given in [None, Some("0".repeat(32)), Some("no nonce".into())] {
        proposal.dispatch = given;
        assert_eq!(ground.file(&proposal).refused(), Refusal::Dispatch);
    }
    proposal.dispatch = Some(nonce);
    let state = ground.file(&proposal).staged();
    assert_eq!(ground.file(&proposal).refused(), Refusal::Dispatch);
    ground.approve(state.id).unwrap();
    assert_eq!(ground.text("src/a.txt"), "two\n");
}

#[test]
fn g6_contents_that_were_tampered_with_are_not_applied() {
    let ground = Ground::new();
    let state = ground.staged([ground.change("src/a.txt", Some("two\n"))]);
    let digest = state.request().unwrap().changes[0].after.unwrap().sha256.to_string();
    let blob = ground.at("../home/blobs").join(digest);
    for tampered in [Some("evil\n"), None] {
        match tampered {
            Some(text) => std::fs::write(&blob, text).unwrap(),
            None => std::fs::remove_file(&blob).unwrap(),
        }
        assert_eq!(denied(ground.approve(state.id)), Refusal::LedgerUnwritable);
        assert_eq!(ground.text("src/a.txt"), "one\n");
    }
}

#[test]
fn g7_what_nobody_approves_in_time_expires_once() {
    let ground = Ground::new();
    let state = ground.staged([ground.change("src/a.txt", Some("two\n"))]);
    ground.advance(Duration::from_secs(24 * 3_600 - 1));
    assert!(expire(&ground.book()).unwrap().is_empty());
    ground.advance(Duration::from_secs(1));
    assert!(matches!(ground.approve(state.id), Err(WordError::Not(NotNow::Expired(..)))));
    assert_eq!(expire(&ground.book()).unwrap().len(), 1);
    assert!(expire(&ground.book()).unwrap().is_empty());
    assert_eq!(ground.request(state.id).status, Status::Expired);
    assert_eq!(ground.kinds(), ["staged", "expired"]);
}

#[test]
fn g10_it_is_approved_once() {
    let ground = Ground::new();
    let state = ground.staged([ground.change("src/a.txt", Some("two\n"))]);
    ground.approve(state.id).unwrap();
    assert_eq!(not_now(ground.approve(state.id)), Status::Applied);
    assert_eq!(ground.kinds(), ["staged", "approved", "applied"]);
}

#[test]
fn g11_the_brief_counts_as_it_is_when_it_is_approved() {
    let ground = Ground::new();
    let state = ground.staged([ground.change("src/a.txt", Some("two\n"))]);
    for (brief, reason) in [
        (BRIEF.replace("write_scopes = ['src/', ", "write_scopes = ["), Refusal::OutOfScope),
        (BRIEF.replace("'src/locked/', ", "'src/a.txt', "), Refusal::Protected),
        (BRIEF.replace("agents.producer", "agents.another"), Refusal::NotInBrief),
        (format!("{BRIEF}\n[caps]\nfile_bytes = 2\n"), Refusal::TooLarge),
    ] {
        ground.put("granted.toml", brief);
        assert_eq!(denied(ground.approve(state.id)), reason);
    }
    ground.put("granted.toml", "nonsense");
    assert!(matches!(ground.approve(state.id), Err(WordError::Project(_))));
    assert_eq!(ground.text("src/a.txt"), "one\n");
    ground.put("granted.toml", BRIEF);
    ground.approve(state.id).unwrap();
}

#[test]
fn g12_an_approval_is_of_what_was_shown() {
    let ground = Ground::new();
    let one = ground.staged([ground.change("src/a.txt", Some("two\n"))]);
    let other = ground.staged([ground.change("src/a.txt", Some("three\n"))]);
    let digest = other.request().unwrap().digest;
    let approved = approve(&ground.book(), one.id, digest, &me(), &Stop::new().unwrap());
    assert!(matches!(approved, Err(WordError::Not(NotNow::Digest(..)))), "{approved:?}");
    assert_eq!(ground.text("src/a.txt"), "one\n");
}

#[test]
fn g13_a_path_has_one_form_from_its_filing_on() {
    let ground = Ground::new();
    std::os::unix::fs::symlink("src", ground.at("link")).unwrap();
    for (path, text) in [("./src//a.txt", "two\n"), ("link/a.txt", "three\n")] {
        let mut change = ground.change("src/a.txt", Some(text));
        change.path = path.into();
        let state = ground.staged([change]);
        assert_eq!(state.request().unwrap().changes[0].path.as_str(), "src/a.txt");
        ground.approve(state.id).unwrap();
        assert_eq!(ground.text("src/a.txt"), text);
    }
}

#[test]
fn a_key_names_one_request() {
    let ground = Ground::new();
    let key = Some("k".parse().unwrap());
    let mut proposal = ground.proposal([ground.change("src/a.txt", Some("two\n"))]);
    proposal.key = key;
    let state = ground.file(&proposal).staged();
    let replayed = |answer: Answer| match answer {
        Answer::Filed { state, replayed: true } => (state.id, state.status),
        other => panic!("{other:?}"),
    };
    assert_eq!(replayed(ground.file(&proposal)), (state.id, Status::Staged));
    let mut other = proposal.clone();
    other.changes[0].content = Some(b"else".to_vec());
    assert_eq!(ground.file(&other).refused(), Refusal::KeyReused);
    ground.approve(state.id).unwrap();
    // Also when its files have moved on.
    assert_eq!(replayed(ground.file(&proposal)), (state.id, Status::Applied));
    assert_eq!(ground.kinds(), ["staged", "refused", "approved", "applied"]);
    // What was refused is tried again with the same key.
    let mut late = ground.proposal([ground.change("src/a.txt", Some("three\n"))]);
    late.key = Some("late".parse().unwrap());
    let good = late.changes[0].base.replace(state.request().unwrap().digest);
    assert_eq!(ground.file(&late).refused(), Refusal::StaleBase);
    late.changes[0].base = good;
    ground.file(&late).staged();
}

#[test]
fn caps_hold() {
    let ground = Ground::new();
    ground.put(
        "granted.toml",
        format!("{BRIEF}\n[caps]\nstaged = 2\nbytes_a_day = 20\nfiles = 2\nfile_bytes = 12\n"),
    );
    let one = |n: usize, bytes: usize| {
        let text = "x".repeat(bytes);
        ground.file(&ground.proposal([ground.change(&format!("src/{n}"), Some(&text))]))
    };
    assert_eq!(one(0, 13).refused(), Refusal::TooLarge);
    let first = one(1, 10).staged();
    let second = one(2, 5).staged();
    assert_eq!(one(3, 1).refused(), Refusal::StagedCap);
    reject(&ground.book(), first.id, &me(), None).unwrap();
    // Rejected or not, its bytes were filed.
    assert_eq!(one(3, 6).refused(), Refusal::DayCap);
    let third = one(3, 5).staged();
    let many = (0..3).map(|n| ground.change(&format!("src/m{n}"), Some("")));
    let many: Vec<_> = many.collect();
    assert_eq!(ground.file(&ground.proposal(many)).refused(), Refusal::TooManyFiles);
    ground.approve(second.id).unwrap();
    ground.approve(third.id).unwrap();
    // The next day has bytes of its own.
    ground.advance(Duration::from_secs(24 * 3_600));
    one(4, 10).staged();
    // What waits since yesterday counts.
    ground.advance(Duration::from_secs(16 * 3_600));
    one(5, 1).staged();
    assert_eq!(one(6, 1).refused(), Refusal::StagedCap);
}

/// A server remembers what it read of a day, and nobody is refused for what the ledger does not have.
#[test]
fn a_cap_is_counted_anew_where_the_ledger_was_put_back() {
    let ground = Ground::new();
    ground.put("granted.toml", format!("{BRIEF}\n[caps]\nstaged = 2\n"));
    let book = ground.book();
    let one = |n: usize| {
        let change = ground.change(&format!("src/{n}"), Some("x"));
        ground.file_in(&book, &ground.proposal([change]))
    };
    let ledger = ground.at("../home/ledger.jsonl");
    one(1).staged();
    let earlier = std::fs::read(&ledger).unwrap();
    one(2).staged();
    assert_eq!(one(3).refused(), Refusal::StagedCap);
    std::fs::write(&ledger, earlier).unwrap();
    one(4).staged();
    assert_eq!(one(5).refused(), Refusal::StagedCap);
}

#[test]
fn two_agents_on_one_file_one_is_stale() {
    let ground = Ground::new();
    let one = ground.staged([ground.change("src/a.txt", Some("two\n"))]);
    let mut theirs = ground.proposal([ground.change("src/a.txt", Some("three\n"))]);
    theirs.agent = "other".parse().unwrap();
    let other = ground.file(&theirs).staged();
    ground.approve(other.id).unwrap();
    assert_eq!(denied(ground.approve(one.id)), Refusal::StaleBase);
    assert_eq!(ground.text("src/a.txt"), "three\n");
}

#[test]
fn what_was_applied_is_taken_back_where_its_files_have_not_moved_on() {
    let ground = Ground::new();
    ground.put("src/gone", "bye\n");
    std::fs::set_permissions(
        ground.at("src/gone"),
        std::os::unix::fs::PermissionsExt::from_mode(0o751),
    )
    .unwrap();
    let changes = [
        ground.change("src/a.txt", Some("two\n")),
        ground.change("src/new", Some("new\n")),
        ground.change("src/gone", None),
    ];
    let state = ground.staged(changes);
    let early = revert(&ground.book(), state.id, &me(), &Stop::new().unwrap()).unwrap_err();
    assert!(matches!(early, WordError::Not(NotNow::NotApplied(_, Status::Staged))), "{early}");
    ground.approve(state.id).unwrap();
    let take_back = || revert(&ground.book(), state.id, &me(), &Stop::new().unwrap());
    ground.put("src/new", "newer\n");
    assert_eq!(denied(take_back()), Refusal::StaleBase);
    ground.put("src/new", "new\n");
    let back = take_back().unwrap();
    assert_eq!((back.status, back.agent()), (Status::Staged, None));
    assert_eq!(back.request().unwrap().reverts, Some(state.id));
    assert_eq!(ground.text("src/a.txt"), "two\n");
    ground.approve(back.id).unwrap();
    let is = ["src/a.txt", "src/new", "src/gone"].map(|path| ground.text(path));
    assert_eq!(is, ["one\n", "-", "bye\n"]);
    let mode = std::fs::metadata(ground.at("src/gone")).unwrap().permissions();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o7777, 0o751);
    // And that is taken back too.
    let forth = revert(&ground.book(), back.id, &me(), &Stop::new().unwrap()).unwrap();
    ground.approve(forth.id).unwrap();
    assert_eq!(ground.text("src/new"), "new\n");
}

/// Fifty of one agent, approved in an order that has nothing to do with that of their filing.
#[test]
fn fifty_are_approved_in_every_order() {
    for step in [1, 7, 13, 49] {
        let ground = Ground::new();
        let ids: Vec<_> = (0..50)
            .map(|n| ground.staged([ground.change(&format!("src/{n}"), Some(&format!("{n}")))]).id)
            .collect();
        assert_eq!(ground.refused("src/50", Some("")), Refusal::StagedCap);
        for n in 0..50 {
            let n = n * step % 50;
            ground.approve(ids[n]).unwrap();
            assert_eq!(ground.text(&format!("src/{n}")), format!("{n}"));
        }
        ground.staged([ground.change("src/50", Some(""))]);
    }
}

#[test]
fn a_refusal_leaves_one_row_and_says_what_is_there_now() {
    let ground = Ground::new();
    let mut proposal = ground.proposal([ground.change("src/a.txt", Some("two\n"))]);
    proposal.changes[0].base = None;
    let Answer::Refused { id: Some(id), denied } = ground.file(&proposal) else { panic!() };
    assert_eq!(denied.reason, Refusal::StaleBase);
    let (path, now) = *denied.stale.unwrap();
    assert_eq!((path.as_str(), now), ("src/a.txt", ground.base("src/a.txt")));
    assert_eq!(ground.request(id).status, Status::Refused);
    assert_eq!(ground.kinds(), ["refused"]);
    let Event::WriteRefused(row) = ground.book().ledger.row(2).unwrap().unwrap().event else {
        panic!()
    };
    assert_eq!(row.agent.as_str(), "producer");
}

/// A clock at which something happens when it is looked at first.
struct Eventful<F>(std::sync::Arc<granted_testkit::FixedClock>, F);

impl<F: Fn() + Send + Sync> granted_core::time::Clock for Eventful<F> {
    fn now(&self) -> granted_core::time::Stamp {
        self.1();
        self.0.now()
    }
}

#[test]
fn a_brief_that_is_changed_while_a_revert_is_checked_refuses_it() {
    let ground = Ground::new();
    let state = ground.staged([ground.change("src/a.txt", Some("two\n"))]);
    ground.approve(state.id).unwrap();
    let (book, brief) = (ground.book(), ground.at("granted.toml"));
    let change = move || std::fs::write(&brief, format!("{BRIEF}# more\n")).unwrap();
    let clock = std::sync::Arc::new(Eventful(ground.clock.clone(), change));
    let home = crate::home::Home::at(ground.at("../home"));
    let parts = (book.ledger.clone(), book.documents.clone());
    let door = granted_core::ledger::Door::Cli;
    let eventful = crate::book::Book::with(home, door, parts.0, parts.1, clock);
    let stop = Stop::new().unwrap();
    assert_eq!(denied(revert(&eventful, state.id, &me(), &stop)), Refusal::NotInBrief);
    assert_eq!(revert(&book, state.id, &me(), &stop).unwrap().status, Status::Staged);
}
