//! Signing direct grants into force, and taking them back: the row first, which is what counts, then the
//! grants file, which only narrows. Dying in between leaves a grant that is not honoured, or a record of
//! one that is taken back: doing the same again makes both right.

use std::collections::BTreeMap;

use granted_core::id::Id;
use granted_core::store::AppendError;
use granted_core::text::Note;
use granted_core::trust::KeyId;
use granted_core::write::direct::Problem;
use granted_core::write::direct::sign::{
    Signed, Standing, Terms, propose, put_in_force, revoke as take_back,
};
use granted_core::write::event::DirectRevoked;
use granted_core::write::{Agent, DirectGrant, DirectRecord, Project};

use super::direct::{GatherError, Gathered, read_grants, rows_of, standing, write_grants};
use super::project::{OpenProject, ProjectError};
use crate::book::{Book, BookError};
use crate::ledger::witness;

/// Why no direct grant was signed, or taken back.
#[derive(Debug, thiserror::Error)]
pub enum DirectError {
    /// The project or its brief.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The rules.
    #[error(transparent)]
    Refused(#[from] Problem),
    /// The facts or the ledger.
    #[error(transparent)]
    Gather(#[from] GatherError),
    /// The row is written, but the grants file is not.
    #[error("{0}")]
    File(String),
    /// Nothing is there to be taken back.
    #[error("{0}")]
    Nothing(String),
}

impl From<BookError> for DirectError {
    fn from(error: BookError) -> DirectError {
        DirectError::Gather(error.into())
    }
}

/// What the person asks for, but for the key.
#[derive(Clone, Debug)]
pub struct Asked {
    /// To whom.
    pub agent: Agent,
    /// For how many days.
    pub days: u32,
    /// For how many files.
    pub max_writes: u64,
}

/// Decides on a grant, for this key to sign. Nothing is written.
pub fn decide(
    book: &Book,
    project: &OpenProject,
    asked: Asked,
    key: KeyId,
) -> Result<DirectGrant, DirectError> {
    witness::check(book).map_err(BookError::from)?;
    let brief = project.brief()?.brief;
    let gathered = Gathered::of(book, project, &brief)?;
    let id = book.new_id().map_err(|e| BookError::NoRandomness(e.to_string()))?;
    let head = book.ledger.head().map_err(BookError::from)?;
    let Asked { agent, days, max_writes } = asked;
    let terms = Terms { agent, days, max_writes, key };
    Ok(propose(terms, id, head, &gathered.facts(book, project, &brief))?)
}

/// What came of signing.
#[derive(Clone, Debug)]
pub struct InForce {
    /// The agent's earlier grants, which are taken back.
    pub replaced: Vec<Id>,
    /// How many grants of the project are open now.
    pub open: usize,
}

/// Puts a signed grant in force, in the place of the agent's earlier ones.
pub fn sign(
    book: &Book,
    project: &OpenProject,
    record: &DirectRecord,
) -> Result<InForce, DirectError> {
    witness::check(book).map_err(BookError::from)?;
    let id = record.grant.grant_id;
    loop {
        let brief = project.brief()?.brief;
        let gathered = Gathered::of(book, project, &brief)?;
        let standing = &gathered.standing;
        let is_known = |signed: &_| is_open(signed, record);
        // Its row is written, and perhaps not its file.
        if standing.grants.iter().any(is_known) {
            return finish(book, project.name(), standing, Some(record), Vec::new());
        }
        let facts = gathered.facts(book, project, &brief);
        let mut last = BTreeMap::new();
        for id in standing.open(facts.now).map(|grant| grant.grant_id).chain([id]) {
            let rows = rows_of(book, id).map_err(BookError::from)?;
            last.insert(id, rows.last().map_or(0, |row| row.seq));
        }
        let last = |id: Id| last.get(&id).copied().unwrap_or(0);
        let head = book.ledger.head().map_err(BookError::from)?;
        let by = book.by(None);
        let drafts = put_in_force(record, standing, &last, head, &facts, &by)?;
        let agent = &record.grant.agent;
        let earlier = standing.open(facts.now).filter(|grant| grant.agent == *agent);
        let replaced = earlier.map(|grant| grant.grant_id).collect();
        match book.append(&drafts) {
            Ok(_) => {
                let standing = self::standing(book, project.name()).map_err(BookError::from)?;
                return finish(book, project.name(), &standing, Some(record), replaced);
            }
            Err(AppendError::Conflict) => {}
            Err(e) => return Err(BookError::from(e).into()),
        }
    }
}

/// Whether this is the record's row, and nothing took it back.
fn is_open(signed: &Signed, record: &DirectRecord) -> bool {
    signed.record == *record && signed.revoked.is_none()
}

/// Brings the grants file up to the rows: without what is over, and with this record. A record that the
/// person took out stays out.
fn finish(
    book: &Book,
    project: &Project,
    standing: &Standing,
    record: Option<&DirectRecord>,
    replaced: Vec<Id>,
) -> Result<InForce, DirectError> {
    let now = book.now();
    // What cannot be read counts for nothing, and is written anew.
    let (mut records, _) = read_grants(book.home(), project).unwrap_or_default();
    let is_open = |id: Id| standing.open(now).any(|grant| grant.grant_id == id);
    records.retain(|old| {
        is_open(old.grant.grant_id) && record.is_none_or(|new| old.grant.agent != new.grant.agent)
    });
    records.extend(record.cloned());
    write_grants(book.home(), project, &records).map_err(DirectError::File)?;
    Ok(InForce { replaced, open: standing.open(now).count() })
}

/// What is to be taken back.
#[derive(Clone, Debug)]
pub enum Target {
    /// One grant.
    Grant(Id),
    /// Every open grant of an agent in a project.
    Agent(Agent, Project),
}

/// Takes direct grants back. It acts at once: servers look at the rows before each write.
pub fn revoke(
    book: &Book,
    target: &Target,
    by: Option<Note>,
    note: Option<Note>,
) -> Result<Vec<DirectGrant>, DirectError> {
    let door = book.by(None);
    loop {
        let (project, wanted) = wanted(book, target)?;
        let standing = standing(book, &project).map_err(BookError::from)?;
        let mut drafts = Vec::new();
        for grant in &wanted {
            let id = grant.grant_id;
            let last = rows_of(book, id).map_err(BookError::from)?;
            let last = last.last().map_or(0, |row| row.seq);
            let body = DirectRevoked { by: by.clone(), note: note.clone() };
            drafts.push(take_back(&project, id, last, standing.last, body, &door));
        }
        match book.append(&drafts) {
            Ok(_) => {
                let standing = self::standing(book, &project).map_err(BookError::from)?;
                // A record of what is taken back counts for nothing, wherever it still stands.
                let _ = finish(book, &project, &standing, None, Vec::new());
                return Ok(wanted);
            }
            Err(AppendError::Conflict) => {}
            Err(e) => return Err(BookError::from(e).into()),
        }
    }
}

/// The grants that a target names and that are not taken back, and their project.
fn wanted(book: &Book, target: &Target) -> Result<(Project, Vec<DirectGrant>), DirectError> {
    let nothing = |what: String| Err(DirectError::Nothing(what));
    match target {
        Target::Grant(id) => {
            let rows = rows_of(book, *id).map_err(BookError::from)?;
            let granted = rows.first().and_then(|row| match &row.event {
                granted_core::ledger::Event::DirectGranted(granted) => Some(granted.grant.clone()),
                _ => None,
            });
            let Some(grant) = granted.filter(|grant| grant.grant_id == *id) else {
                return nothing(format!("there is no direct grant {id}"));
            };
            let standing = standing(book, &grant.project).map_err(BookError::from)?;
            let mut known = standing.grants.iter();
            match known.any(|signed| signed.record.grant == grant && signed.revoked.is_none()) {
                true => Ok((grant.project.clone(), vec![grant])),
                false => nothing(format!("direct grant {id} is revoked")),
            }
        }
        Target::Agent(agent, project) => {
            let standing = standing(book, project).map_err(BookError::from)?;
            let open = standing.open(book.now()).filter(|grant| grant.agent == *agent);
            let open: Vec<DirectGrant> = open.cloned().collect();
            match open.is_empty() {
                true => nothing(format!("agent `{agent}` has no direct grant in `{project}`")),
                false => Ok((project.clone(), open)),
            }
        }
    }
}
