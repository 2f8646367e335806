//! A project and a book for tests of the pipelines: real files, and a clock that stands.

use std::convert::Infallible;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::ledger::{By, Door};
use granted_core::text::Note;
use granted_core::write::brief::Tool;
use granted_core::write::{Project, Refusal, RequestState};
use granted_exec::Stop;
use granted_store::{FileDocuments, FileLedger};
use granted_testkit::{Fault, FaultyLedger, FixedClock};

use super::approve::{WordError, approve};
use super::file::{Answer, Change, Directs, InForce, Proposal, file};
use super::gather;
use super::project::{OpenProject, ReadBrief};
use crate::book::Book;
use crate::decision::asker::Patient;
use crate::home::Home;
use crate::ledger::verify::verify;

/// What the tests begin with.
pub const BRIEF: &str = "\
protected = ['src/locked/', 'src/locked.txt', 'docs/caf\u{e9}.md']

[agents.producer]
tools = ['read_file_hashed', 'write_file', 'delete_file', 'propose_changes', 'request_status']
write_scopes = ['src/', 'docs/*.md', 'top.txt', 'link/']

[agents.other]
tools = ['propose_changes']
write_scopes = ['src/']

[agents.sent]
tools = ['propose_changes']
write_scopes = ['src/']
dispatch = 'required'
";

/// No direct grant.
pub struct NoDirects;

impl Directs for NoDirects {
    fn active(&self, _: &Book, _: &OpenProject, _: &ReadBrief) -> InForce {
        InForce::default()
    }

    fn used(&self, _: Id) -> u64 {
        0
    }

    fn forget(&self) {}

    fn claimed(&self, _: &Book, _: Id, _: u64) {
        panic!("there is no grant");
    }
}

/// A project, and a home beside it.
pub struct Ground {
    dir: tempfile::TempDir,
    pub clock: Arc<FixedClock>,
}

/// Whatever has happened, the ledger that it leaves is a good one.
impl Drop for Ground {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let report = crate::ledger::verify::verify(&*self.book().ledger, &mut |_| {}).unwrap();
            assert_eq!(report.fault, None);
        }
    }
}

impl Ground {
    pub fn new() -> Ground {
        let ground = Ground { dir: tempfile::tempdir().unwrap(), clock: Arc::default() };
        ground.put("granted.toml", BRIEF);
        ground.put("src/a.txt", "one\n");
        ground
    }

    /// The project's folder.
    pub fn at(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("project").join(path)
    }

    pub fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// What a file holds; `-` if it is not there.
    pub fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap_or("-".into())
    }

    pub fn root(&self) -> Project {
        Project::new(self.at("").to_str().unwrap().trim_end_matches('/')).unwrap()
    }

    /// The book as a new process opens it.
    pub fn book(&self) -> Book {
        self.faulty(|ledger| ledger)
    }

    /// The same in a process of which this append goes wrong.
    pub fn wrong(&self, append: usize, fault: Fault) -> Book {
        self.faulty(|ledger| ledger.at(append, fault))
    }

    fn faulty(&self, faults: impl FnOnce(FaultyLedger) -> FaultyLedger) -> Book {
        let home = Home::at(self.dir.path().join("home"));
        let by = By { agent: None, door: Door::Mcp, host: "box".into(), uid: 0 };
        let file = FileLedger::new(home.ledger(), self.clock.clone(), by);
        let ledger = Arc::new(faults(FaultyLedger::new(Arc::new(file))));
        let documents = Arc::new(FileDocuments::new(home.documents()));
        Book::with(home, Door::Mcp, ledger, documents, self.clock.clone())
    }

    /// What a file is based on now.
    pub fn base(&self, path: &str) -> Option<Digest> {
        fs::read(self.at(path)).ok().map(|bytes| Digest::of(&bytes))
    }

    /// A change of a file as it is now; to nothing for a deletion.
    pub fn change(&self, path: &str, to: Option<&str>) -> Change {
        let content = to.map(|text| text.as_bytes().to_vec());
        Change { path: path.into(), content, base: self.base(path) }
    }

    /// A proposal of the producer.
    pub fn proposal(&self, changes: impl IntoIterator<Item = Change>) -> Proposal {
        Proposal {
            agent: "producer".parse().unwrap(),
            tool: Tool::ProposeChanges,
            changes: changes.into_iter().collect(),
            rationale: "because".parse().unwrap(),
            gates: Vec::new(),
            key: None,
            dispatch: None,
        }
    }

    pub fn file(&self, proposal: &Proposal) -> Answer {
        self.file_in(&self.book(), proposal)
    }

    pub fn file_in(&self, book: &Book, proposal: &Proposal) -> Answer {
        let stop = Stop::new().unwrap();
        let answer: Result<Answer, Infallible> =
            file(book, &self.root(), proposal, &NoDirects, &stop, &Patient);
        answer.unwrap()
    }

    /// Files changes that are staged; the request.
    #[track_caller]
    pub fn staged(&self, changes: impl IntoIterator<Item = Change>) -> RequestState {
        self.file(&self.proposal(changes)).staged()
    }

    /// Files one change that is refused; why.
    #[track_caller]
    pub fn refused(&self, path: &str, to: Option<&str>) -> Refusal {
        self.file(&self.proposal([self.change(path, to)])).refused()
    }

    pub fn request(&self, id: Id) -> RequestState {
        gather::request(&self.book(), id).unwrap().unwrap()
    }

    /// Approves what a request is.
    pub fn approve(&self, id: Id) -> Result<RequestState, WordError> {
        self.approve_in(&self.book(), id)
    }

    pub fn approve_in(&self, book: &Book, id: Id) -> Result<RequestState, WordError> {
        let digest = self.request(id).request().unwrap().digest;
        approve(book, id, digest, &me(), &Stop::new().unwrap())
    }

    pub fn advance(&self, span: Duration) {
        self.clock.advance(span);
    }

    /// The kinds of the rows after the opening, without `write.`, of a ledger that must be whole.
    pub fn kinds(&self) -> Vec<String> {
        let book = self.book();
        let found = verify(&*book.ledger, &mut |_| {}).unwrap();
        assert_eq!(found.fault, None);
        let kind = |seq| book.ledger.row(seq).unwrap().unwrap().event.kind();
        (2..=found.rows).map(|seq| kind(seq).trim_start_matches("write.").to_owned()).collect()
    }
}

/// Whose hand it is.
pub fn me() -> Note {
    "me".parse().unwrap()
}

impl Answer {
    #[track_caller]
    pub fn staged(self) -> RequestState {
        match self {
            Answer::Filed { state, replayed: false } => *state,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    pub fn refused(self) -> Refusal {
        match self {
            Answer::Refused { id: Some(_), denied } => denied.reason,
            other => panic!("{other:?}"),
        }
    }
}
