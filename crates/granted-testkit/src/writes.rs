//! Samples of writes: change sets, a dispatch, a direct grant, and their rows.

use std::collections::BTreeMap;
use std::time::Duration;

use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::ledger::{Door, Event, Line, Subject};
use granted_core::time::Stamp;
use granted_core::trust::{KeyId, Statement};
use granted_core::write::brief::Tool;
use granted_core::write::direct::AlwaysDirect;
use granted_core::write::event::{
    After, Applied, Approved, Before, Confinement, Direct, DirectGranted, DirectGrantsLoaded,
    DirectRevoked, Dispatched, Expired, FileChange, GateRun, Refused, Rejected, Request, Staged,
    Undone, Unresolved,
};
use granted_core::write::request::content_digest;
use granted_core::write::{Agent, DirectGrant, Project, Refusal, dispatch};

use crate::sample;
use crate::tale::{Key, Tale};

/// A row to be, and what it moves.
pub type Told = (Event, Vec<Subject>);

/// The name of the lock file of whoever applies.
const ACT: &str = "4f1c9a0e7b2d4c6f8a1b3d5e7f9a0c2e";

/// The agent `producer`.
pub fn agent() -> Agent {
    "producer".parse().unwrap()
}

/// The project in `/home/ada/site`.
pub fn project() -> Project {
    "/home/ada/site".parse().unwrap()
}

/// The day of the agent on which everything here happens.
pub fn day() -> Subject {
    project().day(&agent(), sample::now())
}

/// A file that is to be another; `None` is a file that is not there.
pub fn change(path: &str, before: Option<&str>, after: Option<&str>) -> FileChange {
    let sha256 = |text: &str| Digest::of(text.as_bytes());
    let bytes = |text: &str| u64::try_from(text.len()).unwrap();
    FileChange {
        after: after.map(|text| After { bytes: bytes(text), mode: None, sha256: sha256(text) }),
        before: before.map(|text| Before { bytes: bytes(text), mode: 0o644, sha256: sha256(text) }),
        path: path.parse().unwrap(),
    }
}

/// One file, edited.
pub fn edit() -> Vec<FileChange> {
    vec![change("src/a.py", Some("a = 1\n"), Some("a = 2\n"))]
}

/// So many files, all new.
pub fn new_files(count: u64) -> Vec<FileChange> {
    (0..count).map(|n| change(&format!("src/new{n}.py"), None, Some("pass\n"))).collect()
}

/// A change set of the agent.
pub fn request(changes: Vec<FileChange>) -> Request {
    Request {
        agent: Some(agent()),
        brief: Digest::of(b"granted.toml"),
        digest: content_digest(&project(), &changes),
        changes,
        gates: vec![],
        gates_asked: vec![],
        key: None,
        project: project(),
        rationale: "a is two".parse().unwrap(),
        reverts: None,
    }
}

/// A gate that passed.
pub fn gate_run() -> GateRun {
    GateRun {
        confined: Confinement::Landlock,
        digest: Digest::of(b"ruff"),
        duration_ms: 137,
        gate: "lint".parse().unwrap(),
        path: Some("src/a.py".parse().unwrap()),
    }
}

/// The subject of a dispatch, told apart by a number.
pub fn dispatch_subject(number: u64) -> Subject {
    Subject::dispatch(dispatch::id(&format!("{number:032x}")).unwrap())
}

/// A direct grant of the agent for a week and 50 files, told apart by a number.
pub fn grant(book: Id, number: u64, now: Stamp, key_id: KeyId) -> DirectGrant {
    DirectGrant {
        agent: agent(),
        approval: AlwaysDirect::Direct,
        book,
        expires: now.plus(Duration::from_secs(7 * 86_400)),
        gates: BTreeMap::from([("lint".parse().unwrap(), Digest::of(b"ruff"))]),
        grant_id: sample::id(number),
        issued: now,
        key_id,
        map_version: "1".into(),
        max_writes: 50,
        project: project(),
        server: "granted writes mcp".into(),
        server_sha256: Digest::of(b"granted"),
        tools: vec![Tool::ReadFileHashed, Tool::WriteFile],
        write_scopes: vec!["README.md".into(), "src/".into()],
    }
}

/// The row that stages a change set; it expires a day after [`sample::now`].
pub fn staged(id: Id, request: Request, dispatch: Option<u64>) -> Told {
    let mut moved = vec![Subject::write(id)];
    moved.extend(request.agent.as_ref().map(|agent| request.project.day(agent, sample::now())));
    moved.extend(dispatch.map(dispatch_subject));
    let expires = sample::now().plus(Duration::from_secs(86_400));
    (Event::WriteStaged(Staged { expires, request, why: None }), moved)
}

/// The row that refuses a change set.
pub fn refused(id: Id, dispatch: Option<u64>) -> Told {
    let refused = Refused {
        agent: agent(),
        detail: "`src/b.py` is in none of the agent's write scopes".into(),
        project: project(),
        reason: Refusal::OutOfScope,
    };
    let moved = [Subject::write(id)].into_iter().chain(dispatch.map(dispatch_subject));
    (Event::WriteRefused(refused), moved.collect())
}

/// The row that approves a change set.
pub fn approved(id: Id, request: &Request) -> Told {
    let approved = Approved {
        act: ACT.into(),
        by: "ada".parse().unwrap(),
        changes: request.changes.clone(),
        digest: request.digest,
        folders: vec![],
        gates: request.gates.clone(),
    };
    (Event::WriteApproved(approved), vec![Subject::write(id)])
}

/// The claim of a change set under a direct grant. Where the request names no gate, the one of the grant
/// has looked at it as a whole.
pub fn direct(id: Id, request: Request, grant: &DirectGrant, dispatch: u64) -> Told {
    let request = match request.gates.is_empty() {
        true => Request { gates: vec![GateRun { path: None, ..gate_run() }], ..request },
        false => request,
    };
    let moved = vec![
        Subject::write(id),
        day(),
        Subject::direct(grant.grant_id),
        dispatch_subject(dispatch),
    ];
    (Event::WriteDirect(Direct { act: ACT.into(), folders: vec![], request }), moved)
}

/// The row that says that every file is as it was to be; of a staged change set it moves the day.
pub fn applied(id: Id, recovered: bool, day: Option<Subject>) -> Told {
    let moved = [Subject::write(id)].into_iter().chain(day).collect();
    (Event::WriteApplied(Applied { recovered }), moved)
}

/// The row that says that every file is as it was.
pub fn undone(id: Id) -> Told {
    let undone = Undone { detail: "`src/a.py` is not what it was when it was approved".into() };
    (Event::WriteUndone(undone), vec![Subject::write(id)])
}

/// The row that says that some file is neither.
pub fn unresolved(id: Id) -> Told {
    let foreign = vec!["src/a.py".parse().unwrap()];
    let unresolved = Unresolved { detail: "somebody else wrote it".into(), foreign };
    (Event::WriteUnresolved(unresolved), vec![Subject::write(id)])
}

/// The row by which the person rejects a change set.
pub fn rejected(id: Id, day: Option<Subject>) -> Told {
    let reason = Some("a stays one".parse().unwrap());
    let moved = [Subject::write(id)].into_iter().chain(day).collect();
    (Event::WriteRejected(Rejected { by: "ada".parse().unwrap(), reason }), moved)
}

/// The row that ends a change set that was staged by [`staged`] and never approved.
pub fn expired(id: Id, day: Option<Subject>) -> Told {
    let expired = sample::now().plus(Duration::from_secs(86_400));
    let moved = [Subject::write(id)].into_iter().chain(day).collect();
    (Event::WriteExpired(Expired { expired }), moved)
}

/// The row that issues a dispatch for so many uses within four hours.
pub fn dispatched(number: u64, uses: u32) -> Told {
    let dispatched = Dispatched {
        agent: agent(),
        expires: sample::now().plus(Duration::from_secs(4 * 3_600)),
        project: project(),
        uses,
    };
    (Event::WriteDispatched(dispatched), vec![dispatch_subject(number)])
}

/// The row of a direct grant that this key signed.
pub fn granted(grant: &DirectGrant, key: &Key) -> Told {
    let signature = key.sign(&Statement::direct(grant));
    let moved = vec![Subject::direct(grant.grant_id), grant.project.subject()];
    (Event::DirectGranted(DirectGranted { grant: grant.clone(), signature }), moved)
}

/// The row by which the person takes a direct grant back.
pub fn revoked(grant: &DirectGrant) -> Told {
    let revoked = DirectRevoked { by: Some("ada".parse().unwrap()), note: None };
    let moved = vec![Subject::direct(grant.grant_id), grant.project.subject()];
    (Event::DirectRevoked(revoked), moved)
}

/// The row of an agent's server that starts with this grant in force.
pub fn loaded(grant: &DirectGrant, key: &Key) -> Told {
    let loaded = DirectGrantsLoaded {
        active: vec![grant.grant_id],
        file: Some(Digest::of(b"grants")),
        key_fingerprints: vec![Digest::of(&key.public.to_wire())],
        problems: vec![],
        project: project(),
    };
    (Event::DirectLoaded(loaded), vec![grant.project.subject()])
}

/// A short life with every kind of row of writes, the same bytes each time.
pub fn every_kind() -> Vec<Line> {
    let (mut tale, key) = (Tale::default(), Key::file(8));
    tale.trust(&key, "ada", None);
    let person = tale.story.scribe.by.clone();
    let mut agents = person.clone();
    (agents.agent, agents.door) = (agent().to_name(), Door::Mcp);
    // The agent's rows come through its door.
    let tell = |tale: &mut Tale, (event, moved): Told| {
        let filed = matches!(
            event,
            Event::WriteStaged(Staged { request: Request { agent: Some(_), .. }, .. })
                | Event::WriteRefused(_)
                | Event::WriteDirect(_)
                | Event::DirectLoaded(_)
        );
        tale.story.scribe.by = if filed { agents.clone() } else { person.clone() };
        tale.row(event, moved);
    };
    let mut ids = (1..).map(sample::id);
    let mut id = || ids.next().unwrap();

    // Staged with a nonce, approved and applied; and refused.
    tell(&mut tale, dispatched(1, 10));
    let first = id();
    let edited = Request {
        gates: vec![gate_run()],
        gates_asked: vec!["lint".parse().unwrap()],
        key: Some("edit-1".parse().unwrap()),
        ..request(edit())
    };
    tell(&mut tale, staged(first, edited.clone(), Some(1)));
    tell(&mut tale, approved(first, &edited));
    tell(&mut tale, applied(first, false, Some(day())));
    tell(&mut tale, refused(id(), Some(1)));

    // Taken back by the person: undone at first, then cut off, unresolved, and given up.
    let mut old = change("src/a.py", Some("a = 2\n"), Some("a = 1\n"));
    old.after = old.after.map(|after| After { mode: Some(0o644), ..after });
    let back = Request {
        agent: None,
        rationale: "take back".parse().unwrap(),
        reverts: Some(first),
        ..request(vec![old])
    };
    let second = id();
    tell(&mut tale, staged(second, back.clone(), None));
    tell(&mut tale, approved(second, &back));
    tell(&mut tale, undone(second));
    tell(&mut tale, approved(second, &back));
    tell(&mut tale, unresolved(second));
    tell(&mut tale, rejected(second, None));

    // At once, under a grant that is taken back afterwards.
    let now = Stamp::from_micros(tale.story.scribe.now.micros() / 1_000_000 * 1_000_000);
    let grant = grant(tale.story.book, 77, now, key.public.id());
    tell(&mut tale, granted(&grant, &key));
    tell(&mut tale, loaded(&grant, &key));
    let third = id();
    let (mut event, moved) = direct(third, request(new_files(2)), &grant, 1);
    if let Event::WriteDirect(direct) = &mut event {
        direct.folders = vec!["src".parse().unwrap()];
    }
    tell(&mut tale, (event, moved));
    tell(&mut tale, applied(third, true, None));
    tell(&mut tale, revoked(&grant));

    // A deletion, never approved.
    let fourth = id();
    let deletion = request(vec![change("src/old.py", Some("pass\n"), None)]);
    let (mut event, moved) = staged(fourth, deletion, None);
    if let Event::WriteStaged(staged) = &mut event {
        staged.why = Some("deletions are never direct".parse().unwrap());
    }
    tell(&mut tale, (event, moved));
    tale.story.scribe.now = sample::now().plus(Duration::from_secs(86_400));
    tell(&mut tale, expired(fourth, Some(day())));
    tale.lines
}
