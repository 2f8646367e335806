//! The list of recipients that an agent may propose.

use granted_core::spend::change::{self, OnList};
use granted_core::spend::{Address, AgentName};
use granted_core::store::AppendError;

use super::{SpendError, Spends, gather};
use crate::ledger::witness;

/// Puts a recipient on the list. `authorize` takes the person's password.
pub fn allow(
    spends: &Spends<'_>,
    agent: &AgentName,
    recipient: &Address,
    authorize: impl FnOnce() -> Result<(), String>,
) -> Result<OnList, SpendError> {
    let mut authorize = Some(authorize);
    loop {
        let facts = gather::facts(spends, agent)?;
        let state = gather::current(spends, &facts, agent)?;
        let (became, draft) = change::allow(state, recipient, &facts)?;
        let Some(draft) = draft else { return Ok(became) };
        if let Some(authorize) = authorize.take() {
            witness::check(spends.book)?;
            authorize().map_err(SpendError::Person)?;
            continue;
        }
        match spends.book.append(&[draft]) {
            Ok(_) => return Ok(became),
            Err(AppendError::Conflict) => {}
            Err(e) => return Err(e.into()),
        }
    }
}

/// Takes a recipient off the list; what became of it, and whether anybody is left.
pub fn disallow(
    spends: &Spends<'_>,
    agent: &AgentName,
    recipient: &Address,
) -> Result<(OnList, bool), SpendError> {
    loop {
        let facts = gather::facts(spends, agent)?;
        let state = gather::current(spends, &facts, agent)?;
        let (became, draft) = change::disallow(state, recipient, &facts)?;
        let left = state.recipients.iter().flatten().any(|listed| listed != recipient);
        let Some(draft) = draft else { return Ok((became, left)) };
        match spends.book.append(&[draft]) {
            Ok(_) => return Ok((became, left)),
            Err(AppendError::Conflict) => {}
            Err(e) => return Err(e.into()),
        }
    }
}
