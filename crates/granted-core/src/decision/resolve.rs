//! What is said of an attempt from outside its own process: the executor's own result, and the
//! person's word on an uncertain outcome.

use super::event::{ActResult, From, Resolved};
use super::fold::Attempt;
use super::settle::ActState;
use super::{Class, Reason};
use crate::digest::Digest;
use crate::id::Id;
use crate::json::Json;
use crate::ledger::{By, Draft, Event, Subject};
use crate::trust::state::SignatureError;
use crate::trust::{Statement, Trust};

/// The most bytes of a receipt in canonical form.
pub const MAX_RECEIPT: usize = 4_096;

/// Why an attempt is not moved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such attempt.
    #[error("there is no attempt {0}")]
    Unknown(Id),
    /// It has no outcome yet.
    #[error("attempt {0} still runs")]
    Runs(Id),
    /// Its outcome is certain.
    #[error("attempt {id} is not uncertain: {class}: {reason}")]
    Certain {
        /// The attempt.
        id: Id,
        /// How it ended.
        class: Class,
        /// Why.
        reason: Reason,
    },
    /// The person has settled it before.
    #[error("attempt {0} is settled already")]
    Resolved(Id),
    /// The act has ended.
    #[error("attempt {0} has ended; a result is written while the act runs")]
    Ended(Id),
    /// The executor wrote a result before.
    #[error("attempt {0} has a result already")]
    HasResult(Id),
    /// It is not signed as it has to be.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// The token is not the one that the executor was given.
    #[error("the token is not the one of attempt {0}")]
    WrongToken(Id),
}

/// Decides whether the person may settle an attempt: the attempt.
pub fn resolvable(id: Id, attempt: Option<&Attempt>) -> Result<&Attempt, Refusal> {
    let attempt = attempt.ok_or(Refusal::Unknown(id))?;
    let outcome = attempt.outcome.as_ref().ok_or(Refusal::Runs(id))?;
    if outcome.body.outcome != Class::Uncertain {
        let (class, reason) = (outcome.body.outcome, outcome.body.reason);
        return Err(Refusal::Certain { id, class, reason });
    }
    if attempt.resolved.is_some() {
        return Err(Refusal::Resolved(id));
    }
    Ok(attempt)
}

/// What is to be signed for the person's word on an attempt.
pub fn statement(book: Id, attempt: &Attempt, resolved: &Resolved) -> Statement {
    let Resolved { by, happened, note, signature: _ } = resolved;
    Statement::resolve(book, attempt.id, attempt.last, *happened, by, note.as_ref())
}

/// Decides whether the person may settle an attempt that is [`resolvable`]; the row. The grant stays spent.
pub fn resolve(
    attempt: &Attempt,
    resolved: Resolved,
    statement: &Statement,
    trust: &Trust,
    door: &By,
) -> Result<Draft, Refusal> {
    trust.verify(statement, resolved.signature.as_ref())?;
    let still = vec![(Subject::trust(), trust.last)];
    Ok(Draft { still, ..draft(Event::Resolved(resolved), attempt, door) })
}

/// Decides whether an executor may write its own result; the row. Once, while the act runs, with
/// the token that only it was given.
pub fn result(
    id: Id,
    attempt: Option<&Attempt>,
    act: ActState,
    token: Digest,
    ok: bool,
    receipt: Option<Json>,
    door: &By,
) -> Result<Draft, Refusal> {
    let attempt = attempt.ok_or(Refusal::Unknown(id))?;
    let intent = attempt.intent.as_ref().ok_or(Refusal::Unknown(id))?;
    if intent.body.result_token_sha256 != token {
        return Err(Refusal::WrongToken(id));
    }
    if attempt.outcome.is_some() || attempt.wrapper_result.is_some() || act == ActState::Free {
        return Err(Refusal::Ended(id));
    }
    if attempt.executor_result.is_some() {
        return Err(Refusal::HasResult(id));
    }
    let body =
        ActResult { ended: None, from: From::Executor, ok, receipt, stderr: None, stdout: None };
    Ok(draft(Event::Result(body), attempt, door))
}

fn draft(event: Event, attempt: &Attempt, door: &By) -> Draft {
    let refs = vec![(Subject::discharge(attempt.id), attempt.last)];
    Draft::new(event, door.clone(), refs)
}
