//! Direct grants, with their facts from the disk and the ledger. The rules are those of
//! [`granted_core::write::direct`], and these functions bear the same names.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::ledger::{Row, Subject};
use granted_core::store::ReadError;
use granted_core::text::Name;
use granted_core::trust::Trust;
use granted_core::write::direct::sign::Standing;
use granted_core::write::direct::{self, Active, Facts, GRANTS_DIR, MAX_FILE, Policy, Problem};
use granted_core::write::{Brief, DirectRecord, Project};
use granted_store::custody::{Folder, Kept};
use granted_store::open::{self, OpenError};

use super::gates;
use super::project::OpenProject;
use crate::book::{Book, BookError};
use crate::decision::gather::trust;
use crate::files;
use crate::home::Home;
use crate::ledger::verify::verify;

/// The grants file of a project.
pub fn grants_file_for(home: &Home, project: &Project) -> PathBuf {
    home.root().join(direct::grants_file_for(project))
}

/// The file's folder, and its name there.
fn place(home: &Home, project: &Project) -> (Folder, String) {
    let file = direct::grants_file_for(project);
    let name = file.rsplit('/').next().unwrap_or_default().to_owned();
    (home.folder().join(GRANTS_DIR), name)
}

/// Reads the grants file of a project, and its digest. Nothing of it is verified. No file is no grants.
///
/// A file that somebody else could have written, or that lies where agents write, is not read.
pub fn read_grants(
    home: &Home,
    project: &Project,
) -> Result<(Vec<DirectRecord>, Option<Digest>), Problem> {
    let wrong = |e: &dyn std::fmt::Display| Problem::File(e.to_string());
    let (folder, name) = place(home, project);
    let opened = folder.file(name, open::read_at).and_then(Kept::sound);
    let file = match opened {
        Ok(file) => file,
        Err(OpenError::Missing(_)) => return Ok((Vec::new(), None)),
        Err(e) => return Err(wrong(&e)),
    };
    let real = file.path.canonicalize().map_err(|e| wrong(&e))?;
    if real.starts_with(project.as_str()) {
        let path = file.path.display();
        return Err(wrong(&format!("`{path}` lies in the project, where agents write")));
    }
    let bytes =
        files::read_open(file.handle, &file.path, MAX_FILE as u64).map_err(|e| wrong(&e))?;
    let (records, sha256) = direct::read_grants(&bytes)?;
    Ok((records, Some(sha256)))
}

/// Writes the grants file anew, whole and durably.
pub fn write_grants(
    home: &Home,
    project: &Project,
    records: &[DirectRecord],
) -> Result<(), String> {
    let (folder, name) = place(home, project);
    let failed =
        |e: &dyn std::fmt::Display| format!("`{}`: {e}", grants_file_for(home, project).display());
    let folder = folder.make().and_then(Kept::sound).map_err(|e| failed(&e))?;
    let mut text = serde_json::to_vec_pretty(records).map_err(|e| failed(&e))?;
    text.push(b'\n');
    if text.len() > MAX_FILE {
        return Err(failed(&format!("it would have over {MAX_FILE} bytes")));
    }
    folder.replace(name, |file| file.write_all(&text)).map_err(|e| failed(&e))
}

/// What the installed program is: this one as it runs, and the gates as they lie there now.
pub fn policy(project: &OpenProject, brief: &Brief) -> Result<Policy, String> {
    Ok(Policy { server_sha256: files::own_digest()?, gates: gates_now(project, brief) })
}

/// What each gate of a brief is now.
pub fn gates_now(project: &OpenProject, brief: &Brief) -> BTreeMap<Name, Result<Digest, String>> {
    let identity = |gate| gates::identity(project, gate);
    brief.gates.iter().map(|(name, gate)| (name.clone(), identity(gate))).collect()
}

/// Everything that verifying, signing and using direct grants needs to know.
pub struct Gathered {
    /// The book.
    pub book: Id,
    /// What it trusts.
    pub trust: Trust,
    /// What the program and the gates are.
    pub policy: Policy,
    /// What was signed for the project, ever.
    pub standing: Standing,
}

impl Gathered {
    /// Gathers it.
    pub fn of(book: &Book, project: &OpenProject, brief: &Brief) -> Result<Gathered, GatherError> {
        Ok(Gathered {
            book: book.id()?,
            trust: trust(book)?,
            policy: policy(project, brief).map_err(GatherError::Policy)?,
            standing: standing(book, project.name())?,
        })
    }

    /// The same, as the rules take it.
    pub fn facts<'a>(
        &'a self,
        book: &Book,
        project: &'a OpenProject,
        brief: &'a Brief,
    ) -> Facts<'a> {
        let (trust, policy) = (&self.trust, &self.policy);
        Facts { book: self.book, project: project.name(), trust, policy, brief, now: book.now() }
    }
}

/// Why the facts are not known.
#[derive(Clone, Debug, thiserror::Error)]
pub enum GatherError {
    /// The ledger.
    #[error(transparent)]
    Book(#[from] BookError),
    /// The program itself.
    #[error("{0}")]
    Policy(String),
}

impl From<ReadError> for GatherError {
    fn from(error: ReadError) -> GatherError {
        GatherError::Book(error.into())
    }
}

/// What was signed for a project, ever.
pub fn standing(book: &Book, project: &Project) -> Result<Standing, ReadError> {
    Ok(Standing::fold(project, &book.ledger.rows(&project.subject())?))
}

/// The rows of a direct grant.
pub fn rows_of(book: &Book, id: Id) -> Result<Vec<Row>, ReadError> {
    book.ledger.rows(&Subject::direct(id))
}

/// The direct grants that are in force, what keeps others from it, and the digest of the grants file.
pub fn active_grants(
    book: &Book,
    project: &OpenProject,
    brief: &Brief,
) -> Result<(Active, Option<Digest>), GatherError> {
    let (records, sha256) = match read_grants(book.home(), project.name()) {
        Ok((records, _)) if records.is_empty() => return Ok((Active::default(), None)),
        Ok(read) => read,
        Err(problem) => {
            let active = Active { problems: vec![problem], ..Active::default() };
            return Ok((active, None));
        }
    };
    let gathered = Gathered::of(book, project, brief)?;
    let mut rows = BTreeMap::new();
    for record in &records {
        let id = record.grant.grant_id;
        rows.insert(id, rows_of(book, id)?);
    }
    let facts = gathered.facts(book, project, brief);
    let rows = |id: Id| rows.get(&id).cloned().unwrap_or_default();
    Ok((direct::active_grants(&records, &rows, &facts), sha256))
}

/// How many files were written under each grant in force, counted only from a ledger that verifies.
pub fn count_direct_writes(book: &Book, active: &Active) -> Result<BTreeMap<Id, u64>, String> {
    let report = verify(&*book.ledger, &mut |_| {}).map_err(|e| e.to_string())?;
    if let Some(fault) = report.fault {
        return Err(format!("the ledger does not verify: line {}: {}", fault.line, fault.cause));
    }
    let count = |id: Id| rows_of(book, id).map(|rows| direct::count_direct_writes(&rows));
    let mut counts = BTreeMap::new();
    for grant in active.grants.values() {
        let id = grant.grant().grant_id;
        counts.insert(id, count(id).map_err(|e| e.to_string())?);
    }
    Ok(counts)
}
