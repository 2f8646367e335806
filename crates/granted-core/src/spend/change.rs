//! What a person does with grants: issue, change, take back. What widens is refused for the clock; what
//! narrows never is.

use std::time::Duration;

use super::agent::Address;
use super::event::{Granted, Listed, ModeChanged, Revoked};
use super::grant::{Kind, Mode};
use super::{AgentName, AgentState, GrantId, GrantState, Network, Sats, SpendGrant};
use crate::decision::discharge::clock_behind;
use crate::digest::Digest;
use crate::id::Id;
use crate::ledger::{By, Draft, Event, Head, Subject};
use crate::time::Stamp;

/// What a person gives an agent.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The agent.
    pub agent: AgentName,
    /// The network.
    pub network: Network,
    /// The most that all payments may cost.
    pub budget: Sats,
    /// How long it lasts.
    pub lasts: Duration,
    /// The most that a recipient may get at once.
    pub max_tx: Option<Sats>,
    /// The most that a fee may be; by default it follows the budget.
    pub max_fee: Option<Sats>,
    /// What the agent may do.
    pub mode: Mode,
    /// The only recipients.
    pub recipients: Option<Vec<Address>>,
}

/// The world as a change sees it.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The clock.
    pub now: Stamp,
    /// The ledger's last row.
    pub head: Option<Head>,
    /// Who does it.
    pub by: By,
    /// What the agent has.
    pub agent: AgentState,
    /// The grant that it has.
    pub grant: Option<GrantState>,
}

/// What is new about a grant that is issued.
#[derive(Clone, Debug)]
pub struct Fresh {
    /// Its id.
    pub id: GrantId,
    /// The digest of its token.
    pub token_hash: Digest,
    /// The book.
    pub book: Id,
}

/// Why a grant is not issued or changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Nothing could be paid with it.
    #[error("a budget is more than 0 sat")]
    NoBudget,
    /// It would be over at once.
    #[error("a grant lasts a second at least")]
    NoTime,
    /// The clock is behind the ledger.
    #[error("{0}")]
    ClockBehind(String),
    /// The agent has none.
    #[error("agent `{0}` has no grant on {1}")]
    NoGrant(AgentName, Network),
    /// The grant has no list, and one cannot say all but one.
    #[error("the grant of `{0}` allows every recipient")]
    Unrestricted(AgentName),
}

/// Decides on a new grant, which takes the place of the one that the agent has.
pub fn issue(terms: &Terms, fresh: Fresh, facts: &Facts) -> Result<(SpendGrant, Draft), Refusal> {
    if terms.budget == Sats::ZERO {
        return Err(Refusal::NoBudget);
    }
    clock(facts)?;
    // Whole seconds, as it is shown.
    let created_at = Stamp::from_micros(facts.now.micros().div_euclid(1_000_000) * 1_000_000);
    let expires_at = created_at.plus(terms.lasts);
    if expires_at <= facts.now {
        return Err(Refusal::NoTime);
    }
    let grant = SpendGrant {
        agent: terms.agent.clone(),
        allowed_recipients: terms.recipients.clone(),
        book: fresh.book,
        budget_sat: terms.budget,
        created_at,
        expires_at,
        grant_id: fresh.id,
        kind: Kind::V1,
        max_fee_sat: terms.max_fee.unwrap_or(SpendGrant::default_max_fee(terms.budget)),
        max_tx_sat: terms.max_tx,
        mode: terms.mode,
        network: terms.network,
        token_hash: fresh.token_hash,
    };
    let mut refs = vec![
        (Subject::spend_grant(&grant.grant_id), 0),
        (Subject::spend_agent(grant.network, &grant.agent), facts.agent.last),
    ];
    let old = facts.grant.as_ref();
    refs.extend(old.map(|old| (Subject::spend_grant(&old.grant.grant_id), old.last)));
    let replaces = old.map(|old| old.grant.grant_id.clone());
    let event = Event::SpendGranted(Granted { grant: grant.clone(), replaces });
    Ok((grant, Draft::new(event, facts.by.clone(), refs)))
}

/// Decides on another mode; no row if it has that one.
pub fn mode(state: &GrantState, to: Mode, facts: &Facts) -> Result<Option<Draft>, Refusal> {
    if state.mode == to {
        return Ok(None);
    }
    if to == Mode::Ask {
        clock(facts)?;
    }
    let event = Event::SpendModeChanged(ModeChanged { from: state.mode, to });
    Ok(Some(draft(event, state, facts)))
}

/// What became of a recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnList {
    /// It is on the list from here on.
    Allowed,
    /// It was.
    AlreadyAllowed,
    /// There is no list: everybody is allowed.
    Unrestricted,
    /// It is on the list no more.
    Disallowed,
    /// It was not.
    NotListed,
}

impl OnList {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            OnList::Allowed => "allowed",
            OnList::AlreadyAllowed => "already_allowed",
            OnList::Unrestricted => "unrestricted",
            OnList::Disallowed => "disallowed",
            OnList::NotListed => "not_listed",
        }
    }
}

/// Decides on a recipient that is to be on the list.
pub fn allow(
    state: &GrantState,
    recipient: &Address,
    facts: &Facts,
) -> Result<(OnList, Option<Draft>), Refusal> {
    match &state.recipients {
        None => Ok((OnList::Unrestricted, None)),
        Some(list) if list.contains(recipient) => Ok((OnList::AlreadyAllowed, None)),
        Some(_) => {
            clock(facts)?;
            let event = Event::SpendRecipientAllowed(Listed { recipient: recipient.clone() });
            Ok((OnList::Allowed, Some(draft(event, state, facts))))
        }
    }
}

/// Decides on a recipient that is to be on the list no more. Without any, nobody may be paid.
pub fn disallow(
    state: &GrantState,
    recipient: &Address,
    facts: &Facts,
) -> Result<(OnList, Option<Draft>), Refusal> {
    match &state.recipients {
        None => Err(Refusal::Unrestricted(state.grant.agent.clone())),
        Some(list) if !list.contains(recipient) => Ok((OnList::NotListed, None)),
        Some(_) => {
            let event = Event::SpendRecipientDisallowed(Listed { recipient: recipient.clone() });
            Ok((OnList::Disallowed, Some(draft(event, state, facts))))
        }
    }
}

/// The row that takes a grant back, for good.
pub fn revoke(state: &GrantState, facts: &Facts) -> Draft {
    let agent = Subject::spend_agent(state.grant.network, &state.grant.agent);
    let refs =
        vec![(Subject::spend_grant(&state.grant.grant_id), state.last), (agent, facts.agent.last)];
    Draft::new(Event::SpendRevoked(Revoked {}), facts.by.clone(), refs)
}

fn draft(event: Event, state: &GrantState, facts: &Facts) -> Draft {
    let refs = vec![(Subject::spend_grant(&state.grant.grant_id), state.last)];
    Draft::new(event, facts.by.clone(), refs)
}

fn clock(facts: &Facts) -> Result<(), Refusal> {
    clock_behind(facts.now, facts.head).map_or(Ok(()), |why| Err(Refusal::ClockBehind(why)))
}
