//! A request: one change set, folded from the rows of `write:ID`.

use std::fmt;

use serde::Serialize;

use super::agent::Agent;
use super::claim::Side;
use super::event::{Approved, Direct, FileChange, Refused, Rejected, Request, Staged, Unresolved};
use super::path::ProjectPath;
use super::project::Project;
use crate::digest::Digest;
use crate::id::Id;
use crate::ledger::{Event, Row, Subject};
use crate::text::Name;
use crate::time::Stamp;

/// What a person approves: the project, and each file with its bytes before and after.
pub fn content_digest(project: &Project, changes: &[FileChange]) -> Digest {
    #[derive(Serialize)]
    struct File<'a> {
        after: Option<Digest>,
        before: Option<Digest>,
        #[serde(skip_serializing_if = "Option::is_none")]
        mode: Option<u32>,
        path: &'a str,
    }
    #[derive(Serialize)]
    struct Content<'a> {
        changes: Vec<File<'a>>,
        project: &'a Project,
    }
    let changes = changes.iter().map(|change| File {
        after: change.after.map(|after| after.sha256),
        before: change.before.map(|before| before.sha256),
        mode: change.after.and_then(|after| after.mode),
        path: change.path.as_str(),
    });
    let content = Content { changes: changes.collect(), project };
    // Serialising it to bytes cannot fail.
    Digest::of(&serde_json::to_vec(&content).unwrap_or_default())
}

/// The id of a request that has a key: the same agent's same key in the same project is the same request.
pub fn id_of_key(project: &Project, agent: &Agent, key: &Name) -> Id {
    let text = format!("write\0{}\0{agent}\0{}", project.as_str(), key.as_str());
    let Digest(digest) = Digest::of(text.as_bytes());
    let (half, _) = digest.split_at(16);
    let bits = half.iter().fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
    Id::from_bits(bits)
}

/// Where a request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It waits for the person.
    Staged,
    /// It is being applied, or was cut off in that.
    Applying,
    /// Every file is as it was to be.
    Applied,
    /// A direct write that did not come about: every file is as it was.
    Undone,
    /// Some file is neither as it was nor as it was to be.
    Unresolved,
    /// The person rejected it.
    Rejected,
    /// It was not approved in time.
    Expired,
    /// It was refused when it was filed.
    Refused,
    /// A damaged ledger that had more to say of it was accepted while it waited: nothing more is done for
    /// it.
    Closed,
}

impl Status {
    /// The status as JSON and tables have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Staged => "staged",
            Status::Applying => "applying",
            Status::Applied => "applied",
            Status::Undone => "undone",
            Status::Unresolved => "unresolved",
            Status::Rejected => "rejected",
            Status::Expired => "expired",
            Status::Refused => "refused",
            Status::Closed => "closed",
        }
    }

    /// Whether nothing more comes of it by itself.
    pub fn is_final(self) -> bool {
        !matches!(self, Status::Staged | Status::Applying | Status::Unresolved)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a request is unresolved whose end may be lost.
const LOST: &str = "a damaged ledger was accepted that may have had its end: look at its files";

/// How a request began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It waited for a person.
    Staged(Staged),
    /// It was claimed at once, under this direct grant.
    Direct(Direct, Id),
    /// It was refused.
    Refused(Refused),
}

/// The claim of a request that is being applied, or was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The seq of its row.
    pub seq: u64,
    /// When.
    pub at: Stamp,
    /// The lock file of the process that applies.
    pub act: Box<str>,
    /// The files as they were then, and are to be.
    pub changes: Vec<FileChange>,
    /// The folders that were missing then.
    pub folders: Vec<ProjectPath>,
    /// The approval; `None` under a direct grant.
    pub approved: Option<Approved>,
}

impl Claimed {
    /// Who applies.
    pub fn side(&self) -> Side {
        match self.approved {
            Some(_) => Side::Person,
            None => Side::Agent,
        }
    }
}

/// A request, as its rows leave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestState {
    /// Its id.
    pub id: Id,
    /// How it began.
    pub origin: Origin,
    /// When.
    pub at: Stamp,
    /// The day of its agent that it was filed on; `None` of a person's revert and of what was refused.
    pub day: Option<Subject>,
    /// Where it stands.
    pub status: Status,
    /// When it came to stand there.
    pub since: Stamp,
    /// Its last claim.
    pub claim: Option<Claimed>,
    /// Why it was rejected.
    pub rejected: Option<Rejected>,
    /// The files that are foreign, while it is unresolved.
    pub unresolved: Option<Unresolved>,
    /// Why the last attempt to apply it changed nothing.
    pub undone: Option<Box<str>>,
    /// Whether the row of its end may be among those that the person accepted as lost: nobody acts for it
    /// again, and only the person ends it.
    pub lost: bool,
    /// The seq of the last row that moved it.
    pub last: u64,
}

impl RequestState {
    /// Folds the rows of `write:ID`, oldest first; `None` if none of them begins it. A row that the rules
    /// do not allow there changes nothing but what comes after it.
    pub fn fold<'a>(id: Id, rows: impl IntoIterator<Item = &'a Row>) -> Option<RequestState> {
        let mut state: Option<RequestState> = None;
        for row in rows {
            match &mut state {
                None => state = RequestState::begin(id, row),
                Some(state) => state.apply(row),
            }
        }
        state
    }

    fn begin(id: Id, row: &Row) -> Option<RequestState> {
        let (origin, status, claim) = match &row.event {
            Event::WriteStaged(staged) => (Origin::Staged(staged.clone()), Status::Staged, None),
            Event::WriteRefused(refused) => {
                (Origin::Refused(refused.clone()), Status::Refused, None)
            }
            Event::WriteDirect(direct) => {
                let grant = row.refs.iter().find_map(|(subject, _)| subject.direct_id())?;
                let claim = Claimed {
                    seq: row.seq,
                    at: row.at,
                    act: direct.act.clone(),
                    changes: direct.request.changes.clone(),
                    folders: direct.folders.clone(),
                    approved: None,
                };
                (Origin::Direct(direct.clone(), grant), Status::Applying, Some(claim))
            }
            _ => return None,
        };
        Some(RequestState {
            id,
            origin,
            at: row.at,
            day: row.refs.iter().map(|(subject, _)| subject).find(|s| s.is_day()).cloned(),
            status,
            since: row.at,
            claim,
            rejected: None,
            unresolved: None,
            undone: None,
            lost: false,
            last: row.seq,
        })
    }

    fn apply(&mut self, row: &Row) {
        self.last = row.seq;
        let staged = matches!(self.origin, Origin::Staged(_));
        let status = match (&row.event, self.status) {
            (event, _) if self.lost && !matches!(event, Event::WriteRejected(_)) => return,
            (Event::WriteApproved(approved), Status::Staged) => {
                self.claim = Some(Claimed {
                    seq: row.seq,
                    at: row.at,
                    act: approved.act.clone(),
                    changes: approved.changes.clone(),
                    folders: approved.folders.clone(),
                    approved: Some(approved.clone()),
                });
                Status::Applying
            }
            (Event::WriteApplied(_), Status::Applying | Status::Unresolved) => Status::Applied,
            (Event::WriteUndone(undone), Status::Applying | Status::Unresolved) => {
                self.undone = Some(undone.detail.clone());
                if staged { Status::Staged } else { Status::Undone }
            }
            (Event::WriteUnresolved(unresolved), Status::Applying | Status::Unresolved) => {
                self.unresolved = Some(unresolved.clone());
                Status::Unresolved
            }
            (Event::WriteRejected(rejected), Status::Staged | Status::Unresolved) => {
                self.rejected = Some(rejected.clone());
                Status::Rejected
            }
            (Event::WriteExpired(_), Status::Staged) => Status::Expired,
            (Event::Accepted(_), Status::Staged) => Status::Closed,
            (Event::Accepted(_), Status::Applying | Status::Unresolved) => {
                self.lost = true;
                let foreign = self.unresolved.take().map_or(Vec::new(), |before| before.foreign);
                self.unresolved = Some(Unresolved { detail: LOST.into(), foreign });
                Status::Unresolved
            }
            _ => return,
        };
        if status != Status::Unresolved {
            self.unresolved = None;
        }
        (self.status, self.since) = (status, row.at);
    }

    /// What was asked for; `None` of one that was refused.
    pub fn request(&self) -> Option<&Request> {
        match &self.origin {
            Origin::Staged(staged) => Some(&staged.request),
            Origin::Direct(direct, _) => Some(&direct.request),
            Origin::Refused(_) => None,
        }
    }

    /// Where.
    pub fn project(&self) -> &Project {
        match &self.origin {
            Origin::Staged(staged) => &staged.request.project,
            Origin::Direct(direct, _) => &direct.request.project,
            Origin::Refused(refused) => &refused.project,
        }
    }

    /// Who asked; `None` of a person's revert.
    pub fn agent(&self) -> Option<&Agent> {
        match &self.origin {
            Origin::Staged(staged) => staged.request.agent.as_ref(),
            Origin::Direct(direct, _) => direct.request.agent.as_ref(),
            Origin::Refused(refused) => Some(&refused.agent),
        }
    }

    /// Until when it can be approved, exclusive.
    pub fn expires(&self) -> Option<Stamp> {
        match &self.origin {
            Origin::Staged(staged) => Some(staged.expires),
            _ => None,
        }
    }

    /// Whether it waits for the person and may still be approved.
    pub fn is_waiting(&self, now: Stamp) -> bool {
        self.status == Status::Staged && self.expires().is_some_and(|end| now < end)
    }

    /// What the next row that moves it comes after.
    pub fn moved(&self) -> (Subject, u64) {
        (Subject::write(self.id), self.last)
    }
}

/// What an agent has filed on a day, folded from the rows of its day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Day {
    /// The bytes that it filed.
    pub bytes: u64,
    /// The change sets that wait.
    pub waiting: Vec<Id>,
    /// The seq of the last row that moved the day.
    pub last: u64,
}

impl Day {
    /// Folds the rows of one day of an agent, oldest first.
    pub fn fold(rows: &[Row]) -> Day {
        let mut day = Day::default();
        day.go_on(rows);
        day
    }

    /// Folds those that came since.
    pub fn go_on(&mut self, rows: &[Row]) {
        for row in rows {
            self.last = row.seq;
            let Some(id) = row.refs.first().and_then(|(subject, _)| subject.write_id()) else {
                continue;
            };
            match &row.event {
                Event::WriteStaged(staged) => {
                    self.add(&staged.request);
                    self.waiting.push(id);
                }
                Event::WriteDirect(direct) => self.add(&direct.request),
                _ => self.waiting.retain(|waiting| *waiting != id),
            }
        }
    }

    fn add(&mut self, request: &Request) {
        self.bytes = self.bytes.saturating_add(bytes(&request.changes));
    }
}

/// How many bytes a change set brings.
pub fn bytes(changes: &[FileChange]) -> u64 {
    let sizes = changes.iter().filter_map(|change| change.after.map(|after| after.bytes));
    sizes.fold(0, u64::saturating_add)
}
