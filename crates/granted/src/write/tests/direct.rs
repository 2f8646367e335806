//! Direct grants, from their signing to their last write. The names begin with the cases of the
//! specification.

mod serving;

use std::convert::Infallible;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use granted_core::id::Id;
use granted_core::ledger::Event;
use granted_core::text::Words;
use granted_core::trust::{Change as TrustChange, SecretKey};
use granted_core::write::direct::sign::revoke as revoked_row;
use granted_core::write::direct::{Problem, sign_record};
use granted_core::write::dispatch::Terms;
use granted_core::write::request::Origin;
use granted_core::write::{Agent, DirectRecord, RequestState, Status};
use granted_exec::Stop;
use granted_testkit::Fault;

use crate::book::Book;
use crate::decision::asker::Patient;
use crate::decision::trust::{TrustError, change};
use crate::write::direct::{active_grants, grants_file_for, read_grants};
use crate::write::dispatch::issue;
use crate::write::file::{Answer, Change, Proposal, file};
use crate::write::grants::{State, list};
use crate::write::ground::Ground;
use crate::write::loaded::Loaded;
use crate::write::project::OpenProject;
use crate::write::sign::{Asked, DirectError, InForce, Target, decide, revoke, sign};

const BRIEF: &str = "\
protected = ['lint/']

[agents.quick]
tools = ['read_file_hashed', 'write_file', 'delete_file', 'propose_changes']
approval = 'direct'
dispatch = 'required'
write_scopes = ['src/']
gates = ['fine']

[agents.slow]
tools = ['write_file']
write_scopes = ['src/']

[gates.fine]
argv = ['/bin/true', '{file}']
needs = ['lint/rules']
";

/// A project whose brief asks for direct writes, and the person with a trusted key.
struct World {
    ground: Ground,
    key: SecretKey,
}

/// A server of an agent, as long as its process lives.
struct Server {
    book: Book,
    loaded: Loaded,
}

fn agent(name: &str) -> Agent {
    name.parse().unwrap()
}

impl World {
    fn new() -> World {
        let ground = Ground::new();
        ground.put("granted.toml", BRIEF);
        ground.put("lint/rules", "all\n");
        let key = SecretKey::new(&[7; 32]).unwrap();
        let first = TrustChange::Trust(key.public().clone(), "ada".parse().unwrap());
        change(&ground.book(), &first, |_, _| -> Result<_, TrustError> {
            panic!("it is the first")
        })
        .unwrap();
        World { ground, key }
    }

    fn open(&self) -> OpenProject {
        OpenProject::named(&self.ground.root()).unwrap()
    }

    fn record(&self, name: &str, max_writes: u64) -> Result<DirectRecord, DirectError> {
        let asked = Asked { agent: agent(name), days: 7, max_writes };
        let grant = decide(&self.ground.book(), &self.open(), asked, self.key.public().id())?;
        Ok(sign_record(grant, &self.key))
    }

    #[track_caller]
    fn sign(&self, name: &str, max_writes: u64) -> Id {
        let record = self.record(name, max_writes).unwrap();
        self.put_in_force(&record).unwrap();
        record.grant.grant_id
    }

    fn put_in_force(&self, record: &DirectRecord) -> Result<InForce, DirectError> {
        sign(&self.ground.book(), &self.open(), record)
    }

    fn file(&self) -> PathBuf {
        grants_file_for(self.ground.book().home(), &self.ground.root())
    }

    fn problems(&self) -> Vec<String> {
        let project = self.open();
        let brief = project.brief().unwrap().brief;
        let (active, _) = active_grants(&self.ground.book(), &project, &brief).unwrap();
        active.problems.iter().map(ToString::to_string).collect()
    }

    fn active(&self) -> usize {
        let project = self.open();
        let brief = project.brief().unwrap().brief;
        active_grants(&self.ground.book(), &project, &brief).unwrap().0.grants.len()
    }

    fn serve(&self, name: &str) -> Server {
        let book = self.ground.book();
        let loaded = Loaded::start(&book, &self.open(), agent(name)).unwrap();
        Server { book, loaded }
    }

    fn nonce(&self, terms: Terms) -> String {
        issue(&self.ground.book(), &self.open(), &agent("quick"), terms).unwrap().0
    }

    fn proposal(&self, changes: Vec<Change>, nonce: &str) -> Proposal {
        Proposal {
            agent: agent("quick"),
            dispatch: Some(nonce.into()),
            ..self.ground.proposal(changes)
        }
    }

    /// Files one change through a server; how it stands.
    #[track_caller]
    fn write(&self, server: &Server, path: &str, to: Option<&str>, nonce: &str) -> RequestState {
        let proposal = self.proposal(vec![self.ground.change(path, to)], nonce);
        match server.file(self, &proposal) {
            Answer::Filed { state, .. } => *state,
            other => panic!("{other:?}"),
        }
    }

    /// The rows of this kind.
    fn rows(&self, wanted: fn(&Event) -> bool) -> usize {
        let book = self.ground.book();
        let last = book.ledger.head().unwrap().unwrap().seq;
        (1..=last).filter(|seq| wanted(&book.ledger.row(*seq).unwrap().unwrap().event)).count()
    }

    fn ledger(&self) -> PathBuf {
        self.ground.book().home().ledger().to_owned()
    }
}

impl Server {
    fn file(&self, world: &World, proposal: &Proposal) -> Answer {
        let (root, stop) = (world.ground.root(), Stop::new().unwrap());
        let answer: Result<_, Infallible> =
            file(&self.book, &root, proposal, &self.loaded, &stop, &Patient);
        answer.unwrap()
    }
}

/// Why it was staged and not written at once.
#[track_caller]
fn why(state: &RequestState) -> &str {
    assert_eq!(state.status, Status::Staged, "{state:?}");
    match &state.origin {
        Origin::Staged(staged) => staged.why.as_ref().map_or("", Words::as_str),
        other => panic!("{other:?}"),
    }
}

#[test]
fn d1_a_signed_record_is_in_force_and_lies_outside_the_project() {
    let world = World::new();
    let id = world.sign("quick", 50);
    assert_eq!((world.active(), world.problems()), (1, Vec::new()));
    assert!(!world.file().starts_with(world.ground.root().as_str()));
    let listed = list(&world.ground.book(), &world.ground.root()).unwrap();
    assert_eq!((listed[0].grant.grant_id, listed[0].state), (id, State::Active));
    let (records, digest) = read_grants(world.ground.book().home(), &world.ground.root()).unwrap();
    assert_eq!((records.len(), digest.is_some()), (1, true));
}

#[test]
fn d2_each_edited_field_disables_the_grant() {
    let world = World::new();
    world.sign("quick", 50);
    let text = fs::read_to_string(world.file()).unwrap();
    let whole: serde_json::Value = serde_json::from_str(&text).unwrap();
    let fields = whole[0]["grant"].as_object().unwrap();
    assert_eq!(fields.len(), 15);
    for (field, value) in fields {
        let mut edited = whole.clone();
        edited[0]["grant"][field] = match value {
            serde_json::Value::Number(number) => (number.as_u64().unwrap() + 1).into(),
            serde_json::Value::Array(items) => items[..items.len() - 1].into(),
            serde_json::Value::Object(_) => serde_json::json!({}),
            serde_json::Value::String(text) => {
                let last = if text.ends_with('0') { "1" } else { "0" };
                format!("{}{last}", &text[..text.len() - 1]).into()
            }
            other => panic!("{other}"),
        };
        fs::write(world.file(), edited.to_string()).unwrap();
        assert_eq!(world.active(), 0, "{field}");
        assert_eq!(world.problems().len(), 1, "{field}");
    }
    fs::write(world.file(), text).unwrap();
    assert_eq!(world.active(), 1);
}

#[test]
fn d3_widened_scopes_void_it_and_are_named() {
    let world = World::new();
    world.sign("quick", 50);
    let wider = BRIEF.replacen("write_scopes = ['src/']", "write_scopes = ['src/', 'docs/']", 1);
    world.ground.put("granted.toml", wider);
    let problem = &world.problems()[0];
    assert!(problem.contains("`write_scopes` changed"), "{problem}");
    assert_eq!(world.active(), 0);
}

#[test]
fn d4_an_edited_gate_or_a_file_that_it_needs_voids_it() {
    let world = World::new();
    world.sign("quick", 50);
    for (path, text) in [
        ("granted.toml", BRIEF.replace("'{file}']", "'{file}', '-x']")),
        ("lint/rules", "none\n".to_owned()),
    ] {
        let before = world.ground.text(path);
        world.ground.put(path, text);
        let problem = &world.problems()[0];
        assert!(problem.contains("gate `fine` changed"), "{problem}");
        world.ground.put(path, before);
        assert_eq!(world.active(), 1);
    }
}

#[test]
fn d5_d22_a_scope_that_no_gate_covers_is_refused_by_name_and_writes_nothing() {
    let world = World::new();
    let ungated = BRIEF.replace("gates = ['fine']\n", "");
    for (scope, paths, covered) in [
        ("src/", None, false),
        ("src/*.py", Some("src/*.py"), true),
        ("src/?.py", Some("src/?.py"), false),
        ("src/a.py", None, true),
        ("src/", Some("docs/"), false),
        ("src/", Some("src/*.py"), false),
        ("src/lib/", Some("src/"), true),
    ] {
        let paths = paths.map(|paths| format!("paths = ['{paths}']\n")).unwrap_or_default();
        let brief = ungated.replacen("['src/']", &format!("['{scope}']"), 1) + &paths;
        world.ground.put("granted.toml", brief);
        match world.record("quick", 50) {
            Ok(_) => assert!(covered, "{scope} {paths}"),
            Err(DirectError::Refused(Problem::Uncovered(named))) => {
                assert!(!covered && named == scope, "{scope} {paths}");
            }
            Err(e) => panic!("{e}"),
        }
    }
    assert!(!world.file().exists());
}

/// A brief with so many agents like `quick`.
fn many(count: usize) -> String {
    let agents = (0..count).map(|number| {
        let own = BRIEF.split("[agents.slow]").next().unwrap().split("\n\n").nth(1).unwrap();
        format!("\n{own}\n").replace("agents.quick", &format!("agents.quick{number}"))
    });
    format!("{BRIEF}{}", agents.collect::<String>())
}

#[test]
fn d6_d14_three_may_be_in_force_and_a_fourth_puts_all_out_of_it() {
    let world = World::new();
    world.ground.put("granted.toml", many(4));
    for number in 0..3 {
        world.sign(&format!("quick{number}"), 50);
        assert_eq!(world.active(), number + 1);
    }
    world.sign("quick3", 50);
    assert_eq!(world.active(), 0);
    assert!(world.problems()[0].contains("so none is honoured"), "{:?}", world.problems());
}

#[test]
fn d7_d15_it_ends_and_cannot_be_signed_for_longer_than_it_may() {
    let world = World::new();
    world.sign("quick", 50);
    world.ground.advance(Duration::from_secs(7 * 24 * 3_600 - 1));
    assert_eq!(world.active(), 1);
    world.ground.advance(Duration::from_secs(1));
    assert!(world.problems()[0].contains("expired"), "{:?}", world.problems());
    for (days, max_writes) in [(31, 50), (0, 50), (7, 0), (7, 501)] {
        let asked = Asked { agent: agent("quick"), days, max_writes };
        let key = world.key.public().id();
        let decided = decide(&world.ground.book(), &world.open(), asked, key);
        assert!(matches!(decided, Err(DirectError::Refused(_))), "{days} {max_writes}");
    }
}

#[test]
fn d8_d18_a_grants_file_that_cannot_be_relied_on_is_not_read() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let world = World::new();
    world.sign("quick", 50);
    let (file, text) = (world.file(), fs::read(world.file()).unwrap());
    let mode = |path: &std::path::Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let folder = file.parent().unwrap().to_owned();
    for (path, bad, good) in [(&file, 0o660, 0o600), (&file, 0o606, 0o600), (&folder, 0o770, 0o700)]
    {
        mode(path, bad);
        assert_eq!(world.active(), 0, "{bad:o}");
        assert!(world.problems()[0].starts_with("the grants file: "), "{:?}", world.problems());
        mode(path, good);
        assert_eq!(world.active(), 1);
    }
    let text = String::from_utf8(text).unwrap();
    let twice = text.replacen("\"agent\":", "\"agent\": \"quick\", \"agent\":", 1);
    let gate_twice = text.replacen("\"fine\":", "\"fine\": \"\", \"fine\":", 1);
    for bad in ["{}", "[1]", "", &twice, &gate_twice, &" ".repeat(300 << 10)] {
        fs::write(&file, bad).unwrap();
        assert_eq!(
            (world.active(), world.problems().len()),
            (0, 1),
            "{}",
            &bad[..bad.len().min(99)]
        );
    }
    fs::rename(&file, folder.join("moved")).unwrap();
    symlink("moved", &file).unwrap();
    fs::write(folder.join("moved"), &text).unwrap();
    assert_eq!((world.active(), world.problems().len()), (0, 1));
    fs::remove_file(&file).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    assert_eq!((world.active(), world.problems().len()), (0, 1));
    fs::remove_file(&file).unwrap();
    assert_eq!((world.active(), world.problems().len()), (0, 0), "no file is no grant");
}

#[test]
fn d9_d23_what_was_taken_back_stays_so_whatever_file_is_put_there() {
    let world = World::new();
    let first = world.sign("quick", 50);
    let old = fs::read(world.file()).unwrap();
    let target = Target::Agent(agent("quick"), world.ground.root());
    revoke(&world.ground.book(), &target, None, None).unwrap();
    assert_eq!(fs::read_to_string(world.file()).unwrap().trim(), "[]");
    fs::write(world.file(), &old).unwrap();
    assert!(world.problems()[0].contains("is revoked"), "{:?}", world.problems());
    // A new signature takes the place of the old one, also if both stand there.
    let second = world.sign("quick", 50);
    let third = world.record("quick", 3).unwrap();
    assert_eq!(world.put_in_force(&third).unwrap().replaced, [second]);
    fs::write(world.file(), &old).unwrap();
    assert_eq!(world.active(), 0);
    assert_ne!(first, second);
    for id in [first, second] {
        let again = revoke(&world.ground.book(), &Target::Grant(id), None, None);
        assert!(matches!(again, Err(DirectError::Nothing(_))));
    }
}

#[test]
fn d16_a_key_that_is_not_trusted_signs_nothing_into_force() {
    let world = World::new();
    let stranger = SecretKey::new(&[8; 32]).unwrap();
    let mut record = world.record("quick", 50).unwrap();
    record = sign_record(record.grant, &stranger);
    assert!(matches!(
        world.put_in_force(&record),
        Err(DirectError::Refused(Problem::Signature(..)))
    ));
    record.grant.key_id = stranger.public().id();
    record = sign_record(record.grant, &stranger);
    assert!(matches!(
        world.put_in_force(&record),
        Err(DirectError::Refused(Problem::Signature(..)))
    ));
    assert!(!world.file().exists());
    // Nor does one count that is untrusted since.
    world.sign("quick", 50);
    let untrust = TrustChange::Untrust(world.key.public().id(), None);
    change(&world.ground.book(), &untrust, |_, _| -> Result<_, TrustError> { panic!() }).unwrap();
    assert!(world.problems()[0].contains("is not trusted"), "{:?}", world.problems());
}

#[test]
fn a_signature_is_put_in_force_once_and_the_file_again() {
    let world = World::new();
    let record = world.record("quick", 50).unwrap();
    world.put_in_force(&record).unwrap();
    fs::remove_file(world.file()).unwrap();
    world.put_in_force(&record).unwrap();
    assert_eq!(world.active(), 1);
    assert_eq!(world.rows(|event| matches!(event, Event::DirectGranted(_))), 1);
    revoke(&world.ground.book(), &Target::Grant(record.grant.grant_id), None, None).unwrap();
    assert!(matches!(world.put_in_force(&record), Err(DirectError::Refused(Problem::Known(_)))));
}

#[test]
fn taking_back_is_never_refused_for_the_clock() {
    let world = World::new();
    let id = world.sign("quick", 50);
    let behind = world.ground.clock.as_ref();
    behind.set(granted_core::time::Clock::now(behind).minus(Duration::from_secs(3_600)));
    assert!(matches!(world.record("quick", 50), Err(DirectError::Refused(Problem::Clock(_)))));
    revoke(&world.ground.book(), &Target::Grant(id), None, None).unwrap();
    assert_eq!(world.active(), 0);
}
