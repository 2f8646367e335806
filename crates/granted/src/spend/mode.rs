//! Whether an agent may ask.

use granted_core::spend::change::mode as decide;
use granted_core::spend::{AgentName, Mode};
use granted_core::store::AppendError;

use super::{SpendError, Spends, gather};
use crate::ledger::witness;

/// A mode that was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeSet {
    /// What it is.
    pub mode: Mode,
    /// What it was.
    pub previous: Mode,
}

impl ModeSet {
    /// Whether it is another one.
    pub fn changed(self) -> bool {
        self.mode != self.previous
    }

    /// Whether the agent may do more.
    pub fn widened(self) -> bool {
        self.changed() && self.mode == Mode::Ask
    }
}

/// Sets the mode of an agent's grant. To let it ask, `authorize` takes the person's password.
pub fn mode(
    spends: &Spends<'_>,
    agent: &AgentName,
    to: Mode,
    authorize: impl FnOnce() -> Result<(), String>,
) -> Result<ModeSet, SpendError> {
    let mut authorize = Some(authorize);
    loop {
        let facts = gather::facts(spends, agent)?;
        let state = gather::current(spends, &facts, agent)?;
        let set = ModeSet { mode: to, previous: state.mode };
        let Some(draft) = decide(state, to, &facts)? else { return Ok(set) };
        if let Some(authorize) = authorize.take_if(|_| set.widened()) {
            witness::check(spends.book)?;
            authorize().map_err(SpendError::Person)?;
            // The grant may be another by now.
            continue;
        }
        match spends.book.append(&[draft]) {
            Ok(_) => return Ok(set),
            Err(AppendError::Conflict) => {}
            Err(e) => return Err(e.into()),
        }
    }
}
