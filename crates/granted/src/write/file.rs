//! Filing: what becomes of a change set that an agent brings.

use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::ledger::{By, Head, Row};
use granted_core::store::{AppendError, NotWritten, ReadError};
use granted_core::text::{Name, Note, Words};
use granted_core::time::Stamp;
use granted_core::write::brief::Tool;
use granted_core::write::decide::{
    self, Denied, Facts, Filing, Proposed, Route, check_caps, identify, refuse, route,
};
use granted_core::write::direct::{Active, VerifiedGrant};
use granted_core::write::dispatch::DispatchState;
use granted_core::write::event::Request;
use granted_core::write::request::{Day, id_of_key};
use granted_core::write::{After, Agent, FileChange, Project, ProjectPath, Refusal, RequestState};
use granted_exec::Stop;

use super::apply::apply;
use super::checked::{Checked, bad_path, checked};
use super::gates::Contents;
use super::gather;
use super::project::{OpenProject, ProjectError, ReadBrief};
use crate::book::{Book, BookError};
use crate::decision::asker::{Asker, Step};
use crate::ledger::witness::{self, Doubt};

/// A change set as an agent brings it. Nothing of it has been checked.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// Whose it is: what the server was started for.
    pub agent: Agent,
    /// The tool through which it came.
    pub tool: Tool,
    /// The files.
    pub changes: Vec<Change>,
    /// Why.
    pub rationale: Note,
    /// Gates that the agent asks for, beside those that the brief demands.
    pub gates: Vec<Name>,
    /// The agent's handle for trying again.
    pub key: Option<Name>,
    /// The nonce.
    pub dispatch: Option<String>,
}

/// One file of a proposal.
#[derive(Clone, Debug)]
pub struct Change {
    /// Where, as the agent writes it.
    pub path: String,
    /// What it is to hold; `None` for a deletion.
    pub content: Option<Vec<u8>>,
    /// The digest of what the agent based it on; `None` for a file that is not there.
    pub base: Option<Digest>,
}

/// What the agent's server knows of direct grants.
pub trait Directs {
    /// The grants in force, and why none is to be used, if so. Asked anew for each change set.
    fn active(&self, book: &Book, project: &OpenProject, brief: &ReadBrief) -> InForce;

    /// How many files this server has written under a grant.
    fn used(&self, grant: Id) -> u64;

    /// What was remembered of a grant's rows is not what the ledger has: they are read anew.
    fn forget(&self);

    /// So many files are claimed under a grant: the row is durable, and nothing is written yet.
    fn claimed(&self, book: &Book, grant: Id, files: u64);
}

/// The direct grants of a project at one moment.
#[derive(Clone, Debug, Default)]
pub struct InForce {
    /// Those that were verified, and what keeps others from being in force.
    pub active: Active,
    /// Why nothing is applied directly, if so.
    pub off: Option<String>,
}

/// What became of a change set.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The ledger has it: it waits, or was applied, or what came of it is still to be seen.
    Filed {
        /// How it stands.
        state: Box<RequestState>,
        /// Whether it was filed before, under the same key.
        replayed: bool,
    },
    /// Nothing was staged or written.
    Refused {
        /// The request that the row of the refusal is about; `None` if no row could be written.
        id: Option<Id>,
        /// Why.
        denied: Denied,
    },
    /// It was claimed, and what came of it could not be recorded.
    Unknown {
        /// The change set.
        id: Id,
        /// Why.
        why: String,
    },
}

/// Files a change set: refuses it, stages it for the person, or applies it under a direct grant. Whoever
/// asks may leave before anything is written of it.
pub fn file<A: Asker>(
    book: &Book,
    root: &Project,
    proposal: &Proposal,
    directs: &dyn Directs,
    stop: &Stop,
    asker: &A,
) -> Result<Answer, A::Left> {
    match attempt(book, root, proposal, directs, stop, asker) {
        Ok(answer) => Ok(answer),
        Err(End::Left(left)) => Err(left),
        Err(End::Denied(denied)) => {
            asker.before(Step::Refusal)?;
            Ok(refused(book, root, proposal, denied))
        }
    }
}

fn attempt<A: Asker>(
    book: &Book,
    root: &Project,
    proposal: &Proposal,
    directs: &dyn Directs,
    stop: &Stop,
    asker: &A,
) -> Result<Answer, End<A::Left>> {
    witness::check(book)?;
    let project = OpenProject::named(root)?;
    let read = project.brief()?;
    let whose = decide::Asker::agent(&read.brief, &proposal.agent)?;
    let id = match &proposal.key {
        Some(key) => id_of_key(root, &proposal.agent, key),
        None => book.new_id().map_err(|e| unwritable(e.to_string()))?,
    };
    if let Some(earlier) = earlier(book, &project, id, proposal)? {
        return Ok(earlier);
    }
    identified(book, &whose, root, proposal)?;
    let (filing, contents) = resolved(&project, proposal)?;
    let Checked { changes, folders, gates, before } =
        checked(&project, &whose, &filing, &contents, stop)?;
    // Whether the day was read from its beginning.
    let mut anew = false;
    loop {
        if let Some(earlier) = earlier(book, &project, id, proposal)? {
            return Ok(earlier);
        }
        // Gates may take their time.
        unchanged(&project, &read).map_err(End::Denied)?;
        let dispatch = identified(book, &whose, root, proposal)?;
        let told = Told::gather(book, root, &proposal.agent)?;
        let facts = told.facts(root, read.sha256, dispatch.as_ref());
        let in_force = directs.active(book, &project, &read);
        let used = |grant: &VerifiedGrant| grant.used().max(directs.used(grant.grant().grant_id));
        let off = in_force.off.as_deref();
        let route = route(&whose, &changes, &gates, &in_force.active, &used, off, &facts);
        if let Err(denied) = check_caps(&whose, &changes, matches!(route, Route::Stage(_)), &facts)
        {
            // Nobody is refused for what a ledger held that was put back.
            if anew {
                return Err(denied.into());
            }
            book.days.forget();
            anew = true;
            continue;
        }
        let request = decide::request(&whose, &filing, changes.clone(), gates.clone(), &facts);
        let by = book.by(proposal.agent.to_name().as_ref());
        match route {
            Route::Stage(why) => {
                kept(book, [&contents])?;
                asker.before(Step::Claim).map_err(End::Left)?;
                match staged(book, id, request, why, &facts, &by)? {
                    Some(answer) => return Ok(answer),
                    None => book.days.forget(),
                }
            }
            Route::Direct(grant) => {
                kept(book, [&contents, &before])?;
                let act = book.acts.begin().map_err(|e| unwritable(e.to_string()))?;
                asker.before(Step::Claim).map_err(End::Left)?;
                let files = u64::try_from(changes.len()).unwrap_or(u64::MAX);
                let folders = folders.clone();
                let permit = decide::direct(id, request, folders, &grant, &act, &facts, &by);
                let claim = match permit.claim(&*book.ledger) {
                    Ok(claim) => claim,
                    Err(AppendError::Conflict) => {
                        book.days.forget();
                        directs.forget();
                        continue;
                    }
                    Err(e) => return Err(unclaimed(book, id, e).into()),
                };
                directs.claimed(book, grant.grant().grant_id, files);
                witness::tell(book, claim.last());
                return Ok(match apply(book, &project, claim) {
                    Ok(state) => Answer::Filed { state: Box::new(state), replayed: false },
                    Err(e) => Answer::Unknown { id, why: e.to_string() },
                });
            }
        }
    }
}

/// Whether the brief is still what the change set was checked against.
pub fn unchanged(project: &OpenProject, read: &ReadBrief) -> Result<(), Denied> {
    let now = project.brief_digest();
    let now = now.map_err(|e| Denied::new(Refusal::NotInBrief, e.to_string()))?;
    match now == read.sha256 {
        true => Ok(()),
        false => {
            let why = "the brief was changed while the change set was checked: file it again";
            Err(Denied::new(Refusal::NotInBrief, why))
        }
    }
}

/// The answer to a change set that was filed before, under the same key.
fn earlier(
    book: &Book,
    project: &OpenProject,
    id: Id,
    proposal: &Proposal,
) -> Result<Option<Answer>, Denied> {
    let Some(key) = &proposal.key else { return Ok(None) };
    let Some(state) = gather::request(book, id).map_err(unread)? else { return Ok(None) };
    match state.request().is_some_and(|request| is_same(project, request, proposal)) {
        true => Ok(Some(Answer::Filed { state: Box::new(state), replayed: true })),
        false => {
            let detail = format!("the key `{key}` was used for another change set");
            Err(Denied::new(Refusal::KeyReused, detail))
        }
    }
}

/// Whether a proposal is what was filed, wherever its paths lead by now.
fn is_same(project: &OpenProject, filed: &Request, proposal: &Proposal) -> bool {
    let is = |(filed, asked): (&FileChange, &Change)| {
        let Ok(path) = ProjectPath::normalise(&asked.path) else { return false };
        let leads = || project.tree().resolve(&path).is_ok_and(|place| place.path == filed.path);
        filed.before.map(|before| before.sha256) == asked.base
            && filed.after.map(|after| after.sha256) == asked.content.as_deref().map(Digest::of)
            && (path == filed.path || leads())
    };
    filed.changes.len() == proposal.changes.len()
        && filed.rationale == proposal.rationale
        && filed.gates_asked == proposal.gates
        && filed.changes.iter().zip(&proposal.changes).all(is)
}

/// The dispatch that the nonce stands for, if it is good.
fn identified(
    book: &Book,
    whose: &decide::Asker<'_>,
    root: &Project,
    proposal: &Proposal,
) -> Result<Option<DispatchState>, Denied> {
    let nonce = proposal.dispatch.as_deref();
    let dispatch = nonce.map(|nonce| gather::dispatch(book, nonce)).transpose();
    let dispatch = dispatch.map_err(unread)?.flatten();
    identify(whose, root, nonce.is_some(), dispatch.as_ref(), book.now())?;
    Ok(dispatch)
}

/// The proposal with its paths as they really are, and its contents by their digests.
fn resolved(project: &OpenProject, proposal: &Proposal) -> Result<(Filing, Contents), Denied> {
    let (mut changes, mut contents) = (Vec::new(), Contents::new());
    for change in &proposal.changes {
        let path = ProjectPath::normalise(&change.path)
            .map_err(|e| Denied::new(Refusal::BadPath, e.to_string()))?;
        let path = project.tree().resolve(&path).map_err(|e| bad_path(&e))?.path;
        let after = change.content.as_ref().map(|content| {
            let bytes = u64::try_from(content.len()).unwrap_or(u64::MAX);
            let sha256 = Digest::of(content);
            contents.insert(sha256, content.clone());
            After { bytes, mode: None, sha256 }
        });
        changes.push(Proposed { path, base: change.base, after });
    }
    let filing = Filing {
        tool: Some(proposal.tool),
        changes,
        rationale: proposal.rationale.clone(),
        gates: proposal.gates.clone(),
        key: proposal.key.clone(),
        reverts: None,
    };
    Ok((filing, contents))
}

/// What the ledger tells of the agent at one moment.
struct Told {
    now: Stamp,
    head: Option<Head>,
    today: Day,
    yesterday: Day,
}

impl Told {
    fn gather(book: &Book, root: &Project, agent: &Agent) -> Result<Told, Denied> {
        let now = book.now();
        let day = |at| gather::day(book, root, agent, at).map_err(unread);
        let yesterday = now.minus(decide::STAGED_LIFE);
        let head = book.ledger.head().map_err(unread)?;
        Ok(Told { now, head, today: day(now)?, yesterday: day(yesterday)? })
    }

    fn facts<'a>(
        &'a self,
        project: &'a Project,
        brief_sha256: Digest,
        dispatch: Option<&'a DispatchState>,
    ) -> Facts<'a> {
        Facts {
            project,
            brief_sha256,
            today: &self.today,
            waiting_since_yesterday: self.yesterday.waiting.len(),
            dispatch,
            head: self.head,
            now: self.now,
        }
    }
}

/// Keeps contents durably, before a row names them.
pub fn kept<const N: usize>(book: &Book, contents: [&Contents; N]) -> Result<(), Denied> {
    let all: Vec<&[u8]> = contents.iter().flat_map(|c| c.values()).map(Vec::as_slice).collect();
    book.blobs.put_all(&all).map(|_| ()).map_err(|e| unwritable(format!("the contents: {e}")))
}

/// Appends the row by which a change set waits; `None` if something has moved meanwhile.
fn staged(
    book: &Book,
    id: Id,
    request: Request,
    why: Option<Words>,
    facts: &Facts<'_>,
    by: &By,
) -> Result<Option<Answer>, Denied> {
    let draft = decide::stage(id, request, why, facts, by);
    let appended = match book.append_after(facts.head, &[draft]) {
        Ok(appended) => appended,
        Err(AppendError::Conflict) => return Ok(None),
        Err(e) => return Err(unappended(&e)),
    };
    let row = appended.lines.first().and_then(|line| Row::parse(&line.bytes).ok());
    let state = row.and_then(|row| RequestState::fold(id, &[row]));
    let state =
        state.ok_or_else(|| unwritable(format!("the row of request {id} does not read")))?;
    Ok(Some(Answer::Filed { state: Box::new(state), replayed: false }))
}

/// The claim was not made: nothing is written.
fn unclaimed(book: &Book, id: Id, error: AppendError) -> Denied {
    if let AppendError::Unknown(_) = error {
        // If the row is there after all, the change set was cut off before its first file.
        book.give_up(id);
    }
    unappended(&error)
}

/// Records a refusal, which costs a known dispatch an attempt, and answers with it.
fn refused(book: &Book, root: &Project, proposal: &Proposal, denied: Denied) -> Answer {
    let id = record(book, root, proposal, &denied).ok();
    Answer::Refused { id, denied }
}

fn record(
    book: &Book,
    root: &Project,
    proposal: &Proposal,
    denied: &Denied,
) -> Result<Id, BookError> {
    // Not the id of its key: the same key may be tried again with what is right.
    let id = book.new_id().map_err(|e| BookError::NoRandomness(e.to_string()))?;
    let by = book.by(proposal.agent.to_name().as_ref());
    loop {
        let nonce = proposal.dispatch.as_deref();
        let dispatch = nonce.map(|nonce| gather::dispatch(book, nonce)).transpose()?.flatten();
        let draft = refuse(id, &proposal.agent, root, denied, dispatch.as_ref(), &by);
        match book.append(&[draft]) {
            Ok(_) => return Ok(id),
            Err(AppendError::Conflict) => {}
            Err(e) => return Err(e.into()),
        }
    }
}

/// Why an attempt ended without an answer.
enum End<L> {
    /// Whoever asked has left.
    Left(L),
    /// It is refused.
    Denied(Denied),
}

impl<L> From<Denied> for End<L> {
    fn from(denied: Denied) -> End<L> {
        End::Denied(denied)
    }
}

impl<L> From<ProjectError> for End<L> {
    fn from(error: ProjectError) -> End<L> {
        Denied::new(Refusal::NotInBrief, error.to_string()).into()
    }
}

impl<L> From<Doubt> for End<L> {
    fn from(doubt: Doubt) -> End<L> {
        let reason = match doubt {
            Doubt::RolledBack(_) | Doubt::Foreign { .. } => Refusal::LedgerRolledBack,
            Doubt::Required(_) | Doubt::Config(_) | Doubt::Unreadable(_) => {
                Refusal::LedgerUnwritable
            }
        };
        Denied::new(reason, doubt.to_string()).into()
    }
}

fn unwritable(why: String) -> Denied {
    Denied::new(Refusal::LedgerUnwritable, why)
}

fn unread(error: ReadError) -> Denied {
    unwritable(error.to_string())
}

/// Why a row was not appended, as a refusal.
pub fn unappended(error: &AppendError) -> Denied {
    let reason = match error {
        AppendError::NotWritten(NotWritten::RolledBack(_)) => Refusal::LedgerRolledBack,
        AppendError::NotWritten(NotWritten::TooLong) => Refusal::TooManyFiles,
        _ => Refusal::LedgerUnwritable,
    };
    Denied::new(reason, error.to_string())
}
