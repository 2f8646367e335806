//! What an agent has left. Reads only.

use granted_core::decision::discharge::clock_behind;
use granted_core::spend::GrantState;
use granted_core::spend::file::FileError;

use super::Spends;
use super::file::{Session, session, store};

/// The grant of this session, if it can still be used for anything; else why not.
pub fn grant(spends: &Spends<'_>, who: &Session) -> Result<GrantState, FileError> {
    let state = session(spends, who)?;
    let (now, head) = (spends.book.now(), spends.book.ledger.head().map_err(store)?);
    if let Some(behind) = clock_behind(now, head) {
        return Err(FileError::ClockUnavailable(behind));
    }
    match now >= state.grant.expires_at {
        true => Err(FileError::NoGrant(who.agent.clone())),
        false => Ok(state),
    }
}
