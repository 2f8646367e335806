//! The discharge: claim a grant, act once, and have the ledger confirm it.

use std::convert::Infallible;
use std::time::Duration;

use granted_core::decision::conclude::{After, Returned, conclude};
use granted_core::decision::discharge::{
    Decision, Denial, Executor, Facts, Request, decide, instant,
};
use granted_core::decision::document::{DocumentName, Standing, render};
use granted_core::decision::notice::Notice;
use granted_core::decision::status::{Candidate, as_folded};
use granted_core::decision::{
    Acted, Attempt, Claim, Grant, GrantState, Held, Object, Reason, Report,
};
use granted_core::digest::Digest;
use granted_core::id::Id;
use granted_core::ledger::Row;
use granted_core::store::{AppendError, Appended, NotWritten, ReadError};
use granted_core::time::Stamp;
use granted_store::entropy;

use super::actor::{Actor, Handed};
use super::asker::{Asker, Patient, Step};
use super::gather;
use crate::book::Book;
use crate::clock;
use crate::ledger::witness::{self, Doubt};

/// How many conflicts in a row are taken for chance although nothing has moved.
const MAX_VAIN: u32 = 3;

/// Carries out one attempt and answers with its outcome. Every failure is an outcome.
pub fn discharge(book: &Book, request: &Request, actor: &mut dyn Actor) -> Report {
    let Ok(report): Result<Report, Infallible> = attempt(book, request, actor, &Patient);
    report
}

/// As [`discharge`], for somebody who may leave before anything is written of the attempt: then
/// there is no row of it, and no outcome.
pub fn attempt<A: Asker>(
    book: &Book,
    request: &Request,
    actor: &mut dyn Actor,
    asker: &A,
) -> Result<Report, A::Left> {
    let mut attempt = match Fresh::new(book) {
        Ok(attempt) => attempt,
        Err(e) => return Ok(unwritten(book, request, None, Reason::LedgerUnwritable, e)),
    };
    let executor = actor.executor();
    if let Err(doubt) = witness::check(book) {
        asker.before(Step::Refusal)?;
        return Ok(doubted(book, request, attempt.id, &doubt));
    }
    loop {
        let facts = match facts(book, request, actor, &executor, &attempt) {
            Ok(facts) => facts,
            Err(e) => {
                return Ok(unwritten(book, request, None, Reason::LedgerUnwritable, e.to_string()));
            }
        };
        match decide(request, &facts) {
            Decision::Settle(drafts) => match book.append(&drafts) {
                Ok(_) | Err(AppendError::Conflict) => {}
                Err(e) => return Ok(unwritten(book, request, None, reason_of(&e), e.to_string())),
            },
            Decision::Wait(other) => {
                asker.before(Step::Wait)?;
                if !attempt.wait(request.timeout) {
                    asker.before(Step::Refusal)?;
                    let denial = still_running(book, request, &attempt, other);
                    return Ok(refuse(book, request, attempt.id, &denial));
                }
            }
            Decision::Replay(earlier) => return Ok(replay(book, request, earlier)),
            Decision::Deny(denial) => {
                asker.before(Step::Refusal)?;
                catch_up_documents(book, &facts.candidates);
                return Ok(refuse(book, request, attempt.id, &denial));
            }
            Decision::Permit(permit) => {
                let grant = permit.grant().id;
                asker.before(Step::Claim)?;
                match permit.claim(&*book.ledger) {
                    Ok(claim) => return Ok(act(book, request, claim, actor, &attempt, &facts)),
                    Err(AppendError::Conflict) => {}
                    Err(e) => {
                        asker.before(Step::Refusal)?;
                        return Ok(unclaimed(book, request, &attempt, grant, &e));
                    }
                }
            }
        }
    }
}

/// What one attempt brings: made once, whatever is decided how often.
struct Fresh {
    id: Id,
    token: String,
    begun: Duration,
    waits: u32,
}

impl Fresh {
    fn new(book: &Book) -> Result<Fresh, String> {
        Ok(Fresh {
            id: book.new_id().map_err(|e| e.to_string())?,
            token: entropy::hex::<32>().map_err(|e| e.to_string())?,
            begun: clock::since_boot(),
            waits: 0,
        })
    }

    /// Waits a little for another attempt, longer each time; `false` once `limit` is up.
    fn wait(&mut self, limit: Duration) -> bool {
        clock::pause(Duration::from_millis(10 << self.waits.min(5)));
        self.waits = self.waits.saturating_add(1);
        clock::since_boot().saturating_sub(self.begun) < limit
    }
}

fn facts(
    book: &Book,
    request: &Request,
    actor: &mut dyn Actor,
    executor: &Executor,
    attempt: &Fresh,
) -> Result<Facts, ReadError> {
    let (states, _) = gather::grants_of(book, &request.object)?;
    let pending = gather::pending(book, &states)?;
    let trust = gather::trust(book)?;
    let now = book.now();
    let head = book.ledger.head()?;
    // By the time that the claim would have, as its window is judged by.
    let at = instant(now, head);
    let usable = |state: &&GrantState| !state.is_spent() && state.grant.is_open(at);
    let drifted = |state: &GrantState| Some((state.grant.id, gather::drift(&state.grant.binds)?));
    let drift = states.iter().filter(usable).filter_map(drifted).collect();
    let sealed = match executor {
        Executor::Ready { .. } if states.iter().filter(usable).any(|s| binds(s, request)) => {
            Some(actor.seal().map(Box::new))
        }
        _ => None,
    };
    // Only now: beside a ledger that cannot be read nothing is made.
    let act = book.acts.begin().map_err(|e| ReadError::Unreadable(e.to_string()))?;
    Ok(Facts {
        now,
        head,
        candidates: states.into_iter().map(|state| gather::candidate(book, state)).collect(),
        pending,
        trust,
        drift,
        executor: executor.clone(),
        sealed,
        discharge: attempt.id,
        act,
        token_sha256: Digest::of(attempt.token.as_bytes()),
        by: book.by(request.agent.as_ref()),
    })
}

/// Whether the grant is bound to what the executor of this request is.
fn binds(state: &GrantState, request: &Request) -> bool {
    let grant = &state.grant;
    grant.executor_bound.is_some() && grant.executor.as_ref() == Some(&request.executor)
}

/// The act, and what it came to.
fn act(
    book: &Book,
    request: &Request,
    claim: Claim,
    actor: &mut dyn Actor,
    attempt: &Fresh,
    facts: &Facts,
) -> Report {
    let handed = Handed { book, request, token: &attempt.token };
    let (acted, returned) = actor.act(claim, &handed);
    // Mostly nothing moved meanwhile; if something did, the append says so, and one looks again.
    let mut held = acted.claimed().clone();
    let mut vain = 0;
    let written = loop {
        match settle(book, &acted, actor, &returned, &held, facts) {
            Err(AppendError::Conflict) => match folded(book, &acted) {
                Ok(now) if now != held => held = now,
                // A store may see a conflict where there is none, but not for ever.
                Ok(_) if vain < MAX_VAIN => vain += 1,
                Ok(_) => break Err(crate::book::unwritable(contradicted())),
                Err(e) => break Err(crate::book::unwritable(e)),
            },
            written => break written,
        }
    };
    let report = match written {
        Ok((appended, standing)) => {
            confirm(book, request, &acted, held, &standing, appended.as_ref())
        }
        Err(e) => {
            // It may have happened, and no row says so: the next command settles it as
            // interrupted.
            book.give_up(acted.discharge());
            let detail = format!("the act ended, but its result could not be recorded: {e}");
            told(book, request, &acted, Reason::NoResultRow, detail)
        }
    };
    // Only these may be told of an act whose claim the ledger holds no more, or shows no more.
    let doubtful = matches!(report.reason, Reason::NoResultRow | Reason::ReceiptMismatch);
    if doubtful && folded(book, &acted).is_err() {
        mark_spent(book, &acted, facts.now);
    }
    report
}

/// Marks the document of a grant whose claim the ledger has lost: nothing else tells any more that it
/// was used.
fn mark_spent(book: &Book, acted: &Acted, since: Stamp) {
    let grant = acted.grant();
    if gather::document_standing(book, grant) == Standing::Agrees {
        let spent = Grant { consumed: true, consumed_at: Some(since), ..grant.unspent() };
        let name = DocumentName::new(&grant.object, grant.id);
        // Best effort: there is no other place for it.
        let _ = book.documents.refresh(&name, render(&spent).as_bytes());
    }
}

/// Appends what came back, or nothing where there is nothing to add; and what the document said.
fn settle(
    book: &Book,
    acted: &Acted,
    actor: &dyn Actor,
    returned: &Returned,
    held: &Held,
    facts: &Facts,
) -> Result<(Option<Appended>, Standing), AppendError> {
    let standing = gather::document_standing(book, acted.grant());
    let grant = acted.grant();
    let drift = gather::drift(&grant.binds).or_else(|| {
        let bound = grant.executor_bound.as_ref()?;
        match actor.identity() {
            Ok(now) => bound.changed(&now),
            Err(e) => Some(format!("the executor that the grant is bound to: {e}")),
        }
    });
    let after = After { held, standing: &standing, drift: drift.as_deref(), by: &facts.by };
    let appended = match conclude(acted, returned, &after) {
        drafts if drafts.is_empty() => None,
        drafts => Some(book.append(&drafts)?),
    };
    Ok((appended, standing))
}

/// The fold of the attempt and its grant, which must have the rows of the claim.
fn folded(book: &Book, acted: &Acted) -> Result<Held, ReadError> {
    let gone = || ReadError::Unreadable("the rows of the claim are gone".into());
    let attempt = gather::attempt(book, acted.discharge())?.ok_or_else(gone)?;
    let grant = gather::grant(book, acted.grant().id)?.ok_or_else(gone)?;
    Held::new(grant, attempt).ok_or_else(gone)
}

fn contradicted() -> ReadError {
    ReadError::Unreadable("the ledger was changed under the act".into())
}

/// Reads back what was appended, brings the document up to it, and answers.
fn confirm(
    book: &Book,
    request: &Request,
    acted: &Acted,
    mut held: Held,
    standing: &Standing,
    appended: Option<&Appended>,
) -> Report {
    let mismatch = |detail: String| told(book, request, acted, Reason::ReceiptMismatch, detail);
    let written: Vec<&Appended> = std::iter::once(acted.intent()).chain(appended).collect();
    match book.ledger.holds(&written) {
        Ok(true) => {}
        Ok(false) => return mismatch("the rows do not read back as they were written".into()),
        Err(e) => return mismatch(format!("the rows cannot be read back: {e}")),
    }
    for line in appended.iter().flat_map(|appended| &appended.lines) {
        match Row::parse(&line.bytes) {
            Ok(row) => held.apply(&row),
            Err(e) => return mismatch(format!("line {} does not read: {e}", line.seq)),
        }
    }
    // One that was edited during the act stays as the person left it.
    if *standing == Standing::Agrees {
        refresh(book, &held.grant, Some(&held.attempt));
    }
    match Report::of(&held.attempt, false) {
        Some(report) => report,
        None => mismatch("the outcome row is gone".into()),
    }
}

/// Writes a spent grant's document so that it says so; best effort, the fold does not need it.
fn refresh(book: &Book, grant: &GrantState, spending: Option<&Attempt>) {
    if grant.is_spent() && grant.running().is_none() {
        let name = DocumentName::new(&grant.grant.object, grant.grant.id);
        let text = render(&as_folded(grant, spending));
        // A document that keeps its old text is narrower by the fold all the same.
        let _ = book.documents.refresh(&name, text.as_bytes());
    }
}

/// Brings documents up to grants that were spent by a process that died before it could.
pub(crate) fn catch_up_documents(book: &Book, candidates: &[Candidate]) {
    for candidate in candidates {
        let state = &candidate.state;
        if state.is_spent() && candidate.standing == Standing::Agrees {
            let spending = state.spending().map(|claim| gather::attempt(book, claim.discharge));
            refresh(book, state, spending.and_then(Result::ok).flatten().as_ref());
        }
    }
}

fn replay(book: &Book, request: &Request, earlier: Id) -> Report {
    match gather::attempt(book, earlier) {
        Ok(attempt) => {
            attempt.and_then(|attempt| Report::of(&attempt, true)).unwrap_or_else(|| {
                unwritten(
                    book,
                    request,
                    None,
                    Reason::LedgerUnwritable,
                    "the outcome is gone".into(),
                )
            })
        }
        Err(e) => unwritten(book, request, None, Reason::LedgerUnwritable, e.to_string()),
    }
}

/// The refusal of an attempt that waited for another one with its key for as long as it may take
/// itself: that one hangs, or waits for this one.
fn still_running(book: &Book, request: &Request, attempt: &Fresh, other: Id) -> Denial {
    let why = format!("attempt {other} with the same key still runs");
    let by = book.by(request.agent.as_ref());
    let reasons = vec![(Reason::ClaimLost, why)];
    Denial::new(request.object.clone(), attempt.id, &by, None, reasons)
}

/// Records a refusal and answers with it.
fn refuse(book: &Book, request: &Request, id: Id, denial: &Denial) -> Report {
    let written = book.append(std::slice::from_ref(&denial.draft));
    let report = written.map_err(|e| (reason_of(&e), e.to_string())).and_then(|_| {
        let unread = |why: String| (Reason::LedgerUnwritable, why);
        let attempt = gather::attempt(book, id).map_err(|e| unread(e.to_string()))?;
        let report = attempt.and_then(|attempt| Report::of(&attempt, false));
        report.ok_or_else(|| unread("its row is gone".into()))
    });
    report.unwrap_or_else(|(reason, why)| {
        // An attempt that leaves no row is news of its own, whatever it was refused for.
        let refused = denial.reasons.first().map(|(reason, detail)| format!("{reason}: {detail}"));
        let detail = format!("{why}; it is also {}", refused.unwrap_or_default());
        unwritten(book, request, denial.grant, reason, detail)
    })
}

/// The refusal of an attempt that a witness keeps from using authority.
fn doubted(book: &Book, request: &Request, id: Id, doubt: &Doubt) -> Report {
    let reason = match doubt {
        Doubt::RolledBack(_) | Doubt::Foreign { .. } => Reason::LedgerRolledBack,
        Doubt::Required(_) | Doubt::Config(_) | Doubt::Unreadable(_) => Reason::LedgerUnwritable,
    };
    if !matches!(book.ledger.head(), Ok(Some(_))) {
        // A row would begin a new book in the place of the one that is gone.
        return unwritten(book, request, None, reason, doubt.to_string());
    }
    let by = book.by(request.agent.as_ref());
    let reasons = vec![(reason, doubt.to_string())];
    refuse(book, request, id, &Denial::new(request.object.clone(), id, &by, None, reasons))
}

/// The claim was not made: nothing runs.
fn unclaimed(
    book: &Book,
    request: &Request,
    attempt: &Fresh,
    grant: Id,
    error: &AppendError,
) -> Report {
    let reason = reason_of(error);
    if let AppendError::Unknown(_) = error {
        // If the row is there after all, the grant is spent and the attempt was interrupted.
        book.give_up(attempt.id);
    }
    if let AppendError::NotWritten(NotWritten::RolledBack(_) | NotWritten::Custody(_)) = error {
        // Rows that use no authority are still written.
        let by = book.by(request.agent.as_ref());
        let reasons = vec![(reason, error.to_string())];
        let denial = Denial::new(request.object.clone(), attempt.id, &by, Some(grant), reasons);
        return refuse(book, request, attempt.id, &denial);
    }
    unwritten(book, request, Some(grant), reason, error.to_string())
}

fn reason_of(error: &AppendError) -> Reason {
    match error {
        AppendError::NotWritten(NotWritten::RolledBack(_)) => Reason::LedgerRolledBack,
        _ => Reason::LedgerUnwritable,
    }
}

/// The answer to an attempt of which no row could be written.
fn unwritten(
    book: &Book,
    request: &Request,
    grant: Option<Id>,
    reason: Reason,
    detail: String,
) -> Report {
    report(book, request.object.clone(), grant, None, reason, detail)
}

/// The answer to an act that the ledger could not be made to confirm.
fn told(book: &Book, request: &Request, acted: &Acted, reason: Reason, detail: String) -> Report {
    let (grant, discharge) = (acted.grant().id, acted.discharge());
    report(book, request.object.clone(), Some(grant), Some(discharge), reason, detail)
}

/// An answer that no row holds.
fn report(
    book: &Book,
    object: Object,
    grant_id: Option<Id>,
    discharge_id: Option<Id>,
    reason: Reason,
    detail: String,
) -> Report {
    let report = Report {
        outcome: reason.class(),
        reason,
        object,
        grant_id,
        discharge_id,
        detail,
        receipt: None,
        replayed: false,
    };
    book.news.note(Notice::of_report(&report));
    report
}
