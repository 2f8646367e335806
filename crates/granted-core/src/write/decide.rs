//! What becomes of a change set: refused, staged, or applied at once; approved, rejected, expired.
//!
//! One body checks a change set, whether it is filed, approved or written directly.

mod review;

use std::time::Duration;

use super::agent::Agent;
use super::brief::{AgentEntry, Approval, Brief, Dispatch, Tool};
use super::claim::Permit;
use super::direct::{Active, Problem, VerifiedGrant, check_write_allowed};
use super::dispatch::DispatchState;
use super::event::{After, Before, Direct, FileChange, GateRun, Refused, Request, Staged};
use super::path::ProjectPath;
use super::pattern::is_control_plane;
use super::project::Project;
use super::refusal::Refusal;
use super::request::{Day, bytes, content_digest};
use crate::decision::discharge::clock_behind;
use crate::digest::Digest;
use crate::id::Id;
use crate::ledger::{By, Draft, Event, Head, Subject};
use crate::text::{Name, Note, Words, cut, for_shell};
use crate::time::Stamp;

pub use review::{
    Came, Consent, NotNow, again, approve, check_waiting, conclude, day_of, expire, reject, revert,
};

/// How long a change set waits for the person.
pub const STAGED_LIFE: Duration = Duration::from_secs(24 * 3_600);

/// A change set as it was filed, with its paths as they really are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filing {
    /// The tool through which it came; `None` for a person's revert.
    pub tool: Option<Tool>,
    /// The files.
    pub changes: Vec<Proposed>,
    /// Why.
    pub rationale: Note,
    /// Gates that the agent asked for.
    pub gates: Vec<Name>,
    /// The agent's handle for trying again.
    pub key: Option<Name>,
    /// The change set that this one takes back.
    pub reverts: Option<Id>,
}

/// One file of a filing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposed {
    /// Where, after links.
    pub path: ProjectPath,
    /// What the agent based it on: the file's digest, or `None` for a file that is not there.
    pub base: Option<Digest>,
    /// What it is to be; `None` for a deletion.
    pub after: Option<After>,
}

/// Why a change set is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Denied {
    /// The reason.
    pub reason: Refusal,
    /// More, for people and agents.
    pub detail: String,
    /// The file that is not what the change is based on, and the digest of what it is; `None` of one
    /// that is not there.
    pub stale: Option<Box<(ProjectPath, Option<Digest>)>>,
}

impl Denied {
    /// A refusal.
    pub fn new(reason: Refusal, detail: impl Into<String>) -> Denied {
        Denied { reason, detail: detail.into(), stale: None }
    }
}

/// Whose change set it is, and what the brief gives them.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// The brief.
    pub brief: &'a Brief,
    /// The agent and its entry; `None` for the person.
    pub agent: Option<(&'a Agent, &'a AgentEntry)>,
}

impl<'a> Asker<'a> {
    /// The agent of this name in the brief.
    pub fn agent(brief: &'a Brief, agent: &'a Agent) -> Result<Asker<'a>, Denied> {
        let entry = brief.agents.get(agent);
        let entry = entry.ok_or_else(|| {
            Denied::new(Refusal::NotInBrief, format!("the brief names no agent `{agent}`"))
        })?;
        Ok(Asker { brief, agent: Some((agent, entry)) })
    }

    /// The person, who reverts.
    pub fn person(brief: &'a Brief) -> Asker<'a> {
        Asker { brief, agent: None }
    }

    /// Checks that the brief gives the agent this tool.
    pub fn has(&self, tool: Tool) -> Result<(), Denied> {
        match self.agent {
            Some((agent, entry)) if !entry.tools.contains(&tool) => {
                let detail = format!("the brief gives `{agent}` no tool `{}`", tool.as_str());
                Err(Denied::new(Refusal::NotInBrief, detail))
            }
            _ => Ok(()),
        }
    }

    fn entry(&self) -> Option<&'a AgentEntry> {
        self.agent.map(|(_, entry)| entry)
    }
}

/// Checks that the nonce, if one is given or needed, is good for one more change set. Every fault has one
/// answer, so that nobody learns which it was.
pub fn identify(
    asker: &Asker<'_>,
    project: &Project,
    given: bool,
    dispatch: Option<&DispatchState>,
    now: Stamp,
) -> Result<(), Denied> {
    let Some((agent, entry)) = asker.agent else { return Ok(()) };
    let good = match (given, dispatch) {
        (false, _) => entry.dispatch == Dispatch::Optional,
        (true, Some(state)) => state.allows(agent, project, now),
        (true, None) => false,
    };
    match good {
        true => Ok(()),
        false => Err(Denied::new(
            Refusal::Dispatch,
            format!(
                "no good dispatch: ask the person for one (`granted writes dispatch {agent} --project {}`)",
                for_shell(project.as_str())
            ),
        )),
    }
}

/// Checks one path: what nobody writes, and the agent's scopes.
pub fn check_path(asker: &Asker<'_>, path: &ProjectPath) -> Result<(), Denied> {
    if is_control_plane(path) {
        return Err(Denied::new(
            Refusal::Protected,
            format!("`{path}` lies in the control plane, where nothing is written"),
        ));
    }
    let Some(entry) = asker.entry() else { return Ok(()) };
    if let Some(by) = asker.brief.protected.iter().find(|reach| reach.contains(path)) {
        return Err(Denied::new(Refusal::Protected, format!("`{path}` is protected by `{by}`")));
    }
    match entry.write_scopes.iter().any(|scope| scope.contains(path)) {
        true => Ok(()),
        false => Err(Denied::new(
            Refusal::OutOfScope,
            format!("`{path}` is in none of the agent's write scopes"),
        )),
    }
}

/// Checks a change set against the brief and the files as they are. `found` has an entry for each of its
/// files. What it gives goes to the gates, and is checked again after them.
pub fn check(
    asker: &Asker<'_>,
    filing: &Filing,
    found: &[Option<Before>],
) -> Result<Vec<FileChange>, Denied> {
    let caps = &asker.brief.caps;
    check_shape(asker, filing)?;
    let mut changes = Vec::with_capacity(filing.changes.len());
    for (proposed, before) in filing.changes.iter().zip(found) {
        let path = &proposed.path;
        check_path(asker, path)?;
        check_base(proposed, *before)?;
        let sizes = [proposed.after.map(|after| after.bytes), before.map(|before| before.bytes)];
        if sizes.into_iter().flatten().any(|bytes| bytes > caps.file_bytes) {
            let detail = format!("`{path}` has over {} bytes, now or as proposed", caps.file_bytes);
            return Err(Denied::new(Refusal::TooLarge, detail));
        }
        changes.push(FileChange { after: proposed.after, before: *before, path: path.clone() });
    }
    Ok(changes)
}

fn check_shape(asker: &Asker<'_>, filing: &Filing) -> Result<(), Denied> {
    let invalid = |detail: String| Err(Denied::new(Refusal::Invalid, detail));
    if let Some(tool) = filing.tool {
        asker.has(tool)?;
    }
    let most = asker.brief.caps.files;
    let count = u64::try_from(filing.changes.len()).unwrap_or(u64::MAX);
    if count == 0 {
        return invalid("a change set has at least one file".into());
    }
    if count > most {
        let detail = format!("a change set has at most {most} files here");
        return Err(Denied::new(Refusal::TooManyFiles, detail));
    }
    let mut paths: Vec<&ProjectPath> = filing.changes.iter().map(|change| &change.path).collect();
    // A folder comes right before what lies in it.
    paths.sort_by(|a, b| a.segments().cmp(b.segments()));
    for pair in paths.windows(2) {
        if let [one, other] = pair {
            if one == other {
                return invalid(format!("`{one}` stands in the change set twice"));
            }
            if other.as_str().starts_with(&format!("{}/", one.as_str())) {
                return invalid(format!("`{one}` cannot be a file and the folder of `{other}`"));
            }
        }
    }
    if let Some(gate) = filing.gates.iter().find(|gate| !asker.brief.gates.contains_key(*gate)) {
        return Err(Denied::new(Refusal::UnknownGate, format!("there is no gate `{gate}`")));
    }
    Ok(())
}

fn check_base(proposed: &Proposed, before: Option<Before>) -> Result<(), Denied> {
    let path = &proposed.path;
    let now = before.map(|before| before.sha256);
    if proposed.base != now {
        let is = now.map_or("absent".to_owned(), |sha256| sha256.to_string());
        let detail = format!("`{path}` is not what the change is based on: it is {is} now");
        let stale = Some(Box::new((path.clone(), now)));
        return Err(Denied { stale, ..Denied::new(Refusal::StaleBase, detail) });
    }
    match (before, proposed.after) {
        (None, None) => {
            Err(Denied::new(Refusal::Invalid, format!("`{path}` cannot be deleted: it is absent")))
        }
        (Some(before), Some(after)) if before.sha256 == after.sha256 => {
            Err(Denied::new(Refusal::NoChange, format!("`{path}` has that content already")))
        }
        _ => Ok(()),
    }
}

/// What else filing depends on.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Where.
    pub project: &'a Project,
    /// The digest of the brief.
    pub brief_sha256: Digest,
    /// What the agent filed today.
    pub today: &'a Day,
    /// How many change sets of the agent wait since yesterday.
    pub waiting_since_yesterday: usize,
    /// The dispatch, if one was named.
    pub dispatch: Option<&'a DispatchState>,
    /// The ledger's head.
    pub head: Option<Head>,
    /// The time.
    pub now: Stamp,
}

/// How a change set that passed every check goes on.
#[derive(Debug)]
pub enum Route {
    /// It waits for the person; why not at once, if the agent asks for that.
    Stage(Option<Words>),
    /// At once, under this grant.
    Direct(Box<VerifiedGrant>),
}

/// Decides whether a change set is staged or applied at once. `used` is how many files were written under
/// a grant: the larger of what the server's memory and the ledger say. `off` is why nothing is applied
/// directly, if so.
pub fn route(
    asker: &Asker<'_>,
    changes: &[FileChange],
    gates: &[GateRun],
    grants: &Active,
    used: &dyn Fn(&VerifiedGrant) -> u64,
    off: Option<&str>,
    facts: &Facts<'_>,
) -> Route {
    let stage = |why: String| Route::Stage(Words::new(cut(&why, 256)).ok());
    let Some((agent, _)) = asker.agent.filter(|(_, e)| e.approval == Approval::Direct) else {
        return Route::Stage(None);
    };
    if changes.iter().any(FileChange::is_deletion) {
        return stage("deletions are never direct".into());
    }
    if let Some(off) = off {
        return stage(off.to_owned());
    }
    let Some(grant) = grants.grants.get(agent) else {
        let problem = grants.problems.first().map(ToString::to_string);
        return stage(problem.unwrap_or_else(|| format!("agent `{agent}` has no direct grant")));
    };
    if !facts.dispatch.is_some_and(DispatchState::is_narrow) {
        return stage("a direct write needs a narrow dispatch: at most 10 uses and 4 hours".into());
    }
    // The gates ran on copies of their files, which may have been others than were signed.
    let bound = |run: &&GateRun| grant.grant().gates.get(&run.gate) != Some(&run.digest);
    if let Some(run) = gates.iter().find(bound) {
        let (id, what) = (grant.grant().grant_id, format!("gate `{}`", run.gate));
        return stage(Problem::Drift(id, what).to_string());
    }
    let files = u64::try_from(changes.len()).unwrap_or(u64::MAX);
    match check_write_allowed(grant.grant(), used(grant), files, facts.now) {
        Ok(()) => Route::Direct(Box::new(grant.clone())),
        Err(problem) => stage(problem.to_string()),
    }
}

/// Checks what bounds an agent: the clock, the bytes of a day, and how many change sets wait.
pub fn check_caps(
    asker: &Asker<'_>,
    changes: &[FileChange],
    staged: bool,
    facts: &Facts<'_>,
) -> Result<(), Denied> {
    if let Some(behind) = clock_behind(facts.now, facts.head) {
        return Err(Denied::new(Refusal::ClockBehind, behind));
    }
    let caps = &asker.brief.caps;
    if asker.agent.is_none() {
        return Ok(());
    }
    if facts.today.bytes.saturating_add(bytes(changes)) > caps.bytes_a_day {
        let detail = format!("over {} bytes in one day of UTC", caps.bytes_a_day);
        return Err(Denied::new(Refusal::DayCap, detail));
    }
    let waiting = facts.today.waiting.len().saturating_add(facts.waiting_since_yesterday);
    if staged && u64::try_from(waiting).unwrap_or(u64::MAX) >= caps.staged {
        let detail = format!("{waiting} change sets wait for the person already");
        return Err(Denied::new(Refusal::StagedCap, detail));
    }
    Ok(())
}

/// What the rows of a change set say of it.
pub fn request(
    asker: &Asker<'_>,
    filing: &Filing,
    changes: Vec<FileChange>,
    gates: Vec<GateRun>,
    facts: &Facts<'_>,
) -> Request {
    Request {
        agent: asker.agent.map(|(agent, _)| agent.clone()),
        brief: facts.brief_sha256,
        digest: content_digest(facts.project, &changes),
        changes,
        gates,
        gates_asked: filing.gates.clone(),
        key: filing.key.clone(),
        project: facts.project.clone(),
        rationale: filing.rationale.clone(),
        reverts: filing.reverts,
    }
}

/// The subjects that filing moves after `write:ID`.
fn filed(request: &Request, facts: &Facts<'_>) -> Vec<(Subject, u64)> {
    let day = request.agent.as_ref();
    let day = day.map(|agent| (facts.project.day(agent, facts.now), facts.today.last));
    day.into_iter().collect()
}

/// The row that stages a change set. It is not written after its dispatch has ended.
pub fn stage(id: Id, request: Request, why: Option<Words>, facts: &Facts<'_>, by: &By) -> Draft {
    let mut refs = vec![(Subject::write(id), 0)];
    refs.extend(filed(&request, facts));
    refs.extend(facts.dispatch.map(|dispatch| dispatch.moved.clone()));
    let expires = facts.now.plus(STAGED_LIFE);
    let draft = Draft::new(Event::WriteStaged(Staged { expires, request, why }), by.clone(), refs);
    Draft { until: facts.dispatch.map(|dispatch| dispatch.issued.expires), ..draft }
}

/// The claim of a change set under a direct grant. The row moves the grant, so that of two servers only
/// one takes its last write; it is not written after the grant or the dispatch has ended.
pub fn direct(
    id: Id,
    request: Request,
    folders: Vec<ProjectPath>,
    grant: &VerifiedGrant,
    act: &str,
    facts: &Facts<'_>,
    by: &By,
) -> Permit {
    let mut refs = vec![(Subject::write(id), 0)];
    refs.extend(filed(&request, facts));
    refs.push((Subject::direct(grant.grant().grant_id), grant.last()));
    refs.extend(facts.dispatch.map(|dispatch| dispatch.moved.clone()));
    let changes = request.changes.clone();
    let event = Event::WriteDirect(Direct { act: act.into(), folders: folders.clone(), request });
    let draft = Draft::new(event, by.clone(), refs);
    let ends = facts.dispatch.map(|dispatch| dispatch.issued.expires);
    let until = ends.into_iter().chain([grant.grant().expires]).min();
    Permit { id, changes, folders, draft: Draft { until, ..draft } }
}

/// The row that says that a change set was refused. It costs a known dispatch an attempt.
pub fn refuse(
    id: Id,
    agent: &Agent,
    project: &Project,
    denied: &Denied,
    dispatch: Option<&DispatchState>,
    by: &By,
) -> Draft {
    let refused = Refused {
        agent: agent.clone(),
        detail: cut(&denied.detail, 1_000).into(),
        project: project.clone(),
        reason: denied.reason,
    };
    let mut refs = vec![(Subject::write(id), 0)];
    refs.extend(dispatch.map(|dispatch| dispatch.moved.clone()));
    Draft::new(Event::WriteRefused(refused), by.clone(), refs)
}
