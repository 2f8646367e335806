//! A project with its brief, and a ledger in which things have happened.

use std::collections::BTreeMap;

use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::ledger::{Row, Subject};
use granted_core::time::Stamp;
use granted_core::trust::Trust;
use granted_core::write::direct::{self, Active, Facts, Policy};
use granted_core::write::request::Day;
use granted_core::write::{
    Agent, Brief, DirectGrant, DirectRecord, Project, RequestState, decide, dispatch,
};
use granted_testkit::sample;
use granted_testkit::tale::{Key, Tale};
use granted_testkit::writes::{self, Told};

/// The brief of the project.
pub const BRIEF: &str = r#"
protected = ["src/keys/"]

[agents.producer]
approval = "direct"
dispatch = "required"
tools = ["read_file_hashed", "write_file"]
write_scopes = ["README.md", "src/"]

[agents.careful]
tools = ["propose_changes", "delete_file"]
write_scopes = ["docs/"]

[gates.lint]
argv = ["ruff", "check", "{file}"]
paths = ["src/**"]
"#;

/// Reads a brief.
pub fn brief(text: &str) -> Brief {
    toml::from_str(text).unwrap()
}

/// A person's book, the key that it trusts, and what the installed program is.
pub struct World {
    pub tale: Tale,
    pub key: Key,
    pub brief: Brief,
    pub policy: Policy,
    pub project: Project,
    pub now: Stamp,
}

impl World {
    pub fn new() -> World {
        let (mut tale, key) = (Tale::default(), Key::file(1));
        tale.trust(&key, "ada", None);
        let gates = BTreeMap::from([("lint".parse().unwrap(), Ok(Digest::of(b"ruff")))]);
        World {
            tale,
            key,
            brief: brief(BRIEF),
            policy: Policy { server_sha256: Digest::of(b"granted"), gates },
            project: writes::project(),
            now: sample::now(),
        }
    }

    /// A grant for a week that binds what is there.
    pub fn grant(&self, number: u64) -> DirectGrant {
        writes::grant(self.tale.story.book, number, sample::now(), self.key.public.id())
    }

    /// The grant, signed.
    pub fn record(&self, grant: &DirectGrant) -> DirectRecord {
        let signature = self.key.sign(&direct::signed_values(grant));
        DirectRecord { grant: grant.clone(), signature }
    }

    /// Writes a row.
    pub fn tell(&mut self, (event, moved): Told) {
        self.tale.row(event, moved);
    }

    /// Signs a grant, with its row.
    pub fn sign(&mut self, grant: &DirectGrant) -> DirectRecord {
        self.tell(writes::granted(grant, &self.key));
        self.record(grant)
    }

    /// The rows that move a subject.
    pub fn rows(&self, subject: &Subject) -> Vec<Row> {
        let rows = self.tale.rows();
        rows.into_iter().filter(|row| row.moves(subject).is_some()).collect()
    }

    /// Which of these records are in force.
    pub fn active(&self, records: &[DirectRecord]) -> Active {
        let trust = Trust::fold(self.tale.story.book, &self.rows(&Subject::trust()));
        let facts = Facts {
            book: self.tale.story.book,
            project: &self.project,
            trust: &trust,
            policy: &self.policy,
            brief: &self.brief,
            now: self.now,
        };
        direct::active_grants(records, &|id| self.rows(&Subject::direct(id)), &facts)
    }

    /// Why this one record is not in force; `None` if it is.
    pub fn problem(&self, record: &DirectRecord) -> Option<String> {
        let active = self.active(std::slice::from_ref(record));
        let problem = active.problems.first().map(ToString::to_string);
        assert_eq!(active.grants.len(), usize::from(problem.is_none()), "{problem:?}");
        problem
    }

    /// A change set, as its rows leave it.
    pub fn request(&self, id: Id) -> Option<RequestState> {
        RequestState::fold(id, &self.rows(&Subject::write(id)))
    }

    /// The dispatch with this number.
    pub fn dispatch(&self, number: u64) -> Option<dispatch::DispatchState> {
        let subject = writes::dispatch_subject(number);
        dispatch::DispatchState::fold(subject.dispatch_id().unwrap(), &self.rows(&subject))
    }

    /// What the agent filed today.
    pub fn day(&self) -> Day {
        Day::fold(&self.rows(&writes::day()))
    }

    /// The agent's side of the brief.
    pub fn asker<'a>(&'a self, agent: &'a Agent) -> decide::Asker<'a> {
        decide::Asker::agent(&self.brief, agent).unwrap()
    }
}
