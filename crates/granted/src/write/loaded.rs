//! What an agent's server knows of direct grants from its start on.
//!
//! It may only come to allow less. The grants that were verified at the start are looked at anew before
//! each direct write; the grants file must be the one of the start; the ledger must go on from the last
//! row that this server saw; and of how many files were written, the larger count is believed.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::ledger::{Event, Row, Subject};
use granted_core::store::{AppendError, ReadError};
use granted_core::trust::Trust;
use granted_core::write::direct::sign::loaded_row;
use granted_core::write::direct::{Active, Facts, Policy, Problem, VerifiedGrant, verify};
use granted_core::write::{Agent, Project};

use super::direct::{
    GatherError, Gathered, active_grants, count_direct_writes, gates_now, read_grants, standing,
};
use super::file::{Directs, InForce};
use super::project::{OpenProject, ProjectError, ReadBrief};
use crate::book::{Book, BookError};
use crate::decision::gather::trust;

/// The direct grants of a project, as a server for one agent knows them.
pub struct Loaded {
    agent: Agent,
    /// The digest of the grants file at the start.
    file: Option<Digest>,
    /// The digest of the program at the start.
    server_sha256: Digest,
    /// The agent's grant, if it was in force at the start.
    own: Option<Id>,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    /// The last row that was seen.
    mark: Option<Mark>,
    /// The rows of the agent's grant, so that each is read once.
    rows: Vec<Row>,
    /// How many files this server has written under each grant, and others before it.
    used: BTreeMap<Id, u64>,
    /// Why nothing is written directly any more, until a server is started anew.
    off: Option<String>,
}

/// A row that lies in the ledger.
#[derive(Clone, Copy)]
struct Mark {
    seq: u64,
    offset: u64,
    hash: Digest,
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The project or its brief.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The facts or the ledger.
    #[error(transparent)]
    Gather(#[from] GatherError),
    /// The brief does not name the agent.
    #[error("the brief of `{0}` names no agent `{1}`")]
    NoAgent(Project, Agent),
}

impl From<BookError> for StartError {
    fn from(error: BookError) -> StartError {
        StartError::Gather(error.into())
    }
}

impl Loaded {
    /// Verifies every grant and, if one is in force, the whole ledger; records what came of it.
    pub fn start(book: &Book, project: &OpenProject, agent: Agent) -> Result<Loaded, StartError> {
        let ReadBrief { brief, .. } = project.brief()?;
        if !brief.agents.contains_key(&agent) {
            return Err(StartError::NoAgent(project.name().clone(), agent));
        }
        let (mut active, file) = active_grants(book, project, &brief)?;
        let mut memory = Memory::default();
        if !active.grants.is_empty() {
            match count_direct_writes(book, &active) {
                Ok(used) => memory.used = used,
                Err(why) => {
                    let problems = vec![Problem::Ledger(why)];
                    active = Active { problems, ..Active::default() };
                }
            }
        }
        let gathered = Gathered::of(book, project, &brief)?;
        record(book, project.name(), &active, &gathered.trust, file)?;
        memory.mark = mark(book).map_err(BookError::from)?;
        if !active.grants.contains_key(&agent) {
            memory.off = Some(why_not(book, project.name(), &active, &agent));
        }
        let own = active.grants.get(&agent).map(|grant| grant.grant().grant_id);
        Ok(Loaded {
            agent,
            file,
            server_sha256: gathered.policy.server_sha256,
            own,
            memory: Mutex::new(memory),
        })
    }

    /// Why nothing is written directly, if so.
    pub fn off(&self) -> Option<String> {
        self.memory().off.clone()
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The agent's grant, as it is now.
    fn grant(
        &self,
        book: &Book,
        project: &OpenProject,
        read: &ReadBrief,
    ) -> Result<VerifiedGrant, Fault> {
        let anew = |why: &str| Fault::Lasting(format!("{why}: start the server anew"));
        let unread = |e: ReadError| Fault::Now(e.to_string());
        let own = self.own.ok_or_else(|| anew("the agent has no direct grant"))?;
        let mut memory = self.memory();
        if let Some(Mark { seq, offset, hash }) = memory.mark
            && book.ledger.digest_at(offset).map_err(unread)? != Some(hash)
        {
            return Err(anew(&format!("the ledger does not go on from row {seq}, as it was seen")));
        }
        memory.mark = mark(book).map_err(unread)?;
        let seen = memory.rows.last().map_or(0, |row| row.seq);
        let rows = book.ledger.rows_after(&Subject::direct(own), seen).map_err(unread)?;
        memory.rows.extend(rows);
        if memory.rows.iter().any(|row| matches!(row.event, Event::DirectRevoked(_))) {
            return Err(Fault::Lasting(Problem::Revoked(own).to_string()));
        }
        let records = match read_grants(book.home(), project.name()) {
            Ok((records, sha256)) if sha256 == self.file => records,
            _ => return Err(anew("the grants file is not the one of this server's start")),
        };
        let record = records.iter().find(|record| record.grant.grant_id == own);
        let record = record.ok_or_else(|| anew("the agent's direct grant is gone"))?;
        let id = book.id().map_err(|e| Fault::Now(e.to_string()))?;
        let trust = trust(book).map_err(unread)?;
        // Also those that do not look at what is written: the grant binds them all.
        let gates = gates_now(project, &read.brief);
        let policy = Policy { server_sha256: self.server_sha256, gates };
        let facts = Facts {
            book: id,
            project: project.name(),
            trust: &trust,
            policy: &policy,
            brief: &read.brief,
            now: book.now(),
        };
        verify(record, &memory.rows, &facts).map_err(|problem| Fault::Now(problem.to_string()))
    }
}

/// Why there is no grant at the moment.
enum Fault {
    /// And until the server is started anew.
    Lasting(String),
    /// It may be otherwise next time.
    Now(String),
}

impl Directs for Loaded {
    fn active(&self, book: &Book, project: &OpenProject, brief: &ReadBrief) -> InForce {
        if let Some(off) = self.off() {
            return InForce { off: Some(off), ..InForce::default() };
        }
        match self.grant(book, project, brief) {
            Ok(grant) => {
                let grants = BTreeMap::from([(self.agent.clone(), grant)]);
                InForce { active: Active { grants, problems: Vec::new() }, off: None }
            }
            Err(Fault::Now(why)) => InForce { off: Some(why), ..InForce::default() },
            Err(Fault::Lasting(why)) => {
                self.memory().off = Some(why.clone());
                InForce { off: Some(why), ..InForce::default() }
            }
        }
    }

    fn used(&self, grant: Id) -> u64 {
        self.memory().used.get(&grant).copied().unwrap_or(0)
    }

    fn forget(&self) {
        self.memory().rows.clear();
    }

    fn claimed(&self, book: &Book, grant: Id, files: u64) {
        let mut memory = self.memory();
        let used = memory.used.entry(grant).or_default();
        *used = used.saturating_add(files);
        // Where it cannot be read now, the next look finds that out.
        if let Ok(mark) = mark(book) {
            memory.mark = mark;
        }
    }
}

/// What keeps an agent from writing directly.
fn why_not(book: &Book, project: &Project, active: &Active, agent: &Agent) -> String {
    let (records, _) = read_grants(book.home(), project).unwrap_or_default();
    let own = records.iter().find(|record| record.grant.agent == *agent);
    match active.problem(own.map(|record| &record.grant)) {
        Some(problem) => problem.to_string(),
        None => format!("agent `{agent}` has no direct grant"),
    }
}

/// The last row, and where it lies.
fn mark(book: &Book) -> Result<Option<Mark>, ReadError> {
    let Some(head) = book.ledger.head()? else { return Ok(None) };
    let mut mark = None;
    book.ledger.scan(head.seq, &mut |line| {
        let (seq, offset, hash) = (line.seq, line.offset, Digest::of(line.bytes));
        mark = Some(Mark { seq, offset, hash });
        ControlFlow::Break(())
    })?;
    Ok(mark)
}

/// Appends the row of the start.
fn record(
    book: &Book,
    project: &Project,
    active: &Active,
    trust: &Trust,
    file: Option<Digest>,
) -> Result<(), BookError> {
    loop {
        let last = standing(book, project)?.last;
        match book.append(&[loaded_row(project, last, active, trust, file, &book.by(None))]) {
            Ok(_) => return Ok(()),
            Err(AppendError::Conflict) => {}
            Err(e) => return Err(e.into()),
        }
    }
}
