//! Filing a request, in the fixed order of its checks.

use super::agent::Address;
use super::document::Standing;
use super::event::Filed;
use super::{
    AgentName, GrantState, IdempotencyKey, IntentDigest, Network, Request, RequestId, Sats, Token,
    Verdict, ladder,
};
use crate::decision::discharge::{clock_behind, instant};
use crate::ledger::{By, Draft, Event, Head, Subject};
use crate::time::Stamp;

/// What an agent asks for: well formed, its address in the one spelling.
#[derive(Clone, Debug)]
pub struct Filing {
    /// The network of the wallet.
    pub network: Network,
    /// Who asks.
    pub agent: AgentName,
    /// Its handle.
    pub key: IdempotencyKey,
    /// Whom to pay.
    pub recipient: Address,
    /// How much.
    pub amount: Sats,
}

/// The world as a filing sees it.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// The clock.
    pub now: Stamp,
    /// The ledger's last row.
    pub head: Option<Head>,
    /// Who writes.
    pub by: By,
    /// The grant that the agent has.
    pub grant: Option<&'a GrantState>,
    /// What its document says.
    pub document: Standing,
    /// What the agent's server was given.
    pub token: &'a Token,
    /// The request that has the id, if there is one.
    pub existing: Option<&'a Request>,
}

/// What is to be done.
#[derive(Clone, Debug)]
pub enum Decision {
    /// It was filed before: the same payment under the same grant.
    Existing,
    /// It is to be filed: within the grant, or denied.
    File(Box<Draft>),
}

/// Why nothing is filed: a condition of the call, and no state of a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// The agent's name is none.
    #[error("an agent name has 1 to 32 of `a-z0-9_-`")]
    InvalidAgent,
    /// The key is none.
    #[error("an idempotency key has 1 to 64 of `A-Za-z0-9_-`")]
    InvalidKey,
    /// The address does not parse, or belongs to another network.
    #[error("{0}")]
    InvalidAddress(String),
    /// The key was used for another payment.
    #[error("the idempotency key was used for another send, {0}: choose a fresh one")]
    KeyConflict(RequestId),
    /// There is no grant.
    #[error(
        "agent `{0}` has no grant: a human issues one with `sats agent grant {0} --budget <sats>`"
    )]
    NoGrant(AgentName),
    /// The token is not the grant's.
    #[error("the token is not the one of the grant that `{0}` has")]
    Unauthorized(AgentName),
    /// Expiry cannot be judged.
    #[error("{0}")]
    ClockUnavailable(String),
    /// The ledger or the grant could not be read or written.
    #[error("{0}; do not file it again with another key")]
    Store(String),
}

impl FileError {
    /// The code of it.
    pub fn code(&self) -> &'static str {
        match self {
            FileError::InvalidAgent => "invalid_agent",
            FileError::InvalidKey => "invalid_idempotency_key",
            FileError::InvalidAddress(_) => "invalid_address",
            FileError::KeyConflict(_) => "idempotency_key_conflict",
            FileError::NoGrant(_) => "no_grant",
            FileError::Unauthorized(_) => "unauthorized",
            FileError::ClockUnavailable(_) => "clock_unavailable",
            FileError::Store(_) => "store_error",
        }
    }
}

/// The grant that the token is for. An unauthenticated caller writes nothing.
pub fn authenticate<'a>(
    agent: &AgentName,
    grant: Option<&'a GrantState>,
    document: &Standing,
    token: &Token,
) -> Result<&'a GrantState, FileError> {
    let none = || FileError::NoGrant(agent.clone());
    let state = grant.filter(|state| !state.is_over()).ok_or_else(none)?;
    match document {
        Standing::Missing => return Err(none()),
        Standing::Unreadable(why) => return Err(FileError::Store(why.clone())),
        Standing::Agrees => {}
    }
    match token.is_of(state.grant.token_hash) {
        true => Ok(state),
        false => Err(FileError::Unauthorized(agent.clone())),
    }
}

/// Decides on a filing.
pub fn file(filing: &Filing, facts: &Facts<'_>) -> Result<Decision, FileError> {
    if let Some(behind) = clock_behind(facts.now, facts.head) {
        return Err(FileError::ClockUnavailable(behind));
    }
    let state = authenticate(&filing.agent, facts.grant, &facts.document, facts.token)?;
    let Filing { network, agent, key, recipient, amount } = filing;
    let mut filed = Filed {
        agent: agent.clone(),
        amount_sat: *amount,
        deny: None,
        grant_id: state.grant.grant_id.clone(),
        idempotency_key: key.clone(),
        intent_digest: IntentDigest::new(*network, agent, recipient, *amount),
        network: *network,
        recipient: recipient.clone(),
    };
    if let Some(existing) = facts.existing {
        return match existing.filed.intent_digest == filed.intent_digest {
            true => Ok(Decision::Existing),
            false => Err(FileError::KeyConflict(existing.id)),
        };
    }
    let at = instant(facts.now, facts.head);
    let verdict = ladder(state, recipient, *amount, Sats::ZERO, at);
    let mut until = Some(state.grant.expires_at);
    if let Verdict::Deny(deny) = verdict {
        filed.deny = Some(deny);
        until = None;
    }
    let refs = vec![(Subject::spend(filed.id()), 0)];
    // No revocation or new grant comes in between.
    let still = vec![(Subject::spend_grant(&filed.grant_id), state.last)];
    let draft = Draft::new(Event::SpendFiled(filed), facts.by.clone(), refs);
    Ok(Decision::File(Box::new(Draft { until, still, ..draft })))
}
