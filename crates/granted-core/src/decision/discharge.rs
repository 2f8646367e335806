//! The decision whether an attempt may claim a grant.

use std::time::Duration;

use super::document::Standing;
use super::event::{About, ExecutorUsed, Intent, Outcome};
use super::fold::ClaimState;
use super::settle::{self, Pending};
use super::status::{Candidate, Status, current};
use super::{Class, Grant, Identity, Object, Permit, Reason};
use crate::digest::Digest;
use crate::id::Id;
use crate::ledger::{By, Draft, Event, Head, Subject};
use crate::text::{Name, ObjectId, ObjectType, Shown, TextError, cut};
use crate::time::Stamp;
use crate::trust::Trust;

/// How far the clock may be behind the ledger.
pub const CLOCK_SLACK: Duration = Duration::from_secs(5);

/// How long an act may take where nothing else is said.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// What is asked.
#[derive(Clone, Debug)]
pub struct Request {
    /// The object to discharge.
    pub object: Object,
    /// What for.
    pub action: Option<Name>,
    /// Through which executor.
    pub executor: Name,
    /// The agent that asks, as the host named it.
    pub agent: Option<Name>,
    /// The attempt's key: the same key names the same attempt.
    pub key: Option<Name>,
    /// How long the act may take.
    pub timeout: Duration,
}

impl Request {
    /// An attempt on an object through an executor of this name, which may take ten minutes.
    pub fn new(r#type: &str, id: &str, executor: &str) -> Result<Request, TextError> {
        let object = Object { id: ObjectId::new(id)?, r#type: ObjectType::new(r#type)? };
        Ok(Request {
            object,
            action: None,
            executor: Name::new(executor)?,
            agent: None,
            key: None,
            timeout: DEFAULT_TIMEOUT,
        })
    }

    /// For this action.
    pub fn action(self, action: &str) -> Result<Request, TextError> {
        Ok(Request { action: Some(Name::new(action)?), ..self })
    }

    /// By this agent.
    pub fn agent(self, agent: &str) -> Result<Request, TextError> {
        Ok(Request { agent: Some(Name::new(agent)?), ..self })
    }

    /// Under this key.
    pub fn key(self, key: &str) -> Result<Request, TextError> {
        Ok(Request { key: Some(Name::new(key)?), ..self })
    }
}

/// What is known of the executor.
#[derive(Clone, Debug)]
pub enum Executor {
    /// It can be run.
    Ready {
        /// The digest of what would run; `None` for a closure.
        digest: Option<Digest>,
        /// The object types that it serves. Empty: any.
        types: Vec<ObjectType>,
        /// The actions that it serves. Empty: any.
        actions: Vec<Name>,
    },
    /// There is none of this name, or its program cannot be run. Says which.
    Missing(String),
}

impl Executor {
    /// The digest of what would run.
    fn digest(&self) -> Option<Digest> {
        match self {
            Executor::Ready { digest, .. } => *digest,
            Executor::Missing(_) => None,
        }
    }
}

/// The world as the decision sees it.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The clock.
    pub now: Stamp,
    /// The ledger's last row.
    pub head: Option<Head>,
    /// The grants of the object.
    pub candidates: Vec<Candidate>,
    /// Their claims that have no outcome.
    pub pending: Vec<Pending>,
    /// What the book trusts.
    pub trust: Trust,
    /// The files that grants of the object are bound to and that have changed, by grant.
    pub drift: Vec<(Id, String)>,
    /// The executor.
    pub executor: Executor,
    /// What would run of the executor, from a sealed copy of its bytes, or why it has none; `None` if no
    /// grant that may be used asks for it.
    pub sealed: Option<Result<Box<Identity>, String>>,
    /// A new id for the attempt.
    pub discharge: Id,
    /// The name of this process's act file.
    pub act: Box<str>,
    /// The digest of a new token for the executor.
    pub token_sha256: Digest,
    /// Who asks.
    pub by: By,
}

impl Facts {
    /// The time that a claim made now would have.
    fn instant(&self) -> Stamp {
        instant(self.now, self.head)
    }
}

/// The time of a row that is written now: windows are judged by it, since the row's time is never
/// before that of the row before. Of a clock that is too far behind, its own.
pub fn instant(now: Stamp, head: Option<Head>) -> Stamp {
    match head.filter(|_| clock_behind(now, head).is_none()) {
        Some(head) => now.max(head.at),
        None => now,
    }
}

/// What is to be done about an attempt.
#[derive(Debug)]
pub enum Decision {
    /// Earlier acts on the object were cut off: append these rows and decide again.
    Settle(Vec<Draft>),
    /// An attempt with the same key runs: wait for it to end and answer with its outcome.
    Wait(Id),
    /// An attempt with the same key has ended: answer with its outcome. No row.
    Replay(Id),
    /// It may not: append the outcome row and answer with it.
    Deny(Box<Denial>),
    /// It may, if the claim can be made.
    Permit(Box<Permit>),
}

/// A refusal before any claim.
#[derive(Clone, Debug)]
pub struct Denial {
    /// Every check that failed, the one that decides first.
    pub reasons: Vec<(Reason, String)>,
    /// The grant that it would have used.
    pub grant: Option<Id>,
    /// The outcome row. It moves only its own attempt, so that it never conflicts.
    pub draft: Draft,
}

/// Decides what is to be done about an attempt.
pub fn decide(request: &Request, facts: &Facts) -> Decision {
    let states = facts.candidates.iter().map(|candidate| &candidate.state);
    let settle = settle::interrupted(facts.now, &facts.by, states, &facts.pending);
    if !settle.is_empty() {
        return Decision::Settle(settle);
    }
    let (chosen, unsigned) = choose(request, facts);
    let chosen_id = chosen.map(|candidate| candidate.state.grant.id);
    if let Some(earlier) = earlier(request, facts, chosen_id) {
        let intent = &earlier.intent.body;
        if intent.action != request.action || intent.executor.name != request.executor {
            let detail = "the key was used with another action or executor".to_owned();
            return deny(request, facts, chosen_id, vec![(Reason::InvalidRequest, detail)]);
        }
        return match &earlier.outcome {
            None => Decision::Wait(earlier.discharge),
            Some(_) => Decision::Replay(earlier.discharge),
        };
    }
    let mut reasons = Vec::new();
    clock(facts, &mut reasons);
    match chosen {
        None => reasons.push((Reason::None, "there is no grant for it".into())),
        Some(candidate) => {
            standing(candidate, facts, &mut reasons);
            reasons.extend(misfits(request, &candidate.state.grant, &facts.executor));
            reasons.extend(unsigned);
            let drift = facts.drift.iter().filter(|(grant, _)| Some(*grant) == chosen_id);
            reasons.extend(drift.map(|(_, what)| (Reason::BindingChanged, what.clone())));
        }
    }
    if let Executor::Missing(why) = &facts.executor {
        reasons.push((Reason::UnknownExecutor, why.clone()));
    }
    if let Some(bound) = chosen.and_then(|c| c.state.grant.executor_bound.as_ref()) {
        sealed(bound, facts, &mut reasons);
    }
    match chosen {
        Some(candidate) if reasons.is_empty() => {
            Decision::Permit(Box::new(permit(request, facts, candidate)))
        }
        _ => deny(request, facts, chosen_id, reasons),
    }
}

/// A reason, and more about it.
type Because = (Reason, String);

/// The grant that the attempt would use: of the live ones that fit it and are signed as they have to be
/// the one with the soonest deadline, else the object's current one; and why the book does not take that one
/// as signed.
fn choose<'a>(request: &Request, facts: &'a Facts) -> (Option<&'a Candidate>, Option<Because>) {
    let fits = |c: &&Candidate| {
        c.status(facts.instant()) == Status::Live
            && misfits(request, &c.state.grant, &facts.executor).is_empty()
    };
    let mut fitting: Vec<&Candidate> = facts.candidates.iter().filter(fits).collect();
    fitting.sort_by_key(|c| (c.state.grant.not_after, c.state.minted));
    let unsigned = |c: &Candidate| {
        let signed = facts.trust.signers(&c.state.grant);
        signed.err().map(|(reason, why)| (reason, why.to_string()))
    };
    if let Some(chosen) = fitting.into_iter().find(|c| unsigned(c).is_none()) {
        return (Some(chosen), None);
    }
    let current = current(&facts.candidates, facts.instant());
    (current, current.and_then(unsigned))
}

/// The earlier claim that a key names.
///
/// Declines are not stored. One that runs, or ended `discharged` or `uncertain`, binds for the
/// object; one that failed only within its own grant, so that the person can mint again.
fn earlier<'a>(request: &Request, facts: &'a Facts, chosen: Option<Id>) -> Option<&'a ClaimState> {
    let key = request.key.as_ref()?;
    let mut failed = None;
    for candidate in &facts.candidates {
        for claim in
            candidate.state.claims.iter().filter(|c| c.intent.body.key.as_ref() == Some(key))
        {
            match claim.outcome.as_ref().map(|outcome| &outcome.body) {
                Some(outcome) if outcome.reason == Reason::ExecutorDeclined => {}
                Some(outcome) if outcome.outcome == Class::Refused => {
                    if Some(candidate.state.grant.id) == chosen {
                        failed = Some(claim);
                    }
                }
                _ => return Some(claim),
            }
        }
    }
    failed
}

/// Adds `clock_behind` when the clock is more than [`CLOCK_SLACK`] behind the ledger.
fn clock(facts: &Facts, reasons: &mut Vec<(Reason, String)>) {
    if let Some(behind) = clock_behind(facts.now, facts.head) {
        reasons.push((Reason::ClockBehind, behind));
    }
}

/// Says how the clock is behind the ledger, if it is by more than [`CLOCK_SLACK`].
pub fn clock_behind(now: Stamp, head: Option<Head>) -> Option<String> {
    let head = head.filter(|head| now.plus(CLOCK_SLACK) < head.at)?;
    Some(format!("the clock says {now:.0}, but the ledger has reached {:.0}", head.at))
}

/// Adds why the grant is not live, or not free.
fn standing(candidate: &Candidate, facts: &Facts, reasons: &mut Vec<(Reason, String)>) {
    let state = &candidate.state;
    let running = state.running();
    let status = candidate.status(facts.instant());
    if let Some(claim) = running.filter(|_| matches!(status, Status::Consumed | Status::Live)) {
        let since = claim.intent.at;
        reasons.push((
            Reason::ClaimLost,
            format!("attempt {} holds the grant since {since:.0}", claim.discharge),
        ));
        return;
    }
    let grant = &state.grant;
    let detail = match status {
        Status::Live => return,
        Status::Consumed => match state.spending() {
            Some(claim) => spent_by(claim),
            None if state.closed.is_some() => {
                "it was closed when a damaged ledger was accepted".into()
            }
            None => "its document says that it is spent".into(),
        },
        Status::Revoked => state
            .revoked
            .as_ref()
            .map_or(String::new(), |revoked| format!("taken back at {:.0}", revoked.at)),
        Status::None => "its document is gone".into(),
        Status::Unreadable => match &candidate.standing {
            Standing::Unreadable(why) => format!("its document: {why}"),
            _ => String::new(),
        },
        Status::Expired => format!("its window closed at {:.0}", grant.not_after),
        Status::NotYet => {
            format!("its window opens at {:.0}", grant.not_before.unwrap_or(grant.minted_at))
        }
    };
    reasons.extend(status.reason().map(|reason| (reason, detail)));
}

fn spent_by(claim: &ClaimState) -> String {
    match &claim.outcome {
        Some(outcome) => format!(
            "spent by attempt {}, {}: {}",
            claim.discharge, outcome.body.outcome, outcome.body.reason
        ),
        None => format!("held by attempt {}", claim.discharge),
    }
}

/// Adds why what would run is not what the grant is bound to.
fn sealed(bound: &Identity, facts: &Facts, reasons: &mut Vec<(Reason, String)>) {
    match &facts.sealed {
        Some(Ok(now)) => {
            reasons.extend(bound.changed(now).map(|what| (Reason::BindingChanged, what)));
        }
        Some(Err(why)) => reasons.push((Reason::UnknownExecutor, why.clone())),
        // It is not sealed where there is something else against it.
        None if !reasons.is_empty() => {}
        None => reasons.push((Reason::UnknownExecutor, "it was not sealed".into())),
    }
}

/// Why a grant and an executor do not allow what is asked, whatever the grant's state.
fn misfits(request: &Request, grant: &Grant, executor: &Executor) -> Vec<(Reason, String)> {
    let mut reasons = Vec::new();
    if let Some(named) = grant.agent.as_ref().filter(|named| request.agent.as_ref() != Some(named))
    {
        let who = match &request.agent {
            None => "the attempt names no agent".into(),
            Some(agent) => format!("`{agent}` is not named"),
        };
        reasons.push((Reason::AgentNotNamed, format!("{who}; the grant names agent `{named}`")));
    }
    if !grant.covers(request.action.as_ref()) {
        reasons.push((Reason::ActionNotAllowed, uncovered(request.action.as_ref(), grant)));
    }
    if let Some(pinned) = grant.executor.as_ref().filter(|pinned| **pinned != request.executor) {
        let name = &request.executor;
        reasons.push((
            Reason::ActionNotAllowed,
            format!("`{name}` may not; the grant names executor `{pinned}`"),
        ));
    }
    if let Executor::Ready { types, actions, .. } = executor {
        let name = &request.executor;
        if !types.is_empty() && !types.contains(&request.object.r#type) {
            let r#type = &request.object.r#type;
            reasons.push((
                Reason::ActionNotAllowed,
                format!("executor `{name}` does not serve type `{type}`"),
            ));
        }
        if !actions.is_empty() && !request.action.as_ref().is_some_and(|a| actions.contains(a)) {
            reasons.push((
                Reason::ActionNotAllowed,
                format!("executor `{name}` serves only {}", listed(actions)),
            ));
        }
    }
    reasons
}

fn uncovered(action: Option<&Name>, grant: &Grant) -> String {
    match action {
        None => format!(
            "the attempt names no action; the grant allows {}",
            listed(&grant.allowed_actions)
        ),
        Some(action) if grant.allowed_actions.is_empty() => {
            format!("`{action}` stays human unless the grant names it")
        }
        Some(action) => {
            format!(
                "`{action}` is not allowed; the grant allows {}",
                listed(&grant.allowed_actions)
            )
        }
    }
}

fn listed(names: &[Name]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn permit(request: &Request, facts: &Facts, candidate: &Candidate) -> Permit {
    let grant = &candidate.state.grant;
    // What the grant is bound to is what was sealed: it may, so they are the same.
    let bound = grant.executor_bound.as_ref().map(|bound| bound.digest);
    let digest = bound.or(facts.executor.digest());
    let intent = Intent {
        act: facts.act.clone(),
        action: request.action.clone(),
        deadline: facts.now.plus(request.timeout),
        executor: ExecutorUsed { digest, name: request.executor.clone() },
        key: request.key.clone(),
        object: request.object.clone(),
        result_token_sha256: facts.token_sha256,
    };
    let draft = Draft {
        event: Event::Intent(intent),
        by: facts.by.clone(),
        refs: vec![
            (Subject::discharge(facts.discharge), 0),
            (Subject::grant(grant.id), candidate.state.last),
        ],
        until: Some(grant.not_after),
        still: still(request, facts, candidate),
    };
    Permit { state: candidate.state.clone(), discharge: facts.discharge, intent: draft }
}

/// What must not have moved for a claim beside its grant: what the book trusts.
///
/// For one with a key also the object and its other grants: else an attempt with the same key could claim
/// another of them at the same time.
fn still(request: &Request, facts: &Facts, chosen: &Candidate) -> Vec<(Subject, u64)> {
    let mut still = vec![(Subject::trust(), facts.trust.last)];
    if request.key.is_some() {
        still.extend(others(facts, chosen));
    }
    still
}

fn others(facts: &Facts, chosen: &Candidate) -> Vec<(Subject, u64)> {
    let newest = facts.candidates.iter().map(|other| other.state.minted).max();
    let object = Subject::object(&chosen.state.grant.object);
    let others = facts.candidates.iter().map(|other| &other.state);
    let others = others.filter(|other| other.grant.id != chosen.state.grant.id);
    let grants = others.map(|other| (Subject::grant(other.grant.id), other.last));
    // Only mints move an object.
    std::iter::once((object, newest.unwrap_or(0))).chain(grants).collect()
}

fn deny(
    request: &Request,
    facts: &Facts,
    grant: Option<Id>,
    reasons: Vec<(Reason, String)>,
) -> Decision {
    Decision::Deny(Box::new(Denial::new(
        request.object.clone(),
        facts.discharge,
        &facts.by,
        grant,
        reasons,
    )))
}

/// The most characters of a detail.
const MAX_DETAIL: usize = 1_000;

impl Denial {
    /// A refusal for these reasons, of which there must be one.
    pub fn new(
        object: Object,
        discharge: Id,
        by: &By,
        grant: Option<Id>,
        reasons: Vec<(Reason, String)>,
    ) -> Denial {
        let (reason, detail) = match reasons.first() {
            Some((reason, _)) => (*reason, joined(&reasons)),
            None => (Reason::InvalidRequest, "refused without a reason".to_owned()),
        };
        let outcome = Outcome {
            about: About { grant, object },
            detail: detail.into(),
            outcome: reason.class(),
            reason,
        };
        let draft = Draft::new(
            Event::Outcome(outcome),
            by.clone(),
            vec![(Subject::discharge(discharge), 0)],
        );
        Denial { reasons, grant, draft }
    }
}

/// The first reason's detail, then the others with their names.
fn joined(reasons: &[(Reason, String)]) -> String {
    let part = |(index, (reason, detail)): (usize, &(Reason, String))| match index {
        0 => detail.clone(),
        _ => format!("also {reason}: {detail}"),
    };
    let parts: Vec<String> = reasons.iter().enumerate().map(part).collect();
    cut(&Shown(&parts.join("; ")).to_string(), MAX_DETAIL)
}
