//! Taking a grant back, for good.

use granted_core::spend::AgentName;
use granted_core::spend::change::revoke as decide;
use granted_core::spend::document::name;
use granted_core::store::{AppendError, Documents as _};

use super::{SpendError, Spends, gather};

/// Takes an agent's grant back. Effective on its next call. Never refused for the clock or the ledger's
/// past.
pub fn revoke(spends: &Spends<'_>, agent: &AgentName) -> Result<(), SpendError> {
    loop {
        let facts = gather::facts(spends, agent)?;
        let state = gather::current(spends, &facts, agent)?;
        match spends.book.append(&[decide(state, &facts)]) {
            Ok(_) => {
                // The row is what counts; the file would only mislead.
                spends.documents.remove(&[name(agent)]);
                return Ok(());
            }
            Err(AppendError::Conflict) => {}
            Err(e) => return Err(e.into()),
        }
    }
}
