//! What the verbs on change sets have in common: which one is meant, and how it is shown.

use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::store::ReadError;
use granted_core::text::{Note, Shown};
use granted_core::time::{Relative, Stamp};
use granted_core::write::request::Origin;
use granted_core::write::{
    Agent, Brief, FileChange, GateRun, Project, ProjectPath, RequestState, Side, Status,
};
use serde::Serialize;

use super::super::failure::Failure;
use super::super::out::{Mark, Out};
use crate::book::Book;
use crate::home;
use crate::render::diff::{self, Kind, Line};
use crate::write::approve::WordError;
use crate::write::expire::expire;
use crate::write::list;
use crate::write::project::OpenProject;
use crate::write::recover::recover;
use crate::write::show::{FileView, Side as FileSide, files};

/// A request, as JSON.
#[derive(Serialize)]
pub(super) struct RequestJson<'a> {
    agent: Option<&'a Agent>,
    at: Stamp,
    digest: Option<Digest>,
    expires: Option<Stamp>,
    files: Vec<FileJson<'a>>,
    foreign: &'a [ProjectPath],
    gates: &'a [GateRun],
    id: Id,
    project: &'a Project,
    rationale: Option<&'a Note>,
    reverts: Option<Id>,
    since: Stamp,
    status: Status,
    undone: Option<&'a str>,
    why: Option<&'a str>,
}

/// A file of a request, as JSON.
#[derive(Serialize)]
pub(super) struct FileJson<'a> {
    added: Option<usize>,
    #[serde(flatten)]
    change: &'a FileChange,
    removed: Option<usize>,
    stale: bool,
}

impl<'a> RequestJson<'a> {
    pub(super) fn new(state: &'a RequestState, views: &'a [FileView]) -> RequestJson<'a> {
        let request = state.request();
        let file = |view: &'a FileView| {
            let counts = diff::counts(view);
            FileJson {
                added: counts.map(|(added, _)| added),
                change: &view.change,
                removed: counts.map(|(_, removed)| removed),
                stale: view.stale,
            }
        };
        RequestJson {
            agent: state.agent(),
            at: state.at,
            digest: request.map(|request| request.digest),
            expires: state.expires(),
            files: views.iter().map(file).collect(),
            foreign: state.unresolved.as_ref().map_or(&[], |unresolved| &unresolved.foreign),
            gates: request.map_or(&[], |request| &request.gates),
            id: state.id,
            project: state.project(),
            rationale: request.map(|request| &request.rationale),
            reverts: request.and_then(|request| request.reverts),
            since: state.since,
            status: state.status,
            undone: state.undone.as_deref(),
            why: why(state),
        }
    }
}

/// Why it was not applied at once, or was refused.
pub(super) fn why(state: &RequestState) -> Option<&str> {
    match &state.origin {
        Origin::Staged(staged) => staged.why.as_ref().map(|why| why.as_str()),
        Origin::Direct(..) => None,
        Origin::Refused(refused) => Some(&refused.detail),
    }
}

/// How it stands with a request, in one line.
pub(super) fn stands(state: &RequestState) -> String {
    let id = state.id;
    match state.status {
        Status::Applied => format!("applied {id}: {}", counted(state)),
        Status::Staged => match &state.undone {
            Some(why) => {
                format!("request {id} waits again, and no file was changed: {}", Shown(why))
            }
            None => format!("request {id} waits: {}", counted(state)),
        },
        Status::Unresolved if state.lost => {
            let why = state.unresolved.as_ref().map_or("", |unresolved| &unresolved.detail);
            format!("request {id} is unresolved: {why}")
        }
        Status::Unresolved => {
            let foreign = state.unresolved.as_ref().map_or(&[][..], |u| &u.foreign);
            let foreign: Vec<String> = foreign.iter().map(|path| format!("`{path}`")).collect();
            format!(
                "request {id} is unresolved: neither as they were nor as they were to be: {}",
                foreign.join(", ")
            )
        }
        other => format!("{other} {id}"),
    }
}

/// The files of a request, counted.
pub(super) fn counted(state: &RequestState) -> String {
    let changes = state.request().map_or(0, |request| request.changes.len());
    let files = if changes == 1 { "file" } else { "files" };
    format!("{changes} {files} in {}", state.project())
}

/// A request in one line: what waits.
pub(super) fn line(state: &RequestState, views: &[FileView], now: Stamp, out: &Out) -> String {
    let who = state.agent().map_or_else(|| "(you)".to_owned(), ToString::to_string);
    let counts: Option<Vec<(usize, usize)>> = views.iter().map(diff::counts).collect();
    let lines = match counts {
        Some(counts) => {
            let sum = |of: fn(&(usize, usize)) -> usize| counts.iter().map(of).sum::<usize>();
            format!("+{} -{}", sum(|count| count.0), sum(|count| count.1))
        }
        None => "no text".into(),
    };
    let stale = match views.iter().any(|view| view.stale) {
        true => format!("  {}", out.marked("stale", Mark::Doubt)),
        false => String::new(),
    };
    let end = match state.expires() {
        Some(end) if now >= end => out.marked("expired", Mark::Bad),
        Some(end) => format!("ends {}", Relative { stamp: end, now }),
        None => String::new(),
    };
    let mut gates: Vec<&str> =
        state.request().map_or(Vec::new(), |r| r.gates.iter().map(|g| g.gate.as_str()).collect());
    gates.dedup();
    let gates = match gates.is_empty() {
        true => "no gate".into(),
        false => gates.join(","),
    };
    let paths: Vec<&str> = views.iter().map(|view| view.change.path.as_str()).collect();
    let filed = Relative { stamp: state.at, now };
    format!(
        "{}  {who}  {lines}  {filed}  {end}  {gates}{stale}  {}: {}",
        state.id,
        state.project(),
        paths.join(" ")
    )
}

/// What a change set says of itself, before its diffs.
pub(super) fn about(state: &RequestState, views: &[FileView], now: Stamp) -> Vec<String> {
    let mut lines = vec![format!("request    {}  {}", state.id, state.status)];
    let mut say = |label: &str, text: String| lines.push(format!("{label:<10} {text}"));
    say("agent", state.agent().map_or_else(|| "(you)".to_owned(), ToString::to_string));
    say("project", state.project().to_string());
    say("filed", crate::render::time(state.at, now));
    if let Some(end) = state.expires().filter(|_| state.status == Status::Staged) {
        say("ends", crate::render::time(end, now));
    }
    if let Origin::Direct(_, grant) = &state.origin {
        say("direct", format!("under {grant}"));
    }
    if let Some(request) = state.request() {
        say("rationale", request.rationale.to_string());
        if let Some(reverts) = request.reverts {
            say("reverts", reverts.to_string());
        }
        let gate = |run: &GateRun| match &run.path {
            Some(path) => format!("{} on {path}", run.gate),
            None => run.gate.to_string(),
        };
        let gates: Vec<String> = request.gates.iter().map(gate).collect();
        say("gates", if gates.is_empty() { "none".into() } else { gates.join(", ") });
    }
    if let Some(why) = why(state) {
        say("why", Shown(why).to_string());
    }
    if let Some(rejected) = &state.rejected {
        let reason = rejected.reason.as_ref().map(|r| format!(": {r}")).unwrap_or_default();
        say("rejected", format!("by {}{reason}", rejected.by));
    }
    if let Some(approved) = state.claim.as_ref().and_then(|claim| claim.approved.as_ref()) {
        say("approved", format!("by {}", approved.by));
    }
    if let Some(undone) = &state.undone {
        say("undone", Shown(undone).to_string());
    }
    if let Some(unresolved) = state.unresolved.as_ref().filter(|_| state.lost) {
        say("unresolved", unresolved.detail.to_string());
    }
    for path in state.unresolved.iter().flat_map(|unresolved| &unresolved.foreign) {
        say("foreign", path.to_string());
    }
    for view in views.iter().filter(|view| view.stale) {
        say("stale", format!("{} is not what the change is based on", view.change.path));
    }
    lines
}

/// The diffs of all files, for a terminal or a stream.
pub(super) fn diffs(views: &[FileView], out: &Out) -> Vec<String> {
    let painted = |line: Line| match line.kind {
        Kind::Head => out.marked(line.text, Mark::Doubt),
        Kind::Same => line.text,
        Kind::Added => out.marked(line.text, Mark::Good),
        Kind::Removed => out.marked(line.text, Mark::Bad),
    };
    views.iter().flat_map(diff::lines).map(painted).collect()
}

/// One line a file: what happens to it, and how many lines it gains and loses.
pub(super) fn stat(views: &[FileView]) -> Vec<String> {
    let what = |view: &FileView| {
        let what = match (view.change.before.is_some(), view.change.after.is_some()) {
            (false, _) => "new",
            (true, true) => "changed",
            (true, false) => "deleted",
        };
        let lines = match (diff::counts(view), &view.before, &view.after) {
            (Some((added, removed)), ..) => format!("+{added} -{removed}"),
            (None, FileSide::Binary(_), _) | (None, _, FileSide::Binary(_)) => "no text".into(),
            (None, ..) => "not to be told".into(),
        };
        format!("{what:<8} {lines:<12} {}", view.change.path)
    };
    views.iter().map(what).collect()
}

/// Which requests a verb is for. They are meant before others that begin with the same text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum For {
    /// Those that were not brought to an end.
    Open,
    /// Those that were applied.
    Applied,
    /// All.
    Any,
}

impl For {
    /// Those of them that begin with this text.
    fn beginning(self, book: &Book, prefix: &str) -> Result<Vec<Id>, ReadError> {
        let states = match self {
            For::Open => list::open(&*book.ledger)?,
            For::Applied => list::all(&*book.ledger)?,
            For::Any => return Ok(Vec::new()),
        };
        let is = |state: &&RequestState| self == For::Open || state.status == Status::Applied;
        let ids = states.iter().filter(is).map(|state| state.id);
        Ok(ids.filter(|id| id.to_string().starts_with(prefix)).collect())
    }
}

/// The request that a text names: its id, or the beginning of no other's.
pub(super) fn named(book: &Book, text: &str, meant: For) -> Result<Id, Failure> {
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let unknown = || {
        let text = Shown(text);
        Failure::refused(format!("there is no request `{text}`"))
            .hint("what waits: granted writes staged; all of them: granted writes log")
    };
    let prefix = text.to_ascii_uppercase();
    if prefix.is_empty() || !prefix.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err(unknown());
    }
    match *list::beginning(&*book.ledger, &prefix)? {
        [] => Err(unknown()),
        [id] => Ok(id),
        ref all => {
            let meant = meant.beginning(book, &prefix)?;
            if let [id] = *meant {
                return Ok(id);
            }
            let several = if meant.is_empty() { all } else { &meant };
            const NAMED: usize = 5;
            let newest = several.iter().rev().take(NAMED).map(ToString::to_string);
            let newest = newest.collect::<Vec<_>>().join(", ");
            let more = match several.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(", and {more} older ones"),
            };
            let message = format!("several requests begin with `{prefix}`: {newest}{more}");
            Err(Failure::refused(message))
        }
    }
}

/// A request and its files.
pub(super) fn looked_at(book: &Book, id: Id) -> Result<(RequestState, Vec<FileView>), Failure> {
    let state = crate::write::gather::request(book, id)?;
    let state = state.ok_or(WordError::Unknown(id))?;
    let views = files(book, &state);
    Ok((state, views))
}

/// What comes before a person's verb: what died in the middle is seen to, and what nobody approved in time
/// is ended. Neither keeps the verb from its work.
///
/// What was seen to, and came to its end.
pub(super) fn settled(book: &Book, out: &Out) -> Vec<RequestState> {
    let mut ended = Vec::new();
    match recover(book, Side::Person, None) {
        Ok(seen) => {
            for seen in seen {
                let how = match &seen.state {
                    Ok(state) => stands(state),
                    Err(why) => format!("request {} is cut off: {why}", seen.id),
                };
                out.remark(format_args!("note: {how}"));
                ended.extend(seen.state.ok());
            }
        }
        Err(e) => out.remark(format_args!("note: {e}")),
    }
    match expire(book) {
        Ok(expired) => {
            for state in expired {
                out.remark(format_args!("note: request {} expired", state.id));
            }
        }
        Err(e) => out.remark(format_args!("note: {e}")),
    }
    ended
}

/// Whose hand it is, where nothing is said: the login name, or the number of the user.
pub(super) fn hand(by: Option<&Note>, book: &Book) -> Result<Note, Failure> {
    if let Some(by) = by {
        return Ok(by.clone());
    }
    let name = home::var("LOGNAME").or_else(|| home::var("USER"));
    let name = name.and_then(|name| Note::new(name.to_string_lossy().into_owned()).ok());
    name.map_or_else(|| Note::new(format!("uid {}", book.by(None).uid)), Ok)
        .map_err(Failure::system)
}

/// The brief does not name the agent.
pub(super) fn unnamed(project: &OpenProject, brief: &Brief, agent: &Agent) -> Failure {
    let message = format!("the brief of `{}` names no agent `{agent}`", project.name());
    let named: Vec<&str> = brief.agents.keys().map(Agent::as_str).collect();
    match named.is_empty() {
        true => Failure::refused(message),
        false => Failure::refused(message).hint(format!("it names {}", named.join(", "))),
    }
}
