//! What an act that came back means, and the rows that say so.

use super::document::Standing;
use super::event::{About, ActResult, Ended, From, Outcome, Tail};
use super::fold::Held;
use super::{Acted, Reason};
use crate::json::Json;
use crate::ledger::{By, Draft, Event, Subject};
use crate::text::{Shown, cut};

/// The exit status by which a program declines: `EX_TEMPFAIL`.
pub const DECLINED: u8 = 75;

/// How an act came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Returned {
    /// A program ended.
    Program {
        /// How.
        ended: Ended,
        /// What it wrote.
        stdout: Tail,
        /// What it wrote.
        stderr: Tail,
        /// What else is worth saying, such as processes that it left behind.
        remark: String,
        /// What the check after a claimed success said; `None` if there is none.
        check: Option<Check>,
    },
    /// A closure returned.
    Closure {
        /// What it says.
        verdict: Verdict,
        /// The result that it wrote through the act it was handed: ok, and its receipt.
        result: Option<(bool, Option<Json>)>,
    },
}

/// What the `confirm` command said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// It confirms.
    Confirmed,
    /// It does not, or could not be asked.
    NotConfirmed,
}

/// What a closure says of its act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Done. It counts only with a result row.
    Done,
    /// Nothing was done; the grant stays live.
    Declined,
    /// It failed part-way; its effects are unknown.
    Failed(String),
    /// It cannot say whether it happened.
    Uncertain(String),
}

/// The world after the act.
#[derive(Clone, Debug)]
pub struct After<'a> {
    /// The folds of the grant and the attempt.
    pub held: &'a Held,
    /// What the document says now.
    pub standing: &'a Standing,
    /// What the grant is bound to and has changed since the claim.
    pub drift: Option<&'a str>,
    /// Who writes.
    pub by: &'a By,
}

/// The rows that conclude an act: its result and its outcome, in one append. If the outcome is
/// there already, settled by somebody else, the result alone, as evidence that changes nothing.
pub fn conclude(acted: &Acted, returned: &Returned, after: &After<'_>) -> Vec<Draft> {
    let attempt = &after.held.attempt;
    let discharge = (Subject::discharge(acted.discharge()), attempt.last);
    let draft = |event, refs| Draft::new(event, after.by.clone(), refs);
    let result = result_row(returned);
    if attempt.outcome.is_some() {
        let late = result.filter(|_| attempt.late.is_none());
        return late.map(|r| draft(Event::LateResult(r), vec![discharge])).into_iter().collect();
    }
    let own = attempt.executor_result.as_ref().map(|result| result.body.ok);
    let (reason, detail) = judge(returned, own, after);
    let outcome = Outcome {
        about: About { grant: Some(acted.grant().id), object: acted.grant().object.clone() },
        detail: detail.into(),
        outcome: reason.class(),
        reason,
    };
    let grant = (Subject::grant(acted.grant().id), after.held.grant.last);
    result
        .map(|result| draft(Event::Result(result), vec![discharge.clone()]))
        .into_iter()
        .chain([draft(Event::Outcome(outcome), vec![discharge, grant])])
        .collect()
}

/// The result row of what came back; a closure has one only if it wrote it.
fn result_row(returned: &Returned) -> Option<ActResult> {
    match returned {
        Returned::Program { ended, stdout, stderr, .. } => Some(ActResult {
            ended: Some(*ended),
            from: From::Wrapper,
            ok: *ended == Ended::Exit(0),
            receipt: None,
            stderr: Some(stderr.clone()),
            stdout: Some(stdout.clone()),
        }),
        Returned::Closure { result, .. } => result.clone().map(|(ok, receipt)| ActResult {
            ended: None,
            from: From::Executor,
            ok,
            receipt,
            stderr: None,
            stdout: None,
        }),
    }
}

/// What was claimed by the way in which the act came back.
enum Said {
    Success,
    Declined(&'static str),
    Failed(String),
    Uncertain(String),
    Timeout,
    Stopped,
}

/// The reason for which an act ends, from what it said, the result row that the executor wrote
/// (ok or not), and the world after it.
fn judge(returned: &Returned, own: Option<bool>, after: &After<'_>) -> (Reason, String) {
    let (said, own, remark, check, is_program) = match returned {
        Returned::Program { ended, remark, check, .. } => {
            (program_said(*ended), own, remark.as_str(), *check, true)
        }
        Returned::Closure { verdict, result } => {
            (closure_said(verdict), result.as_ref().map(|(ok, _)| *ok), "", None, false)
        }
    };
    let (reason, detail) = match (said, own) {
        // The remark of a program that was stopped says how.
        (Said::Timeout, _) if !remark.is_empty() => (Reason::Timeout, String::new()),
        (Said::Stopped, _) if !remark.is_empty() => (Reason::Interrupted, String::new()),
        (Said::Timeout, _) => (Reason::Timeout, "stopped at its deadline".to_owned()),
        (Said::Stopped, _) => (Reason::Interrupted, "granted was told to stop".to_owned()),
        (Said::Uncertain(why), _) => (Reason::ExecutorUncertain, why),
        (Said::Declined(why), None) => {
            (Reason::ExecutorDeclined, format!("{why}; the grant stays live"))
        }
        (Said::Declined(_), Some(_)) => {
            (Reason::ExecutorUncertain, "it declined but wrote a result row".to_owned())
        }
        (Said::Failed(why), Some(true)) => {
            (Reason::ExecutorUncertain, format!("its result row says ok, but {why}"))
        }
        (Said::Failed(why), _) => (Reason::ExecutorFailed, why),
        (Said::Success, Some(false)) => {
            (Reason::ResultFailed, "its result row says that it failed".to_owned())
        }
        (Said::Success, None) if !is_program => {
            (Reason::NoResultRow, "it returned without writing a result row".to_owned())
        }
        (Said::Success, _) => match (check, after.standing, after.drift) {
            (Some(Check::NotConfirmed), _, _) => (
                Reason::NotConfirmed,
                "the executor's `confirm` command did not confirm it".to_owned(),
            ),
            (_, Standing::Agrees, None) => (Reason::Confirmed, String::new()),
            (_, Standing::Agrees, Some(drift)) => (Reason::ReceiptMismatch, drift.to_owned()),
            (_, standing, _) => (Reason::ReceiptMismatch, changed(standing)),
        },
    };
    let parts = [detail.as_str(), remark].into_iter().filter(|part| !part.is_empty());
    let whole = parts.collect::<Vec<_>>().join("; ");
    (reason, cut(&Shown(&whole).to_string(), 1_000))
}

fn program_said(ended: Ended) -> Said {
    match ended {
        Ended::Exit(0) => Said::Success,
        Ended::Exit(DECLINED) => Said::Declined("nothing was done"),
        Ended::Exit(status) => {
            let why = match status {
                126 => ", as a shell does that may not run the command",
                127 => ", as a shell does that finds no such command",
                _ => "",
            };
            Said::Failed(format!("it exited with {status}{why}"))
        }
        Ended::Signal(signal) => Said::Failed(format!("it was ended by signal {signal}")),
        // The system refused to start it: nothing ran, and nobody needs to say so.
        Ended::NotStarted => Said::Declined("it could not be started, so nothing was done"),
        Ended::TimedOut => Said::Timeout,
        Ended::Stopped => Said::Stopped,
    }
}

fn closure_said(verdict: &Verdict) -> Said {
    match verdict {
        Verdict::Done => Said::Success,
        Verdict::Declined => Said::Declined("nothing was done"),
        Verdict::Failed(why) => Said::Failed(why.clone()),
        Verdict::Uncertain(why) => Said::Uncertain(why.clone()),
    }
}

fn changed(standing: &Standing) -> String {
    match standing {
        Standing::Agrees => String::new(),
        Standing::Spent => "during the act the grant's document was marked as spent".into(),
        Standing::Missing => "during the act the grant's document went away".into(),
        Standing::Unreadable(why) => format!("after the act the grant's document: {why}"),
    }
}
