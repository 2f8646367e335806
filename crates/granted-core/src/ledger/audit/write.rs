//! Writes: what their rows move, what a body must say of that, and the stories that are legal.

use std::time::Duration;

use serde::Serialize;

use super::moves::{Move, hash, hash_parts};
use crate::digest::Digest;
use crate::id::Id;
use crate::ledger::{Event, Row, Subject};
use crate::time::Stamp;
use crate::write::direct::{MAX_DAYS, MAX_WRITES};
use crate::write::event::{DirectGranted, Dispatched, Request};
use crate::write::{Agent, FileChange, Project, dispatch};

mod body;
mod fold;
mod step;
mod terms;

use body::{check_claimed, check_request};
pub(super) use fold::State;
pub use step::Step;
pub(super) use terms::Terms;

/// Checks that a row of a write moves exactly the subjects of its kind, the owner first, and that its
/// body agrees; emits the moves.
pub(super) fn check(
    row: &Row,
    book: Option<Id>,
    emit: &mut dyn FnMut(Move),
) -> Result<(), &'static str> {
    let mut moves = |(subject, before): &Ref, step: Step| {
        let step = super::Step::Write(step);
        emit(Move { subject: hash(subject), seq: row.seq, before: *before, step });
    };
    // A second move of a subject by the same row, which comes after the first.
    let again = |(subject, _): &Ref| (subject.clone(), row.seq);
    let at = row.at.micros();
    match (&row.event, row.refs.as_slice()) {
        (Event::WriteStaged(body), [write, rest @ ..]) => {
            write_id(&write.0)?;
            check_request(&body.request)?;
            let (day, rest) = day_of(&body.request, row.at, rest)?;
            moves(
                write,
                Step::Staged {
                    proposal: proposal(body.request.digest, &body.request.changes),
                    closes: body.expires.micros(),
                    day: day.map_or(0, |day| hash(&day.0)),
                },
            );
            day.into_iter().for_each(|day| moves(day, Step::Day));
            match (&body.request.agent, rest) {
                (_, []) => {}
                (Some(agent), [dispatch]) => {
                    dispatch_id(&dispatch.0)?;
                    let who = who(agent, &body.request.project);
                    moves(dispatch, Step::Used { who, at, direct: false });
                }
                _ => return Err(KIND),
            }
        }
        (Event::WriteRefused(_), [write, rest @ ..]) => {
            write_id(&write.0)?;
            moves(write, Step::Refused);
            match rest {
                [] => {}
                [dispatch] => {
                    dispatch_id(&dispatch.0)?;
                    moves(dispatch, Step::Attempted);
                }
                _ => return Err(KIND),
            }
        }
        (Event::WriteApproved(body), [write]) => {
            write_id(&write.0)?;
            check_claimed(&body.changes, &body.folders)?;
            moves(write, Step::Approved { proposal: proposal(body.digest, &body.changes), at });
        }
        (Event::WriteDirect(body), [write, rest @ ..]) => {
            let request = &body.request;
            write_id(&write.0)?;
            check_request(request)?;
            check_claimed(&request.changes, &body.folders)?;
            if request.changes.iter().any(FileChange::is_deletion) {
                return Err("it deletes a file under a direct grant");
            }
            let (Some(agent), (Some(day), [grant, dispatch])) =
                (&request.agent, day_of(request, row.at, rest)?)
            else {
                return Err(KIND);
            };
            direct_id(&grant.0)?;
            dispatch_id(&dispatch.0)?;
            let who = who(agent, &request.project);
            let files = u64::try_from(request.changes.len()).unwrap_or(u64::MAX);
            moves(write, Step::Claimed);
            moves(day, Step::Day);
            moves(grant, Step::Drawn { who, at, files });
            moves(dispatch, Step::Used { who, at, direct: true });
        }
        (Event::WriteApplied(body), [write, rest @ ..]) => {
            write_id(&write.0)?;
            let day = ended(rest)?;
            moves(write, Step::Applied { recovered: body.recovered, day: hash_of(day) });
            day.into_iter().for_each(|day| moves(day, Step::Day));
        }
        (Event::WriteUndone(_), [write]) => {
            write_id(&write.0)?;
            moves(write, Step::Undone);
        }
        (Event::WriteUnresolved(_), [write]) => {
            write_id(&write.0)?;
            moves(write, Step::Unresolved);
        }
        (Event::WriteRejected(_), [write, rest @ ..]) => {
            write_id(&write.0)?;
            let day = ended(rest)?;
            moves(write, Step::Rejected { day: hash_of(day) });
            day.into_iter().for_each(|day| moves(day, Step::Day));
        }
        (Event::WriteExpired(body), [write, rest @ ..]) => {
            write_id(&write.0)?;
            let (day, closed) = (ended(rest)?, body.expired.micros());
            if row.at < body.expired {
                return Err("its change set has not expired");
            }
            moves(write, Step::Expired { closed, day: hash_of(day) });
            day.into_iter().for_each(|day| moves(day, Step::Day));
        }
        (Event::WriteDispatched(body), [dispatch]) => {
            dispatch_id(&dispatch.0)?;
            moves(dispatch, issued(body, row.at)?);
        }
        (Event::DirectGranted(body), [owner, project]) => {
            check_granted(body, book)?;
            let grant = &body.grant;
            if direct_id(&owner.0)? != grant.grant_id || project.0 != grant.project.subject() {
                return Err("its `refs` are not the grant and the project of its body");
            }
            let who = who(&grant.agent, &grant.project);
            let (closes, files) = (grant.expires.micros(), grant.max_writes);
            moves(owner, Step::Granted { who, closes, files });
            moves(&again(owner), Step::GrantedIn { project: hash(&project.0) });
            moves(project, Step::Project);
        }
        (Event::DirectRevoked(_), [owner, project]) => {
            direct_id(&owner.0)?;
            project_key(&project.0)?;
            moves(owner, Step::Revoked { project: hash(&project.0) });
            moves(project, Step::Project);
        }
        (Event::DirectLoaded(body), [project]) => {
            if project.0 != body.project.subject() {
                return Err("its `refs` are not the project of its body");
            }
            moves(project, Step::Project);
        }
        _ => return Err(KIND),
    }
    Ok(())
}

/// A subject, and the row that moved it before.
type Ref = (Subject, u64);

const KIND: &str = "its `refs` are not those of its kind";

/// Takes the day of the agent who files off the front of these subjects; a person has none.
///
/// The day is that of the instant at which the change set was decided, and a row may be written a little
/// later.
fn day_of<'r>(
    request: &Request,
    at: Stamp,
    refs: &'r [Ref],
) -> Result<(Option<&'r Ref>, &'r [Ref]), &'static str> {
    let Some(agent) = &request.agent else { return Ok((None, refs)) };
    let (day, rest) = refs.split_first().ok_or(KIND)?;
    let days = [at, at.minus(Duration::from_secs(24 * 3_600))];
    match days.iter().any(|at| request.project.day(agent, *at) == day.0) {
        true => Ok((Some(day), rest)),
        false => Err("its `refs` lack the day of its agent"),
    }
}

/// The day that a row moves beside the change set that it ends, if it does.
fn ended(refs: &[Ref]) -> Result<Option<&Ref>, &'static str> {
    match refs {
        [] => Ok(None),
        [day] if day.0.is_day() => Ok(Some(day)),
        _ => Err(KIND),
    }
}

fn hash_of(subject: Option<&Ref>) -> u64 {
    subject.map_or(0, |(subject, _)| hash(subject))
}

/// What is proposed: by this digest, these files.
fn proposal(digest: Digest, changes: &[FileChange]) -> u64 {
    #[derive(Serialize)]
    struct File<'a>(&'a str, Option<Digest>, Option<(Digest, Option<u32>)>);
    let files: Vec<File<'_>> = changes
        .iter()
        .map(|FileChange { after, before, path }| {
            let after = after.map(|after| (after.sha256, after.mode));
            File(path.as_str(), before.map(|before| before.sha256), after)
        })
        .collect();
    // Serialising it to bytes cannot fail.
    let Digest(bytes) = Digest::of(&serde_json::to_vec(&(digest, files)).unwrap_or_default());
    bytes.first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

/// An agent in a project.
fn who(agent: &Agent, project: &Project) -> u64 {
    hash_parts(&[agent.as_str(), "\0", project.as_str()])
}

fn issued(body: &Dispatched, at: Stamp) -> Result<Step, &'static str> {
    let Dispatched { agent, expires, project, uses } = body;
    if *uses == 0 || *uses > dispatch::MAX_USES {
        return Err("its `uses` are out of range");
    }
    if expires.since(at) > dispatch::MAX_TTL {
        return Err("it issues a dispatch for longer than may be");
    }
    Ok(Step::Issued {
        who: who(agent, project),
        closes: expires.micros(),
        uses: (*uses).into(),
        narrow: dispatch::is_narrow(*uses, expires.since(at)),
    })
}

fn check_granted(body: &DirectGranted, book: Option<Id>) -> Result<(), &'static str> {
    let grant = &body.grant;
    if body.signature.key != grant.key_id {
        return Err("it is not signed by the key that it names");
    }
    if !(1..=MAX_WRITES).contains(&grant.max_writes) {
        return Err("its `max_writes` are out of range");
    }
    if grant.expires <= grant.issued {
        return Err("it grants for a window that is empty");
    }
    if grant.expires.since(grant.issued) > Duration::from_secs(MAX_DAYS * 24 * 3_600) {
        return Err("it grants for longer than may be");
    }
    match book == Some(grant.book) {
        true => Ok(()),
        false => Err("it grants in another book"),
    }
}

fn write_id(subject: &Subject) -> Result<Id, &'static str> {
    subject.write_id().ok_or("its `refs` lack a change set where its kind has one")
}

fn direct_id(subject: &Subject) -> Result<Id, &'static str> {
    subject.direct_id().ok_or("its `refs` lack a direct grant where its kind has one")
}

fn dispatch_id(subject: &Subject) -> Result<Digest, &'static str> {
    subject.dispatch_id().ok_or("its `refs` lack a dispatch where its kind has one")
}

fn project_key(subject: &Subject) -> Result<Digest, &'static str> {
    let key = subject.as_str().strip_prefix("project:").and_then(Digest::parse);
    key.ok_or("its `refs` lack a project where its kind has one")
}

/// Checks that an accepted row can close the subject: a change set, a direct grant or a dispatch.
pub(super) fn check_closed(subject: &Subject) -> Result<(), &'static str> {
    let one = subject.write_id().or_else(|| subject.direct_id()).map(drop);
    one.or_else(|| subject.dispatch_id().map(drop)).ok_or(KIND)
}
