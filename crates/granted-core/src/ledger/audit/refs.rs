//! What each kind of row moves, and what its body must say of that.

use super::moves::{Move, Step, hash, hash_object};
use super::spend;
use crate::decision::conclude::DECLINED;
use crate::decision::{self, Class, From, Object, Reason, Use, event};
use crate::id::Id;
use crate::ledger::{Event, Row, Subject};

/// Checks that the row moves exactly the subjects of its kind, the owner first, and that its body
/// agrees; emits the moves.
pub(super) fn check(
    row: &Row,
    book: Option<Id>,
    emit: &mut dyn FnMut(Move),
) -> Result<(), &'static str> {
    let mut moves = |(subject, before): &(Subject, u64), step: Step| {
        emit(Move { subject: hash(subject), seq: row.seq, before: *before, step });
    };
    match (&row.event, row.refs.as_slice()) {
        (Event::Opened(_) | Event::Torn(_), []) => {}
        (Event::Accepted(_), refs) => {
            for (index, closed) in refs.iter().enumerate() {
                grant(&closed.0).map(drop).or_else(|_| spend::grant_id(&closed.0).map(drop))?;
                if refs.iter().take(index).any(|earlier| earlier.0 == closed.0) {
                    return Err("its `refs` name a grant twice");
                }
                moves(closed, Step::Closed);
            }
        }
        (Event::Minted(body), [owner, object]) => {
            check_minted(body, book)?;
            if grant(&owner.0)? != body.grant.id || !is_object(&object.0, &body.grant.object) {
                return Err("its `refs` are not the grant and the object of its body");
            }
            moves(owner, minted(&body.grant));
            moves(object, Step::Object);
        }
        (Event::Intent(body), [owner, claimed]) => {
            discharge(&owner.0)?;
            grant(&claimed.0)?;
            let object = hash_object(&body.object);
            moves(owner, Step::Intent { grant: hash(&claimed.0), object });
            let at = row.at.micros();
            moves(claimed, Step::Claimed { discharge: hash(&owner.0), at, object });
        }
        (Event::Result(body), [owner]) => {
            discharge(&owner.0)?;
            moves(owner, came_back(body)?);
        }
        (Event::LateResult(body), [owner]) => {
            discharge(&owner.0)?;
            came_back(body)?;
            moves(owner, Step::Late);
        }
        (Event::Outcome(body), [owner]) => {
            discharge(&owner.0)?;
            check_class(body.outcome, body.reason)?;
            moves(owner, Step::Turned { reason: body.reason });
        }
        (Event::Outcome(body), [owner, claimed]) => {
            discharge(&owner.0)?;
            check_class(body.outcome, body.reason)?;
            if body.about.grant != Some(grant(&claimed.0)?) {
                return Err("its `about` does not name the grant that it moves");
            }
            let (grant, object) = (hash(&claimed.0), hash_object(&body.about.object));
            moves(owner, Step::Outcome { grant, object, reason: body.reason });
            moves(claimed, Step::Settled { discharge: hash(&owner.0), reason: body.reason });
        }
        (Event::Expired(body), [owner]) => {
            grant(&owner.0)?;
            if (body.outcome, body.reason) != (Class::Expired, Reason::Expired) {
                return Err("its outcome or reason is not `expired`");
            }
            moves(owner, Step::Expired { at: row.at.micros(), uses: body.uses });
        }
        (Event::Resolved(_), [owner]) => {
            discharge(&owner.0)?;
            moves(owner, Step::Resolved);
        }
        (Event::Revoked(_), [owner]) => {
            grant(&owner.0)?;
            moves(owner, Step::Revoked);
        }
        (Event::KeyTrusted(_) | Event::KeyUntrusted(_) | Event::ModeSet(_), [owner]) => {
            if owner.0 != Subject::trust() {
                return Err("its `refs` are not what the book trusts");
            }
            moves(owner, Step::Trust);
        }
        // Of spends, or of one of the kinds above with other subjects.
        _ => return spend::check(row, book, emit),
    }
    Ok(())
}

fn check_minted(body: &event::Minted, book: Option<Id>) -> Result<(), &'static str> {
    let grant = &body.grant;
    if grant.consumed || grant.consumed_at.is_some() || grant.receipt.is_some() {
        return Err("it mints a grant that is spent already");
    }
    if grant.not_before.is_some_and(|from| from >= grant.not_after) {
        return Err("it mints a grant whose window is empty");
    }
    match book == Some(grant.book) {
        true => Ok(()),
        false => Err("it mints a grant of another book"),
    }
}

fn minted(grant: &decision::Grant) -> Step {
    Step::Minted {
        session: grant.decision == Use::Session,
        opens: grant.not_before.map_or(i64::MIN, |from| from.micros()),
        closes: grant.not_after.micros(),
        object: hash_object(&grant.object),
    }
}

/// What came back, of a row that does not contradict itself: the wrapper says how the program ended and
/// calls only the status 0 ok, and an executor speaks only for itself.
fn came_back(body: &event::ActResult) -> Result<Step, &'static str> {
    let executor = body.from == From::Executor;
    let agrees = match body.ended {
        None => executor,
        Some(ended) => !executor && body.ok == (ended == event::Ended::Exit(0)),
    };
    let nothing_done = [event::Ended::Exit(DECLINED), event::Ended::NotStarted];
    let declines = body.ended.is_some_and(|ended| nothing_done.contains(&ended));
    match agrees {
        true => Ok(Step::Result { executor, ok: body.ok, declines }),
        false => Err("its `ended` is not that of its `from` and `ok`"),
    }
}

fn check_class(outcome: Class, reason: Reason) -> Result<(), &'static str> {
    match reason.class() == outcome {
        true => Ok(()),
        false => Err("its reason does not belong to its outcome"),
    }
}

fn grant(subject: &Subject) -> Result<Id, &'static str> {
    id_of(subject, "grant:").ok_or("its `refs` lack a grant where its kind has one")
}

fn discharge(subject: &Subject) -> Result<Id, &'static str> {
    id_of(subject, "discharge:").ok_or("its `refs` lack a discharge where its kind has one")
}

fn id_of(subject: &Subject, kind: &str) -> Option<Id> {
    subject.as_str().strip_prefix(kind)?.parse().ok()
}

/// Whether this is the object's subject. A type holds no slash, so the text has one reading.
fn is_object(subject: &Subject, object: &Object) -> bool {
    let rest = subject.as_str().strip_prefix("object:");
    let rest = rest.and_then(|rest| rest.strip_prefix(object.r#type.as_str()));
    rest.and_then(|rest| rest.strip_prefix('/')) == Some(object.id.as_str())
}
