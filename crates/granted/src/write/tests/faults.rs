//! Appends that go wrong, and processes that die: what the next one finds.

use granted_core::write::decide::{self, Consent};
use granted_core::write::{Claim, RequestState, Side, Status};
use granted_exec::Stop;
use granted_testkit::Fault;

use crate::book::Book;
use crate::write::checked::checked;
use crate::write::file::{Answer, kept};
use crate::write::ground::{Ground, me};
use crate::write::project::OpenProject;
use crate::write::recover::recover;
use crate::write::{approve, gather};

const FAULTS: [Fault; 4] = [Fault::NotWritten, Fault::Lost, Fault::Landed, Fault::Conflict];

/// A change set of three sorts of change, staged.
fn three(ground: &Ground) -> RequestState {
    ground.put("src/gone", "bye\n");
    ground.staged([
        ground.change("src/a.txt", Some("two\n")),
        ground.change("src/x/y/new", Some("new\n")),
        ground.change("src/gone", None),
    ])
}

/// Whether the files are all as they were (`false`) or all as they were to be.
#[track_caller]
fn is_new(ground: &Ground) -> bool {
    let is = ["src/a.txt", "src/x/y/new", "src/gone"].map(|path| ground.text(path));
    match is.each_ref().map(String::as_str) {
        ["one\n", "-", "bye\n"] => {
            assert!(!ground.at("src/x").exists(), "a folder was left");
            false
        }
        ["two\n", "new\n", "-"] => true,
        other => panic!("{other:?}"),
    }
}

/// What the next command of the person finds: files and ledger agree.
#[track_caller]
fn settled(ground: &Ground, state: &RequestState) -> Status {
    recover(&ground.book(), Side::Person, None).unwrap();
    let now = ground.request(state.id).status;
    assert_eq!(now, if is_new(ground) { Status::Applied } else { Status::Staged });
    for entry in std::fs::read_dir(ground.at("src")).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(!name.to_str().unwrap().starts_with(".granted"), "{name:?}");
    }
    now
}

#[test]
fn an_approval_survives_every_append_that_goes_wrong() {
    for (append, faults) in [(1, FAULTS), (2, FAULTS)] {
        for fault in faults {
            let ground = Ground::new();
            let state = three(&ground);
            let book = ground.wrong(append, fault);
            let approved = ground.approve_in(&book, state.id);
            let told = approved.as_ref().ok().map(|state| state.status);
            assert_eq!(
                told,
                (fault == Fault::Conflict).then_some(Status::Applied),
                "{append} {fault:?}"
            );
            drop(book);
            let now = settled(&ground, &state);
            let expected = match (append, fault) {
                (1, Fault::Conflict) | (2, _) => Status::Applied,
                _ => Status::Staged,
            };
            assert_eq!(now, expected, "{append} {fault:?}");
            if now == Status::Staged {
                ground.approve(state.id).unwrap();
            }
            assert!(is_new(&ground));
        }
    }
}

/// The process that could not record what came of it lives on, and finds out for itself.
#[test]
fn a_process_that_gave_up_sees_to_it_itself() {
    let ground = Ground::new();
    let state = three(&ground);
    let book = ground.wrong(2, Fault::NotWritten);
    ground.approve_in(&book, state.id).unwrap_err();
    assert_eq!(ground.request(state.id).status, Status::Applying);
    // To others it runs.
    assert!(recover(&ground.book(), Side::Person, None).unwrap().is_empty());
    assert_eq!(recover(&book, Side::Person, None).unwrap().len(), 1);
    assert_eq!(ground.request(state.id).status, Status::Applied);
}

#[test]
fn filing_survives_every_append_that_goes_wrong() {
    for fault in FAULTS {
        let ground = Ground::new();
        ground.refused("src/a.txt", Some("one\n"));
        let mut proposal = ground.proposal([ground.change("src/a.txt", Some("two\n"))]);
        proposal.key = Some("k".parse().unwrap());
        let answer = ground.file_in(&ground.wrong(1, fault), &proposal);
        let staged = matches!(answer, Answer::Filed { replayed: false, .. });
        assert_eq!(staged, fault == Fault::Conflict, "{fault:?}: {answer:?}");
        // Trying again with the same key ends with one request.
        let Answer::Filed { state, replayed } = ground.file(&proposal) else { panic!("{fault:?}") };
        assert_eq!(replayed, matches!(fault, Fault::Conflict | Fault::Landed), "{fault:?}");
        let staged = ground.kinds().iter().filter(|kind| *kind == "staged").count();
        assert_eq!((state.status, staged), (Status::Staged, 1));
    }
}

/// Claims a staged change set as the person's process does, and gives it back before anything is applied.
fn claimed(ground: &Ground, book: &Book, state: &RequestState) -> Claim {
    let request = state.request().unwrap();
    let project = OpenProject::named(&ground.root()).unwrap();
    let brief = project.brief().unwrap().brief;
    let whose = decide::Asker::agent(&brief, request.agent.as_ref().unwrap()).unwrap();
    let filing = decide::again(request);
    let contents = approve::contents(book, &filing).unwrap();
    let stop = Stop::new().unwrap();
    let checked = checked(&project, &whose, &filing, &contents, &stop).unwrap();
    kept(book, [&contents, &checked.before]).unwrap();
    let act = book.acts.begin().unwrap();
    let consent = Consent {
        approver: me(),
        digest: request.digest,
        changes: checked.changes,
        folders: checked.folders,
        gates: checked.gates,
        act: &act,
    };
    let state = gather::request(book, state.id).unwrap().unwrap();
    let head = book.ledger.head().unwrap();
    decide::approve(&state, consent, head, book.now(), &book.by(None))
        .unwrap()
        .claim(&*book.ledger)
        .unwrap()
}

#[test]
fn g10_one_that_died_after_its_claim_is_all_old_and_waits_again() {
    let ground = Ground::new();
    let state = three(&ground);
    let book = ground.book();
    drop(claimed(&ground, &book, &state));
    // While it lives nobody touches it.
    assert!(recover(&ground.book(), Side::Person, None).unwrap().is_empty());
    assert!(ground.approve(state.id).is_err());
    book.acts.keep();
    drop(book);
    // The agent's side does not see to what the person claimed.
    assert!(recover(&ground.book(), Side::Agent, None).unwrap().is_empty());
    assert_eq!(settled(&ground, &state), Status::Staged);
    ground.approve(state.id).unwrap();
    assert!(is_new(&ground));
    assert_eq!(ground.kinds(), ["staged", "approved", "undone", "approved", "applied"]);
}

#[test]
fn one_that_died_in_the_middle_is_rolled_forward() {
    let ground = Ground::new();
    let state = three(&ground);
    let book = ground.book();
    drop(claimed(&ground, &book, &state));
    ground.put("src/a.txt", "two\n");
    book.acts.keep();
    drop(book);
    assert_eq!(settled(&ground, &state), Status::Applied);
    assert_eq!(ground.kinds(), ["staged", "approved", "applied"]);
}

#[test]
fn a_file_that_is_neither_is_named_and_left() {
    let ground = Ground::new();
    let state = three(&ground);
    let book = ground.book();
    drop(claimed(&ground, &book, &state));
    ground.put("src/a.txt", "two\n");
    ground.put("src/gone", "mine\n");
    book.acts.keep();
    drop(book);
    recover(&ground.book(), Side::Person, None).unwrap();
    let now = ground.request(state.id);
    assert_eq!(now.status, Status::Unresolved);
    let foreign: Vec<_> = now.unresolved.unwrap().foreign;
    assert_eq!(foreign.iter().map(|path| path.as_str()).collect::<Vec<_>>(), ["src/gone"]);
    assert_eq!(ground.text("src/gone"), "mine\n");
    // Nothing is done about it by itself; put right, it is approved again.
    recover(&ground.book(), Side::Person, None).unwrap();
    assert_eq!(ground.kinds(), ["staged", "approved", "unresolved"]);
    ground.put("src/gone", "bye\n");
    assert_eq!(ground.approve(state.id).unwrap().status, Status::Applied);
    assert!(is_new(&ground));
}

#[test]
fn an_unresolved_one_is_ended_with_its_files_as_they_are() {
    let ground = Ground::new();
    let state = three(&ground);
    let book = ground.book();
    drop(claimed(&ground, &book, &state));
    ground.put("src/a.txt", "mine\n");
    book.acts.keep();
    drop(book);
    recover(&ground.book(), Side::Person, None).unwrap();
    crate::write::reject::reject(&ground.book(), state.id, &me(), None).unwrap();
    assert_eq!(ground.request(state.id).status, Status::Rejected);
    assert_eq!(ground.text("src/a.txt"), "mine\n");
}
