//! Rows of writes in words.

use granted_core::ledger::{Event, Row};
use granted_core::text::{Shown, cut};
use granted_core::write::FileChange;
use granted_core::write::event::Request;

use super::{moved, signed};

/// What a row of a write says.
pub(super) fn what(event: &Event, row: &Row) -> String {
    let id = moved(row);
    match event {
        Event::WriteStaged(body) => {
            let why = body.why.as_ref().map(|why| format!(" -- {why}")).unwrap_or_default();
            format!("{} until {:.0}{why} [{id}]", request(&body.request), body.expires)
        }
        Event::WriteDirect(body) => format!("{} [{id}]", request(&body.request)),
        Event::WriteRefused(body) => {
            format!("{} in {} -- {} [{id}]", body.reason, body.project, Shown(&body.detail))
        }
        Event::WriteApproved(body) => {
            format!("{} by {}, digest {} [{id}]", files(&body.changes), body.by, body.digest)
        }
        Event::WriteApplied(body) => match body.recovered {
            true => format!("after it was cut off [{id}]"),
            false => format!("[{id}]"),
        },
        Event::WriteUndone(body) => format!("{} [{id}]", Shown(&body.detail)),
        Event::WriteUnresolved(body) => {
            let foreign: Vec<String> = body.foreign.iter().map(ToString::to_string).collect();
            format!("{} -- {} [{id}]", foreign.join(", "), Shown(&body.detail))
        }
        Event::WriteRejected(body) => {
            let why = body.reason.as_ref().map(|reason| format!(" ({reason})"));
            format!("by {}{} [{id}]", body.by, why.unwrap_or_default())
        }
        Event::WriteDispatched(body) => {
            let (agent, uses) = (&body.agent, body.uses);
            format!("{agent} in {}: {uses} uses until {:.0} [{id}]", body.project, body.expires)
        }
        Event::DirectGranted(body) => {
            let grant = &body.grant;
            let signed = signed(Some(&body.signature));
            format!(
                "{} in {}: {} files until {:.0}{signed} [{id}]",
                grant.agent, grant.project, grant.max_writes, grant.expires
            )
        }
        Event::DirectRevoked(body) => {
            let by = body.by.as_ref().map(|by| format!("by {by} ")).unwrap_or_default();
            let note = body.note.as_ref().map(|note| format!("({note}) ")).unwrap_or_default();
            format!("{by}{note}[{id}]")
        }
        Event::DirectLoaded(body) => {
            let active: Vec<String> = body.active.iter().map(ToString::to_string).collect();
            let active = if active.is_empty() { "none".into() } else { active.join(", ") };
            let problems = body.problems.iter().map(|problem| format!("; {}", Shown(problem)));
            format!("{}: {active} in force{}", body.project, problems.collect::<String>())
        }
        _ => format!("[{id}]"),
    }
}

/// What is asked for, and where.
fn request(request: &Request) -> String {
    let reverts = request.reverts.map(|id| format!(", taking back {id}")).unwrap_or_default();
    format!("{} in {}{reverts}", files(&request.changes), request.project)
}

/// The first files, and how many there are beside them.
fn files(changes: &[FileChange]) -> String {
    const SHOWN: usize = 3;
    let name = |change: &FileChange| {
        let path = cut(change.path.as_str(), 80);
        match change.is_deletion() {
            true => format!("{} (deleted)", Shown(&path)),
            false => Shown(&path).to_string(),
        }
    };
    let mut names: Vec<String> = changes.iter().take(SHOWN).map(name).collect();
    if let Some(more) = changes.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}
