//! Approving a request: what is held against its grant before a person is asked, with the real fee, and
//! once more when they have said yes.

use super::chain::Prepared;
use super::claim::SigningPermit;
use super::document::Standing;
use super::event::{Denied, Filed, Signing};
use super::{AgentState, Deny, GrantState, Request, RequestId, Sats, Verdict, ladder};
use crate::decision::discharge::{clock_behind, instant};
use crate::ledger::{By, Draft, Event, Head, Subject};
use crate::time::Stamp;

/// How long after its authorization a request counts as cut off where its process cannot be seen. It is
/// signed and sent by then: each question to a provider ends after 30 s.
const DEADLINE: std::time::Duration = std::time::Duration::from_secs(600);

/// The world as an approval sees it.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The clock.
    pub now: Stamp,
    /// The ledger's last row.
    pub head: Option<Head>,
    /// Who approves.
    pub by: By,
    /// The request.
    pub request: Request,
    /// What its agent has.
    pub agent: AgentState,
    /// The grant that it was filed under.
    pub grant: Option<GrantState>,
    /// What the document says of that grant.
    pub document: Standing,
}

/// Why an approval goes no further, and the request stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is past that.
    #[error("request {id} is {status}: {what}")]
    NotApprovable {
        /// The request.
        id: RequestId,
        /// Where it stands.
        status: &'static str,
        /// What can be done.
        what: String,
    },
    /// The clock is behind the ledger.
    #[error("{0}")]
    ClockBehind(String),
    /// The grant's document is not there, or not as it was issued.
    #[error("the grant of request {0} cannot be used: {1}")]
    Paused(RequestId, String),
    /// What was prepared is not what was asked for.
    #[error("refusing to sign: {0}")]
    Mismatch(String),
}

/// What the rules say.
#[derive(Debug)]
pub enum Decision<T> {
    /// It goes on.
    Go(T),
    /// It lies outside the grant: the row that says so, which ends the request.
    Deny(Deny, Box<Draft>),
}

/// Whether the request waits for an approval.
pub fn approvable(request: &Request) -> Result<(), Refusal> {
    if request.state.is_approvable() {
        return Ok(());
    }
    let (id, status) = (request.id, request.state.status());
    Err(Refusal::NotApprovable { id, status, what: super::reply::advice(request) })
}

/// Holds the request against its grant, with this fee.
pub fn stage(facts: &Facts, fee: Sats) -> Result<Decision<&GrantState>, Refusal> {
    let request = &facts.request;
    approvable(request)?;
    if let Some(behind) = clock_behind(facts.now, facts.head) {
        return Err(Refusal::ClockBehind(behind));
    }
    let has = facts.agent.grant.as_ref() == Some(&request.filed.grant_id);
    let Some(state) = facts.grant.as_ref().filter(|state| has && !state.is_over()) else {
        return Ok(deny(facts, Deny::Revoked));
    };
    let (recipient, amount) = (&request.filed.recipient, request.filed.amount_sat);
    let verdict = ladder(state, recipient, amount, fee, instant(facts.now, facts.head));
    match (&facts.document, verdict) {
        // Its time is over, whether its document was taken away for that or not.
        (_, Verdict::Deny(over @ Deny::Expired { .. })) => Ok(deny(facts, over)),
        (Standing::Missing, _) => {
            Err(Refusal::Paused(request.id, "its document is missing".into()))
        }
        (Standing::Unreadable(why), _) => Err(Refusal::Paused(request.id, why.clone())),
        (Standing::Agrees, Verdict::Deny(outside)) => Ok(deny(facts, outside)),
        (Standing::Agrees, Verdict::Ask) => Ok(Decision::Go(state)),
    }
}

/// Why a request that waits lies outside its grant by now, before its fee is known. A person who comes to
/// approve it will find the same, and only then is it recorded.
pub fn outside(request: &Request, grant: Option<&GrantState>, at: Stamp) -> Option<Deny> {
    let Some(state) = grant.filter(|state| !state.is_over()) else { return Some(Deny::Revoked) };
    let Filed { recipient, amount_sat, .. } = &request.filed;
    match ladder(state, recipient, *amount_sat, Sats::ZERO, at) {
        Verdict::Deny(deny) => Some(deny),
        Verdict::Ask => None,
    }
}

/// Holds what was prepared against what was asked for. Nothing is recorded of a difference.
pub fn matches(request: &Request, prepared: &Prepared) -> Result<(), Refusal> {
    let filed = &request.filed;
    match (&prepared.recipient, prepared.amount) == (&filed.recipient, filed.amount_sat) {
        true => Ok(()),
        false => Err(Refusal::Mismatch(format!(
            "the transaction pays {} sat to {}, and the request asks for {} sat to {}",
            prepared.amount, prepared.recipient, filed.amount_sat, filed.recipient
        ))),
    }
}

/// Decides on the row by which the request is authorized, its budget drawn on and its state moved, all at
/// once.
pub fn commit(
    facts: &Facts,
    prepared: &Prepared,
    act: Box<str>,
) -> Result<Decision<SigningPermit>, Refusal> {
    let state = match stage(facts, prepared.fee)? {
        Decision::Go(state) => state,
        Decision::Deny(why, draft) => return Ok(Decision::Deny(why, draft)),
    };
    matches(&facts.request, prepared)?;
    let filed = &facts.request.filed;
    let signing = Signing {
        act,
        amount_sat: prepared.amount,
        deadline: facts.now.plus(DEADLINE),
        fee_sat: prepared.fee,
        intent_digest: filed.intent_digest,
        txid: prepared.txid.clone(),
    };
    let refs = vec![
        (Subject::spend(facts.request.id), facts.request.last),
        (Subject::spend_grant(&filed.grant_id), state.last),
    ];
    let draft = Draft::new(Event::SpendSigning(signing), facts.by.clone(), refs);
    let draft = Draft { until: Some(state.grant.expires_at), ..draft };
    Ok(Decision::Go(SigningPermit::new(facts.request.clone(), prepared.clone(), draft)))
}

fn deny<T>(facts: &Facts, deny: Deny) -> Decision<T> {
    let refs = vec![(Subject::spend(facts.request.id), facts.request.last)];
    let event = Event::SpendDenied(Denied { deny: deny.clone() });
    let draft = Draft::new(event, facts.by.clone(), refs);
    // What it was denied for is still so.
    let still =
        facts.grant.iter().map(|state| (Subject::spend_grant(&state.grant.grant_id), state.last));
    Decision::Deny(deny, Box::new(Draft { still: still.collect(), ..draft }))
}
